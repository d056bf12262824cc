// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_splice.h"

#include "config/effective_settings.h"
#include "config/key_path.h"
#include "config/scalar_text.h"
#include "config/yaml_source.h"
#include "config/yaml_tree.h"

#include <algorithm>
#include <span>

namespace headroom {

namespace {

using Kind = YamlNode::Kind;
using Steps = std::span<const KeyStep>;

struct Insertion
{
    std::size_t begin;
    std::size_t end;
    std::string text;
};

/// One edit of one file: finds the place, writes the text for it.
class Splicer
{
public:
    Splicer(const std::string& bytes, const std::string& name, const YamlTree& tree, const ConfigEdit& edit)
        : m_source(bytes)
        , m_name(name)
        , m_tree(tree)
        , m_edit(edit)
        , m_lineEnd(lineEndOf(bytes))
    {
    }

    /// `bytes` with what has to be changed in them.
    Result<std::string> apply(Steps steps, const std::string& bytes);

private:
    using Outcome = Result<std::vector<Insertion>>;

    static std::string lineEndOf(const std::string& bytes)
    {
        const std::size_t lineFeed = bytes.find('\n');
        return lineFeed != std::string::npos && lineFeed > 0 && bytes[lineFeed - 1] == '\r' ? "\r\n" : "\n";
    }

    Outcome visit(std::size_t index, Steps steps, ScalarPlace place);
    Outcome visitMap(std::size_t index, Steps steps, ScalarPlace place);
    Outcome visitSequence(std::size_t index, Steps steps, ScalarPlace place);
    Outcome visitAlias(const YamlNode& node, Steps steps, const ScalarPlace& place);
    Outcome replace(const YamlNode& node, ScalarPlace place);
    Outcome replaceCollection(const YamlNode& node, ScalarPlace place);
    Outcome fillNull(const YamlNode& node, Steps steps, ScalarPlace place);
    Outcome addToBlockMap(const YamlNode& map, Steps steps);
    Outcome addToFlowMap(const YamlNode& map, Steps steps, const ScalarPlace& place);

    [[nodiscard]] std::string value(const ScalarPlace& place) const;
    [[nodiscard]] std::string flowPair(Steps steps, ScalarPlace place) const;
    [[nodiscard]] std::string blockPair(Steps steps, std::size_t indent) const;
    [[nodiscard]] std::size_t indentStep() const;
    [[nodiscard]] std::size_t columnOf(const YamlNode& node) const
    {
        return node.outer - m_source.beginOfLine(node.outer);
    }
    [[nodiscard]] tl::unexpected<Problem> refuse(Text text, std::int64_t line) const
    {
        return failure(std::move(text), m_name, line);
    }

