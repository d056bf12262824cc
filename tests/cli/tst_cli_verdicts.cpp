// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli_fixture.h"
#include "verdict_pairs.h"

#include "insight/finding.h"

using namespace headroom::cli;

Q_DECLARE_METATYPE(Input)

/// Each verdict of the troubleshooting recipe at the terminal, as a pair: inputs that earn it, and ones that do not.
class TestCliVerdicts : public CliFixture
{
    Q_OBJECT

private slots:
    void pairs_data();
    void pairs();
    void everyFindingHasAPair();
    void disagreements_data();
    void disagreements();
    void outOfMemoryCauses_data();
    void outOfMemoryCauses();
    void losses_data();
    void losses();
    void comparisons_data();
    void comparisons();

private:
    QStringList idsOf(const Outcome& outcome);
    QStringList findingsOf(const Input& input);
    QByteArray changed(const QByteArray& from, const QByteArray& to);
};

QStringList TestCliVerdicts::idsOf(const Outcome& outcome)
{
    QStringList ids;
    const auto json = outcome.json();
    if (json.is_object()) {
        for (const auto& finding : json["findings"]) {
            ids << QString::fromStdString(finding["id"].get<std::string>());
        }
    }
    return ids;
}

QByteArray TestCliVerdicts::changed(const QByteArray& from, const QByteArray& to)
{
    QByteArray config = example;
    if (!from.isEmpty()) {
        Q_ASSERT(config.contains(from));
        config.replace(from, to);
    }
    return config;
}

QStringList TestCliVerdicts::findingsOf(const Input& input)
{
    const QString file = input.file.isEmpty() ? QStringLiteral("a.yaml") : input.file;
    write(file.toLatin1().constData(), input.config.isEmpty() ? changed(input.from, input.to) : input.config);
    QStringList arguments{input.settings.isEmpty() ? "check" : "estimate", file, "--json"};
    for (const QString& setting : input.settings) {
        arguments << "--set" << setting;
    }
    if (!input.log.isEmpty()) {
        write("train.log", input.log);
        arguments << "--log"
                  << "train.log";
    }
    const Outcome outcome = run(arguments);
    if (outcome.code != 0 && outcome.code != 1) {
        qWarning("exit code %d: %s", outcome.code, outcome.err.constData());
        return {"failed"};
    }
    return idsOf(outcome);
}

void TestCliVerdicts::pairs_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<Input>("with");
    QTest::addColumn<Input>("without");
    for (const Pair& pair : allPairs()) {
        QTest::newRow(qPrintable(pair.name)) << pair.id() << pair.with << pair.without;
    }
}

void TestCliVerdicts::pairs()
{
    QFETCH(QString, id);
    QFETCH(Input, with);
    QFETCH(Input, without);
    const QStringList fired = findingsOf(with);
    QVERIFY2(fired.contains(id), qPrintable(fired.join(u' ')));
    const QStringList silent = findingsOf(without);
    QVERIFY2(!silent.contains(id) && !silent.contains("failed"), qPrintable(silent.join(u' ')));
}

void TestCliVerdicts::everyFindingHasAPair()
{
    QStringList tested{"another-setting-ran", "estimate-disagrees"}; // by disagreements()
    for (const Pair& pair : allPairs()) {
        tested << pair.id();
    }
    for (const std::string_view id : headroom::findingIds()) {
        const QString name = QString::fromUtf8(id.data(), qsizetype(id.size()));
        QVERIFY2(tested.contains(name), qPrintable(name + " has no pair of inputs"));
    }
}

void TestCliVerdicts::disagreements_data()
{
    QTest::addColumn<QStringList>("ran");
    QTest::addColumn<QString>("id");
    QTest::newRow("as the config says") << QStringList{"recompute.enabled=true"} << QString();
    QTest::newRow("recompute never loaded")
        << QStringList{"recompute.enabled=false"} << QStringLiteral("another-setting-ran");
    QTest::newRow("samples four times as long")
        << QStringList{"recompute.enabled=true", "batch.seq=4096"} << QStringLiteral("estimate-disagrees");
}

