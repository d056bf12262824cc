// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/places.h"

#include "panels/log_panel.h"
#include "workspace/view_state.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QUrl>

#include <algorithm>
#include <optional>

namespace headroom {
namespace {

/// A record of the file at that line.
std::optional<std::size_t> recordAt(const Run& run, std::size_t file, qint64 line)
{
    const auto begin = static_cast<std::size_t>(run.firstRecordOfFile[file]);
    const std::size_t end = file + 1 < run.firstRecordOfFile.size()
        ? static_cast<std::size_t>(run.firstRecordOfFile[file + 1])
        : run.size();
    const auto first = run.line.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = run.line.begin() + static_cast<std::ptrdiff_t>(end);
    const auto found
        = std::lower_bound(first, last, line, [](std::uint32_t a, qint64 b) { return static_cast<qint64>(a) < b; });
    return found != last && *found == line ? std::optional(static_cast<std::size_t>(found - run.line.begin()))
                                           : std::nullopt;
}

} // namespace

Places::Places(Workspace& workspace, ViewState& view, LogPanel& log, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_view(view)
    , m_log(log)
{
}

void Places::showRecord(qint64 record)
{
    const LoadedLog* log = m_workspace.log();
    if (log == nullptr || record < 0 || static_cast<std::size_t>(record) >= log->run->size()) {
        return;
    }
    moveCursorTo(record);
    const Record place = log->run->record(static_cast<std::size_t>(record));
    if (m_log.showLine(toQString(log->run->files[place.file]), place.line)) {
        emit textShown();
    }
}

void Places::moveCursorTo(qint64 record)
{
    const LoadedLog* log = m_workspace.log();
    const qint64 step = log->run->step[static_cast<std::size_t>(record)];
    const StepRange range = m_view.range();
    if (static_cast<double>(step) < range.first || static_cast<double>(step) > range.last) {
        m_view.fit();
    }
    m_view.setCursor(step);
}

void Places::show(const QString& file, qint64 line)
{
    const std::string name = file.toStdString();
    if (const LoadedLog* log = m_workspace.log()) {
        const auto& files = log->run->files;
        const auto found = std::find(files.begin(), files.end(), name);
        const auto record = found != files.end()
            ? recordAt(*log->run, static_cast<std::size_t>(found - files.begin()), line)
            : std::nullopt;
        if (record) {
            moveCursorTo(static_cast<qint64>(*record));
        }
    }
    const LoadedConfig* config = m_workspace.config();
    const bool isConfig = config != nullptr && name == config->opened.document.name();
    if (m_log.showLine(isConfig ? pathText(config->path) : file, line)) {
        emit textShown();
        return;
    }
    if (QFileInfo::exists(file)) {
        QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(file).absoluteFilePath()));
    }
}

} // namespace headroom
