// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/compare_rows.h"

#include "charts/gib_text.h"
#include "panels/compare_panel.h"
#include "workspace/wording.h"

#include <QLocale>
#include <QStandardItemModel>

namespace headroom {
namespace {

std::optional<qint64> wholeNumber(const std::string& text)
{
    bool isNumber = false;
    const qint64 number = toQString(text).toLongLong(&isNumber);
    return isNumber ? std::optional(number) : std::nullopt;
}

QString settingText(const std::string& text)
{
    const auto number = wholeNumber(text);
    return number ? grouped(*number) : toQString(text);
}

/// "× 2" of a setting that is a number, "÷ 4" likewise.
QString changeOf(const FieldDifference& field)
{
    const auto before = wholeNumber(field.before);
    const auto after = wholeNumber(field.after);
    if (!before || !after || *before <= 0 || *after <= 0) {
        return {};
    }
    const bool isMore = *after > *before;
    const double factor = isMore ? static_cast<double>(*after) / static_cast<double>(*before)
                                 : static_cast<double>(*before) / static_cast<double>(*after);
    return QStringLiteral("%1 %2").arg(isMore ? QStringLiteral("×") : QStringLiteral("÷"),
                                       QLocale().toString(factor, 'g', 3));
}

} // namespace

CompareRows::CompareRows(QStandardItemModel& model)
    : m_model(model)
{
    model.removeRows(0, model.rowCount());
}

void CompareRows::setting(const FieldDifference& field)
{
    const auto value
        = [](const std::string& text) { return text.empty() ? ComparePanel::tr("not set") : settingText(text); };
    add(toQString(field.key), value(field.before), value(field.after), changeOf(field));
}

void CompareRows::bytes(const QString& name, std::optional<Bytes> before, std::optional<Bytes> after)
{
    if (!before && !after) {
        return;
    }
    QString change;
    if (before && after) {
        change = QStringLiteral("%1, %2").arg(
            percentText(static_cast<double>(before->value), static_cast<double>(after->value)),
            differenceText(*after - *before));
    }
    add(name, before ? bytesText(*before) : QString(), after ? bytesText(*after) : QString(), change);
}

void CompareRows::number(const QString& name, std::optional<double> before, std::optional<double> after)
{
    const auto text = [](std::optional<double> value) { return value ? numberText(*value) : QString(); };
    if (before || after) {
        add(name, text(before), text(after), before && after ? percentText(*before, *after) : QString());
    }
}

void CompareRows::add(const QString& name, const QString& before, const QString& after, const QString& change)
{
    QList<QStandardItem*> items;
    for (const QString& text : {name, before, after, change}) {
        items.append(new QStandardItem(text));
        items.back()->setEditable(false);
        items.back()->setToolTip(text); // where the column has no room for it
        items.back()->setTextAlignment((items.size() == 1 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    m_model.appendRow(items);
}

} // namespace headroom
