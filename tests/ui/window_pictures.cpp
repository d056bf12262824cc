// SPDX-License-Identifier: GPL-3.0-or-later
//
// window_pictures FOLDER [light|dark] [WIDTHxHEIGHT] [LANGUAGE] [FILE…]: every tab of the window with a sample open, as
// it comes and enlarged, and the dialogs of exports and models, to be looked at; with files, the window, the plan, a
// change of it and its exports for each of them instead.
#include "dialogs/export_as_dialog.h"
#include "dialogs/model_dialog.h"
#include "panels/compare_panel.h"
#include "panels/diff_panel.h"
#include "panels/plan_panel.h"
#include "support/folders.h"
#include "theme/theme.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/history_commands.h"
#include "window/language.h"
#include "window/main_window.h"
#include "window/workbench.h"
#include "workspace/library.h"
#include "workspace/run_history.h"
#include "workspace/workspace.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QStandardPaths>
#include <QTabWidget>
#include <QtTest>

using namespace headroom;

namespace {

QString writeLosses(const QDir& folder, const QString& name, double drift)
{
    QFile file(folder.filePath(name));
    if (file.open(QIODevice::WriteOnly)) {
        for (int step = 1; step <= 200; ++step) {
            const double loss = 2.0 + 8.0 / (1 + 0.05 * step) + 0.02 * ((step * 7919) % 13 - 6) / 6.0 + drift * step;
            file.write(QStringLiteral("{\"step\": %1, \"loss\": %2}\n").arg(step).arg(loss, 0, 'f', 6).toLatin1());
        }
    }
    return file.fileName();
}

/// The views of the tab Compare: two logs, two plans, a log with a plan, and a history.
void takeComparisons(MainWindow& window, const QDir& folder, const QString& kind)
{
    const QDir samples(sourcePath("resources/samples"));
    const auto sample = [&](const char* name) { return samples.filePath(QString::fromLatin1(name)); };
    ComparePanel& panel = *window.workbench().compare();
    const auto take = [&](const char* name) {
        QTest::qWait(700);
        window.grab().save(folder.filePath(kind + u'-' + QString::fromLatin1(name) + QStringLiteral(".png")));
    };
    window.workbench().compareRuns({sample("llama2-7b-optimizer.log"), sample("llama2-7b-optimizer.yaml")});
    (void)QTest::qWaitFor([&panel] { return !panel.isBusy(); });
    panel.showView(ComparePanel::View::Chart);
    take("logs");
    panel.showQuantity(ComparedQuantity::StepTime);
    take("times");
    window.workbench().compareRuns({sample("llama2-7b-optimizer.yaml")});
    (void)QTest::qWaitFor([&panel] { return !panel.isBusy() && panel.quantities()->count() == 1; });
    take("plans");
    RunHistory& history = window.workbench().history();
    while (!history.runs().empty()) {
        history.remove(0);
    }
    window.runs().addCurrent();
    for (const char* name : {"llama3-8b-oom.yaml", "llama2-7b-optimizer.log", "qwen2.5-7b-recompute-off.log"}) {
        window.runs().addFiles({sample(name)});
        (void)QTest::qWaitFor([&window] { return !window.runs().isBusy(); }, 20000);
    }
    take("history");
}

/// What somebody sees who opens this file and halves its micro-batch, or sets one.
void takeFile(QSize size, const QDir& folder, const QString& path)
{
    MainWindow window(Library::load(), {});
    window.resize(size);
    window.show();
    const QString name = QFileInfo(path).fileName();
    const auto take = [&](const char* what) {
        QTest::qWait(500);
        window.grab().save(folder.filePath(name + u'-' + QString::fromLatin1(what) + QStringLiteral(".png")));
    };
    window.files().openPaths({path});
    (void)QTest::qWaitFor([&] { return window.workspace().config() != nullptr; }, 5000);
    take("window");
    window.actions()[Command::EnlargeDetails]->trigger();
    QTabWidget& tabs = *window.workbench().tabs();
    tabs.setCurrentWidget(window.workbench().planValues());
    take("plan");
    const std::int64_t micro = window.workspace().plan().batch.micro.valueOr(2);
    window.workspace().edit({{"batch.micro", std::to_string(micro > 1 ? micro / 2 : 2)}}, QStringLiteral("micro"));
    tabs.setCurrentWidget(window.workbench().diff());
    take("diff");
    window.actions()[Command::EnlargeDetails]->trigger();
    ExportAsDialog dialog(window.workspace());
    dialog.show();
    QTest::qWait(300);
    dialog.grab().save(folder.filePath(name + QStringLiteral("-export.png")));
    window.workspace().undoStack().clear(); // nothing to be asked for on closing
}

} // namespace

int main(int argc, char** argv)
{
    QStandardPaths::setTestModeEnabled(true);
    QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    const QDir folder(arguments.value(1, QStringLiteral(".")));
    const bool isDark = arguments.value(2) == QLatin1String("dark");
    const QStringList size = arguments.value(3, QStringLiteral("1280x800")).split(u'x');
    useLanguage(application, arguments.value(4, QStringLiteral("en")));
    applyTheme(application, isDark ? ThemeChoice::Dark : ThemeChoice::Light);
    const QSize shown(size.value(0).toInt(), size.value(1).toInt());
    if (const QStringList files = arguments.mid(5); !files.isEmpty()) {
        for (const QString& file : files) {
            takeFile(shown, folder, file);
        }
        return 0;
    }
    MainWindow window(Library::load(), {});
    window.resize(shown);
    window.show();
    const QDir samples(sourcePath("resources/samples"));
    window.files().openPaths({samples.filePath(QStringLiteral("llama3-8b-oom.log")),
                              samples.filePath(QStringLiteral("llama3-8b-oom.yaml"))});
    if (!QTest::qWaitFor([&] { return window.workspace().footprint() != nullptr; }, 10000)) {
        return 1;
    }
    Workbench& workbench = window.workbench();
    workbench.compareRuns({samples.filePath(QStringLiteral("llama2-7b-optimizer.log")),
                           samples.filePath(QStringLiteral("llama2-7b-optimizer.yaml"))});
    workbench.compareLosses(writeLosses(folder, QStringLiteral("a.jsonl"), 0),
                            writeLosses(folder, QStringLiteral("b.jsonl"), 0.0005));
    for (const QString& kind : {QStringLiteral("tab"), QStringLiteral("large")}) {
        for (int i = 0; i < workbench.tabs()->count(); ++i) {
            workbench.tabs()->setCurrentIndex(i);
            QTest::qWait(700);
            window.grab().save(folder.filePath(kind + QStringLiteral("%1.png").arg(i)));
        }
        takeComparisons(window, folder, kind);
        window.actions()[Command::EnlargeDetails]->trigger();
    }
    ExportAsDialog dialog(window.workspace());
    dialog.show();
    for (int i = 0; i < dialog.format()->count(); ++i) {
        dialog.format()->setCurrentIndex(i);
        QTest::qWait(200);
        dialog.grab().save(folder.filePath(QStringLiteral("export%1.png").arg(i)));
    }
    ModelDialog models(window.workspace().library().catalog);
    models.show();
    QTest::qWait(200);
    models.grab().save(folder.filePath(QStringLiteral("models.png")));
    return 0;
}
