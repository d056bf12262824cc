// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_syntax.h"
#include "config/flag_splice.h"
#include "config/key_path.h"
#include "config/shell_expansion.h"
#include "config/shell_script.h"
#include "units/number.h"

#include <algorithm>
#include <map>
#include <set>

namespace headroom {

namespace {

bool isFlag(const ShellField& field)
{
    const std::string text = field.text();
    const bool isLong = text.size() > 2 && text.starts_with("--");
    const char letter = text.size() > 1 ? text[isLong ? 2 : 1] : '\0';
    return text.starts_with('-') && ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'));
}

bool isScript(const ShellField& field)
{
    return field.text().ends_with(".py");
}

/// Words that only the running shell knows, such as "$@" and $EXTRA_ARGS: they may be options.
bool isOpen(const ShellField& field)
{
    return field.pieces.size() == 1 && !field.pieces.front().isKnown
        && (field.pieces.front().quote == '\0' || field.text() == "$@" || field.text() == "${@}"
            || field.text().ends_with("[@]}"));
}

std::size_t flagCount(const std::vector<ShellField>& command)
{
    return static_cast<std::size_t>(std::count_if(command.begin(), command.end(), [](const ShellField& field) {
        return field.text().starts_with("--") && isFlag(field);
    }));
}

/// The flags of the command that has the most, and the variables, with their places.
class ShellReader
{
public:
    ShellReader(const std::string& bytes, const std::string& name)
        : m_bytes(bytes)
        , m_name(name)
        , m_script(interpretShell(bytes))
    {
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            if (bytes[at] == '\n') {
                m_lineEnds.push_back(at);
            }
        }
    }

    SyntaxReading read();

private:
    [[nodiscard]] std::int64_t lineOf(std::size_t at) const
    {
        return std::lower_bound(m_lineEnds.begin(), m_lineEnds.end(), at) - m_lineEnds.begin() + 1;
    }
    void readVariables();
    void readCommand(const std::vector<ShellField>& command);
    std::size_t readFlag(const std::vector<ShellField>& command, std::size_t at);
    void readScript(const ShellField& field);
    void readBatchOptions();
    void reportOpen(const ShellField& field);
    [[nodiscard]] FlagValue settingOf(const ShellField& field, std::string key, std::size_t skip = 0) const;
    void add(FlagPlace place, std::vector<FlagValue> settings);

