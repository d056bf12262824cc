// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/run_history.h"

#include "plan/fields.h"
#include "workspace/wording.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>
#include <QUndoStack>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom {
namespace {

QString settingsKey()
{
    return QStringLiteral("history");
}

/// A figure of a run under its name in the file, so that reading and writing cannot differ.
struct BytesFigure
{
    const char* name;
    std::optional<Bytes> RunFigures::*member;
};
constexpr std::array<BytesFigure, 3> bytesFigures{{{"allocated_bytes", &RunFigures::allocated},
                                                   {"reserved_bytes", &RunFigures::reserved},
                                                   {"device_bytes", &RunFigures::device}}};
struct RealFigure
{
    const char* name;
    std::optional<double> RunFigures::*member;
};
constexpr std::array<RealFigure, 2> realFigures{
    {{"step_time_seconds", &RunFigures::stepSeconds}, {"tokens_per_second", &RunFigures::tokensPerSecond}}};

QJsonValue toJson(std::optional<Bytes> bytes)
{
    return bytes ? QJsonValue(static_cast<qint64>(bytes->value)) : QJsonValue();
}

std::optional<Bytes> bytesOf(const QJsonValue& value)
{
    return value.isDouble() ? std::optional(Bytes{value.toInteger()}) : std::nullopt;
}

QJsonObject toJson(const HistoryRun& run)
{
    const RunFigures& figures = run.figures;
    QJsonObject object{{QStringLiteral("name"), toQString(figures.name)},
                       {QStringLiteral("is_estimate"), figures.isEstimate}};
    for (const BytesFigure& figure : bytesFigures) {
        object[QLatin1String(figure.name)] = toJson(figures.*figure.member);
    }
    for (const RealFigure& figure : realFigures) {
        object[QLatin1String(figure.name)]
            = figures.*figure.member ? QJsonValue(*(figures.*figure.member)) : QJsonValue();
    }
    QJsonArray phases, ranks;
    for (const std::optional<Bytes>& phase : figures.phases) {
        phases.append(toJson(phase));
    }
    for (const std::int32_t rank : figures.ranks) {
        ranks.append(rank);
    }
    object[QStringLiteral("phases")] = phases;
    object[QStringLiteral("ranks")] = ranks;
    object[QStringLiteral("peak_phase")] = figures.peakPhase ? static_cast<int>(*figures.peakPhase) : -1;
    if (run.plan) {
        QJsonObject plan;
        for (const FieldDifference& field : difference(TrainingPlan{}, *run.plan)) {
            plan[toQString(field.key)] = toQString(field.after);
        }
        object[QStringLiteral("plan")] = plan;
    }
    return object;
}

HistoryRun runOf(const QJsonObject& object)
{
    HistoryRun run;
    RunFigures& figures = run.figures;
    figures.name = object[QStringLiteral("name")].toString().toStdString();
    figures.isEstimate = object[QStringLiteral("is_estimate")].toBool();
    for (const BytesFigure& figure : bytesFigures) {
        figures.*figure.member = bytesOf(object[QLatin1String(figure.name)]);
    }
    for (const RealFigure& figure : realFigures) {
        const QJsonValue value = object[QLatin1String(figure.name)];
        figures.*figure.member = value.isDouble() ? std::optional(value.toDouble()) : std::nullopt;
    }
    const QJsonArray phases = object[QStringLiteral("phases")].toArray();
    for (qsizetype i = 0; i < phases.size() && i < static_cast<qsizetype>(figures.phases.size()); ++i) {
        figures.phases[static_cast<std::size_t>(i)] = bytesOf(phases[i]);
    }
    for (const QJsonValue& rank : object[QStringLiteral("ranks")].toArray()) {
        figures.ranks.push_back(rank.toInt());
    }
    const int phase = object[QStringLiteral("peak_phase")].toInt(-1);
    if (phase >= 0 && phase < phaseCount) {
        figures.peakPhase = static_cast<Phase>(phase);
    }
    if (const QJsonValue fields = object[QStringLiteral("plan")]; fields.isObject()) {
        run.plan.emplace();
        const QJsonObject plan = fields.toObject();
        for (auto field = plan.begin(); field != plan.end(); ++field) {
            // A key of another version is left out.
            static_cast<void>(setField(*run.plan, field.key().toStdString(), field.value().toString().toStdString(),
                                       {OriginKind::ConfigFile, 0, nullptr}));
        }
    }
    return run;
}

void removeFrom(std::vector<HistoryRun>& runs, std::optional<std::size_t>& reference, std::size_t place)
{
    runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(place));
    if (reference == place) {
        reference.reset();
    } else if (reference && *reference > place) {
        --*reference;
    }
}

} // namespace

