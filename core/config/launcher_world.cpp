// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/launcher_world.h"

#include "config/format_keys.h"
#include "units/number.h"

#include <initializer_list>

namespace headroom {

namespace {

/// A number of a launcher: absent, known only to the running shell, or known.
struct Stated
{
    const Setting* setting = nullptr;
    std::int64_t value = 0; ///< 0: not known

    [[nodiscard]] bool isAbsent() const { return setting == nullptr; }
};

/// A line of #SBATCH gives way to what srun is told.
Stated statedIn(const ConfigDocument& document, std::initializer_list<const char*> keys)
{
    for (const char* prefix : {"", "sbatch."}) {
        for (const char* key : keys) {
            // "--ntasks-per-node 8 python": of several words the number is the first.
            const std::string name = std::string(prefix) + key;
            const Setting* single = statedAt(document, name);
            const Setting* setting = single != nullptr ? single : statedAt(document, name + "[0]");
            if (setting != nullptr) {
                const auto value = setting->isKnown ? parseInteger(setting->text) : std::nullopt;
                return {setting, value.value_or(0)};
            }
        }
    }
    return {};
}

/// "--gres=gpu:8", "--gres=gpu:a100:4,tmpfs:10G": GPUs of a node.
Stated generalResources(const ConfigDocument& document)
{
    for (const char* key : {"--gres", "sbatch.--gres"}) {
        const Setting* setting = statedAt(document, key);
        if (setting == nullptr || !setting->isKnown || !setting->text.starts_with("gpu:")) {
            continue;
        }
        const std::string_view first = std::string_view(setting->text).substr(0, setting->text.find(','));
        const auto count = parseInteger(first.substr(first.rfind(':') + 1));
        return {setting, count.value_or(0)};
    }
    return {};
}

std::optional<ProductValue> productOf(const Stated& first, std::int64_t second)
{
    constexpr std::int64_t most = 1'000'000'000; // far above any cluster, and its square fits
    if (first.value <= 0 || second <= 0 || first.value > most || second > most) {
        return std::nullopt;
    }
    return ProductValue{std::to_string(first.value * second), first.setting, {}};
}

/// Of srun or sbatch: tasks in all, or nodes and tasks on each.
std::optional<std::int64_t> slurmTasks(const ConfigDocument& document)
{
    const Stated tasks = statedIn(document, {"--ntasks", "-n", "-np"});
    if (!tasks.isAbsent()) {
        return tasks.value > 0 ? std::optional(tasks.value) : std::nullopt;
    }
    const Stated nodes = statedIn(document, {"--nodes", "-N"});
    const Stated tasksPerNode = statedIn(document, {"--gpus-per-node", "--ntasks-per-node"});
    const Stated perNode = tasksPerNode.isAbsent() ? generalResources(document) : tasksPerNode;
    const auto product = perNode.isAbsent() ? std::nullopt : productOf(perNode, nodes.isAbsent() ? 1 : nodes.value);
    return product ? parseInteger(product->text) : std::nullopt;
}

} // namespace

std::optional<ProductValue> launcherWorld(const ConfigDocument& document)
{
    // accelerate counts the processes of all machines.
    if (const Stated all = statedIn(document, {"--num_processes", "--num-processes"}); !all.isAbsent()) {
        return productOf(all, 1);
    }
    const Stated perNode = statedIn(document, {"--nproc_per_node", "--nproc-per-node", "--num_gpus", "NPROC_PER_NODE"});
    const Stated slurmNodes = statedIn(document, {"--nodes", "-N"});
    if (!perNode.isAbsent()) {
        const Stated nodes = statedIn(document, {"--nnodes", "--num_nodes", "NNODES"});
        // "--nnodes $SLURM_NNODES": Slurm's own number says it.
        const std::int64_t unknown = slurmNodes.value;
        return productOf(perNode, nodes.isAbsent() ? 1 : nodes.value > 0 ? nodes.value : unknown);
    }
    const auto tasks = slurmTasks(document);
    const Stated place
        = statedIn(document, {"--ntasks", "-n", "-np", "--ntasks-per-node", "--gpus-per-node", "--gres"});
    return tasks ? productOf({place.setting, *tasks}, 1) : std::nullopt;
}

} // namespace headroom
