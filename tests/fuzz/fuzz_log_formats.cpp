// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a file of log formats: no crash, every problem has a sentence, and what is accepted can be matched
// against text without hanging.
#include "runlog/line_format.h"

#include <cstdlib>
#include <string_view>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const FormatFile file = parseLineFormats(bytes, "fuzz.yaml");
    for (const Problem& problem : file.problems) {
        if (problem.english().empty()) {
            std::abort();
        }
    }
    PatternMatcher matcher;
    const std::string_view text = bytes.substr(0, 512);
    for (const FormatFile::Entry& entry : file.entries) {
        std::size_t from = 0;
        for (int matches = 0; matches < 16 && matcher.next(entry.format.pattern, text, from); ++matches) {
            for (const FieldMatch& match : matcher.found()) {
                static_cast<void>(fieldNumber(entry.format.pattern.fields()[match.field], match.text));
            }
        }
    }
    return 0;
}
