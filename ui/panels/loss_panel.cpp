// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/loss_panel.h"

#include "charts/loss_chart.h"
#include "panels/finding_list.h"
#include "panels/styled.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <tuple>
#include <utility>

namespace headroom {
namespace {

QString emptyText()
{
    return LossPanel::tr("Compare the losses of two runs to see whether a change left the training alone:\n"
                         "two files of JSON lines such as {\"step\": 1, \"loss\": 2.5}, or two logs.");
}

QString real(double value)
{
    return QLocale().toString(value, 'g', 4);
}

/// Two runs often name their files alike; then the folders tell them apart.
std::pair<QString, QString> namesOf(const std::filesystem::path& first, const std::filesystem::path& second)
{
    if (first.filename() != second.filename()) {
        return {fileName(first), fileName(second)};
    }
    const auto withFolder = [](const std::filesystem::path& path) {
        return QStringLiteral("%1/%2").arg(fileName(path.parent_path()), fileName(path));
    };
    return {withFolder(first), withFolder(second)};
}

QString figuresOf(const LossComparison& comparison)
{
    const QString largest
        = LossPanel::tr("largest difference %1 at step %2, tolerance %3")
              .arg(real(comparison.largest), grouped(comparison.largestStep), real(comparison.tolerance));
    return comparison.departsAt
        ? LossPanel::tr("%1, beyond it from step %2 on").arg(largest, grouped(*comparison.departsAt))
        : largest;
}

} // namespace

LossPanel::LossPanel(const Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_sentence(makeLabel({}, "strong", this))
    , m_figures(makeLabel({}, "muted", this))
    , m_chart(new LossChart(this))
    , m_findings(new FindingList(this))
    , m_empty(makeLabel(emptyText(), "muted", this))
    , m_stack(new QStackedWidget(this))
{
    QPushButton* choose = makeLink(tr("Compare losses…"), this);
    choose->setObjectName(QStringLiteral("chooseLossesButton"));
    m_stack->addWidget(makeStart(m_empty, choose, this));
    m_stack->addWidget(makePage());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    connect(choose, &QPushButton::clicked, this, &LossPanel::filesRequested);
    connect(m_findings, &FindingList::evidenceActivated, this, &LossPanel::evidenceActivated);
    connect(&m_watcher, &QFutureWatcher<LossAnswer>::finished, this, &LossPanel::take);
}

QWidget* LossPanel::makePage()
{
    auto* page = new QWidget(this);
    QPushButton* others = makeLink(tr("Other files…"), page);
    auto* line = new QHBoxLayout;
    line->setContentsMargins(14, 4, 8, 0);
    m_figures->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_figures->setWordWrap(true);
    line->setSpacing(12);
    line->addWidget(m_sentence);
    line->addWidget(m_figures, 1);
    line->addWidget(others);
    auto* splitter = new QSplitter(Qt::Horizontal, page);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_chart);
    splitter->addWidget(m_findings);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setSizes({600, 400});
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(line);
    layout->addWidget(splitter, 1);
    connect(others, &QPushButton::clicked, this, &LossPanel::filesRequested);
    return page;
}

void LossPanel::compare(const QString& first, const QString& second)
{
    m_paths = {first, second};
    if (m_stack->currentIndex() == 0) {
        m_empty->setText(tr("Reading the losses…"));
    }
    m_watcher.setFuture(
        compareLossFiles(toPath(first), toPath(second), std::make_shared<const Library>(m_workspace.library())));
    setInUse(true);
}

void LossPanel::clear()
{
    m_watcher.setFuture({}); // what is still read is no longer of interest
    m_paths.clear();
    showNothing(emptyText());
    setInUse(false);
}

void LossPanel::setInUse(bool inUse)
{
    if (m_isInUse != inUse) {
        m_isInUse = inUse;
        emit useChanged();
    }
}

void LossPanel::take()
{
    if (m_paths.isEmpty() || m_watcher.future().resultCount() == 0) {
        return;
    }
    const LossAnswer answer = m_watcher.result();
    if (*answer) {
        m_answer = answer;
        showReport(**answer);
    } else {
        showNothing(translated(answer->error()));
    }
}

void LossPanel::showReport(const LossReport& report)
{
    const LossComparison& comparison = report.comparison;
    auto curves = std::make_shared<LossCurves>();
    std::tie(curves->firstName, curves->secondName) = namesOf(toPath(m_paths[0]), toPath(m_paths[1]));
    curves->steps.assign(comparison.steps.begin(), comparison.steps.end());
    curves->first = comparison.first;
    curves->second = comparison.second;
    curves->tolerance = comparison.tolerance;
    m_chart->setCurves(std::move(curves));
    m_sentence->setText(translated(titleOf(comparison.verdict)));
    m_figures->setText(figuresOf(comparison));
    showFindings(report);
    m_stack->setCurrentIndex(1);
}

void LossPanel::showFindings(const LossReport& report)
{
    std::vector<Finding> findings = findingsOf(report, m_plans);
    if (!report.problems.empty()) {
        const Problem& problem = report.problems.front();
        Finding finding;
        finding.id = "losses-not-understood";
        finding.severity = Severity::Warning;
        finding.title = problem.text;
        finding.evidence.push_back({{}, problem.file, problem.line});
        findings.push_back(std::move(finding));
    }
    m_findings->setFindings(findings);
}

void LossPanel::setPlans(LossPlans plans)
{
    m_plans = std::move(plans);
    if (m_answer) {
        showFindings(**m_answer);
    }
}

void LossPanel::showNothing(const QString& reason)
{
    m_answer.reset();
    m_chart->setCurves(nullptr);
    m_findings->setFindings({});
    m_empty->setText(reason);
    m_stack->setCurrentIndex(0);
}

QString LossPanel::sentence() const
{
    return m_stack->currentIndex() == 0 ? m_empty->text() : m_sentence->text();
}

} // namespace headroom
