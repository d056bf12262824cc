// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme/icons.h"
#include "theme/style_sheet.h"
#include "theme/svg_symbol.h"
#include "theme/theme.h"

#include <QApplication>
#include <QRegularExpression>
#include <QTest>
#include <QWidget>

#include <cmath>

using namespace headroom;

class TestTheme : public QObject
{
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral(".*"))); }
    void contrastOfKnownColours_data();
    void contrastOfKnownColours();
    void textIsReadable_data();
    void textIsReadable();
    void coloursOfOneChartDiffer();
    void styleSheetKnowsEveryName();
    void applyingSetsPaletteAndCurrent();
    void symbolsAreDrawnInTheThemesColours();
    void svgPaths_data();
    void svgPaths();
    void applicationIconHasAllSizes();
};

void TestTheme::contrastOfKnownColours_data()
{
    QTest::addColumn<QColor>("first");
    QTest::addColumn<QColor>("second");
    QTest::addColumn<double>("ratio");
    // WCAG 2.1: the extremes, and the grey on white known as the lightest that passes 4.5.
    QTest::newRow("black on white") << QColor(Qt::black) << QColor(Qt::white) << 21.0;
    QTest::newRow("white on white") << QColor(Qt::white) << QColor(Qt::white) << 1.0;
    QTest::newRow("#767676 on white") << QColor(0x767676) << QColor(Qt::white) << 4.54;
    QTest::newRow("#777777 on white") << QColor(0x777777) << QColor(Qt::white) << 4.48;
}

void TestTheme::contrastOfKnownColours()
{
    QFETCH(QColor, first);
    QFETCH(QColor, second);
    QFETCH(double, ratio);
    QVERIFY(std::abs(contrastRatio(first, second) - ratio) < 0.005);
    QVERIFY(std::abs(contrastRatio(second, first) - ratio) < 0.005);
}

void TestTheme::textIsReadable_data()
{
    QTest::addColumn<QColor>("text");
    QTest::addColumn<QColor>("background");
    for (const Theme* theme : {&Theme::light(), &Theme::dark()}) {
        const char* name = theme->isDark ? "dark" : "light";
        const auto row = [&](const char* what, const QColor& text, const QColor& background) {
            QTest::addRow("%s: %s", name, what) << text << background;
        };
        row("text on window", theme->text, theme->window);
        row("text on raised", theme->text, theme->raised);
        row("text on hovered", theme->text, theme->hovered);
        row("text on field", theme->text, theme->field);
        row("text on selection", theme->text, theme->selection);
        row("muted on window", theme->mutedText, theme->window);
        row("muted on raised", theme->mutedText, theme->raised);
        row("muted on field", theme->mutedText, theme->field);
        row("accent on window", theme->accent, theme->window);
        row("accent on raised", theme->accent, theme->raised);
        row("accent on selection", theme->accent, theme->selection);
        row("on accent", theme->onAccent, theme->accent);
        const std::pair<const char*, const Tone*> tones[]
            = {{"ok", &theme->ok}, {"warning", &theme->warning}, {"error", &theme->error}, {"note", &theme->note}};
        for (const auto& [tone, colors] : tones) {
            row(qPrintable(QStringLiteral("%1 on its tint").arg(QLatin1StringView(tone))), colors->text,
                colors->background);
            row(qPrintable(QStringLiteral("%1 on window").arg(QLatin1StringView(tone))), colors->text, theme->window);
            row(qPrintable(QStringLiteral("%1 on raised").arg(QLatin1StringView(tone))), colors->text, theme->raised);
            row(qPrintable(QStringLiteral("text on tint of %1").arg(QLatin1StringView(tone))), theme->text,
                colors->background);
        }
    }
}

void TestTheme::textIsReadable()
{
    QFETCH(QColor, text);
    QFETCH(QColor, background);
    const double ratio = contrastRatio(text, background);
    QVERIFY2(ratio >= 4.5, qPrintable(QStringLiteral("contrast %1").arg(ratio)));
}

void TestTheme::coloursOfOneChartDiffer()
{
    const auto distance = [](const QColor& a, const QColor& b) {
        return std::hypot(a.red() - b.red(), a.green() - b.green(), a.blue() - b.blue());
    };
    const auto verifyDifferent = [&](const auto& colors, const QColor& background) {
        for (std::size_t i = 0; i < colors.size(); ++i) {
            QVERIFY(distance(colors[i], background) > 40);
            for (std::size_t j = i + 1; j < colors.size(); ++j)
                QVERIFY2(distance(colors[i], colors[j]) > 35,
                         qPrintable(colors[i].name() + QLatin1Char(' ') + colors[j].name()));
        }
    };
    for (const Theme* theme : {&Theme::light(), &Theme::dark()}) {
        verifyDifferent(theme->components, theme->window);
        verifyDifferent(theme->phases, theme->window);
        QVERIFY(theme->phase(theme->phases.size()).isValid()); // a log may name more phases than there are colours
    }
}