/// The log shows the peaks of what ran, the config what was meant to.
void TestCliVerdicts::disagreements()
{
    QFETCH(QStringList, ran);
    QFETCH(QString, id);
    QByteArray config = changed("enabled: false\n  granularity: none", "enabled: true\n  granularity: full");
    config.replace("micro_batch_size: 2 ", "micro_batch_size: 16 ");
    config.replace("global_batch_size: 16", "global_batch_size: 128");
    config.replace("hidden_size: 1024\n", "hidden_size: 1024\n  num_attention_heads: 16\n");
    write("a.yaml", config);
    QStringList arguments{"estimate", "a.yaml", "--instant", "--json"};
    for (const QString& setting : ran) {
        arguments << "--set" << setting;
    }
    const auto estimate = run(arguments).json();
    QVERIFY(estimate.is_object());
    QByteArray text;
    for (int step = 1; step <= 2; ++step) {
        for (const char* phase : {"forward", "backward", "optimizer"}) {
            const auto bytes = estimate["stages"][0]["phases"][phase]["allocated_bytes"].get<qint64>();
            text += "phase=" + QByteArray(phase) + " step=" + QByteArray::number(step)
                + " rank=0 peak_alloc=" + QByteArray::number(bytes) + "B\n";
        }
    }
    write("train.log", text);
    const QStringList ids = idsOf(run({"check", "a.yaml", "--log", "train.log", "--json"}));
    for (const char* one : {"another-setting-ran", "estimate-disagrees"}) {
        QVERIFY2(ids.contains(one) == (id == one), qPrintable(ids.join(u' ')));
    }
}

void TestCliVerdicts::outOfMemoryCauses_data()
{
    QTest::addColumn<QByteArray>("log");
    QTest::addColumn<std::string>("cause");
    // 3 GiB would have found room in the 4.84 GiB that lie reserved in pieces, not in 0.1 GiB of them.
    QTest::newRow("fragmentation") << outOfMemory("1.66", "12.09", "4.84") << std::string("fragmentation");
    QTest::newRow("shortage") << outOfMemory("0.66", "22.30", "0.10") << std::string("shortage");
}

void TestCliVerdicts::outOfMemoryCauses()
{
    QFETCH(QByteArray, log);
    QFETCH(std::string, cause);
    write("train.log", log);
    const auto json = run({"log", "train.log", "--json"}).json();
    QVERIFY(json.is_object() && json["out_of_memory"].size() == 1);
    QCOMPARE(json["out_of_memory"][0]["cause"].get<std::string>(), cause);
}

void TestCliVerdicts::losses_data()
{
    QTest::addColumn<double>("offset");
    QTest::addColumn<double>("slope");
    QTest::addColumn<double>("factor");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("verdict");
    QTest::newRow("the same") << 0.0 << 0.0 << 1.0 << 0 << QByteArray("identical");
    QTest::newRow("rounding") << 1e-5 << 0.0 << 1.0 << 0 << QByteArray("noise");
    QTest::newRow("growing apart") << 0.0 << 0.01 << 1.0 << 1 << QByteArray("drift");
    QTest::newRow("summed over 4 micro-batches") << 0.0 << 0.0 << 4.0 << 1 << QByteArray("scaled");
}

/// Section 5: 40 steps of a falling loss with its ups and downs, and the same with an error.
void TestCliVerdicts::losses()
{
    QFETCH(double, offset);
    QFETCH(double, slope);
    QFETCH(double, factor);
    QByteArray a;
    QByteArray b;
    for (int step = 1; step <= 40; ++step) {
        const double loss = 8 - 0.1 * step + 0.05 * ((step * 7) % 5 - 2);
        const double other = factor * loss + (step % 2 == 0 ? offset : -offset) + slope * step;
        const QByteArray start = "{\"step\": " + QByteArray::number(step) + ", \"loss\": ";
        a += start + QByteArray::number(loss, 'f', 8) + "}\n";
        b += start + QByteArray::number(other, 'f', 8) + "}\n";
    }
    write("a.jsonl", a);
    write("b.jsonl", b);
    const Outcome outcome = run({"loss", "a.jsonl", "b.jsonl", "--json"});
    QTEST(outcome.code, "code");
    QTEST(QByteArray::fromStdString(outcome.json()["verdict"].get<std::string>()), "verdict");
}

void TestCliVerdicts::comparisons_data()
{
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<QString>("id");
    QTest::addColumn<bool>("fires");
    const QByteArray lower = "phase=backward step=1 peak_alloc=12GiB peak_reserved=39.5GiB\n";
    const QByteArray same = "phase=backward step=1 peak_alloc=30GiB peak_reserved=40GiB\n";
    QTest::newRow("nothing moved") << same << QStringLiteral("no-effect") << true;
    QTest::newRow("allocated moved") << lower << QStringLiteral("no-effect") << false;
}

/// Section 4: before and after one switch.
void TestCliVerdicts::comparisons()
{
    QFETCH(QByteArray, after);
    QFETCH(QString, id);
    write("before.log", "phase=backward step=1 peak_alloc=30GiB peak_reserved=40GiB\n");
    write("after.log", after);
    write("b.yaml", changed("enabled: false\n  granularity: none", "enabled: true\n  granularity: full"));
    const Outcome outcome
        = run({"compare", "before.log", "after.log", "--config", "a.yaml", "--other-config", "b.yaml", "--json"});
    const QStringList ids = idsOf(outcome);
    QTEST(ids.contains(id), "fires");
    QTEST(outcome.code == 1, "fires");
}

QTEST_GUILESS_MAIN(TestCliVerdicts)
#include "tst_cli_verdicts.moc"
