// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/read_plan.h"

#include "config/format_keys.h"
#include "config/format_values.h"
#include "config/key_path.h"
#include "plan/field_kinds.h"
#include "plan/fields.h"

#include <algorithm>

namespace headroom {

namespace {

using Key = ConfigFormat::Key;

/// Nothing stands in the way of writing the key: neither a mapping at its place nor a value where its mapping would be.
/// A variable of the environment is new only where the run is started.
bool canHold(const ConfigDocument& document, const Key& key)
{
    if (key.isEnvironment && (!document.setsVariables() || key.key.find('.') != std::string::npos)) {
        return false;
    }
    const auto& settings = document.settings();
    return std::none_of(settings.begin(), settings.end(), [&](const Setting& setting) {
        const bool isMapping = isBelow(setting.key, key.key) && setting.key[key.key.size()] == '.';
        return isMapping || (isBelow(key.key, setting.key) && statedAt(document, setting.key) != nullptr);
    });
}

/// The key that states the field now, or else the first that could.
const Key* keyToWrite(const ConfigDocument& document, const std::vector<const Key*>& keys)
{
    const auto find = [&](auto&& suits) -> const Key* {
        const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key* key) { return suits(*key); });
        return found == keys.end() ? nullptr : *found;
    };
    if (const Key* stated = find([&](const Key& key) { return readValue(document, key).has_value(); })) {
        return stated;
    }
    if (const Key* empty = find([&](const Key& key) { return document.find(key.key) != nullptr; })) {
        return empty;
    }
    // A list of members is a way to write several fields; a key of its own is plainer where there is one.
    const auto isPlain = [](const Key& key) { return key.transform != ConfigFormat::Transform::Member; };
    const Key* plain = find([&](const Key& key) { return isPlain(key) && canHold(document, key); });
    return plain != nullptr ? plain : find([&](const Key& key) { return canHold(document, key); });
}

tl::unexpected<Problem> comesFromElsewhere(const FieldDifference& field, const Origin& origin,
                                           const ConfigDocument& document)
{
    return failure(Text{HEADROOM_TR("core", "%1 comes from %2, not from this file, so it can't be changed here"),
                        {field.key, origin.english()}},
                   document.name());
}

/// A switch that stands for another value is turned off, so that a key that can hold the value decides.
std::vector<const Key*> withoutSwitches(std::vector<ConfigEdit>& edits, const ConfigDocument& document,
                                        std::vector<const Key*> keys, const std::string& value)
{
    std::erase_if(keys, [&](const Key* key) {
        const bool isOther = key->transform == ConfigFormat::Transform::Switch && key->words.front().second != value;
        if (isOther && readValue(document, *key)) {
            edits.push_back({key->key, "false"});
        }
        return isOther;
    });
    return keys;
}

/// Later edits of a key take the place of earlier ones.
void put(std::vector<ConfigEdit>& edits, ConfigEdit edit)
{
    const auto pending
        = std::find_if(edits.begin(), edits.end(), [&](const ConfigEdit& one) { return one.key == edit.key; });
    if (pending == edits.end()) {
        edits.push_back(std::move(edit));
    } else {
        *pending = std::move(edit);
    }
}

/// What makes the variant hold: the first value of each of its conditions, at a key that is there or else the first.
/// Nothing where it holds already, or where a condition only asks for a key.
std::vector<ConfigEdit> editsThatHold(const ConfigFormat::Variant& variant, const ConfigDocument& document)
{
    std::vector<ConfigEdit> edits;
    for (const ConfigFormat::Condition& condition : variant.when) {
        if (settingThatHolds(document, condition) != nullptr) {
            continue;
        }
        const bool isThere = condition.values.empty()
            && std::any_of(condition.keys.begin(), condition.keys.end(),
                           [&](const std::string& key) { return hasKey(document, key); });
        if (isThere) {
            continue;
        }
        const auto stated = std::find_if(condition.keys.begin(), condition.keys.end(),
                                         [&](const std::string& key) { return document.find(key) != nullptr; });
        const std::string& key = stated == condition.keys.end() ? condition.keys.front() : *stated;
        if (condition.values.empty() || !canHold(document, {key, {}})) {
            return {};
        }
        edits.push_back({key, condition.values.front()});
    }
    return edits;
}

