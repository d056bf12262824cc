// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/line_format.h"

#include "config/effective_settings.h"
#include "config/yaml_tree.h"
#include "units/number.h"

#include <algorithm>
#include <array>

namespace headroom {
namespace {

template <class T> struct Word
{
    std::string_view text;
    T value;
};

constexpr std::array<Word<LineKind>, 16> kinds{{{"memory", LineKind::Memory},
                                                {"iteration", LineKind::Iteration},
                                                {"timers", LineKind::Timers},
                                                {"phase", LineKind::Phase},
                                                {"stage", LineKind::Stage},
                                                {"arguments", LineKind::Arguments},
                                                {"parameters", LineKind::Parameters},
                                                {"estimate", LineKind::Estimate},
                                                {"capacity", LineKind::Capacity},
                                                {"device", LineKind::Device},
                                                {"host", LineKind::Host},
                                                {"table", LineKind::Table},
                                                {"oom", LineKind::OutOfMemory},
                                                {"marker", LineKind::Marker},
                                                {"prefix", LineKind::Prefix},
                                                {"value", LineKind::Value}}};
constexpr std::array<Word<PeakScope>, 8> scopes{{{"start", PeakScope::Start},
                                                 {"reset", PeakScope::Reset},
                                                 {"step", PeakScope::Step},
                                                 {"iteration", PeakScope::Iteration},
                                                 {"phase", PeakScope::Phase},
                                                 {"call", PeakScope::Call},
                                                 {"epoch", PeakScope::Epoch},
                                                 {"now", PeakScope::Now}}};
constexpr std::array<Word<LineFormat::Rank>, 3> rankWords{
    {{"printing", LineFormat::Rank::Printing}, {"maximum", LineFormat::Rank::Maximum}, {"sum", LineFormat::Rank::Sum}}};
constexpr std::array<Word<LineFormat::Step>, 2> stepWords{
    {{"before", LineFormat::Step::Before}, {"next", LineFormat::Step::Next}}};

constexpr std::size_t shortestAnchor = 2;
constexpr std::size_t longestAnchor = 64;
constexpr std::int64_t mostLines = 5000;

/// Reads one data file. What is wrong with a format is thrown as a Problem and caught around that format.
class FileReader
{
public:
    FileReader(const YamlTree& tree, FormatFile& file)
        : m_tree(tree)
        , m_file(file)
    {
    }

    void read()
    {
        std::string framework;
        std::size_t formats = YamlNode::none;
        for (const EffectiveEntry& entry : entries(m_tree.root)) {
            const std::string key = keyOf(entry);
            if (key == "framework") {
                framework = text(entry.value);
            } else if (key == "formats") {
                formats = entry.value;
            } else {
                fail(entry.key, Text{HEADROOM_TR("core", "“%1” is not a key of log formats"), {key}});
            }
        }
        if (formats == YamlNode::none) {
            fail(m_tree.root, Text{HEADROOM_TR("core", "the file has no “formats”")});
        }
        for (const EffectiveEntry& entry : entries(formats)) {
            try {
                m_file.entries.push_back(format(entry, framework));
            } catch (const Problem& problem) {
                m_file.problems.push_back(problem);
            }
        }
    }

private:
    [[noreturn]] void fail(std::size_t node, Text text) const
    {
        throw Problem{Severity::Error, m_file.name, m_tree[node].line, std::move(text)};
    }

    [[nodiscard]] std::vector<EffectiveEntry> entries(std::size_t node) const
    {
        if (node == YamlNode::none || m_tree.resolved(node).kind != YamlNode::Kind::Map) {
            throw Problem{Severity::Error, m_file.name, node == YamlNode::none ? 0 : m_tree[node].line,
                          Text{HEADROOM_TR("core", "a mapping belongs here")}};
        }
        const bool isAlias = m_tree[node].kind == YamlNode::Kind::Alias;
        auto result = effectiveEntries(m_tree, isAlias ? m_tree[node].target : node, m_file.name);
        if (!result) {
            throw Problem(result.error());
        }
        return *std::move(result);
    }

    [[nodiscard]] std::string keyOf(const EffectiveEntry& entry) const
    {
        const std::string* const key = keyText(m_tree, entry.key);
        return key == nullptr ? std::string() : *key;
    }

    [[nodiscard]] std::string text(std::size_t node) const
    {
        const YamlNode& scalar = m_tree.resolved(node);
        if (scalar.kind != YamlNode::Kind::Scalar) {
            fail(node, Text{HEADROOM_TR("core", "a single value belongs here")});
        }
        return scalar.text;
    }

    [[nodiscard]] std::vector<std::string> texts(std::size_t node) const
    {
        const YamlNode& list = m_tree.resolved(node);
        if (list.kind != YamlNode::Kind::Sequence) {
            return {text(node)};
        }
        std::vector<std::string> result;
        for (const std::size_t item : list.items) {
            result.push_back(text(item));
        }
        return result;
    }

