// SPDX-License-Identifier: GPL-3.0-or-later
#include "screenshot.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "window/file_commands.h"
#include "window/language.h"
#include "window/main_window.h"
#include "window/settings.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QSettings>
#include <QStandardPaths>

#include <cstdio>
#include <cstdlib>
#include <optional>

using namespace headroom;

namespace {

constexpr int usageError = 2;

struct Options
{
    QStringList files;
    QString screenshot;
    QSize size;
    std::optional<ThemeChoice> theme;
    QString language;
};

std::optional<ThemeChoice> themeNamed(const QString& name)
{
    if (name == QLatin1String("light")) {
        return ThemeChoice::Light;
    }
    if (name == QLatin1String("dark")) {
        return ThemeChoice::Dark;
    }
    return name == QLatin1String("system") ? std::optional(ThemeChoice::System) : std::nullopt;
}

/// "1600x1000"
QSize sizeFrom(const QString& text)
{
    const QStringList parts = text.toLower().split(QLatin1Char('x'));
    constexpr int most = 16384;
    const QSize size = parts.size() == 2 ? QSize(parts[0].toInt(), parts[1].toInt()) : QSize();
    return size.width() > 0 && size.height() > 0 && size.width() <= most && size.height() <= most ? size : QSize();
}

[[noreturn]] void refuse(const QString& sentence)
{
    std::fprintf(stderr, "headroom: %s\n", qPrintable(sentence));
    std::exit(usageError);
}

Options parse(const QApplication& application)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Explorer for the GPU memory of training runs."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("files"),
                                 QStringLiteral("Logs, configs, model files, or a folder with the logs of a run."),
                                 QStringLiteral("[files…]"));
    const QCommandLineOption screenshot(QStringLiteral("screenshot"),
                                        QStringLiteral("Write a picture of the window to FILE and exit."),
                                        QStringLiteral("FILE"));
    const QCommandLineOption size(QStringLiteral("size"), QStringLiteral("Size of the window, for example 1600x1000."),
                                  QStringLiteral("WxH"));
    const QCommandLineOption theme(QStringLiteral("theme"), QStringLiteral("light, dark or system."),
                                   QStringLiteral("NAME"));
    const QCommandLineOption language(QStringLiteral("language"),
                                      QStringLiteral("Language of the window, for example en or zh_CN."),
                                      QStringLiteral("CODE"));
    parser.addOptions({screenshot, size, theme, language});
    parser.process(application);
    Options options;
    options.files = parser.positionalArguments();
    options.screenshot = parser.value(screenshot);
    options.language = parser.value(language);
    if (parser.isSet(size) && !(options.size = sizeFrom(parser.value(size))).isValid()) {
        refuse(QStringLiteral("“%1” is not a size such as 1600x1000").arg(parser.value(size)));
    }
    if (parser.isSet(language) && !speaks(options.language)) {
        refuse(QStringLiteral("“%1” is not a language of Headroom: %2")
                   .arg(options.language, languages().join(QStringLiteral(", "))));
    }
    if (parser.isSet(theme) && !(options.theme = themeNamed(parser.value(theme)))) {
        refuse(QStringLiteral("“%1” is not a theme: light, dark or system").arg(parser.value(theme)));
    }
    return options;
}

} // namespace

int main(int argc, char* argv[])
{
    QApplication application(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("headroom"));
    QApplication::setApplicationName(QStringLiteral("headroom"));
    QApplication::setApplicationDisplayName(QStringLiteral("Headroom"));
    QApplication::setApplicationVersion(QStringLiteral(HEADROOM_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("io.github.headroom.Headroom"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    const Options options = parse(application);
    if (!options.screenshot.isEmpty()) {
        // A picture shows the program as it comes, and leaves no trace in the user's settings.
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
    }
    useLanguage(application,
                options.language.isEmpty() ? Settings::value(Preference::Language).toString() : options.language);
    applyTheme(application,
               options.theme.value_or(
                   themeNamed(Settings::value(Preference::Theme).toString()).value_or(ThemeChoice::System)));
    QApplication::setWindowIcon(applicationIcon());

    // Not AppConfigLocation, which has the organisation in it: headroom-cli looks in the same folder.
    const QString folder
        = QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + QStringLiteral("/headroom");
    MainWindow window(Library::load(folder.toStdString()),
                      loadSamples(samplesFolder(QApplication::applicationDirPath())));
    if (options.size.isValid()) {
        window.resize(options.size);
    }
    window.show();
    std::optional<Screenshot> screenshot;
    if (!options.screenshot.isEmpty()) {
        screenshot.emplace(window, options.screenshot);
    }
    if (!options.files.isEmpty()) {
        window.files().openPaths(options.files);
    }
    return QApplication::exec();
}
