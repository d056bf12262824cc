// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/knob_row.h"

#include "panels/change_mark.h"
#include "panels/knob_slider.h"
#include "panels/styled.h"
#include "workspace/wording.h"

#include <QContextMenuEvent>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QSignalBlocker>

#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom {

namespace {

/// Numbers as people paste them: grouped by spaces or commas, in any locale.
std::optional<double> numberFrom(const QString& text, int decimals)
{
    QString plain = text.trimmed();
    if (decimals == 0) {
        plain.remove(QLatin1Char(','));
    } else {
        plain.replace(QLatin1Char(','), QLatin1Char('.'));
    }
    plain.removeIf([](QChar c) { return c.isSpace(); });
    bool isNumber = false;
    const double value = plain.toDouble(&isNumber);
    const bool isWhole = decimals > 0 || value == std::floor(value);
    return isNumber && std::isfinite(value) && isWhole && std::abs(value) < 1e15 ? std::optional(value) : std::nullopt;
}

} // namespace

KnobRow::KnobRow(const QString& title, const QString& meaning, int decimals, QWidget* parent)
    : QWidget(parent)
    , m_title(title)
    , m_meaning(meaning)
    , m_decimals(decimals)
    , m_mark(new ChangeMark(this))
    , m_entry(new QLineEdit(this))
    , m_slider(new KnobSlider(this))
    , m_message(makeLabel({}, "muted", this))
{
    auto* label = new QLabel(title, this);
    label->setBuddy(m_entry);
    m_entry->setAlignment(Qt::AlignRight);
    m_entry->setAcceptDrops(false); // files dropped here are for the window
    m_entry->installEventFilter(this);
    m_entry->setFixedWidth(m_entry->fontMetrics().horizontalAdvance(QStringLiteral("0 000 000")));
    m_message->setWordWrap(true);
    m_message->hide();
    for (QWidget* part :
         {static_cast<QWidget*>(this), static_cast<QWidget*>(m_slider), static_cast<QWidget*>(m_entry)}) {
        part->setToolTip(meaning);
    }
    auto* layout = new QGridLayout(this);
    layout->setContentsMargins(0, 2, 0, 2);
    layout->setHorizontalSpacing(0);
    layout->setVerticalSpacing(3);
    layout->addWidget(m_mark, 0, 0);
    layout->addWidget(label, 0, 1);
    layout->addWidget(m_entry, 0, 2);
    layout->addWidget(m_slider, 1, 0, 1, 3);
    layout->addWidget(m_message, 2, 1, 1, 2);
    layout->setColumnStretch(1, 1);

    connect(m_slider, &KnobSlider::valueChanged, this, [this](int stop) {
        if (stop >= 0 && static_cast<std::size_t>(stop) < m_stops.size()) {
            emit valueChosen(m_stops[static_cast<std::size_t>(stop)]);
        }
    });
    connect(m_slider, &KnobSlider::gestureEnded, this, &KnobRow::gestureEnded);
    connect(m_slider, &KnobSlider::resetRequested, this, &KnobRow::resetRequested);
    connect(m_entry, &QLineEdit::editingFinished, this, &KnobRow::takeEntry);
}

void KnobRow::setStops(std::vector<double> stops)
{
    if (stops == m_stops) {
        return;
    }
    m_stops = std::move(stops);
    const QSignalBlocker blocker(m_slider);
    m_slider->setRange(0, std::max(0, static_cast<int>(m_stops.size()) - 1));
    m_slider->setPageStep(std::max(1, static_cast<int>(m_stops.size()) / 10));
    m_slider->setEnabled(m_idle.isEmpty() && m_stops.size() > 1);
    refresh();
}

void KnobRow::setValue(double value)
{
    m_value = value;
    m_objection.clear();
    if (!m_entry->hasFocus() || !m_entry->isModified()) {
        m_entry->setText(textOf(value));
    }
    refresh();
}

