// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace headroom {

/// Covers its parent while files are dragged over it. Lets the drop through.
class DropOverlay : public QWidget
{
    Q_OBJECT

public:
    explicit DropOverlay(QWidget* parent);

    void setActive(bool active);

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace headroom
