// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "units/text.h"

#include <QWidget>

#include <functional>
#include <optional>
#include <string>

class QCheckBox;

namespace headroom {

class ChangeMark;
class Workspace;

/// A canonical field that is on or off.
class ToggleRow : public QWidget
{
    Q_OBJECT

public:
    /// Why switching would change nothing for a plan.
    using Idle = std::function<std::optional<Text>(const TrainingPlan&)>;

    ToggleRow(Workspace& workspace, const std::string& field, const QString& title, const QString& meaning,
              Idle idle = {}, QWidget* parent = nullptr);

    [[nodiscard]] QCheckBox* box() const { return m_box; }
    [[nodiscard]] bool isChanged() const;

private:
    void refresh();

    Workspace& m_workspace;
    std::string m_field;
    QString m_meaning;
    Idle m_idle;
    ChangeMark* m_mark;
    QCheckBox* m_box;
};

} // namespace headroom
