// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/wording.h"

#include "insight/finding.h"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>

#include <cmath>

namespace headroom {

namespace {

/// The window's gap between thousands; core writes for terminals, where a comma is safer.
constexpr QChar thousandsGap(0x202F);

} // namespace

QString withGaps(QString text)
{
    static const QRegularExpression comma(QStringLiteral("(?<=\\d),(?=\\d{3}(?!\\d))"));
    return text.replace(comma, thousandsGap);
}

QString translated(const Text& text)
{
    Text shown(text);
    static const QRegularExpression count(QStringLiteral("^-?\\d{1,3}(,\\d{3})+$"));
    for (std::string& argument : shown.arguments) {
        // Other arguments may be a file's own words, which stay as they are.
        if (argument.find(',') != std::string::npos && count.match(toQString(argument)).hasMatch()) {
            argument = withGaps(toQString(argument)).toStdString();
        }
    }
    return toQString(shown.fill(QCoreApplication::translate("core", text.pattern.c_str()).toStdString()));
}

QString translated(const Problem& problem)
{
    const QString sentence = translated(problem.text);
    const QString file = toQString(problem.file);
    if (file.isEmpty()) {
        return sentence;
    }
    if (problem.line > 0) {
        return QStringLiteral("%1:%2: %3").arg(file, QString::number(problem.line), sentence);
    }
    return QStringLiteral("%1: %2").arg(file, sentence);
}

QString translated(const std::vector<Text>& labels)
{
    return toQString(inWords(labels, [](const Text& text) { return translated(text).toStdString(); }));
}

QString translated(const Mend& mend)
{
    return toQString(mend.words([](const Text& text) { return translated(text).toStdString(); }));
}

QString grouped(qint64 value)
{
    QString digits = QString::number(value);
    const qsizetype first = value < 0 ? 1 : 0;
    for (qsizetype place = digits.size() - 3; place > first; place -= 3) {
        digits.insert(place, thousandsGap);
    }
    return digits;
}

QString numberText(double value)
{
    return std::abs(value) >= 1000 && std::abs(value) < 1e15 ? grouped(std::llround(value))
                                                             : QLocale().toString(value, 'g', 4);
}

QString plainGib(Bytes bytes, int decimals)
{
    QLocale locale;
    locale.setNumberOptions(QLocale::OmitGroupSeparator);
    return locale.toString(bytes.gib(), 'f', decimals);
}

QString gibText(Bytes bytes, int decimals)
{
    return QStringLiteral("%1 GiB").arg(plainGib(bytes, decimals));
}

QString withoutMnemonic(QString text)
{
    static const QRegularExpression keyInBrackets(QStringLiteral("\\(&.\\)"));
    return text.remove(keyInBrackets).remove(u'&');
}

QString toQString(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString pathText(const std::filesystem::path& path)
{
    return QString::fromStdString(path.string());
}

std::filesystem::path toPath(const QString& path)
{
    return std::filesystem::path(path.toStdString());
}

QString fileName(const std::filesystem::path& path)
{
    const auto file = path.filename();
    const QString name = pathText(file.empty() ? path : file);
    // A longer name would push everything beside it out of the window; its end tells files apart as often as its start.
    constexpr qsizetype most = 40;
    if (name.size() <= most) {
        return name;
    }
    return name.first(most / 2 - 1) + u'…' + name.last(most / 2);
}

} // namespace headroom
