// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/vocabulary.h"

#include <QWidget>

#include <map>
#include <string>

class QCheckBox;
class QToolButton;
class QVBoxLayout;

namespace headroom {

class Workspace;

/// What is computed again in the backward pass: nothing, everything, or parts of each layer.
class RecomputeSection : public QWidget
{
    Q_OBJECT

public:
    explicit RecomputeSection(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] QToolButton* granularityButton(Granularity granularity) const { return m_buttons.at(granularity); }
    /// Null where the plan has no such part.
    [[nodiscard]] QCheckBox* moduleBox(const std::string& module) const;
    /// Whole layers are recomputed instead of named parts of each.
    [[nodiscard]] bool countsLayers() const;
    [[nodiscard]] bool isChanged() const;

private:
    void makeButtons(QVBoxLayout* layout);
    void refresh();
    void setModule(const std::string& module, bool isOn);

    Workspace& m_workspace;
    std::map<Granularity, QToolButton*> m_buttons;
    QWidget* m_modules;
    std::map<std::string, QCheckBox*> m_boxes;
};

} // namespace headroom
