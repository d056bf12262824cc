// SPDX-License-Identifier: GPL-3.0-or-later
//
// Both readers of the tapes must tell the same, apart from the allocator's rounding.
#include "footprint/instant/estimator.h"
#include "replay/models.h"
#include "replay/replay.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace headroom;
using test::llama7b;
using test::planOf;

namespace {

const QByteArray llama70b
    = "model.layers=80 model.hidden=8192 model.ffn=28672 model.gated_mlp=true model.heads=64 "
      "model.kv_heads=8 model.vocab=32000 model.tied_embeddings=false batch.micro=1 batch.seq=4096 batch.accum=16 "
      "precision.recipe=megatron-bf16 ";
const QByteArray gpt = "model.layers=24 model.hidden=2048 model.ffn=8192 model.heads=16 model.vocab=50257 "
                       "model.learned_positions=true model.max_pos=2048 model.layer_norm=true model.attn_bias=true "
                       "model.mlp_bias=true model.tied_embeddings=true model.attn_dropout=0.1 model.hidden_dropout=0.1 "
                       "batch.micro=4 batch.seq=2048 batch.accum=8 precision.recipe=megatron-bf16 ";

const QByteArray llava = llama7b
    + "vision.layers=24 vision.hidden=1024 vision.ffn=4096 vision.heads=16 vision.image_size=336 vision.patch=14 "
      "vision.class_token=true vision.learned_positions=true vision.extra_norms=2 projector.type=mlp "
      "projector.layers=2 ";

const QByteArray mixtral
    = "model.layers=8 model.hidden=4096 model.ffn=14336 model.gated_mlp=true model.heads=32 model.kv_heads=8 "
      "model.vocab=32000 model.tied_embeddings=false batch.micro=1 batch.seq=4096 batch.accum=8 moe.experts=8 "
      "moe.topk=2 "
      "moe.grouped_gemm=true precision.recipe=megatron-bf16 shard.dist_opt=true parallel.dp=8 parallel.ep=8 "
      "parallel.tp=2 "
      "parallel.etp=1 parallel.sp=true ";
const QByteArray deepseek
    = "model.layers=8 model.hidden=7168 model.ffn=18432 model.gated_mlp=true model.heads=128 model.vocab=129280 "
      "model.tied_embeddings=false model.qk_norm=true batch.micro=1 batch.seq=4096 batch.accum=8 moe.experts=256 "
      "moe.topk=8 moe.ffn=2048 moe.shared_experts=1 moe.first_dense_layers=3 moe.grouped_gemm=true "
      "moe.permute_fusion=true moe.router_dtype=fp32 moe.dispatcher=alltoall mla.q_lora_rank=1536 mla.kv_lora_rank=512 "
      "mla.qk_nope_dim=128 mla.qk_rope_dim=64 mla.v_dim=128 precision.recipe=megatron-bf16 shard.dist_opt=true "
      "parallel.dp=64 parallel.ep=32 ";

/// An expert's second matrix is 11 MiB in fp32, which takes a segment of 12 MiB.
const QByteArray moonlight
    = "model.layers=27 model.hidden=2048 model.ffn=11264 model.gated_mlp=true model.heads=16 model.vocab=163840 "
      "model.tied_embeddings=false batch.micro=1 batch.seq=4096 batch.accum=1 moe.experts=64 moe.topk=6 moe.ffn=1408 "
      "moe.shared_experts=2 moe.first_dense_layers=1 moe.grouped_gemm=true moe.dispatcher=alltoall "
      "mla.kv_lora_rank=512 mla.qk_nope_dim=128 mla.qk_rope_dim=64 mla.v_dim=128 precision.recipe=megatron-bf16 "
      "shard.dist_opt=true parallel.dp=4 parallel.tp=2 parallel.sp=true parallel.ep=8 parallel.etp=1 ";

/// Tensors of 1 to 10 MiB by the thousand, in segments of 20 MiB.
const QByteArray deepseekLite
    = "model.layers=27 model.hidden=2048 model.ffn=10944 model.gated_mlp=true model.heads=16 model.vocab=102400 "
      "model.tied_embeddings=false batch.micro=1 batch.seq=4096 batch.accum=4 moe.experts=64 moe.topk=6 moe.ffn=1408 "
      "moe.shared_experts=2 moe.first_dense_layers=1 moe.grouped_gemm=true moe.dispatcher=alltoall "
      "mla.kv_lora_rank=512 mla.qk_nope_dim=128 mla.qk_rope_dim=64 mla.v_dim=128 precision.recipe=megatron-bf16 "
      "parallel.tp=4 parallel.sp=true ";
const QByteArray qwen4b
    = "model.layers=36 model.hidden=2560 model.ffn=9728 model.gated_mlp=true model.heads=32 model.kv_heads=8 "
      "model.head_dim=128 model.vocab=151936 model.tied_embeddings=true model.qk_norm=true batch.micro=1 "
      "batch.seq=4096 batch.accum=4 precision.recipe=megatron-bf16 parallel.tp=8 parallel.sp=true ";

double relative(Bytes instant, std::int64_t replayed)
{
    return std::abs(static_cast<double>(instant.value) / static_cast<double>(replayed) - 1);
}

} // namespace

