// SPDX-License-Identifier: GPL-3.0-or-later
// How the Workspace opens files and exports the config.
#include "insight/plan_edits.h"
#include "plan/field_kinds.h"
#include "plan/fields.h"
#include "workspace/conclusions_job.h"
#include "workspace/config_export.h"
#include "workspace/follow_job.h"
#include "workspace/open_job.h"
#include "workspace/plan_of_files.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

namespace headroom {
namespace {

bool samePath(const std::filesystem::path& a, const std::filesystem::path& b)
{
    std::error_code error;
    return a == b || std::filesystem::equivalent(a, b, error);
}

} // namespace

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
        if (field.key.starts_with("hardware.") || (isSameConfig && !(files.model && isModelField(field.key)))) {
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
