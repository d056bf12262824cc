// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme/icons.h"

#include "theme/svg_symbol.h"
#include "theme/theme.h"

#include <QHash>
#include <QIconEngine>
#include <QPainter>

#include <array>

namespace headroom {

namespace {

struct SymbolFile
{
    const char* name = nullptr;
    Tone Theme::*tone = nullptr; ///< painted in its mark colour; none: the text colour
};

/// In the order of Symbol.
constexpr std::array<SymbolFile, 17> symbolFiles{{
    {"open"},
    {"save"},
    {"export"},
    {"undo"},
    {"redo"},
    {"zoom-in"},
    {"zoom-out"},
    {"fit"},
    {"settings"},
    {"error", &Theme::error},
    {"warning", &Theme::warning},
    {"info", &Theme::note},
    {"ok", &Theme::ok},
    {"drop"},
    {"reset"},
    {"copy"},
    {"enlarge"},
}};
static_assert(symbolFiles.size() == static_cast<std::size_t>(Symbol::Enlarge) + 1);

const SymbolFile& fileOf(Symbol symbol)
{
    return symbolFiles[static_cast<std::size_t>(symbol)];
}

const SvgSymbol& drawingOf(Symbol symbol)
{
    static QHash<int, SvgSymbol> drawings;
    const int key = static_cast<int>(symbol);
    auto found = drawings.find(key);
    if (found == drawings.end())
        found = drawings.insert(
            key, SvgSymbol::load(QStringLiteral(":/icons/%1.svg").arg(QLatin1StringView(fileOf(symbol).name))));
    return *found;
}

/// Looks the colour up when it paints, so that icons follow the theme without being made again.
class SymbolEngine : public QIconEngine
{
public:
    SymbolEngine(Symbol symbol, QColor fixedColor)
        : m_symbol(symbol)
        , m_fixedColor(fixedColor)
    {
    }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override
    {
        drawingOf(m_symbol).paint(*painter, rect, color(mode));
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }

    [[nodiscard]] QIconEngine* clone() const override { return new SymbolEngine(*this); }

private:
    [[nodiscard]] QColor color(QIcon::Mode mode) const
    {
        const Theme& theme = Theme::current();
        if (mode == QIcon::Disabled)
            return theme.reserved;
        if (m_fixedColor.isValid())
            return m_fixedColor;
        const SymbolFile& file = fileOf(m_symbol);
        return file.tone ? (theme.*file.tone).mark : theme.text;
    }

    Symbol m_symbol;
    QColor m_fixedColor;
};

} // namespace

QIcon symbolIcon(Symbol symbol)
{
    return symbolIcon(symbol, QColor());
}

QIcon symbolIcon(Symbol symbol, const QColor& color)
{
    return QIcon(new SymbolEngine(symbol, color));
}

QIcon applicationIcon()
{
    QIcon icon;
    for (const int size : {16, 22, 24, 32, 48, 64, 128, 256})
        icon.addFile(QStringLiteral(":/icons/io.github.headroom.Headroom-%1.png").arg(size));
    return icon;
}

} // namespace headroom
