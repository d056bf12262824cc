// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/plan_product.h"

#include "config/format_keys.h"
#include "config/launcher_world.h"
#include "plan/fields.h"
#include "units/number.h"

#include <cmath>

namespace headroom {

namespace {

std::vector<std::string> wordsOf(std::string_view text)
{
    std::vector<std::string> words;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        if (end > begin) {
            words.emplace_back(text.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    return words;
}

bool isFileKey(std::string_view word)
{
    return word.size() > 2 && word.front() == '{' && word.back() == '}';
}

std::optional<double> factor(const std::string& word, const ConfigDocument& document, const TrainingPlan& plan,
                             ProductValue& result)
{
    if (isFileKey(word)) {
        const Setting* setting = statedAt(document, std::string_view(word).substr(1, word.size() - 2));
        result.setting = result.setting != nullptr ? result.setting : setting;
        return setting != nullptr ? parseReal(setting->text) : std::nullopt;
    }
    if (isFieldKey(word)) {
        const Origin origin = fieldOrigin(plan, word);
        result.origin = result.origin.kind != OriginKind::Unknown ? result.origin : origin;
        return parseReal(fieldText(plan, word));
    }
    return parseReal(word);
}

/// "//" leaves the rest out, as a convolution does with pixels that fill no patch.
double combined(double value, const std::string& sign, double next)
{
    if (sign == "*") {
        return value * next;
    }
    return sign == "^" ? std::pow(value, next) : sign == "//" ? std::floor(value / next) : value / next;
}

} // namespace

std::optional<ProductValue> evaluateProduct(std::string_view product, const ConfigDocument& document,
                                            const TrainingPlan& plan)
{
    if (product == "launcher") {
        return launcherWorld(document);
    }
    ProductValue result;
    double value = 1;
    std::string sign = "*";
    for (const std::string& word : wordsOf(product)) {
        if (word == "*" || word == "/" || word == "//" || word == "^") {
            sign = word;
            continue;
        }
        const auto next = factor(word, document, plan, result);
        if (!next || (sign.front() == '/' && *next == 0)) {
            return std::nullopt;
        }
        value = combined(value, sign, *next);
    }
    constexpr double exactLimit = 9007199254740992.0;
    if (value != std::floor(value) || std::abs(value) > exactLimit) {
        return std::nullopt;
    }
    result.text = std::to_string(static_cast<std::int64_t>(value));
    return result;
}

std::vector<std::string> keysOfProduct(std::string_view product)
{
    std::vector<std::string> keys;
    for (const std::string& word : wordsOf(product)) {
        if (isFileKey(word)) {
            keys.push_back(word.substr(1, word.size() - 2));
        }
    }
    return keys;
}

} // namespace headroom
