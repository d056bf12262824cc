// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/workspace.h"

#include "footprint/estimate.h"
#include "footprint/tape_shape.h"
#include "insight/plan_edits.h"
#include "plan/fields.h"
#include "plan/validity.h"
#include "replay/replay.h"
#include "workspace/conclusions_job.h"
#include "workspace/config_export.h"
#include "workspace/follow_job.h"
#include "workspace/knob_text.h"
#include "workspace/open_job.h"
#include "workspace/plan_of_files.h"
#include "workspace/replay_job.h"
#include "workspace/wording.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <system_error>

namespace headroom {
namespace {

constexpr int undoLimit = 200;

std::optional<Footprint> estimated(const Draft& draft)
{
    Footprint footprint;
    return estimateInstantly(draft.plan, draft.calibration, footprint) ? std::optional(std::move(footprint))
                                                                       : std::nullopt;
}

bool describesModel(std::string_view key)
{
    constexpr std::array<std::string_view, 5> groups{"model.", "moe.", "mla.", "vision.", "projector."};
    return std::any_of(groups.begin(), groups.end(), [&](std::string_view group) { return key.starts_with(group); });
}

bool samePath(const std::filesystem::path& a, const std::filesystem::path& b)
{
    std::error_code error;
    return a == b || std::filesystem::equivalent(a, b, error);
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

void Workspace::open(const QStringList& paths)
{
    if (paths.isEmpty()) {
        return;
    }
    std::vector<std::filesystem::path> files;
    for (const QString& path : paths) {
        files.push_back(toPath(path));
    }
    m_job->start(files);
}

void Workspace::cancelOpening()
{
    m_job->cancel();
    if (m_concluding->isRunning()) {
        forgetConclusions();
        m_conclusions.emplace(); // findings do without
        emit openingChanged();
    }
}

bool Workspace::isOpening() const
{
    return m_job->isRunning() || m_concluding->isRunning();
}

void Workspace::reload()
{
    open(openPaths());
}

QStringList Workspace::openPaths() const
{
    QStringList paths;
    if (m_log) {
        for (const auto& path : m_log->paths) {
            paths.append(pathText(path));
        }
    }
    if (m_config) {
        paths.append(pathText(m_config->path));
    }
    if (m_model && !m_model->path.empty()) {
        paths.append(pathText(m_model->path));
    }
    return paths;
}

void Workspace::close()
{
    m_job->cancel();
    m_follow->stop();
    m_log.reset();
    m_config.reset();
    m_model.reset();
    m_pinned.reset();
    m_openProblems.clear();
    m_draft = {};
    startFromFiles({});
    recompute();
    settle();
    emit documentsChanged();
    emit openingChanged(); // what was being concluded is dropped
}

void Workspace::take(const OpenedFiles& files)
{
    for (const Problem& problem : files.problems) {
        emit messageRaised(problem.severity, translated(problem));
    }
    if (!files.log && !files.config && !files.model) {
        return;
    }
    m_openProblems = files.problems;
    // A config that came before its log may still need the model that the log's arguments describe.
    const bool lacksModel = files.log && files.log->plan && !plan().model.layers.isKnown();
    if (files.log) {
        m_log = files.log;
        forgetConclusions();
        m_follow->watch(*m_log);
    }
    if (files.model) {
        m_model = files.model;
    }
    // A log beside files that are open already changes their plan where it completes it.
    std::optional<TrainingPlan> completed;
    if (files.log && !files.config && !files.model && (m_config || m_model) && !lacksModel) {
        completed = planOfFiles(config(), model(), log(), *m_library);
    }
    if (files.model && m_config && !files.config) {
        // The config stays what it is; the model is a change the user can undo.
        useModel(files.model->plan, fileName(files.model->path));
    } else if (!completed || !difference(m_original.plan, *completed).empty()) {
        takeFiles(files, std::move(completed));
    }
    recompute();
    settle();
    emit documentsChanged();
    if (files.model && !m_config && plan().batch.seq.origin.kind == OriginKind::Default) {
        emit messageRaised(
            Severity::Note,
            tr("No config says the batch: micro-batch %1 and %2 tokens are assumed. Set your own on the left.")
                .arg(grouped(plan().batch.micro.value), grouped(plan().batch.seq.value)));
    }
    if (const QStringList paths = openPaths(); !paths.isEmpty()) {
        emit opened(paths);
    }
}

void Workspace::takeGrown(const LoadedLog& log)
{
    // The plan is what it was, and so is its estimate: a replay on its way must not start again with every line.
    m_log = log;
    conclude(); // until that is done, what was concluded before stands
    judgeFootprint();
    emit draftChanged();
    settle();
    emit documentsChanged();
}

void Workspace::takeFiles(const OpenedFiles& files, std::optional<TrainingPlan> composed)
{
    // Opening the same config again keeps what the user has turned, a different one starts afresh.
    const bool isSameConfig = !files.config || (m_config && samePath(files.config->path, m_config->path));
    std::vector<PlanEdit> kept;
    for (const FieldDifference& field : difference(m_original.plan, m_draft.plan)) {
        if (field.key.starts_with("hardware.") || (isSameConfig && !(files.model && describesModel(field.key)))) {
            kept.push_back({field.key, field.after});
        }
    }
    if (!isSameConfig) {
        m_draft.calibration = {};
        m_pinned.reset();
        if (!files.model) {
            m_model.reset();
        }
    }
    if (files.config) {
        m_config = files.config;
    }
    startFromFiles(kept, std::move(composed));
}

void Workspace::startFromFiles(const std::vector<PlanEdit>& edits, std::optional<TrainingPlan> composed)
{
    m_original.calibration = {};
    m_original.plan = composed ? std::move(*composed) : planOfFiles(config(), model(), log(), *m_library);
    m_draft.plan = m_original.plan;
    for (const PlanEdit& edit : edits) {
        // A config that names its GPU wins over the one chosen before.
        const Count& capacity = m_original.plan.hardware.capacityBytes;
        if (edit.field.starts_with("hardware.") && capacity.isKnown() && capacity.origin.kind != OriginKind::Log) {
            continue;
        }
        if (auto plan = withEdits(m_draft.plan, m_original.plan, {edit})) {
            m_draft.plan = std::move(*plan);
        }
    }
    forgetConclusions();
    m_undo.clear();
    m_savedBytes = m_config ? m_config->opened.document.bytes() : std::string();
    computeBaseline();
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

Result<ConfigDocument> Workspace::adjustedConfig() const
{
    if (!m_config) {
        return failure(Text(HEADROOM_TR("core", "no config is open")));
    }
    return headroom::adjustedConfig(*m_config, m_original.plan, m_draft.plan);
}

bool Workspace::configChangedOnDisk() const
{
    return m_config && changedOnDisk(*m_config);
}

Result<void> Workspace::exportConfig(const std::filesystem::path& path)
{
    auto adjusted = adjustedConfig();
    if (!adjusted) {
        return tl::unexpected(std::move(adjusted.error()));
    }
    const bool overwrites = samePath(path, m_config->path);
    if (overwrites && configChangedOnDisk()) {
        return failure(Text(HEADROOM_TR("core", "the file has changed since it was opened; reload it first")),
                       path.filename().string());
    }
    if (auto saved = adjusted->save(path); !saved) {
        return saved;
    }
    m_savedBytes = adjusted->bytes();
    if (overwrites) {
        // The file now says what the draft says: it is the new starting point. Undo still reaches what was before.
        auto opened = openConfig(std::move(*adjusted), m_library->formats, m_library->catalog);
        if (!opened) {
            return tl::unexpected(std::move(opened.error()));
        }
        m_config->opened = std::move(*opened);
        m_original.plan
            = composePlan(m_model ? m_model->plan : TrainingPlan{}, {&m_config->opened, 1}, m_library->catalog);
        computeBaseline();
        recompute();
    }
    m_undo.setClean();
    settle();
    return {};
}

} // namespace headroom
