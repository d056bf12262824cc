// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/knobs.h"
#include "workspace/choices.h"

#include <QWidget>

#include <map>
#include <string>

class QCheckBox;
class QLabel;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace headroom {

class ChoiceRow;
class KnobGroup;
class KnobRow;
class ModelSection;
class RecomputeSection;
class ToggleRow;
class Workspace;

/// The left side of the window: what the user turns.
class KnobsPanel : public QWidget
{
    Q_OBJECT

public:
    explicit KnobsPanel(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] KnobRow* row(Knob knob) const { return m_rows.at(knob); }
    [[nodiscard]] KnobRow* kRow() const { return m_k; }
    [[nodiscard]] ChoiceRow* choice(Choice choice) const { return m_choices.at(choice); }
    [[nodiscard]] ToggleRow* toggle(const std::string& field) const { return m_toggles.at(field); }
    [[nodiscard]] KnobGroup* group(const QString& key) const { return m_groups.at(key); }
    [[nodiscard]] RecomputeSection* recompute() const { return m_recompute; }
    [[nodiscard]] QToolButton* granularityButton(Granularity granularity) const;
    [[nodiscard]] QString equationText() const;

signals:
    void modelRequested();

private:
    KnobGroup* addGroup(const QString& title, const QString& key, bool startsFolded);
    void fillParallel(KnobGroup* group);
    void fillBatch(KnobGroup* group);
    void fillRecompute(KnobGroup* group);
    void fillState(KnobGroup* group);
    void fillImplementation(KnobGroup* group);
    void addRow(Knob knob, KnobGroup* group);
    void addChoice(Choice choice, KnobGroup* group);
    QWidget* makeEquation();
    void addLinks(QVBoxLayout* layout);
    void connectK();
    void takeTyped(Knob knob, double value);
    void showValues();
    void showStops();
    void showEquation();
    void showGroups();
    void showK();
    [[nodiscard]] QString noteFor(Knob knob) const;

    Workspace& m_workspace;
    ModelSection* m_model;
    std::map<Knob, KnobRow*> m_rows;
    std::map<QString, KnobGroup*> m_groups;
    std::map<Choice, ChoiceRow*> m_choices;
    std::map<std::string, ToggleRow*> m_toggles;
    RecomputeSection* m_recompute = nullptr;
    KnobRow* m_k;
    QLabel* m_product = nullptr;
    QLabel* m_global = nullptr;
    QCheckBox* m_keepGpus = nullptr;
    QCheckBox* m_keepBatch = nullptr;
    QPushButton* m_resetAll = nullptr;
};

} // namespace headroom
