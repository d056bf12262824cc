// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whatever the user does, in whatever order: no crash, no warning, and afterwards the same files say the same.
// HEADROOM_RANDOM_USE=SEED,STEPS tries one more order, of any length.
#include "panels/verdict_bar.h"
#include "support/folders.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/workbench.h"

#include <QApplication>
#include <QDialog>
#include <QDir>
#include <QElapsedTimer>
#include <QMenu>
#include <QTimer>
#include <QUndoStack>
#include <QWheelEvent>
#include <QtTest>

#include <random>

using namespace headroom;

namespace {

/// A user without a plan. Dialogs and menus that come up are left with Escape, so nothing is written.
class RandomUser
{
public:
    RandomUser(const WindowFixture& fixture, unsigned seed)
        : m_fixture(fixture)
        , m_window(fixture.window())
        , m_random(seed)
    {
        QObject::connect(&m_leaving, &QTimer::timeout, [] {
            if (QWidget* popup = QApplication::activePopupWidget()) {
                popup->close();
            } else if (QWidget* modal = QApplication::activeModalWidget()) {
                modal->close();
            }
        });
        m_leaving.start(5);
    }

    /// What was done, for the message of a failure.
    QString act();

private:
    [[nodiscard]] int upTo(int last) { return std::uniform_int_distribution<int>(0, last)(m_random); }
    template <class T> [[nodiscard]] const T& oneOf(const std::vector<T>& values)
    {
        return values[static_cast<std::size_t>(upTo(static_cast<int>(values.size()) - 1))];
    }
    [[nodiscard]] QPoint anywhere() { return {upTo(m_window.width() - 1), upTo(m_window.height() - 1)}; }
    [[nodiscard]] Qt::KeyboardModifier modifier()
    {
        return oneOf<Qt::KeyboardModifier>({Qt::NoModifier, Qt::NoModifier, Qt::ShiftModifier, Qt::ControlModifier});
    }

    QString triggerAction();
    QString pressMouse();
    QString turnWheel();
    QString pressKey();
    QString openFiles();
    QString resize();

    const WindowFixture& m_fixture;
    MainWindow& m_window;
    std::mt19937 m_random;
    QTimer m_leaving;
};

QString RandomUser::act()
{
    const int kind = upTo(99);
    const QString done = kind < 25 ? triggerAction()
        : kind < 65                ? pressMouse()
        : kind < 72                ? turnWheel()
        : kind < 92                ? pressKey()
        : kind < 96                ? openFiles()
                                   : resize();
    QTest::qWait(upTo(3) == 0 ? upTo(40) : 0);
    return done;
}

QString RandomUser::triggerAction()
{
    std::vector<QAction*> possible;
    for (QAction* action : m_window.findChildren<QAction*>()) {
        const bool leaves = action == m_window.actions()[Command::Quit];
        if (action->isEnabled() && !action->isSeparator() && !action->menu() && !leaves && !action->text().isEmpty()) {
            possible.push_back(action);
        }
    }
    QAction* action = oneOf(possible);
    const QString name = action->text(); // it may be gone afterwards
    action->trigger();
    return name;
}

/// A click, a double click or a drag on whatever lies there.
QString RandomUser::pressMouse()
{
    const QPoint at = anywhere();
    const QPointer<QWidget> target = m_window.childAt(at) == nullptr ? &m_window : m_window.childAt(at);
    const auto local = [&](QPoint point) { return target->mapFrom(&m_window, point); };
    const Qt::MouseButton button = upTo(7) == 0 ? Qt::RightButton : Qt::LeftButton;
    const int kind = upTo(9);
    if (kind < 6) {
        QTest::mouseClick(target, button, modifier(), local(at));
    } else if (kind < 7) {
        QTest::mouseDClick(target, Qt::LeftButton, Qt::NoModifier, local(at));
    } else {
        QTest::mousePress(target, button, modifier(), local(at));
        for (int i = 0; i < 4 && target; ++i) {
            QTest::mouseMove(target, local(at + QPoint(upTo(300) - 150, upTo(100) - 50)));
        }
        if (target) {
            QTest::mouseRelease(target, button, Qt::NoModifier, local(at + QPoint(upTo(300) - 150, 0)));
        }
    }
    return QStringLiteral("mouse %1 at %2, %3").arg(kind).arg(at.x()).arg(at.y());
}

QString RandomUser::turnWheel()
{
    const QPoint at = anywhere();
    QWidget* target = m_window.childAt(at) == nullptr ? &m_window : m_window.childAt(at);
    const QPointF local = target->mapFrom(&m_window, at);
    QWheelEvent event(local, m_window.mapToGlobal(at), {}, {0, upTo(1) == 0 ? 120 : -120}, Qt::NoButton, modifier(),
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(target, &event);
    return QStringLiteral("wheel at %1, %2").arg(at.x()).arg(at.y());
}

QString RandomUser::pressKey()
{
    const auto key = oneOf<Qt::Key>({Qt::Key_Tab,    Qt::Key_Backtab,  Qt::Key_Left,   Qt::Key_Right, Qt::Key_Up,
                                     Qt::Key_Down,   Qt::Key_Return,   Qt::Key_Escape, Qt::Key_Space, Qt::Key_Delete,
                                     Qt::Key_PageUp, Qt::Key_PageDown, Qt::Key_Home,   Qt::Key_End,   Qt::Key_0,
                                     Qt::Key_9,      Qt::Key_9,        Qt::Key_Minus,  Qt::Key_E,     Qt::Key_Z});
    QWidget* target = QApplication::focusWidget() == nullptr ? &m_window : QApplication::focusWidget();
    QTest::keyClick(target, key, modifier());
    return QStringLiteral("key %1").arg(key);
}

QString RandomUser::openFiles()
{
    static const QStringList names{
        QStringLiteral("train.log"), QStringLiteral("train.yaml"),  QStringLiteral("other.yaml"),
        QStringLiteral("other.log"), QStringLiteral("broken.yaml"), QStringLiteral("missing.log"),
        QStringLiteral("folder"),    QStringLiteral("model.json"),  QStringLiteral("binary.log")};
    static const QFileInfoList samples = QDir(sourcePath("resources/samples")).entryInfoList(QDir::Files);
    if (upTo(4) == 0) {
        const ModelPreset& model = oneOf(m_window.workspace().library().catalog.models);
        m_window.workspace().useModel(model.plan, QString::fromStdString(model.title));
        return QStringLiteral("model %1").arg(QString::fromStdString(model.id));
    }
    QStringList paths;
    for (int i = 0; i <= upTo(1); ++i) {
        const int name = upTo(static_cast<int>(names.size() + samples.size()) - 1);
        paths += name < names.size() ? m_fixture.path(names[name]) : samples[name - names.size()].filePath();
    }
    m_window.files().openPaths(paths);
    return QStringLiteral("open %1").arg(paths.join(QStringLiteral(", ")));
}

QString RandomUser::resize()
{
    const QSize size(900 + upTo(800), 600 + upTo(500));
    m_window.resize(size);
    return QStringLiteral("resize to %1 × %2").arg(size.width()).arg(size.height());
}

} // namespace

class RandomUseTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void anyOrder_data();
    void anyOrder();

private:
    void writeFiles() const;
    [[nodiscard]] bool openAnew() const;
};

