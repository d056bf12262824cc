// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/text_encoding.h"

namespace headroom {

namespace {

/// Length of the UTF-8 character at the front, 0 when it is none (RFC 3629).
std::size_t utf8Length(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : '\0'); };
    const auto isTail = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return isTail(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        const bool isOverlong = first == 0xE0 && byte(1) < 0xA0;
        const bool isSurrogate = first == 0xED && byte(1) > 0x9F;
        return isTail(1) && isTail(2) && !isOverlong && !isSurrogate ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool isOutside = (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
        return isTail(1) && isTail(2) && isTail(3) && !isOutside ? 4 : 0;
    }
    return 0;
}

} // namespace

std::optional<Problem> encodingProblem(std::string_view bytes, const std::string& name)
{
    if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
        return failure(Text{HEADROOM_TR("core", "the file is UTF-16 text; save it as UTF-8")}, name).value();
    }
    std::int64_t line = 1;
    for (std::size_t at = 0; at < bytes.size();) {
        const char c = bytes[at];
        if ((c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f) {
            return failure(Text{HEADROOM_TR("core", "the file is binary, not text")}, name, line).value();
        }
        const std::size_t length = static_cast<unsigned char>(c) < 0x80 ? 1 : utf8Length(bytes.substr(at));
        if (length == 0) {
            return failure(Text{HEADROOM_TR("core", "the line is not valid UTF-8 text")}, name, line).value();
        }
        line += c == '\n' ? 1 : 0;
        at += length;
    }
    return std::nullopt;
}

} // namespace headroom
