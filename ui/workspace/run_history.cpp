// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/run_history.h"

#include "plan/fields.h"
#include "workspace/wording.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>

#include <algorithm>
#include <array>

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

} // namespace

RunHistory::RunHistory(QObject* parent)
    : QObject(parent)
{
    read();
    m_steps = historyOf(m_runs, m_reference);
}

void RunHistory::add(HistoryRun run)
{
    const std::string name = run.figures.name;
    const auto isTaken = [this](const std::string& wanted) {
        return std::any_of(m_runs.begin(), m_runs.end(),
                           [&](const HistoryRun& one) { return one.figures.name == wanted; });
    };
    for (int number = 2; isTaken(run.figures.name); ++number) {
        run.figures.name = name + " " + std::to_string(number);
    }
    m_runs.push_back(std::move(run));
    if (m_runs.size() > limit) {
        remove(0);
        return;
    }
    settle();
}

void RunHistory::remove(std::size_t place)
{
    if (place >= m_runs.size()) {
        return;
    }
    m_runs.erase(m_runs.begin() + static_cast<std::ptrdiff_t>(place));
    if (m_reference == place) {
        m_reference.reset();
    } else if (m_reference && *m_reference > place) {
        --*m_reference;
    }
    settle();
}

void RunHistory::rename(std::size_t place, const QString& name)
{
    const QString trimmed = name.trimmed();
    if (place < m_runs.size() && !trimmed.isEmpty()) {
        m_runs[place].figures.name = trimmed.toStdString();
        settle();
    }
}

void RunHistory::move(std::size_t place, bool isLater)
{
    const std::size_t other = isLater ? place + 1 : place - 1; // wraps at 0, and is then out of range
    if (place >= m_runs.size() || other >= m_runs.size()) {
        return;
    }
    std::swap(m_runs[place], m_runs[other]);
    if (m_reference == place) {
        m_reference = other;
    } else if (m_reference == other) {
        m_reference = place;
    }
    settle();
}

void RunHistory::toggleReference(std::size_t place)
{
    if (place < m_runs.size()) {
        m_reference = m_reference == place ? std::nullopt : std::optional(place);
        settle();
    }
}

void RunHistory::settle()
{
    m_steps = historyOf(m_runs, m_reference);
    write();
    emit changed();
}

void RunHistory::read()
{
    const QByteArray bytes = QSettings().value(settingsKey()).toByteArray();
    const QJsonObject object = QJsonDocument::fromJson(bytes).object();
    for (const QJsonValue& run : object[QStringLiteral("runs")].toArray()) {
        if (m_runs.size() < limit && run.isObject()) {
            m_runs.push_back(runOf(run.toObject()));
        }
    }
    const auto reference = object[QStringLiteral("reference")].toInteger(-1);
    if (reference >= 0 && reference < static_cast<qint64>(m_runs.size())) {
        m_reference = static_cast<std::size_t>(reference);
    }
}

void RunHistory::write() const
{
    if (m_runs.empty()) {
        QSettings().remove(settingsKey());
        return;
    }
    QJsonArray runs;
    for (const HistoryRun& run : m_runs) {
        runs.append(toJson(run));
    }
    const QJsonObject object{{QStringLiteral("runs"), runs},
                             {QStringLiteral("reference"), m_reference ? static_cast<qint64>(*m_reference) : -1}};
    QSettings().setValue(settingsKey(), QJsonDocument(object).toJson(QJsonDocument::Compact));
}

} // namespace headroom