class TestInstant : public QObject
{
    Q_OBJECT

private slots:
    void agreesWithReplay_data();
    void agreesWithReplay();
    void holdsForAnyLegalPlan();
};

void TestInstant::agreesWithReplay_data()
{
    QTest::addColumn<QByteArray>("settings");
    const auto row = [](const char* name, const QByteArray& model, const QByteArray& settings) {
        QTest::newRow(name) << model + settings;
    };
    row("one GPU", llama7b, "");
    row("tensor parallel", llama7b, "parallel.tp=4 batch.accum=3");
    row("sequence parallel", llama7b, "parallel.tp=4 parallel.sp=true batch.accum=3");
    row("70B, TP8 SP PP4", llama70b, "parallel.tp=8 parallel.sp=true parallel.pp=4 parallel.dp=4 shard.dist_opt=true");
    row("70B, few micro-batches", llama70b, "parallel.tp=8 parallel.pp=8 batch.accum=3");
    row("70B, interleaved", llama70b, "parallel.tp=8 parallel.sp=true parallel.pp=4 parallel.vpp=5");
    row("70B, interleaved, group 8", llama70b, "parallel.tp=8 parallel.pp=4 parallel.vpp=2 parallel.vpp_group=8");
    row("70B, gpipe", llama70b, "parallel.tp=8 parallel.pp=4 parallel.schedule=gpipe batch.accum=6");
    row("70B, uneven", llama70b,
        "parallel.tp=8 parallel.pp=4 parallel.first_stage_layers=17 parallel.last_stage_layers=17");
    row("70B, counted", llama70b,
        "model.layers=78 parallel.tp=8 parallel.pp=4 parallel.embed_in_split=true parallel.loss_in_split=true");
    row("context parallel", llama70b, "parallel.tp=8 parallel.pp=4 parallel.cp=2");
    row("full recompute", llama70b,
        "parallel.tp=8 parallel.pp=4 recompute.enabled=true recompute.granularity=full recompute.method=uniform");
    row("full recompute by threes", llama70b,
        "parallel.tp=8 parallel.pp=4 recompute.enabled=true recompute.granularity=full recompute.num_layers=3");
    row("block recompute", llama70b,
        "parallel.tp=8 parallel.pp=4 recompute.enabled=true recompute.granularity=full recompute.method=block "
        "recompute.num_layers=7");
    row("block recompute, interleaved", llama70b,
        "parallel.tp=8 parallel.pp=4 parallel.vpp=4 recompute.enabled=true recompute.granularity=full "
        "recompute.method=block recompute.num_layers=2");
    row("some layers recomputed", llama70b,
        "parallel.tp=8 parallel.pp=4 recompute.enabled=true recompute.granularity=selective recompute.num_layers=5");
    row("selective attention", gpt,
        "attention.impl=unfused recompute.enabled=true recompute.granularity=selective parallel.tp=2");
    row("selective mlp", llama70b,
        "parallel.tp=8 parallel.pp=4 recompute.enabled=true recompute.granularity=selective recompute.modules=mlp");
    row("GPT, flash", gpt, "attention.impl=flash parallel.pp=2");
    row("GPT, unfused", gpt, "attention.impl=unfused parallel.tp=2");
    row("GPT, local", gpt, "implementation.profile=megatron-local parallel.tp=2");
    row("GPT, fp32 softmax", gpt,
        "implementation.profile=megatron-local implementation.masked_softmax_fusion=false parallel.tp=2");
    row("GPT, no fused gradients", gpt, "implementation.grad_accum_fusion=false parallel.tp=2");
    row("GPT, fp16", gpt, "precision.recipe=megatron-fp16 parallel.pp=2");
    row("GPT, fp32", gpt, "precision.recipe=fp32 parallel.pp=2 parallel.tp=2");
    row("native fused loss", llama7b, "implementation.fused_loss=native parallel.pp=2 batch.accum=4");
    row("loss in place", llama7b, "implementation.fused_loss=te-inplace parallel.pp=2 batch.accum=4");
    row("q/k norms, eager rotation", llama7b, "model.qk_norm=true implementation.rope_fusion=false batch.micro=2");
    row("deferred head gradients", llama70b, "parallel.tp=8 parallel.pp=4 implementation.deferred_wgrads=2");
    row("experts whose states leave rests in their blocks", moonlight, "");
    row("the same, segments grow", moonlight, "implementation.expandable_segments=true");
    row("the same, states on every replica", moonlight, "shard.dist_opt=false");
    row("the same, gradients in 16 bit", moonlight, "precision.grads=bf16 precision.opt_m=bf16 precision.opt_v=bf16");
    row("experts of a few MiB", deepseekLite, "");
    row("experts of a few MiB, stages", deepseekLite, "parallel.pp=2");
    row("experts of a few MiB, full recompute", deepseekLite,
        "parallel.pp=2 recompute.enabled=true recompute.granularity=full");
    row("experts of a few MiB, moved into one buffer", deepseekLite, "shard.dist_opt=true parallel.dp=8");
    row("activations of a few MiB", qwen4b, "parallel.pp=4 shard.dist_opt=true parallel.dp=8");
    row("activations of a few MiB, states on every replica", qwen4b, "parallel.pp=2");
    row("16-bit gradients read as they are", llama7b,
        "precision.grads=bf16 optimizer.impl=precision-aware shard.dist_opt=true parallel.dp=8");
    row("requests rounded up to sixteenths", llama7b,
        "implementation.roundup_divisions=16 implementation.expandable_segments=true batch.seq=4000 parallel.pp=2 "
        "parallel.tp=2 batch.accum=4");
    row("requests rounded up to halves, highest while the optimizer is built", llama7b,
        "implementation.roundup_divisions=2 implementation.expandable_segments=true batch.seq=512 parallel.dp=64 "
        "shard.dist_opt=true shard.offload_optimizer=true");
    row("fp8", llama7b, "precision.fp8=tensorwise precision.fp8_params=true shard.dist_opt=true parallel.dp=8");
    row("Ampere", llama7b, "hardware.gpu=a100-80gb batch.micro=2");
    row("squared ReLU", llama7b, "model.gated_mlp=false model.activation=squared_relu");
    row("BERT", gpt, "model.family=bert attention.impl=unfused parallel.pp=2");
    row("T5", gpt,
        "model.family=t5 model.decoder_layers=24 model.encoder_layers=24 batch.decoder_seq=512 parallel.tp=2");
    row("pairs with a reference", llama7b, "objective.type=dpo parallel.tp=2 batch.accum=4");
    row("the same, hardly any state", llama7b,
        "objective.type=dpo parallel.dp=64 shard.dist_opt=true batch.accum=2 recompute.enabled=true "
        "recompute.granularity=full");
    row("classifier", llama7b, "objective.head=classifier objective.labels=265 parallel.tp=2 parallel.sp=true");
    row("adapters", llama7b, "lora.rank=8 parallel.tp=2 parallel.sp=true parallel.pp=2 batch.accum=4");
    row("adapters that drop out, recomputed", llama7b,
        "lora.rank=64 lora.dropout=0.05 shard.dist_opt=true parallel.dp=8 recompute.enabled=true "
        "recompute.granularity=full");
    row("adapters on experts", mixtral, "lora.rank=16 moe.dispatcher=alltoall");
    row("adapters on latent attention", deepseek, "lora.rank=16");
    row("adapters, context parallel, segments grow", llama70b,
        "lora.rank=16 parallel.tp=8 parallel.pp=4 parallel.cp=2 implementation.expandable_segments=true");
    row("vision, all trained", llava, "parallel.pp=2 batch.accum=4");
    row("vision, encoder frozen", llava, "frozen.vision=true parallel.tp=2 batch.micro=2");
    row("vision, projector alone trained", llava, "frozen.vision=true frozen.llm=true");
    row("vision, projector trained, pipeline", llava, "frozen.vision=true frozen.llm=true parallel.pp=4 batch.accum=8");
    row("vision, language alone trained", llava,
        "frozen.vision=true frozen.projector=true parallel.pp=2 batch.accum=4");
    row("vision, encoder alone trained", llava, "frozen.llm=true frozen.projector=true batch.accum=2");
    row("vision, recomputed", llava, "recompute.vision=true vision.images_per_sample=4");
    row("vision, recomputed all", llava,
        "recompute.vision=true recompute.enabled=true recompute.granularity=full parallel.pp=2 batch.accum=4");
    row("vision, merger", llava, "projector.type=patch_merger vision.merge=2 vision.class_token=false parallel.tp=2");
    row("large vocabulary", llama7b, "model.vocab=256000 parallel.tp=2 batch.accum=2");
    row("context parallel, flash", llama70b, "parallel.tp=8 parallel.cp=4 batch.micro=2 attention.impl=flash");
    row("context parallel, exchanged", llama70b, "parallel.tp=8 parallel.pp=4 parallel.cp=4 parallel.cp_comm=a2a");
    row("context parallel, gathered", llama70b,
        "parallel.tp=8 parallel.pp=4 parallel.cp=4 parallel.cp_comm=all_gather");
    row("context parallel, both", llama70b, "parallel.tp=8 parallel.cp=4 parallel.cp_comm=a2a+p2p parallel.cp_inner=2");
    row("experts, gathered", mixtral, "");
    row("experts, exchanged", mixtral, "moe.dispatcher=alltoall parallel.pp=2");
    row("experts, split", mixtral, "moe.dispatcher=alltoall parallel.etp=2 parallel.ep=4");
    row("experts, one by one", mixtral, "moe.grouped_gemm=false parallel.pp=2");
    row("experts, interleaved", mixtral, "moe.dispatcher=alltoall parallel.pp=2 parallel.vpp=2");
    row("experts, capacity", mixtral, "moe.dispatcher=alltoall moe.capacity_factor=1.25 moe.pad_to_capacity=true");
    row("experts, full recompute", mixtral,
        "moe.dispatcher=alltoall recompute.enabled=true recompute.granularity=full");
    row("experts, activation recompute", mixtral,
        "moe.dispatcher=alltoall recompute.enabled=true recompute.granularity=selective recompute.modules=moe_act");
    row("experts, layer recompute", mixtral,
        "moe.dispatcher=alltoall recompute.enabled=true recompute.granularity=selective "
        "recompute.modules=moe,layernorm");
    row("experts, context parallel", mixtral, "moe.dispatcher=alltoall parallel.cp=2 parallel.dp=4");
    row("latent attention, experts", deepseek, "parallel.pp=2");
    row("latent attention, recomputed", deepseek,
        "parallel.pp=4 recompute.enabled=true recompute.granularity=selective "
        "recompute.modules=mla_up_proj,moe_act,layernorm,shared_experts");
    row("optimizer offloaded", llama7b, "shard.offload_optimizer=true shard.dist_opt=true parallel.dp=8");
    row("optimizer offloaded in part", llama7b,
        "shard.offload_optimizer=true shard.offload_optimizer_fraction=0.5 parallel.tp=2");
    row("SGD", llama7b, "optimizer.name=sgd parallel.tp=2");
    const QByteArray predicting = "model.mtp_layers=1 ";
    row("prediction", llama7b, predicting + "parallel.tp=2");
    row("prediction, sequence parallel, stages", llama7b,
        predicting
            + "parallel.tp=2 parallel.sp=true parallel.pp=4 "
              "batch.accum=8");
    row("two predictions, tied", llama7b, "model.mtp_layers=2 model.tied_embeddings=true parallel.pp=2 batch.accum=4");
    row("prediction, full recompute", llama7b,
        predicting + "recompute.enabled=true recompute.granularity=full parallel.pp=2");
    row("prediction, eager rotation, no fused gradients", llama7b,
        predicting + "implementation.rope_fusion=false implementation.grad_accum_fusion=false");
    row("prediction of experts", deepseek, predicting + "parallel.pp=2");
    const QByteArray apart = predicting + "batch.accum=16 parallel.pp=4 parallel.vpp=2 parallel.layout=";
    row("prediction in a chunk of its own", deepseek, apart + "Ett|t|t|t|t|tt|m|L");
    row("prediction behind the last layer, recompute", deepseek,
        apart + "Ett|t|t|t|t|t|tm|L recompute.enabled=true recompute.granularity=full");
    row("prediction under DualPipe", deepseek, predicting + "parallel.pp=2 parallel.schedule=dualpipe");
    row("prediction under ZB-V", deepseek, predicting + "parallel.pp=2 parallel.schedule=zb-v");
    row("prediction in a layout", llama7b, predicting + "parallel.pp=2 parallel.layout=Et*8|t*8|t*8|t*8mL");
    row("one micro-batch over stages", llama7b, "parallel.pp=4 batch.accum=1");
    for (const char* schedule : {"zb-h1", "zb-h2", "zb-v", "v-half", "v-min", "dualpipe", "dualpipev"}) {
        const auto under = [&](const char* name, const QByteArray& model, const QByteArray& settings) {
            QTest::addRow("%s, %s", schedule, name) << model + "parallel.schedule=" + schedule + " " + settings;
        };
        under("70B", llama70b, "parallel.tp=8 parallel.pp=4");
        under("sequence parallel", llama70b, "parallel.tp=8 parallel.sp=true parallel.pp=8 batch.accum=40");
        under("uneven", llama70b,
              "parallel.tp=8 parallel.pp=4 parallel.first_stage_layers=17 "
              "parallel.last_stage_layers=17");
        under("two stages", llama7b, "parallel.pp=2 batch.accum=4");
        under("local layers, dropout", gpt,
              "implementation.profile=megatron-local parallel.tp=2 parallel.sp=true "
              "parallel.pp=4");
        under("no fused gradients", gpt, "implementation.grad_accum_fusion=false parallel.pp=4");
        under("experts", mixtral, "parallel.pp=4 moe.dispatcher=alltoall");
        under("latent attention", deepseek, "parallel.pp=4");
        under("context parallel", llama70b, "parallel.tp=8 parallel.pp=4 parallel.cp=4");
        under("vision", llava, "parallel.pp=2 batch.accum=8");
        under("full recompute", llama70b,
              "parallel.tp=8 parallel.pp=4 recompute.enabled=true "
              "recompute.granularity=full recompute.num_layers=3");
    }
    for (const char* schedule : {"zb-h1", "zb-h2", "zb-v", "v-half", "v-min"}) {
        QTest::addRow("%s, few micro-batches", schedule)
            << llama70b + "parallel.tp=8 parallel.pp=8 batch.accum=3 parallel.schedule=" + schedule;
    }
    row("layout", llama70b, "parallel.tp=8 parallel.pp=4 parallel.layout=Et*17|t*21|t*21|t*21L");
    row("layout in chunks", llama70b, "parallel.tp=8 parallel.pp=4 parallel.layout=Et*3|(t*5|)*14t*7L");
    row("layout with ends of their own", llama7b, "parallel.pp=4 batch.accum=8 parallel.layout=E|(t*16|)*2L");
    row("layout of experts", mixtral, "parallel.pp=2 moe.first_dense_layers=3 parallel.layout=Ett|tt|tt|ttL");
}

