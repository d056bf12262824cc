// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSlider>

namespace headroom {

/// A slider over a list of stops. Marks the original stop on the groove, jumps to where it is clicked, scrolls only
/// with the focus, and tells when a gesture is over so that it becomes one step of undo.
class KnobSlider : public QSlider
{
    Q_OBJECT

public:
    explicit KnobSlider(QWidget* parent = nullptr);

    /// -1: no mark.
    void setOriginalStop(int stop);

    /// Room left of the groove, so that it can begin below the knob's name.
    static constexpr int leftInset = 12;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void gestureEnded();
    void resetRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    [[nodiscard]] double radius() const;
    [[nodiscard]] double grooveLength() const;
    [[nodiscard]] double positionOf(int stop) const;
    [[nodiscard]] int stopAt(double x) const;

    int m_original = -1;
};

} // namespace headroom
