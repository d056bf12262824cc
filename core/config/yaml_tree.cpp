// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/yaml_tree.h"

#include "config/text_encoding.h"
#include "config/yaml_source.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

namespace headroom {

namespace {

constexpr std::size_t maxNesting = 200;
constexpr std::size_t maxNodes = 2'000'000; // keys and values

/// Leaves the parser when the file breaks one of our limits; never leaves this file.
struct Refusal
{
    Text text;
    std::int64_t line = 0;
};

/// Leaves the parser at the first thing after the first document.
struct NextDocument
{
    std::size_t position;
    std::int64_t line;
};

/// Builds the tree from yaml-cpp's events. Their marks say where a node begins (at its anchor or tag, if any), except
/// that the mark of a missing value is that of the next token; where nodes end is found in the text.
class TreeBuilder : public YAML::EventHandler
{
public:
    TreeBuilder(std::string_view bytes, YamlTree& tree)
        : m_source(bytes)
        , m_bom(bytes.starts_with(utf8Bom) ? utf8Bom.size() : 0)
        , m_tree(tree)
    {
    }

    void OnDocumentStart(const YAML::Mark& mark) override
    {
        if (m_hasDocument) {
            throw NextDocument{position(mark), mark.line + 1};
        }
        m_hasDocument = true;
    }
    void OnDocumentEnd() override { }

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        YamlNode node;
        node.isNull = true;
        node.outer = position(mark);
        node.line = mark.line + 1;
        placeNull(node);
        add(std::move(node), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        YamlNode node = nodeAt(mark);
        node.kind = YamlNode::Kind::Alias;
        node.end = m_source.endOfAlias(node.begin);
        node.text = m_source.text().substr(node.begin, node.end - node.begin);
        node.target = m_anchors.at(anchor);
        if (std::find(m_open.begin(), m_open.end(), node.target) != m_open.end()) {
            throw Refusal{
                Text{HEADROOM_TR("core",
                                 "the alias %1 stands inside the anchor it names, so the value would contain itself"),
                     {node.text}},
                node.line};
        }
        add(std::move(node), YAML::NullAnchor);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override
    {
        YamlNode node = nodeAt(mark);
        node.text = value;
        placeScalar(node, tag);
        add(std::move(node), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override
    {
        open(YamlNode::Kind::Sequence, '[', mark, anchor);
    }
    void OnSequenceEnd() override { close(']'); }

    void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override
    {
        open(YamlNode::Kind::Map, '{', mark, anchor);
    }
    void OnMapEnd() override { close('}'); }

private:
    [[nodiscard]] std::size_t position(const YAML::Mark& mark) const
    {
        return static_cast<std::size_t>(mark.pos) + m_bom;
    }

    [[nodiscard]] YamlNode nodeAt(const YAML::Mark& mark)
    {
        YamlNode node;
        node.outer = position(mark);
        node.begin = m_source.skipProperties(node.outer, m_propertyEnd);
        const auto skipped = m_source.text().substr(node.outer, node.begin - node.outer);
        node.line = mark.line + 1 + std::count(skipped.begin(), skipped.end(), '\n');
        return node;
    }

    void placeScalar(YamlNode& node, const std::string& tag)
    {
        const char first = m_source.at(node.begin);
        const bool isQuoted = first == '"' || first == '\'';
        if (tag != "!" && node.text.empty() && !(isQuoted && tag != "?")) {
            // A tag or an anchor without a value: "key: !!str".
            node.style = ScalarStyle::Empty;
            node.begin = node.end = m_propertyEnd;
            return;
        }
        if (isQuoted) {
            node.style = first == '"' ? ScalarStyle::DoubleQuoted : ScalarStyle::SingleQuoted;
            node.end = m_source.endOfQuoted(node.begin);
            if (node.end == YamlSource::npos) {
                throw Refusal{Text{HEADROOM_TR("core", "the quote that opens here is not closed")}, node.line};
            }
        } else if (first == '|' || first == '>') {
            node.style = ScalarStyle::Block;
            node.end = m_source.endOfFolded(m_source.endOfLine(node.begin), node.text);
        } else {
            node.end = m_source.endOfFolded(node.begin, node.text);
        }
        node.isPlaced = node.end != YamlSource::npos;
        node.end = node.isPlaced ? node.end : node.begin;
        const auto text = m_source.text().substr(node.begin, node.end - node.begin);
        if (node.style != ScalarStyle::Block && text.find('\n') != std::string_view::npos) {
            node.style = ScalarStyle::MultiLine;
        }
    }

    /// A null is either written (~, null) at its mark or a value that is not there at all.
    void placeNull(YamlNode& node)
    {
        const std::size_t written = m_source.skipProperties(node.outer, m_propertyEnd);
        const std::size_t length = m_source.nullLengthAt(written);
        const std::size_t missing = placeOfMissing(node);
        if (length > 0 && (missing == YamlSource::npos || written >= missing)) {
            node.begin = written;
            node.end = written + length;
            node.text = m_source.text().substr(written, length);
            return;
        }
        node.style = ScalarStyle::Empty;
        node.isPlaced = missing != YamlSource::npos;
        node.begin = node.end = node.outer = node.isPlaced ? missing : node.outer;
    }

    /// Right after the colon or dash of a value that is not there.
    [[nodiscard]] std::size_t placeOfMissing(YamlNode& node)
    {
        if (m_open.empty()) {
            return YamlSource::npos;
        }
        const YamlNode& parent = m_tree[m_open.back()];
        std::size_t place = YamlSource::npos;
        if (parent.kind == YamlNode::Kind::Map && parent.items.size() % 2 == 1) {
            const YamlNode& key = m_tree[parent.items.back()];
            const std::size_t colon = m_source.skipTrivia(key.end);
            node.line = key.line;
            node.needsColon = m_source.at(colon) != ':';
            place = !key.isPlaced ? YamlSource::npos : node.needsColon ? key.end : colon + 1;
        } else if (parent.kind == YamlNode::Kind::Sequence && !parent.isFlow) {
            const std::size_t dash = m_source.skipTrivia(parent.end);
            place = m_source.at(dash) == '-' ? dash + 1 : YamlSource::npos;
        }
        if (place != YamlSource::npos && !node.needsColon) {
            std::size_t afterProperties = place;
            static_cast<void>(m_source.skipProperties(m_source.skipBlanks(place), afterProperties));
            const char next = m_source.at(m_source.skipBlanks(place));
            place = next == '&' || next == '!' ? afterProperties : place;
        }
        return place;
    }

    void open(YamlNode::Kind kind, char bracket, const YAML::Mark& mark, YAML::anchor_t anchor)
    {
        YamlNode node = nodeAt(mark);
        node.kind = kind;
        node.isFlow = m_source.at(node.begin) == bracket;
        node.end = node.isFlow ? node.begin + 1 : node.begin;
        if (m_open.size() >= maxNesting) {
            throw Refusal{
                Text{HEADROOM_TR("core", "values are nested more than %1 deep"), {std::to_string(maxNesting)}},
                node.line};
        }
        m_open.push_back(add(std::move(node), anchor));
    }

    void close(char bracket)
    {
        YamlNode& node = m_tree.nodes[m_open.back()];
        m_open.pop_back();
        if (node.isFlow) {
            std::size_t end = m_source.skipTrivia(node.end);
            while (m_source.at(end) == ',' || m_source.at(end) == ':') {
                end = m_source.skipTrivia(end + 1);
            }
            node.isPlaced = m_source.at(end) == bracket;
            node.end = node.isPlaced ? end + 1 : node.end;
        }
        extendParent(node.end);
    }

    std::size_t add(YamlNode node, YAML::anchor_t anchor)
    {
        const std::size_t index = m_tree.nodes.size();
        if (index >= maxNodes) {
            throw Refusal{
                Text{HEADROOM_TR("core", "the file holds more than %1 values"), {std::to_string(maxNodes / 2)}},
                node.line};
        }
        if (anchor != YAML::NullAnchor) {
            m_anchors[anchor] = index;
        }
        if (m_open.empty()) {
            m_tree.root = index;
        } else {
            m_tree.nodes[m_open.back()].items.push_back(index);
            extendParent(node.end);
        }
        m_tree.nodes.push_back(std::move(node));
        return index;
    }

    /// While a collection is open, its end is that of what has been read of it.
    void extendParent(std::size_t end)
    {
        if (!m_open.empty()) {
            YamlNode& parent = m_tree.nodes[m_open.back()];
            parent.end = std::max(parent.end, end);
        }
    }

    YamlSource m_source;
    std::size_t m_bom;
    YamlTree& m_tree;
    std::vector<std::size_t> m_open;
    std::unordered_map<YAML::anchor_t, std::size_t> m_anchors;
    std::size_t m_propertyEnd = 0;
    bool m_hasDocument = false;
};

bool startsWithMarker(std::string_view bytes, std::size_t from, std::size_t position)
{
    return bytes.substr(position, 3) == "---" || bytes.substr(position, 1) == "%"
        || bytes.substr(from, position - from).find("\n...") != std::string_view::npos;
}

Problem notYaml(const YAML::Exception& error, const YamlSource& source, const std::string& name)
{
    const bool hasPlace = error.mark.line >= 0;
    const std::size_t position = hasPlace ? static_cast<std::size_t>(error.mark.pos) : 0;
    const std::size_t lineBegin = source.beginOfLine(std::min(position, source.size()));
    const auto indentation = source.text().substr(lineBegin, source.skipBlanks(lineBegin) - lineBegin);
    const auto line = source.text().substr(lineBegin + indentation.size());
    Text text{HEADROOM_TR("core", "this is not valid YAML or JSON: %1"), {error.msg}};
    if (indentation.find('\t') != std::string_view::npos) {
        text = Text{HEADROOM_TR("core", "the line is indented with a tab, which YAML does not allow; use blanks")};
    } else if (line.starts_with("//")) {
        text = Text{HEADROOM_TR("core", "comments with // are neither YAML nor JSON; use #")};
    }
    return {Severity::Error, name, hasPlace ? error.mark.line + 1 : 0, std::move(text)};
}

} // namespace

Result<YamlTree> parseYaml(std::string_view bytes, const std::string& name)
{
    if (auto problem = encodingProblem(bytes, name)) {
        return tl::unexpected(std::move(*problem));
    }
    YamlTree tree;
    TreeBuilder builder(bytes, tree);
    std::istringstream stream{std::string(bytes)};
    try {
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) { }
    } catch (const NextDocument& next) {
        if (tree.root == YamlNode::none || !startsWithMarker(bytes, tree[tree.root].end, next.position)) {
            return failure(
                Text{HEADROOM_TR(
                    "core", "the text from here on does not belong to what is above it; is the indentation right?")},
                name, next.line);
        }
        tree.problems.push_back(
            {Severity::Warning, name, next.line,
             Text{HEADROOM_TR("core", "a second document begins here; only the first one is read")}});
    } catch (const Refusal& refusal) {
        return failure(refusal.text, name, refusal.line);
    } catch (const YAML::DeepRecursion& error) {
        return failure(Text{HEADROOM_TR("core", "values are nested more than %1 deep"), {std::to_string(maxNesting)}},
                       name, error.mark.line + 1);
    } catch (const YAML::Exception& error) {
        return tl::unexpected(notYaml(error, YamlSource(bytes), name));
    }
    return tree;
}

} // namespace headroom
