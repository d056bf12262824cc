// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/written_plan.h"
#include "insight/report.h"
#include "runlog/read_log.h"

#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

using namespace headroom;
using test::planOf;

class TestReport : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        m_original = planOf("model.layers=8 model.hidden=1024 model.heads=16 model.vocab=32000 batch.seq=1024 "
                            "batch.micro=4 parallel.pp=2 batch.accum=4");
        m_plan = m_original;
        QVERIFY(setField(m_plan, "batch.micro", "2", {OriginKind::Edited, 0, nullptr}));
        QVERIFY(estimateInstantly(m_plan, {}, m_footprint));
        m_footprint.capacity = gib(80);
        m_run = readLogText("phase=forward step=1 peak_alloc=30GiB\nphase=backward step=1 peak_alloc=40GiB\n"
                            "phase=<b>odd step=2 peak_alloc=41GiB\nphase=backward step=2 peak_alloc=42GiB\n",
                            "train.log");
        m_content.title = "run <script>alert(1)</script> & co";
        m_content.date = "2026-11-30";
        m_content.program = "Headroom";
        m_content.verdict = Text{"Fits: %1", {"42 GiB"}};
        m_content.plan = &m_plan;
        m_content.original = &m_original;
        m_content.footprint = &m_footprint;
        m_content.run = &m_run;
        m_content.working = explain(m_plan, {}, m_footprint, 0);
        m_content.commands = {"headroom-cli estimate 'a b.yaml' --set batch.micro=2"};
        Finding finding;
        finding.title = Text{"A | title"};
        finding.explanation = Text{"because"};
        finding.evidence = {{Text{"step 2"}, "train.log", 4}};
        finding.mend = Mend{Text{"Halve it"}, {}, gib(30), RelativeStepTime{1.25, {}, 1}};
        m_content.findings = {finding};
    }

    void htmlStandsAlone()
    {
        const QString html = QString::fromStdString(reportHtml(m_content));
        QVERIFY(!html.contains("<script"));
        QVERIFY(html.contains("&lt;script&gt;"));
        QVERIFY(!html.contains(QRegularExpression("(src|href)=|@import|url\\(|https?:")));
        // Head's void elements apart the page is well formed.
        QXmlStreamReader reader(QString(html).remove("<!DOCTYPE html>").remove(QRegularExpression("<meta[^>]*>")));
        while (!reader.atEnd()) {
            reader.readNext();
        }
        QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
        QCOMPARE(html.count("<svg"), 2);
    }

    void tellsTheEstimatesNumbers()
    {
        const QString html = QString::fromStdString(reportHtml(m_content));
        const QString markdown = QString::fromStdString(reportMarkdown(m_content));
        for (const StageFootprint& stage : m_footprint.stages) {
            for (const Bytes bytes : {stage.peakAllocated, stage.device, stage.phase(Phase::Optimizer)}) {
                const QString size = QString::fromStdString(formatGib(bytes));
                QVERIFY(html.contains(">" + size + "<"));
                QVERIFY(markdown.contains("| " + size + " |"));
            }
        }
        QVERIFY(html.contains("<td>batch.micro</td><td>4</td><td>2</td>"));
        QVERIFY(markdown.contains("| batch.micro | 4 | 2 |"));
        QVERIFY(markdown.contains("A \\| title"));
        QVERIFY(markdown.contains("\n- train.log:4: step 2\n- → Halve it; estimate 30.0 GiB, 1.25 × the time"));
        QVERIFY(html.contains("<li>→ Halve it; estimate 30.0 GiB, 1.25 × the time for the same samples</li>"));
        QVERIFY(markdown.contains("headroom-cli estimate 'a b.yaml'"));
    }

    void barsAreAsHighAsTheStages()
    {
        // The parts of a bar make what the stage takes of the device.
        const QString html = QString::fromStdString(reportHtml(m_content));
        double heights = 0;
        QRegularExpression rectangle("height=\"([0-9.]+)\" fill=\"[^\"]*\"><title>");
        auto match = rectangle.globalMatch(html);
        while (match.hasNext()) {
            heights += match.next().captured(1).toDouble();
        }
        double bytes = 0;
        for (const StageFootprint& stage : m_footprint.stages) {
            bytes += stage.device.gib();
        }
        // The axis reaches 8 % beyond the capacity, over the drawing's height.
        const double scale = (314.0 - 46 - 34) / (80 * 1.08);
        QVERIFY(qAbs(heights / (bytes * scale) - 1) < 0.01);
    }

    void legendsStayInside()
    {
        const QString html = QString::fromStdString(reportHtml(m_content));
        auto labels = QRegularExpression("x=\"([0-9.]+)\" y=\"([0-9.]+)\" font-size=\"10\">([^<]+)<").globalMatch(html);
        int count = 0;
        while (labels.hasNext()) {
            const auto label = labels.next();
            QVERIFY2(label.captured(1).toDouble() + 5.6 * double(label.captured(3).size()) < 760,
                     qPrintable(label.captured(3)));
            QVERIFY(label.captured(2).toDouble() < 46);
            ++count;
        }
        QCOMPARE(count, componentCount + 1 + 2); // the unused cache, and two phases
    }

    void leavesOutWhatIsNotKnown()
    {
        ReportContent little;
        little.title = "a";
        little.verdict = Text{"nothing open"};
        QVERIFY(!QString::fromStdString(reportHtml(little)).contains("<h2>"));
        QVERIFY(!QString::fromStdString(reportMarkdown(little)).contains("##"));
    }

    void asksForTheReadersWords()
    {
        const auto wording
            = [](const Text& text) { return text.pattern == "Findings" ? std::string("发现") : text.english(); };
        QVERIFY(QString::fromStdString(reportHtml(m_content, wording)).contains("<h2>发现</h2>"));
    }

private:
    TrainingPlan m_plan, m_original;
    Footprint m_footprint;
    Run m_run;
    ReportContent m_content;
};

QTEST_APPLESS_MAIN(TestReport)
#include "tst_report.moc"
