// SPDX-License-Identifier: GPL-3.0-or-later
// A writer of event files of its own: the wire format of protocol buffers, framed as TFRecord.
#pragma once

#include "runlog/event_file.h"

#include <bit>
#include <cstdint>
#include <string>

namespace headroom::test {

inline std::string bytesOf(std::uint64_t value, std::size_t size)
{
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) {
        bytes += static_cast<char>(value >> (8 * i) & 0xff);
    }
    return bytes;
}

inline std::string framed(const std::string& data)
{
    const auto masked = [](const std::string& bytes) { return bytesOf(std::rotr(crc32c(bytes), 15) + 0xa282ead8U, 4); };
    const std::string length = bytesOf(data.size(), 8);
    return length + masked(length) + data + masked(data);
}

inline std::string scalarEvent(int step, const std::string& tag, float value)
{
    const std::string number = bytesOf(std::bit_cast<std::uint32_t>(value), 4);
    const std::string inner
        = "\x0a" + std::string(1, static_cast<char>(tag.size())) + tag + "\x15" + number; // tag = 1, simple_value = 2
    const std::string summary = "\x0a" + std::string(1, static_cast<char>(inner.size())) + inner; // value = 1
    return framed(std::string("\x09") + bytesOf(0, 8) + "\x10" + static_cast<char>(step) + "\x2a"
                  + static_cast<char>(summary.size()) + summary); // wall_time = 1, step = 2, summary = 5
}

} // namespace headroom::test