void TestTheme::styleSheetKnowsEveryName()
{
    for (const Theme* theme : {&Theme::light(), &Theme::dark()}) {
        const QString sheet = styleSheet(*theme);
        QVERIFY(sheet.contains(QLatin1StringView("QSlider::handle")));
        QVERIFY2(!sheet.contains(QLatin1Char('@')), qPrintable(sheet.mid(sheet.indexOf(QLatin1Char('@')), 40)));
        QVERIFY(!sheet.contains(QLatin1StringView("font-size")));
    }
}

void TestTheme::applyingSetsPaletteAndCurrent()
{
    for (const bool isDark : {true, false}) {
        applyTheme(*qApp, isDark ? ThemeChoice::Dark : ThemeChoice::Light);
        QCOMPARE(Theme::current().isDark, isDark);
        QCOMPARE(themeChoice(), isDark ? ThemeChoice::Dark : ThemeChoice::Light);
        QCOMPARE(QWidget().palette().color(QPalette::Window), Theme::current().window);
    }
    applyTheme(*qApp, ThemeChoice::Dark);
    applyTheme(*qApp, ThemeChoice::System); // the offscreen desktop is light: our dark palette must not be taken for it
    QVERIFY(!Theme::current().isDark);
}

void TestTheme::symbolsAreDrawnInTheThemesColours()
{
    const auto inkOf = [](const QIcon& icon, QIcon::Mode mode) {
        const QImage image = icon.pixmap(QSize(32, 32), 1, mode).toImage();
        QColor ink;
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x) {
                if (image.pixelColor(x, y).alpha() == 255)
                    ink = image.pixelColor(x, y);
            }
        }
        return ink;
    };
    for (int i = 0; i <= static_cast<int>(Symbol::Copy); ++i) {
        const QIcon icon = symbolIcon(static_cast<Symbol>(i));
        applyTheme(*qApp, ThemeChoice::Light);
        const QColor light = inkOf(icon, QIcon::Normal);
        QVERIFY2(light.isValid(), qPrintable(QStringLiteral("symbol %1 is empty").arg(i)));
        QCOMPARE(inkOf(icon, QIcon::Disabled), Theme::light().reserved);
        applyTheme(*qApp, ThemeChoice::Dark);
        QVERIFY(inkOf(icon, QIcon::Normal) != light || light == Theme::light().warning.mark); // amber serves both
    }
    QCOMPARE(inkOf(symbolIcon(Symbol::Open), QIcon::Normal), Theme::dark().text);
    QCOMPARE(inkOf(symbolIcon(Symbol::Error), QIcon::Normal), Theme::dark().error.mark);
    QCOMPARE(inkOf(symbolIcon(Symbol::Open, Qt::green), QIcon::Normal), QColor(Qt::green));
}

void TestTheme::svgPaths_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<bool>("isValid");
    QTest::addColumn<QRectF>("bounds");
    QTest::newRow("lines") << QStringLiteral("M1 2 L3 4") << true << QRectF(1, 2, 2, 2);
    QTest::newRow("relative") << QStringLiteral("m1,2 l2,2 h3 v-4") << true << QRectF(1, 0, 5, 4);
    QTest::newRow("pairs after M are lines") << QStringLiteral("M0 0 2 0 2 2 Z") << true << QRectF(0, 0, 2, 2);
    QTest::newRow("numbers run together") << QStringLiteral("M1.5-2L.5.5") << true << QRectF(0.5, -2, 1, 2.5);
    QTest::newRow("curve") << QStringLiteral("M0 0 C0 0 4 4 4 4") << true << QRectF(0, 0, 4, 4);
    QTest::newRow("arc, not ours") << QStringLiteral("M0 0 A1 1 0 0 0 2 2") << false << QRectF();
    QTest::newRow("number missing") << QStringLiteral("M1") << false << QRectF();
    QTest::newRow("number after Z") << QStringLiteral("M0 0 L1 1 Z 3") << false << QRectF();
    QTest::newRow("no command") << QStringLiteral("1 2") << false << QRectF();
}

void TestTheme::svgPaths()
{
    QFETCH(QString, path);
    QFETCH(bool, isValid);
    QFETCH(QRectF, bounds);
    const auto parsed = parseSvgPath(path);
    QCOMPARE(parsed.has_value(), isValid);
    if (isValid)
        QCOMPARE(parsed->boundingRect(), bounds);
}

void TestTheme::applicationIconHasAllSizes()
{
    const QIcon icon = applicationIcon();
    for (const int size : {16, 32, 48, 256})
        QCOMPARE(icon.actualSize(QSize(size, size)), QSize(size, size));
}

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
