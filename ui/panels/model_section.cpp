// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/model_section.h"

#include "panels/styled.h"
#include "plan/fields.h"
#include "units/number.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace headroom {
namespace {

constexpr int indent = 12;

bool hasVision(const TrainingPlan& plan)
{
    return plan.vision.layers.valueOr(0) > 0;
}

bool hasProjector(const TrainingPlan& plan)
{
    return plan.projector.type.isKnown() || plan.projector.out.isKnown() || plan.projector.hidden.isKnown();
}

} // namespace

ModelSection::ModelSection(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_name(makeLabel({}, "strong", this))
    , m_summary(makeLabel({}, "muted", this))
    , m_parts{{{new QCheckBox(tr("Vision tower frozen"), this), "frozen.vision"},
               {new QCheckBox(tr("Projector frozen"), this), "frozen.projector"},
               {new QCheckBox(tr("Language model frozen"), this), "frozen.llm"}}}
{
    QPushButton* change = makeLink(tr("Change…"), this);
    change->setObjectName(QStringLiteral("changeModelButton"));
    change->setToolTip(tr("Choose another model from the list or a file"));
    m_summary->setWordWrap(true);
    auto* head = new QHBoxLayout;
    head->setSpacing(4);
    head->addWidget(m_name, 1);
    head->addWidget(change);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(indent, 2, 0, 0);
    layout->setSpacing(3);
    layout->addLayout(head);
    layout->addWidget(m_summary);
    for (const Part& part : m_parts) {
        layout->addWidget(part.box);
        part.box->setToolTip(tr("A frozen part keeps its weights but no gradients and no optimizer state"));
        connect(part.box, &QCheckBox::toggled, this, [this, part](bool isOn) {
            m_workspace.edit({{part.field, isOn ? "true" : "false"}}, part.box->text());
        });
    }
    connect(change, &QPushButton::clicked, this, &ModelSection::modelRequested);
    connect(&workspace, &Workspace::draftChanged, this, &ModelSection::refresh);
    refresh();
}

void ModelSection::refresh()
{
    const TrainingPlan& plan = m_workspace.plan();
    const bool isKnown = plan.model.layers.isKnown();
    const ModelPreset* preset = m_workspace.library().catalog.model(plan.model.name.value);
    const QString name = toQString(preset != nullptr ? preset->title : plan.model.name.value);
    const bool isOfLog = plan.model.layers.origin.kind == OriginKind::Log;
    const QString unnamed = !isKnown ? tr("No model yet")
        : isOfLog                    ? tr("Model of the log")
                                     : tr("Model of the config");
    m_name->setText(name.isEmpty() ? unnamed : name);
    m_summary->setText(isKnown ? summary() : tr("Choose one to get an estimate"));
    const bool isMultimodal = hasVision(plan) || hasProjector(plan);
    const std::array<bool, 3> exists{hasVision(plan), hasProjector(plan), isMultimodal};
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        const QSignalBlocker blocker(m_parts[i].box);
        m_parts[i].box->setVisible(exists[i]);
        m_parts[i].box->setChecked(fieldText(plan, m_parts[i].field) == "true");
    }
}

QString ModelSection::summary() const
{
    const TrainingPlan& plan = m_workspace.plan();
    QStringList parts{tr("%n layers", nullptr, static_cast<int>(plan.model.layers.value)),
                      tr("h %1").arg(grouped(plan.model.hidden.value))};
    if (hasVision(plan)) {
        parts.append(
            tr("ViT %1 × %2").arg(QString::number(plan.vision.layers.value), grouped(plan.vision.hidden.value)));
    } else if (plan.model.vocab.isKnown()) {
        parts.append(tr("vocabulary %1").arg(grouped(plan.model.vocab.value)));
    }
    if (const Footprint* footprint = m_workspace.footprint()) {
        // "8.03 B" stays on one line.
        parts.append(toQString(formatCountShort(footprint->modelParameters)).replace(QLatin1Char(' '), QChar::Nbsp));
    }
    return parts.join(QStringLiteral(" · "));
}

} // namespace headroom
