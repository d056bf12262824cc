// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/shape.h"
#include "footprint/theory_checks.h"

#include <QtTest>

namespace headroom::test {

namespace {

/// Mixtral's layer on two ranks. The file's sum predates what theory_moe_cp.md found: the scores are kept as logits in
/// 16 bits, in fp32 and as the map, and beside the permutation stand its indices. What A12 names is met.
void expertCapacity(const Json& in, const Json& out)
{
    const ModelProgram program = programOf(llama({{"batch.seq", "4096"},
                                                  {"model.vocab", "32000"},
                                                  {"moe.experts", "8"},
                                                  {"moe.topk", "2"},
                                                  {"moe.ffn", "14336"},
                                                  {"moe.capacity_factor", in.at("capacity_factor").dump()},
                                                  {"moe.pad_to_capacity", "true"},
                                                  {"moe.grouped_gemm", "true"},
                                                  {"moe.dispatcher", "alltoall"},
                                                  {"moe.router_dtype", "fp32"},
                                                  {"parallel.tp", "2"},
                                                  {"parallel.sp", "true"},
                                                  {"parallel.ep", "2"},
                                                  {"parallel.etp", "1"}}));
    const auto& runs = program.stages.front().chunks.front().runs;
    const Events& saved = program.pieces[runs[1].piece].tape.saved;
    constexpr std::int64_t tokens = 2048, hidden = 4096, experts = 8;
    const std::int64_t rows = experts * out.at("capacity").get<std::int64_t>();
    using enum TensorKind;
    QCOMPARE(bytesOf(saved, SortedTokens), rows * hidden * 2);
    QVERIFY(allocates(saved, tokens * experts * 4)); // fp32 scores
    QVERIFY(allocates(saved, tokens * experts)); // map
    std::int64_t sum = tokens * experts * (4 + 1) + bytesOf(saved, NormOutput) / 2; // the other norm is attention's
    for (const TensorKind kind : {ResidualStream, SortedTokens, Fc1Output, ActivationOutput, RoutedProbabilities}) {
        sum += bytesOf(saved, kind);
    }
    QCOMPARE(sum, out.at("bytes_moe").get<std::int64_t>());
}

void outputHead(const Json& in, const Json& out)
{
    const auto headOf = [&](FieldTexts own, const TrainingPlan& base) {
        return lastTape(programOf(
            planOf(own, planOf({{"batch.seq", in.at("T").dump()}, {"model.vocab", in.at("V").dump()}}, base))));
    };
    const auto compare = [&](std::int64_t bytes, const char* key) { QCOMPARE(bytes, out.at(key).get<std::int64_t>()); };
    const auto forwardPeak = [](const Tape& tape) { return logitsPeak(tape, tape.forward, 0); };
    const auto backwardPeak = [](const Tape& tape) { return logitsPeak(tape, tape.backward, logitsSaved(tape)); };

    const Tape unfused = headOf({{"implementation.fused_loss", "none"}}, llama({}));
    compare(forwardPeak(unfused), "megatron_forward_peak");
    compare(logitsSaved(unfused), "megatron_saved");
    const Tape fused = headOf({{"implementation.fused_loss", "te"}}, llama({}));
    compare(logitsSaved(fused), "te_fused_2026_saved");
    const Tape inPlace = headOf({{"implementation.fused_loss", "te-inplace"}}, llama({}));
    compare(logitsSaved(inPlace), "te_fused_older_inplace_saved");

    const TrainingPlan transformers
        = planOf({{"implementation.profile", "hf-sdpa"}, {"precision.params", "bf16"}}, llama3Of8B());
    const Tape upcast = headOf({}, transformers);
    compare(logitsSaved(upcast), "hf_float_saved");
    compare(forwardPeak(upcast), "hf_float_forward_peak");
    const Tape returned = headOf({{"implementation.keeps_logits", "true"}}, transformers);
    compare(logitsSaved(returned), "hf_saved_plus_returned_logits");
    compare(backwardPeak(returned), "hf_float_backward_peak");
    const FieldTexts sixteen{{"implementation.fused_loss", "16bit"}};
    compare(logitsSaved(headOf(sixteen, transformers)), "hf_no_upcast_bf16_saved");
    const Tape returnedSixteen = headOf(sixteen, planOf({{"implementation.keeps_logits", "true"}}, transformers));
    compare(backwardPeak(returnedSixteen), "hf_no_upcast_backward_peak");
}

/// The chunk is what one piece of the work holds: its logits in 16 bits, and their fp32 copy.
void chunkedHead(const Json& in, const Json& out)
{
    const std::int64_t tokens = in.at("BT"), hidden = in.at("H"), vocab = in.at("V");
    const Tape head = lastTape(programOf(planOf({{"implementation.profile", "hf-sdpa"},
                                                 {"implementation.fused_loss", "liger"},
                                                 {"precision.params", "bf16"},
                                                 {"batch.seq", std::to_string(tokens)}},
                                                llama3Of8B())));
    const std::int64_t logits = bytesOf(head.forward, TensorKind::PartialOutput) / 3;
    QCOMPARE(logits, out.at("chunk_logits_bf16_bytes").get<std::int64_t>());
    QCOMPARE(logits / vocab / 2, out.at("chunk_size").get<std::int64_t>());
    QCOMPARE(tokens / (logits / vocab / 2), out.at("num_chunks").get<std::int64_t>());
    QCOMPARE((vocab + hidden - 1) / hidden, out.at("inc_factor").get<std::int64_t>());
    QCOMPARE(bytesOf(head.saved, TensorKind::HeadStates), out.at("grad_input_bytes").get<std::int64_t>());
    QCOMPARE(bytesOf(head.saved, TensorKind::WeightGradient), out.at("grad_weight_bf16_bytes").get<std::int64_t>());
}

void boundaryTensors(const Json& in, const Json& out)
{
    const auto unit = [&](test::FieldTexts own) {
        const TrainingPlan plan = planOf(
            {{"batch.seq", in.at("s").dump()}, {"batch.micro", in.at("b").dump()}, {"model.hidden", in.at("h").dump()}},
            llama(own));
        return programOf(plan).shape.boundaryBytes();
    };
    QCOMPARE(unit({}), out.at("plain").get<std::int64_t>());
    QCOMPARE(unit({{"parallel.tp", "4"}, {"parallel.sp", "true"}}), out.at("sp_tp4").get<std::int64_t>());
    QCOMPARE(unit({{"parallel.cp", "2"}}), out.at("cp2").get<std::int64_t>());
}

void layerTransients(const Json& in, const Json& out)
{
    const auto backwardOf = [&](FieldTexts own) {
        const ModelProgram program = programOf(planOf(own, llama({{"batch.seq", in.at("T").dump()}})));
        return program.pieces[program.stages.front().chunks.front().runs[1].piece].tape.backward;
    };
    const Events second = backwardOf({{"attention.impl", "flash"}, {"implementation.grad_accum_fusion", "false"}});
    const Events third = backwardOf({{"attention.impl", "flash_attention_3"}});
    const std::int64_t tokens = in.at("T"), h = in.at("h"), f = in.at("f"), a = in.at("a"), g = in.at("g"),
                       d = in.at("d");
    // The gradients that stand together while the MLP's activation runs backward, its own input freed.
    const std::int64_t stream = 2 * tokens * h, wide = 2 * tokens * 2 * f;
    QVERIFY(allocates(second, 2 * tokens * f) && allocates(second, wide));
    QCOMPARE(stream + wide, out.at("mlp").get<std::int64_t>());
    const auto largest = std::max_element(second.begin(), second.end(), [](const auto& x, const auto& y) {
        const auto bytes
            = [](const Tape::Event& event) { return event.kind == TensorKind::WeightGradient ? event.bytes : 0; };
        return bytes(x) < bytes(y);
    });
    QCOMPARE(largest->bytes, out.at("mlp_wgrad_tmp_unfused").get<std::int64_t>());
    // Beside the gradients of the context and of q, k and v.
    const std::int64_t gradients = stream + 2 * tokens * (a + 2 * g) * d;
    QCOMPARE(gradients + bytesOf(second, TensorKind::AttentionWorkspace), out.at("attn_fa2").get<std::int64_t>());
    QCOMPARE(gradients + bytesOf(third, TensorKind::AttentionWorkspace), out.at("attn_fa3").get<std::int64_t>());
}

} // namespace

const TheoryChecks& tapeChecks()
{
    static const TheoryChecks all{
        {"A12", expertCapacity},  {"A14", outputHead},      {"A15", chunkedHead},
        {"I06", boundaryTensors}, {"T04", layerTransients},
    };
    return all;
}

} // namespace headroom::test
