// SPDX-License-Identifier: GPL-3.0-or-later
//
// The losses of two runs in the window.
#include "charts/loss_chart.h"
#include "panels/compare_panel.h"
#include "panels/finding_card.h"
#include "panels/finding_list.h"
#include "panels/loss_panel.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/workbench.h"
#include "workspace/wording.h"

#include <QAction>
#include <QImage>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

using namespace headroom;

namespace {

using Loss = std::function<double(int step, double noise)>;

/// A loss that falls from 5 to 2 with a noise of 0.02, the same for every call; `loss` makes of it what the run logs.
QByteArray losses(const Loss& loss, int first = 1)
{
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0, 0.02);
    QByteArray text;
    for (int step = first; step < first + 300; ++step) {
        text += QStringLiteral("{\"step\": %1, \"loss\": %2}\n")
                    .arg(step)
                    .arg(loss(step, noise(random)), 0, 'f', 9)
                    .toLatin1();
    }
    return text;
}

double usual(int step, double noise)
{
    return 2 + 3 * std::exp(-step / 80.0) + noise;
}

} // namespace

class WindowLossesTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void lossesAreJudged_data();
    void lossesAreJudged();
    void lossChartShowsBothAndTheDifference();
    void droppedLossesNeedNoOtherFile();
    void lossesSayWhatIsWrong_data();
    void lossesSayWhatIsWrong();
    void newestLossesWin();
    void lossCausesAreLookedUp();

private:
    LossPanel* loss() { return workbench().loss(); }
};

void WindowLossesTest::lossesAreJudged_data()
{
    QTest::addColumn<QByteArray>("second");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("the same") << losses(usual) << QStringLiteral("The losses are identical");
    QTest::newRow("rounding") << losses([](int step, double noise) {
        return usual(step, noise) + (step % 2 == 0 ? 1e-6 : -1e-6);
    }) << QStringLiteral("The losses agree within rounding");
    QTest::newRow("summed over eight micro-batches")
        << losses([](int step, double noise) { return 8 * usual(step, noise); })
        << QStringLiteral("The losses differ by a constant factor");
    QTest::newRow("numbered from two") << losses([](int step, double noise) { return usual(step - 1, noise); }, 2)
                                       << QStringLiteral("The losses are the same, one step apart");
    QTest::newRow("apart from step 100 on")
        << losses([](int step, double noise) { return usual(step, noise) + std::max(0, step - 100) * 0.005; })
        << QStringLiteral("The losses drift apart");
}

void WindowLossesTest::lossesAreJudged()
{
    QFETCH(QByteArray, second);
    QFETCH(QString, sentence);
    QVERIFY(m_fixture->show());
    workbench().compareLosses(m_fixture->write(QStringLiteral("a.jsonl"), losses(usual)),
                              m_fixture->write(QStringLiteral("b.jsonl"), second));
    QTRY_COMPARE(loss()->sentence(), sentence);
    QVERIFY(!loss()->findings()->cards().empty());
    QCOMPARE(translated(loss()->findings()->cards().front()->finding().title), sentence);
}

void WindowLossesTest::lossChartShowsBothAndTheDifference()
{
    QVERIFY(m_fixture->show());
    const auto higher = [](int step, double noise) { return usual(step, noise) + 0.5; };
    workbench().compareLosses(m_fixture->write(QStringLiteral("a.jsonl"), losses(usual)),
                              m_fixture->write(QStringLiteral("b.jsonl"), losses(higher, 1)));
    QTRY_VERIFY(loss()->chart()->curves() != nullptr);
    const LossCurves& curves = *loss()->chart()->curves();
    QCOMPARE(curves.steps.size(), std::size_t{300});
    QCOMPARE(curves.firstName, QStringLiteral("a.jsonl"));
    const QStringList lines = loss()->chart()->values().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 301);
    for (const int step : {1, 150, 300}) {
        const QStringList cells = lines[step].split(QLatin1Char('\t'));
        QCOMPARE(cells[0], QString::number(step));
        QVERIFY(std::abs(cells[3].toDouble() - 0.5) < 1e-8);
    }
    // Both curves' colours are on the picture, and it is written as it is shown.
    const QString path = m_fixture->path(QStringLiteral("loss.png"));
    QVERIFY(loss()->chart()->saveImage(path).has_value());
    const QImage image(path);
    QCOMPARE(image.size(), loss()->chart()->size() * 2);
    QSet<QRgb> colors;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            colors.insert(image.pixel(x, y));
        }
    }
    for (const QColor& color : {Theme::current().phase(0), Theme::current().phase(1), Theme::current().accent}) {
        QVERIFY2(colors.contains(color.rgb()), qPrintable(color.name()));
    }
}

