// SPDX-License-Identifier: GPL-3.0-or-later
// Megatron's mixture-of-experts layer (transformer/moe; theory_moe_cp.md section 4).
#include "footprint/megatron/blocks.h"

namespace headroom {

using enum TensorKind;

MegatronModules::Tensor MegatronExperts::branch(const Tensor& input)
{
    const auto mixing = [this](const Tensors& normed) { return Tensors{mixture(normed.front())}; };
    if (!m_shape.experts.recomputesLayer) {
        return behindNorm(input, mixing);
    }
    return behindNorm(input,
                      [this, mixing](const Tensors& normed) { return Tensors{recorder.checkpoint(mixing, normed)}; });
}

MegatronModules::Tensor MegatronExperts::mixture(const Tensor& normed)
{
    const std::int64_t local = m_shape.localTokens();
    Tensor shared;
    if (m_shape.experts.sharedFfn > 0) {
        const auto sharing
            = [this](const Tensors& inputs) { return Tensors{mlp(inputs.front(), m_shape.experts.sharedFfn)}; };
        shared = m_shape.experts.recomputesShared ? recorder.checkpoint(sharing, {normed}) : sharing({normed}).front();
        if (m_shape.hybrid.hasSharedGate) { // transformer/moe/shared_experts.py: a sigmoid of one value a token
            const Storage score = recorder.allocate(RouterScores, local * m_shape.element);
            shared = recorder.run({shared}, PartialOutput, shared.bytes, {shared.storage, score});
        }
    }
    const Routing routing = route(normed);
    const bool hasLatent = m_shape.experts.latent > 0;
    const Tensor tokens
        = hasLatent ? replicated(normed, {local, m_shape.hidden, m_shape.experts.latent, ExpertLatent}) : normed;
    using Dispatcher = ExpertShape::Dispatcher;
    const Dispatcher dispatcher = m_shape.experts.dispatcher;
    Tensor result = dispatcher == Dispatcher::AllGather ? dispatchGathered(tokens, routing)
        : dispatcher == Dispatcher::AllToAll            ? dispatchExchanged(tokens, routing)
                                                        : dispatchFused(tokens, routing);
    if (hasLatent) {
        result = replicated(result, {local, m_shape.experts.latent, m_shape.hidden, ExpertLatent});
    }
    if (m_shape.experts.sharedFfn > 0) {
        result = recorder.run({result, shared}, PartialOutput, result.bytes, {}, TapeRecorder::passed(2));
    }
    return result;
}

/// moe/moe_utils.py, topk_routing_with_score_function: scores are fp32 whatever the logits are.
MegatronExperts::Routing MegatronExperts::route(const Tensor& normed)
{
    const std::int64_t scores = m_shape.localTokens() * m_shape.experts.count,
                       chosen = m_shape.localTokens() * m_shape.experts.topk;
    // Transformer Engine's product, in the local layers too (RouterGatingLinearFunction).
    m_ops.writer.ensure(GemmKey, GemmWorkspace, m_shape.gemmWorkspace);
    if (m_shape.experts.overlapsCommunication) {
        m_ops.writer.ensure(OverlapCublasKey, CublasWorkspace, m_shape.cublasWorkspace); // of the stream beside
    }
    Tensor logits = recorder.run({normed}, RouterScores, m_shape.experts.probability * scores, {normed.storage});
    Tensor weights = recorder.runKeepingOutput({logits}, RouterScores, 4 * scores);
    Routing routing;
    routing.indices = recorder.allocate(RouterScores, 8 * chosen);
    Tensor top = recorder.runKeepingOutput({weights}, RouterScores, 4 * chosen, {routing.indices});
    routing.probabilities = recorder.run({top}, RouterScores, m_shape.experts.probability * scores, {routing.indices});
    routing.map = recorder.allocate(RoutingMap, scores);
    return routing;
}

/// Every rank of the expert group gathers all tokens and keeps those of its experts.
MegatronModules::Tensor MegatronExperts::dispatchGathered(const Tensor& tokens, const Routing& routing)
{
    const ExpertShape& e = m_shape.experts;
    const std::int64_t group = e.tensor * e.ranks;
    const std::int64_t all = m_shape.localTokens() * group, rows = e.rows(m_shape.localTokens());
    const std::int64_t rowBytes = width() * m_shape.element;
    Storage map = routing.map;
    Tensor probabilities = routing.probabilities, gathered = tokens;
    if (group > 1) {
        map = recorder.allocate(RoutingMap, all * e.count);
        probabilities = recorder.run({probabilities}, RoutedProbabilities, e.probability * all * e.count);
        m_ops.growGlobalBuffer(all * rowBytes);
        gathered = recorder.runIntoBuffer({tokens}, all * rowBytes);
    }
    const Storage localMap = recorder.allocate(RoutingMap, all * e.local);
    Tensor localProbabilities = recorder.run({probabilities}, RoutedProbabilities, e.probability * all * e.local);
    const Storage indices = recorder.allocate(SortIndex, 8 * rows);
    Tensor permuted = recorder.run({gathered}, PermutedTokens, rows * rowBytes, {indices});
    Tensor weights = recorder.run({localProbabilities}, RoutedProbabilities, e.probability * rows, {localMap});
    localProbabilities = probabilities = {};
    Tensor output = experts(permuted, weights, rows);
    permuted = weights = {};
    Tensor result = recorder.run({output}, UnsortedTokens, all * rowBytes, {indices, keptOutput(output)});
    output = {};
    if (group == 1) {
        return result;
    }
    if (e.probability > m_shape.element) {
        result = recorder.run({result}, UnsortedTokens, all * width() * 4);
        result = recorder.run({result}, ReturnedTokens, m_shape.localTokens() * width() * 4);
    }
    return recorder.run({result}, ReturnedTokens, m_shape.localTokens() * rowBytes);
}

/// Permuted and dispatched tokens are variables of the layer's forward and stay until it returns.
MegatronModules::Tensor MegatronExperts::dispatchExchanged(const Tensor& tokens, const Routing& routing)
{
    const ExpertShape& e = m_shape.experts;
    const std::int64_t local = m_shape.localTokens();
    const std::int64_t rows = e.rows(local);
    const std::int64_t exchangedRows = rows / e.tensor; // before the gather over expert tensor parallelism
    const std::int64_t sentRows = e.padsToCapacity ? exchangedRows : local * e.topk;
    const std::int64_t rowBytes = width() * m_shape.element;
    const Storage map = recorder.allocate(SortIndex, e.fusesPermutation ? 4 * local * (2 * e.count + 1) : 8 * sentRows);
    const Tensor permuted = recorder.run({tokens}, PermutedTokens, sentRows * rowBytes, {map});
    const Storage probabilityMap = e.fusesPermutation ? map : recorder.allocate(SortIndex, 8 * sentRows);
    const Tensor sentProbabilities
        = recorder.run({routing.probabilities}, RoutedProbabilities, e.probability * sentRows, {probabilityMap});
    Tensor dispatched = permuted, probabilities = sentProbabilities;
    if (e.ranks > 1) {
        dispatched = recorder.run({permuted}, DispatchedTokens, exchangedRows * rowBytes);
        probabilities = recorder.run({sentProbabilities}, RoutedProbabilities, e.probability * exchangedRows);
    }
    Tensor inputs = dispatched;
    if (e.tensor > 1) {
        inputs = recorder.run({inputs}, DispatchedTokens, rows * rowBytes);
        probabilities = recorder.run({probabilities}, RoutedProbabilities, e.probability * rows);
    }
    if (e.local > 1) {
        inputs = recorder.run({inputs}, SortedTokens, rows * rowBytes);
        probabilities = recorder.run({probabilities}, RoutedProbabilities, e.probability * rows);
    }
    Tensor output = experts(inputs, probabilities, rows);
    inputs = probabilities = {};
    Tensor result = combineExchanged(std::move(output), rows, exchangedRows);
    if (e.ranks > 1) {
        result = recorder.run({result}, ReturnedTokens, sentRows * rowBytes);
    }
    return recorder.run({result}, PartialOutput, local * rowBytes, {map, keptOutput(result)});
}

/// DeepEP sends each token to a rank once, where it is copied for its experts; HybridEP does that within the exchange
/// (transformer/moe/fused_a2a.py). Neither has a copy of the tokens in front of it; probabilities are fp32.
MegatronModules::Tensor MegatronExperts::dispatchFused(const Tensor& tokens, const Routing& routing)
{
    const ExpertShape& e = m_shape.experts;
    const std::int64_t local = m_shape.localTokens(), rows = e.rows(local), rowBytes = width() * m_shape.element;
    const bool sorts = e.dispatcher == ExpertShape::Dispatcher::DeepEp;
    const std::int64_t received = sorts ? e.received(local) : rows, choices = sorts ? received * e.local : rows;
    const Storage handle = recorder.allocate(SortIndex, 4 * (local * e.ranks * e.tensor + received));
    const Tensor dispatched = recorder.run({tokens}, DispatchedTokens, received * rowBytes, {handle});
    Tensor probabilities = recorder.run({routing.probabilities}, RoutedProbabilities, 4 * choices, {handle});
    Tensor inputs = dispatched;
    Storage map;
    if (sorts) {
        map = recorder.allocate(SortIndex, e.fusesPermutation ? 4 * received * (2 * e.local + 1) : 16 * rows);
        inputs = recorder.run({inputs}, SortedTokens, rows * rowBytes, {map});
        probabilities = recorder.run({probabilities}, RoutedProbabilities, 4 * rows, {map});
    }
    Tensor output = experts(inputs, probabilities, rows);
    inputs = probabilities = {};
    Tensor result = output;
    if (sorts) {
        result = recorder.run({result}, UnsortedTokens, received * rowBytes, {map, keptOutput(output)});
    }
    output = {};
    return recorder.run({result}, ReturnedTokens, local * rowBytes, {handle});
}

MegatronModules::Storage MegatronExperts::keptOutput(const Tensor& rows) const
{
    return m_shape.experts.keepsOutput ? rows.storage : Storage{};
}

MegatronModules::Tensor MegatronExperts::combineExchanged(Tensor output, std::int64_t rows, std::int64_t exchangedRows)
{
    const ExpertShape& e = m_shape.experts;
    Tensor result = output; // `output` is still a variable until the rows are back in order
    if (e.local > 1) {
        result = recorder.run({result}, UnsortedTokens, rows * width() * m_shape.element);
    }
    if (e.tensor > 1 && e.probability > m_shape.element) {
        result = recorder.run({result}, UnsortedTokens, rows * width() * 4);
        result = recorder.run({result}, UnsortedTokens, exchangedRows * width() * 4);
        result = recorder.run({result}, UnsortedTokens, exchangedRows * width() * m_shape.element);
    } else if (e.tensor > 1) {
        result = recorder.run({result}, UnsortedTokens, exchangedRows * width() * m_shape.element);
    }
    return result;
}

/// One call for all local experts (TEGroupedMLP), or one after the other and joined (SequentialMLP).
MegatronModules::Tensor MegatronExperts::experts(const Tensor& tokens, const Tensor& probabilities, std::int64_t rows)
{
    const std::int64_t local = m_shape.experts.local;
    if (m_shape.experts.isGrouped || local == 1) {
        return expertGroup(tokens, probabilities, rows, local);
    }
    Tensors outputs;
    const std::int64_t each = rows / local;
    for (std::int64_t i = 0; i < local; ++i) {
        // Their inputs are views of one tensor.
        outputs.push_back(expertGroup(tokens, probabilities, each, 1));
    }
    return recorder.run(outputs, ExpertOutput, rows * width() * m_shape.element);
}

MegatronModules::Tensor MegatronExperts::expertGroup(const Tensor& tokens, const Tensor& probabilities,
                                                     std::int64_t rows, std::int64_t count)
{
    const ExpertShape& e = m_shape.experts;
    Tensor wide = expertLinear(tokens, {rows, width(), m_shape.gates * e.ffn, count, Fc1Output});
    const auto activate = [this, rows](const Tensors& inputs) {
        return Tensors{activation(inputs[0], rows, m_shape.experts.ffn, m_shape.experts.fusesActivation, &inputs[1])};
    };
    TapeRecorder::Discarded active;
    if (e.recomputesActivation) {
        active = recorder.runDiscarding(activate, {wide, probabilities});
    } else {
        active.outputs = activate({wide, probabilities});
    }
    wide = {};
    Tensor output = expertLinear(active.outputs.front(), {rows, e.ffn, width(), count, ExpertOutput});
    recorder.discard(active, output);
    return output;
}

void MegatronExperts::expertWorkspaces()
{
    m_ops.gemm();
    if (m_shape.experts.isGrouped && m_shape.isTransformerEngine) {
        // One workspace for each of four streams (TE cpp_extensions/gemm.py).
        m_ops.writer.ensure(GroupedGemmKey, GemmWorkspace, 4 * m_shape.gemmWorkspace);
    }
}

MegatronModules::Tensor MegatronExperts::expertLinear(const Tensor& input, const ExpertLinear& linear)
{
    expertWorkspaces();
    // An activation that is made again is one for the tensor itself.
    const std::uint32_t parts = linear.kind == ExpertOutput ? std::uint32_t{TrainedParts::ExpertDown}
                                                            : TrainedParts::ExpertGate | TrainedParts::ExpertUp;
    const bool isRebuilt = m_shape.experts.recomputesActivation && linear.kind == ExpertOutput;
    const Storage read = !m_shape.trains(parts) ? Storage{}
        : isRebuilt                             ? input.storage
                    : keptInput(input.storage, linear.rows * linear.inputs * m_shape.element);
    const Storage kept = m_ops.delays() ? read : Storage{};
    Tensor result
        = recorder.run({input}, linear.kind, linear.rows * linear.outputs * m_shape.element, {read},
                       [this, linear, kept, parts](const Storages& outputs) {
                           expertWorkspaces();
                           if (m_ops.delays(parts)) {
                               // The shapes of one expert's weight are those of the placeholder.
                               const std::int64_t weights = m_shape.fusesWeightGradients ? 1 : linear.count;
                               delay(kept, outputs.front(), {linear.rows, linear.inputs, weights * linear.outputs});
                           }
                           const Storage gradient
                               = recorder.allocate(ActivationGradient, linear.rows * linear.inputs * m_shape.element);
                           Storage weight;
                           if (m_shape.fusesWeightGradients && !m_ops.delays() && m_shape.trains(parts)) {
                               m_ops.placeholder(linear.outputs, linear.inputs);
                           } else {
                               weight = weightGradient(linear.count * linear.outputs, linear.inputs, parts);
                           }
                           return Storages{gradient};
                       });
    return adapted(input, std::move(result), linear.rows,
                   linear.kind == ExpertOutput ? Adapters::MlpOut : Adapters::MlpIn);
}

} // namespace headroom
