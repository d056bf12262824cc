// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/settings_without_effect.h"

#include "config/format_keys.h"
#include "config/format_values.h"
#include "plan/fields.h"
#include "units/number.h"

#include <algorithm>
#include <array>

namespace headroom {

namespace {

using Reason = SettingWithoutEffect::Reason;
using Conditions = std::vector<ConfigFormat::Condition>;

/// The first setting that makes one of the conditions hold; switched off is as good as absent unless it is asked for.
const Setting* holding(const ConfigDocument& document, const Conditions& conditions)
{
    for (const ConfigFormat::Condition& condition : conditions) {
        for (const std::string& key : condition.keys) {
            const Setting* setting = settingThatHolds(document, {{key}, condition.values});
            if (setting != nullptr && setting->isKnown
                && (!condition.values.empty() || parseBool(setting->text) != false)) {
                return setting;
            }
        }
    }
    return nullptr;
}

std::optional<SettingWithoutEffect> apply(const ConfigFormat::NoEffect& rule, const ConfigDocument& document)
{
    const Setting* setting = holding(document, rule.when);
    const Setting* beside = rule.beside.empty() ? nullptr : holding(document, rule.beside);
    const bool isLacking = !rule.without.empty() && holding(document, rule.without) == nullptr;
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
    if (beside != nullptr) {
        found.reason = rule.stops ? Reason::Refused : rule.isNeither ? Reason::Neither : Reason::Overruled;
        found.other = beside->key + " = " + beside->text;
        found.otherLine = beside->line;
    } else if (isLacking) {
        found.reason = rule.stops ? Reason::RefusedAlone : Reason::Lacking;
        found.other = rule.without.front().keys.front();
    } else {
        found.reason = rule.instead.empty() ? Reason::ByItself : Reason::NotRead;
        found.other = rule.instead;
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
