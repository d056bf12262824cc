// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/gpu_chooser.h"

#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QActionGroup>
#include <QInputDialog>
#include <QMenu>

namespace headroom {
namespace {

QString capitalised(const QString& word)
{
    return word.isEmpty() ? GpuChooser::tr("Others") : word.front().toUpper() + word.mid(1);
}

} // namespace

GpuChooser::GpuChooser(Workspace& workspace, QWidget* parent)
    : QToolButton(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("gpuChooser"));
    setPopupMode(QToolButton::InstantPopup);
    setToolButtonStyle(Qt::ToolButtonTextOnly);
    setToolTip(tr("The GPU the run has to fit on"));
    setAccessibleName(tr("GPU"));
    setMenu(new QMenu(this));
    connect(menu(), &QMenu::aboutToShow, this, &GpuChooser::fillMenu);
    connect(&workspace, &Workspace::draftChanged, this, &GpuChooser::refresh);
    refresh();
}

void GpuChooser::fillMenu()
{
    menu()->clear();
    const auto capacity = m_workspace.capacity();
    const std::string current = m_workspace.plan().hardware.gpu.value;
    const Gpu* chosen = m_workspace.library().catalog.gpu(current);
    // Dozens of GPUs in one menu would not fit a laptop's screen: one submenu for each architecture.
    QMenu* family = nullptr;
    for (const Gpu& gpu : m_workspace.library().catalog.gpus) {
        const QString architecture = capitalised(toQString(gpu.architecture));
        if (family == nullptr || family->title() != architecture) {
            family = menu()->addMenu(architecture);
        }
        QAction* action = family->addAction(QStringLiteral("%1\t%2").arg(toQString(gpu.title), gibText(gpu.capacity)),
                                            this, [this, gpu] { m_workspace.chooseGpu(gpu); });
        action->setCheckable(true);
        action->setChecked(chosen != nullptr && chosen->id == gpu.id);
    }
    menu()->addSeparator();
    QAction* own = menu()->addAction(tr("Other &capacity…"), this, &GpuChooser::askCapacity);
    own->setCheckable(true);
    own->setChecked(chosen == nullptr && capacity.has_value());
}

void GpuChooser::refresh()
{
    const HardwarePlan& hardware = m_workspace.plan().hardware;
    const Gpu* gpu = m_workspace.library().catalog.gpu(hardware.gpu.value);
    const auto capacity = m_workspace.capacity();
    if (gpu != nullptr) {
        setText(tr("GPU: %1 ▾").arg(toQString(gpu->title)));
    } else if (capacity) {
        setText(tr("GPU: %1 ▾").arg(gibText(*capacity)));
    } else {
        setText(tr("Choose GPU ▾"));
    }
    setAccessibleDescription(text());
}

void GpuChooser::askCapacity()
{
    const auto capacity = m_workspace.capacity();
    QString text
        = capacity ? QString::number(capacity->gib(), 'g', 6) + QLatin1String(" GiB") : QStringLiteral("80 GiB");
    QString label = tr("Memory of one GPU, for example 80 GiB or 81 559 MiB:");
    for (;;) {
        bool isAccepted = false;
        text = QInputDialog::getText(this, tr("GPU capacity"), label, QLineEdit::Normal, text, &isAccepted);
        QString reason;
        if (!isAccepted || chooseCapacity(text, &reason)) {
            return;
        }
        label = reason;
    }
}

bool GpuChooser::chooseCapacity(const QString& text, QString* reason)
{
    QString plain = text;
    plain.removeIf([](QChar c) { return c.isSpace(); });
    bool isNumber = false;
    (void)plain.toDouble(&isNumber);
    // A bare number is meant as GiB: nobody has a GPU of 80 bytes.
    const auto capacity = parseBytes((isNumber ? plain + QLatin1String("GiB") : plain).toStdString());
    if (!capacity || capacity->value <= 0) {
        if (reason != nullptr) {
            *reason = capacity ? tr("The capacity must be more than nothing") : translated(capacity.error().text);
        }
        return false;
    }
    m_workspace.chooseCapacity(*capacity);
    return true;
}

} // namespace headroom
