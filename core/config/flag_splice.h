// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_syntax.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

struct FlagValue : Setting
{
    std::size_t siteBegin = 0, siteEnd = 0; ///< the $NAME that it is put in the place of
};

/// Another number, or the same text elsewhere, comes from one of the variables that this value comes from.
[[nodiscard]] bool isSharedWithOthers(const FlagValue& value, std::span<const FlagValue> all);

/// A flag of a command line, or a variable, with where its parts stand.
struct FlagPlace
{
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    std::string key;
    std::vector<FlagValue> settings; ///< its values; `begin` nowhere: put together from several places
    std::size_t begin = 0, nameEnd = 0; ///< of "--flag"
    bool isPlaced = false; ///< its name stands in the file as it is
    bool isBare = false; ///< without a value
    bool hasEquals = false; ///< --flag=value
    bool isVariable = false;
    char quote = '\0'; ///< of the text it stands in

    [[nodiscard]] std::size_t end() const
    {
        const bool hasValue = !isBare && !settings.empty() && settings.back().end != nowhere;
        return hasValue ? settings.back().end : nameEnd;
    }
};

/// The bytes that go when the flag is taken out: its line, if it has one to itself, or what is before it up to the
/// argument in front.
[[nodiscard]] std::pair<std::size_t, std::size_t> extentOf(const std::string& bytes, const FlagPlace& flag);

/// A shell script: values are replaced where their characters stand, a switch is added or taken out as a whole, a new
/// flag goes behind the last one in the file's own style.
class FlagSyntax final : public ConfigSyntax
{
public:
    [[nodiscard]] Result<std::string> spliced(const std::string& bytes, const std::string& name,
                                              const ConfigEdit& edit) const override;
    [[nodiscard]] ConfigEdit normalised(const ConfigEdit& edit) const override;
    [[nodiscard]] bool isSaidByAbsence(std::string_view text) const override;
    [[nodiscard]] bool setsVariables() const override { return true; }

    std::vector<FlagPlace> places; ///< of a flag that is there twice, the earlier without settings

private:
    [[nodiscard]] Result<std::string> replaced(const std::string& bytes, const std::string& name,
                                               const ConfigEdit& edit, const FlagPlace& place,
                                               const FlagValue& value) const;
    [[nodiscard]] Result<std::string> replacedAll(const std::string& bytes, const std::string& name,
                                                  const ConfigEdit& edit, const FlagPlace& place) const;
    [[nodiscard]] Result<std::string> added(const std::string& bytes, const std::string& name,
                                            const ConfigEdit& edit) const;
    [[nodiscard]] std::vector<FlagValue> allValues() const;
    [[nodiscard]] bool saysTrueInWords() const;
};

} // namespace headroom
