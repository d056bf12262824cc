// SPDX-License-Identifier: GPL-3.0-or-later
// The edits of the Workspace, each one step of undo.
#include "insight/plan_edits.h"
#include "workspace/edit_command.h"
#include "workspace/knob_text.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QLocale>

namespace headroom {
namespace {

constexpr int mergeKeyOfK = 100;

/// What describes the model and not the run.
void takeModel(TrainingPlan& plan, const TrainingPlan& model)
{
    plan.model = model.model;
    plan.moe = model.moe;
    plan.mixer = model.mixer;
    plan.mla = model.mla;
    plan.vision = model.vision;
    plan.projector = model.projector;
}

} // namespace

void Workspace::setLinks(KnobLinks links)
{
    m_links = links;
    emit draftChanged();
}

void Workspace::edit(const std::vector<PlanEdit>& edits, const QString& text, int mergeKey)
{
    auto plan = withEdits(m_draft.plan, m_original.plan, edits);
    if (!plan) {
        emit messageRaised(Severity::Error, translated(plan.error()));
        return;
    }
    push({std::move(*plan), m_draft.calibration}, text, mergeKey);
}

void Workspace::turnKnob(Knob knob, qint64 value)
{
    if ((value == knobValue(knob, plan()) && !knobIsAsked(knob, plan()))
        || knobObjection(knob, plan(), value, m_links)) {
        return;
    }
    edit(knobEdits(knob, plan(), value, m_links), QStringLiteral("%1 %2").arg(knobTitle(knob), grouped(value)),
         static_cast<int>(knob) + 1);
}

void Workspace::resetKnob(Knob knob)
{
    edit({{std::string(knobField(knob)), {}}}, tr("Reset %1").arg(knobTitle(knob)));
}

void Workspace::setGranularity(Granularity granularity)
{
    edit(granularityEdits(plan(), m_original.plan, granularity), tr("Recompute %1").arg(granularityTitle(granularity)));
}

void Workspace::setK(std::optional<double> k)
{
    Draft after = m_draft;
    after.calibration.k = k;
    push(std::move(after), k ? tr("k = %1").arg(QLocale().toString(*k, 'f', 1)) : tr("Reset k"), k ? mergeKeyOfK : 0);
}

void Workspace::setCalibration(Calibration calibration, const QString& text)
{
    Draft after = m_draft;
    calibration.k = after.calibration.k;
    after.calibration = calibration;
    push(std::move(after), text, 0);
}

void Workspace::endGesture()
{
    ++m_gesture;
}

void Workspace::mend(const Mend& mend)
{
    edit(mend.edits, translated(mend));
}

void Workspace::resetAll()
{
    Draft after = m_original;
    after.plan.hardware = m_draft.plan.hardware; // the GPU is not a knob
    push(std::move(after), tr("Reset all"), 0);
}

void Workspace::useModel(const TrainingPlan& model, const QString& title)
{
    if (isEmpty()) { // nothing to change: it is what the plan starts from, like a model file
        OpenedFiles files;
        files.model = LoadedModel{{}, model, {}};
        return take(files);
    }
    Draft after = m_draft;
    takeModel(after.plan, model);
    push(std::move(after), tr("Model %1").arg(title), 0);
}

void Workspace::chooseGpu(const Gpu& gpu)
{
    edit({{"hardware.gpu", gpu.id}, {"hardware.capacity_bytes", std::to_string(gpu.capacity.value)}},
         tr("GPU %1").arg(toQString(gpu.title)));
}

void Workspace::chooseCapacity(Bytes capacity)
{
    Draft after = m_draft;
    after.plan.hardware.gpu = {};
    after.plan.hardware.capacityBytes.set(capacity.value, Origin{OriginKind::Edited, 0, nullptr});
    push(std::move(after), tr("Capacity %1").arg(gibText(capacity)), 0);
}

void Workspace::pinBaseline()
{
    m_pinned = m_draft;
    computeBaseline();
    replayBaseline();
    emit draftChanged();
}

void Workspace::resetBaseline()
{
    m_pinned.reset();
    computeBaseline();
    replayBaseline();
    emit draftChanged();
}

void Workspace::push(Draft after, const QString& text, int mergeKey)
{
    if (m_draft.means(after)) {
        return;
    }
    constexpr int keys = 256;
    m_undo.push(new EditCommand(
        std::make_shared<const Draft>(m_draft), std::make_shared<const Draft>(std::move(after)),
        [this](const Draft& draft) { applyDraft(draft); }, text, mergeKey == 0 ? 0 : m_gesture * keys + mergeKey));
}

void Workspace::applyDraft(const Draft& draft)
{
    m_draft = draft;
    recompute();
    if (!m_settle.isActive()) {
        m_settle.start(); // not restarted by later ticks: findings follow during a long drag too
    }
}

} // namespace headroom
