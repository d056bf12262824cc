// SPDX-License-Identifier: GPL-3.0-or-later
//
// chart_pictures FOLDER: writes both charts in both themes to FOLDER, to be looked at.
#include "charts/peaks_chart.h"
#include "charts/stages_chart.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "ui/chart_data.h"
#include "workspace/view_state.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPushButton>
#include <QSlider>
#include <QTabBar>
#include <QToolButton>

#include <cstdio>

using namespace headroom;

namespace {

QWidget* makeControls()
{
    auto* window = new QWidget;
    auto* layout = new QHBoxLayout(window);
    for (int i = 0; i <= static_cast<int>(Symbol::Copy); ++i) {
        auto* icon = new QLabel;
        icon->setPixmap(symbolIcon(static_cast<Symbol>(i)).pixmap(24, 24));
        layout->addWidget(icon);
    }
    auto* card = new QFrame;
    card->setProperty("card", true);
    card->setProperty("tone", "error");
    auto* cardLayout = new QVBoxLayout(card);
    auto* title = new QLabel(QStringLiteral("Peak is in backward"));
    title->setProperty("role", "title");
    auto* detail = new QLabel(QStringLiteral("activations and gradients live together"));
    detail->setProperty("role", "muted");
    auto* mend = new QPushButton(QStringLiteral("Recompute full"));
    mend->setProperty("role", "mend");
    cardLayout->addWidget(title);
    cardLayout->addWidget(detail);
    cardLayout->addWidget(mend);
    layout->addWidget(card);
    auto* column = new QVBoxLayout;
    auto* slider = new QSlider(Qt::Horizontal);
    slider->setValue(40);
    auto* tabs = new QTabBar;
    tabs->addTab(QStringLiteral("Peaks"));
    tabs->addTab(QStringLiteral("Formula"));
    auto* box = new QComboBox;
    box->addItem(QStringLiteral("GPU: H100 80 GB"));
    auto* check = new QCheckBox(QStringLiteral("Vision tower frozen"));
    check->setChecked(true);
    auto* segment = new QToolButton;
    segment->setProperty("segment", true);
    segment->setCheckable(true);
    segment->setChecked(true);
    segment->setText(QStringLiteral("Selective"));
    for (QWidget* widget : {static_cast<QWidget*>(slider), static_cast<QWidget*>(tabs), static_cast<QWidget*>(box),
                            static_cast<QWidget*>(check), static_cast<QWidget*>(segment),
                            static_cast<QWidget*>(new QLineEdit(QStringLiteral("8 192"))),
                            static_cast<QWidget*>(new QPushButton(QStringLiteral("Export config…")))})
        column->addWidget(widget);
    layout->addLayout(column);
    return window;
}

} // namespace

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    const QDir folder(argc > 1 ? QString::fromLocal8Bit(argv[1]) : QStringLiteral("."));
    int failures = 0;
    for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
        applyTheme(application, choice);
        const QString suffix = choice == ThemeChoice::Dark ? QStringLiteral("-dark.png") : QStringLiteral("-light.png");
        const auto save = [&](const QString& name, const QImage& image) {
            const QString path = folder.filePath(name + suffix);
            const bool isSaved = image.save(path);
            failures += isSaved ? 0 : 1;
            std::printf("%s %s\n", isSaved ? "wrote" : "could not write", qPrintable(path));
        };

        PeaksChart peaks;
        peaks.resize(1000, 420);
        peaks.setCapacity(gib(80), QStringLiteral("H100 capacity 80.0 GiB"));
        peaks.setRun(std::make_shared<Run>(test::typicalRun()));
        save(QStringLiteral("peaks"), peaks.image(1));

        ViewState view;
        PeaksChart close;
        close.setViewState(&view);
        close.resize(640, 300);
        close.setCapacity(gib(80));
        close.setRun(std::make_shared<Run>(test::typicalRun()));
        view.setRange({108, 132});
        view.setCursor(118);
        save(QStringLiteral("peaks-close"), close.image(1));

        PeaksChart empty;
        empty.resize(1000, 420);
        empty.setCapacity(gib(80));
        save(QStringLiteral("peaks-empty"), empty.image(1));

        StagesChart stages;
        stages.resize(1000, 420);
        const Footprint now = test::footprintOf({{4, 9, 7, 17, 39, 0, 0, 4.4, 3},
                                                 {4, 8, 6, 17.3, 26, 0, 0, 4, 3.3},
                                                 {4, 8, 6, 17.3, 13, 0, 0, 4, 3.3},
                                                 {4, 8, 7.5, 17.3, 0, 14.5, 0, 4, 3.3}});
        const Footprint before = test::footprintOf({{9, 18, 13, 33, 16, 0, 0, 4, 3}, {9, 18, 13, 31, 0, 13, 0, 3, 3}});
        stages.setFootprint(now, &before);
        stages.setMeasured({gib(81), gib(68), gib(55), gib(58)});
        stages.setCapacity(gib(80));
        stages.setBaselineName(QStringLiteral("train.yaml"));
        stages.selectStage(1);
        save(QStringLiteral("stages"), stages.image(1));

        stages.show();
        QMouseEvent move(QEvent::MouseMove, QPointF(150, 200), stages.mapToGlobal(QPointF(150, 200)), Qt::NoButton,
                         Qt::NoButton, Qt::NoModifier);
        for (QWidget* child : stages.findChildren<QWidget*>())
            QApplication::sendEvent(child, &move);
        save(QStringLiteral("stages-hover"), stages.image(1));

        StagesChart narrow;
        narrow.resize(420, 300);
        narrow.setFootprint(now, &before);
        narrow.setCapacity(gib(80));
        save(QStringLiteral("stages-narrow"), narrow.image(1));

        StagesChart many;
        many.resize(1000, 420);
        std::vector<std::array<double, componentCount>> deep;
        for (int i = 0; i < 64; ++i)
            deep.push_back({3, 6, 5, 2, 50.0 - 0.7 * i, i == 63 ? 8.0 : 0.0, 1, 2, 2});
        many.setFootprint(test::footprintOf(deep));
        many.setCapacity(gib(64));
        save(QStringLiteral("stages-64"), many.image(1));

        QWidget* controls = makeControls();
        controls->resize(1000, 240);
        save(QStringLiteral("controls"), controls->grab().toImage());
        delete controls;
    }
    return failures;
}
