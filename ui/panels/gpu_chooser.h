// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QToolButton>

namespace headroom {

class Workspace;

/// Which GPU the verdict is about: one of the catalog, or a capacity of one's own.
class GpuChooser : public QToolButton
{
    Q_OBJECT

public:
    explicit GpuChooser(Workspace& workspace, QWidget* parent = nullptr);

    void askCapacity();
    /// Takes "80 GiB" and the like; false with the reason in `reason` when it is no capacity.
    bool chooseCapacity(const QString& text, QString* reason = nullptr);

private:
    void fillMenu();
    void refresh();

    Workspace& m_workspace;
};

} // namespace headroom
