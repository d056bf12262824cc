// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

namespace headroom::cli {

/// Exit codes of every command.
enum ExitCode { Holds = 0, DoesNotHold = 1, BadInput = 2 };

// Each adds its subcommand to `app`; when that was given, the callback runs it and stores the exit code.
void addEstimate(CLI::App& app, int& exitCode);
void addCompare(CLI::App& app, int& exitCode);
void addLoss(CLI::App& app, int& exitCode);
void addReport(CLI::App& app, int& exitCode);
void addFit(CLI::App& app, int& exitCode);
void addLog(CLI::App& app, int& exitCode);
void addCheck(CLI::App& app, int& exitCode);
void addSet(CLI::App& app, int& exitCode);
void addExport(CLI::App& app, int& exitCode);
void addCatalogs(CLI::App& app, int& exitCode);

} // namespace headroom::cli
