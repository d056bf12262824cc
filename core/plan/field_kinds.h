// SPDX-License-Identifier: GPL-3.0-or-later
// What the fields of a plan take, for people who set them by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct FieldKind
{
    enum class Takes : std::uint8_t { WholeNumber, Number, YesOrNo, Size, Word, List };

    std::string key; ///< "parallel.pp"
    Takes takes = Takes::Word;
    std::vector<std::string> words; ///< that are understood, other spellings aside; none where any text will do
    std::string standard; ///< what is taken when nothing is stated; empty: unknown, or it depends on other fields
};

/// Every field, in the order of forEachField.
[[nodiscard]] std::vector<FieldKind> fieldKinds();
/// FieldKind::words of one field.
[[nodiscard]] std::vector<std::string> fieldWords(std::string_view key);
/// Describes a model rather than a run: what a preset or a config.json may bring.
[[nodiscard]] bool isModelField(std::string_view key);
/// The field that somebody who wrote `key` may have meant; empty when none is close.
[[nodiscard]] std::string nearestField(std::string_view key);

} // namespace headroom
