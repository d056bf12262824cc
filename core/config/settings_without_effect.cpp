// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/settings_without_effect.h"

#include "config/format_keys.h"
#include "config/format_values.h"
#include "config/key_path.h"
#include "config/scalar_text.h"
#include "plan/fields.h"
#include "units/number.h"

#include <algorithm>
#include <array>

namespace headroom {

namespace {

using Reason = SettingWithoutEffect::Reason;
using Conditions = std::vector<ConfigFormat::Condition>;

/// The key's setting, or the first below it where no values are asked for.
const Setting* settingFor(const ConfigDocument& document, const std::string& key,
                          const std::vector<std::string>& values)
{
    const Setting* setting = settingThatHolds(document, {{key}, values});
    if (setting != nullptr || !values.empty()) {
        return setting;
    }
    const auto& all = document.settings();
    const auto below = std::find_if(all.begin(), all.end(),
                                    [&](const Setting& one) { return isBelow(one.key, key) && !isNull(one); });
    return below == all.end() ? nullptr : &*below;
}

/// The first setting that makes one of the conditions hold; switched off is as good as absent unless it is asked for.
const Setting* holding(const ConfigDocument& document, const Conditions& conditions)
{
    for (const ConfigFormat::Condition& condition : conditions) {
        for (const std::string& key : condition.keys) {
            const Setting* setting = settingFor(document, key, condition.values);
            if (setting != nullptr && setting->isKnown
                && (!condition.values.empty() || parseBool(setting->text) != false)) {
                return setting;
            }
        }
    }
    return nullptr;
}

/// What a setting needs beside it: no layers are as good as none named.
bool isThere(const ConfigDocument& document, const Conditions& conditions)
{
    const Setting* setting = holding(document, conditions);
    return setting != nullptr && setting->text != "0";
}

/// What follows from how a rule is written, unless it says so itself.
Reason reasonOf(const ConfigFormat::NoEffect& rule, bool isBeside, bool isLacking)
{
    if (const auto named = reasonNamed(rule.effect)) {
        return *named;
    }
    if (isBeside) {
        return rule.stops ? Reason::Refused : rule.isNeither ? Reason::Neither : Reason::Overruled;
    }
    if (isLacking) {
        return rule.stops ? Reason::RefusedAlone : Reason::Lacking;
    }
    return !rule.instead.empty() ? Reason::NotRead : !rule.where.empty() ? Reason::Idle : Reason::ByItself;
}

std::optional<SettingWithoutEffect> apply(const ConfigFormat::NoEffect& rule, const ConfigDocument& document)
{
    const Setting* setting = holding(document, rule.when);
    const Setting* beside = rule.beside.empty() ? nullptr : holding(document, rule.beside);
    const bool isLacking = !rule.without.empty() && !isThere(document, rule.without);
    if (setting == nullptr || (!rule.beside.empty() && beside == nullptr) || (!rule.without.empty() && !isLacking)) {
        return std::nullopt;
    }
    SettingWithoutEffect found;
    found.isHarmless = rule.isHarmless;
    found.key = setting->key;
    found.value = setting->text;
    found.file = document.name();
    found.line = setting->line;
    found.source = rule.source;
    for (const ConfigFormat::Key& value : rule.mend) {
        found.mend.emplace_back(value.field, value.key);
    }
    found.where = rule.where;
    found.reason = reasonOf(rule, beside != nullptr, isLacking);
    if (!rule.instead.empty()) {
        found.other = rule.instead;
    } else if (beside != nullptr) {
        found.other = beside->key + " = " + beside->text;
        found.otherLine = beside->line;
    } else if (isLacking) {
        found.other = rule.without.front().keys.front();
    }
    return found;
}

/// A tower nobody has can't be frozen.
bool matters(const TrainingPlan& plan, const std::string& field)
{
    const bool isOfTower = field == "frozen.vision" || field == "frozen.projector";
    return fieldText(plan, field) == "true" && (!isOfTower || plan.vision.layers.isKnown());
}

void addDefaults(std::vector<SettingWithoutEffect>& found, const ConfigDocument& document, const ConfigFormat& format,
                 const TrainingPlan& plan)
{
    constexpr std::array switches{"frozen.llm", "frozen.vision", "frozen.projector", "recompute.enabled"};
    const auto variants = variantsOf(document, format);
    for (const std::string field : switches) {
        const auto keys = keysOf(variants, format, field);
        const bool isImplied = std::any_of(variants.begin(), variants.end(), [&](const ConfigFormat::Variant* variant) {
            return std::any_of(variant->implied.begin(), variant->implied.end(), [&](const ConfigFormat::Key& implied) {
                return implied.field == field && implied.key == "true";
            });
        });
        const bool isWritten = std::any_of(keys.begin(), keys.end(), [&](const ConfigFormat::Key* key) {
            return readValue(document, *key).has_value();
        });
        if (isImplied && !isWritten && !keys.empty() && matters(plan, field)) {
            SettingWithoutEffect one;
            one.reason = Reason::ByDefault;
            one.isHarmless = true;
            one.key = keys.front()->key;
            one.field = field;
            one.file = document.name();
            one.line = fieldOrigin(plan, field).line;
            one.source = format.title;
            found.push_back(std::move(one));
        }
    }
}

} // namespace

std::optional<Reason> reasonNamed(std::string_view effect)
{
    constexpr std::array<std::pair<std::string_view, Reason>, 5> named{{{"dropped", Reason::Dropped},
                                                                        {"misses-vision", Reason::MissesVision},
                                                                        {"extra-gather", Reason::ExtraGather},
                                                                        {"renamed", Reason::Renamed},
                                                                        {"unfilled", Reason::Unfilled}}};
    const auto* found = std::find_if(named.begin(), named.end(), [&](const auto& one) { return one.first == effect; });
    return found == named.end() ? std::nullopt : std::optional(found->second);
}

bool holdsFor(const SettingWithoutEffect& setting, const TrainingPlan& plan)
{
    return std::all_of(setting.where.begin(), setting.where.end(), [&](const ConfigFormat::Condition& condition) {
        return std::any_of(condition.keys.begin(), condition.keys.end(), [&](const std::string& field) {
            const std::string text = fieldText(plan, field);
            const auto& values = condition.values;
            return values.empty() ? !text.empty() : std::find(values.begin(), values.end(), text) != values.end();
        });
    });
}

std::vector<SettingWithoutEffect> settingsWithoutEffect(const ConfigDocument& document, const ConfigFormat& format,
                                                        const TrainingPlan& plan)
{
    std::vector<SettingWithoutEffect> found;
    for (const ConfigFormat::NoEffect& rule : format.noEffect) {
        if (auto one = apply(rule, document)) {
            found.push_back(std::move(*one));
        }
    }
    addDefaults(found, document, format, plan);
    return found;
}

} // namespace headroom