    template <class T, std::size_t n> [[nodiscard]] T word(std::size_t node, const std::array<Word<T>, n>& words) const
    {
        const std::string written = text(node);
        for (const Word<T>& known : words) {
            if (known.text == written) {
                return known.value;
            }
        }
        fail(node, Text{HEADROOM_TR("core", "“%1” is not one of the words that belong here"), {written}});
    }

    [[nodiscard]] int lineCount(std::size_t node) const
    {
        const std::optional<std::int64_t> count = parseInteger(text(node));
        if (!count || *count < 0 || *count > mostLines) {
            fail(node,
                 Text{HEADROOM_TR("core", "a number of lines up to %1 belongs here"), {std::to_string(mostLines)}});
        }
        return static_cast<int>(*count);
    }

    [[nodiscard]] std::vector<std::string> anchors(std::size_t node) const
    {
        std::vector<std::string> result = texts(node);
        for (const std::string& anchor : result) {
            if (anchor.size() < shortestAnchor || anchor.size() > longestAnchor
                || anchor.find('\n') != std::string::npos) {
                fail(node,
                     Text{HEADROOM_TR("core", "an anchor is a literal of %1 to %2 characters"),
                          {std::to_string(shortestAnchor), std::to_string(longestAnchor)}});
            }
        }
        return result;
    }

    [[nodiscard]] std::vector<LineFormat::Value> values(std::size_t node) const
    {
        std::vector<LineFormat::Value> result;
        for (const EffectiveEntry& entry : entries(node)) {
            const std::string target = text(entry.value);
            const std::size_t colon = std::min(target.find(':'), target.size());
            const bool asMatched = colon == target.size();
            const auto rule = fieldRule(target.substr(0, colon), asMatched ? "num" : target.substr(colon + 1));
            if (!rule) {
                fail(entry.value, Text{HEADROOM_TR("core", "“%1” is not a unit"), {target.substr(colon + 1)}});
            }
            result.push_back({keyOf(entry), *rule, asMatched});
        }
        return result;
    }

    void readEntry(FormatFile::Entry& result, const EffectiveEntry& entry) const
    {
        LineFormat& format = result.format;
        const std::string key = keyOf(entry);
        const std::size_t node = entry.value;
        if (key == "is") {
            format.kind = word(node, kinds);
        } else if (key == "anchors") {
            format.anchors = anchors(node);
        } else if (key == "pattern") {
            Result<LinePattern> pattern = LinePattern::compile(text(node));
            if (!pattern) {
                fail(node, pattern.error().text);
            }
            format.pattern = *std::move(pattern);
        } else if (key == "reader") {
            format.plainReader = word(node, std::array<Word<bool>, 1>{{{"plain", true}}});
        } else if (key == "inside") {
            format.isInner = !text(node).empty();
        } else if (key == "peak") {
            format.peak = word(node, scopes);
        } else if (key == "ranks") {
            format.ranks = word(node, rankWords);
        } else if (key == "step") {
            format.step = word(node, stepWords);
        } else if (key == "first_epoch") {
            format.firstEpoch = lineCount(node);
        } else if (key == "phase") {
            format.phaseIsLineBefore = text(node) == "line-before";
            format.phase = format.phaseIsLineBefore ? std::string() : text(node);
        } else if (key == "lines") {
            format.lines = lineCount(node);
        } else if (key == "above") {
            format.above = lineCount(node);
        } else if (key == "reach") {
            format.reach = lineCount(node);
        } else if (key == "until") {
            format.until = text(node);
        } else if (key == "rows") {
            result.rows = texts(node);
        } else if (key == "pairs") {
            result.pairs = text(node);
        } else if (key == "values") {
            format.values = values(node);
        } else {
            fail(entry.key, Text{HEADROOM_TR("core", "“%1” is not a key of log formats"), {key}});
        }
    }

    [[nodiscard]] FormatFile::Entry format(const EffectiveEntry& named, const std::string& framework) const
    {
        FormatFile::Entry result;
        result.line = m_tree[named.key].line;
        result.format.id = keyOf(named);
        result.format.framework = framework;
        bool hasPattern = false;
        for (const EffectiveEntry& entry : entries(named.value)) {
            readEntry(result, entry);
            hasPattern = hasPattern || keyOf(entry) == "pattern";
        }
        const LineKind kind = result.format.kind;
        const bool needsAnchors = !result.format.isInner && kind != LineKind::Prefix && kind != LineKind::Value;
        if (!hasPattern) {
            fail(named.key, Text{HEADROOM_TR("core", "the format has no “pattern”")});
        }
        if (needsAnchors && result.format.anchors.empty()) {
            fail(named.key, Text{HEADROOM_TR("core", "the format has no “anchors”: no line would be looked at")});
        }
        return result;
    }

    const YamlTree& m_tree;
    FormatFile& m_file;
};

} // namespace

FormatFile parseLineFormats(std::string_view bytes, const std::string& name)
{
    FormatFile file;
    file.name = name;
    const Result<YamlTree> tree = parseYaml(bytes, name);
    if (!tree) {
        file.problems.push_back(tree.error());
        return file;
    }
    try {
        FileReader(*tree, file).read();
    } catch (const Problem& problem) {
        file.problems.push_back(problem);
    }
    return file;
}

} // namespace headroom
