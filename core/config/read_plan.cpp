// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/read_plan.h"

#include "config/format_keys.h"
#include "config/format_rules.h"
#include "config/format_values.h"
#include "config/key_path.h"
#include "config/plan_product.h"
#include "config/reading_checks.h"
#include "config/scalar_text.h"
#include "plan/fields.h"
#include "plan/size_limits.h"
#include "units/number.h"

#include <algorithm>

namespace headroom {

namespace {

/// One document read with one format.
class PlanReader
{
public:
    PlanReader(const ConfigDocument& document, const ConfigFormat& format, const Catalog& catalog)
        : m_document(document)
        , m_format(format)
        , m_catalog(catalog)
        , m_file(std::make_shared<const std::string>(document.name()))
        , m_variants(variantsOf(document, format))
    {
    }

    PlanReading read()
    {
        m_plan.framework.set(m_format.id, {OriginKind::Derived, 0, nullptr});
        readPreset();
        for (const ConfigFormat::Variant* variant : m_variants) {
            readImplied(*variant);
        }
        forEachField(m_plan, [&](std::string_view field, const auto&) { m_fields.emplace_back(field); });
        for (const std::string& field : m_fields) {
            readField(field);
        }
        for (const ConfigFormat::Variant* variant : m_variants) {
            readProducts(variant->products);
        }
        readProducts(m_format.products);
        readDefaults();
        completePlan(m_document, m_format, m_plan, m_problems);
        readNotEstimated();
        if (m_format.isOverRecipe) {
            report(Severity::Note, 0,
                   Text{HEADROOM_TR("core",
                                    "this file builds on a recipe of its framework's library, which is not here: what "
                                    "the file does not set itself is taken as the framework's default, and the "
                                    "recipe may say otherwise")});
        }
        checkReading(m_document, m_format, m_plan, m_problems);
        std::stable_sort(m_problems.begin(), m_problems.end(),
                         [](const Problem& a, const Problem& b) { return a.line < b.line; });
        return {std::move(m_plan), std::move(m_problems), std::move(m_notEstimated)};
    }

private:
    [[nodiscard]] Origin originOf(const Setting& setting) const
    {
        return {OriginKind::ConfigFile, static_cast<std::int32_t>(setting.line), m_file};
    }

    void report(Severity severity, std::int64_t line, Text text)
    {
        m_problems.push_back({severity, m_document.name(), line, std::move(text)});
    }

    void readPreset()
    {
        for (const std::string& key : m_format.presetKeys) {
            if (const Setting* setting = statedAt(m_document, key)) {
                if (!takePreset(setting->text)) {
                    report(Severity::Error, setting->line,
                           Text{HEADROOM_TR("core", "“%1” is not a model known here"), {setting->text}});
                }
                return;
            }
        }
        for (const std::string& key : m_format.presetHints) {
            const Setting* setting = statedAt(m_document, key);
            if (setting != nullptr && takePreset(setting->text)) {
                return;
            }
        }
        for (const ConfigFormat::Variant* variant : m_variants) {
            if (!variant->preset.empty() && takePreset(variant->preset)) {
                return;
            }
        }
    }

    bool takePreset(const std::string& name)
    {
        const ModelPreset* preset = m_catalog.model(name);
        if (preset != nullptr) {
            overlay(m_plan, preset->plan);
        }
        return preset != nullptr;
    }

    /// What the kind of file means is stated by the line that says what kind it is.
    void readImplied(const ConfigFormat::Variant& variant)
    {
        const Setting* kind = nullptr;
        for (const std::string& key : variant.when.front().keys) {
            kind = kind != nullptr ? kind : statedAt(m_document, key);
        }
        for (const ConfigFormat::Key& implied : variant.implied) {
            if (!isRead(implied.field)) {
                const Origin origin = kind != nullptr ? originOf(*kind) : Origin{OriginKind::ConfigFile, 0, m_file};
                m_read.push_back(implied.field);
                // The format's file was checked to hold values the field takes.
                static_cast<void>(setField(m_plan, implied.field, implied.key, origin));
            }
        }
    }

    [[nodiscard]] bool isRead(const std::string& field) const
    {
        return std::find(m_read.begin(), m_read.end(), field) != m_read.end();
    }

    void readField(const std::string& field)
    {
        const ConfigFormat::Key* used = nullptr;
        std::optional<FieldValue> first;
        for (const ConfigFormat::Key* key : keysOf(m_variants, m_format, field)) {
            const auto value = readValue(m_document, *key);
            if (!value) {
                continue;
            }
            if (!first) {
                used = key;
                first = value;
            } else if (isSibling(used->key, key->key) && !meansTheSame(first->text, value->text)
                       && !saysAnother(key->key, field)) {
                report(Severity::Warning, value->setting->line,
                       Text{HEADROOM_TR("core", "“%1” is not used: “%2” on line %3 sets the same and comes first"),
                            {key->key, used->key, std::to_string(first->setting->line)}});
            }
        }
        if (first) {
            take(field, *used, *first);
        }
    }

