// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/diff_panel.h"

#include "config/line_diff.h"
#include "config/read_plan.h"
#include "panels/diff_view.h"
#include "panels/styled.h"
#include "plan/fields.h"
#include "workspace/config_export.h"
#include "workspace/knob_text.h"
#include "workspace/library.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace headroom {

namespace {

QString titleOf(const std::string& field)
{
    const auto* const knob
        = std::find_if(allKnobs.begin(), allKnobs.end(), [&](Knob each) { return knobField(each) == field; });
    return knob == allKnobs.end() ? toQString(field) : knobTitle(*knob);
}

/// Changed values that this file is not the place for.
QString unwrittenText(const Workspace& workspace, const LoadedConfig& config)
{
    QStringList names;
    for (const std::string& field : unwrittenFields(config, workspace.original().plan, workspace.plan())) {
        names.append(titleOf(field));
    }
    return QLocale().createSeparatedList(names);
}

} // namespace

std::map<std::int64_t, QString> reasonsOf(const LoadedConfig& config, const ConfigDocument& adjusted,
                                          const Catalog& catalog)
{
    std::map<std::int64_t, QString> reasons;
    const ConfigFormat& format = *config.opened.format;
    const TrainingPlan before = readPlan(config.opened.document, format, catalog).plan;
    const TrainingPlan after = readPlan(adjusted, format, catalog).plan;
    for (const FieldDifference& field : difference(before, after)) {
        const Origin origin = fieldOrigin(after, field.key);
        if (origin.kind != OriginKind::ConfigFile || origin.line <= 0) {
            continue;
        }
        QString& reason = reasons[origin.line];
        reason += (reason.isEmpty() ? QString() : QStringLiteral(", "))
            + QStringLiteral("%1 %2 → %3")
                  .arg(titleOf(field.key), field.before.empty() ? QStringLiteral("–") : toQString(field.before),
                       toQString(field.after));
    }
    return reasons;
}

DiffPanel::DiffPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_view(new DiffView(this))
    , m_empty(makeLabel({}, "muted", this))
    , m_summary(makeLabel({}, "muted", this))
    , m_whole(new QToolButton(this))
    , m_stack(new QStackedWidget(this))
    , m_page(new QWidget(this))
{
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_summary->setWordWrap(true); // a long name would widen the window
    m_whole->setText(tr("Whole file"));
    m_whole->setCheckable(true);
    m_whole->setProperty("quiet", true);
    QPushButton* copyButton = makeLink(tr("Copy diff"), this);
    QPushButton* exportButton = makeLink(tr("Export…"), this);
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(12, 4, 8, 2);
    bar->addWidget(m_summary, 1);
    bar->addWidget(m_whole);
    bar->addWidget(copyButton);
    bar->addWidget(exportButton);
    auto* pageLayout = new QVBoxLayout(m_page);
    pageLayout->setContentsMargins(0, 0, 0, 0);
    pageLayout->setSpacing(0);
    pageLayout->addLayout(bar);
    pageLayout->addWidget(m_view);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_page);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    connect(m_whole, &QToolButton::toggled, this, [this](bool whole) {
        m_view->setWholeFile(whole);
        refresh();
    });
    connect(copyButton, &QPushButton::clicked, this, &DiffPanel::copy);
    connect(exportButton, &QPushButton::clicked, this, &DiffPanel::exportRequested);
    connect(&workspace, &Workspace::configChanged, this, &DiffPanel::refresh);
    refresh();
}

int DiffPanel::changedLines() const
{
    return m_workspace.config() != nullptr ? m_view->changedLines() : 0;
}

void DiffPanel::refresh()
{
    const LoadedConfig* config = m_workspace.config();
    if (config == nullptr) {
        m_empty->setText(tr("Open a config to see here what your changes do to it."));
        m_view->setTexts({}, {});
        m_stack->setCurrentWidget(m_empty);
        emit changed();
        return;
    }
    const auto adjusted = m_workspace.adjustedConfig();
    const std::string& before = config->opened.document.bytes();
    const QString unwritten = unwrittenText(m_workspace, *config);
    m_view->setTexts(before, adjusted ? adjusted->bytes() : before);
    m_view->setReasons(adjusted ? reasonsOf(*config, *adjusted, m_workspace.library().catalog)
                                : std::map<std::int64_t, QString>{});
    if (!adjusted) {
        m_empty->setText(tr("These changes cannot be written to the config: %1").arg(translated(adjusted.error())));
    } else {
        m_empty->setText(
            unwritten.isEmpty()
                ? tr("Nothing changed. Turn a knob to see here what it does to %1.").arg(fileName(config->path))
                : tr("%1 does not say %2, so there is nothing to write.").arg(fileName(config->path), unwritten));
    }
    const bool hasText = adjusted && (m_view->changedLines() > 0 || m_view->isWholeFile());
    m_stack->setCurrentWidget(hasText ? m_page : static_cast<QWidget*>(m_empty));
    m_summary->setText(tr("%1, %n changed line(s); everything else stays to the byte", nullptr, m_view->changedLines())
                           .arg(fileName(config->path))
                       + (unwritten.isEmpty() ? QString() : u' ' + tr("Not written: %1").arg(unwritten)));
    emit changed();
}

void DiffPanel::copy() const
{
    const LoadedConfig* config = m_workspace.config();
    const auto adjusted = m_workspace.adjustedConfig();
    if (config != nullptr && adjusted) {
        const std::string name = config->path.filename().string();
        QGuiApplication::clipboard()->setText(
            toQString(unifiedDiff(config->opened.document.bytes(), adjusted->bytes(), "a/" + name, "b/" + name)));
    }
}

} // namespace headroom
