// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/effective_settings.h"

#include "config/key_path.h"

#include <set>
#include <unordered_map>

namespace headroom {

namespace {

constexpr std::size_t maxDepth = 200;
constexpr std::size_t maxVisits = 500'000;
constexpr std::size_t mostProblems = 1000;
constexpr std::size_t maxExpandedBytes = std::size_t{64} << 20;

/// Walks the tree as a reader would see it, counting what it visits: aliases can make a small file endless.
class Expansion
{
public:
    Expansion(const YamlTree& tree, const std::string& name, std::vector<Problem>* problems)
        : m_tree(tree)
        , m_name(name)
        , m_problems(problems)
    {
    }

    Result<std::vector<EffectiveEntry>> entries(std::size_t map, std::size_t depth);
    Result<void> leaves(std::size_t index, const std::string& path, bool viaAlias, bool viaMerge, std::size_t depth);

    std::vector<Setting> settings;

private:
    struct Collected
    {
        std::vector<EffectiveEntry> entries;
        std::vector<std::size_t> mergeKey; ///< per entry: the place of its << in the map, 0 for explicit ones
        std::unordered_map<std::string, std::size_t> places;
    };

    Result<void> count(std::size_t depth, std::int64_t line, std::size_t bytes = 0);
    void addExplicit(Collected& collected, const std::string& text, EffectiveEntry entry);
    static void addMerged(Collected& collected, const std::string& text, EffectiveEntry entry, std::size_t mergeKey);
    Result<void> merge(Collected& collected, std::size_t source, std::size_t mergeKey, std::size_t depth);
    Result<void> mergeMap(Collected& collected, std::size_t map, std::size_t mergeKey, std::size_t depth);
    void report(std::size_t node, Severity severity, Text text);
    [[nodiscard]] std::size_t resolved(std::size_t index) const
    {
        return m_tree[index].kind == YamlNode::Kind::Alias ? m_tree[index].target : index;
    }

