// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/knob_text.h"

#include "workspace/wording.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include <algorithm>

namespace headroom {
namespace {

class Words
{
    Q_DECLARE_TR_FUNCTIONS(Knobs)
};

} // namespace

QString knobTitle(Knob knob)
{
    switch (knob) {
    case Knob::PipelineStages:
        return Words::tr("Pipeline stages");
    case Knob::VirtualChunks:
        return Words::tr("Virtual chunks per stage");
    case Knob::TensorParallel:
        return Words::tr("Tensor parallel");
    case Knob::ContextParallel:
        return Words::tr("Context parallel");
    case Knob::ExpertParallel:
        return Words::tr("Expert parallel");
    case Knob::DataParallel:
        return Words::tr("Data parallel");
    case Knob::MicroBatch:
        return Words::tr("Micro-batch size");
    case Knob::Accumulation:
        return Words::tr("Accumulation steps");
    case Knob::SequenceLength:
        return Words::tr("Sequence length");
    case Knob::RecomputedLayers:
        return Words::tr("Recomputed layers");
    }
    return {};
}

QString knobMeaning(Knob knob)
{
    switch (knob) {
    case Knob::PipelineStages:
        return Words::tr("GPUs that share the layers. More stages: fewer layers on each GPU, but more micro-batches in "
                         "flight on the first ones. The global batch stays.");
    case Knob::VirtualChunks:
        return Words::tr(
            "Pieces of the model that a stage runs in turn. More chunks: less waiting, but more activations "
            "in flight, on the last stage too.");
    case Knob::ContextParallel:
        return Words::tr("GPUs that share every sequence. Each keeps the activations of its part of the tokens.");
    case Knob::ExpertParallel:
        return Words::tr("GPUs that share the experts of every layer. It must divide their number.");
    case Knob::TensorParallel:
        return Words::tr("GPUs that share every layer. It must divide the attention heads.");
    case Knob::DataParallel:
        return Words::tr(
            "Copies of the model that train on different samples. The memory of one GPU changes only where "
            "the state is sharded.");
    case Knob::MicroBatch:
        return Words::tr("Samples in one forward pass of one copy. The activations grow in proportion to it.");
    case Knob::Accumulation:
        return Words::tr("Micro-batches per training step. It costs no memory beyond the micro-batches in flight.");
    case Knob::SequenceLength:
        return Words::tr("Tokens of one sample. The activations grow in proportion to it.");
    case Knob::RecomputedLayers:
        return Words::tr("Layers of each stage whose activations are computed again in the backward pass.");
    }
    return {};
}

QString askingText(const std::vector<std::string_view>& fields)
{
    QStringList names;
    bool haveKnobs = true;
    for (const std::string_view field : fields) {
        const auto* const knob
            = std::find_if(allKnobs.begin(), allKnobs.end(), [field](Knob each) { return knobField(each) == field; });
        haveKnobs = haveKnobs && knob != allKnobs.end();
        names.append(knob != allKnobs.end() ? knobTitle(*knob) : toQString(field));
    }
    const QString list = QLocale().createSeparatedList(names);
    return haveKnobs ? Words::tr("set %1 on the left").arg(list) : Words::tr("set %1 in the tab Plan").arg(list);
}

QString granularityTitle(Granularity granularity)
{
    switch (granularity) {
    case Granularity::None:
        return Words::tr("None");
    case Granularity::Selective:
        return Words::tr("Selective");
    case Granularity::Full:
        return Words::tr("Full");
    }
    return {};
}

} // namespace headroom
