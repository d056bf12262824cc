// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

/// How one framework's config maps to canonical fields: a data file of resources/formats/config (its README has the
/// language).
struct ConfigFormat
{
    /// What a value goes through between file and field.
    enum class Transform : std::uint8_t {
        None,
        Inverse, ///< a flag that means the opposite
        ByteSize, ///< bytes, written with a unit
        ItemCount, ///< the number of items of a list; can't be written
        First, ///< the first item of a list, also of one written as a text: "[2 2]"
        AnyOf, ///< regular expressions of which one has to fit
        NamesOf, ///< names of which one has to be there, also in one text: "embed_tokens,norm"; can't be written
        StartsOf, ///< what one of the names has to start with, "model.layers.2[0-9]+.mlp"; can't be written
        Switch, ///< a switch that means the value in `words` when it is there, and nothing when it is false
        Member, ///< whether a list holds one of `words`
        Option, ///< the value of `option` in "name:value,name:value"
        Workspace ///< bytes, written as ":KiB:count" for each size of buffer
    };

    struct Key
    {
        std::string key; ///< the file's dotted key
        std::string field; ///< canonical field, "parallel.pp"
        Transform transform = Transform::None;
        std::vector<std::pair<std::string, std::string>> words = {}; ///< the file's word, the field's value
        std::string option = {};
        bool isEnvironment = false; ///< a variable of the process's environment
    };

    /// One of the keys has one of the values; with no values: one of the keys is there.
    struct Condition
    {
        std::vector<std::string> keys;
        std::vector<std::string> values;
    };

    /// What holds for some files only, such as one model type of config.json. Its keys come before the general ones.
    struct Variant
    {
        std::vector<Condition> when; ///< all of them
        std::vector<Key> keys;
        std::vector<Key> implied; ///< value (in `key`) that such a file means for `field` without writing it
        std::string preset; ///< model that such a file means
        std::vector<Key> products; ///< factors (in `key`): "{file.key} * field / 2", for a field that is not written
    };

    /// Keys that name files with more of the same run; see NamedFile.
    struct Files
    {
        std::vector<std::string> beside, below, above, models;
        std::vector<std::string> defaultsLists; ///< Hydra's: a list of files and of "group: file"
    };

    /// A key that counts for nothing though it is written, or that stops the run; see SettingWithoutEffect.
    struct NoEffect
    {
        std::vector<Condition> when; ///< any of them
        std::vector<Condition> beside; ///< only where any of these holds
        std::vector<Condition> without; ///< only where none of these does
        std::vector<Condition> where; ///< only in plans whose fields (in `keys`) have these values; none: is known
        std::string effect; ///< what happens, in a word of reasonNamed(); empty: it follows from the others
        std::string instead; ///< the key that is read
        bool stops = false, isNeither = false, isHarmless = false;
        std::string source;
        std::vector<Key> mend; ///< value (in `key`) of a field
    };

    /// How a new file of this format is written; see newFile().
    struct Export
    {
        std::string ending; ///< ".yaml", ".json" or ".sh"
        std::string launcher, program; ///< of a script
        std::vector<std::string> launcherFlags; ///< nodes, processes on each
    };

    std::string id; ///< "base-yaml"
    std::string title; ///< "Headroom base format (YAML)"
    std::vector<std::vector<std::string>> recognisedBy; ///< any of these groups, all keys of a group present
    std::vector<Key> keys; ///< several keys may name one field: the first is the one that is written
    std::vector<Key> defaults; ///< value (in `key`) that the framework takes for `field` when the file is silent
    std::vector<Key> products; ///< as in Variant, for every file
    std::vector<Variant> variants; ///< all that hold apply, earlier ones first
    std::vector<std::string> blocks; ///< mappings in which an unknown key is worth a note
    std::vector<std::string> otherKeys; ///< known there, but without meaning for memory
    std::vector<std::string> kinds; ///< keys whose value has to be named by a variant
    std::vector<std::string> presetKeys; ///< name a model preset, which must exist
    std::vector<std::string> presetHints; ///< may name a model preset
    std::vector<Condition> notEstimated; ///< what changes memory in ways no field says; "false" is none
    std::map<std::string, std::vector<std::string>> scopes; ///< places that keys are looked up in
    bool hasFlagsAsKeys = false; ///< flags of the format that this one is based on are keys: num_layers
    Files files;
    std::vector<NoEffect> noEffect;
    std::optional<Export> exported; ///< none: such files are changed but not made
    bool isOverRecipe = false; ///< what it does not state comes from a program
    std::string rules; ///< the function that completes plans of this format, see format_rules.h
};

struct ConfigFormats
{
    std::vector<ConfigFormat> formats;
    std::vector<Problem> problems; ///< broken data files; the others still work

    /// The built-in formats, then the user's own: formats/config/*.yaml below `userFolder` (ignored when empty or
    /// absent).
    [[nodiscard]] static ConfigFormats load(const std::filesystem::path& userFolder = {});
    /// Null when no format recognises the document.
    [[nodiscard]] const ConfigFormat* detect(const ConfigDocument& document) const;
};

} // namespace headroom
