// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/out_of_memory.h"

#include "units/number.h"

#include <algorithm>
#include <array>

namespace headroom {
namespace {

/// PyTorch prints 17179869184.00 GiB where there is no limit or the driver gives no figure.
constexpr double noFigure = 9e15;
constexpr double mostDevices = 1024; ///< of one machine
/// Context and communication buffers of one process; what is beyond that needs another explanation.
constexpr std::int64_t usualOverhead = std::int64_t{2} << 30;
/// What an allocator always holds in pieces: a full device with less than a 32nd of it unused is not fragmented.
constexpr std::int64_t unavoidableShare = 32;
constexpr std::int64_t segment = std::int64_t{2} << 20;

std::optional<Bytes> bytesOf(const LogFact& fact, std::string_view field)
{
    const std::optional<double> value = fact.number(field);
    return value && *value >= 0 && *value < noFigure ? std::optional(Bytes{static_cast<std::int64_t>(*value)})
                                                     : std::nullopt;
}

void keep(std::optional<Bytes>& target, std::optional<Bytes> value)
{
    target = target ? target : value;
}

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// What a frame of the traceback was doing. Frames of the backward pass are above those of the forward they recompute.
std::optional<Phase> phaseOf(std::string_view path, std::string_view function)
{
    if (contains(function, "backward") || contains(path, "autograd")) {
        return Phase::Backward;
    }
    if (contains(path, "optim") && (function == "step" || contains(function, "adam") || contains(function, "Adam"))) {
        return Phase::Optimizer;
    }
    if (function == "forward" || function == "_call_impl") {
        return Phase::Forward;
    }
    return std::nullopt;
}

class Messages
{
public:
    void add(const LogFact& fact)
    {
        if (fact.format == "oom.frame") {
            addFrame(fact);
            return;
        }
        if (fact.format == "oom.other_process") {
            addProcess(fact);
            return;
        }
        OutOfMemory& oom = messageAt(fact);
        oom.backend = oom.backend.empty() ? std::string(fact.text("backend")) : oom.backend;
        if (oom.message.empty()) {
            oom.message = fact.text("what");
        }
        const std::optional<double> device = fact.number("device_index");
        if (device && *device >= 0 && *device <= mostDevices) {
            oom.device = static_cast<std::int64_t>(*device);
        }
        keep(oom.requested, bytesOf(fact, "oom_request_bytes"));
        keep(oom.capacity, bytesOf(fact, "capacity_bytes"));
        keep(oom.free, bytesOf(fact, "device_free_bytes"));
        keep(oom.allocated, bytesOf(fact, "alloc_bytes"));
        keep(oom.limit, bytesOf(fact, "limit_bytes"));
        keep(oom.process, bytesOf(fact, "process_used_bytes"));
        keep(oom.otherProcesses, bytesOf(fact, "other_bytes"));
        keep(oom.privatePools, bytesOf(fact, "private_pool_bytes"));
        // "cached" of PyTorch 1.0 to 1.3 is what is reserved beyond the allocated.
        const bool isBeyond = fact.find("cached") != nullptr;
        const std::optional<Bytes> beyond = bytesOf(fact, isBeyond ? "reserved_bytes" : "reserved_unallocated_bytes");
        if (beyond && oom.allocated) {
            oom.reserved = *oom.allocated + *beyond;
        } else {
            keep(oom.reserved, bytesOf(fact, "reserved_bytes"));
        }
        if (oom.process && oom.capacity && *oom.capacity < *oom.process) {
            oom.process.reset(); // Windows reports nonsense
        }
    }

    /// In a container the driver lists processes by the host's numbers, so PyTorch does not find its own among them and
    /// names it like the others: it is the one that must hold what the allocator reserved.
    void tellOwnProcess()
    {
        for (std::size_t i = 0; i < list.size(); ++i) {
            OutOfMemory& oom = list[i];
            const auto own = std::ranges::max_element(m_processes[i]);
            if (own == m_processes[i].end() || oom.process || !oom.reserved || !oom.capacity || *own < *oom.reserved
                || *oom.capacity - *oom.otherProcesses - oom.free.value_or(Bytes{}) >= *oom.reserved) {
                continue;
            }
            oom.process = *own;
            const Bytes rest = *oom.otherProcesses - *own;
            oom.otherProcesses = m_processes[i].size() > 1 ? std::optional(rest) : std::nullopt;
        }
    }

