// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme/theme.h"

#include "theme/style_sheet.h"

#include <QApplication>
#include <QEvent>
#include <QPalette>
#include <QPointer>
#include <QStyle>
#include <QStyleFactory>

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

ThemeChoice currentChoice = ThemeChoice::System;
const Theme* currentTheme = nullptr;

// Blues, oranges, a red and greys: static state, what grows with the micro-batch, logits, the rest. Both themes share
// them, so that a picture of either can be read beside the other.
const std::array<QColor, componentCount> componentColors{QColor(0x4e79a7), QColor(0x76a5cf), QColor(0xa0cbe8),
                                                         QColor(0xe8923a), QColor(0xf3bd7f), QColor(0xc9576a),
                                                         QColor(0x6b7686), QColor(0x8f9aa8), QColor(0xc3c9d2)};

Theme makeLight()
{
    Theme theme;
    theme.window = QColor(0xffffff);
    theme.raised = QColor(0xeef2f7);
    theme.hovered = QColor(0xe3e9f1);
    theme.field = QColor(0xffffff);
    theme.text = QColor(0x1d2330);
    theme.mutedText = QColor(0x5b6678);
    theme.border = QColor(0xd9dde3);
    theme.grid = QColor(0xeceef1);
    theme.accent = QColor(0x2159e0);
    theme.onAccent = QColor(0xffffff);
    theme.selection = QColor(0xdee7f5);
    theme.ok = {QColor(0x176c34), QColor(0x3f9d5a), QColor(0xe9f6ed), QColor(0xb9dfc4)};
    theme.warning = {QColor(0x7d5200), QColor(0xd99a1c), QColor(0xfdf4e0), QColor(0xeed9a8)};
    theme.error = {QColor(0xb52531), QColor(0xc62f3b), QColor(0xfdecee), QColor(0xf0b8bd)};
    theme.note = {QColor(0x1f52cc), QColor(0x2563eb), QColor(0xe8effd), QColor(0xbccff7)};
    theme.capacity = QColor(0xc62f3b);
    theme.reserved = QColor(0x8991a1);
    theme.phases = {QColor(0x3b82c4), QColor(0xe0812b), QColor(0x3f9d5a), QColor(0x8b5fbf),
                    QColor(0xb8860b), QColor(0x17919b), QColor(0xc2568f), QColor(0x7a6a58)};
    theme.components = componentColors;
    return theme;
}

Theme makeDark()
{
    Theme theme;
    theme.isDark = true;
    theme.window = QColor(0x23272e);
    theme.raised = QColor(0x2c323b);
    theme.hovered = QColor(0x353c47);
    theme.field = QColor(0x1e2228);
    theme.text = QColor(0xe6e9ef);
    theme.mutedText = QColor(0xa3acbb);
    theme.border = QColor(0x3a414c);
    theme.grid = QColor(0x2f353e);
    theme.accent = QColor(0x6ea8fe);
    theme.onAccent = QColor(0x10161f);
    theme.selection = QColor(0x313b4a);
    theme.ok = {QColor(0x7fd79a), QColor(0x71c98b), QColor(0x21342a), QColor(0x36563f)};
    theme.warning = {QColor(0xf0bf5a), QColor(0xd99a1c), QColor(0x372f1f), QColor(0x5f4d26)};
    theme.error = {QColor(0xff8f96), QColor(0xff6b74), QColor(0x3a2529), QColor(0x924952)};
    theme.note = {QColor(0x9cc3ff), QColor(0x6ea8fe), QColor(0x243145), QColor(0x3d5579)};
    theme.capacity = QColor(0xff6b74);
    theme.reserved = QColor(0x8790a0);
    theme.phases = {QColor(0x6cb2ee), QColor(0xf2a25c), QColor(0x71c98b), QColor(0xb592e6),
                    QColor(0xdcb84a), QColor(0x52c2cc), QColor(0xea8dbd), QColor(0xb9a892)};
    theme.components = componentColors;
    return theme;
}

