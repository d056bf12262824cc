// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/samples.h"

#include <QWidget>

#include <vector>

class QVBoxLayout;

namespace headroom {

class DropArea;
class RecentFiles;

/// What the window shows while nothing is open.
class StartPage : public QWidget
{
    Q_OBJECT

public:
    StartPage(RecentFiles& recent, const std::vector<Sample>& samples, QWidget* parent = nullptr);

    /// Files are being dragged over the window.
    void setDropHighlighted(bool highlighted);

signals:
    void openRequested();
    void modelRequested();
    void pathsChosen(const QStringList& paths);

private:
    [[nodiscard]] QWidget* makeDropArea();
    void addSamples(const std::vector<Sample>& samples, QVBoxLayout* layout);
    void showRecent();

    RecentFiles& m_recent;
    DropArea* m_drop = nullptr;
    QWidget* m_recentTitle = nullptr;
    QVBoxLayout* m_recentLayout = nullptr;
};

} // namespace headroom
