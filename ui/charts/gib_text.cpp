// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/gib_text.h"

#include <QLocale>

#include <cmath>

namespace headroom {

QString bytesText(Bytes bytes, int decimals)
{
    const QLocale locale;
    const double value = static_cast<double>(bytes.value);
    const double size = std::fabs(value);
    if (size >= 0x1p30)
        return locale.toString(value / 0x1p30, 'f', decimals) + u" GiB";
    if (size >= 0x1p20)
        return locale.toString(value / 0x1p20, 'f', 1) + u" MiB";
    if (size >= 0x1p10)
        return locale.toString(value / 0x1p10, 'f', 1) + u" KiB";
    return locale.toString(bytes.value) + u" B";
}

QString gibNumber(Bytes bytes, int decimals)
{
    return QLocale().toString(bytes.gib(), 'f', decimals);
}

QString differenceText(Bytes difference, int decimals)
{
    if (difference.value == 0)
        return QStringLiteral("±0 B");
    if (difference.value > 0)
        return u'+' + bytesText(difference, decimals);
    // The lowest integer has no positive twin; one byte more or less doesn't show.
    const Bytes size{difference.value == std::numeric_limits<std::int64_t>::min() ? INT64_MAX : -difference.value};
    return u'\u2212' + bytesText(size, decimals);
}

QString countText(qint64 count)
{
    return QLocale().toString(count);
}

} // namespace headroom
