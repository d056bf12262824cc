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
/// Of a packed file's text, which takes room in the temporary folder.
constexpr std::int64_t mostUnpackedBytes = std::int64_t{8} << 30;
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
        if (m_unpacking) {
            takeUnpacked();
            return;
        }
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
    m_unpacking.reset();
}

TextFile::Identity TextFile::identity() const
{
    struct stat status = {};
    if (::stat(toPath(m_path).c_str(), &status) != 0) {
        return {};
    }
    return {status.st_dev, status.st_ino, m_packing ? status.st_size : 0};
}

void TextFile::open()
{
    m_index = std::make_shared<LineIndex>();
    m_obstacle.clear();
    m_unpacked.reset();
    m_packing.reset();
    if (const int error = m_bytes.open(toPath(m_path).string()); error != 0) {
        m_obstacle = tr("%1 cannot be read: %2.").arg(m_path, QString::fromLocal8Bit(std::strerror(error)));
        return;
    }
    const std::string_view head = m_bytes.read(0, headBytes);
    m_packing = packingOf(head);
    m_identity = identity();
    if (m_packing) {
        unpackText(*m_packing);
    } else if (head.find('\0') != std::string_view::npos) {
        m_obstacle = tr("The text of %1 is not shown: %2.").arg(fileName(toPath(m_path)), tr("the file is binary"));
    } else {
        extend();
    }
}

void TextFile::unpackText(Packing packing)
{
    m_stopped = std::make_shared<std::atomic_bool>(false);
    m_unpacking = std::make_shared<Result<Unpacked>>(Unpacked{});
    m_watcher.setFuture(
        QtConcurrent::run([result = m_unpacking, stopped = m_stopped, name = toPath(m_path).string(), packing] {
            *result = unpack(name, packing, {.bytes = mostUnpackedBytes, .keepGoing = [&] { return !*stopped; }});
        }));
}

/// What could be unpacked is shown, even where the rest is damaged.
void TextFile::takeUnpacked()
{
    const Result<Unpacked> unpacked = std::move(*m_unpacking);
    m_unpacking.reset();
    if (!unpacked || unpacked->size == 0) {
        const QString what = unpacked && unpacked->problem ? translated(*unpacked->problem)
            : unpacked                                     ? tr("the file is empty")
                                                           : translated(unpacked.error().text);
        m_obstacle = tr("The text of %1 is not shown: %2.").arg(fileName(toPath(m_path)), what);
        emit replaced();
        return;
    }
    m_unpacked = unpacked->file;
    if (const int error = m_bytes.open(source()); error != 0) {
        m_obstacle = tr("%1 cannot be read: %2.").arg(m_path, QString::fromLocal8Bit(std::strerror(error)));
        emit replaced();
        return;
    }
    extend();
}

LogFile TextFile::source() const
{
    LogFile file;
    file.name = toPath(m_path).string();
    file.unpacked = m_unpacked;
    return file;
}

void TextFile::extend()
{
    m_stopped = std::make_shared<std::atomic_bool>(false);
    m_watcher.setFuture(QtConcurrent::run([index = m_index, stopped = m_stopped, file = source()] {
        FileBytes bytes;
        if (bytes.open(file) == 0) {
            index->extend(bytes, [&] { return !*stopped; });
        }
    }));
    m_growth.start();
}

std::vector<TextLine> TextFile::lines(qint64 first, int count)
{
    std::vector<TextLine> shown;
    if (!m_obstacle.isEmpty() || m_unpacking) {
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
    if (m_unpacking && now == m_identity) {
        return;
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