/// One step of undo: the history before and after.
class RunHistory::Edit : public QUndoCommand
{
public:
    Edit(RunHistory& history, State after, const QString& text)
        : QUndoCommand(text)
        , m_history(history)
        , m_before(history.m_now)
        , m_after(std::move(after))
    {
    }

    void undo() override
    {
        m_history.apply(m_before);
        emit m_history.stepped();
    }

    void redo() override
    {
        m_history.apply(m_after);
        if (std::exchange(m_isDone, true)) {
            emit m_history.stepped();
        }
    }

private:
    RunHistory& m_history;
    const State m_before, m_after;
    bool m_isDone = false; ///< a first time, when it was pushed
};

RunHistory::RunHistory(QUndoStack& undo, QObject* parent)
    : QObject(parent)
    , m_undo(undo)
{
    read();
    m_steps = historyOf(m_now.runs, m_now.reference);
}

void RunHistory::add(HistoryRun run)
{
    const std::string name = run.figures.name;
    const auto isTaken = [this](const std::string& wanted) {
        return std::any_of(m_now.runs.begin(), m_now.runs.end(),
                           [&](const HistoryRun& one) { return one.figures.name == wanted; });
    };
    for (int number = 2; isTaken(run.figures.name); ++number) {
        run.figures.name = name + " " + std::to_string(number);
    }
    const QString text = tr("Add run %1").arg(toQString(run.figures.name));
    State after = m_now;
    after.runs.push_back(std::move(run));
    if (after.runs.size() > limit) {
        removeFrom(after.runs, after.reference, 0);
    }
    push(std::move(after), text);
}

void RunHistory::remove(std::size_t place)
{
    if (place >= m_now.runs.size()) {
        return;
    }
    State after = m_now;
    removeFrom(after.runs, after.reference, place);
    push(std::move(after), tr("Remove run %1").arg(nameAt(place)));
}

void RunHistory::rename(std::size_t place, const QString& name)
{
    const QString trimmed = name.trimmed();
    if (place >= m_now.runs.size() || trimmed.isEmpty() || trimmed == nameAt(place)) {
        return;
    }
    State after = m_now;
    after.runs[place].figures.name = trimmed.toStdString();
    push(std::move(after), tr("Rename run %1 to %2").arg(nameAt(place), trimmed));
}

void RunHistory::move(std::size_t place, bool isLater)
{
    const std::size_t other = isLater ? place + 1 : place - 1; // wraps at 0, and is then out of range
    if (place >= m_now.runs.size() || other >= m_now.runs.size()) {
        return;
    }
    State after = m_now;
    std::swap(after.runs[place], after.runs[other]);
    if (after.reference == place) {
        after.reference = other;
    } else if (after.reference == other) {
        after.reference = place;
    }
    push(std::move(after), (isLater ? tr("Move run %1 down") : tr("Move run %1 up")).arg(nameAt(place)));
}

void RunHistory::toggleReference(std::size_t place)
{
    if (place >= m_now.runs.size()) {
        return;
    }
    State after = m_now;
    const bool isReference = m_now.reference == place;
    after.reference = isReference ? std::nullopt : std::optional(place);
    push(std::move(after), isReference ? tr("Measure by the run before") : tr("Measure by run %1").arg(nameAt(place)));
}

QString RunHistory::nameAt(std::size_t place) const
{
    return toQString(m_now.runs[place].figures.name);
}

void RunHistory::push(State after, const QString& text)
{
    m_undo.push(new Edit(*this, std::move(after), text));
}

void RunHistory::apply(const State& state)
{
    m_now = state;
    m_steps = historyOf(m_now.runs, m_now.reference);
    write();
    emit changed();
}

void RunHistory::read()
{
    const QByteArray bytes = QSettings().value(settingsKey()).toByteArray();
    const QJsonObject object = QJsonDocument::fromJson(bytes).object();
    for (const QJsonValue& run : object[QStringLiteral("runs")].toArray()) {
        if (m_now.runs.size() < limit && run.isObject()) {
            m_now.runs.push_back(runOf(run.toObject()));
        }
    }
    const auto reference = object[QStringLiteral("reference")].toInteger(-1);
    if (reference >= 0 && reference < static_cast<qint64>(m_now.runs.size())) {
        m_now.reference = static_cast<std::size_t>(reference);
    }
}

void RunHistory::write() const
{
    if (m_now.runs.empty()) {
        QSettings().remove(settingsKey());
        return;
    }
    QJsonArray runs;
    for (const HistoryRun& run : m_now.runs) {
        runs.append(toJson(run));
    }
    const QJsonObject object{
        {QStringLiteral("runs"), runs},
        {QStringLiteral("reference"), m_now.reference ? static_cast<qint64>(*m_now.reference) : -1}};
    QSettings().setValue(settingsKey(), QJsonDocument(object).toJson(QJsonDocument::Compact));
}

} // namespace headroom
