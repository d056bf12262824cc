// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/explain_tapes.h"
#include "replay/step_timeline.h"
#include "workspace/draft.h"

#include <QFuture>
#include <QFutureSynchronizer>
#include <QFutureWatcher>
#include <QObject>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace headroom {

/// Replays a draft away from the window, stage after stage, the wanted one first. Starting again cancels the one
/// before: only the newest draft's figures are ever reported. The destructor cancels and waits.
class ReplayJob : public QObject
{
    Q_OBJECT

public:
    using Timeline = std::shared_ptr<const StepTimeline>;

    explicit ReplayJob(QObject* parent = nullptr);
    ~ReplayJob() override;

    void start(const Draft& draft, int wantedStage);
    /// The stage to go on with.
    void want(int stage);
    void cancel();
    [[nodiscard]] bool isRunning() const { return m_watcher.isRunning() && !m_watcher.isCanceled(); }

    /// The stages replayed so far; null where there is none yet.
    [[nodiscard]] Timeline timeline(int stage) const;
    /// What fills the stage's peak; null where it is not replayed yet.
    [[nodiscard]] const PeakTensors* peakTensors(int stage) const;
    /// Exact figures of every stage with their intervals; none before all are replayed, and none when that is not
    /// possible.
    [[nodiscard]] const Footprint* footprint() const { return m_footprint.get(); }
    /// Why there is nothing to come.
    [[nodiscard]] const std::optional<Text>& objection() const { return m_objection; }

signals:
    void stageReplayed(int stage);
    void finished(); ///< every stage, or an objection; not after cancel()

private:
    struct Part
    {
        std::size_t stage = 0, stageCount = 0;
        Timeline timeline;
        PeakTensors tensors{};
        std::shared_ptr<const Footprint> complete; ///< the last part has it
        std::optional<Text> objection;
    };
    using Wanted = std::shared_ptr<std::atomic<int>>;

    static void work(QPromise<Part>& promise, const Draft& draft, const Wanted& wanted);
    void take(int index);

    QFutureWatcher<Part> m_watcher;
    QFutureSynchronizer<Part> m_futures;
    Wanted m_wanted;
    std::shared_ptr<const Footprint> m_footprint;
    std::vector<Timeline> m_timelines;
    std::vector<PeakTensors> m_tensors;
    std::optional<Text> m_objection;
};

} // namespace headroom
