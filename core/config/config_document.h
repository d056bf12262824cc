// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ConfigSyntax;

enum class ScalarStyle : std::uint8_t { Plain, SingleQuoted, DoubleQuoted, Block, MultiLine, Empty };

/// One effective leaf of a config file and where its text stands.
struct Setting
{
    std::string key; ///< dotted path, "parallel.pipeline_parallel_size", "model.layers[0]"
    std::string text; ///< the scalar's meaning: quotes and escapes resolved
    ScalarStyle style = ScalarStyle::Plain;
    std::size_t begin = 0; ///< byte range in the file, quotes included
    std::size_t end = 0;
    std::int64_t line = 0; ///< 1-based; for an alias the anchor's line
    bool viaAlias = false; ///< the text stands at an anchor that other keys share
    bool viaMerge = false; ///< comes from a merged (<<) mapping
    bool isKnown = true; ///< false: only a running program knows; `text` is then the expression
    bool isDefinition = false; ///< a variable, which other settings may take their text from
    std::vector<std::string> sources = {}; ///< definitions that `text` is made from
};

struct ConfigEdit
{
    std::string key; ///< the file's own dotted key
    std::string value;
    std::optional<std::vector<std::string>> items = {}; ///< a list in place of `value`: the key becomes [a, b]
    bool isEnvironment = false; ///< a variable for what a script starts, which may be new there

    friend bool operator==(const ConfigEdit&, const ConfigEdit&) = default;
};

/// A user's config file: its bytes, the effective settings in them and where each stands. It alone can write the file
/// back. Immutable: set() hands out a new document.
class ConfigDocument
{
public:
    /// The syntax is that of the name's ending (.toml, .sh, .py, …) or first line, else YAML or JSON. Fails with a
    /// sentence for anything that can't be read in it: no permission, a directory, binary content, more than
    /// maxFileBytes, nesting or alias expansion beyond the limits, cycles.
    [[nodiscard]] static Result<ConfigDocument> open(const std::filesystem::path& path);
    /// `name` stands for the file in messages.
    [[nodiscard]] static Result<ConfigDocument> parse(std::string bytes, std::string name);

    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] const std::string& bytes() const { return m_bytes; }
    /// In file order, duplicates resolved (the last one wins), merge keys applied.
    [[nodiscard]] const std::vector<Setting>& settings() const { return m_settings; }
    [[nodiscard]] const Setting* find(std::string_view key) const;
    /// A script, which can set variables of the environment for what it starts.
    [[nodiscard]] bool setsVariables() const;
    /// What the reader wants to say though it could read the file: duplicate keys and the like.
    [[nodiscard]] const std::vector<Problem>& problems() const { return m_problems; }

    /// The document with these values changed by splicing bytes: everything else stays to the byte, a missing key is
    /// added after its last sibling. The result has been parsed again and differs from this document in exactly the
    /// given keys; anything else is refused with the reason.
    [[nodiscard]] Result<ConfigDocument> set(std::span<const ConfigEdit> edits) const;

    /// Writes the bytes to a temporary file beside `path`, syncs and renames it, keeping the permissions of a file that
    /// is already there. Follows a symbolic link to its target.
    [[nodiscard]] Result<void> save(const std::filesystem::path& path) const;

    /// A config is a few kilobytes; yaml-cpp needs up to a hundred bytes of memory for each byte of a file.
    static constexpr std::size_t maxFileBytes = std::size_t{8} << 20;

private:
    std::string m_name;
    std::string m_bytes;
    std::shared_ptr<const ConfigSyntax> m_syntax; ///< where everything stands, for set()
    std::vector<Setting> m_settings;
    std::vector<Problem> m_problems;
};

} // namespace headroom
