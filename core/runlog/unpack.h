// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// How the bytes of a file stand for text.
enum class Packing : std::uint8_t { Gzip, Zstd, Utf16LittleEndian, Utf16BigEndian };

/// What a file that begins like this is packed with; null for other contents.
[[nodiscard]] std::optional<Packing> packingOf(std::string_view head);

/// A file descriptor that closes itself.
class OpenFile
{
public:
    explicit OpenFile(int number)
        : m_number(number)
    {
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile();

    [[nodiscard]] int number() const { return m_number; }

private:
    int m_number;
};

/// Sizes that end the unpacking of what is no log but a bomb. Other values than these are for tests.
struct UnpackLimits
{
    std::int64_t bytes = std::int64_t{64} << 30;
    std::int64_t ratio = 400; ///< text is never packed tighter, …
    std::int64_t ratioFrom = std::int64_t{256} << 20; ///< … beyond this size
    std::function<bool()> keepGoing = {}; ///< asked after every mebibyte or so; false cancels
};

struct Unpacked
{
    std::shared_ptr<const OpenFile> file; ///< without a name, gone when closed
    std::int64_t size = 0;
    std::optional<Text> problem; ///< the rest could not be unpacked: a file that is damaged, cut off or too large
};

/// The text of a packed file, written to a file without a name in the temporary folder as it is unpacked, so that it
/// can be read in any order without holding it in memory. Fails when there is no place for it.
[[nodiscard]] Result<Unpacked> unpack(const std::string& name, Packing packing, const UnpackLimits& limits = {});

} // namespace headroom
