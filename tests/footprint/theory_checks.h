// SPDX-License-Identifier: GPL-3.0-or-later
//
// The worked numbers of theory.md that no other test program holds, by the first three letters of their ids.
#pragma once

#include "footprint/plans.h"
#include "footprint/programs.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headroom::test {

using Json = nlohmann::json;
/// Compares a case's inputs and expected figures; reports through QTest, so it returns nothing.
using TheoryCheck = void (*)(const Json& inputs, const Json& expected);
using TheoryChecks = std::map<std::string, TheoryCheck>;

[[nodiscard]] const TheoryChecks& stateChecks(); ///< vocabulary, stages, bytes per parameter, sharding
[[nodiscard]] const TheoryChecks& tapeChecks(); ///< what layers and heads keep and make
[[nodiscard]] const TheoryChecks& stepChecks(); ///< phases, the optimizer's step, what is beside the tensors, time
[[nodiscard]] const TheoryChecks& activationChecks(); ///< what is alive at the peaks of measured runs: k

// What they share.
[[nodiscard]] TrainingPlan llama(FieldTexts own); ///< Llama-3-8B with Transformer Engine
[[nodiscard]] const Tape& lastTape(const ModelProgram& program);
[[nodiscard]] double perParameter(const TrainingPlan& plan); ///< bytes of state on one rank

using Events = std::vector<Tape::Event>;
[[nodiscard]] std::int64_t bytesOf(const Events& events, TensorKind kind); ///< that are allocated
[[nodiscard]] std::int64_t bytesOf(const Events& events); ///< of all kinds
[[nodiscard]] bool allocates(const Events& events, std::int64_t bytes);
/// Most bytes of the logits, what is made of them and their gradients that are alive at once.
[[nodiscard]] std::int64_t logitsPeak(const Tape& tape, const Events& events, std::int64_t before);
[[nodiscard]] std::int64_t logitsSaved(const Tape& tape);

} // namespace headroom::test