    YamlSource m_source;
    const std::string& m_name;
    const YamlTree& m_tree;
    const ConfigEdit& m_edit;
    std::string m_lineEnd;
    std::size_t m_parentColumn = 0; ///< of the block mapping being visited
};

std::string Splicer::value(const ScalarPlace& place) const
{
    if (!m_edit.items) {
        return writeScalar(m_edit.value, place);
    }
    ScalarPlace inside{true, place.isJson, ScalarStyle::Empty, {}};
    std::string text = "[";
    for (const std::string& item : *m_edit.items) {
        text += (text.size() > 1 ? ", " : "") + writeScalar(item, inside);
    }
    return text + "]";
}

/// key: value, with {…} for the mappings that are missing in between.
std::string Splicer::flowPair(Steps steps, ScalarPlace place) const
{
    place.isFlow = true;
    const std::string key = writeKey(steps.front().name, place) + ": ";
    if (steps.size() == 1) {
        return key + value({true, place.isJson, ScalarStyle::Empty, {}});
    }
    return key + "{" + flowPair(steps.subspan(1), place) + "}";
}

/// The same on lines of its own, each missing mapping one step further in.
std::string Splicer::blockPair(Steps steps, std::size_t indent) const
{
    const ScalarPlace place;
    const std::string key = std::string(indent, ' ') + writeKey(steps.front().name, place) + ":";
    if (steps.size() == 1) {
        return key + " " + value(place);
    }
    return key + m_lineEnd + blockPair(steps.subspan(1), indent + indentStep());
}

/// How much the file itself indents a mapping inside a mapping.
std::size_t Splicer::indentStep() const
{
    for (const YamlNode& node : m_tree.nodes) {
        if (node.kind != Kind::Map || node.isFlow) {
            continue;
        }
        for (std::size_t i = 1; i < node.items.size(); i += 2) {
            const YamlNode& child = m_tree[node.items[i]];
            if (child.kind == Kind::Map && !child.isFlow && !child.items.empty()) {
                const std::size_t outer = columnOf(m_tree[node.items.front()]);
                const std::size_t inner = columnOf(m_tree[child.items.front()]);
                if (inner > outer) {
                    return inner - outer;
                }
            }
        }
    }
    return 2;
}

Splicer::Outcome Splicer::replace(const YamlNode& node, ScalarPlace place)
{
    if (!node.isPlaced) {
        return refuse(
            Text{HEADROOM_TR("core",
                             "where the value of “%1” stands in the file could not be told, so it is not changed"),
                 {m_edit.key}},
            node.line);
    }
    const std::size_t header = m_source.endOfLine(node.begin);
    if (node.style == ScalarStyle::Block
        && m_source.text().substr(node.begin, header - node.begin).find('#') != std::string_view::npos) {
        return refuse(
            Text{HEADROOM_TR("core", "replacing the text block of “%1” would lose the comment after its first line"),
                 {m_edit.key}},
            node.line);
    }
    place.oldStyle = node.style;
    place.oldText = node.text;
    std::string text = value(place);
    if (node.style == ScalarStyle::Empty) {
        text = (node.needsColon ? ": " : " ") + text;
        const char next = m_source.at(node.end);
        const bool needsBlank = next == '#';
        text += needsBlank ? " " : "";
    }
    return std::vector<Insertion>{{node.begin, node.end, std::move(text)}};
}

/// A list or mapping as a whole, for an edit that gives a list.
Splicer::Outcome Splicer::replaceCollection(const YamlNode& node, ScalarPlace place)
{
    if (!m_edit.items || node.kind != Kind::Sequence) {
        return refuse(
            Text{HEADROOM_TR("core", "“%1” holds several values; a single one can't take their place"), {m_edit.key}},
            node.line);
    }
    const std::string_view old = m_source.text().substr(node.begin, node.end - node.begin);
    if (!node.isPlaced || old.find('#') != std::string_view::npos) {
        return refuse(Text{HEADROOM_TR("core", "replacing the list “%1” would lose the comments in it"), {m_edit.key}},
                      node.line);
    }
    if (node.isFlow) {
        return std::vector<Insertion>{{node.begin, node.end, value(place)}};
    }
    // A block list begins on a line of its own; the new one stands behind the colon.
    std::size_t begin = node.begin;
    while (begin > 0
           && (m_source.at(begin - 1) == ' ' || m_source.at(begin - 1) == '\n' || m_source.at(begin - 1) == '\r')) {
        --begin;
    }
    return std::vector<Insertion>{{begin, node.end, " " + value(place)}};
}

/// `key:` and `key: null` get a mapping with the rest of the path.
Splicer::Outcome Splicer::fillNull(const YamlNode& node, Steps steps, ScalarPlace place)
{
    const bool isBare = node.style == ScalarStyle::Empty && m_source.at(node.begin - 1) == ':';
    if (!node.isPlaced || node.needsColon || (node.style == ScalarStyle::Empty && !isBare)) {
        return refuse(
            Text{HEADROOM_TR("core", "“%1” can't be added below a value without a place of its own"), {m_edit.key}},
            node.line);
    }
    if (isBare && !place.isFlow && m_source.isRestOfLineEmpty(node.begin)) {
        const std::size_t at = m_source.endOfLine(node.begin);
        return std::vector<Insertion>{{at, at, m_lineEnd + blockPair(steps, m_parentColumn + indentStep())}};
    }
    return std::vector<Insertion>{{node.begin, node.end, (isBare ? " {" : "{") + flowPair(steps, place) + "}"}};
}

Splicer::Outcome Splicer::addToBlockMap(const YamlNode& map, Steps steps)
{
    const YamlNode& firstKey = m_tree[map.items.front()];
    const std::size_t at = m_source.endOfLine(m_tree[map.items.back()].end);
    return std::vector<Insertion>{{at, at, m_lineEnd + blockPair(steps, columnOf(firstKey))}};
}

Splicer::Outcome Splicer::addToFlowMap(const YamlNode& map, Steps steps, const ScalarPlace& place)
{
    if (!map.isPlaced) {
        return refuse(
            Text{HEADROOM_TR("core", "the end of the mapping that “%1” belongs to could not be found"), {m_edit.key}},
            map.line);
    }
    ScalarPlace inside = place;
    if (map.items.empty()) {
        return std::vector<Insertion>{{map.begin + 1, map.begin + 1, flowPair(steps, inside)}};
    }
    const YamlNode& lastKey = m_tree[map.items[map.items.size() - 2]];
    inside.isJson = lastKey.style == ScalarStyle::DoubleQuoted;
    const std::string pair = flowPair(steps, inside);
    const std::size_t last = m_tree[map.items.back()].end;
    const std::size_t comma = m_source.skipTrivia(last);
    const bool hasComma = m_source.at(comma) == ',';
    const std::size_t behind = hasComma ? comma + 1 : last;
    const std::size_t lineBegin = m_source.beginOfLine(lastKey.outer);
    const bool isOnOwnLine = m_source.skipBlanks(lineBegin) == lastKey.outer && lineBegin > map.begin;
    if (!isOnOwnLine) {
        const std::string text = hasComma ? " " + pair + "," : ", " + pair;
        return std::vector<Insertion>{{behind, behind, text}};
    }
    const std::size_t at = m_source.isRestOfLineEmpty(behind) ? m_source.endOfLine(behind) : behind;
    const std::string indent(m_source.text().substr(lineBegin, lastKey.outer - lineBegin));
    std::vector<Insertion> result;
    if (!hasComma) {
        result.push_back({last, last, ","});
    }
    result.push_back({at, at, m_lineEnd + indent + pair + (hasComma ? "," : "")});
    return result;
}

Splicer::Outcome Splicer::visitAlias(const YamlNode& node, Steps steps, const ScalarPlace& place)
{
    const YamlNode& target = m_tree[node.target];
    if (steps.empty()) {
        if (target.kind != Kind::Scalar && !m_edit.items) {
            return replaceCollection(target, place);
        }
        ScalarPlace literal = place;
        literal.oldStyle = target.style == ScalarStyle::Block || target.style == ScalarStyle::MultiLine
            ? ScalarStyle::Empty
            : target.style;
        literal.oldText = target.text;
        return std::vector<Insertion>{{node.begin, node.end, value(literal)}};
    }
    if (target.kind != Kind::Map || steps.size() > 1 || steps.front().index) {
        return refuse(Text{HEADROOM_TR("core", "“%1” is shared through the anchor on line %2; change it there"),
                           {m_edit.key, std::to_string(target.line)}},
                      node.line);
    }
    return std::vector<Insertion>{
        {node.begin, node.end,
         "{<<: " + node.text + ", " + flowPair(steps, {true, false, ScalarStyle::Empty, {}}) + "}"}};
}

Splicer::Outcome Splicer::visitMap(std::size_t index, Steps steps, ScalarPlace place)
{
    const YamlNode& map = m_tree[index];
    const auto entries = effectiveEntries(m_tree, index, m_name);
    if (!entries) {
        return tl::unexpected(entries.error());
    }
    if (steps.front().index) {
        return refuse(Text{HEADROOM_TR("core", "“%1” names a place in a list, but there is a mapping"), {m_edit.key}},
                      map.line);
    }
    const auto found = std::find_if(entries->begin(), entries->end(), [&](const EffectiveEntry& entry) {
        return *keyText(m_tree, entry.key) == steps.front().name;
    });
    if (found != entries->end() && !found->isMerged) {
        const YamlNode& key = m_tree[found->key];
        place.isFlow = place.isFlow || map.isFlow;
        place.isJson = place.isFlow && key.style == ScalarStyle::DoubleQuoted;
        m_parentColumn = columnOf(key);
        return visit(found->value, steps.subspan(1), place);
    }
    if (found != entries->end() && steps.size() > 1) {
        return refuse(Text{HEADROOM_TR("core", "“%1” comes from a merged mapping on line %2; change it there"),
                           {m_edit.key, std::to_string(m_tree[found->key].line)}},
                      map.line);
    }
    if (std::any_of(steps.begin(), steps.end(), [](const KeyStep& step) { return step.index.has_value(); })) {
        return refuse(Text{HEADROOM_TR("core", "there is no list for “%1” to be added to"), {m_edit.key}}, map.line);
    }
    if (map.isFlow) {
        return addToFlowMap(map, steps, place);
    }
    if (place.isFlow) {
        return refuse(
            Text{HEADROOM_TR("core", "“%1” can't be added to a mapping without braces inside a list"), {m_edit.key}},
            map.line);
    }
    return addToBlockMap(map, steps);
}

Splicer::Outcome Splicer::visitSequence(std::size_t index, Steps steps, ScalarPlace place)
{
    const YamlNode& sequence = m_tree[index];
    const auto& step = steps.front();
    if (!step.index || *step.index >= sequence.items.size()) {
        return refuse(Text{HEADROOM_TR("core", "“%1” is not in the list, which has %2 values"),
                           {m_edit.key, std::to_string(sequence.items.size())}},
                      sequence.line);
    }
    place.isFlow = place.isFlow || sequence.isFlow;
    return visit(sequence.items[*step.index], steps.subspan(1), place);
}

Splicer::Outcome Splicer::visit(std::size_t index, Steps steps, ScalarPlace place)
{
    const YamlNode& node = m_tree[index];
    if (node.kind == Kind::Alias) {
        return visitAlias(node, steps, place);
    }
    if (steps.empty()) {
        return node.kind == Kind::Scalar ? replace(node, place) : replaceCollection(node, place);
    }
    if (node.kind == Kind::Map) {
        return visitMap(index, steps, place);
    }
    if (node.kind == Kind::Sequence) {
        return visitSequence(index, steps, place);
    }
    if (node.isNull
        && std::none_of(steps.begin(), steps.end(), [](const KeyStep& step) { return step.index.has_value(); })) {
        return fillNull(node, steps, place);
    }
    return refuse(
        Text{HEADROOM_TR("core", "“%1” can't be added: the file has a single value where its mapping would be"),
             {m_edit.key}},
        node.line);
}

Result<std::string> Splicer::apply(Steps steps, const std::string& bytes)
{
    auto insertions = visit(m_tree.root, steps, {});
    if (!insertions) {
        return tl::unexpected(insertions.error());
    }
    std::string result = bytes;
    // Not std::views::reverse, which clang 14 cannot compile with this library; the fuzz targets are built with it.
    for (auto at = insertions->rbegin(); at != insertions->rend(); ++at) {
        const auto& insertion = *at;
        result.replace(insertion.begin, insertion.end - insertion.begin, insertion.text);
    }
    return result;
}

} // namespace

Result<std::string> spliced(const std::string& bytes, const std::string& readable, const YamlTree& tree,
                            const std::string& name, const ConfigEdit& edit)
{
    const auto steps = parseKey(edit.key);
    if (!steps) {
        return failure(Text{HEADROOM_TR("core", "“%1” is not a key"), {edit.key}}, name);
    }
    return Splicer(readable, name, tree, edit).apply(*steps, bytes);
}

} // namespace headroom
