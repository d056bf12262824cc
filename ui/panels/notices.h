// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <QFrame>
#include <QTimer>

class QLabel;
class QProgressBar;

namespace headroom {

/// A sentence across the window that needs no answer: what went wrong or was done. Several stand below each other in
/// one bar until it is closed.
class MessageBar : public QFrame
{
    Q_OBJECT

public:
    explicit MessageBar(QWidget* parent = nullptr);

    void showMessage(Severity severity, const QString& sentence);
    void clear();
    [[nodiscard]] QString text() const;

    static constexpr int mostLines = 5;

private:
    QLabel* m_icon;
    QLabel* m_text;
    QStringList m_sentences;
};

/// How far the reading of files is, with Cancel. Appears only when it takes longer than a glance.
class ProgressStrip : public QFrame
{
    Q_OBJECT

public:
    explicit ProgressStrip(QWidget* parent = nullptr);

    void start();
    void setProgress(int permille, const QString& name);
    /// All is read, and what it means is being found out.
    void setConcluding(const QString& name);
    void finish();

signals:
    void cancelRequested();

private:
    QTimer m_delay;
    QLabel* m_text;
    QProgressBar* m_bar;
};

} // namespace headroom
