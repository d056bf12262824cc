// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/line_format.h"
#include "runlog/log_arguments.h"
#include "runlog/out_of_memory.h"
#include "runlog/read_log.h"
#include "support/folders.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSet>
#include <QTest>

#include <cmath>

using namespace headroom;

namespace {

/// A trap of published logs: what the log has, and what must be made of it. See the head of log_traps.txt.
struct Trap
{
    QString format, name;
    int line = 0;
    QString log;
    QStringList expected;
};

QString unescaped(QString text)
{
    return text.replace(QLatin1String("\\e"), QLatin1String("\x1b"))
        .replace(QLatin1String("\\r"), QLatin1String("\r"))
        .replace(QLatin1String("\\t"), QLatin1String("\t"));
}

QList<Trap> allTraps()
{
    QList<Trap> traps;
    QFile file(testData("log_traps.txt"));
    if (!file.open(QIODevice::ReadOnly)) {
        return traps;
    }
    int number = 0;
    for (const QString& line : QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'))) {
        ++number;
        if (line.startsWith(QLatin1Char('['))) {
            const qsizetype close = line.indexOf(QLatin1Char(']'));
            traps.append({line.mid(1, close - 1), line.mid(close + 2), number, {}, {}});
        } else if (line.startsWith(QLatin1Char('|'))) {
            traps.last().log += unescaped(line.mid(1)) + QLatin1Char('\n');
        } else if (!line.isEmpty() && !line.startsWith(QLatin1Char('#'))) {
            traps.last().expected.append(line);
        }
    }
    return traps;
}

/// "1.5 GiB" as bytes, "2.5" as itself, "-" as nothing.
std::optional<double> amount(const QString& text)
{
    static const QHash<QString, double> units{{QStringLiteral("B"), 1},         {QStringLiteral("KiB"), 1024},
                                              {QStringLiteral("MiB"), 1048576}, {QStringLiteral("GiB"), 1073741824},
                                              {QStringLiteral("MB"), 1e6},      {QStringLiteral("GB"), 1e9}};
    const QStringList words = text.split(QLatin1Char(' '));
    bool isNumber = false;
    const double number = words.first().toDouble(&isNumber);
    return isNumber ? std::optional(number * (words.size() > 1 ? units.value(words[1], 0) : 1)) : std::nullopt;
}

bool same(const std::optional<double>& actual, const QString& expected)
{
    const std::optional<double> want = amount(expected);
    if (!actual || !want) {
        return actual.has_value() == want.has_value();
    }
    // Amounts are whole bytes, and some columns are floats.
    return std::abs(*actual - *want) <= std::max(*want > 1e6 ? 1.0 : 0.0, 1e-6 * std::abs(*want));
}

template <class T> std::optional<double> valueAt(const Sparse<T>& column, std::size_t record)
{
    const auto found = std::ranges::find(column.records, record);
    return found == column.records.end()
        ? std::nullopt
        : std::optional(static_cast<double>(column.values[static_cast<std::size_t>(found - column.records.begin())]));
}

std::optional<double> ofRecord(const Run& run, std::size_t i, const QString& key)
{
    const auto present
        = [](std::int64_t value) { return value < 0 ? std::nullopt : std::optional(static_cast<double>(value)); };
    const QHash<QString, std::optional<double>> values{
        {QStringLiteral("step"), present(run.step[i])},
        {QStringLiteral("rank"), present(run.rank[i])},
        {QStringLiteral("line"), present(run.line[i])},
        {QStringLiteral("alloc"), present(run.allocatedBytes[i])},
        {QStringLiteral("reserved"), present(run.reservedBytes.empty() ? -1 : run.reservedBytes[i])},
        {QStringLiteral("current"), valueAt(run.currentBytes, i)},
        {QStringLiteral("active"), valueAt(run.activeBytes, i)},
        {QStringLiteral("device"), valueAt(run.deviceBytes, i)},
        {QStringLiteral("time"), valueAt(run.stepSeconds, i)},
        {QStringLiteral("tps"), valueAt(run.tokensPerSecond, i)},
        {QStringLiteral("loss"), valueAt(run.loss, i)}};
    return values.value(key, std::nullopt);
}

std::optional<double> ofStep(const StepColumns& steps, std::size_t i, const QString& key)
{
    const auto present = [](double value) { return std::isnan(value) ? std::nullopt : std::optional(value); };
    const QHash<QString, std::optional<double>> values{
        {QStringLiteral("step"), present(steps.step[i])},
        {QStringLiteral("line"), present(steps.line[i])},
        {QStringLiteral("time"), present(static_cast<double>(steps.seconds[i]))},
        {QStringLiteral("tps"), present(static_cast<double>(steps.tokensPerSecond[i]))},
        {QStringLiteral("loss"), present(steps.loss[i])}};
    return values.value(key, std::nullopt);
}

/// One expected row against the reading; the sentence that says what differs, or nothing.
class Comparison
{
public:
    explicit Comparison(const Run& run)
        : m_run(run)
    {
    }