QPalette paletteOf(const Theme& theme)
{
    QPalette palette;
    palette.setColor(QPalette::Window, theme.window);
    palette.setColor(QPalette::WindowText, theme.text);
    palette.setColor(QPalette::Base, theme.field);
    palette.setColor(QPalette::AlternateBase, theme.raised);
    palette.setColor(QPalette::ToolTipBase, theme.raised);
    palette.setColor(QPalette::ToolTipText, theme.text);
    palette.setColor(QPalette::PlaceholderText, theme.mutedText);
    palette.setColor(QPalette::Text, theme.text);
    palette.setColor(QPalette::Button, theme.raised);
    palette.setColor(QPalette::ButtonText, theme.text);
    palette.setColor(QPalette::BrightText, theme.error.mark);
    palette.setColor(QPalette::Link, theme.accent);
    palette.setColor(QPalette::LinkVisited, theme.accent);
    palette.setColor(QPalette::Highlight, theme.accent);
    palette.setColor(QPalette::HighlightedText, theme.onAccent);
    palette.setColor(QPalette::Light, theme.isDark ? theme.hovered : theme.window);
    palette.setColor(QPalette::Midlight, theme.hovered);
    palette.setColor(QPalette::Mid, theme.border);
    palette.setColor(QPalette::Dark, theme.isDark ? theme.field : theme.border.darker(115));
    palette.setColor(QPalette::Shadow, theme.isDark ? theme.field.darker(130) : theme.mutedText);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, theme.reserved);
    palette.setColor(QPalette::Disabled, QPalette::Highlight, theme.border);
    palette.setColor(QPalette::Disabled, QPalette::HighlightedText, theme.mutedText);
    return palette;
}

bool isDarkDesktop()
{
    const QPalette desktop = QApplication::palette();
    return desktop.color(QPalette::Window).lightnessF() < desktop.color(QPalette::WindowText).lightnessF();
}

/// Applies the theme again when the desktop changes its own: windows get ThemeChange then.
class DesktopWatcher : public QObject
{
public:
    using QObject::QObject;

    bool eventFilter(QObject*, QEvent* event) override
    {
        if (event->type() == QEvent::ThemeChange && currentChoice == ThemeChoice::System && !m_pending) {
            m_pending = true; // every window reports it
            QMetaObject::invokeMethod(this, &DesktopWatcher::reapply, Qt::QueuedConnection);
        }
        return false;
    }

private:
    void reapply()
    {
        if (currentChoice == ThemeChoice::System)
            applyTheme(*qApp, ThemeChoice::System);
        m_pending = false;
    }

    bool m_pending = false;
};

double linear(double channel)
{
    return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double relativeLuminance(const QColor& color)
{
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

} // namespace

const Tone& Theme::tone(Severity severity) const
{
    switch (severity) {
    case Severity::Error:
        return error;
    case Severity::Warning:
        return warning;
    case Severity::Note:
        break;
    }
    return note;
}

const Theme& Theme::light()
{
    static const Theme theme = makeLight();
    return theme;
}

const Theme& Theme::dark()
{
    static const Theme theme = makeDark();
    return theme;
}

const Theme& Theme::current()
{
    return currentTheme ? *currentTheme : light();
}

void applyTheme(QApplication& application, ThemeChoice choice)
{
    static QPointer<DesktopWatcher> watcher;
    if (!watcher) {
        watcher = new DesktopWatcher(&application);
        application.installEventFilter(watcher);
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    }
    currentChoice = choice;
    if (choice == ThemeChoice::System) {
        if (currentTheme)
            QApplication::setPalette(QPalette()); // ours taken off, the desktop's own shows
        currentTheme = isDarkDesktop() ? &Theme::dark() : &Theme::light();
    } else {
        currentTheme = choice == ThemeChoice::Dark ? &Theme::dark() : &Theme::light();
    }
    QApplication::setPalette(paletteOf(*currentTheme));
    application.setStyleSheet(styleSheet(*currentTheme));
}

ThemeChoice themeChoice()
{
    return currentChoice;
}

double contrastRatio(const QColor& a, const QColor& b)
{
    const double first = relativeLuminance(a);
    const double second = relativeLuminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

} // namespace headroom