    std::vector<OutOfMemory> list;

private:
    std::vector<std::vector<Bytes>> m_processes; ///< of each message: those it names by number

    OutOfMemory& messageAt(const LogFact& fact)
    {
        if (list.empty() || list.back().line != fact.line || list.back().file != fact.file) {
            OutOfMemory& added = list.emplace_back();
            m_processes.emplace_back();
            added.file = fact.file;
            added.line = fact.line;
            added.rank = fact.rank;
        }
        return list.back();
    }

    /// Frames stand above the message but are known after it, since its line is found first.
    void addFrame(const LogFact& fact)
    {
        const std::optional<Phase> phase = phaseOf(fact.text("path"), fact.text("function"));
        const bool isAbove = !list.empty() && list.back().file == fact.file && fact.line < list.back().line;
        if (!phase || !isAbove) {
            return;
        }
        std::optional<Phase>& known = list.back().phase;
        known = !known || *known == Phase::Forward ? phase : known;
    }

    /// Processes are named within the sentence, which may go on over some lines.
    void addProcess(const LogFact& fact)
    {
        constexpr std::int64_t longestMessage = 10;
        const std::optional<Bytes> used = bytesOf(fact, "other_process_bytes");
        if (used && !list.empty() && list.back().file == fact.file && fact.line - list.back().line < longestMessage) {
            list.back().otherProcesses = list.back().otherProcesses.value_or(Bytes{}) + *used;
            m_processes.back().push_back(*used);
        }
    }
};

bool isOfHost(std::string_view message)
{
    return contains(message, "oom") || contains(message, "Killed") || contains(message, "exitcode")
        || contains(message, "SIGKILL") || contains(message, "DefaultCPUAllocator");
}

void judgeSizes(OutOfMemory& oom)
{
    const Bytes requested = *oom.requested;
    const Bytes reserved = oom.reserved.value_or(*oom.allocated);
    const Bytes unused = reserved - *oom.allocated;
    const Bytes outside = oom.capacity ? *oom.capacity - reserved - oom.free.value_or(Bytes{}) : Bytes{};
    const auto text = [](Bytes bytes) { return formatBytes(bytes); };
    if (oom.limit && oom.capacity && *oom.limit < *oom.capacity && oom.free && requested <= *oom.free) {
        oom.cause = OutOfMemoryCause::Limit;
        oom.meaning = Text{HEADROOM_TR("core",
                                       "%1 were asked for and %2 are free, but the process may take %3 only: a "
                                       "memory fraction is set."),
                           {text(requested), text(*oom.free), text(*oom.limit)}};
    } else if (requested <= unused && unused.value >= (oom.capacity ? oom.capacity->value / unavoidableShare : 0)) {
        oom.cause = OutOfMemoryCause::Fragmentation;
        oom.meaning = Text{HEADROOM_TR("core",
                                       "%1 were asked for while the allocator held %2 that no tensor used, in "
                                       "pieces too small: fragmentation. Try expandable_segments:True."),
                           {text(requested), text(unused)}};
    } else if (outside.value > usualOverhead && requested <= outside) {
        oom.cause = OutOfMemoryCause::OutsideAllocator;
        oom.meaning = Text{HEADROOM_TR("core",
                                       "%1 of the device are held outside PyTorch's allocator: other processes, "
                                       "the context or communication. %2 were asked for."),
                           {text(outside), text(requested)}};
    } else if (oom.capacity && requested.value >= oom.capacity->value / 4) {
        oom.cause = OutOfMemoryCause::GiantBlock;
        oom.meaning = Text{HEADROOM_TR("core",
                                       "A single block of %1 was asked for, a quarter of the device or more: one "
                                       "tensor is the problem, not their sum."),
                           {text(requested)}};
    } else {
        oom.cause = OutOfMemoryCause::Shortage;
        oom.meaning = requested <= unused
            ? Text{HEADROOM_TR("core",
                               "%1 were asked for on top of %2 in tensors: the device is full. The %3 that the "
                               "allocator holds besides are in pieces too small."),
                   {text(requested), text(*oom.allocated), text(unused)}}
            : Text{HEADROOM_TR("core", "%1 were asked for on top of %2 in tensors: the device is full."),
                   {text(requested), text(*oom.allocated)}};
    }
}

void judge(OutOfMemory& oom)
{
    if (oom.requested && oom.allocated) {
        judgeSizes(oom);
    } else if (isOfHost(oom.message)) {
        oom.cause = OutOfMemoryCause::Host;
        oom.meaning = Text{HEADROOM_TR("core",
                                       "The machine's own memory is suspected, not the GPU's: the process was "
                                       "killed (%1)."),
                           {oom.message}};
    } else if (oom.requested) {
        oom.meaning = Text{HEADROOM_TR("core",
                                       "%1 were asked for. The message does not say how much was allocated, so the "
                                       "cause stays open."),
                           {formatBytes(*oom.requested)}};
    } else {
        oom.meaning = Text{HEADROOM_TR("core", "The message has no sizes, so the cause stays open.")};
    }
}

} // namespace

std::vector<OutOfMemory> outOfMemoryOf(const Run& run)
{
    Messages messages;
    for (const LogFact& fact : run.facts) {
        if (fact.kind == LineKind::OutOfMemory) {
            messages.add(fact);
        }
    }
    messages.tellOwnProcess();
    for (OutOfMemory& oom : messages.list) {
        judge(oom);
    }
    return std::move(messages.list);
}

std::vector<Text> buffersOfSize(Bytes requested, const std::vector<LogParameters>& parameters)
{
    // Buckets end at multiples of what the ranks share, so a buffer is a little larger than its parameters.
    constexpr double padding = 0.0005;
    std::vector<Text> result;
    for (const LogParameters& one : parameters) {
        for (const int width : {4, 2}) {
            const double bytes = static_cast<double>(one.count) * width;
            const auto asked = static_cast<double>(requested.value);
            const bool isOf = bytes >= 0x1p20 && asked > bytes - static_cast<double>(segment) / 2
                && asked < bytes * (1 + padding) + static_cast<double>(segment);
            const Text text{
                width == 4 ? HEADROOM_TR("core", "a gradient buffer in 32 bits of the %1 parameters the log names")
                           : HEADROOM_TR("core", "a gradient buffer in 16 bits of the %1 parameters the log names"),
                {formatCount(one.count)}};
            if (isOf && std::ranges::find(result, text) == result.end()) {
                result.push_back(text);
            }
        }
    }
    return result;
}

std::vector<Text> blocksOfSize(Bytes requested, const TrainingPlan& plan)
{
    const double tensor = static_cast<double>(std::max<std::int64_t>(1, plan.parallel.tp.value));
    const double tokens = static_cast<double>(plan.batch.micro.value) * static_cast<double>(plan.batch.seq.value);
    const double vocabulary = static_cast<double>(std::max(plan.model.vocab.value, plan.model.paddedVocab.value));
    const double logits = tokens * vocabulary / tensor;
    const double scores
        = tokens * static_cast<double>(plan.batch.seq.value) * static_cast<double>(plan.model.heads.value) / tensor;
    struct Candidate
    {
        const char* what;
        double bytes;
    };
    const std::array<Candidate, 4> candidates{
        {{HEADROOM_TR("core", "the logits in 16 bits (micro-batch × sequence × vocabulary)"), logits * 2},
         {HEADROOM_TR("core", "the logits in 32 bits (micro-batch × sequence × vocabulary)"), logits * 4},
         {HEADROOM_TR("core", "the attention scores in 16 bits (micro-batch × heads × sequence²)"), scores * 2},
         {HEADROOM_TR("core", "the attention scores in 32 bits (micro-batch × heads × sequence²)"), scores * 4}}};
    std::vector<Text> result;
    for (const Candidate& candidate : candidates) {
        if (!(candidate.bytes >= 1) || candidate.bytes > noFigure) {
            continue;
        }
        const auto exact = static_cast<std::int64_t>(candidate.bytes);
        const std::int64_t rounded = (exact + segment - 1) / segment * segment;
        // The message has two decimals of MiB or GiB.
        const std::int64_t tolerance = requested.value >= (std::int64_t{1} << 30) ? 5368710 : 5243;
        if (std::abs(rounded - requested.value) <= tolerance) {
            result.emplace_back(candidate.what);
        }
    }
    return result;
}

} // namespace headroom
