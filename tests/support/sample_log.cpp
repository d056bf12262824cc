// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/sample_log.h"

#include "plan/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace headroom::samples {

namespace {

constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;

/// splitmix64: the library's distributions differ between implementations, this does not.
class Noise
{
public:
    explicit Noise(std::uint64_t seed)
        : m_state(seed)
    {
    }

    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    double between(double low, double high) { return low + (high - low) * uniform(); }
    /// Bell-shaped between -1 and 1.
    double bell() { return (uniform() + uniform() + uniform() + uniform()) / 2 - 1; }
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }

private:
    std::uint64_t next()
    {
        m_state += 0x9e3779b97f4a7c15ULL;
        std::uint64_t mixed = m_state;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
        return mixed ^ (mixed >> 31);
    }

    std::uint64_t m_state;
};

class LogWriter
{
public:
    LogWriter(const SampleRun& run, const TrainingPlan& plan)
        : m_run(run)
        , m_plan(plan)
        , m_noise(run.seed)
        , m_ranks(worldSize(plan))
        , m_reserved(static_cast<std::size_t>(m_ranks), 0.0)
    {
    }

    std::string write()
    {
        line("# Illustration computed from formulas, not a measurement of a real run.");
        writeArguments();
        const std::int64_t last = m_run.failure ? m_run.failure->step : m_run.steps;
        for (std::int64_t step = 1; step <= last; ++step) {
            writeStep(step);
        }
        if (!m_run.failure) {
            line(fmt::format("training done: {} steps, exiting", m_run.steps));
        }
        return std::move(m_text);
    }

private:
    template <class Value> void argument(std::string_view name, const Value& value)
    {
        line(fmt::format("  {} {} {}", name, std::string(48 - name.size(), '.'), value));
    }

    void line(std::string_view text)
    {
        m_text += text;
        m_text += '\n';
    }

    void writeArguments()
    {
        line(fmt::format("using world size: {}, pipeline {}, tensor {}, data {}", m_ranks, m_plan.parallel.pp.value,
                         m_plan.parallel.tp.value, dataParallelSize(m_plan)));
        line("------------------------ arguments ------------------------");
        argument("global_batch_size", m_plan.batch.global.value);
        argument("gradient_accumulation_steps", microBatchesPerStep(m_plan));
        argument("hidden_size", m_plan.model.hidden.value);
        argument("micro_batch_size", m_plan.batch.micro.value);
        argument("num_layers", m_plan.model.layers.value);
        argument("pipeline_model_parallel_size", m_plan.parallel.pp.value);
        const bool full = m_plan.recompute.enabled.value && m_plan.recompute.granularity.value == Granularity::Full;
        argument("recompute_granularity", full ? "full" : "None");
        argument("seq_length", m_plan.batch.seq.value);
        argument("tensor_model_parallel_size", m_plan.parallel.tp.value);
        line("-------------------- end of arguments ---------------------");
    }

    void writeStep(std::int64_t step)
    {
        const bool fails = m_run.failure && m_run.failure->step == step;
        const double fill = fails ? m_run.failure->fill : m_noise.between(m_run.shortest, m_run.longest);
        const double seconds = operationsPerStep(m_plan) / (m_run.operationsPerSecond * static_cast<double>(m_ranks))
            * (0.3 + 0.7 * fill) * (step == 1 ? 2.6 : 1 + 0.02 * m_noise.bell());
        const std::int64_t stages = m_plan.parallel.pp.value;
        std::vector<std::array<double, phaseCount>> peaks;
        for (std::int64_t stage = 0; stage < stages; ++stage) {
            peaks.push_back(peaksOfStage(m_plan, m_run.circumstances, stage, fill, step == 1));
        }
        for (std::size_t phase = 0; phase < phaseCount; ++phase) {
            m_clock += seconds * shareOfStep(phase);
            const std::int64_t first = m_noise.below(m_ranks); // whichever rank printed first
            for (std::int64_t i = 0; i < m_ranks; ++i) {
                const std::int64_t rank = (first + i) % m_ranks;
                const auto stage = static_cast<std::size_t>(rank / (m_ranks / stages));
                if (fails && phase == 1) {
                    writeFailure(peaks.front());
                    return;
                }
                writeRecord(step, phase, rank, peaks[stage][phase] * (1 + 0.0006 * m_noise.bell()), seconds);
            }
        }
        writeChatter(step);
    }

    static double shareOfStep(std::size_t phase)
    {
        constexpr std::array<double, phaseCount> shares{0.32, 0.63, 0.05};
        return shares[phase];
    }

