// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace headroom {

/// A blue dot beside the name of a knob that was turned.
class ChangeMark : public QWidget
{
    Q_OBJECT

public:
    explicit ChangeMark(QWidget* parent);

    void setOn(bool on);
    [[nodiscard]] bool isOn() const { return m_isOn; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    bool m_isOn = false;
};

} // namespace headroom
