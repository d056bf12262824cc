// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

#include <functional>

class QWidget;

namespace headroom {

class MessageBar;
class Workspace;

/// What the user opens, closes and writes, with the questions that belong to it.
class FileCommands : public QObject
{
    Q_OBJECT

public:
    FileCommands(Workspace& workspace, MessageBar& messages, QWidget& window);

    /// Two files of loss lines are compared. Asks first when another config would replace changes that were not
    /// exported.
    void openPaths(const QStringList& paths);
    void chooseFiles();
    void chooseModel();
    void chooseModelFile();
    void chooseRunBefore();
    void chooseRunForHistory();
    void chooseLosses();
    void exportConfig();
    void exportAs();
    void chooseReport();
    /// HTML with charts where the name ends so, Markdown otherwise.
    void saveReport(const QString& path);
    void close();
    /// True when nothing would be lost, or the user does not mind.
    [[nodiscard]] bool mayLoseChanges();

    enum class Answer { Export, Discard, Cancel };
    /// Answers "the changes have not been exported" instead of a dialog (for tests).
    void setLossAnswer(std::function<Answer()> answer) { m_lossAnswer = std::move(answer); }

signals:
    void runBeforeChosen(const QStringList& paths);
    void runForHistoryChosen(const QStringList& paths);
    void lossesChosen(const QString& first, const QString& second);
    void closed();

private:
    [[nodiscard]] QStringList askForFiles(const QString& title, const QString& filter);
    [[nodiscard]] QStringList askForRun(const QString& title);
    [[nodiscard]] Answer askAboutLoss();

    Workspace& m_workspace;
    MessageBar& m_messages;
    QWidget& m_window;
    std::function<Answer()> m_lossAnswer;
};

} // namespace headroom
