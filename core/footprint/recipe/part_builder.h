// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/parameters.h"

namespace headroom {

/// Adds up the tensors of one part. Column-parallel layers are split along their outputs, row-parallel ones along their
/// inputs, whose biases stay whole (theory.md 1.7).
class PartBuilder
{
public:
    explicit PartBuilder(std::int64_t tensorParallel, const Adapters& adapters = {})
        : m_tensor(tensorParallel)
        , m_adapters(adapters)
    {
    }

    void replicated(Elements in, Elements out, Adapters::Target target = Adapters::Other) { linear(in, out, target); }
    void column(Elements in, Elements out, Adapters::Target target = Adapters::Other)
    {
        linear(in, out / m_tensor, target);
    }
    void columnBias(Elements out) { m_weights.vectors += out / m_tensor; }
    void row(Elements in, Elements out, Adapters::Target target = Adapters::Other)
    {
        linear(in / m_tensor, out, target);
    }
    void vector(Elements length) { m_weights.vectors += length; }
    void table(Elements rows, Elements columns)
    {
        m_weights.tables += rows * columns;
        m_weights.factors += rows + columns;
    }
    void add(const Weights& part) { m_weights += part; }
    /// One more adapter, of layers whose own targets were left out.
    void adapter(Elements in, Elements out, unsigned targets)
    {
        if ((m_adapters.targets & targets) != 0) {
            m_weights.adapters += Elements(m_adapters.rank) * (in + out / m_tensor);
        }
    }
    void mlp(std::int64_t hidden, std::int64_t ffn, std::int64_t gate, bool hasBias)
    {
        const Adapters::Target target = m_adapters.packsGate ? Adapters::Other : Adapters::MlpIn;
        if (m_adapters.packsGate) {
            adapter(hidden, Elements(gate) * ffn, Adapters::MlpIn);
        }
        for (std::int64_t input = 0; input < gate; ++input) {
            column(hidden, ffn, target);
            if (hasBias) {
                columnBias(ffn);
            }
        }
        row(ffn, hidden, Adapters::MlpOut);
        if (hasBias) {
            vector(hidden);
        }
    }

    [[nodiscard]] const Weights& weights() const { return m_weights; }
    [[nodiscard]] bool packsQkv() const { return m_adapters.packsQkv; }

private:
    void linear(Elements in, Elements out, Adapters::Target target)
    {
        m_weights.matrices += in * out;
        m_weights.factors += in + out;
        if ((m_adapters.targets & target) != 0) {
            m_weights.adapters += Elements(m_adapters.rank) * (in + out);
        }
    }

    Weights m_weights;
    std::int64_t m_tensor;
    Adapters m_adapters;
};

} // namespace headroom
