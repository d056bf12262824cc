// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/catalog.h"
#include "config/config_document.h"

#include <QWidget>

#include <cstdint>
#include <map>

class QLabel;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace headroom {

class DiffView;
class Workspace;
struct LoadedConfig;

/// What each line of the adjusted file says that the file did not say before, by the plans that are read from the two.
[[nodiscard]] std::map<std::int64_t, QString> reasonsOf(const LoadedConfig& config, const ConfigDocument& adjusted,
                                                        const Catalog& catalog);

/// What the edits change in the config file.
class DiffPanel : public QWidget
{
    Q_OBJECT

public:
    explicit DiffPanel(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] DiffView* view() const { return m_view; }
    [[nodiscard]] int changedLines() const;

signals:
    void changed();
    void exportRequested();

private:
    void refresh();
    void copy() const;

    Workspace& m_workspace;
    DiffView* m_view;
    QLabel* m_empty;
    QLabel* m_summary;
    QToolButton* m_whole;
    QStackedWidget* m_stack;
    QWidget* m_page;
};

} // namespace headroom
