// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a TensorBoard event file: no crash, and every record's columns hold. Checksums would keep the fuzzer out
// of the messages, so each input is read twice: as it is, and as the data of one event with right checksums.
#include "runlog/event_file.h"
#include "runlog/log_files.h"
#include "runlog/run_assembler.h"

#include <bit>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace headroom;

namespace {

void require(bool holds)
{
    if (!holds) {
        std::abort();
    }
}

void read(std::string_view bytes)
{
    TextBytes source(bytes);
    const LineFormats& formats = LineFormats::builtin();
    RunAssembler assembler(formats);
    assembler.beginFile("fuzz", static_cast<std::int64_t>(bytes.size()));
    assembler.add(readEventFile(source, static_cast<std::int64_t>(bytes.size()), formats, 10));
    const Run run = assembler.take();
    require(run.phase.size() == run.size() && run.rank.size() == run.size() && run.line.size() == run.size());
    for (std::size_t i = 0; i < run.size(); ++i) {
        require(run.record(i).allocated.value >= 0 && run.record(i).allocated.value <= (std::int64_t{1} << 50));
    }
}

std::string little(std::uint64_t value, std::size_t size)
{
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) {
        bytes += static_cast<char>(value >> (8 * i) & 0xffU);
    }
    return bytes;
}

std::string framed(std::string_view data)
{
    const auto masked = [](std::string_view bytes) { return little(std::rotr(crc32c(bytes), 15) + 0xa282ead8U, 4); };
    const std::string length = little(data.size(), 8);
    return length + masked(length) + std::string(data) + masked(data);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    read(bytes);
    read(framed(bytes) + framed(bytes));
    return 0;
}
