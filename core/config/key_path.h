// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The dotted paths of Setting::key: map keys separated by dots, sequence places in brackets ("modules[0].name"). A map
/// key that is empty or holds one of . [ ] " \ stands in double quotes with \" and \\ escaped: optim."adam.v2".lr
struct KeyStep
{
    std::string name;
    std::optional<std::size_t> index; ///< a place in a sequence; name is then empty

    friend bool operator==(const KeyStep&, const KeyStep&) = default;
};

/// `path` extended by a map key.
[[nodiscard]] std::string childKey(std::string_view path, std::string_view name);
/// `path` extended by a place in a sequence.
[[nodiscard]] std::string elementKey(std::string_view path, std::size_t index);
/// Null for what is not a path: an open quote, a bracket without a number, an empty step.
[[nodiscard]] std::optional<std::vector<KeyStep>> parseKey(std::string_view key);
/// The path as childKey and elementKey write it.
[[nodiscard]] std::string formatKey(const std::vector<KeyStep>& steps);
/// `key` is below `ancestor` ("a.b" and "a[0]" are below "a").
[[nodiscard]] bool isBelow(std::string_view key, std::string_view ancestor);

} // namespace headroom