void WindowLossesTest::droppedLossesNeedNoOtherFile()
{
    QVERIFY(m_fixture->show());
    QVERIFY(m_fixture->window().showsStartPage());
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("a.jsonl"), losses(usual)),
                                           m_fixture->write(QStringLiteral("b.jsonl"), losses(usual))});
    QTRY_COMPARE(loss()->sentence(), QStringLiteral("The losses are identical"));
    QVERIFY(!m_fixture->window().showsStartPage());
    QVERIFY(loss()->isVisible());
    QVERIFY(workspace().isEmpty());
    QVERIFY(m_fixture->window().actions()[Command::Close]->isEnabled());
    m_fixture->window().actions()[Command::Close]->trigger();
    QVERIFY(m_fixture->window().showsStartPage());
    QVERIFY(loss()->chart()->curves() == nullptr);
}

void WindowLossesTest::lossesSayWhatIsWrong_data()
{
    QTest::addColumn<QByteArray>("second");
    QTest::addColumn<QString>("part");
    QTest::newRow("empty") << QByteArray() << QStringLiteral("b.jsonl");
    QTest::newRow("no losses") << QByteArray("{\"step\": 1, \"lr\": 0.1}\n") << QStringLiteral("b.jsonl");
    QTest::newRow("binary") << QByteArray(4096, '\0') << QStringLiteral("b.jsonl");
    QTest::newRow("no common step") << losses(usual, 10'000) << QStringLiteral("common");
}

void WindowLossesTest::lossesSayWhatIsWrong()
{
    QFETCH(QByteArray, second);
    QFETCH(QString, part);
    QVERIFY(m_fixture->show());
    workbench().compareLosses(m_fixture->write(QStringLiteral("a.jsonl"), losses(usual)),
                              m_fixture->write(QStringLiteral("b.jsonl"), second));
    QTRY_VERIFY(!loss()->isBusy());
    QTRY_VERIFY2(loss()->sentence().contains(part), qPrintable(loss()->sentence()));
    QVERIFY(loss()->chart()->curves() == nullptr);
}

void WindowLossesTest::newestLossesWin()
{
    QVERIFY(m_fixture->show());
    const QString first = m_fixture->write(QStringLiteral("a.jsonl"), losses(usual));
    const QString other = m_fixture->write(QStringLiteral("b.jsonl"), losses([](int, double noise) { return noise; }));
    for (int i = 0; i < 20; ++i) {
        workbench().compareLosses(first, other);
    }
    workbench().compareLosses(first, first);
    QTRY_COMPARE(loss()->sentence(), QStringLiteral("The losses are identical"));
    QTest::qWait(50);
    QCOMPARE(loss()->sentence(), QStringLiteral("The losses are identical"));
}

void WindowLossesTest::lossCausesAreLookedUp()
{
    QVERIFY(m_fixture->open());
    workbench().compareLosses(m_fixture->write(QStringLiteral("a.jsonl"), losses(usual)),
                              m_fixture->write(QStringLiteral("b.jsonl"), losses([](int step, double noise) {
                                                   return usual(step, noise) + std::max(0, step - 100) * 0.005;
                                               })));
    const auto has = [this](const char* id) {
        const auto& cards = loss()->findings()->cards();
        return std::any_of(cards.begin(), cards.end(),
                           [id](const FindingCard* card) { return card->finding().id == id; });
    };
    QTRY_VERIFY(has("loss-plans-unknown"));
    // The run before is chosen: its plan is that of the first losses, the open one that of the second.
    QByteArray config = WindowFixture::configText;
    config.replace("micro_batch_size: 2", "micro_batch_size: 1");
    workbench().compareRuns({m_fixture->write(QStringLiteral("before.yaml"), config)});
    QTRY_VERIFY(has("loss-micro-batch-differs"));
    QVERIFY(!has("loss-plans-unknown"));
    QVERIFY(!has("loss-accumulation-differs"));
    m_fixture->window().actions()[Command::Close]->trigger();
    QVERIFY(loss()->findings()->cards().empty());
}

QTEST_MAIN(WindowLossesTest)
#include "tst_window_losses.moc"
