// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/knobs.h"

#include <QWidget>

#include <map>

class QCheckBox;
class QLabel;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace headroom {

class KnobRow;
class ModelSection;
class Workspace;

/// The left side of the window: what the user turns.
class KnobsPanel : public QWidget
{
    Q_OBJECT

public:
    explicit KnobsPanel(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] KnobRow* row(Knob knob) const { return m_rows.at(knob); }
    [[nodiscard]] KnobRow* kRow() const { return m_k; }
    [[nodiscard]] QToolButton* granularityButton(Granularity granularity) const
    {
        return m_granularity.at(granularity);
    }
    [[nodiscard]] QString equationText() const;

signals:
    void modelRequested();

private:
    KnobRow* addRow(Knob knob, QVBoxLayout* layout);
    QWidget* makeEquation();
    QWidget* makeGranularity();
    void addLinks(QVBoxLayout* layout);
    void connectK();
    void takeTyped(Knob knob, double value);
    void showValues();
    void showStops();
    void showEquation();
    void showRecompute();
    void showK();
    [[nodiscard]] QString noteFor(Knob knob) const;

    Workspace& m_workspace;
    ModelSection* m_model;
    std::map<Knob, KnobRow*> m_rows;
    std::map<Granularity, QToolButton*> m_granularity;
    KnobRow* m_k;
    QLabel* m_product = nullptr;
    QLabel* m_global = nullptr;
    QLabel* m_modules = nullptr;
    QCheckBox* m_keepGpus = nullptr;
    QCheckBox* m_keepBatch = nullptr;
    QPushButton* m_resetAll = nullptr;
};

} // namespace headroom
