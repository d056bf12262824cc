// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window_fixture.h"

#include "panels/choice_row.h"
#include "panels/knobs_panel.h"
#include "theme/theme.h"
#include "window/file_commands.h"
#include "window/workbench.h"

#include <QComboBox>
#include <QFile>
#include <QSettings>
#include <QStandardPaths>
#include <QtTest>

namespace headroom {

const QByteArray WindowFixture::configText = R"(# pretraining, second attempt
model:
  layers: 24
  hidden: 1024
  heads: 16
  vocab: 50000
parallel:
  pipeline_parallel_size: 2    # stages
  tensor_parallel_size: 1
  data_parallel_size: 2
train:
  micro_batch_size: 2
  gradient_accumulation_steps: 8
  global_batch_size: 16        # the trainer checks it
  seq_length: 1024
recompute:
  enabled: false
  granularity: none
hardware:
  capacity: 12GiB
)";

QByteArray WindowFixture::logText()
{
    QByteArray text;
    for (int step = 1; step <= 20; ++step) {
        for (int rank = 0; rank < 4; ++rank) {
            const int spike = step == 12 && rank == 0 ? 3 : 0;
            const int mebibytes = 100 * (4 - rank);
            text += QStringLiteral("rank=%1 phase=forward step=%2 peak_alloc=%3MiB\n")
                        .arg(rank)
                        .arg(step)
                        .arg(5000 + mebibytes)
                        .toLatin1();
            text += QStringLiteral("rank=%1 phase=backward step=%2 peak_alloc=%3MiB\n")
                        .arg(rank)
                        .arg(step)
                        .arg(6000 + mebibytes + spike)
                        .toLatin1();
            text += QStringLiteral("rank=%1 phase=optimizer step=%2 peak_alloc=%3MiB\n")
                        .arg(rank)
                        .arg(step)
                        .arg(4000 + mebibytes)
                        .toLatin1();
        }
    }
    return text;
}

WindowFixture::WindowFixture()
    : m_window(std::make_unique<MainWindow>(Library::load()))
{
}

QString WindowFixture::write(const QString& name, const QByteArray& bytes) const
{
    QFile file(path(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) {
        qFatal("cannot write %s", qPrintable(file.fileName()));
    }
    return file.fileName();
}

QByteArray WindowFixture::read(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

bool WindowFixture::show()
{
    m_window->resize(1600, 1000);
    m_window->show();
    return QTest::qWaitForWindowActive(m_window.get());
}

bool WindowFixture::open()
{
    if (!show()) {
        return false;
    }
    m_window->files().openPaths(
        {write(QStringLiteral("train.log"), logText()), write(QStringLiteral("train.yaml"), configText)});
    return QTest::qWaitFor([this] {
               return workspace().log() != nullptr && workspace().config() != nullptr && !workspace().isOpening();
           })
        && workspace().footprint() != nullptr;
}

void WindowTestBase::initTestCase()
{
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("headroom-test"));
    // Settings of its own: the programs of several test classes run at once.
    QCoreApplication::setApplicationName(QLatin1String(metaObject()->className()));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QLocale::setDefault(QLocale::c());
    applyTheme(*qApp, ThemeChoice::Light);
}

void WindowTestBase::init()
{
    // What the offscreen platform cannot do is no fault of the window.
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support).*")));
    QSettings().clear();
    m_fixture = std::make_unique<WindowFixture>();
    m_fixture->window().files().setLossAnswer([] { return FileCommands::Answer::Discard; });
}

void WindowTestBase::cleanup()
{
    m_fixture.reset();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
}

KnobRow* WindowTestBase::row(Knob knob) const
{
    return workbench().knobs()->row(knob);
}

void WindowTestBase::choose(ChoiceRow* row, const QString& id)
{
    const int index = row->list()->findData(id);
    QVERIFY2(index >= 0, qPrintable(id));
    row->list()->setCurrentIndex(index);
    emit row->list()->activated(index);
}

} // namespace headroom
