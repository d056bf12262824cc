// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_launch.h"

#include "config/catalog.h"
#include "plan/encoder_placement.h"
#include "plan/size_limits.h"
#include "runlog/device_mesh.h"
#include "runlog/log_arguments.h"
#include "units/number.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

namespace headroom {
namespace {

struct LoggedCount
{
    std::int64_t value = 0;
    Origin origin;
};

Origin originOf(const Run& run, std::uint16_t file, std::int64_t line)
{
    return {OriginKind::Log, static_cast<std::int32_t>(line),
            file < run.files.size() ? std::make_shared<const std::string>(run.files[file]) : nullptr};
}

/// The first argument whose name begins so, if it is a positive number, thousands separated or not.
class Counts
{
public:
    explicit Counts(const Run& run)
        : m_run(run)
        , m_arguments(argumentsOf(run))
    {
    }

    [[nodiscard]] std::optional<LoggedCount> find(std::string_view key) const
    {
        const auto found = std::ranges::find_if(
            m_arguments, [key](const LogArgument& argument) { return argument.key.starts_with(key); });
        if (found == m_arguments.end()) {
            return std::nullopt;
        }
        std::string digits = found->value;
        std::erase(digits, ',');
        const auto value = parseInteger(digits);
        return value && *value > 0 && !sizeObjection("batch.global", *value)
            ? std::optional(LoggedCount{*value, originOf(m_run, found->file, found->line)})
            : std::nullopt;
    }

private:
    const Run& m_run;
    std::vector<LogArgument> m_arguments;
};

void fill(Count& field, const std::optional<LoggedCount>& logged)
{
    if (logged && !field.isStated()) {
        field.set(logged->value, logged->origin);
    }
}

void takeCapacity(TrainingPlan& plan, const Run& run)
{
    const std::optional<Bytes> capacity = capacityOf(run);
    if (!capacity || plan.hardware.capacityBytes.isKnown()) {
        return;
    }
    for (const LogFact& fact : run.facts) {
        if (static_cast<std::int64_t>(fact.number("capacity_bytes").value_or(0)) == capacity->value) {
            plan.hardware.capacityBytes.set(capacity->value, originOf(run, fact.file, fact.line));
            return;
        }
    }
}

/// The name that a log gives its device, if a GPU of about that memory is called so: the memory itself is the log's.
void takeGpu(TrainingPlan& plan, const Run& run, const Catalog& catalog)
{
    constexpr double tolerance = 0.02;
    const Count& capacity = plan.hardware.capacityBytes;
    if (plan.hardware.gpu.isKnown() || capacity.origin.kind != OriginKind::Log) {
        return;
    }
    for (const LogFact& fact : run.facts) {
        const Gpu* gpu = fact.find("device") != nullptr ? catalog.gpu(fact.text("device")) : nullptr;
        const double size = gpu != nullptr ? static_cast<double>(gpu->capacity.value) : 0;
        if (gpu != nullptr && std::abs(size - static_cast<double>(capacity.value)) <= tolerance * size) {
            plan.hardware.gpu.set(gpu->id, originOf(run, fact.file, fact.line));
            return;
        }
    }
}

/// transformers/trainer.py: the total is micro-batch × accumulation × data-parallel size.
std::optional<LoggedCount> dataParallelOf(const std::optional<LoggedCount>& micro,
                                          const std::optional<LoggedCount>& accumulate,
                                          const std::optional<LoggedCount>& total)
{
    if (!micro || !accumulate || !total || total->value % micro->value != 0
        || (total->value / micro->value) % accumulate->value != 0) {
        return std::nullopt;
    }
    return LoggedCount{total->value / micro->value / accumulate->value, total->origin};
}

} // namespace

/// "dp" is what torchtitan called dp_replicate × dp_shard at first.
void takeDeviceMesh(TrainingPlan& plan, const Run& run)
{
    const std::optional<DeviceMesh> mesh = deviceMeshOf(run);
    if (!mesh) {
        return;
    }
    const Origin origin = originOf(run, mesh->file, mesh->line);
    ParallelPlan& parallel = plan.parallel;
    fill(parallel.pp, LoggedCount{mesh->size("pp"), origin});
    fill(parallel.tp, LoggedCount{mesh->size("tp"), origin});
    fill(parallel.cp, LoggedCount{mesh->size("cp"), origin});
    if (mesh->names("ep")) {
        fill(parallel.ep, LoggedCount{mesh->size("ep"), origin});
    }
    if (parallel.dp.isKnown()) {
        return;
    }
    if (mesh->names("dp_replicate")) {
        fill(parallel.dpReplicate, LoggedCount{mesh->size("dp_replicate"), origin});
    }
    if (mesh->ranks() % modelParallelSize(plan) == 0) {
        fill(parallel.world, LoggedCount{mesh->ranks(), origin});
    }
}

void completeFromLog(TrainingPlan& plan, const Run& run, const Catalog& catalog)
{
    takeCapacity(plan, run);
    takeGpu(plan, run, catalog);
    takeDeviceMesh(plan, run);
    const Counts counts(run);
    const auto micro = counts.find("Instantaneous batch size per device");
    const auto accumulate = counts.find("Gradient Accumulation steps");
    fill(plan.batch.micro, micro);
    if (!plan.batch.global.isStated()) {
        fill(plan.batch.accum, accumulate);
    }
    if (plan.parallel.world.isStated() || plan.parallel.dp.isStated()) {
        return;
    }
    auto replicas = dataParallelOf(micro, accumulate, counts.find("Total train batch size"));
    replicas = replicas ? replicas : counts.find("data_parallel_size");
    if (replicas) {
        fill(plan.parallel.dp, replicas);
    } else if (const auto world = counts.find("world_size"); world && world->value % modelParallelSize(plan) == 0) {
        fill(plan.parallel.world, world);
    }
}

} // namespace headroom