void TestInstant::agreesWithReplay()
{
    QFETCH(QByteArray, settings);
    const TrainingPlan plan = planOf(settings);
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    const auto done = estimator.run(plan, stages);
    QVERIFY2(done, done ? "" : done.error().english().c_str());
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageFootprint& instant = stages[i];
        const StageReplay replayed = replayStage(estimator.program(), estimator.program().stages[i]);
        const auto close = [&](const char* what, Bytes a, std::int64_t b, double tolerance) {
            const bool isClose = relative(a, b) <= tolerance;
            if (!isClose) {
                qWarning("stage %zu, %s: instant %lld, replay %lld", i, what, static_cast<long long>(a.value),
                         static_cast<long long>(b));
            }
            return isClose;
        };
        QVERIFY(close("steady", instant.steadyAllocated, replayed.steadyAllocated.value, 0.005));
        QVERIFY(close("peak", instant.peakAllocated, replayed.peakAllocated.value, 0.005));
        QVERIFY(close("first step", instant.firstStepPeakAllocated, replayed.firstStepPeakAllocated.value, 0.005));
        for (std::size_t phase = 0; phase < replayed.phases.size(); ++phase) {
            QVERIFY(close("phase", instant.phases[phase], replayed.phases[phase].value, 0.005));
        }
        Bytes sum, replayedSum;
        for (std::size_t c = 0; c + 1 < instant.components.size(); ++c) { // the context is outside the allocator
            sum += instant.components[c];
            replayedSum += replayed.components[c];
            QVERIFY2(instant.components[c].value >= 0, qPrintable(QString::number(c)));
        }
        QCOMPARE(qint64{sum.value}, qint64{instant.peakAllocated.value});
        QCOMPARE(qint64{replayedSum.value}, qint64{replayed.peakAllocated.value});
    }
}

