// SPDX-License-Identifier: GPL-3.0-or-later
// How findings follow the draft and the log of the Workspace.
#include "workspace/conclusions_job.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

namespace headroom {

/// A log alone has no plan that a mend could change.
bool Workspace::hasPlan() const
{
    return m_config || m_model || m_draft.plan.model.layers.isKnown();
}

void Workspace::settle()
{
    if (m_log && !m_conclusions && !m_concluding->isRunning()) {
        conclude();
        emit concludingFrom(fileName(m_log->paths.front()));
    }
    static const LogConclusions none;
    Situation situation;
    situation.plan = hasPlan() ? &m_draft.plan : nullptr;
    situation.original = hasPlan() ? &m_original.plan : nullptr;
    situation.footprint = footprint();
    situation.originalFootprint = m_originalFootprint ? &*m_originalFootprint : nullptr;
    situation.run = m_log ? m_log->run.get() : nullptr;
    situation.summary = m_log ? &m_log->summary : nullptr;
    situation.conclusions = m_conclusions ? &*m_conclusions : &none;
    situation.logPlan = m_log && m_log->plan ? &*m_log->plan : nullptr;
    if (m_config) {
        situation.withoutEffect = m_config->opened.withoutEffect;
    }
    situation.calibration = m_draft.calibration;
    situation.estimator = estimateInstantly;
    situation.lacking = fieldsLacking();
    m_findings = isEmpty() ? std::vector<Finding>() : diagnose(situation);
    emit findingsChanged();

    const auto adjusted = adjustedConfig();
    m_isModified = m_config && (!adjusted || adjusted->bytes() != m_savedBytes);
    emit configChanged();
}

void Workspace::conclude()
{
    m_concluding->start(
        {m_log->run, m_log->summary, hasPlan() ? std::optional(m_original.plan) : std::nullopt, fieldsLacking()});
}

void Workspace::takeConclusions(const LogConclusions& conclusions)
{
    m_conclusions = conclusions;
    settle();
    emit openingChanged();
}

void Workspace::forgetConclusions()
{
    m_concluding->cancel();
    m_conclusions.reset();
}

} // namespace headroom