void KnobRow::setOriginal(double value)
{
    m_original = value;
    refresh();
}

void KnobRow::setChanged(bool changed)
{
    m_mark->setOn(changed);
}

bool KnobRow::isChanged() const
{
    return m_mark->isOn();
}

void KnobRow::setNote(const QString& note)
{
    m_note = note;
    showMessage();
}

void KnobRow::setIdle(const QString& reason)
{
    m_idle = reason;
    m_entry->setEnabled(reason.isEmpty());
    m_slider->setEnabled(reason.isEmpty() && m_stops.size() > 1);
    showMessage();
}

void KnobRow::showObjection(const QString& reason)
{
    m_objection = reason;
    showMessage();
}

QString KnobRow::message() const
{
    return !m_objection.isEmpty() ? m_objection : !m_idle.isEmpty() ? m_idle : m_note;
}

void KnobRow::showMessage()
{
    setStyled(m_entry, "invalid", m_objection.isEmpty() ? QString() : QStringLiteral("true"));
    setStyled(m_message, "role", m_objection.isEmpty() ? QStringLiteral("muted") : QStringLiteral("error"));
    m_message->setText(message());
    m_message->setVisible(!message().isEmpty());
}

void KnobRow::refresh()
{
    const QSignalBlocker blocker(m_slider);
    m_slider->setValue(nearestStop(m_value));
    // A value that is not on offer (no recomputed layers yet) has no place on the groove.
    const bool isOnOffer = !m_stops.empty() && m_original >= m_stops.front() && m_original <= m_stops.back();
    m_slider->setOriginalStop(isOnOffer ? nearestStop(m_original) : -1);
    const QString spoken = tr("%1: %2, originally %3").arg(m_title, textOf(m_value), textOf(m_original));
    for (QWidget* part : {static_cast<QWidget*>(m_slider), static_cast<QWidget*>(m_entry)}) {
        part->setAccessibleName(m_title);
        part->setAccessibleDescription(QStringLiteral("%1. %2").arg(spoken, m_meaning));
    }
    showMessage();
}

void KnobRow::takeEntry()
{
    if (!m_entry->isModified()) {
        return;
    }
    m_entry->setModified(false);
    const auto typed = numberFrom(m_entry->text(), m_decimals);
    if (!typed) {
        showObjection(m_decimals == 0 ? tr("“%1” is not a whole number").arg(m_entry->text())
                                      : tr("“%1” is not a number").arg(m_entry->text()));
        return;
    }
    emit valueTyped(*typed);
}

int KnobRow::nearestStop(double value) const
{
    const auto nearest = std::min_element(
        m_stops.begin(), m_stops.end(), [&](double a, double b) { return std::abs(a - value) < std::abs(b - value); });
    return nearest == m_stops.end() ? 0 : static_cast<int>(nearest - m_stops.begin());
}

QString KnobRow::textOf(double value) const
{
    if (value <= 0) {
        return QStringLiteral("–"); // nobody said
    }
    return m_decimals == 0 ? grouped(static_cast<qint64>(value)) : QLocale().toString(value, 'f', m_decimals);
}

/// A line edit keeps the keys of undo to itself, also when it has nothing to undo: after a value was taken, they are
/// the window's again.
bool KnobRow::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_entry && event->type() == QEvent::ShortcutOverride && !m_entry->isModified()) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
            event->ignore();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void KnobRow::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    QAction* reset = menu.addAction(tr("Reset to %1").arg(textOf(m_original)), this, &KnobRow::resetRequested);
    reset->setEnabled(isChanged());
    menu.exec(event->globalPos());
}

void KnobRow::mouseDoubleClickEvent(QMouseEvent* /*event*/)
{
    emit resetRequested();
}

void KnobRow::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape && m_entry->hasFocus()) {
        m_entry->setModified(false);
        setValue(m_value);
        m_entry->selectAll();
        return;
    }
    QWidget::keyPressEvent(event);
}

} // namespace headroom