void RandomUseTest::anyOrder_data()
{
    QTest::addColumn<unsigned>("seed");
    QTest::addColumn<int>("steps");
    for (const unsigned seed : {1U, 2U, 3U}) {
        QTest::addRow("order %u", seed) << seed << 250;
    }
    const QStringList more = qEnvironmentVariable("HEADROOM_RANDOM_USE").split(u',');
    if (more.size() == 2) {
        QTest::newRow("one more") << more[0].toUInt() << more[1].toInt();
    }
}

void RandomUseTest::writeFiles() const
{
    QByteArray other = WindowFixture::configText;
    other.replace("layers: 24", "layers: 32").replace("micro_batch_size: 2", "micro_batch_size: 400");
    m_fixture->write(QStringLiteral("other.yaml"), other);
    m_fixture->write(QStringLiteral("broken.yaml"), "model: [layers: 24\n  hidden: *nowhere\n");
    m_fixture->write(QStringLiteral("other.log"), WindowFixture::logText().replace("=6", "=7") + "phase=backward ste");
    m_fixture->write(QStringLiteral("binary.log"), QByteArray(4000, '\0') + "\xff\xfe\x80");
    m_fixture->write(QStringLiteral("model.json"),
                     R"({"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,
                         "intermediate_size": 1024, "vocab_size": 1000})");
    QVERIFY(QDir().mkpath(m_fixture->path(QStringLiteral("folder"))));
    m_fixture->write(QStringLiteral("folder/rank0.log"), WindowFixture::logText());
    m_fixture->write(QStringLiteral("folder/rank1.log"), "nothing of interest\n");
}

/// The files of the start once more, and nothing else.
bool RandomUseTest::openAnew() const
{
    MainWindow& window = m_fixture->window();
    const auto isIdle = [&] { return !workspace().isOpening(); };
    if (!QTest::qWaitFor(isIdle, 30'000)) {
        return false;
    }
    window.actions()[Command::Close]->trigger();
    window.files().openPaths({m_fixture->logPath(), m_fixture->configPath()});
    return QTest::qWaitFor([&] { return isIdle() && workspace().log() && workspace().config(); }, 30'000)
        && workspace().footprint() != nullptr;
}

void RandomUseTest::anyOrder()
{
    QFETCH(unsigned, seed);
    QFETCH(int, steps);
    QVERIFY(m_fixture->open());
    writeFiles();
    const auto isReplayed
        = [this] { return !workspace().isReplaying() && workspace().footprint()->engine == Engine::Replay; };
    QVERIFY(QTest::qWaitFor(isReplayed, 30'000));
    const TrainingPlan before = workspace().plan();
    const Bytes peak = workspace().footprint()->fullest().peakAllocated;
    RandomUser user(*m_fixture, seed);
    for (int i = 0; i < steps; ++i) {
        QElapsedTimer timer;
        timer.start();
        const QString done = user.act();
        if (qEnvironmentVariableIsSet("HEADROOM_RANDOM_USE")) {
            qInfo("%d %lld ms: %s", i, static_cast<long long>(timer.elapsed()), qPrintable(done));
        }
        QVERIFY(m_fixture->window().isVisible());
    }
    QVERIFY(openAnew());
    QCOMPARE(workspace().plan().model.layers.value, before.model.layers.value);
    QCOMPARE(workspace().plan().batch.micro.value, before.batch.micro.value);
    QVERIFY(
        QTest::qWaitFor([&] { return workspace().footprint()->fullest().peakAllocated.value == peak.value; }, 30'000));
    QCOMPARE(WindowFixture::read(m_fixture->configPath()), WindowFixture::configText); // nothing was written
    QCOMPARE(WindowFixture::read(m_fixture->logPath()), WindowFixture::logText());
}

QTEST_MAIN(RandomUseTest)
#include "tst_random_use.moc"
