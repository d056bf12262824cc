// SPDX-License-Identifier: GPL-3.0-or-later
//
// A backward in two passes, as PyTorch's pipelines split it (torch/distributed/pipelining/_backward.py; from memory of
// versions 2.6 to 2.9). stage_backward_input differentiates with retain_graph, so that what the graph saved stays, and
// hooks capture the gradients that arrive at the nodes where ways to weights and to inputs part. stage_backward_weight
// starts there again, group by group; a group's captured gradient is dropped when its weights have theirs.
#include "footprint/torch/graph.h"

#include "footprint/megatron/ops.h"

#include <algorithm>

namespace headroom {

void ModuleGraph::writeSplit(const Options& options, TapeWriter& writer)
{
    m_isSplit = true;
    m_captures.assign(m_operations.size(), -1);
    // The loss is detached once differentiated: nodes behind the last one with a weight go then.
    m_retained = options.hasOutput ? m_operations.size() : 0;
    for (std::size_t i = 0; i < m_operations.size(); ++i) {
        m_retained = m_operations[i].weight > 0 ? std::max(m_retained, i + 1) : m_retained;
    }
    write(options, writer);
    if (m_flowing >= 0) { // the module in front finds the gradient in its place
        keepFlowing(writer.allocate(TensorKind::ActivationGradient, bytesOf(m_operations.back().result)));
    }
    writer.beginWeights();
    runWeights(options, writer);
}

bool ModuleGraph::isRetained(std::size_t operation) const
{
    return m_isSplit && operation < m_retained;
}

void ModuleGraph::capture(std::size_t operation)
{
    Gradient& gradient = m_gradients[index(m_tensors[index(m_operations[operation].result)].gradient)];
    if (gradient.slot == Tape::none) {
        return; // of the loss
    }
    int known = gradient.slot == Tape::gradient ? m_flowing : -1;
    for (std::size_t i = 0; i < m_captured.size() && gradient.slot != Tape::gradient; ++i) {
        known = m_captured[i].slot == gradient.slot ? static_cast<int>(i) : known;
    }
    if (known < 0) {
        known = static_cast<int>(m_captured.size());
        const bool isFlowing = gradient.slot == Tape::gradient;
        m_captured.push_back({isFlowing ? Tape::none : gradient.slot, 0});
        m_flowing = isFlowing ? known : m_flowing;
        gradient.users += isFlowing ? 0 : 1;
    }
    ++m_captured[static_cast<std::size_t>(known)].users;
    m_captures[operation] = known;
}

/// The gradient that flowed in is about to make room for another one; `kept`, as large, stands for it.
void ModuleGraph::keepFlowing(Tape::Slot kept)
{
    m_captured[static_cast<std::size_t>(m_flowing)].slot = kept;
    m_flowing = -1;
}

void ModuleGraph::runWeights(const Options& options, TapeWriter& writer)
{
    for (std::size_t i = m_operations.size(); i-- > 0;) {
        const Operation& operation = m_operations[i];
        if (operation.weight == 0) {
            continue;
        }
        if (operation.isMatrixProduct && options.cublasWorkspace > 0) {
            writer.ensure(CublasBackwardKey, TensorKind::CublasWorkspace, options.cublasWorkspace);
        }
        weightGradient(options, operation, writer);
        releaseSaved(i, writer);
        if (m_captures[i] >= 0) {
            Captured& captured = m_captured[static_cast<std::size_t>(m_captures[i])];
            if (--captured.users == 0) {
                writer.free(captured.slot);
            }
        }
    }
    // Nodes without weights are not run again; they go with the graph.
    for (std::size_t i = m_retained; i-- > 0;) {
        if (m_operations[i].weight == 0) {
            releaseSaved(i, writer);
        }
    }
    reduce(options, Tape::none, writer);
    freeInput(writer);
}

} // namespace headroom