/// Random plans: figures are finite, components are not negative and sum up to the peak, and both readers agree.
void TestInstant::holdsForAnyLegalPlan()
{
    const QList<QList<QByteArray>> choices{
        {"parallel.tp=1", "parallel.tp=2", "parallel.tp=4", "parallel.tp=2 parallel.sp=true"},
        {"parallel.pp=1", "parallel.pp=2", "parallel.pp=4", "parallel.pp=4 parallel.vpp=2",
         "parallel.pp=2 parallel.vpp=4", "parallel.pp=4 parallel.schedule=gpipe"},
        {"batch.accum=1", "batch.accum=2", "batch.accum=5", "batch.accum=16"},
        {"batch.micro=1", "batch.micro=3"},
        {"parallel.cp=1", "parallel.cp=2"},
        {"model.attn_dropout=0", "model.attn_dropout=0.1 model.hidden_dropout=0.1"},
        {"attention.impl=auto", "attention.impl=flash", "attention.impl=unfused",
         "implementation.profile=megatron-local parallel.cp=1"}, // whose attention refuses more
        {"implementation.grad_accum_fusion=true", "implementation.grad_accum_fusion=false"},
        {"model.tied_embeddings=true", "model.tied_embeddings=false"},
        {"model.rope=true", "model.rope=false", "model.qk_norm=true implementation.rope_fusion=false"},
        {"implementation.fused_loss=none", "implementation.fused_loss=native", "implementation.fused_loss=te-inplace"},
        {"recompute.enabled=false", "recompute.enabled=true recompute.granularity=full",
         "recompute.enabled=true recompute.granularity=full recompute.num_layers=3",
         "recompute.enabled=true recompute.granularity=full recompute.method=block recompute.num_layers=1",
         "recompute.enabled=true recompute.granularity=selective recompute.modules=mlp,core_attn"},
        {"shard.dist_opt=false", "shard.dist_opt=true parallel.dp=4"},
        {"precision.recipe=megatron-bf16", "precision.recipe=megatron-fp16", "precision.recipe=fp32"},
        {"implementation.deferred_wgrads=1", "model.layers=16", "model.layers=16"},
        {"hardware.gpu=a100-80gb", "hardware.gpu=h100-80gb", "hardware.gpu=b200"},
    };
    const QByteArray model = "model.layers=16 model.hidden=4096 model.ffn=11008 model.gated_mlp=true model.heads=32 "
                             "model.kv_heads=8 model.vocab=32000 batch.seq=2048 ";
    std::mt19937 random(3);
    for (int round = 0; round < 150; ++round) {
        QByteArray settings = model;
        for (const auto& choice : choices) {
            settings += choice[static_cast<qsizetype>(random() % static_cast<unsigned>(choice.size()))] + ' ';
        }
        InstantEstimator estimator;
        std::vector<StageFootprint> stages;
        const auto done = estimator.run(planOf(settings), stages);
        QVERIFY2(done, done ? "" : (settings + done.error().english().c_str()).constData());
        for (std::size_t i = 0; i < stages.size(); ++i) {
            const StageFootprint& instant = stages[i];
            Bytes sum;
            for (std::size_t c = 0; c + 1 < instant.components.size(); ++c) {
                QVERIFY2(instant.components[c].value >= 0, settings.constData());
                sum += instant.components[c];
            }
            QVERIFY2(sum == instant.peakAllocated, settings.constData());
            const StageReplay replayed = replayStage(estimator.program(), estimator.program().stages[i]);
            // Up to the rounding of blocks, which shards below 1 GB feel: their moments may lie in holes of
            // activations.
            const auto lies = [](Bytes figure, Bytes blocks, Bytes rounding) {
                return static_cast<double>(figure.value) >= 0.998 * static_cast<double>((blocks - rounding).value)
                    && static_cast<double>(figure.value) <= 1.01 * static_cast<double>(blocks.value);
            };
            QVERIFY2(lies(instant.peakAllocated, replayed.peakAllocated, replayed.peakRounding), settings.constData());
            QVERIFY2(lies(instant.steadyAllocated, replayed.steadyAllocated, replayed.steadyRounding),
                     settings.constData());
        }
    }
}

QTEST_APPLESS_MAIN(TestInstant)
#include "tst_instant.moc"
