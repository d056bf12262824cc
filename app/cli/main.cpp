// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

using namespace headroom::cli;

namespace {

/// What stands behind --language: the texts of the options themselves depend on it.
std::string languageOption(int argc, char** argv)
{
    constexpr std::string_view option = "--language";
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == option && i + 1 < argc) {
            return argv[i + 1];
        }
        if (argument.starts_with(option) && argument.size() > option.size() && argument[option.size()] == '=') {
            return std::string(argument.substr(option.size() + 1));
        }
    }
    return {};
}

/// The words that CLI11 puts around the options; subcommands that are added later take them over.
void speakHelp(CLI::App& app)
{
    app.get_formatter()->label("Usage", say(HEADROOM_TR("cli", "Usage")));
    app.get_formatter()->label("Positionals", say(HEADROOM_TR("cli", "Positionals")));
    app.option_defaults()->group(say(HEADROOM_TR("cli", "Options")));
    app.set_help_flag("-h,--help", say(HEADROOM_TR("cli", "Print this help message and exit")));
}

} // namespace

int main(int argc, char** argv)
{
    int exitCode = Holds;
    try {
        const std::string language = languageOption(argc, argv);
        if (!useLanguage(language)) {
            fmt::print(stderr, "headroom-cli: “{}” is not a language of Headroom: {}\n", language,
                       fmt::join(languages(), ", "));
            return BadInput;
        }
        CLI::App app{say(HEADROOM_TR("cli",
                                     "Headroom: where does the GPU memory of a training run peak, why, and what would "
                                     "fit?\n"
                                     "Exit codes: 0 fits or holds, 1 does not, 2 bad input or usage."))};
        app.name("headroom-cli");
        std::string spoken; // taken by languageOption() before this is built
        app.add_option(
            "--language", spoken,
            say(HEADROOM_TR("cli", "language of texts, such as en or zh_CN; the environment's unless given")));
        app.fallthrough();
        speakHelp(app);
        app.set_version_flag("--version", "headroom-cli " HEADROOM_VERSION);
        app.require_subcommand(1);
        addEstimate(app, exitCode);
        addFit(app, exitCode);
        addLog(app, exitCode);
        addCompare(app, exitCode);
        addLoss(app, exitCode);
        addReport(app, exitCode);
        addCheck(app, exitCode);
        addSet(app, exitCode);
        addExport(app, exitCode);
        addCatalogs(app, exitCode);
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            const auto unknown = app.remaining();
            if (error.get_exit_code() != 0 && app.get_subcommands().empty() && !unknown.empty()) {
                fmt::print(stderr, "headroom-cli: {}\n",
                           say(HEADROOM_TR("cli", "%1 is neither a command nor an option; --help lists them"),
                               {unknown.front()}));
                return BadInput;
            }
            return app.exit(error) == 0 ? Holds : BadInput;
        }
        // A full disk or a closed pipe must not look like success.
        return std::fflush(stdout) == 0 ? exitCode : BadInput;
    } catch (const std::exception& error) {
        fmt::print(stderr, "headroom-cli: {}\n", error.what());
        return BadInput;
    }
}
