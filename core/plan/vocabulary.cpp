// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/vocabulary.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace headroom {

namespace {

template <class E> struct Spelling
{
    std::string_view text;
    E value;
};

// The first spelling of a value is the one that is printed.
constexpr std::array<Spelling<Phase>, 4> phases{{
    {"forward", Phase::Forward},
    {"backward", Phase::Backward},
    {"optimizer", Phase::Optimizer},
    {"optimizer_step", Phase::Optimizer},
}};

constexpr std::array<Spelling<Schedule>, 17> schedules{{
    {"gpipe", Schedule::GPipe},
    {"1f1b", Schedule::OneForwardOneBackward},
    {"interleaved", Schedule::Interleaved},
    {"zb-h1", Schedule::ZbH1},
    {"zb-h2", Schedule::ZbH2},
    {"zb-v", Schedule::ZbV},
    {"v-half", Schedule::VHalf},
    {"v-min", Schedule::VMin},
    {"dualpipe", Schedule::DualPipe},
    {"dualpipev", Schedule::DualPipeV},
    {"interleaved1f1b", Schedule::Interleaved},
    {"interleaved-1f1b", Schedule::Interleaved},
    {"zbvzerobubble", Schedule::ZbV},
    {"afab", Schedule::GPipe},
    {"zbh1", Schedule::ZbH1},
    {"zbh2", Schedule::ZbH2},
    {"zbv", Schedule::ZbV},
}};

constexpr std::array<Spelling<Granularity>, 4> granularities{{
    {"none", Granularity::None},
    {"selective", Granularity::Selective},
    {"full", Granularity::Full},
    {"null", Granularity::None},
}};

constexpr std::array<Spelling<DataType>, 22> dataTypes{{
    {"none", DataType::None},
    {"fp32", DataType::Fp32},
    {"bf16", DataType::Bf16},
    {"fp16", DataType::Fp16},
    {"fp8", DataType::Fp8},
    {"int8", DataType::Int8},
    {"nf4", DataType::Nf4},
    {"int4", DataType::Int4},
    {"gptq", DataType::Int4},
    {"awq", DataType::Int4},
    {"float32", DataType::Fp32},
    {"float", DataType::Fp32},
    {"32", DataType::Fp32},
    {"bfloat16", DataType::Bf16},
    {"float16", DataType::Fp16},
    {"half", DataType::Fp16},
    {"float8", DataType::Fp8},
    {"torch.float32", DataType::Fp32},
    {"torch.bfloat16", DataType::Bf16},
    {"torch.float16", DataType::Fp16},
    {"8bit", DataType::Int8},
    {"uint8", DataType::Int8},
}};

constexpr std::array<std::string_view, componentCount> components{
    "parameters", "gradients",   "optimizer_state", "activations", "in_flight",
    "logits",     "working_set", "buffers",         "context",
};

template <class E, std::size_t n> std::string_view printed(const std::array<Spelling<E>, n>& table, E value)
{
    const auto found
        = std::find_if(table.begin(), table.end(), [value](const auto& row) { return row.value == value; });
    return found == table.end() ? std::string_view{} : found->text;
}

template <class E, std::size_t n> std::optional<E> read(const std::array<Spelling<E>, n>& table, std::string_view text)
{
    std::string lower(text);
    for (char& c : lower) {
        c = c == '_' && table[0].text != "forward" ? '-'
                                                   : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    const auto found
        = std::find_if(table.begin(), table.end(), [&lower](const auto& row) { return row.text == lower; });
    return found == table.end() ? std::nullopt : std::optional(found->value);
}

} // namespace

std::string_view nameOf(Phase phase)
{
    return printed(phases, phase);
}

std::string_view nameOf(Schedule schedule)
{
    return printed(schedules, schedule);
}

std::string_view nameOf(Granularity granularity)
{
    return printed(granularities, granularity);
}

std::string_view nameOf(DataType type)
{
    return printed(dataTypes, type);
}

std::string_view nameOf(Component component)
{
    return components[static_cast<std::size_t>(component)];
}

template <> std::optional<Phase> fromName<Phase>(std::string_view text)
{
    return read(phases, text);
}

template <> std::optional<Schedule> fromName<Schedule>(std::string_view text)
{
    return read(schedules, text);
}

template <> std::optional<Granularity> fromName<Granularity>(std::string_view text)
{
    return read(granularities, text);
}

template <> std::optional<DataType> fromName<DataType>(std::string_view text)
{
    return read(dataTypes, text);
}

double bytesPerElement(DataType type)
{
    switch (type) {
    case DataType::None:
        return 0.0;
    case DataType::Fp32:
        return 4.0;
    case DataType::Bf16:
    case DataType::Fp16:
        return 2.0;
    case DataType::Fp8:
        return 1.0;
    case DataType::Int8:
        return 1.0 + 4.0 / 256.0; // one fp32 scale per block of 256 (bitsandbytes optim/optimizer.py)
    case DataType::Nf4:
        return (4.0 + 8.0 / 64.0 + 32.0 / (64.0 * 256.0)) / 8.0; // QLoRA, arXiv:2305.14314 section 3
    case DataType::Int4:
        return (4.0 + (16.0 + 4.0) / 128.0) / 8.0; // GPTQ, arXiv:2210.17323, as packed by AutoGPTQ
    }
    return 0.0;
}

} // namespace headroom
