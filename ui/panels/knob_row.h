// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

class QLabel;
class QLineEdit;

namespace headroom {

class ChangeMark;
class KnobSlider;

/// One knob: its name, a typed value, a slider over the values on offer, and a line for what there is to say.
class KnobRow : public QWidget
{
    Q_OBJECT

public:
    /// `decimals` 0: whole numbers.
    KnobRow(const QString& title, const QString& meaning, int decimals, QWidget* parent = nullptr);

    /// Ascending.
    void setStops(std::vector<double> stops);
    /// The value in effect; a value between the stops stands at the nearest.
    void setValue(double value);
    /// What the files say: the mark on the groove.
    void setOriginal(double value);
    void setChanged(bool changed);
    /// A muted line below: "derived", "uneven: 7, 7, 7, 6 layers". Empty: none.
    void setNote(const QString& note);
    /// Turning it would change nothing, and why; empty: it would.
    void setIdle(const QString& reason);
    /// Why the value typed last was not taken. Stays until the next value.
    void showObjection(const QString& reason);

    [[nodiscard]] double value() const { return m_value; }
    [[nodiscard]] const std::vector<double>& stops() const { return m_stops; }
    [[nodiscard]] KnobSlider* slider() const { return m_slider; }
    [[nodiscard]] QLineEdit* entry() const { return m_entry; }
    [[nodiscard]] bool isChanged() const;
    [[nodiscard]] QString message() const;

signals:
    void valueChosen(double value); ///< from the slider
    void valueTyped(double value);
    void gestureEnded();
    void resetRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void takeEntry();
    void refresh();
    void showMessage();
    [[nodiscard]] int nearestStop(double value) const;
    [[nodiscard]] QString textOf(double value) const;

    QString m_title;
    QString m_meaning;
    int m_decimals;
    std::vector<double> m_stops;
    double m_value = 0;
    double m_original = 0;
    QString m_note;
    QString m_idle;
    QString m_objection;
    ChangeMark* m_mark;
    QLineEdit* m_entry;
    KnobSlider* m_slider;
    QLabel* m_message;
};

} // namespace headroom
