// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli_fixture.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <cmath>
#include <string>

using namespace headroom::cli;

class TestCli : public CliFixture
{
    Q_OBJECT

private slots:
    void estimateGivesTheRecipesNumbers();
    void estimateTells_data();
    void estimateTells();
    void modelAloneWillDo();
    void fitFindsTheChange();
    void compareTellsWhatChanged();
    void compareKeepsAHistory();
    void lossTellsWhatDiffers_data();
    void lossTellsWhatDiffers();
    void lossLooksUpTheCauses();
    void calibrationCorrects();
    void reportIsWritten();
    void estimateTellsHowSureItIs();
    void estimateFitsTheTerminal();
    void logFindsThePeaks();
    void listsWhatShips_data();
    void listsWhatShips();
};

void TestCli::estimateGivesTheRecipesNumbers()
{
    const Outcome outcome = run({"estimate", "a.yaml", "--k", "16", "--capacity", "80GiB", "--json"});
    QCOMPARE(outcome.err, QByteArray());
    QCOMPARE(outcome.code, 0);
    const auto json = outcome.json();
    QCOMPARE(json["schema"].get<std::string>(), std::string("headroom.estimate/1"));
    const auto& textbook = json["textbook"];
    QCOMPARE(textbook["block_parameters"].get<qint64>(), qint64{12582912});
    QCOMPARE(textbook["parameters"].get<qint64>(), qint64{353189888});
    QCOMPARE(textbook["static_bytes"].get<qint64>(), qint64{5651038208}); // 5.263 GiB
    QCOMPARE(textbook["activation_bytes"].get<qint64>(), qint64{1610612736}); // 1.5 GiB
    QCOMPARE(textbook["in_flight"].get<qint64>(), qint64{1});
    QCOMPARE(json["stages"].size(), std::size_t{1});
    const auto& stage = json["stages"][0];
    QCOMPARE(stage["parameters"].get<qint64>(), qint64{353189888});
    QCOMPARE(stage["peak_allocated_bytes"].get<qint64>(), qint64{5651038208 + 1610612736});
    QCOMPARE(stage["components"]["activations_bytes"].get<qint64>(), qint64{1610612736});
    QCOMPARE(json["fits"].get<bool>(), true);
    QCOMPARE(json["capacity_bytes"].get<qint64>(), qint64{85899345920});
}

void TestCli::estimateTells_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const QStringList& arguments, int code, const char* says) {
        QTest::newRow(name) << arguments << code << QByteArray(says);
    };
    // 6.763 GiB allocated, as above, and half a GiB of context.
    row("fits", {"--capacity", "80GiB"}, 0, "Fits: stage 0 peaks at 7.25 GiB of 80.00 GiB");
    row("does not fit", {"--capacity", "6GiB"}, 1, "Does not fit: stage 0 peaks at 7.25 GiB of 6.00 GiB");
    row("no capacity", {}, 0, "No GPU is named");
    // A measured k is good for 3 % of 1.5 GiB, the logits are 0.57 GiB and the allocator's cache 8 % at most.
    row("may not fit", {"--capacity", "7.5GiB"}, 0,
        "Close: stage 0 peaks at 7.25 GiB of 7.50 GiB in backward, 0.25 GiB left");
    row("may yet fit", {"--capacity", "7.2GiB"}, 1, "it may yet fit");
    row("reasons", {}, 0, "Activations that were measured hold within about 3 %");
    row("assumptions", {}, 0, "model.tied_embeddings");
    // Three passes become four but for the output layer: 654,311,424 of 756,711,424 operations a token.
    row("what a setting costs", {"--set", "recompute.enabled=true", "--set", "recompute.granularity=full"}, 0,
        "1.29 × the time for the same samples: recompute +29 %");
    row("a setting that changes nothing", {"--set", "batch.micro=2", "--capacity", "80GiB"}, 0,
        "72.75 GiB left.\n\nPeaks");
    row("a setting", {"--set", "train.micro_batch_size=4"}, 0, "8.75 GiB");
    row("two stages, in flight", {"--set", "parallel.pipeline_parallel_size=2", "--working"}, 0, "min(m, p");
    row("a preset", {"--model", "gpt2"}, 0, "124,439,808");
}

void TestCli::estimateTells()
{
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, says);
    const Outcome outcome = run(QStringList{"estimate", "a.yaml", "--k", "16"} + arguments);
    QTEST(outcome.code, "code");
    QVERIFY2(outcome.out.contains(says), outcome.out + outcome.err);
}

