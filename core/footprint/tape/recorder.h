// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/recorded_storage.h"
#include "footprint/tape/writer.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace headroom {

/// Operations as autograd records them: each hands out a tensor and keeps some storages for its backward, and a storage
/// is freed when its last owner is gone, be it a variable or a recorded operation, as with Python's reference counts.
/// Running operations writes the forward half of a tape, backward() the other one.
class TapeRecorder
{
public:
    using Storage = RecordedStorage;
    struct Tensor
    {
        Storage storage;
        std::int64_t bytes = 0;
        int id = -1;
    };
    using Storages = std::vector<Storage>;
    using Tensors = std::vector<Tensor>;
    /// From the gradients of the outputs to those of the inputs.
    using Backward = std::function<Storages(Storages)>;
    using Function = std::function<Tensors(const Tensors&)>;
    struct Discarded;

    explicit TapeRecorder(TapeWriter& writer)
        : m_writer(writer)
    {
    }
    TapeRecorder(const TapeRecorder&) = delete;
    TapeRecorder& operator=(const TapeRecorder&) = delete;

    /// A storage that is somebody else's to free.
    [[nodiscard]] Tensor borrowed(Tape::Slot slot, std::int64_t bytes);
    [[nodiscard]] Storage allocate(TensorKind kind, std::int64_t bytes);
    /// From here on the storage is somebody else's to free.
    [[nodiscard]] Tape::Slot handOut(const Tensor& tensor);

    [[nodiscard]] bool isBorrowed(const Storage& storage) const
    {
        return storage && m_entries[storage.m_entry].isBorrowed;
    }

    /// Without a `backward` of its own an operation makes a gradient for each input. `saved` are kept until then.
    Tensor run(const Tensors& inputs, TensorKind kind, std::int64_t bytes, Storages saved = {}, Backward backward = {});
    /// The same, and the output is kept too.
    Tensor runKeepingOutput(const Tensors& inputs, TensorKind kind, std::int64_t bytes, Storages saved = {},
                            Backward backward = {});
    /// The output lies in a buffer that is there already.
    Tensor runIntoBuffer(const Tensors& inputs, std::int64_t bytes);
    /// The output's gradient serves as that of `inputs` inputs.
    [[nodiscard]] static Backward passed(std::size_t inputs = 1);

    /// Views of one tensor; their gradients are joined into one.
    Tensors split(const Tensor& input, std::size_t parts);

    /// Keeps the inputs only and runs `function` again before its backward (torch.utils.checkpoint).
    Tensor checkpoint(const Function& function, const Tensors& inputs);
    /// The outputs of `function` are emptied by discard() once their consumer has run, and made again when the gradient
    /// of what the consumer made arrives (Megatron tensor_parallel/random.py, CheckpointWithoutOutput).
    [[nodiscard]] Discarded runDiscarding(const Function& function, const Tensors& inputs);
    void discard(const Discarded& discarded, const Tensor& consumed);

    /// Runs everything recorded backwards; the inputs' gradients are dropped.
    void backward(const Tensor& output, Storage gradient);
    /// For an output that is a variable no longer.
    void backward(int output, Storage gradient);

    TapeWriter& m_writer;

private:
    friend class RecordedStorage;
    struct Entry
    {
        Tape::Slot slot = Tape::none;
        int owners = 0;
        bool isBorrowed = false;
    };
    struct Node
    {
        std::vector<std::pair<int, std::int64_t>> inputs; ///< identity, bytes
        std::vector<int> outputs;
        Storages saved;
        Backward backward;
    };
    using GradientMap = std::vector<std::pair<int, Storage>>;

    void release(std::size_t entry);
    void record(const Tensors& inputs, const Tensors& outputs, Storages saved, Backward backward);
    Storages defaultBackward(const Node& node);
    [[nodiscard]] static Storages gradientsOf(const std::vector<int>& tensors, const GradientMap& gradients);
    GradientMap walk(GradientMap gradients);
    [[nodiscard]] Tensors renamed(const Tensors& tensors);

    std::vector<Entry> m_entries;
    std::vector<Node> m_nodes;
    bool m_isRecording = true;
    int m_nextId = 0;
};

struct TapeRecorder::Discarded
{
    struct Rebuilt;
    Tensors outputs;
    Function function;
    Tensors inputs;
    std::shared_ptr<Rebuilt> rebuilt; ///< none: nothing is discarded, a checkpoint around it rebuilds all
};

} // namespace headroom
