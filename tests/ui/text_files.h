// SPDX-License-Identifier: GPL-3.0-or-later
// Texts that are shown line by line.
#pragma once

#include "workspace/text_file.h"

#include <QFile>
#include <QtTest>

namespace headroom::test {

inline QByteArray numbered(int lines)
{
    QByteArray text;
    for (int line = 1; line <= lines; ++line) {
        text += "line " + QByteArray::number(line) + (line % 7 == 0 ? " lucky" : "") + '\n';
    }
    return text;
}

inline QString writeText(const QString& path, const QByteArray& text, QIODevice::OpenMode mode = QIODevice::WriteOnly)
{
    QFile file(path);
    if (!file.open(mode) || file.write(text) != text.size()) {
        qFatal("cannot write");
    }
    return path;
}

inline bool isRead(TextFile& file)
{
    return QTest::qWaitFor([&] { return file.isComplete(); }, 30'000);
}

} // namespace headroom::test