/// Before there is a config: the model, and what of the training decides.
void TestCli::modelAloneWillDo()
{
    const QStringList plan{"--model", "gpt2",           "--set",      "batch.micro=1",
                           "--set",   "batch.seq=1024", "--capacity", "80GiB"};
    const Outcome estimate = run(QStringList{"estimate"} + plan);
    QCOMPARE(estimate.code, 0);
    QVERIFY2(estimate.out.contains("124,439,808") && estimate.out.startsWith("Fits"), estimate.out + estimate.err);
    QCOMPARE(run(QStringList{"fit"} + plan).code, 0);
    const Outcome report = run(QStringList{"report", "-o", "gpt2.md"} + plan);
    QCOMPARE(report.code, 0);
    QFile file(m_folder->filePath("gpt2.md"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY2(text.contains("headroom-cli estimate --model gpt2 --set batch.micro=1"), text);
    const Outcome exported = run(QStringList{"export", "--to", "base-yaml", "-o", "gpt2.yaml"} + plan);
    QCOMPARE(exported.code, 0);
    QVERIFY(run({"estimate", "gpt2.yaml"}).out.contains("124,439,808"));
}

void TestCli::fitFindsTheChange()
{
    const Outcome none = run({"fit", "a.yaml", "--json", "--capacity", "1GiB"});
    QCOMPARE(none.code, 1);
    QVERIFY(!none.json()["fits"].get<bool>());
    const Outcome fits = run({"fit", "a.yaml", "--json", "--capacity", "80GiB"});
    QCOMPARE(fits.code, 0);
    QVERIFY(fits.json()["fits"].get<bool>());
    const auto peak = fits.json()["device_bytes"].get<std::int64_t>();

    const Outcome tight = run({"fit", "a.yaml", "--json", "--margin", "0", "--capacity", QString("%1B").arg(peak - 1)});
    QCOMPARE(tight.code, 0);
    const auto answer = tight.json();
    QVERIFY(!answer["single_changes"].empty());
    for (const auto& change : answer["single_changes"]) {
        QStringList arguments{"estimate", "a.yaml", "--json", "--instant"};
        for (const auto& edit : change["edits"].items()) {
            arguments << "--set" << QString::fromStdString(edit.key() + "=" + edit.value().get<std::string>());
        }
        const auto estimate = run(arguments).json();
        std::int64_t fullest = 0;
        for (const auto& stage : estimate["stages"]) {
            fullest = std::max(fullest, stage["device_bytes"].get<std::int64_t>());
        }
        QCOMPARE(change["device_bytes"].get<std::int64_t>(), fullest);
        QVERIFY(fullest < peak);
    }
    QVERIFY(run({"fit", "a.yaml"}).err.contains("--capacity"));
    QCOMPARE(run({"fit", "a.yaml", "--capacity", "80GiB", "--margin", "200%"}).code, 2);
}

void TestCli::compareTellsWhatChanged()
{
    write("b.yaml",
          QByteArray(example).replace("micro_batch_size: 2", "micro_batch_size: 1").replace("steps: 8", "steps: 16"));
    const auto plans = run({"compare", "a.yaml", "b.yaml", "--json"}).json();
    QCOMPARE(plans["changes"].size(), 1U);
    QCOMPARE(plans["changes"][0]["variable"].get<std::string>(), std::string("batch.micro"));
    QVERIFY(plans["before"]["is_estimate"].get<bool>());

    // The same peaks although recompute was switched on: it was never loaded.
    write("c.yaml",
          QByteArray(example)
              .replace("enabled: false", "enabled: true")
              .replace("granularity: none", "granularity: full"));
    const Outcome same = run({"compare", "train.log", "train.log", "--config", "a.yaml", "--other-config", "c.yaml"});
    QCOMPARE(same.code, 1);
    QVERIFY(same.out.contains("had no effect"));

    write("after.log", QByteArray(logText).replace("40.5GiB", "30.5GiB").replace("31.25", "29"));
    const Outcome fell = run({"compare", "train.log", "after.log", "--json"});
    QCOMPARE(fell.code, 0);
    QCOMPARE(fell.json()["after"]["peak_allocated_bytes"].get<std::int64_t>(), 61 * (std::int64_t{1} << 29));
    QCOMPARE(fell.json()["findings"][0]["id"].get<std::string>(), std::string("peak-fell"));
}

void TestCli::compareKeepsAHistory()
{
    const QByteArray halved
        = QByteArray(example).replace("micro_batch_size: 2", "micro_batch_size: 1").replace("steps: 8", "steps: 16");
    write("b.yaml", QByteArray(halved).replace("false", "true").replace("granularity: none", "granularity: full"));
    write("c.yaml", halved);
    const auto two = run({"compare", "a.yaml", "b.yaml", "a.yaml", "--json"}).json();
    QCOMPARE(two["schema"].get<std::string>(), std::string("headroom.history/1"));
    QCOMPARE(two["runs"].size(), 3U);
    QVERIFY(two["runs"][1]["several_changed"].get<bool>());
    QVERIFY(!two["runs"][0].contains("changes"));
    QCOMPARE(two["runs"][1]["changes"].size(), 2U);

    // Each is what it is alone, whatever stands around it; a reference is compared with all others.
    const auto json = run({"compare", "a.yaml", "c.yaml", "b.yaml", "--reference", "1", "--json"}).json();
    QVERIFY(!json["runs"][1]["several_changed"].get<bool>());
    QCOMPARE(json["runs"][1]["changes"][0]["variable"].get<std::string>(), std::string("batch.micro"));
    QCOMPARE(json["runs"][2]["changes"][0]["variable"].get<std::string>(), std::string("recompute"));
    QCOMPARE(json["runs"][2]["from_reference"]["changes"].size(), 2U);
    QVERIFY(json["runs"][2]["peak_allocated_bytes"] == two["runs"][1]["peak_allocated_bytes"]);
    QVERIFY(!json["runs"][0].contains("from_reference"));

    const Outcome text = run({"compare", "a.yaml", "b.yaml", "c.yaml"});
    QCOMPARE(text.code, 0);
    QVERIFY(text.out.contains("b.yaml (estimate), after a.yaml (estimate)"));
    QVERIFY(text.out.contains("2 settings changed at once") && text.out.contains("recompute alone"));

    // Logs with their configs in order; the third has no effect.
    write("low.log", QByteArray(logText).replace("40.5GiB", "30.5GiB").replace("31.25", "29"));
    const Outcome logs = run({"compare", "train.log", "low.log", "low.log", "--config", "a.yaml", "--config", "c.yaml",
                              "--config", "b.yaml", "--json"});
    QCOMPARE(logs.code, 1);
    QCOMPARE(logs.json()["runs"][2]["findings"][0]["id"].get<std::string>(), std::string("no-effect"));
    QCOMPARE(logs.json()["runs"][1]["changes"][0]["variable"].get<std::string>(), std::string("batch.micro"));

    QCOMPARE(run({"compare", "a.yaml", "b.yaml", "--reference", "3"}).code, 2);
    QCOMPARE(run({"compare", "a.yaml", "b.yaml", "missing.yaml"}).code, 2);
}

void TestCli::lossTellsWhatDiffers_data()
{
    QTest::addColumn<double>("drift");
    QTest::addColumn<int>("code");
    QTest::newRow("identical") << 0.0 << 0;
    QTest::newRow("drift") << 0.01 << 1;
}

void TestCli::lossTellsWhatDiffers()
{
    QFETCH(double, drift);
    QFETCH(int, code);
    QByteArray first;
    QByteArray second;
    for (int step = 1; step <= 30; ++step) {
        const double loss = 10.0 / step;
        first += "{\"step\": " + QByteArray::number(step) + ", \"loss\": " + QByteArray::number(loss) + "}\n";
        second += "{\"step\": " + QByteArray::number(step) + ", \"loss\": " + QByteArray::number(loss + drift * step)
            + "}\n";
    }
    write("a.jsonl", first);
    write("b.jsonl", second);
    const Outcome outcome = run({"loss", "a.jsonl", "b.jsonl", "--json"});
    QCOMPARE(outcome.code, code);
    QCOMPARE(outcome.json()["verdict"].get<std::string>(), std::string(drift > 0 ? "drift" : "identical"));
    QCOMPARE(run({"loss", "a.jsonl", "a.yaml"}).code, 2);
}

void TestCli::lossLooksUpTheCauses()
{
    QByteArray first;
    QByteArray second;
    for (int step = 1; step <= 40; ++step) {
        const double loss = 8 - 0.1 * step + 0.05 * ((step * 7) % 5 - 2);
        first += "{\"step\": " + QByteArray::number(step) + ", \"loss\": " + QByteArray::number(loss, 'f', 6) + "}\n";
        second += "{\"step\": " + QByteArray::number(step) + ", \"loss\": " + QByteArray::number(16 * loss, 'f', 6)
            + "}\n";
    }
    write("a.jsonl", first);
    write("b.jsonl", second);
    write("b.yaml",
          QByteArray(example).replace("micro_batch_size: 2", "micro_batch_size: 1").replace("steps: 8", "steps: 16"));
    const Outcome plain = run({"loss", "a.jsonl", "b.jsonl"});
    QVERIFY(!plain.out.contains("batch.accum"));
    const Outcome known = run({"loss", "a.jsonl", "b.jsonl", "--config", "a.yaml", "--other-config", "b.yaml"});
    QCOMPARE(known.code, 1);
    QVERIFY2(known.out.contains("batch.accum = 16 of the second run"), known.out.constData());
    QVERIFY2(known.out.contains("b.yaml:11"), known.out.constData());
}

void TestCli::calibrationCorrects()
{
    // What the estimate says, and a tenth more of activations: theory's own backward peak less the optimizer's.
    const auto theory = run({"estimate", "a.yaml", "--instant", "--json"}).json()["stages"][0];
    const auto of
        = [&theory](const char* phase) { return theory["phases"][phase]["allocated_bytes"].get<std::int64_t>(); };
    const auto activations = theory["components"]["activations_bytes"].get<std::int64_t>()
        + theory["components"]["in_flight_bytes"].get<std::int64_t>();
    QByteArray log;
    for (const char* phase : {"forward", "backward", "optimizer"}) {
        const std::int64_t more = qstrcmp(phase, "optimizer") == 0 ? 0 : activations / 50;
        log += QByteArray("phase=") + phase + " step=1 peak_alloc=" + QByteArray::number(qlonglong(of(phase) + more))
            + "B\n";
    }
    write("measured.log", log);
    const auto calibrated = run({"estimate", "a.yaml", "--calibrate", "measured.log", "--instant", "--json"}).json();
    const double factor = calibrated["calibration"]["activations_factor"].get<double>();
    QVERIFY2(factor > 1.005 && factor < 1.03, qPrintable(QString::number(factor)));
    QVERIFY(calibrated["stages"][0]["peak_allocated_bytes"].get<std::int64_t>()
            > theory["peak_allocated_bytes"].get<std::int64_t>());
    const Outcome refused = run({"estimate", "a.yaml", "--set", "batch.micro=1", "--calibrate", "missing.log"});
    QCOMPARE(refused.code, 2);

    // The same figures from the file that keeps them, for another plan too; one of other tensors is warned of.
    QCOMPARE(run({"estimate", "a.yaml", "--calibrate", "measured.log", "--save-calibration", "kept.yaml"}).code, 0);
    const auto kept = run({"estimate", "a.yaml", "--calibration", "kept.yaml", "--instant", "--json"}).json();
    QCOMPARE(kept["calibration"]["name"].get<std::string>(), std::string("kept"));
    QVERIFY(kept["stages"] == calibrated["stages"]);
    const Outcome other = run({"estimate", "a.yaml", "--calibration", "kept.yaml", "--set", "recompute.enabled=true",
                               "--set", "recompute.granularity=full"});
    QVERIFY2(other.err.contains("recompute.granularity"), other.err);
    write("broken.yaml", "headroom_calibration: 1\nactivations_factor: much\n");
    const Outcome broken = run({"estimate", "a.yaml", "--calibration", "broken.yaml"});
    QCOMPARE(broken.code, 2);
    QVERIFY2(broken.err.contains("broken.yaml"), broken.err);
    QCOMPARE(run({"estimate", "a.yaml", "--calibration", "a.yaml"}).code, 2);
}

void TestCli::reportIsWritten()
{
    const Outcome markdown = run({"report", "a.yaml", "--log", "train.log", "--set", "batch.micro=1"});
    QCOMPARE(markdown.code, 0);
    QVERIFY(markdown.out.contains("| batch.micro | 2 | 1 |"));
    QVERIFY(markdown.out.contains("train.log:3"));
    QVERIFY(markdown.out.contains("headroom-cli estimate a.yaml --set batch.micro=1"));
    QCOMPARE(run({"report", "a.yaml", "-o", "r.html"}).code, 0);
    QFile file(m_folder->filePath("r.html"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().contains("<svg"));
    QCOMPARE(run({"report", "a.yaml", "-o", "missing/r.html"}).code, 2);
}

void TestCli::estimateTellsHowSureItIs()
{
    const auto json = run({"estimate", "a.yaml", "--model", "llama-3-8b", "--gpu", "h100-80gb", "--json", "--set",
                           "parallel.pipeline_parallel_size=4"})
                          .json();
    QCOMPARE(json["stages"].size(), std::size_t{4});
    for (const auto& stage : json["stages"]) {
        for (const std::string figure : {"peak_allocated", "peak_reserved", "device"}) {
            const auto central = stage[figure + "_bytes"].get<qint64>();
            QVERIFY(stage[figure + "_low_bytes"].get<qint64>() <= central);
            QVERIFY(stage[figure + "_high_bytes"].get<qint64>() >= central);
        }
    }
    QCOMPARE(json["fit"].get<std::string>(), std::string("fits"));
    QVERIFY(!json["uncertainty"].empty());
    for (const auto& reason : json["uncertainty"]) {
        QVERIFY(!reason["text"].get<std::string>().empty());
        QVERIFY(reason["below_bytes"].get<qint64>() >= 0 && reason["above_bytes"].get<qint64>() >= 0);
    }
    QCOMPARE(json["assumptions"][0]["alternatives"][0]["stage_changes_bytes"].size(), std::size_t{4});
    const auto& time = json["relative_step_time"];
    QCOMPARE(time["gpus_ratio"].get<double>(), 4.0);
    double sum = 1;
    for (const auto& part : time["parts"]) {
        sum += part.get<double>();
    }
    QVERIFY(std::abs(sum - time["ratio"].get<double>()) < 1e-9);
    QVERIFY(json["original_device_bytes"].get<qint64>() > json["stages"][0]["device_bytes"].get<qint64>());
    QVERIFY(run({"estimate", "a.yaml", "--json"}).json()["relative_step_time"].is_null());
}

/// A terminal of a hundred columns shows the report without wrapping it.
void TestCli::estimateFitsTheTerminal()
{
    const Outcome outcome = run({"estimate", "a.yaml", "--model", "llama-3-8b", "--capacity", "20GiB", "--set",
                                 "parallel.pipeline_parallel_size=4", "--set", "train.micro_batch_size=16"});
    for (const QByteArray& line : outcome.out.split('\n')) {
        QVERIFY2(QString::fromUtf8(line).size() <= 100, line);
    }
}

void TestCli::logFindsThePeaks()
{
    const Outcome outcome = run({"log", "train.log", "--json", "--top", "2"});
    QCOMPARE(outcome.code, 0);
    const auto json = outcome.json();
    QCOMPARE(json["schema"].get<std::string>(), std::string("headroom.log/1"));
    QCOMPARE(json["lines"].get<qint64>(), qint64{5});
    QCOMPARE(json["records"].get<qint64>(), qint64{4});
    QCOMPARE(json["peak_phase"].get<std::string>(), std::string("backward"));
    const auto& backward = json["phases"]["backward"];
    QCOMPARE(backward["max_bytes"].get<qint64>(), qint64{43486543872});
    QCOMPARE(backward["step"].get<qint64>(), qint64{12});
    QCOMPARE(backward["line"].get<qint64>(), qint64{3});
    QCOMPARE(backward["rank"].get<qint64>(), qint64{1});
    QCOMPARE(json["top"].size(), std::size_t{2});
    QCOMPARE(json["top"][1]["phase"].get<std::string>(), std::string("forward"));
    QCOMPARE(json["findings"][0]["id"].get<std::string>(), std::string("peak-in-backward"));
    const Outcome text = run({"log", "train.log"});
    QVERIFY2(text.out.contains("train.log:3") && text.out.contains("Peak is in backward"), text.out);
}

void TestCli::listsWhatShips_data()
{
    QTest::addColumn<QByteArray>("command");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("models") << QByteArray("models") << QByteArray("8,030,261,248");
    QTest::newRow("gpus") << QByteArray("gpus") << QByteArray("H100");
    QTest::newRow("formats") << QByteArray("formats") << QByteArray("base-yaml");
    QTest::newRow("fields") << QByteArray("fields") << QByteArray("gpipe, 1f1b, interleaved");
}

void TestCli::listsWhatShips()
{
    QFETCH(QByteArray, command);
    QFETCH(QByteArray, says);
    const Outcome outcome = run({QString::fromLatin1(command)});
    QCOMPARE(outcome.code, 0);
    QVERIFY2(outcome.out.contains(says), outcome.out);
    QVERIFY(!run({QString::fromLatin1(command), "--json"}).json().is_discarded());
}

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
