// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

namespace headroom {

class MainWindow;

/// Waits until everything asked for is open and drawn, writes a picture of the window and ends the program: exit code
/// 0, 2 when a file could not be opened or the picture not be written.
class Screenshot : public QObject
{
    Q_OBJECT

public:
    Screenshot(MainWindow& window, QString file, QObject* parent = nullptr);

private:
    void look();

    MainWindow& m_window;
    QString m_file;
    QTimer m_timer;
    int m_quietLooks = 0;
    bool m_hasFailed = false;
};

} // namespace headroom
