// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/fields.h"

#include "units/bytes.h"
#include "units/number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <type_traits>

namespace headroom {

namespace {

tl::unexpected<Problem> notUnderstood(std::string_view key, std::string_view text, const Origin& origin, Text reason)
{
    reason.arguments.insert(reason.arguments.begin(), {std::string(text), std::string(key)});
    return failure(std::move(reason), origin.source ? *origin.source : std::string{}, origin.line);
}

std::vector<std::string> splitNames(std::string_view text)
{
    std::vector<std::string> names;
    std::string name;
    for (const char c : text) {
        if (c == ',' || c == ' ' || c == '[' || c == ']') {
            if (!name.empty()) {
                names.push_back(std::move(name));
                name.clear();
            }
        } else {
            name += c;
        }
    }
    if (!name.empty()) {
        names.push_back(std::move(name));
    }
    return names;
}

std::optional<std::int64_t> read(std::string_view text, std::int64_t /*type*/)
{
    return parseInteger(text);
}

std::optional<double> read(std::string_view text, double /*type*/)
{
    return parseReal(text);
}

std::optional<bool> read(std::string_view text, bool /*type*/)
{
    // Flags of command lines come as 0 and 1 too.
    return text == "1" ? std::optional(true) : text == "0" ? std::optional(false) : parseBool(text);
}

std::optional<std::string> read(std::string_view text, const std::string& /*type*/)
{
    return std::string(text);
}

std::optional<std::vector<std::string>> read(std::string_view text, const std::vector<std::string>& /*type*/)
{
    return splitNames(text);
}

template <class E>
requires std::is_enum_v<E> std::optional<E> read(std::string_view text, E /*type*/)
{
    return fromName<E>(text);
}

template <class T> Text expectation()
{
    if constexpr (std::is_same_v<T, std::int64_t>) {
        return Text{HEADROOM_TR("core", "“%1” is not a whole number, which %2 needs")};
    } else if constexpr (std::is_same_v<T, double>) {
        return Text{HEADROOM_TR("core", "“%1” is not a number, which %2 needs")};
    } else if constexpr (std::is_same_v<T, bool>) {
        return Text{HEADROOM_TR("core", "“%1” is neither true nor false, which %2 needs")};
    } else if constexpr (std::is_enum_v<T>) {
        return Text{HEADROOM_TR("core", "“%1” is not one of the values of %2: %3"),
                    {fmt::format("{}", fmt::join(namesOf<T>(), ", "))}};
    } else {
        return {}; // any text will do
    }
}

std::string print(std::int64_t value)
{
    return std::to_string(value);
}

std::string print(double value)
{
    return formatReal(value);
}

std::string print(bool value)
{
    return value ? "true" : "false";
}

std::string print(const std::string& value)
{
    return value;
}

std::string print(const std::vector<std::string>& value)
{
    return fmt::format("{}", fmt::join(value, ", "));
}

template <class E>
requires std::is_enum_v<E> std::string print(E value)
{
    return std::string(nameOf(value));
}

template <class T> std::string print(const Field<T>& field)
{
    return field.isKnown() ? print(field.value) : std::string{};
}

/// Sizes are integers in the plan, but people write them with a unit.
std::optional<std::int64_t> readSize(std::string_view text)
{
    const auto size = parseBytes(text);
    return size ? std::optional(size->value) : std::nullopt;
}

} // namespace

Result<void> setField(TrainingPlan& plan, std::string_view key, std::string_view text, Origin origin)
{
    Result<void> result = notUnderstood(key, text, origin, Text{HEADROOM_TR("core", "%2 is not a field of a plan")});
    forEachField(plan, [&]<class T>(std::string_view name, Field<T>& field) {
        if (name != key) {
            return;
        }
        std::optional<T> value;
        if constexpr (std::is_same_v<T, std::int64_t>) {
            value = name.ends_with("_bytes") ? readSize(text) : read(text, T{});
        } else {
            value = read(text, T{});
        }
        if (value) {
            field.set(std::move(*value), std::move(origin));
            result = {};
        } else {
            result = notUnderstood(key, text, origin, expectation<T>());
        }
    });
    return result;
}

std::string fieldText(const TrainingPlan& plan, std::string_view key)
{
    std::string text;
    forEachField(plan, [&](std::string_view name, const auto& field) {
        if (name == key) {
            text = print(field);
        }
    });
    return text;
}

Origin fieldOrigin(const TrainingPlan& plan, std::string_view key)
{
    Origin origin;
    forEachField(plan, [&](std::string_view name, const auto& field) {
        if (name == key) {
            origin = field.origin;
        }
    });
    return origin;
}

bool isFieldKey(std::string_view key)
{
    bool isKey = false;
    const TrainingPlan plan;
    forEachField(plan, [&](std::string_view name, const auto&) { isKey = isKey || name == key; });
    return isKey;
}

std::vector<FieldDifference> difference(const TrainingPlan& before, const TrainingPlan& after)
{
    // The list of fields is the same for both plans, so the second walk can go by position.
    std::vector<FieldDifference> all;
    forEachField(before, [&](std::string_view name, const auto& field) {
        all.push_back({std::string(name), print(field), {}});
    });
    std::size_t at = 0;
    forEachField(after, [&](std::string_view, const auto& field) { all[at++].after = print(field); });
    std::erase_if(all, [](const FieldDifference& field) { return field.before == field.after; });
    return all;
}

void overlay(TrainingPlan& plan, const TrainingPlan& over)
{
    std::vector<const void*> sources;
    forEachField(over, [&](std::string_view, const auto& field) { sources.push_back(&field); });
    std::size_t at = 0;
    forEachField(plan, [&]<class T>(std::string_view, Field<T>& field) {
        const auto& source = *static_cast<const Field<T>*>(sources[at++]);
        const bool isDefault = source.origin.kind == OriginKind::Default;
        const bool isUnclear = source.isUnclear();
        if ((source.isKnown() && (!isDefault || (!field.isKnown() && !field.isUnclear()))) || isUnclear) {
            field = source;
        }
    });
}

} // namespace headroom
