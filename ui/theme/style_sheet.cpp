// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme/style_sheet.h"

#include "theme/theme.h"

#include <QFile>
#include <QHash>

namespace headroom {

namespace {

void addTone(QHash<QString, QColor>& colors, const QString& name, const Tone& tone)
{
    colors.insert(name + u"Text", tone.text);
    colors.insert(name + u"Mark", tone.mark);
    colors.insert(name + u"Background", tone.background);
    colors.insert(name + u"Border", tone.border);
}

QHash<QString, QColor> colorsOf(const Theme& theme)
{
    QHash<QString, QColor> colors{
        {QStringLiteral("window"), theme.window},       {QStringLiteral("raised"), theme.raised},
        {QStringLiteral("hovered"), theme.hovered},     {QStringLiteral("field"), theme.field},
        {QStringLiteral("text"), theme.text},           {QStringLiteral("muted"), theme.mutedText},
        {QStringLiteral("border"), theme.border},       {QStringLiteral("grid"), theme.grid},
        {QStringLiteral("accent"), theme.accent},       {QStringLiteral("onAccent"), theme.onAccent},
        {QStringLiteral("selection"), theme.selection}, {QStringLiteral("disabled"), theme.reserved},
    };
    addTone(colors, QStringLiteral("ok"), theme.ok);
    addTone(colors, QStringLiteral("warning"), theme.warning);
    addTone(colors, QStringLiteral("error"), theme.error);
    addTone(colors, QStringLiteral("note"), theme.note);
    return colors;
}

} // namespace

QString styleSheet(const Theme& theme)
{
    QFile file(QStringLiteral(":/theme/headroom.qss"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QString source = QString::fromUtf8(file.readAll());
    source.replace(QStringLiteral("@variant"),
                   theme.isDark ? QStringLiteral("dark") : QStringLiteral("light")); // of the pictures
    const QHash<QString, QColor> colors = colorsOf(theme);
    QString sheet;
    qsizetype position = 0;
    while (position < source.size()) {
        const qsizetype at = source.indexOf(u'@', position);
        if (at < 0)
            break;
        qsizetype end = at + 1;
        while (end < source.size() && source[end].isLetter())
            ++end;
        sheet += source.mid(position, at - position);
        const auto color = colors.constFind(source.mid(at + 1, end - at - 1));
        sheet += color == colors.cend() ? source.mid(at, end - at) : color->name();
        position = end;
    }
    return sheet + source.mid(position);
}

} // namespace headroom
