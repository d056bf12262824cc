// SPDX-License-Identifier: GPL-3.0-or-later
// How exact figures follow the instant ones of the Workspace.
#include "workspace/replay_job.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

namespace headroom {

void Workspace::connectReplay()
{
    m_rest.setSingleShot(true);
    m_rest.setInterval(restMs);
    connect(&m_rest, &QTimer::timeout, this, &Workspace::startReplay);
    connect(m_replay, &ReplayJob::stageReplayed, this, &Workspace::replayChanged);
    connect(m_replay, &ReplayJob::finished, this, &Workspace::takeReplay);
    connect(m_baselineReplay, &ReplayJob::finished, this, [this] {
        if (m_baselineReplay->footprint() != nullptr) {
            m_exactBaseline = *m_baselineReplay->footprint();
            if (!m_pinned) {
                m_exactOriginal = m_exactBaseline;
            }
            m_baselineReplay->cancel(); // its timelines are not shown
            judgeFootprint();
            emit draftChanged();
        }
    });
}

bool Workspace::isReplaying() const
{
    return m_rest.isActive() || m_replay->isRunning();
}

void Workspace::startReplay()
{
    if (m_footprint && m_footprint->engine != Engine::Textbook) {
        m_replay->start(m_draft, m_wantedStage >= 0 ? m_wantedStage : static_cast<int>(m_footprint->fullestStage));
    } else {
        emit replayChanged();
    }
}

void Workspace::takeReplay()
{
    if (m_replay->footprint() != nullptr) {
        m_footprint = *m_replay->footprint();
        if (m_draft.means(m_original)) {
            m_exactOriginal = m_footprint;
        }
        if (m_draft.means(baselineDraft())) {
            m_exactBaseline = m_footprint;
        }
        judgeFootprint();
        emit draftChanged();
        m_settle.start(); // findings speak of the figures shown
        replayBaseline();
    }
    emit replayChanged();
}

void Workspace::replayBaseline()
{
    const bool isWanted = m_footprint && m_footprint->engine == Engine::Replay && !m_exactBaseline;
    if (isWanted && m_draft.means(baselineDraft())) {
        m_exactBaseline = m_footprint;
    } else if (isWanted && m_baselineFootprint && m_baselineFootprint->engine == Engine::Instant) {
        m_baselineReplay->start(baselineDraft(), 0);
    }
}

const Footprint* Workspace::baseline() const
{
    const bool isExact = m_footprint && m_footprint->engine == Engine::Replay && m_exactBaseline;
    const auto& baseline = isExact ? m_exactBaseline : m_baselineFootprint;
    return baseline ? &*baseline : nullptr;
}

QString Workspace::timelineObstacle() const
{
    if (!m_footprint) {
        return {};
    }
    if (m_footprint->engine == Engine::Textbook) {
        return m_footprint->notExact ? translated(*m_footprint->notExact)
                                     : tr("k is set by hand, and the recipe knows no single tensors");
    }
    return m_replay->objection() ? translated(*m_replay->objection()) : QString();
}

void Workspace::wantStage(int stage)
{
    m_wantedStage = stage;
    m_replay->want(stage);
}

} // namespace headroom