    /// This kind of file means another field by the key.
    [[nodiscard]] bool saysAnother(const std::string& key, const std::string& field) const
    {
        return std::any_of(m_variants.begin(), m_variants.end(), [&](const ConfigFormat::Variant* variant) {
            return std::any_of(variant->keys.begin(), variant->keys.end(), [&](const ConfigFormat::Key& other) {
                return other.key == key && other.field != field;
            });
        });
    }

    /// Two spellings of one key in one mapping, not the same key at two levels.
    static bool isSibling(std::string_view a, std::string_view b)
    {
        const auto parent = [](std::string_view key) { return key.substr(0, key.rfind('.') + 1); };
        return a != b && parent(a) == parent(b);
    }

    void take(const std::string& field, const ConfigFormat::Key& key, const FieldValue& value)
    {
        m_read.push_back(field);
        const Setting& setting = *value.setting;
        if (!setting.isKnown) {
            report(Severity::Warning, setting.line,
                   Text{HEADROOM_TR("core", "“%1” is known only when the file runs, so %2 is not known from it"),
                        {setting.text, key.key}});
            return forget(field, setting);
        }
        if (auto objection = objectionTo(field, value.text)) {
            report(Severity::Error, setting.line, std::move(*objection));
            return forget(field, setting);
        }
        if (const auto set = setField(m_plan, field, value.text, originOf(setting)); set) {
            return;
        } else if (value.text.find("${") != std::string::npos) {
            report(Severity::Warning, setting.line,
                   Text{HEADROOM_TR("core", "“%1” is filled in by another program, so %2 is not known from this file"),
                        {value.text, field}});
        } else if (key.transform == ConfigFormat::Transform::ByteSize) {
            report(
                Severity::Error, setting.line,
                Text{HEADROOM_TR("core", "“%1” is not a size such as 80GiB, which %2 needs"), {setting.text, key.key}});
        } else {
            Text text = set.error().text;
            text.arguments[0] = setting.text;
            text.arguments[1] = key.key;
            report(Severity::Error, setting.line, std::move(text));
        }
        forget(field, setting);
    }

    /// Sizes that no run can have stop here: everything behind this point may count on them.
    static std::optional<Text> objectionTo(std::string_view field, std::string_view text)
    {
        const auto size = parseInteger(text);
        return size ? sizeObjection(field, *size) : std::nullopt;
    }

    /// A value that was not understood is unknown, not the default or the preset's, and keeps its place.
    void forget(const std::string& field, const Setting& setting)
    {
        Origin place = originOf(setting);
        place.kind = OriginKind::Unknown;
        forEachField(m_plan, [&](std::string_view name, auto& value) {
            if (name == field) {
                value.origin = place;
            }
        });
    }

    void readProducts(const std::vector<ConfigFormat::Key>& products)
    {
        for (const ConfigFormat::Key& product : products) {
            if (isRead(product.field)) {
                continue;
            }
            const auto value = evaluateProduct(product.key, m_document, m_plan);
            if (value && !objectionTo(product.field, value->text)
                && setField(m_plan, product.field, value->text,
                            value->setting ? originOf(*value->setting) : value->origin)) {
                m_read.push_back(product.field);
            }
        }
    }

    void readDefaults()
    {
        for (const ConfigFormat::Key& value : m_format.defaults) {
            if (!isRead(value.field) && !fieldIsStated(value.field)) {
                static_cast<void>(setField(m_plan, value.field, value.key, {OriginKind::Default, 0, nullptr}));
            }
        }
    }

    void readNotEstimated()
    {
        for (const ConfigFormat::Condition& condition : m_format.notEstimated) {
            const Setting* setting = settingThatHolds(m_document, condition);
            if (setting == nullptr || parseBool(setting->text) == false) {
                continue;
            }
            report(Severity::Warning, setting->line,
                   Text{HEADROOM_TR("core",
                                    "“%1” changes what is allocated in a way that is not estimated, so the estimate is "
                                    "incomplete"),
                        {setting->key}});
            m_notEstimated.push_back(setting->key);
        }
    }

    [[nodiscard]] bool fieldIsStated(const std::string& field) const
    {
        const OriginKind kind = fieldOrigin(m_plan, field).kind;
        return kind != OriginKind::Unknown && kind != OriginKind::Default;
    }

    const ConfigDocument& m_document;
    const ConfigFormat& m_format;
    const Catalog& m_catalog;
    std::shared_ptr<const std::string> m_file;
    std::vector<const ConfigFormat::Variant*> m_variants;
    std::vector<std::string> m_fields;
    std::vector<std::string> m_read; ///< fields that the file decides, understood or not
    TrainingPlan m_plan;
    std::vector<Problem> m_problems;
    std::vector<std::string> m_notEstimated;
};

} // namespace

PlanReading readPlan(const ConfigDocument& document, const ConfigFormat& format, const Catalog& catalog)
{
    return PlanReader(document, format, catalog).read();
}

} // namespace headroom
