// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

enum class OriginKind : std::uint8_t { Unknown, Default, Derived, Preset, ConfigFile, Log, CommandLine, Edited };

/// Where a value came from. Default and Derived values carry no file. An unknown one carries the place at which it
/// stands without being understood, where there is one.
struct Origin
{
    OriginKind kind = OriginKind::Unknown;
    std::int32_t line = 0;
    std::shared_ptr<const std::string> source; ///< file, preset or option name; null when there is none

    /// "qwen.yaml:9", "preset llama-3-8b", "default", "unknown", "unknown (train.sh:12)".
    [[nodiscard]] std::string english() const;
};

/// One value of a TrainingPlan. `value` is always usable; isKnown() tells whether anybody stated or derived it, or
/// whether the format has a default for it.
template <class T> struct Field
{
    T value{};
    Origin origin;

    Field() = default;
    /// A field with a default of its own.
    Field(T defaultValue) // NOLINT(google-explicit-constructor): plan literals read as tables
        : value(std::move(defaultValue))
        , origin{OriginKind::Default, 0, nullptr}
    {
    }

    [[nodiscard]] bool isKnown() const { return origin.kind != OriginKind::Unknown; }
    /// Somebody wrote it: a file, a log, a preset or the user.
    [[nodiscard]] bool isStated() const
    {
        return isKnown() && origin.kind != OriginKind::Default && origin.kind != OriginKind::Derived;
    }
    /// It is written somewhere, but nobody understood it: neither a default nor a derived value takes its place.
    [[nodiscard]] bool isUnclear() const { return !isKnown() && origin.source != nullptr; }
    [[nodiscard]] T valueOr(T fallback) const { return isKnown() ? value : std::move(fallback); }
    void set(T newValue, Origin newOrigin)
    {
        value = std::move(newValue);
        origin = std::move(newOrigin);
    }

    /// Two fields are equal when they mean the same; where the value came from does not matter.
    friend bool operator==(const Field& a, const Field& b)
    {
        return a.isKnown() == b.isKnown() && (!a.isKnown() || a.value == b.value);
    }
};

using Count = Field<std::int64_t>;
using Real = Field<double>;
using Flag = Field<bool>;
using Name = Field<std::string>;
using Names = Field<std::vector<std::string>>;

} // namespace headroom
