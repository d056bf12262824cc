// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "window/main_window.h"

#include <QTemporaryDir>

#include <memory>

namespace headroom {

class ChoiceRow;
class KnobRow;

/// A window on a log and a config written into a folder of their own.
class WindowFixture
{
public:
    WindowFixture();

    /// 24 layers of width 1024 over two stages, two copies; a comment on most lines.
    static const QByteArray configText;
    /// Twenty steps of three phases on four ranks; backward peaks on rank 0 of step 12, line 134.
    [[nodiscard]] static QByteArray logText();

    QString write(const QString& name, const QByteArray& bytes) const;
    [[nodiscard]] static QByteArray read(const QString& path);
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }

    /// Shows the window with the log and the config open; false when it does not come to that.
    [[nodiscard]] bool open();
    [[nodiscard]] bool show();
    [[nodiscard]] MainWindow& window() const { return *m_window; }
    [[nodiscard]] Workspace& workspace() const { return m_window->workspace(); }
    [[nodiscard]] QString configPath() const { return path(QStringLiteral("train.yaml")); }
    [[nodiscard]] QString logPath() const { return path(QStringLiteral("train.log")); }

private:
    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

/// A test with a fresh window for each function, and settings of its own.
class WindowTestBase : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup();

protected:
    [[nodiscard]] KnobRow* row(Knob knob) const;
    /// As if the user had picked the entry.
    static void choose(ChoiceRow* row, const QString& id);
    [[nodiscard]] Workspace& workspace() const { return m_fixture->workspace(); }
    [[nodiscard]] Workbench& workbench() const { return m_fixture->window().workbench(); }
    std::unique_ptr<WindowFixture> m_fixture;
};

} // namespace headroom
