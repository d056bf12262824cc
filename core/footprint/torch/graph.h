// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/writer.h"
#include "footprint/torch/module_operation.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// The operations of a module as PyTorch's autograd sees them. From them its tape is written by autograd's rules
/// (theory.md 3.1): storages are counted, not tensors; a result lives until its last reader has run, or until the
/// backward of the last operation that saved it; an operation without anything trainable above it saves nothing.
class ModuleGraph
{
public:
    using Tensor = ModuleOperation::Tensor;
    static constexpr Tensor none = ModuleOperation::none;

    using Extra = ModuleOperation::Extra;
    using Operation = ModuleOperation;

    explicit ModuleGraph(std::int64_t inputBytes, bool inputNeedsGradient);

    [[nodiscard]] Tensor input() const { return 0; }
    Tensor apply(Operation operation);
    [[nodiscard]] std::int64_t bytesOf(Tensor tensor) const { return m_tensors[index(tensor)].bytes; }
    [[nodiscard]] bool needsGradient(Tensor tensor) const { return m_tensors[index(tensor)].needsGradient; }
    /// Something beside the operations refers to it until the end of the backward.
    void hold(Tensor tensor) { m_tensors[index(tensor)].isHeld = true; }
    /// A variable of the module refers to it until its forward returns.
    void keepThroughForward(Tensor tensor) { m_tensors[index(tensor)].isNamed = true; }
    /// What a selective checkpoint stores; with any call everything else is rebuilt in backward.
    void store(Tensor tensor);

    /// What is applied until the object ends is a checkpoint of its own (torch/utils/checkpoint.py): what it reads is
    /// kept in place of what its operations save, which run once more when the backward arrives there. One within
    /// another belongs to that one.
    class Checkpoint
    {
    public:
        explicit Checkpoint(ModuleGraph* graph); ///< null: no checkpoint
        ~Checkpoint();
        Checkpoint(const Checkpoint&) = delete;
        Checkpoint& operator=(const Checkpoint&) = delete;

    private:
        ModuleGraph* m_graph;
    };

    /// Where what the backward needs waits for it (torch.autograd.graph.saved_tensors_hooks): each operation that saved
    /// a tensor gets a copy of its own back.
    enum class Offload : std::uint8_t {
        None,
        Plain, ///< copied at once (torch.autograd.graph.save_on_cpu)
        Streams ///< beside the computation: the last few saved ones wait for their copy, the ones of the operation
                ///< before for the end of the one at hand (torchtune training/_activation_offloading.py)
    };
    struct Options
    {
        GradientRule gradients;
        std::int64_t gathered = 0; ///< bytes of parameters gathered while the module runs (FSDP, ZeRO-3)
        std::int64_t gatherBuffer
            = 0; ///< what the collective reads and writes, on a stream of its own, before it is copied out
        std::int64_t followingBuffer = 0, precedingBuffer = 0; ///< the same of the modules behind and in front
        bool gathersInPlace = false; ///< what the collective writes is what the module reads
        std::int64_t shardCopy = 0; ///< what the collective reads then, where the shard has another type
        bool prefetches = false; ///< the module before it is gathered while this one's backward runs
        bool keepsGathered = false; ///< from the forward until the end of the backward
        bool leavesGradient = false; ///< the first unsharded weight gradient stays for a later module's reduction
        std::int64_t foundGradient = 0; ///< elements of one that was left so; of a tied weight both add to it
        std::int64_t carriedGradient = 0; ///< bytes of one that starts here and stays for an earlier module
        std::int64_t cublasWorkspace = 0;
        std::int64_t reduceBuckets = 0; ///< made before the backward, dropped before the step
        bool keepsInput = false; ///< a checkpoint stores it
        Offload offload = Offload::None;
        bool hasOutput = true; ///< false: the loss, whose gradient starts the backward
    };
    void write(const Options& options, TapeWriter& writer);
    /// The same with the backward in two passes (graph_split.cpp).
    void writeSplit(const Options& options, TapeWriter& writer);

private:
    struct TensorData
    {
        std::int64_t bytes = 0;
        TensorKind kind{};
        Tensor base = none; ///< the tensor whose storage this is
        bool needsGradient = false, isHeld = false, isStored = false, isNamed = false;
        std::int16_t lastReader = -1, savers = 0;
        Tape::Slot slot = Tape::none;
        std::int16_t gradient = -1; ///< index into m_gradients
    };
    struct Gradient
    {
        Tape::Slot slot = Tape::none;
        int users = 0;
    };

    /// Operations [first, last] of a checkpoint, and what they read that was made before.
    struct Rebuilt
    {
        std::size_t first = 0, last = 0;
        bool isActive = false;
        std::vector<Tensor> inputs;
    };

    /// Gradients that arrive at operations with weights stay for the second pass.
    struct Captured
    {
        Tape::Slot slot = Tape::none; ///< none yet: it is still the one that flowed in
        int users = 0;
    };

    static std::size_t index(Tensor tensor) { return static_cast<std::size_t>(tensor); }
    Tensor storageOf(Tensor tensor) const;
    [[nodiscard]] bool isActive(const Operation& operation) const;
    void countUses();
    void countRebuilt();
    [[nodiscard]] const Rebuilt* rebuiltWith(std::size_t operation) const;
    void rebuild(const Rebuilt& rebuilt, const Options& options, TapeWriter& writer);
    static Tape::Slot gather(const Options& options, TapeWriter& writer);
    static Tape::Slot gathered(const Options& options, TapeWriter& writer);
    static Tape::Slot gatherBuffer(const Options& options, TapeWriter& writer);
    void runForward(const Options& options, TapeWriter& writer, bool isRebuilding);
    void runBackward(const Options& options, Tape::Slot weights, TapeWriter& writer);
    void reduce(const Options& options, Tape::Slot weights, TapeWriter& writer);
    void release(Tensor tensor, TapeWriter& writer);
    void leave(Tape::Slot slot, const Options& options, TapeWriter& writer);
    void bringBack(const Operation& operation, TapeWriter& writer);
    void passGradients(const Operation& operation, TapeWriter& writer);
    void addGradient(Tensor tensor, std::int16_t gradient, TapeWriter& writer);
    void handOnGradient(TapeWriter& writer);
    void drop(std::int16_t gradient, TapeWriter& writer);
    void capture(std::size_t operation);
    void keepFlowing(Tape::Slot kept);
    [[nodiscard]] bool isRetained(std::size_t operation) const;
    void releaseSaved(std::size_t operation, TapeWriter& writer);
    void freeInput(TapeWriter& writer);
    void runWeights(const Options& options, TapeWriter& writer);
    void weightGradient(const Options& options, const Operation& operation, TapeWriter& writer);

    std::vector<TensorData> m_tensors;
    std::vector<Operation> m_operations;
    std::vector<std::vector<Tape::Slot>> m_kept; ///< by operation
    std::vector<Gradient> m_gradients;
    std::vector<Tape::Slot> m_unsharded;
    std::vector<Tape::Slot> m_leaving, m_returned, m_returnedBefore; ///< copies to and from the host under way
    std::int64_t m_unshardedElements = 0, m_ownElements = 0; ///< and this rank's share of them
    std::vector<Rebuilt> m_rebuilt;
    int m_openCheckpoints = 0;
    std::vector<Captured> m_captured;
    std::vector<int> m_captures; ///< by operation; -1: none
    int m_flowing = -1; ///< the capture of the gradient in Tape::gradient
    std::size_t m_retained = 0; ///< how many operations' nodes the second pass refers to
    bool m_isSplit = false;
    bool m_isSelective = false, m_isInputGradientFree = true;
};

} // namespace headroom
