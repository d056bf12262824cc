// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/format_keys.h"

#include "config/key_path.h"
#include "config/scalar_text.h"
#include "plan/fields.h"

#include <algorithm>
#include <type_traits>

namespace headroom {

namespace {

bool holds(const ConfigDocument& document, const ConfigFormat::Condition& condition)
{
    return std::any_of(condition.keys.begin(), condition.keys.end(), [&](const std::string& key) {
        const Setting* setting = statedAt(document, key);
        if (condition.values.empty()) {
            // What is written as null is as good as absent.
            return setting != nullptr || (document.find(key) == nullptr && hasKey(document, key));
        }
        return setting != nullptr
            && std::any_of(condition.values.begin(), condition.values.end(),
                           [&](const std::string& value) { return meansTheSame(value, setting->text); });
    });
}

} // namespace

std::vector<const ConfigFormat::Variant*> variantsOf(const ConfigDocument& document, const ConfigFormat& format)
{
    std::vector<const ConfigFormat::Variant*> variants;
    for (const ConfigFormat::Variant& variant : format.variants) {
        if (std::all_of(variant.when.begin(), variant.when.end(),
                        [&](const ConfigFormat::Condition& condition) { return holds(document, condition); })) {
            variants.push_back(&variant);
        }
    }
    return variants;
}

const Setting* settingThatHolds(const ConfigDocument& document, const ConfigFormat::Condition& condition)
{
    for (const std::string& key : condition.keys) {
        const Setting* setting = statedAt(document, key);
        const auto isText = [&](const std::string& value) { return meansTheSame(value, setting->text); };
        if (setting != nullptr
            && (condition.values.empty() || std::any_of(condition.values.begin(), condition.values.end(), isText))) {
            return setting;
        }
    }
    return nullptr;
}

std::vector<const ConfigFormat::Key*> keysOf(const ConfigDocument& document, const ConfigFormat& format,
                                             std::string_view field)
{
    return keysOf(variantsOf(document, format), format, field);
}

std::vector<const ConfigFormat::Key*> keysOf(const std::vector<const ConfigFormat::Variant*>& variants,
                                             const ConfigFormat& format, std::string_view field)
{
    std::vector<const ConfigFormat::Key*> keys;
    const auto add = [&](const std::vector<ConfigFormat::Key>& from) {
        for (const ConfigFormat::Key& key : from) {
            if (key.field == field) {
                keys.push_back(&key);
            }
        }
    };
    for (const ConfigFormat::Variant* variant : variants) {
        add(variant->keys);
    }
    add(format.keys);
    return keys;
}

bool hasKey(const ConfigDocument& document, std::string_view key)
{
    const auto& settings = document.settings();
    return std::any_of(settings.begin(), settings.end(),
                       [key](const Setting& setting) { return setting.key == key || isBelow(setting.key, key); });
}

std::vector<const Setting*> itemsOf(const ConfigDocument& document, std::string_view key)
{
    std::vector<const Setting*> items;
    for (const Setting& setting : document.settings()) {
        const bool isItem = isBelow(setting.key, key) && setting.key[key.size()] == '[' && setting.key.back() == ']'
            && setting.key.find_first_of(".[", key.size() + 1) == std::string::npos;
        if ((setting.key == key || isItem) && !isNull(setting)) {
            items.push_back(&setting);
        }
    }
    return items;
}

const Setting* statedAt(const ConfigDocument& document, std::string_view key)
{
    const Setting* setting = document.find(key);
    return setting != nullptr && !isNull(*setting) ? setting : nullptr;
}

std::string keyOfFlag(std::string name)
{
    if (name.starts_with("--")) {
        name.erase(0, 2);
        std::replace(name.begin(), name.end(), '-', '_');
    }
    return name;
}

bool isListField(std::string_view field)
{
    bool isList = false;
    const TrainingPlan plan;
    forEachField(plan, [&]<class T>(std::string_view name, const Field<T>&) {
        isList = isList || (name == field && std::is_same_v<T, std::vector<std::string>>);
    });
    return isList;
}

} // namespace headroom
