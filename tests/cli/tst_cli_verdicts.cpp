// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli_fixture.h"

using namespace headroom::cli;

namespace {

/// What a user hands in: changes of the recipe's example ("from" → "to"), and a log.
struct Input
{
    QByteArray from, to, log;
};

QByteArray peaks(const char* forward, const char* backward, const char* optimizer)
{
    QByteArray log;
    for (int step = 1; step <= 4; ++step) {
        const QByteArray at = " step=" + QByteArray::number(step) + " peak_alloc=";
        // A step's first phase falls below the last step's largest, so that no running maximum is seen.
        log += "phase=forward" + at + forward + "GiB\nphase=backward" + at + backward + "GiB\nphase=optimizer" + at
            + optimizer + "GiB\n";
    }
    return log;
}

/// Steps whose backward peaks grow by `slope` GiB each, with one of them, 10, higher by `spike`.
QByteArray steps(double slope, double spike, double firstBelow = 0)
{
    QByteArray log;
    for (int step = 1; step <= 20; ++step) {
        const double peak = 20 + slope * step + (step == 10 ? spike : 0) - (step == 1 ? firstBelow : 0);
        const QByteArray at = " step=" + QByteArray::number(step) + " peak_alloc=";
        log += "phase=forward" + at + "10GiB\nphase=backward" + at + QByteArray::number(peak, 'f', 2) + "GiB\n";
    }
    return log;
}

QByteArray outOfMemory(const char* free, const char* allocated, const char* unallocated)
{
    return QByteArray("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total "
                      "capacity of 23.65 GiB of which ")
        + free + " GiB is free. Of the allocated memory " + allocated + " GiB is allocated by PyTorch, and "
        + unallocated + " GiB is reserved by PyTorch but unallocated.\n";
}

} // namespace

Q_DECLARE_METATYPE(Input)

/// Each verdict of the troubleshooting recipe at the terminal, as a pair: inputs that earn it, and ones that do not.
class TestCliVerdicts : public CliFixture
{
    Q_OBJECT

private slots:
    void pairs_data();
    void pairs();
    void outOfMemoryCauses_data();
    void outOfMemoryCauses();
    void losses_data();
    void losses();
    void comparisons_data();
    void comparisons();

private:
    QStringList idsOf(const Outcome& outcome);
    QStringList checked(const Input& input);
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

QStringList TestCliVerdicts::checked(const Input& input)
{
    write("a.yaml", changed(input.from, input.to));
    QStringList arguments{"check", "a.yaml", "--json"};
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
    const auto add = [](const char* id, const Input& with, const Input& without) {
        QTest::newRow(id) << QString::fromLatin1(id) << with << without;
    };
    const Input plain;
    // Section 1: the phase of the peak
    const Input forward{{}, {}, peaks("30", "20", "10")};
    const Input backward{{}, {}, peaks("20", "30", "10")};
    const Input optimizer{{}, {}, peaks("10", "20", "30")};
    add("peak-in-forward", forward, backward);
    add("peak-in-backward", backward, optimizer);
    add("peak-in-optimizer", optimizer, forward);
    add("statistics-not-reset",
        {{},
         {},
         "phase=forward step=1 peak_alloc=10GiB\nphase=backward step=1 peak_alloc=20GiB\n"
         "phase=optimizer step=1 peak_alloc=25GiB\nphase=forward step=2 peak_alloc=25GiB\n"
         "phase=backward step=2 peak_alloc=25GiB\nphase=optimizer step=2 peak_alloc=26GiB\n"},
        backward);
    // The usual causes, and section 3: the batch and the split
    add("micro-batch-is-global-batch", {"micro_batch_size: 2 ", "micro_batch_size: 16 ", {}}, plain);
    add("global-batch-mismatch", {"global_batch_size: 16", "global_batch_size: 24", {}}, plain);
    add("layers-do-not-divide", {"pipeline_parallel_size: 1", "pipeline_parallel_size: 5", {}},
        {"pipeline_parallel_size: 1", "pipeline_parallel_size: 4", {}});
    add("recompute-not-loaded", {"granularity: none", "granularity: full", {}},
        {"enabled: false\n  granularity: none", "enabled: true\n  granularity: full", {}});
    // Over the steps
    add("growth-over-steps", {{}, {}, steps(0.1, 0)}, {{}, {}, steps(0, 0)});
    add("one-step-far-above", {{}, {}, steps(0, 8)}, {{}, {}, steps(0, 0)});
    add("first-step-below", {{}, {}, steps(0, 0, 5)}, {{}, {}, steps(0, 0)});
    // Section 4: the pool keeps what it has
    add("reserved-above-allocated", {{}, {}, "phase=backward step=1 peak_alloc=20GiB peak_reserved=28GiB\n"},
        {{}, {}, "phase=backward step=1 peak_alloc=20GiB peak_reserved=20.5GiB\n"});
}

void TestCliVerdicts::pairs()
{
    QFETCH(QString, id);
    QFETCH(Input, with);
    QFETCH(Input, without);
    const QStringList fired = checked(with);
    QVERIFY2(fired.contains(id), qPrintable(fired.join(u' ')));
    const QStringList silent = checked(without);
    QVERIFY2(!silent.contains(id) && !silent.contains("failed"), qPrintable(silent.join(u' ')));
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