    const std::string& m_bytes;
    const std::string& m_name;
    ShellScript m_script;
    std::vector<std::size_t> m_lineEnds;
    std::set<std::string> m_definitions; ///< variables that are settings themselves
    std::map<std::string, std::size_t> m_flags; ///< key: place in the syntax
    bool m_hasScript = false;
    std::shared_ptr<FlagSyntax> m_syntax = std::make_shared<FlagSyntax>();
    std::vector<Problem> m_problems;
};

/// A field as a setting; `skip` characters of it belong to something else.
FlagValue ShellReader::settingOf(const ShellField& field, std::string key, std::size_t skip) const
{
    // "--name=" may stand outside the quotes of the value.
    ShellField value = field;
    while (skip > 0 && value.pieces.size() > 1 && value.pieces.front().text.size() <= skip
           && value.pieces.front().quote != value.pieces[1].quote) {
        skip -= value.pieces.front().text.size();
        value.pieces.erase(value.pieces.begin());
    }
    FlagValue setting;
    setting.key = std::move(key);
    setting.text = value.text().substr(skip);
    setting.isKnown = field.isKnown();
    const bool isWhole = value.isPlaced() && (skip == 0 || value.pieces.front().text.size() >= skip);
    setting.begin = isWhole ? value.begin() + skip : FlagPlace::nowhere;
    setting.end = isWhole ? value.end() : FlagPlace::nowhere;
    setting.line = lineOf(isWhole ? setting.begin : field.begin());
    const char quote = field.pieces.back().quote;
    setting.style = quote == '"' ? ScalarStyle::DoubleQuoted
        : quote == '\''          ? ScalarStyle::SingleQuoted
                                 : ScalarStyle::Plain;
    for (const std::string& name : field.via()) {
        if (m_definitions.contains(name)) {
            setting.sources.push_back(name);
        }
    }
    setting.viaAlias = !setting.sources.empty();
    if (field.pieces.size() == 1 && skip == 0) {
        setting.siteBegin = field.pieces.front().siteBegin;
        setting.siteEnd = field.pieces.front().siteEnd;
    }
    return setting;
}

/// A variable with one plain value is a setting of its own; one that holds options is only the place of theirs.
void ShellReader::readVariables()
{
    const auto isOptions = [](const std::string& text) {
        return text.starts_with('-') || text.find_first_of(" \t\n") != std::string::npos;
    };
    for (const auto& [name, variable] : m_script.variables) {
        const bool isSetting = !isPositional(name) && !variable.isArray && variable.isScalarSetting
            && variable.items.size() == 1 && !variable.items.front().empty()
            && (!isKnown(variable.items.front()) || !isOptions(textOf(variable.items.front())));
        if (isSetting) {
            m_definitions.insert(name);
        }
    }
    for (const std::string& name : m_definitions) {
        const ShellField field{m_script.variables.at(name).items.front()};
        FlagValue setting = settingOf(field, childKey({}, name));
        setting.isDefinition = true;
        std::erase(setting.sources, name);
        FlagPlace place;
        place.key = setting.key;
        place.isVariable = true;
        add(std::move(place), {std::move(setting)});
    }
}

/// The file's name alone: where it lies differs from machine to machine.
void ShellReader::readScript(const ShellField& field)
{
    FlagValue setting = settingOf(field, "script");
    const std::size_t slash = setting.text.rfind('/');
    if (slash != std::string::npos) {
        const std::size_t length = setting.text.size() - slash - 1;
        setting.isKnown = field.pieces.back().isKnown && field.pieces.back().text.size() >= length;
        setting.text.erase(0, slash + 1);
        setting.end = field.end();
        setting.begin = setting.end - std::min(length, setting.end);
    }
    FlagPlace place;
    place.key = setting.key;
    place.isVariable = true;
    add(std::move(place), {std::move(setting)});
    m_hasScript = true;
}

/// "#SBATCH --nodes=4" and "#SBATCH -N 4": what the script asks Slurm for.
void ShellReader::readBatchOptions()
{
    constexpr std::string_view mark = "#SBATCH -";
    for (std::size_t at = 0; at < m_bytes.size(); at = std::min(m_bytes.find('\n', at), m_bytes.size() - 1) + 1) {
        if (std::string_view(m_bytes).substr(at, mark.size()) != mark) {
            continue;
        }
        const std::size_t name = at + mark.size() - 1;
        const std::size_t nameEnd = std::min(m_bytes.find_first_of("= \t\r\n#", name), m_bytes.size());
        const bool hasValue = nameEnd < m_bytes.size() && (m_bytes[nameEnd] == '=' || m_bytes[nameEnd] == ' ');
        const std::size_t begin = nameEnd + 1;
        const std::size_t end = std::min(m_bytes.find_first_of(" \t\r\n#", begin), m_bytes.size());
        if (!hasValue || begin >= end || m_bytes[begin] == '-') {
            continue;
        }
        FlagPlace place;
        place.key = childKey("sbatch", m_bytes.substr(name, nameEnd - name));
        place.isVariable = true;
        FlagValue value;
        value.key = place.key;
        value.text = m_bytes.substr(begin, end - begin);
        value.begin = begin;
        value.end = end;
        value.line = lineOf(at);
        add(std::move(place), {std::move(value)});
    }
}

void ShellReader::add(FlagPlace place, std::vector<FlagValue> settings)
{
    const auto [found, isNew] = m_flags.try_emplace(place.key, m_syntax->places.size());
    place.settings = std::move(settings);
    if (isNew) {
        m_syntax->places.push_back(std::move(place));
        return;
    }
    FlagPlace& earlier = m_syntax->places[found->second];
    const std::int64_t line = place.settings.front().line;
    m_problems.push_back({Severity::Warning, m_name, line,
                          Text{HEADROOM_TR("core", "“%1” is already on line %2; the last one, on line %3, is used"),
                               {place.key, std::to_string(earlier.settings.front().line), std::to_string(line)}}});
    earlier.settings.clear();
    found->second = m_syntax->places.size();
    m_syntax->places.push_back(std::move(place));
}

void ShellReader::reportOpen(const ShellField& field)
{
    m_problems.push_back({Severity::Note, m_name, lineOf(field.begin()),
                          Text{HEADROOM_TR("core",
                                           "“%1” is known only when the script runs: options in it are not seen here, "
                                           "and would win over those before it"),
                               {field.text()}}});
}

/// One flag with its values; where the next begins.
std::size_t ShellReader::readFlag(const std::vector<ShellField>& command, std::size_t at)
{
    const ShellField& field = command[at];
    const std::string text = field.text();
    const std::size_t equals = text.find('=');
    FlagPlace place;
    place.key = childKey({}, text.substr(0, equals));
    place.isPlaced = field.isPlaced() && field.end() - field.begin() == text.size();
    place.begin = field.begin();
    place.nameEnd = field.end();
    place.quote = field.pieces.front().quote;
    std::vector<FlagValue> settings;
    if (equals != std::string::npos) {
        place.hasEquals = true;
        settings.push_back(settingOf(field, place.key, equals + 1));
        add(std::move(place), std::move(settings));
        return at + 1;
    }
    std::size_t end = at + 1;
    while (end < command.size() && !isFlag(command[end]) && (m_hasScript || !isScript(command[end]))) {
        ++end;
    }
    const std::size_t next = end;
    while (end > at + 2 && isOpen(command[end - 1])) {
        --end; // options of their own rather than further values
    }
    for (std::size_t i = end; i < next; ++i) {
        reportOpen(command[i]);
    }
    for (std::size_t i = at + 1; i < end; ++i) {
        const bool isOne = end == at + 2;
        settings.push_back(settingOf(command[i], isOne ? place.key : elementKey(place.key, i - at - 1)));
    }
    if (settings.empty()) {
        place.isBare = true;
        FlagValue bare = settingOf(field, place.key);
        bare.text = "true";
        bare.style = ScalarStyle::Plain;
        settings.push_back(std::move(bare));
    }
    add(std::move(place), std::move(settings));
    return next;
}

void ShellReader::readCommand(const std::vector<ShellField>& command)
{
    for (std::size_t at = 0; at < command.size();) {
        if (isFlag(command[at])) {
            at = readFlag(command, at);
            continue;
        }
        if (!m_hasScript && isScript(command[at])) {
            readScript(command[at]);
        } else if (at > 0 && isOpen(command[at])) {
            reportOpen(command[at]);
        }
        ++at;
    }
}

SyntaxReading ShellReader::read()
{
    readBatchOptions();
    readVariables();
    const auto& commands = m_script.commands;
    const std::vector<ShellField>* most = nullptr;
    for (const auto& command : commands) {
        if (most == nullptr || flagCount(command) >= flagCount(*most)) {
            most = &command;
        }
    }
    if (most != nullptr && flagCount(*most) > 0) {
        readCommand(*most);
    }
    SyntaxReading reading{{}, std::move(m_problems), m_syntax};
    for (FlagPlace& place : m_syntax->places) {
        for (const FlagValue& setting : place.settings) {
            Setting& shown = reading.settings.emplace_back(setting);
            if (shown.begin == FlagPlace::nowhere) {
                shown.begin = shown.end = 0; // put together from several places
            } else if (place.isBare) {
                std::tie(shown.begin, shown.end) = extentOf(m_bytes, place);
            }
        }
    }
    std::stable_sort(reading.settings.begin(), reading.settings.end(),
                     [](const Setting& a, const Setting& b) { return a.line < b.line; });
    return reading;
}

} // namespace

Result<SyntaxReading> readShellSyntax(const std::string& bytes, const std::string& name)
{
    SyntaxReading reading = ShellReader(bytes, name).read();
    if (reading.settings.empty()) {
        return failure(Text{HEADROOM_TR("core", "the script holds neither variables nor a command with flags")}, name);
    }
    return reading;
}

} // namespace headroom
