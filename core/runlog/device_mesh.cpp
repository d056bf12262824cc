// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/device_mesh.h"

#include "units/number.h"

#include <algorithm>

namespace headroom {
namespace {

constexpr std::int64_t mostRanks = 1 << 24;
constexpr std::size_t mostDimensions = 16;

/// The items between commas, without blanks and quotes.
std::vector<std::string> itemsOf(std::string_view text)
{
    std::vector<std::string> items(1);
    for (const char c : text) {
        if (c == ',') {
            items.emplace_back();
        } else if (c != ' ' && c != '\'' && c != '"') {
            items.back() += c;
        }
    }
    return items;
}

bool add(DeviceMesh& mesh, std::string name, std::string_view size)
{
    const auto count = parseInteger(size);
    const bool isUsable
        = count && *count > 0 && *count <= mostRanks && !name.empty() && mesh.dimensions.size() < mostDimensions;
    if (isUsable) {
        mesh.dimensions.emplace_back(std::move(name), *count);
    }
    return isUsable;
}

/// "['dp_shard', 'tp']" beside "[4, 2]".
bool readLists(const LogFact& fact, DeviceMesh& mesh)
{
    const std::vector<std::string> names = itemsOf(fact.text("mesh_names")), sizes = itemsOf(fact.text("mesh_sizes"));
    bool isGood = names.size() == sizes.size();
    for (std::size_t i = 0; isGood && i < names.size(); ++i) {
        isGood = add(mesh, names[i], sizes[i]);
    }
    return isGood;
}

/// "pp=2, dp_shard=4".
bool readPairs(const LogFact& fact, DeviceMesh& mesh)
{
    bool isGood = true;
    for (const std::string& item : itemsOf(fact.text("mesh"))) {
        const std::size_t equals = std::min(item.find('='), item.size());
        isGood = isGood && equals < item.size() && add(mesh, item.substr(0, equals), item.substr(equals + 1));
    }
    return isGood;
}

/// Expert parallelism takes its ranks from those of data, context and tensor parallelism.
bool isView(std::string_view dimension)
{
    return dimension == "ep" || dimension == "etp";
}

} // namespace

bool DeviceMesh::names(std::string_view dimension) const
{
    return std::ranges::any_of(dimensions, [&](const auto& one) { return one.first == dimension; });
}

std::int64_t DeviceMesh::size(std::string_view dimension) const
{
    std::int64_t product = 1;
    for (const auto& [name, count] : dimensions) {
        const bool isPart = dimension == "dp_shard" && (name == "dp_shard_mod_ep" || name == "dp_shard_in_ep");
        product = std::min(mostRanks, product * (name == dimension || isPart ? count : 1));
    }
    return product;
}

std::int64_t DeviceMesh::ranks() const
{
    std::int64_t product = 1;
    for (const auto& [name, count] : dimensions) {
        product = std::min(mostRanks, product * (isView(name) ? 1 : count));
    }
    return product;
}

std::optional<DeviceMesh> deviceMeshOf(const Run& run)
{
    for (const LogFact& fact : run.facts) {
        if (fact.kind != LineKind::Arguments) {
            continue;
        }
        DeviceMesh mesh;
        mesh.file = fact.file;
        mesh.line = fact.line;
        if ((fact.find("mesh") != nullptr && readPairs(fact, mesh))
            || (fact.find("mesh_names") != nullptr && readLists(fact, mesh))) {
            return mesh;
        }
    }
    return std::nullopt;
}

} // namespace headroom