/// A value that no key holds may follow from another key: recompute that is only on or off is full.
bool addImplied(std::vector<ConfigEdit>& edits, const FieldDifference& field, const ConfigDocument& document,
                const ConfigFormat& format)
{
    for (const ConfigFormat::Variant& variant : format.variants) {
        const bool means = std::any_of(variant.implied.begin(), variant.implied.end(), [&](const Key& implied) {
            return implied.field == field.key && implied.key == field.after;
        });
        const auto needed = means ? editsThatHold(variant, document) : std::vector<ConfigEdit>{};
        for (const ConfigEdit& edit : needed) {
            put(edits, edit);
        }
        if (!needed.empty()) {
            return true;
        }
    }
    return false;
}

/// Recompute goes off with the word that turned it on.
bool addOff(std::vector<ConfigEdit>& edits, const ConfigDocument& document, const ConfigFormat& format)
{
    for (const ConfigFormat::Variant* variant : variantsOf(document, format)) {
        const bool means = std::any_of(variant->implied.begin(), variant->implied.end(), [](const Key& implied) {
            return implied.field == "recompute.granularity" && implied.key != "none";
        });
        const ConfigFormat::Condition& first = variant->when.front();
        const Setting* setting = means && !first.values.empty() ? settingThatHolds(document, first) : nullptr;
        if (setting != nullptr) {
            put(edits, {setting->key, "null"});
            return true;
        }
    }
    return false;
}

Result<void> addEdit(std::vector<ConfigEdit>& edits, const FieldDifference& field, const ConfigDocument& document,
                     const ConfigFormat& format)
{
    if (field.after.empty()) {
        return failure(Text{HEADROOM_TR("core", "%1 can be changed but not removed"), {field.key}}, document.name());
    }
    const bool isOff = (field.key == "recompute.granularity" && field.after == "none")
        || (field.key == "recompute.enabled" && field.after == "false");
    if (isOff && keysOf(document, format, field.key).empty()) {
        // The other of the two says it too.
        const bool hasSwitch = !keysOf(document, format, "recompute.enabled").empty();
        const bool hasWord = !keysOf(document, format, "recompute.granularity").empty();
        if (hasSwitch || hasWord) {
            return addEdit(edits,
                           hasSwitch ? FieldDifference{"recompute.enabled", {}, "false"}
                                     : FieldDifference{"recompute.granularity", {}, "none"},
                           document, format);
        }
        if (addOff(edits, document, format)) {
            return {};
        }
    }
    const auto keys = withoutSwitches(edits, document, keysOf(document, format, field.key), field.after);
    const bool isOfRun = field.key.starts_with("recompute.") || field.key.starts_with("precision.");
    if (keys.empty() && isOfRun && addImplied(edits, field, document, format)) {
        return {};
    }
    const Key* key = keyToWrite(document, keys);
    if (key == nullptr && !keys.empty() && keys.front()->isEnvironment) {
        const auto variable = writeValue(document, *keys.front(), field.after, nullptr);
        return failure(Text{HEADROOM_TR("core",
                                        "%1 is not said in this file but in the environment that the run is started "
                                        "in: %2"),
                            {field.key, variable ? variable->key + "=" + variable->value : keys.front()->key}},
                       document.name());
    }
    if (key == nullptr) {
        return failure(
            keys.empty()
                ? Text{HEADROOM_TR("core", "%2 has no key for %1"), {field.key, format.title}}
                : Text{HEADROOM_TR("core",
                                   "there is no place for %1 in this file: other values stand where “%2” would be"),
                       {field.key, keys.front()->key}},
            document.name());
    }
    const auto pending
        = std::find_if(edits.begin(), edits.end(), [&](const ConfigEdit& edit) { return edit.key == key->key; });
    auto edit = writeValue(document, *key, field.after, pending == edits.end() ? nullptr : &*pending);
    if (!edit) {
        return failure(
            key->transform == ConfigFormat::Transform::ItemCount
                ? Text{HEADROOM_TR("core", "%1 is the number of items of “%2”; it can't be written"),
                       {field.key, key->key}}
                : Text{HEADROOM_TR("core", "“%1” can't say that %2 is %3"), {key->key, field.key, field.after}},
            document.name());
    }
    put(edits, std::move(*edit));
    return {};
}

