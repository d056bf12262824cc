// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

int main(int argc, char** argv)
{
    using namespace headroom::cli;
    int exitCode = Holds;
    try {
        CLI::App app{"Headroom: where does the GPU memory of a training run peak, why, and what would fit?\n"
                     "Exit codes: 0 fits or holds, 1 does not, 2 bad input or usage."};
        app.name("headroom-cli");
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
                fmt::print(stderr, "headroom-cli: {} is neither a command nor an option; --help lists them\n",
                           unknown.front());
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
