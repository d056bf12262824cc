// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/text_file.h"

#include "workspace/wording.h"

#include <QtConcurrentRun>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace headroom {
namespace {

constexpr int growthMs = 60;
constexpr std::int64_t headBytes = std::int64_t{4} << 10;
constexpr int tabWidth = 8;
constexpr char escape = '\x1b';

/// The number of bytes of a terminal's control sequence at the start of `text`, which begins with ESC.
std::size_t controlLength(std::string_view text)
{
    if (text.size() < 2) {
        return text.size();
    }
    const auto isBetween = [](char c, char low, char high) { return c >= low && c <= high; };
    std::size_t at = 2;
    if (text[1] == '[') {
        while (at < text.size() && isBetween(text[at], ' ', '?')) {
            ++at;
        }
        return std::min(at + 1, text.size());
    }
    if (text[1] == ']') { // a title or link, up to BEL or ESC backslash
        while (at < text.size() && text[at] != '\a' && text[at] != escape) {
            ++at;
        }
        return std::min(at + (at < text.size() && text[at] == escape ? 2 : 1), text.size());
    }
    return 2;
}

/// What a file is whose head does not look like text of one byte a character.
QString unshownContent(std::string_view head)
{
    if (head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd")) {
        return TextFile::tr("the file is compressed");
    }
    if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) {
        return TextFile::tr("the file is UTF-16");
    }
    return head.find('\0') != std::string_view::npos ? TextFile::tr("the file is binary") : QString();
}

} // namespace

std::string withoutControls(std::string_view bytes)
{
    std::string plain;
    plain.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t start = bytes.find(escape);
        plain.append(bytes.substr(0, start));
        if (start == std::string_view::npos) {
            break;
        }
        bytes.remove_prefix(start);
        bytes.remove_prefix(controlLength(bytes));
    }
    return plain;
}

QString readableText(std::string_view bytes)
{
    if (!bytes.empty() && bytes.back() == '\r') {
        bytes.remove_suffix(1);
    }
    const bool hasEscape = bytes.find(escape) != std::string_view::npos;
    QString text = hasEscape ? toQString(withoutControls(bytes)) : toQString(bytes);
    const bool isPlain = std::all_of(text.cbegin(), text.cend(), [](QChar c) { return c >= u' ' && c != u'\x7f'; });
    if (isPlain) {
        return text;
    }
    QString shown;
    shown.reserve(text.size());
    for (const QChar c : text) {
        if (c == u'\t') {
            shown.append(QString(tabWidth - shown.size() % tabWidth, u' '));
        } else if (c < u' ') {
            shown.append(QChar(char16_t(0x2400 + c.unicode()))); // the symbol of the control character
        } else {
            shown.append(c == u'\x7f' ? QChar(0x2421) : c);
        }
    }
    return shown;
}

TextFile::TextFile(QString path, QObject* parent)
    : QObject(parent)
    , m_path(std::move(path))
{
    m_growth.setInterval(growthMs);
    connect(&m_growth, &QTimer::timeout, this, &TextFile::grew);
    connect(&m_watcher, &QFutureWatcherBase::finished, this, [this] {
        m_growth.stop();
        emit grew();
    });
    open();
}

TextFile::~TextFile()
{
    m_watcher.disconnect(this);
    stop();
}

void TextFile::stop()
{
    if (m_stopped) {
        *m_stopped = true;
    }
    m_watcher.waitForFinished(); // a mebibyte at most
}

TextFile::Identity TextFile::identity() const
{
    struct stat status = {};
    if (::stat(toPath(m_path).c_str(), &status) != 0) {
        return {};
    }
    return {status.st_dev, status.st_ino};
}

void TextFile::open()
{
    m_index = std::make_shared<LineIndex>();
    m_obstacle.clear();
    m_identity = identity();
    if (const int error = m_bytes.open(toPath(m_path).string()); error != 0) {
        m_obstacle = tr("%1 cannot be read: %2.").arg(m_path, QString::fromLocal8Bit(std::strerror(error)));
        return;
    }
    if (const QString what = unshownContent(m_bytes.read(0, headBytes)); !what.isEmpty()) {
        m_obstacle = tr("The text of %1 is not shown: %2.").arg(fileName(toPath(m_path)), what);
        return;
    }
    extend();
}

void TextFile::extend()
{
    m_stopped = std::make_shared<std::atomic_bool>(false);
    m_watcher.setFuture(QtConcurrent::run([index = m_index, stopped = m_stopped, name = toPath(m_path).string()] {
        FileBytes bytes;
        if (bytes.open(name) == 0) {
            index->extend(bytes, [&] { return !*stopped; });
        }
    }));
    m_growth.start();
}

std::vector<TextLine> TextFile::lines(qint64 first, int count)
{
    std::vector<TextLine> shown;
    if (!m_obstacle.isEmpty()) {
        return shown;
    }
    for (const RawLine& raw : readLines(m_bytes, *m_index, first, count)) {
        shown.push_back({readableText(raw.bytes), raw.length - static_cast<std::int64_t>(raw.bytes.size())});
    }
    return shown;
}

void TextFile::refresh()
{
    const Identity now = identity();
    if (now == Identity{}) {
        return; // gone for a moment, or for good: what was read stays
    }
    if (now != m_identity || m_bytes.size() < m_index->byteCount() || !m_obstacle.isEmpty()) {
        stop();
        open();
        emit replaced();
    } else if (isComplete() && m_bytes.size() > m_index->byteCount()) {
        extend();
    }
}

} // namespace headroom
