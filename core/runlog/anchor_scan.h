// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/line_format.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The anchors of all formats, compiled for Vectorscan. Shared by the threads.
class AnchorSet
{
public:
    /// The formats must outlive the set.
    explicit AnchorSet(const LineFormats& formats);

    [[nodiscard]] const LineFormats& formats() const { return m_formats; }
    /// The formats that have an anchor, as indices.
    [[nodiscard]] std::span<const std::uint16_t> formatsOf(std::size_t anchor) const
    {
        return m_anchors[anchor].formats;
    }
    [[nodiscard]] std::size_t lengthOf(std::size_t anchor) const { return m_anchors[anchor].text.size(); }
    /// The base format, where it is among them.
    [[nodiscard]] std::optional<std::uint16_t> plainFormat() const { return m_plainFormat; }
    /// The set of the built-in formats, compiled once.
    [[nodiscard]] static const AnchorSet& builtin();

private:
    friend class AnchorScan;
    struct Database;
    struct Anchor
    {
        std::string text;
        std::vector<std::uint16_t> formats;
    };

    const LineFormats& m_formats;
    std::vector<Anchor> m_anchors;
    std::optional<std::uint16_t> m_plainFormat;
    std::shared_ptr<const Database> m_database;
};

/// Where an anchor stands in a text.
struct AnchorHit
{
    std::uint32_t begin = 0;
    std::uint32_t anchor = 0;
};

/// Finds anchors; one for each thread.
class AnchorScan
{
public:
    explicit AnchorScan(const AnchorSet& anchors);
    ~AnchorScan();
    AnchorScan(const AnchorScan&) = delete;
    AnchorScan& operator=(const AnchorScan&) = delete;

    /// All anchors in the text (of less than 4 GiB), in the order of their ends. Valid until the next call.
    [[nodiscard]] const std::vector<AnchorHit>& scan(std::string_view text);

private:
    struct Scratch;

    const AnchorSet& m_anchors;
    std::unique_ptr<Scratch> m_scratch;
    std::vector<AnchorHit> m_hits;
};

} // namespace headroom
