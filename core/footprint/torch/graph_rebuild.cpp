// SPDX-License-Identifier: GPL-3.0-or-later
//
// Checkpoints within a module.
#include "footprint/megatron/ops.h"
#include "footprint/torch/graph.h"

#include <algorithm>

namespace headroom {

ModuleGraph::Checkpoint::Checkpoint(ModuleGraph* graph)
    : m_graph(graph)
{
    if (graph != nullptr && graph->m_openCheckpoints++ == 0) {
        graph->m_rebuilt.push_back({graph->m_operations.size(), 0, false, {}});
    }
}

ModuleGraph::Checkpoint::~Checkpoint()
{
    if (m_graph == nullptr || --m_graph->m_openCheckpoints > 0) {
        return;
    }
    Rebuilt& rebuilt = m_graph->m_rebuilt.back();
    if (m_graph->m_operations.size() == rebuilt.first) {
        m_graph->m_rebuilt.pop_back(); // nothing was applied
    } else {
        rebuilt.last = m_graph->m_operations.size() - 1;
    }
}

const ModuleGraph::Rebuilt* ModuleGraph::rebuiltWith(std::size_t operation) const
{
    const auto found = std::find_if(m_rebuilt.begin(), m_rebuilt.end(), [operation](const Rebuilt& rebuilt) {
        return rebuilt.first <= operation && operation <= rebuilt.last;
    });
    return found == m_rebuilt.end() ? nullptr : &*found;
}

/// Each holds what it reads from elsewhere until its backward is done.
void ModuleGraph::countRebuilt()
{
    for (Rebuilt& rebuilt : m_rebuilt) {
        for (std::size_t i = rebuilt.first; i <= rebuilt.last; ++i) {
            const Operation& operation = m_operations[i];
            rebuilt.isActive |= isActive(operation);
            for (const Tensor read : operation.reads) {
                const Tensor storage = read == none ? none : storageOf(read);
                const bool isOutside = storage != none && index(storage) <= rebuilt.first; // operation i made i + 1
                if (isOutside
                    && std::find(rebuilt.inputs.begin(), rebuilt.inputs.end(), storage) == rebuilt.inputs.end()) {
                    rebuilt.inputs.push_back(storage);
                }
            }
        }
        for (const Tensor input : rebuilt.inputs) {
            m_tensors[index(input)].savers
                = static_cast<std::int16_t>(m_tensors[index(input)].savers + rebuilt.isActive);
        }
    }
}

/// The same operations as in the forward, of which everything is kept that their backward reads.
void ModuleGraph::rebuild(const Rebuilt& rebuilt, const Options& options, TapeWriter& writer)
{
    std::vector<std::size_t> lastReader(m_tensors.size(), 0);
    for (std::size_t i = rebuilt.first; i <= rebuilt.last; ++i) {
        const Operation& operation = m_operations[i];
        const auto use = [&](Tensor tensor, bool isSaved) {
            TensorData& storage = m_tensors[index(storageOf(tensor))];
            storage.savers = static_cast<std::int16_t>(storage.savers + (isSaved && isActive(operation)));
            lastReader[index(storageOf(tensor))] = i;
        };
        for (std::size_t k = 0; k < operation.reads.size(); ++k) {
            if (operation.reads[k] != none) {
                use(operation.reads[k], operation.saves[k]);
            }
        }
        use(operation.result, operation.savesResult);
    }
    for (std::size_t i = rebuilt.first; i <= rebuilt.last; ++i) {
        const Operation& operation = m_operations[i];
        TensorData& result = m_tensors[index(operation.result)];
        if (operation.isMatrixProduct && options.cublasWorkspace > 0) {
            writer.ensure(CublasBackwardKey, TensorKind::CublasWorkspace, options.cublasWorkspace);
        }
        const Tape::Slot work = operation.forwardWork > 0
            ? writer.allocate(TensorKind::PartialOutput, operation.forwardWork)
            : Tape::none;
        if (result.base == operation.result && result.bytes > 0 && result.slot == Tape::none) {
            result.slot = writer.allocate(operation.kind, operation.bytes);
        }
        for (const Extra& extra : operation.keeps) {
            if (isActive(operation)) {
                m_kept[i].push_back(writer.allocate(extra.kind, extra.bytes));
            }
        }
        writer.free(work);
        for (std::size_t tensor = rebuilt.first + 1; tensor <= i + 1; ++tensor) {
            TensorData& storage = m_tensors[tensor];
            if (storage.base == static_cast<Tensor>(tensor) && lastReader[tensor] == i && storage.savers == 0
                && !storage.isHeld) {
                writer.free(storage.slot);
                storage.slot = Tape::none;
            }
        }
    }
}

} // namespace headroom
