// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/reading_checks.h"

#include "config/format_keys.h"
#include "config/key_path.h"
#include "config/plan_product.h"
#include "config/scalar_text.h"
#include "plan/precision.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace headroom {

namespace {

using Transform = ConfigFormat::Transform;

/// A file of another kind may hold thousands; a list of them would help nobody.
constexpr std::size_t mostUnknownKeys = 50;

/// Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

/// A key somebody may have meant; a slip of one or two letters in a long enough word.
template <class Keys> std::string lookalike(std::string_view key, const Keys& keys)
{
    constexpr std::size_t longest = 100;
    const std::size_t own = key.size() - (key.rfind('.') + 1);
    std::string best;
    std::size_t least = own > 5 ? 3 : own > 3 ? 2 : 0;
    for (const std::string& known : keys) {
        if (key.size() < longest && known.size() < key.size() + least && key.size() < known.size() + least
            && distance(key, known) < least) {
            best = known;
            least = distance(key, known);
        }
    }
    return best;
}

/// All keys that a format gives a meaning to.
std::set<std::string> knownKeys(const ConfigFormat& format)
{
    std::set<std::string> known(format.otherKeys.begin(), format.otherKeys.end());
    known.insert(format.presetKeys.begin(), format.presetKeys.end());
    known.insert(format.presetHints.begin(), format.presetHints.end());
    const auto add = [&](const std::vector<ConfigFormat::Key>& keys, const std::vector<ConfigFormat::Key>& products) {
        for (const ConfigFormat::Key& key : keys) {
            known.insert(key.key);
        }
        for (const ConfigFormat::Key& product : products) {
            const auto factors = keysOfProduct(product.key);
            known.insert(factors.begin(), factors.end());
        }
    };
    const ConfigFormat::Files& files = format.files;
    for (const auto* keys : {&files.beside, &files.below, &files.above, &files.models, &files.defaultsLists}) {
        known.insert(keys->begin(), keys->end());
    }
    for (const ConfigFormat::NoEffect& rule : format.noEffect) {
        for (const ConfigFormat::Condition& condition : rule.when) {
            known.insert(condition.keys.begin(), condition.keys.end());
        }
    }
    add(format.keys, format.products);
    for (const ConfigFormat::Variant& variant : format.variants) {
        add(variant.keys, variant.products);
    }
    return known;
}

class ReadingCheck
{
public:
    ReadingCheck(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                 std::vector<Problem>& problems)
        : m_document(document)
        , m_format(format)
        , m_plan(plan)
        , m_problems(problems)
    {
    }

    void checkKeys();
    void checkMembers();
    void checkKind();
    void checkPrecision();
    void checkRecompute();

private:
    void report(Severity severity, std::int64_t line, Text text)
    {
        m_problems.push_back({severity, m_document.name(), line, std::move(text)});
    }
    [[nodiscard]] bool isKnown(const std::string& key, const std::set<std::string>& known) const;
    void checkUnknown(const Setting& setting, bool isBlock, const std::set<std::string>& known);
    void checkOutside(const Setting& setting);

