// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/shape.h"
#include "footprint/tape/tape.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// One kind of layer, embedding or head: its tape and its parameter tensors.
struct Piece
{
    Tape tape;
    std::vector<std::int64_t> parameters; ///< elements of each tensor on this rank, in the order of construction
    std::vector<std::int64_t> expertParameters; ///< after them: those that other replicas share than the rest
    std::vector<std::int64_t> frozenParameters; ///< beside them: not trained though the piece is
    std::vector<std::int64_t> frozenExpertParameters;
    /// Those of them that are matrices, which Muon orthogonalises: no embedding, no output layer.
    struct Matrix
    {
        std::size_t tensor = 0; ///< its place in parameters or expertParameters
        std::int64_t rows = 0, columns = 0;
    };
    std::vector<Matrix> matrices, expertMatrices, frozenMatrices;
    std::int64_t graphs = 0; ///< how many of the layers in it are recorded as CUDA graphs
    bool graphsReadMask = false;
    bool isFrozen = false;
    bool isOnEveryStage = false; ///< every stage holds a copy, which are replicas of one another
};

/// Pieces of one kind in a row.
struct PieceRun
{
    std::uint16_t piece = 0;
    std::int64_t count = 1;
    std::int64_t checkpointGroup = 0; ///< pieces that are stored as their common input and rebuilt; 0: all is kept
    bool offloadsInput = false; ///< stored in the host's memory
    std::int64_t offloaded = 0; ///< the first so many of the pieces have their Tape::offloaded there
    bool keepsFirstInput = false; ///< except the first one's input, which the schedule holds
};

/// What a pipeline stage runs without a break: all of its layers, or one model chunk of them when interleaving.
struct Chunk
{
    std::vector<PieceRun> runs; ///< in forward order
    bool receives = false; ///< its input comes from another stage (or chunk), which then gets a gradient back
    bool sends = false;
    std::int64_t receivedBytes = 0, sentBytes = 0; ///< of boundary tensors; 0: the language model's
    bool isFrozen = false; ///< nothing in it or before it is trained: no backward runs through it
    bool offloadsLater = false; ///< Tape::offloaded of all pieces leaves while the next pass runs
    std::vector<Tape::Event> loaded; ///< tensors of the data loader, alive during the forward
};

/// Static state of the frameworks that keep no gradient buffer, and their optimizer's step.
struct StageTensors
{
    std::vector<Tape::Event> resident; ///< there before the first step
    std::vector<Tape::Event> created; ///< by the first optimizer step
    std::vector<Tape::Event> clipping; ///< together alive before every step, while the gradients' norm is taken
    std::vector<Tape::Event> temporaries; ///< together alive within every optimizer step
    std::vector<Tape::Event> rollout; ///< together alive before every step, while responses are generated
    bool dropsGradients = false; ///< between the two: the optimizer has what it needs of them
};

struct StageProgram
{
    StageTensors tensors; ///< where ModelProgram::hasOwnState
    std::int64_t stage = 0;
    std::int64_t layers = 0, firstLayer = 0;
    std::vector<Chunk> chunks;
    bool hasEncoder = false; ///< the last chunk is a copy of the image encoder; the first stage reads its features
};

/// A training run as tapes: what each stage runs. Building one allocates nothing when its storage has been used before.
struct ModelProgram
{
    RankShape shape;
    RankShape vision, projector; ///< of the image encoder and what follows it, where there are any
    std::vector<Piece> pieces;
    PersistentStorages persistents;
    std::vector<StageProgram> stages;
    bool hasOwnState = false;
    // Of the caching allocator.
    bool usesExpandableSegments = false;
    std::int64_t maxSplitBytes = 0; ///< 0: blocks of any size are cut
    std::int64_t roundupDivisions = 0;
};

/// Fails where walking all stages' schedules would take longer than a second.
[[nodiscard]] Result<void> checkWalkable(const RankShape& shape);

/// Fails with the input that is missing or that no tape describes.
[[nodiscard]] Result<void> buildProgram(const TrainingPlan& plan, ModelProgram& program);

/// Elements of a stage's parameters on one rank, frozen ones included.
[[nodiscard]] std::int64_t parameterCount(const ModelProgram& program, const StageProgram& stage);

} // namespace headroom