    QString check(const QString& row)
    {
        const QString kind = row.section(QLatin1Char(' '), 0, 0);
        const QString rest = row.section(QLatin1Char(' '), 1);
        if (kind == QLatin1String("record")) {
            const std::size_t i = records++;
            return i < m_run.size() ? fields(
                       rest, [&](const QString& key) { return ofRecord(m_run, i, key); },
                       QString::fromStdString(m_run.phaseNames[m_run.phase[i]]))
                                    : QStringLiteral("there is no such record");
        }
        if (kind == QLatin1String("step")) {
            const std::size_t i = steps++;
            return i < m_run.steps.size()
                ? fields(rest, [&](const QString& key) { return ofStep(m_run.steps, i, key); }, {})
                : QStringLiteral("there is no such row of steps");
        }
        if (kind == QLatin1String("fact") || kind == QLatin1String("nofact")) {
            return hasFact(rest) == (kind == QLatin1String("fact")) ? QString() : described();
        }
        return checkSentence(kind, rest);
    }

    std::size_t records = 0, steps = 0;

private:
    template <class Value> static QString fields(const QString& list, const Value& valueOf, const QString& phase)
    {
        for (const QString& field : list.split(QStringLiteral("; "), Qt::SkipEmptyParts)) {
            const QString key = field.section(QLatin1Char('='), 0, 0);
            const QString value = field.section(QLatin1Char('='), 1);
            if (key == QLatin1String("phase") ? phase != value : !same(valueOf(key), value)) {
                const std::optional<double> actual = valueOf(key);
                return QStringLiteral("%1 is %2")
                    .arg(key,
                         key == QLatin1String("phase") ? phase
                             : actual                  ? QString::number(*actual, 'g', 17)
                                                       : QStringLiteral("absent"));
            }
        }
        return {};
    }

    [[nodiscard]] bool hasFact(const QString& row) const
    {
        const std::string format = row.section(QLatin1Char(' '), 0, 0).toStdString();
        const QString list = row.section(QLatin1Char(' '), 1);
        return std::ranges::any_of(m_run.facts, [&](const LogFact& fact) {
            const auto has = [&](const QString& field) {
                const std::string name = field.section(QLatin1Char('='), 0, 0).toStdString();
                const QString value = field.section(QLatin1Char('='), 1);
                const LogFact::Field* const found = fact.find(name);
                return found != nullptr
                    && (QString::fromStdString(found->text) == value || (found->number && same(found->number, value)));
            };
            const QStringList all = list.split(QStringLiteral("; "), Qt::SkipEmptyParts);
            return fact.format == format && std::ranges::all_of(all, has);
        });
    }

    [[nodiscard]] QString checkSentence(const QString& kind, const QString& rest) const
    {
        const std::string text = rest.toStdString();
        bool holds = false;
        if (kind == QLatin1String("note")) {
            holds = std::ranges::any_of(
                m_run.inferences, [&](const Text& note) { return note.english().find(text) != std::string::npos; });
        } else if (kind == QLatin1String("argument")) {
            const std::vector<LogArgument> arguments = argumentsOf(m_run);
            holds = std::ranges::any_of(
                arguments, [&](const LogArgument& argument) { return argument.key + '=' + argument.value == text; });
        } else if (kind == QLatin1String("parameters")) {
            const std::vector<LogParameters> all = parametersOf(m_run);
            holds = std::ranges::any_of(all, [&](const LogParameters& one) { return one.count == rest.toLongLong(); });
        } else if (kind == QLatin1String("capacity")) {
            const std::optional<Bytes> bytes = capacityOf(m_run);
            holds = same(bytes ? std::optional(static_cast<double>(bytes->value)) : std::nullopt, rest);
        } else if (kind == QLatin1String("oom")) {
            return checkOutOfMemory(rest);
        }
        return holds ? QString() : described();
    }