/// Megatron-LM refuses full recompute without a method and a number of layers (transformer_config.py); one layer after
/// the other is what recomputing all of them means.
TrainingPlan withWhatFullNeeds(const ConfigDocument& document, const ConfigFormat& format, const TrainingPlan& before,
                               TrainingPlan after)
{
    RecomputePlan& recompute = after.recompute;
    const bool turnsFull
        = recompute.granularity.value == Granularity::Full && before.recompute.granularity.value != Granularity::Full;
    if (turnsFull && !recompute.method.isKnown() && format.rules == "megatron"
        && !keysOf(document, format, "recompute.method").empty()) {
        recompute.method.set("uniform", {OriginKind::Derived, 0, nullptr});
        if (recompute.numLayers.valueOr(0) < 1) {
            recompute.numLayers.set(1, {OriginKind::Derived, 0, nullptr});
        }
    }
    return after;
}

/// Megatron-LM refuses a method and a number of layers beside selective recompute, and without any they say nothing.
void dropWhatFullNeeded(std::vector<ConfigEdit>& edits, const ConfigDocument& document, const ConfigFormat& format)
{
    for (const char* field : {"recompute.method", "recompute.num_layers"}) {
        for (const Key* key : keysOf(document, format, field)) {
            if (statedAt(document, key->key) != nullptr) {
                put(edits, {key->key, "null"});
            } else {
                std::erase_if(edits, [key](const ConfigEdit& edit) { return edit.key == key->key; });
            }
        }
    }
}

/// The modules that selective recompute means in this format are not written beside it: older versions have no key.
bool isMeantBySelective(const FieldDifference& field, const ConfigFormat& format, const TrainingPlan& after)
{
    return field.key == "recompute.modules" && field.before.empty()
        && after.recompute.granularity.value == Granularity::Selective
        && std::any_of(format.variants.begin(), format.variants.end(), [&](const ConfigFormat::Variant& variant) {
               return std::any_of(variant.implied.begin(), variant.implied.end(), [&](const Key& implied) {
                   return implied.field == field.key && implied.key == field.after;
               });
           });
}

/// Where only the granularity has a key, naming one turns recompute on.
bool isSaidByGranularity(const FieldDifference& field, const ConfigDocument& document, const ConfigFormat& format,
                         const TrainingPlan& after)
{
    return field.key == "recompute.enabled" && field.after == "true"
        && after.recompute.granularity.value != Granularity::None && keysOf(document, format, field.key).empty()
        && !keysOf(document, format, "recompute.granularity").empty();
}

/// Recompute that is no longer full, or selective from now on.
bool needsNoLayers(const TrainingPlan& before, const TrainingPlan& after)
{
    const auto isOn = [](const TrainingPlan& plan, Granularity granularity) {
        return plan.recompute.enabled.value && plan.recompute.granularity.value == granularity;
    };
    const bool leavesFull = isOn(before, Granularity::Full) && !isOn(after, Granularity::Full);
    return leavesFull || (isOn(after, Granularity::Selective) && !isOn(before, Granularity::Selective));
}

} // namespace

Result<std::vector<ConfigEdit>> editsFor(const ConfigDocument& document, const ConfigFormat& format,
                                         const TrainingPlan& before, const TrainingPlan& after)
{
    std::vector<ConfigEdit> edits;
    for (const FieldDifference& field : difference(before, withWhatFullNeeds(document, format, before, after))) {
        const Origin origin = fieldOrigin(before, field.key);
        const bool isElsewhere = origin.kind == OriginKind::Preset
            || (origin.kind == OriginKind::ConfigFile && origin.source && *origin.source != document.name());
        if (isModelField(field.key) && isElsewhere) {
            return comesFromElsewhere(field, origin, document);
        }
        if (isMeantBySelective(field, format, after) || isSaidByGranularity(field, document, format, after)) {
            continue;
        }
        if (auto added = addEdit(edits, field, document, format); !added) {
            return tl::unexpected(added.error());
        }
    }
    if (format.rules == "megatron" && needsNoLayers(before, after)) {
        dropWhatFullNeeded(edits, document, format);
    }
    return edits;
}

} // namespace headroom
