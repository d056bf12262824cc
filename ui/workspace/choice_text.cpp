// SPDX-License-Identifier: GPL-3.0-or-later
// The words of choices.h.
#include "workspace/choices.h"
#include "workspace/wording.h"

#include <QCoreApplication>

namespace headroom {
namespace {

class Words
{
    Q_DECLARE_TR_FUNCTIONS(Choices)
};

QString precisionTitle(const std::string& id)
{
    const struct
    {
        const char* id;
        QString title;
    } titles[]{
        {"bf16-mixed", Words::tr("bf16 + fp32 master, 16 B")},
        {"fp16-mixed", Words::tr("fp16 + fp32 master, 16 B")},
        {"fp32", Words::tr("fp32, 16 B")},
        {"megatron-bf16", Words::tr("bf16 + fp32 gradients, 18 B")},
        {"megatron-fp16", Words::tr("fp16, Megatron, 20 B")},
        {"bf16-pure", Words::tr("bf16 throughout, 8 B")},
        {"bf16-adam8bit", Words::tr("bf16 + 8-bit moments, 10 B")},
        {"bf16-pure-adam8bit", Words::tr("bf16, 8-bit, no master, 6 B")},
        {"fp32-sgd-momentum", Words::tr("fp32, one moment, 12 B")},
        {"fp32-sgd", Words::tr("fp32, no moments, 8 B")},
        {"megatron-bf16-muon", Words::tr("bf16, Muon, 14 B")},
        {"custom", Words::tr("as the file says")},
    };
    for (const auto& row : titles) {
        if (id == row.id) {
            return row.title;
        }
    }
    return toQString(id);
}

QString plainTitle(const std::string& id)
{
    const struct
    {
        const char* id;
        const char* title;
    } titles[]{
        {"gpipe", "GPipe"},
        {"1f1b", "1F1B"},
        {"zb-h1", "ZB-H1"},
        {"zb-h2", "ZB-H2"},
        {"zb-v", "ZB-V"},
        {"v-half", "V-Half"},
        {"v-min", "V-Min"},
        {"dualpipe", "DualPipe"},
        {"dualpipev", "DualPipeV"},
        {"adam", "Adam"},
        {"adamw", "AdamW"},
        {"adafactor", "Adafactor"},
        {"muon", "Muon"},
        {"sgd", "SGD"},
        {"lion", "Lion"},
        {"zero1", "ZeRO-1"},
        {"zero2", "ZeRO-2"},
        {"zero3", "ZeRO-3"},
        {"fsdp", "FSDP"},
        {"megatron-te", "Megatron + TE"},
        {"megatron-2.4", "Megatron 2.4"},
        {"megatron-kwai", "Megatron-Kwai"},
        {"deepspeed-pipeline", "DeepSpeed pipeline"},
        {"hf-eager", "Hugging Face eager"},
        {"hf-sdpa", "Hugging Face SDPA"},
        {"hf-flash", "Hugging Face flash"},
        {"torchtitan", "torchtitan"},
        {"torchtune", "torchtune"},
        {"litgpt", "LitGPT"},
        {"internevo", "InternEvo"},
        {"galvatron", "Galvatron"},
    };
    for (const auto& row : titles) {
        if (id == row.id) {
            return QString::fromLatin1(row.title); // names are the same in every language
        }
    }
    return toQString(id);
}

} // namespace

QString choiceTitle(Choice choice)
{
    switch (choice) {
    case Choice::Schedule:
        return Words::tr("Schedule");
    case Choice::Precision:
        return Words::tr("Precision");
    case Choice::Optimizer:
        return Words::tr("Optimizer");
    case Choice::Sharding:
        return Words::tr("Sharding");
    case Choice::Profile:
        return Words::tr("Layers");
    }
    return {};
}

QString choiceMeaning(Choice choice)
{
    switch (choice) {
    case Choice::Schedule:
        return Words::tr("The order of forward and backward passes. It decides how many micro-batches a stage holds at "
                         "once.");
    case Choice::Precision:
        return Words::tr("Data types of weights, gradients, master weights and moments, with the bytes they take for "
                         "each parameter.");
    case Choice::Optimizer:
        return Words::tr("What the optimizer keeps for each parameter: AdamW two moments, SGD with momentum one, "
                         "Adafactor a few rows and columns.");
    case Choice::Sharding:
        return Words::tr("What data-parallel ranks share: ZeRO-1 and the distributed optimizer the optimizer state, "
                         "ZeRO-2 gradients too, ZeRO-3 and FSDP parameters as well.");
    case Choice::Profile:
        return Words::tr("Whose layers the exact figures describe: every implementation keeps other tensors.");
    }
    return {};
}

QString optionTitle(Choice choice, const std::string& id)
{
    if (choice == Choice::Precision) {
        return precisionTitle(id);
    }
    if (id == "none") {
        return Words::tr("None");
    }
    if (id == "interleaved") {
        return Words::tr("Interleaved 1F1B");
    }
    if (id == "dist_opt") {
        return Words::tr("Distributed optimizer");
    }
    if (id == "adamw_8bit") {
        return Words::tr("8-bit AdamW");
    }
    if (id == "sgd_momentum") {
        return Words::tr("SGD with momentum");
    }
    if (id == "megatron-local") {
        return Words::tr("Megatron local");
    }
    return id.empty() ? Words::tr("not described") : plainTitle(id);
}

QString moduleTitle(const std::string& module)
{
    if (module == "core_attn") {
        return Words::tr("attention core");
    }
    if (module == "mlp") {
        return Words::tr("MLP");
    }
    if (module == "layernorm") {
        return Words::tr("norms");
    }
    return toQString(module);
}

} // namespace headroom
