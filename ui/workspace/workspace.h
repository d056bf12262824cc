// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/knobs.h"
#include "insight/log_conclusions.h"
#include "workspace/draft.h"
#include "workspace/open_files.h"
#include "workspace/verdict.h"

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <QUndoStack>

#include <memory>
#include <optional>

namespace headroom {

class ConclusionsJob;
class FollowJob;
class OpenJob;
class ReplayJob;

/// The open documents and the plan the user is turning knobs on. Widgets show what is here and ask for changes; nothing
/// else computes. The estimate follows every change at once; findings and the adjusted config, which cost more, follow
/// within `settleMs`; the replay's exact figures take its place when nothing has changed for `restMs` and it is done.
/// What only a log says about its plan is found out away from the window: opening lasts until it is.
class Workspace : public QObject
{
    Q_OBJECT

public:
    explicit Workspace(std::shared_ptr<const Library> library, QObject* parent = nullptr);
    ~Workspace() override;

    void open(const QStringList& paths);
    void cancelOpening();
    void reload();
    void close();
    [[nodiscard]] bool isOpening() const;
    [[nodiscard]] bool isEmpty() const { return !m_log && !m_config && !m_model; }
    [[nodiscard]] QStringList openPaths() const;

    [[nodiscard]] const Library& library() const { return *m_library; }
    [[nodiscard]] const LoadedLog* log() const { return m_log ? &*m_log : nullptr; }
    [[nodiscard]] const LoadedConfig* config() const { return m_config ? &*m_config : nullptr; }
    [[nodiscard]] const LoadedModel* model() const { return m_model ? &*m_model : nullptr; }
    [[nodiscard]] const Draft& draft() const { return m_draft; }
    [[nodiscard]] const TrainingPlan& plan() const { return m_draft.plan; }
    [[nodiscard]] const Draft& original() const { return m_original; }

    [[nodiscard]] const Footprint* footprint() const { return m_footprint ? &*m_footprint : nullptr; }
    /// Why there is no footprint.
    [[nodiscard]] QString obstacle() const;
    /// Of the same engine as footprint() as soon as there is one.
    [[nodiscard]] const Footprint* baseline() const;
    [[nodiscard]] QString baselineName() const;
    [[nodiscard]] bool hasPinnedBaseline() const { return m_pinned.has_value(); }
    [[nodiscard]] std::optional<Bytes> capacity() const;
    /// Of the stages of the plan as it stands; empty when the log was made with another number of them.
    [[nodiscard]] std::vector<std::optional<Bytes>> measuredStages() const;
    [[nodiscard]] const Verdict& verdict() const { return m_verdict; }
    [[nodiscard]] const std::vector<Finding>& findings() const { return m_findings; }
    /// Fields of parallelism that the open config's format cannot say.
    [[nodiscard]] std::vector<std::string> fieldsLacking() const;
    [[nodiscard]] std::vector<Problem> problems() const;
    /// All that could not be understood, of which problems() may hold only the first.
    [[nodiscard]] qint64 problemCount() const;

    /// Exact figures and timelines are on their way.
    [[nodiscard]] bool isReplaying() const;
    /// The stages' timelines of the plan as it stands.
    [[nodiscard]] const ReplayJob& replayJob() const { return *m_replay; }
    /// Why no timeline will come; empty while one may.
    [[nodiscard]] QString timelineObstacle() const;
    /// The stage to replay first.
    void wantStage(int stage);

    [[nodiscard]] QUndoStack& undoStack() { return m_undo; }
    [[nodiscard]] KnobLinks links() const { return m_links; }
    void setLinks(KnobLinks links);
    /// Consecutive edits with the same key become one step of undo, until endGesture().
    void edit(const std::vector<PlanEdit>& edits, const QString& text, int mergeKey = 0);
    void turnKnob(Knob knob, qint64 value);
    void resetKnob(Knob knob);
    void setGranularity(Granularity granularity);
    void setK(std::optional<double> k);
    /// The user's own k stays as it is.
    void setCalibration(Calibration calibration, const QString& text);
    void endGesture();
    void mend(const Mend& mend);
    void resetAll();
    void useModel(const TrainingPlan& model, const QString& title);
    void chooseGpu(const Gpu& gpu);
    void chooseCapacity(Bytes capacity);
    /// Outlines the estimate as it stands; resetBaseline() goes back to the files.
    void pinBaseline();
    void resetBaseline();

    /// The config with the edits, byte for byte the file where nothing was edited; the reason when that is impossible.
    [[nodiscard]] Result<ConfigDocument> adjustedConfig() const;
    [[nodiscard]] bool isModified() const { return m_isModified; }
    [[nodiscard]] bool configChangedOnDisk() const;
    [[nodiscard]] Result<void> exportConfig(const std::filesystem::path& path);

    static constexpr int settleMs = 40;
    static constexpr int restMs = 120;

signals:
    void documentsChanged();
    void draftChanged(); ///< plan, calibration, footprint, baseline, capacity or verdict
    void replayChanged(); ///< a timeline came, or exact figures are no longer on their way
    void findingsChanged();
    void configChanged(); ///< the adjusted config or whether it is saved
    void openingChanged();
    void openingProgressed(int permille, const QString& name);
    void concludingFrom(const QString& name); ///< the log, which is read
    void opened(const QStringList& paths);
    void messageRaised(headroom::Severity severity, const QString& sentence);

private:
    void take(const OpenedFiles& files);
    void takeFiles(const OpenedFiles& files, std::optional<TrainingPlan> composed);
    void takeGrown(const LoadedLog& log);
    void startFromFiles(const std::vector<PlanEdit>& edits, std::optional<TrainingPlan> composed = {}); ///< if composed
    void applyDraft(const Draft& draft);
    void push(Draft after, const QString& text, int mergeKey);
    void recompute();
    void judgeFootprint();
    void computeBaseline();
    void settle();
    void conclude();
    void takeConclusions(const LogConclusions& conclusions);
    void forgetConclusions();
    [[nodiscard]] bool hasPlan() const;
    void connectReplay();
    void startReplay();
    void takeReplay();
    void replayBaseline();
    [[nodiscard]] const Draft& baselineDraft() const { return m_pinned ? *m_pinned : m_original; }

    std::shared_ptr<const Library> m_library;
    OpenJob* m_job;
    FollowJob* m_follow;
    ReplayJob* m_replay;
    ReplayJob* m_baselineReplay;
    ConclusionsJob* m_concluding;
    std::optional<LoadedLog> m_log;
    std::optional<LoadedConfig> m_config;
    std::optional<LoadedModel> m_model;
    std::vector<Problem> m_openProblems;
    Draft m_original;
    Draft m_draft;
    std::optional<Draft> m_pinned;
    std::optional<Footprint> m_footprint, m_originalFootprint, m_baselineFootprint;
    std::optional<Footprint> m_exactOriginal, m_exactBaseline;
    Problem m_obstacle;
    Verdict m_verdict;
    std::optional<LogConclusions> m_conclusions; ///< of the log and the files' plan, until one of them changes
    std::vector<Finding> m_findings;
    QUndoStack m_undo;
    QTimer m_settle;
    QTimer m_rest;
    int m_wantedStage = -1; ///< -1: the fullest
    KnobLinks m_links;
    int m_gesture = 1;
    std::string m_savedBytes;
    bool m_isModified = false;
};

} // namespace headroom
