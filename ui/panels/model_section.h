// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <array>

class QCheckBox;
class QLabel;

namespace headroom {

class Workspace;

/// The model's name, its shape in one line, and which of its parts are frozen.
class ModelSection : public QWidget
{
    Q_OBJECT

public:
    explicit ModelSection(Workspace& workspace, QWidget* parent = nullptr);

signals:
    void modelRequested();

private:
    void refresh();
    [[nodiscard]] QString summary() const;

    Workspace& m_workspace;
    QLabel* m_name;
    QLabel* m_summary;
    struct Part
    {
        QCheckBox* box;
        const char* field;
    };
    std::array<Part, 3> m_parts;
};

} // namespace headroom
