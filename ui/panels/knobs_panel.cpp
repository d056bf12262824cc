// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/knobs_panel.h"

#include "panels/choice_row.h"
#include "panels/knob_group.h"
#include "panels/knob_row.h"
#include "panels/knob_slider.h"
#include "panels/model_section.h"
#include "panels/recompute_section.h"
#include "panels/styled.h"
#include "panels/toggle_row.h"
#include "plan/batch.h"
#include "plan/fields.h"
#include "plan/pipeline_split.h"
#include "workspace/knob_text.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QCheckBox>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace headroom {
namespace {

constexpr double leastK = 1;
constexpr double mostK = 40;
constexpr int stepsPerK = 10;
constexpr int indent = KnobSlider::leftInset;

std::vector<double> kStops()
{
    std::vector<double> stops;
    for (int i = static_cast<int>(leastK) * stepsPerK; i <= static_cast<int>(mostK) * stepsPerK; ++i) {
        stops.push_back(static_cast<double>(i) / stepsPerK);
    }
    return stops;
}

/// As the knob shows it: 0 where nobody said.
std::int64_t saidValue(Knob knob, const TrainingPlan& plan)
{
    return knobIsAsked(knob, plan) ? 0 : knobValue(knob, plan);
}

} // namespace

KnobsPanel::KnobsPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_model(new ModelSection(workspace, this))
    , m_k(new KnobRow(tr("k, activation copies"),
                      tr("Copies of the hidden state kept per layer and token: activations = B·S·h·L·k·2 bytes. A log "
                         "tells a model's own k."),
                      1, this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(6, 0, 14, 12);
    layout->setSpacing(4);
    layout->addWidget(m_model);
    fillParallel(addGroup(tr("PARALLEL"), QStringLiteral("parallel"), false));
    fillBatch(addGroup(tr("BATCH"), QStringLiteral("batch"), false));
    fillRecompute(addGroup(tr("RECOMPUTE"), QStringLiteral("recompute"), false));
    fillState(addGroup(tr("STATE"), QStringLiteral("state"), false));
    fillImplementation(addGroup(tr("IMPLEMENTATION"), QStringLiteral("implementation"), true));
    m_resetAll = new QPushButton(this);
    m_resetAll->setObjectName(QStringLiteral("resetAllButton"));
    auto* resetLine = new QHBoxLayout;
    resetLine->setContentsMargins(indent, 10, 0, 0);
    resetLine->addWidget(m_resetAll);
    layout->addLayout(resetLine);
    layout->addStretch();

    connectK();
    connect(m_model, &ModelSection::modelRequested, this, &KnobsPanel::modelRequested);
    connect(m_resetAll, &QPushButton::clicked, &workspace, &Workspace::resetAll);
    // After the rows, which are connected before: the groups' marks tell of them.
    connect(&workspace, &Workspace::draftChanged, this, &KnobsPanel::showValues);
    // Which values are possible follows with the findings: it costs more than a tick of a slider should.
    connect(&workspace, &Workspace::findingsChanged, this, &KnobsPanel::showStops);
    showStops();
    showValues();
}

KnobGroup* KnobsPanel::addGroup(const QString& title, const QString& key, bool startsFolded)
{
    auto* group = new KnobGroup(title, key, startsFolded, this);
    static_cast<QVBoxLayout*>(layout())->addWidget(group);
    m_groups[key] = group;
    return group;
}

void KnobsPanel::fillParallel(KnobGroup* group)
{
    addRow(Knob::PipelineStages, group);
    addRow(Knob::VirtualChunks, group);
    addChoice(Choice::Schedule, group);
    addRow(Knob::TensorParallel, group);
    m_toggles["parallel.sp"] = new ToggleRow(
        m_workspace, "parallel.sp", tr("Sequence parallel"),
        tr("Tensor-parallel GPUs also share the tokens between the layers: norms, dropout and the residual stream"),
        [](const TrainingPlan& plan) {
            return plan.parallel.tp.value > 1 ? std::nullopt
                                              : std::optional(Text(HEADROOM_TR("core", "it needs tensor parallelism")));
        },
        this);
    group->body()->addWidget(m_toggles.at("parallel.sp"));
    addRow(Knob::ContextParallel, group);
    addRow(Knob::ExpertParallel, group);
    addRow(Knob::DataParallel, group);
}

void KnobsPanel::fillBatch(KnobGroup* group)
{
    addRow(Knob::MicroBatch, group);
    addRow(Knob::Accumulation, group);
    group->body()->addWidget(makeEquation());
    addRow(Knob::SequenceLength, group);
    addLinks(group->body());
}

void KnobsPanel::fillRecompute(KnobGroup* group)
{
    m_recompute = new RecomputeSection(m_workspace, this);
    group->body()->addWidget(m_recompute);
    addRow(Knob::RecomputedLayers, group);
}

void KnobsPanel::fillState(KnobGroup* group)
{
    addChoice(Choice::Precision, group);
    addChoice(Choice::Optimizer, group);
    addChoice(Choice::Sharding, group);
}

void KnobsPanel::fillImplementation(KnobGroup* group)
{
    addChoice(Choice::Profile, group);
    group->body()->addWidget(m_k);
}

void KnobsPanel::addChoice(Choice choice, KnobGroup* group)
{
    m_choices[choice] = new ChoiceRow(m_workspace, choice, this);
    group->body()->addWidget(m_choices.at(choice));
}

void KnobsPanel::addRow(Knob knob, KnobGroup* group)
{
    auto* row = new KnobRow(knobTitle(knob), knobMeaning(knob), 0, this);
    row->setObjectName(QStringLiteral("knob.") + toQString(knobField(knob)));
    m_rows[knob] = row;
    group->body()->addWidget(row);
    connect(row, &KnobRow::valueChosen, this,
            [this, knob](double value) { m_workspace.turnKnob(knob, static_cast<qint64>(value)); });
    connect(row, &KnobRow::valueTyped, this, [this, knob](double value) { takeTyped(knob, value); });
    connect(row, &KnobRow::gestureEnded, &m_workspace, &Workspace::endGesture);
    connect(row, &KnobRow::resetRequested, this, [this, knob] { m_workspace.resetKnob(knob); });
}

void KnobsPanel::connectK()
{
    m_k->setObjectName(QStringLiteral("knob.k"));
    m_k->setStops(kStops());
    connect(m_k, &KnobRow::valueChosen, this, [this](double value) { m_workspace.setK(value); });
    connect(m_k, &KnobRow::valueTyped, this, [this](double value) {
        if (value < leastK || value > mostK) {
            m_k->showObjection(
                tr("k lies between %1 and %2").arg(QLocale().toString(leastK), QLocale().toString(mostK)));
            return;
        }
        m_workspace.setK(value);
        m_workspace.endGesture();
        showK();
    });
    connect(m_k, &KnobRow::gestureEnded, &m_workspace, &Workspace::endGesture);
    connect(m_k, &KnobRow::resetRequested, this, [this] { m_workspace.setK(std::nullopt); });
}

QWidget* KnobsPanel::makeEquation()
{
    auto* holder = new QWidget(this);
    auto* holderLayout = new QHBoxLayout(holder);
    holderLayout->setContentsMargins(indent, 2, 0, 4);
    auto* frame = new QFrame(holder);
    frame->setObjectName(QStringLiteral("equation"));
    frame->setProperty("banner", QStringLiteral("plain"));
    frame->setToolTip(tr("Samples of one training step: micro-batch × accumulation × data parallel"));
    auto* layout = new QHBoxLayout(frame);
    layout->setContentsMargins(8, 4, 8, 4);
    m_product = makeLabel({}, "strong", frame);
    m_global = makeLabel({}, "muted", frame);
    layout->addWidget(m_product);
    layout->addStretch();
    layout->addWidget(m_global);
    holderLayout->addWidget(frame);
    return holder;
}

void KnobsPanel::addLinks(QVBoxLayout* layout)
{
    m_keepGpus = new QCheckBox(tr("Keep the number of GPUs"), this);
    m_keepGpus->setToolTip(tr("Pipeline and tensor parallelism change the data-parallel size"));
    m_keepBatch = new QCheckBox(tr("Keep the global batch"), this);
    m_keepBatch->setToolTip(tr("The micro-batch and the data-parallel size change the accumulation"));
    for (QCheckBox* box : {m_keepGpus, m_keepBatch}) {
        auto* line = new QHBoxLayout;
        line->setContentsMargins(indent, 0, 0, 0);
        line->addWidget(box);
        layout->addLayout(line);
        connect(box, &QCheckBox::toggled, this, [this] {
            m_workspace.setLinks({m_keepBatch->isChecked(), m_keepGpus->isChecked()});
            showStops();
        });
    }
}

void KnobsPanel::takeTyped(Knob knob, double value)
{
    const auto whole = static_cast<qint64>(value);
    if (const auto objection = knobObjection(knob, m_workspace.plan(), whole, m_workspace.links())) {
        m_rows.at(knob)->showObjection(translated(*objection));
        return;
    }
    m_workspace.turnKnob(knob, whole);
    m_workspace.endGesture();
    m_rows.at(knob)->setValue(static_cast<double>(saidValue(knob, m_workspace.plan())));
}

void KnobsPanel::showValues()
{
    const TrainingPlan& plan = m_workspace.plan();
    const TrainingPlan& original = m_workspace.original().plan;
    for (const auto& [knob, row] : m_rows) {
        const auto value = saidValue(knob, plan);
        const auto before = saidValue(knob, original);
        row->setOriginal(static_cast<double>(before));
        row->setValue(static_cast<double>(value));
        row->setChanged(value != before);
        row->setNote(noteFor(knob));
        const auto idle = knobIdle(knob, plan);
        row->setIdle(idle ? translated(*idle) : QString());
        row->setVisible(knob == Knob::RecomputedLayers ? m_recompute->countsLayers() : knobApplies(knob, plan));
    }
    showEquation();
    showK();
    showGroups();
    const QString source = m_workspace.config() != nullptr ? fileName(m_workspace.config()->path) : tr("the original");
    m_resetAll->setText(tr("Reset all to %1").arg(source));
    m_resetAll->setEnabled(!m_workspace.draft().means(m_workspace.original()));
}

QString KnobsPanel::noteFor(Knob knob) const
{
    const TrainingPlan& plan = m_workspace.plan();
    if (knob != Knob::PipelineStages || !plan.model.layers.isKnown()) {
        return {};
    }
    const auto layers = layersPerStage(plan);
    if (layers.empty() || layers.size() > 16
        || std::all_of(layers.begin(), layers.end(), [&](auto n) { return n == layers.front(); })) {
        return {};
    }
    QStringList counts;
    for (const std::int64_t count : layers) {
        counts.append(QString::number(count));
    }
    return tr("uneven: %1 layers").arg(counts.join(QStringLiteral(", ")));
}

void KnobsPanel::showStops()
{
    for (const auto& [knob, row] : m_rows) {
        std::vector<double> stops;
        for (const KnobStop& stop :
             knobStops(knob, m_workspace.plan(), m_workspace.original().plan, m_workspace.links())) {
            stops.push_back(static_cast<double>(stop.value));
        }
        row->setStops(std::move(stops));
    }
}

void KnobsPanel::showEquation()
{
    const BatchEquation equation = batchEquation(m_workspace.plan());
    const auto text
        = [](const std::optional<std::int64_t>& term) { return term ? grouped(*term) : QStringLiteral("?"); };
    m_product->setText(
        QStringLiteral("%1 × %2 × %3 = %4")
            .arg(text(equation.micro), text(equation.accumulate), text(equation.dataParallel), text(equation.product)));
    const Count& global = m_workspace.plan().batch.global;
    if (!global.isKnown()) {
        setStyled(m_global, "role", QStringLiteral("muted"));
        m_global->setText(tr("samples per step"));
        return;
    }
    const bool holds = equation.holds.value_or(false);
    setStyled(m_global, "role", holds ? QStringLiteral("ok") : QStringLiteral("error"));
    m_global->setText(QStringLiteral("global_batch_size %1 %2")
                          .arg(grouped(global.value), holds ? QStringLiteral("✓") : QStringLiteral("✗")));
}

QToolButton* KnobsPanel::granularityButton(Granularity granularity) const
{
    return m_recompute->granularityButton(granularity);
}

QString KnobsPanel::equationText() const
{
    return m_product->text() + QLatin1Char(' ') + m_global->text();
}

void KnobsPanel::showGroups()
{
    const auto turned = [this](std::initializer_list<Knob> knobs) {
        return std::any_of(knobs.begin(), knobs.end(), [this](Knob knob) { return m_rows.at(knob)->isChanged(); });
    };
    const auto chosen = [this](std::initializer_list<Choice> choices) {
        return std::any_of(choices.begin(), choices.end(),
                           [this](Choice choice) { return m_choices.at(choice)->isChanged(); });
    };
    m_groups.at(QStringLiteral("parallel"))
        ->setChanged(turned({Knob::PipelineStages, Knob::VirtualChunks, Knob::TensorParallel, Knob::ContextParallel,
                             Knob::ExpertParallel, Knob::DataParallel})
                     || chosen({Choice::Schedule}) || m_toggles.at("parallel.sp")->isChanged());
    m_groups.at(QStringLiteral("batch"))
        ->setChanged(turned({Knob::MicroBatch, Knob::Accumulation, Knob::SequenceLength}));
    m_groups.at(QStringLiteral("recompute"))->setChanged(m_recompute->isChanged());
    m_groups.at(QStringLiteral("state"))->setChanged(chosen({Choice::Precision, Choice::Optimizer, Choice::Sharding}));
    m_groups.at(QStringLiteral("implementation"))->setChanged(chosen({Choice::Profile}) || m_k->isChanged());
}

void KnobsPanel::showK()
{
    const std::optional<double> own = m_workspace.draft().calibration.k;
    const Footprint* footprint = m_workspace.footprint();
    const Footprint* baseline = m_workspace.baseline();
    const double inEffect = own.value_or(footprint != nullptr ? footprint->k : 0);
    // Without its own value k follows the recompute setting: the mark is what the theory derives.
    m_k->setOriginal(own && baseline != nullptr ? baseline->k : inEffect);
    m_k->setValue(inEffect);
    m_k->setChanged(own.has_value());
    m_k->setEnabled(footprint != nullptr);
    m_k->setNote(own || footprint == nullptr ? QString() : tr("derived from the model and recompute"));
}

} // namespace headroom
