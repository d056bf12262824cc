// SPDX-License-Identifier: GPL-3.0-or-later
#include "dialogs/model_dialog.h"

#include "units/number.h"
#include "workspace/wording.h"

#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace headroom {
namespace {

QString describe(const ModelPreset& preset)
{
    const ModelPlan& model = preset.plan.model;
    QStringList parts{ModelDialog::tr("%n layers", nullptr, static_cast<int>(model.layers.value)),
                      ModelDialog::tr("h %1").arg(grouped(model.hidden.value))};
    if (preset.plan.vision.layers.valueOr(0) > 0) {
        parts.append(
            ModelDialog::tr("ViT %1 × %2")
                .arg(QString::number(preset.plan.vision.layers.value), grouped(preset.plan.vision.hidden.value)));
    }
    if (preset.publishedParameters > 0) {
        parts.append(toQString(formatCountShort(preset.publishedParameters)));
    }
    return QStringLiteral("%1\n%2").arg(toQString(preset.title), parts.join(QStringLiteral(" · ")));
}

} // namespace

ModelDialog::ModelDialog(const Catalog& catalog, QWidget* parent)
    : QDialog(parent)
    , m_catalog(catalog)
    , m_search(new QLineEdit(this))
    , m_list(new QListWidget(this))
    , m_use(new QPushButton(tr("&Use model"), this))
{
    setObjectName(QStringLiteral("modelDialog"));
    setWindowTitle(tr("Change model"));
    m_search->setPlaceholderText(tr("Search"));
    m_search->setClearButtonEnabled(true);
    m_search->setAccessibleName(tr("Search for a model"));
    m_search->installEventFilter(this);
    m_list->setAccessibleName(tr("Models"));
    m_list->setSpacing(2);
    for (const ModelPreset& preset : catalog.models) {
        auto* item = new QListWidgetItem(describe(preset), m_list);
        item->setToolTip(toQString(preset.source));
    }
    auto* file = new QPushButton(tr("Open model &file…"), this);
    file->setAutoDefault(false);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    buttons->addButton(file, QDialogButtonBox::ActionRole);
    buttons->addButton(m_use, QDialogButtonBox::AcceptRole);
    m_use->setDefault(true);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_search);
    layout->addWidget(m_list);
    layout->addWidget(buttons);
    resize(fontMetrics().averageCharWidth() * 64, fontMetrics().height() * 30);
    connect(m_search, &QLineEdit::textChanged, this, &ModelDialog::filter);
    connect(m_list, &QListWidget::itemActivated, this, &QDialog::accept);
    connect(m_list, &QListWidget::currentRowChanged, this, [this] { m_use->setEnabled(chosen() != nullptr); });
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(file, &QPushButton::clicked, this, [this] {
        m_wantsFile = true;
        accept();
    });
    filter();
}

const ModelPreset* ModelDialog::chosen() const
{
    const QListWidgetItem* item = m_list->currentItem();
    return item == nullptr || item->isHidden() ? nullptr
                                               : &m_catalog.models[static_cast<std::size_t>(m_list->row(item))];
}

void ModelDialog::filter()
{
    const QStringList words = m_search->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    QListWidgetItem* first = nullptr;
    for (int row = 0; row < m_list->count(); ++row) {
        QListWidgetItem* item = m_list->item(row);
        const QString text
            = item->text() + QLatin1Char(' ') + toQString(m_catalog.models[static_cast<std::size_t>(row)].id);
        const bool matches = std::all_of(words.begin(), words.end(),
                                         [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
        item->setHidden(!matches);
        first = first == nullptr && matches ? item : first;
    }
    m_list->setCurrentItem(first);
    m_use->setEnabled(chosen() != nullptr);
}

bool ModelDialog::eventFilter(QObject* watched, QEvent* event)
{
    // Up and down choose in the list while the search has the focus.
    if (watched == m_search && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_PageUp || key == Qt::Key_PageDown) {
            m_list->setFocus();
            QCoreApplication::sendEvent(m_list, event);
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace headroom
