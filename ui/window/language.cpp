// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/language.h"

#include "window/settings.h"

#include <QActionGroup>
#include <QApplication>
#include <QDir>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>

#include <algorithm>

namespace headroom {
namespace {

constexpr QLatin1String catalogues(":/i18n");
constexpr QLatin1String cataloguePrefix("headroom_");

//: The name of this language in this language.
constexpr const char* ownName = QT_TRANSLATE_NOOP("headroom::LanguageMenu", "English");

QString catalogueOf(const QString& language)
{
    return catalogues + u'/' + cataloguePrefix + language + QLatin1String(".qm");
}

/// As its speakers write it: each catalogue has the name of its own language.
QString nameOf(const QString& language)
{
    QTranslator catalogue;
    const QString name
        = catalogue.load(catalogueOf(language)) ? catalogue.translate("headroom::LanguageMenu", ownName) : QString();
    return name.isEmpty() ? QString::fromLatin1(ownName) : name;
}

} // namespace

QStringList languages()
{
    QStringList names;
    for (const QString& file : QDir(catalogues).entryList({cataloguePrefix + QLatin1String("*.qm")}, QDir::Files)) {
        names.append(file.mid(cataloguePrefix.size()).chopped(3));
    }
    return names;
}

bool speaks(const QString& language)
{
    const QStringList all = languages();
    return std::any_of(all.begin(), all.end(),
                       [&](const QString& each) { return QLocale(each).language() == QLocale(language).language(); });
}

void useLanguage(QApplication& application, const QString& language)
{
    const QLocale locale = language.isEmpty() ? QLocale::system() : QLocale(language);
    QLocale::setDefault(locale);
    auto* qt = new QTranslator(&application);
    if (qt->load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
                 QLibraryInfo::path(QLibraryInfo::TranslationsPath))) {
        QApplication::installTranslator(qt);
    }
    // English first: it has the plural forms of what another language leaves untranslated.
    for (const QLocale& each : {QLocale(QLocale::English), locale}) {
        auto* own = new QTranslator(&application);
        if (own->load(each, QStringLiteral("headroom"), QStringLiteral("_"), catalogues)) {
            QApplication::installTranslator(own);
        }
    }
}

LanguageMenu::LanguageMenu(QWidget* parent)
    : QMenu(tr("Languag&e"), parent)
{
    auto* group = new QActionGroup(this);
    addLanguage({}, tr("&System"), tr("Speaks the language of the desktop from the next start"));
    for (const QString& language : languages()) {
        const QString name = nameOf(language);
        addLanguage(language, name, tr("Speaks %1 from the next start").arg(name));
    }
    for (QAction* action : actions()) {
        group->addAction(action);
    }
}

void LanguageMenu::addLanguage(const QString& language, const QString& text, const QString& tip)
{
    QAction* action = addAction(text);
    action->setObjectName(QStringLiteral("languageAction.") + language);
    action->setStatusTip(tip);
    action->setCheckable(true);
    action->setChecked(Settings::value(Preference::Language).toString() == language);
    connect(action, &QAction::triggered, this, [this, language] {
        Settings::setValue(Preference::Language, language);
        emit chosen();
    });
}

} // namespace headroom