    const YamlTree& m_tree;
    const std::string& m_name;
    std::vector<Problem>* m_problems;
    std::set<std::size_t> m_reported;
    std::size_t m_visits = 0;
    std::size_t m_bytes = 0;
};

Result<void> Expansion::count(std::size_t depth, std::int64_t line, std::size_t bytes)
{
    m_bytes += bytes;
    if (depth > maxDepth || ++m_visits > maxVisits || m_bytes > maxExpandedBytes) {
        return failure(
            Text{HEADROOM_TR("core",
                             "with its aliases expanded, the file holds more than %1 values, %2 levels or %3 MiB"),
                 {std::to_string(maxVisits), std::to_string(maxDepth), std::to_string(maxExpandedBytes >> 20)}},
            m_name, line);
    }
    return {};
}

/// A mapping that several aliases name is walked several times but reported once.
void Expansion::report(std::size_t node, Severity severity, Text text)
{
    if (m_problems && m_reported.size() < mostProblems && m_reported.insert(node).second) {
        m_problems->push_back({severity, m_name, m_tree[node].line, std::move(text)});
    }
}

void Expansion::addExplicit(Collected& collected, const std::string& text, EffectiveEntry entry)
{
    const auto [found, isNew] = collected.places.try_emplace(text, collected.entries.size());
    if (!isNew) {
        EffectiveEntry& earlier = collected.entries[found->second];
        if (!earlier.isMerged) {
            report(entry.key, Severity::Warning,
                   Text{HEADROOM_TR("core", "“%1” is already on line %2; the last one, on line %3, is used"),
                        {text, std::to_string(m_tree[earlier.key].line), std::to_string(m_tree[entry.key].line)}});
        }
        earlier.key = YamlNode::none;
        found->second = collected.entries.size();
    }
    collected.entries.push_back(entry);
    collected.mergeKey.push_back(0);
}

/// Explicit entries win over merged ones; of one << the first source wins, of several << the last.
void Expansion::addMerged(Collected& collected, const std::string& text, EffectiveEntry entry, std::size_t mergeKey)
{
    entry.isMerged = true;
    const auto [found, isNew] = collected.places.try_emplace(text, collected.entries.size());
    if (isNew) {
        collected.entries.push_back(entry);
        collected.mergeKey.push_back(mergeKey);
    } else if (collected.entries[found->second].isMerged && collected.mergeKey[found->second] != mergeKey) {
        collected.entries[found->second] = entry;
        collected.mergeKey[found->second] = mergeKey;
    }
}

Result<void> Expansion::mergeMap(Collected& collected, std::size_t map, std::size_t mergeKey, std::size_t depth)
{
    auto merged = entries(map, depth + 1);
    if (!merged) {
        return tl::unexpected(merged.error());
    }
    // A chain of merges carries every key through every link.
    m_visits += merged->size();
    for (const EffectiveEntry& entry : *merged) {
        addMerged(collected, *keyText(m_tree, entry.key), entry, mergeKey);
    }
    return {};
}

Result<void> Expansion::merge(Collected& collected, std::size_t source, std::size_t mergeKey, std::size_t depth)
{
    const std::size_t index = resolved(source);
    const YamlNode& node = m_tree[index];
    if (node.kind == YamlNode::Kind::Map) {
        return mergeMap(collected, index, mergeKey, depth);
    }
    if (node.kind == YamlNode::Kind::Sequence) {
        for (const std::size_t item : node.items) {
            if (m_tree.resolved(item).kind != YamlNode::Kind::Map) {
                report(item, Severity::Error,
                       Text{HEADROOM_TR("core", "only mappings can be merged with <<; this is not one")});
                continue;
            }
            if (auto done = mergeMap(collected, resolved(item), mergeKey, depth); !done) {
                return done;
            }
        }
        return {};
    }
    report(source, Severity::Error, Text{HEADROOM_TR("core", "only mappings can be merged with <<; this is not one")});
    return {};
}

Result<std::vector<EffectiveEntry>> Expansion::entries(std::size_t map, std::size_t depth)
{
    Collected collected;
    const YamlNode& node = m_tree[map];
    for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
        const EffectiveEntry entry{node.items[i], node.items[i + 1], false};
        const YamlNode& key = m_tree[entry.key];
        if (auto counted = count(depth, key.line); !counted) {
            return tl::unexpected(counted.error());
        }
        const std::string* text = keyText(m_tree, entry.key);
        if (!text) {
            report(entry.key, Severity::Note,
                   Text{HEADROOM_TR("core", "this key is a list or a mapping itself; it is not read")});
        } else if (*text == "<<" && key.style == ScalarStyle::Plain) {
            if (auto done = merge(collected, entry.value, i + 1, depth); !done) {
                return tl::unexpected(done.error());
            }
        } else {
            addExplicit(collected, *text, entry);
        }
    }
    std::erase_if(collected.entries, [](const EffectiveEntry& entry) { return entry.key == YamlNode::none; });
    return std::move(collected.entries);
}

Result<void> Expansion::leaves(std::size_t index, const std::string& path, bool viaAlias, bool viaMerge,
                               std::size_t depth)
{
    viaAlias = viaAlias || m_tree[index].kind == YamlNode::Kind::Alias;
    const YamlNode& node = m_tree.resolved(index);
    if (auto counted = count(depth, node.line, path.size() + node.text.size()); !counted) {
        return counted;
    }
    if (node.kind == YamlNode::Kind::Scalar) {
        settings.push_back({path, node.text, node.style, node.begin, node.end, node.line, viaAlias, viaMerge});
        return {};
    }
    if (node.kind == YamlNode::Kind::Sequence) {
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            if (auto done = leaves(node.items[i], elementKey(path, i), viaAlias, viaMerge, depth + 1); !done) {
                return done;
            }
        }
        return {};
    }
    const auto children = entries(resolved(index), depth + 1);
    if (!children) {
        return tl::unexpected(children.error());
    }
    for (const EffectiveEntry& child : *children) {
        const std::string key = childKey(path, *keyText(m_tree, child.key));
        if (auto done = leaves(child.value, key, viaAlias, viaMerge || child.isMerged, depth + 1); !done) {
            return done;
        }
    }
    return {};
}

} // namespace

const std::string* keyText(const YamlTree& tree, std::size_t key)
{
    const YamlNode& node = tree.resolved(key);
    return node.kind == YamlNode::Kind::Scalar ? &node.text : nullptr;
}

Result<std::vector<EffectiveEntry>> effectiveEntries(const YamlTree& tree, std::size_t map, const std::string& name,
                                                     std::vector<Problem>* problems)
{
    return Expansion(tree, name, problems).entries(map, 0);
}

Result<std::vector<Setting>> effectiveSettings(const YamlTree& tree, const std::string& name,
                                               std::vector<Problem>& problems)
{
    Expansion expansion(tree, name, &problems);
    if (auto done = expansion.leaves(tree.root, {}, false, false, 0); !done) {
        return tl::unexpected(done.error());
    }
    return std::move(expansion.settings);
}

} // namespace headroom
