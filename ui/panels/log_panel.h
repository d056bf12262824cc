// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/text_finder.h"

#include <QTimer>
#include <QWidget>

#include <memory>

class QComboBox;
class QLabel;
class QLineEdit;
class QStackedWidget;
class QToolButton;

namespace headroom {

class TextView;
class Workspace;

/// The text of the open files, logs first, at the line of a measurement, with search.
class LogPanel : public QWidget
{
    Q_OBJECT

public:
    explicit LogPanel(Workspace& workspace, QWidget* parent = nullptr);
    ~LogPanel() override;

    /// False: the file is not open. Line 0: the file alone.
    bool showLine(const QString& file, qint64 line);
    /// Puts the keyboard into the field to search in, what is chosen in the text as needle.
    void startFind();
    void findNext();
    void findPrevious();
    void startGoToLine();

    [[nodiscard]] TextView* view() const { return m_view; }
    [[nodiscard]] TextFile* file() const { return m_file.get(); }

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    QWidget* makeBar();
    void connectBar();
    void refresh();
    void showFile(int index);
    void showState();
    void find(bool backwards, qint64 from);
    void queryChanged();
    [[nodiscard]] TextQuery query() const;

    Workspace& m_workspace;
    std::unique_ptr<TextFile> m_file;
    TextFinder m_finder;
    QTimer m_typing; ///< searches when it has been quiet for a moment
    QComboBox* m_files;
    QLabel* m_status;
    QLineEdit* m_line;
    QLineEdit* m_needle;
    QToolButton* m_case;
    QToolButton* m_previous;
    QToolButton* m_next;
    QLabel* m_empty;
    TextView* m_view;
    QStackedWidget* m_stack;
};

} // namespace headroom