    const ConfigDocument& m_document;
    const ConfigFormat& m_format;
    TrainingPlan& m_plan;
    std::vector<Problem>& m_problems;
    std::size_t m_unknownKeys = 0;
    std::set<std::string> m_outside; ///< top-level keys already looked at
};

void ReadingCheck::checkKeys()
{
    if (m_format.blocks.empty()) {
        return;
    }
    const std::set<std::string> known = knownKeys(m_format);
    for (const Setting& setting : m_document.settings()) {
        const auto block = std::find_if(m_format.blocks.begin(), m_format.blocks.end(), [&](const std::string& name) {
            return setting.key == name || isBelow(setting.key, name);
        });
        if (block == m_format.blocks.end()) {
            checkOutside(setting);
        } else if (!isKnown(setting.key, known)) {
            checkUnknown(setting, setting.key == *block, known);
        }
    }
    if (m_unknownKeys > mostUnknownKeys) {
        report(Severity::Note, 0,
               Text{HEADROOM_TR("core", "%1 more keys are not of this format, so they are not used"),
                    {std::to_string(m_unknownKeys - mostUnknownKeys)}});
    }
}

/// Whether a key is known: itself, an item of a known list, or part of a block that doesn't concern memory.
bool ReadingCheck::isKnown(const std::string& key, const std::set<std::string>& known) const
{
    const std::size_t bracket = key.find('[');
    const auto& others = m_format.otherKeys;
    return known.contains(key) || (bracket != std::string::npos && known.contains(key.substr(0, bracket)))
        || std::any_of(others.begin(), others.end(), [&](const std::string& other) { return isBelow(key, other); });
}

void ReadingCheck::checkUnknown(const Setting& setting, bool isBlock, const std::set<std::string>& known)
{
    if ((isBlock && isNull(setting)) || ++m_unknownKeys > mostUnknownKeys) {
        return;
    }
    if (isBlock) {
        report(Severity::Error, setting.line,
               Text{HEADROOM_TR("core", "“%1” is a single value; its keys belong below it"), {setting.key}});
        return;
    }
    const std::string meant = lookalike(setting.key, known);
    if (meant.empty()) {
        report(Severity::Note, setting.line,
               Text{HEADROOM_TR("core", "“%1” is not a key of this format, so it is not used"), {setting.key}});
    } else {
        report(Severity::Warning, setting.line,
               Text{HEADROOM_TR("core", "“%1” is not a key of this format, so it is not used; is “%2” meant?"),
                    {setting.key, meant}});
    }
}

/// A block whose name has a slip would not be loaded, and nobody would notice.
void ReadingCheck::checkOutside(const Setting& setting)
{
    const std::string top = setting.key.substr(0, setting.key.find_first_of(".["));
    const auto& others = m_format.otherKeys;
    if (m_outside.size() > mostUnknownKeys || !m_outside.insert(top).second
        || std::find(others.begin(), others.end(), top) != others.end()) {
        return;
    }
    if (const std::string meant = lookalike(top, m_format.blocks); !meant.empty()) {
        report(Severity::Warning, setting.line,
               Text{HEADROOM_TR("core", "“%1” is not a block of this format, so it is not used; is “%2” meant?"),
                    {top, meant}});
    }
}

/// Words in a list of members that no field knows.
void ReadingCheck::checkMembers()
{
    std::set<std::string> keys;
    std::vector<std::string> words{"false", "none"};
    for (const ConfigFormat::Key& key : m_format.keys) {
        if (key.transform == Transform::Member) {
            keys.insert(key.key);
            for (const auto& word : key.words) {
                words.push_back(word.first);
            }
        }
    }
    for (const std::string& key : keys) {
        for (const Setting* item : itemsOf(m_document, key)) {
            const bool isSeveral = item->text.find_first_of(", ") != std::string::npos;
            const bool isWord = std::any_of(words.begin(), words.end(),
                                            [&](const std::string& word) { return meansTheSame(word, item->text); });
            if (!isSeveral && !isWord) {
                report(Severity::Error, item->line,
                       Text{HEADROOM_TR("core", "“%1” is not one of the values of %2"), {item->text, key}});
            }
        }
    }
}

/// A kind of file that no variant names may do things that the file does not say.
void ReadingCheck::checkKind()
{
    const auto names = [](const ConfigFormat::Condition& condition, const std::string& key, const std::string& kind) {
        const auto& [keys, values] = condition;
        return std::find(keys.begin(), keys.end(), key) != keys.end()
            && std::find(values.begin(), values.end(), kind) != values.end();
    };
    for (const std::string& key : m_format.kinds) {
        const Setting* setting = statedAt(m_document, key);
        const bool isKnown
            = setting == nullptr
            || std::any_of(m_format.variants.begin(), m_format.variants.end(), [&](const auto& variant) {
                   return std::any_of(variant.when.begin(), variant.when.end(),
                                      [&](const auto& condition) { return names(condition, key, setting->text); });
               });
        if (!isKnown) {
            report(Severity::Warning, setting->line,
                   Text{HEADROOM_TR("core",
                                    "“%1” is not a kind of model known here: what it does without saying so in the "
                                    "file (gated MLP, biases, norms) is not known"),
                        {setting->text}});
        }
    }
}

void ReadingCheck::checkPrecision()
{
    Name& recipe = m_plan.precision.recipe;
    if (recipe.isKnown() && precisionRecipe(recipe.value) == nullptr) {
        report(
            Severity::Error, recipe.origin.line,
            Text{HEADROOM_TR("core",
                             "“%1” is not a precision recipe known here; fp32, bf16-mixed and megatron-bf16 are some"),
                 {recipe.value}});
        recipe.origin.kind = OriginKind::Unknown;
    }
}

void ReadingCheck::checkRecompute()
{
    RecomputePlan& recompute = m_plan.recompute;
    const bool isAsked = recompute.granularity.isStated() && recompute.granularity.value != Granularity::None;
    const std::string granularity(nameOf(recompute.granularity.value));
    if (isAsked && recompute.enabled.origin.kind == OriginKind::Default) {
        recompute.enabled.set(true, {OriginKind::Derived, 0, nullptr});
        // Most frameworks have no switch beside the granularity, so nothing is missing there.
        if (!keysOf(m_document, m_format, "recompute.enabled").empty()) {
            report(Severity::Note, recompute.granularity.origin.line,
                   Text{HEADROOM_TR("core",
                                    "granularity is %1 and enabled is not written, so recompute is taken as enabled"),
                        {granularity}});
        }
    }
    // That recompute is written but not in effect is a finding with its mend (insight/rules_recompute.cpp), not a
    // problem of the file.
    const bool isEnabled = recompute.enabled.isKnown() && recompute.enabled.value;
    const bool hasSelection = recompute.numLayers.isKnown() || recompute.modules.isKnown();
    if (isEnabled && isAsked && recompute.granularity.value == Granularity::Selective && !hasSelection) {
        report(Severity::Warning, recompute.granularity.origin.line,
               Text{HEADROOM_TR(
                   "core", "granularity is selective, but neither num_layers nor modules says what is recomputed")});
    }
}

} // namespace

void checkReading(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                  std::vector<Problem>& problems)
{
    ReadingCheck check(document, format, plan, problems);
    check.checkKeys();
    check.checkMembers();
    check.checkKind();
    check.checkPrecision();
    check.checkRecompute();
}

} // namespace headroom