    [[nodiscard]] QString checkOutOfMemory(const QString& rest) const
    {
        const std::vector<OutOfMemory> all = outOfMemoryOf(m_run);
        if (all.size() != 1) {
            return QStringLiteral("%1 messages").arg(all.size());
        }
        const auto value = [&](const std::optional<Bytes>& bytes) {
            return bytes ? std::optional(static_cast<double>(bytes->value)) : std::nullopt;
        };
        const OutOfMemory& message = all.front();
        const QHash<QString, std::optional<double>> values{
            {QStringLiteral("requested"), value(message.requested)},
            {QStringLiteral("capacity"), value(message.capacity)},
            {QStringLiteral("allocated"), value(message.allocated)},
            {QStringLiteral("reserved"), value(message.reserved)},
            {QStringLiteral("free"), value(message.free)},
            {QStringLiteral("process"), value(message.process)},
            {QStringLiteral("limit"), value(message.limit)},
            {QStringLiteral("line"), double(message.line)},
            {QStringLiteral("host"), double(message.cause == OutOfMemoryCause::Host)}};
        return fields(rest, [&](const QString& key) { return values.value(key, std::nullopt); }, {});
    }

    [[nodiscard]] QString described() const
    {
        QString text = QStringLiteral("the facts are:");
        for (const LogFact& fact : m_run.facts) {
            text += QStringLiteral(" %1@%2(").arg(QString::fromStdString(fact.format)).arg(fact.line);
            for (const LogFact::Field& field : fact.fields) {
                text += QString::fromStdString(field.name + '=' + field.text + ' ');
            }
            text += QLatin1Char(')');
        }
        return text;
    }

    const Run& m_run;
};

} // namespace

/// The traps of published logs, one by one: tests/data/log_traps.txt.
class LogTrapsTest : public QObject
{
    Q_OBJECT

private slots:
    void trap_data();
    void trap();
    void everyTrapIsCovered();
};

void LogTrapsTest::trap_data()
{
    QTest::addColumn<QString>("log");
    QTest::addColumn<QStringList>("expected");
    for (const Trap& trap : allTraps()) {
        QTest::addRow("%s: %s", qPrintable(trap.format), qPrintable(trap.name)) << trap.log << trap.expected;
    }
}

void LogTrapsTest::trap()
{
    QFETCH(QString, log);
    QFETCH(QStringList, expected);
    const Run run = readLogText(log.toStdString(), "train.log");
    Comparison comparison(run);
    for (const QString& row : expected) {
        const QString difference = comparison.check(row);
        QVERIFY2(difference.isEmpty(), qPrintable(row + QStringLiteral(" -- ") + difference));
    }
    QCOMPARE(run.size(), comparison.records);
    QCOMPARE(run.steps.size(), comparison.steps);
}

/// Each format has its traps here, and each trap says what comes of it.
void LogTrapsTest::everyTrapIsCovered()
{
    const QList<Trap> traps = allTraps();
    QVERIFY(!traps.isEmpty());
    QSet<QString> covered;
    for (const Trap& trap : traps) {
        QVERIFY2(LineFormats::builtin().find(trap.format.toStdString()) != nullptr, qPrintable(trap.format));
        QVERIFY2(!trap.log.isEmpty(), qPrintable(trap.name));
        covered.insert(trap.format);
    }
    QFile file(sharedPath("knowledge/logformats.json"));
    if (!file.open(QIODevice::ReadOnly)) {
        QSKIP("the published traps are not here");
    }
    QStringList missing;
    for (const QJsonValue& record : QJsonDocument::fromJson(file.readAll().replace(": NaN", ": null"))
                                        .object()[QStringLiteral("records")]
                                        .toArray()) {
        const QString id = record[QStringLiteral("id")].toString();
        if (!record[QStringLiteral("trap")].toString().isEmpty() && !covered.contains(id)) {
            missing.append(id);
        }
    }
    QVERIFY2(missing.isEmpty(), qPrintable(missing.join(QLatin1Char(' '))));
}

QTEST_APPLESS_MAIN(LogTrapsTest)
#include "tst_log_traps.moc"
