// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/workspace.h"

#include "footprint/estimate.h"
#include "footprint/tape/shape.h"
#include "plan/validity.h"
#include "workspace/conclusions_job.h"
#include "workspace/follow_job.h"
#include "workspace/knob_text.h"
#include "workspace/open_job.h"
#include "workspace/replay_job.h"
#include "workspace/wording.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace headroom {
namespace {

constexpr int undoLimit = 200;

std::optional<Footprint> estimated(const Draft& draft)
{
    Footprint footprint;
    return estimateInstantly(draft.plan, draft.calibration, footprint) ? std::optional(std::move(footprint))
                                                                       : std::nullopt;
}

} // namespace

Workspace::Workspace(std::shared_ptr<const Library> library, QObject* parent)
    : QObject(parent)
    , m_library(std::move(library))
    , m_job(new OpenJob(m_library, this))
    , m_follow(new FollowJob(m_library, this))
    , m_replay(new ReplayJob(this))
    , m_baselineReplay(new ReplayJob(this))
    , m_concluding(new ConclusionsJob(this))
{
    m_undo.setUndoLimit(undoLimit);
    m_settle.setSingleShot(true);
    m_settle.setInterval(settleMs);
    connect(&m_settle, &QTimer::timeout, this, &Workspace::settle);
    connectReplay();
    connect(m_concluding, &ConclusionsJob::finished, this, &Workspace::takeConclusions);
    connect(m_follow, &FollowJob::grew, this, &Workspace::takeGrown);
    connect(m_job, &OpenJob::started, this, &Workspace::openingChanged);
    connect(m_job, &OpenJob::progressed, this, &Workspace::openingProgressed);
    connect(m_job, &OpenJob::cancelled, this, &Workspace::openingChanged);
    connect(m_job, &OpenJob::finished, this, [this](const OpenedFiles& files) {
        take(files);
        emit openingChanged();
    });
}

Workspace::~Workspace()
{
    m_undo.disconnect(this);
}

QString Workspace::obstacle() const
{
    if (m_footprint || isEmpty()) {
        return {};
    }
    if (!plan().model.layers.isKnown()) {
        return tr("the model is not known; choose one");
    }
    const std::vector<std::string_view> missing = missingInputs(plan());
    return missing.empty() ? translated(m_obstacle) : askingText(missing);
}

QString Workspace::baselineName() const
{
    if (m_pinned) {
        return tr("pinned");
    }
    return m_config ? fileName(m_config->path) : tr("original");
}

std::optional<Bytes> Workspace::capacity() const
{
    const Count& capacity = plan().hardware.capacityBytes;
    return capacity.isKnown() && capacity.value > 0 ? std::optional(Bytes{capacity.value}) : std::nullopt;
}

std::vector<std::optional<Bytes>> Workspace::measuredStages() const
{
    const bool isSameSplit = plan().parallel.pp.value == m_original.plan.parallel.pp.value;
    return m_log && isSameSplit ? measuredPerStage(m_log->overview, m_original.plan)
                                : std::vector<std::optional<Bytes>>();
}

std::vector<std::string> Workspace::fieldsLacking() const
{
    std::vector<const ConfigFormat*> formats;
    if (m_config) {
        formats.push_back(m_config->opened.format);
    }
    return headroom::fieldsLacking(formats);
}

std::vector<Problem> Workspace::problems() const
{
    std::vector<Problem> all = m_openProblems;
    const auto add = [&all](const std::vector<Problem>& more) {
        std::copy_if(more.begin(), more.end(), std::back_inserter(all),
                     [&](const Problem& problem) { return std::find(all.begin(), all.end(), problem) == all.end(); });
    };
    add(m_library->formats.problems);
    add(m_library->catalog.problems);
    add(m_library->logFormats->problems());
    if (m_config) {
        add(m_config->opened.problems);
        // What the file says but no run can do; what is only missing has no place in it.
        std::vector<Problem> invalid = validate(m_original.plan);
        std::erase_if(invalid, [](const Problem& problem) { return problem.file.empty(); });
        add(invalid);
    }
    if (m_model) {
        add(m_model->problems);
    }
    if (m_log) {
        all.insert(all.end(), m_log->run->problems.begin(), m_log->run->problems.end());
    }
    return all;
}

qint64 Workspace::problemCount() const
{
    const qint64 unlisted = m_log ? m_log->run->problemCount - static_cast<qint64>(m_log->run->problems.size()) : 0;
    return static_cast<qint64>(problems().size()) + unlisted;
}

void Workspace::recompute()
{
    if (!m_footprint) {
        m_footprint.emplace();
    }
    if (auto done = estimateInstantly(m_draft.plan, m_draft.calibration, *m_footprint); !done) {
        m_obstacle = std::move(done.error());
        m_footprint.reset();
    }
    m_replay->cancel();
    m_rest.start(); // again with every tick: it costs too much to try in between
    judgeFootprint();
    emit draftChanged();
}

void Workspace::judgeFootprint()
{
    VerdictInput input;
    input.footprint = footprint();
    input.obstacle = obstacle();
    input.capacity = capacity();
    input.profile = profileOf(m_draft.plan);
    input.hasOwnK = m_draft.calibration.k.has_value();
    input.isCalibrated = m_draft.calibration.scalesTapes();
    input.run = m_log ? m_log->run.get() : nullptr;
    input.summary = m_log ? &m_log->summary : nullptr;
    const auto& original = m_exactOriginal ? m_exactOriginal : m_originalFootprint;
    input.originalFootprint = original ? &*original : nullptr;
    m_verdict = judge(input);
}

void Workspace::computeBaseline()
{
    m_originalFootprint = estimated(m_original);
    m_baselineFootprint = m_pinned ? estimated(*m_pinned) : m_originalFootprint;
    m_baselineReplay->cancel();
    m_exactBaseline.reset();
    m_exactOriginal.reset();
}

} // namespace headroom
