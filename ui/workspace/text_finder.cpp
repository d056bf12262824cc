// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/text_finder.h"

#include "workspace/wording.h"

#include <QtConcurrentRun>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace headroom {
namespace {

constexpr std::int64_t pieceBytes = std::int64_t{4} << 20;
constexpr std::chrono::milliseconds indexPause{20};

void lower(std::string& text)
{
    for (char& c : text) {
        c = static_cast<char>(c + (c >= 'A' && c <= 'Z' ? 'a' - 'A' : 0));
    }
}

/// Lines between two anchors, as text to search in. One too long for a piece is searched up to there: it has no more
/// lines in it.
class Segments
{
public:
    Segments(ByteSource& source, const LineIndex& index, const TextQuery& query)
        : m_source(source)
        , m_index(index)
        , m_matchesCase(query.matchesCase)
        , m_needle(query.needle.toUtf8().toStdString())
    {
        if (!m_matchesCase) {
            lower(m_needle);
        }
    }

    /// The first (last, backwards) line with the needle among lines `first` to `last` of the segment at `anchor`.
    std::optional<qint64> find(const LineIndex::Anchor& anchor, qint64 first, qint64 last, bool backwards)
    {
        const auto next = m_index.anchorAfter(anchor.line);
        const std::int64_t end = next ? next->offset : m_index.byteCount();
        const std::int64_t length = std::min(end - anchor.offset, pieceBytes);
        m_text = withoutControls(m_source.read(anchor.offset, length));
        if (!m_matchesCase) {
            lower(m_text);
        }
        std::optional<qint64> found;
        qint64 line = anchor.line;
        for (std::size_t at = 0; (at = m_text.find(m_needle, at)) != std::string::npos;) {
            line += std::count(m_text.begin() + static_cast<std::ptrdiff_t>(m_counted),
                               m_text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
            m_counted = at;
            if (line > last) {
                break;
            }
            if (line >= first) {
                found = line;
                if (!backwards) {
                    break;
                }
            }
            at = m_text.find('\n', at);
            if (at == std::string::npos) {
                break;
            }
        }
        m_counted = 0;
        return found;
    }

private:
    ByteSource& m_source;
    const LineIndex& m_index;
    bool m_matchesCase;
    std::string m_needle;
    std::string m_text;
    std::size_t m_counted = 0;
};

} // namespace

std::optional<qint64> findLine(ByteSource& source, const LineIndex& index, const TextQuery& query, qint64 line,
                               bool backwards, const std::function<bool()>& keepGoing,
                               const std::function<bool()>& isComplete)
{
    Segments segments(source, index, query);
    constexpr qint64 everything = std::numeric_limits<qint64>::max();
    const auto forward = [&](qint64 first, qint64 last) -> std::optional<qint64> {
        LineIndex::Anchor anchor = index.anchorBefore(first);
        while (keepGoing() && anchor.line <= last) {
            const bool wasComplete = isComplete(); // asked first: what is complete now had its last anchor before
            if (const auto found = segments.find(anchor, first, last, false)) {
                return found;
            }
            if (const auto next = index.anchorAfter(anchor.line)) {
                anchor = *next;
            } else if (wasComplete) {
                break;
            } else {
                std::this_thread::sleep_for(indexPause);
            }
        }
        return std::nullopt;
    };
    const auto backward = [&](qint64 first, qint64 last) -> std::optional<qint64> {
        while (!isComplete() && last == everything && keepGoing()) {
            std::this_thread::sleep_for(indexPause);
        }
        for (qint64 at = last; keepGoing() && at >= first;) {
            const LineIndex::Anchor anchor = index.anchorBefore(at);
            if (const auto found = segments.find(anchor, first, last, true)) {
                return found;
            }
            at = anchor.line - 1;
        }
        return std::nullopt;
    };
    if (query.needle.isEmpty()) {
        return std::nullopt;
    }
    if (backwards) {
        const auto found = backward(1, line - 1);
        return found ? found : backward(line, everything);
    }
    const auto found = forward(line + 1, everything);
    return found ? found : forward(1, line);
}

TextFinder::TextFinder(QObject* parent)
    : QObject(parent)
{
    connect(&m_watcher, &QFutureWatcherBase::finished, this, [this] {
        if (*m_stopped || m_watcher.future().resultCount() == 0) {
            return;
        }
        if (const std::optional<qint64> line = m_watcher.result()) {
            emit found(*line);
        } else {
            emit notFound();
        }
    });
}

TextFinder::~TextFinder()
{
    m_watcher.disconnect(this);
    cancel();
    m_watcher.waitForFinished();
}

void TextFinder::cancel()
{
    if (m_stopped) {
        *m_stopped = true;
    }
}

void TextFinder::find(const TextFile& file, const TextQuery& query, qint64 line, bool backwards)
{
    cancel();
    m_stopped = std::make_shared<std::atomic_bool>(false);
    m_watcher.setFuture(
        QtConcurrent::run([stopped = m_stopped, index = file.index(), source = file.source(), query, line, backwards] {
            FileBytes bytes;
            return bytes.open(source) == 0 ? findLine(
                       bytes, *index, query, line, backwards, [&] { return !*stopped; },
                       [&] { return index->byteCount() >= bytes.size(); })
                                           : std::optional<qint64>();
        }));
}

} // namespace headroom