    void writeRecord(std::int64_t step, std::size_t phase, std::int64_t rank, double allocated, double seconds)
    {
        // The pool never gives back: the largest peak so far and what does not fit into its holes.
        double& reserved = m_reserved[static_cast<std::size_t>(rank)];
        reserved = std::max(reserved, allocated * 1.008 + 0.25 * gibibyte);
        const std::string_view name = nameOf(static_cast<Phase>(phase));
        const std::string values
            = fmt::format("peak_alloc={:.2f}GiB peak_reserved={:.2f}GiB", allocated / gibibyte, reserved / gibibyte);
        std::string end;
        if (phase + 1 == phaseCount && rank == 0) {
            end = fmt::format(" step_time={:.2f} tokens_per_s={:.0f} loss={:.4f}", seconds, tokensPerStep() / seconds,
                              loss(step));
        }
        switch (m_run.style) {
        case LineStyle::Plain:
            return line(fmt::format("phase={} step={} rank={} {}{}", name, step, rank, values, end));
        case LineStyle::RankPrefix:
            return line(fmt::format("[rank{}]: step={} phase={} {}{}", rank, step, name, values, end));
        case LineStyle::Timestamped:
            return line(fmt::format("{} INFO {} phase={} rank={} step={}{}", time(), values, name, rank, step, end));
        }
    }

    [[nodiscard]] double tokensPerStep() const
    {
        return static_cast<double>(m_plan.batch.micro.value * microBatchesPerStep(m_plan) * dataParallelSize(m_plan)
                                   * m_plan.batch.seq.value);
    }

    /// Falls like 1/step from the first to the last value.
    double loss(std::int64_t step)
    {
        const double progress = 1 / (1 + static_cast<double>(step - 1) / 40);
        return m_run.lastLoss + (m_run.firstLoss - m_run.lastLoss) * progress + 0.03 * m_noise.bell();
    }

    /// The run starts at nine.
    [[nodiscard]] std::string time() const
    {
        const auto milliseconds = static_cast<std::int64_t>(m_clock * 1000);
        const std::int64_t seconds = milliseconds / 1000 + std::int64_t{9} * 3600;
        return fmt::format("2026-03-{:02}T{:02}:{:02}:{:02}.{:03}", 2 + seconds / 86400, seconds / 3600 % 24,
                           seconds / 60 % 60, seconds % 60, milliseconds % 1000);
    }

    /// What stands between the lines of interest.
    void writeChatter(std::int64_t step)
    {
        if (step == 1) {
            line("[rank0]:W torch/nn/parallel/distributed.py: find_unused_parameters was set but no unused parameters");
        }
        if (step % 50 == 0) {
            line(fmt::format("saving checkpoint at step {} to ckpt/iter_{:07}", step, step));
        }
        if (m_noise.below(17) == 0) {
            line(fmt::format("dataloader: worker {} waited {:.1f} s for storage", m_noise.below(8),
                             m_noise.between(0.2, 3)));
        }
    }

    /// PyTorch's own words, with the numbers of the batch that did not fit: forward went through, and the last tensors
    /// that backward needs find no room.
    void writeFailure(const std::array<double, phaseCount>& peaks)
    {
        constexpr double contextGib = 0.6;
        const double wanted = gradientsInPassing(m_plan, m_run.failure->fill) / gibibyte;
        const double allocated = peaks[1] / gibibyte - wanted;
        const double reserved = m_reserved.front() / gibibyte;
        line("[rank0]: Traceback (most recent call last):");
        line("[rank0]:   File \"train.py\", line 212, in train_step");
        line("[rank0]:     loss.backward()");
        line(fmt::format(
            "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {:.2f} MiB. GPU 0 has a total "
            "capacity of {:.2f} GiB of which {:.2f} MiB is free. Including non-PyTorch memory, this process has {:.2f} "
            "GiB "
            "memory in use. Of the allocated memory {:.2f} GiB is allocated by PyTorch, and {:.2f} MiB is reserved by "
            "PyTorch but unallocated. If reserved but unallocated memory is large try setting "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
            wanted * 1024, m_run.failure->capacity, (m_run.failure->capacity - contextGib - reserved) * 1024,
            reserved + contextGib, allocated, (reserved - allocated) * 1024));
        line("W torchrun: sending process 41327 closing signal SIGTERM");
    }

    const SampleRun& m_run;
    const TrainingPlan& m_plan;
    Noise m_noise;
    std::int64_t m_ranks;
    std::vector<double> m_reserved; ///< of each rank, so far
    double m_clock = 0; ///< seconds since the start
    std::string m_text;
};

} // namespace

std::string sampleLog(const SampleRun& run, const TrainingPlan& plan)
{
    return LogWriter(run, plan).write();
}

} // namespace headroom::samples
