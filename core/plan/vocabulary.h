// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headroom {

enum class Phase : std::uint8_t { Forward, Backward, Optimizer };
inline constexpr int phaseCount = 3;

/// theory.md section 4.
enum class Schedule : std::uint8_t {
    GPipe,
    OneForwardOneBackward,
    Interleaved,
    ZbH1,
    ZbH2,
    ZbV,
    VHalf,
    VMin,
    DualPipe,
    DualPipeV
};

enum class Granularity : std::uint8_t { None, Selective, Full };

enum class DataType : std::uint8_t { None, Fp32, Bf16, Fp16, Fp8, Int8, Nf4, Int4 };

/// Components of a footprint in stacking order. Static state is the first three.
enum class Component : std::uint8_t {
    Parameters,
    Gradients,
    OptimizerState,
    Activations,
    InFlight,
    Logits,
    WorkingSet,
    Buffers,
    Context
};
inline constexpr int componentCount = 9;

/// The names files, JSON and the terminal use: "forward", "1f1b", "selective", "bf16", "optimizer_state".
[[nodiscard]] std::string_view nameOf(Phase phase);
[[nodiscard]] std::string_view nameOf(Schedule schedule);
[[nodiscard]] std::string_view nameOf(Granularity granularity);
[[nodiscard]] std::string_view nameOf(DataType type);
[[nodiscard]] std::string_view nameOf(Component component);

/// Of all values, in their order.
template <class E> [[nodiscard]] std::vector<std::string_view> namesOf()
{
    std::vector<std::string_view> names;
    for (int value = 0; !nameOf(static_cast<E>(value)).empty(); ++value) {
        names.push_back(nameOf(static_cast<E>(value)));
    }
    return names;
}

/// Null when the text is none of the names (or a known spelling of one: "torch.bfloat16", "float32", "1F1B").
template <class E> [[nodiscard]] std::optional<E> fromName(std::string_view text);
template <> std::optional<Phase> fromName<Phase>(std::string_view text);
template <> std::optional<Schedule> fromName<Schedule>(std::string_view text);
template <> std::optional<Granularity> fromName<Granularity>(std::string_view text);
template <> std::optional<DataType> fromName<DataType>(std::string_view text);

/// Bytes per element (theory.md 2.1): int8 moments carry one fp32 scale per block of 256, nf4 weights their
/// double-quantised constants, int4 weights (GPTQ, AWQ) a scale and a zero point per group of 128.
[[nodiscard]] double bytesPerElement(DataType type);
/// Weights of such a type are frozen and dequantised where they are used.
[[nodiscard]] constexpr bool isQuantised(DataType type)
{
    return type == DataType::Int8 || type == DataType::Nf4 || type == DataType::Int4;
}

} // namespace headroom
