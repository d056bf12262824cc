// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace headroom {

class LogPanel;
class ViewState;
class Workspace;

/// Goes to where something is written: the text of the file at that line, and the cursor at the step of a measurement.
class Places : public QObject
{
    Q_OBJECT

public:
    Places(Workspace& workspace, ViewState& view, LogPanel& log, QObject* parent = nullptr);

    /// A line of an open file; another file is opened by the desktop.
    void show(const QString& file, qint64 line);
    void showRecord(qint64 record);

signals:
    void textShown();

private:
    void moveCursorTo(qint64 record);

    Workspace& m_workspace;
    ViewState& m_view;
    LogPanel& m_log;
};

} // namespace headroom
