// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>
#include <QStringList>

class QApplication;

namespace headroom {

/// The languages whose catalogues are linked into the program, as locale names ("en", "zh_CN").
[[nodiscard]] QStringList languages();

/// Whether one of them is the language of this locale name, whatever its country: "zh", "en_GB".
[[nodiscard]] bool speaks(const QString& language);

/// Makes the program speak `language`, a locale name; the system's where it is empty. To be called before the first
/// widget is made, for texts are asked for once.
void useLanguage(QApplication& application, const QString& language);

/// The languages to choose from, each under its own name, and the system's. A choice is kept for the next start.
class LanguageMenu : public QMenu
{
    Q_OBJECT

public:
    explicit LanguageMenu(QWidget* parent = nullptr);

signals:
    void chosen();

private:
    void addLanguage(const QString& language, const QString& text, const QString& tip);
};

} // namespace headroom
