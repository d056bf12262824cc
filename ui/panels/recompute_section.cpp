// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/recompute_section.h"

#include "insight/knobs.h"
#include "insight/plan_edits.h"
#include "panels/knob_slider.h"
#include "plan/fields.h"
#include "workspace/choices.h"
#include "workspace/knob_text.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace headroom {

RecomputeSection::RecomputeSection(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_modules(new QWidget(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(KnobSlider::leftInset, 2, 0, 2);
    layout->setSpacing(3);
    makeButtons(layout);
    auto* modules = new QVBoxLayout(m_modules);
    modules->setContentsMargins(0, 2, 0, 0);
    modules->setSpacing(2);
    layout->addWidget(m_modules);
    connect(&workspace, &Workspace::draftChanged, this, &RecomputeSection::refresh);
    refresh();
}

void RecomputeSection::makeButtons(QVBoxLayout* layout)
{
    auto* line = new QHBoxLayout;
    line->setSpacing(0);
    auto* group = new QButtonGroup(this);
    for (const Granularity granularity : {Granularity::None, Granularity::Selective, Granularity::Full}) {
        auto* button = new QToolButton(this);
        button->setText(granularityTitle(granularity));
        button->setCheckable(true);
        button->setProperty("segment", true);
        button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        button->setFocusPolicy(Qt::StrongFocus);
        button->setAccessibleName(tr("Recompute: %1").arg(granularityTitle(granularity)));
        group->addButton(button);
        line->addWidget(button);
        m_buttons[granularity] = button;
        connect(button, &QToolButton::clicked, this, [this, granularity] { m_workspace.setGranularity(granularity); });
    }
    layout->addLayout(line);
}

QCheckBox* RecomputeSection::moduleBox(const std::string& module) const
{
    const auto found = m_boxes.find(module);
    return found != m_boxes.end() ? found->second : nullptr;
}

bool RecomputeSection::countsLayers() const
{
    const RecomputePlan& recompute = m_workspace.plan().recompute;
    return effectiveGranularity(m_workspace.plan()) == Granularity::Selective && recompute.modules.value.empty();
}

bool RecomputeSection::isChanged() const
{
    const RecomputePlan& now = m_workspace.plan().recompute;
    const RecomputePlan& original = m_workspace.original().plan.recompute;
    return effectiveGranularity(m_workspace.plan()) != effectiveGranularity(m_workspace.original().plan)
        || now.modules != original.modules || now.numLayers != original.numLayers;
}

void RecomputeSection::setModule(const std::string& module, bool isOn)
{
    std::vector<std::string> modules = m_workspace.plan().recompute.modules.value;
    std::erase(modules, module);
    if (isOn) {
        modules.push_back(module);
    }
    QStringList names;
    for (const std::string& name : modules) {
        names.append(toQString(name));
    }
    const bool isOriginal = modules == m_workspace.original().plan.recompute.modules.value;
    const std::string text = names.isEmpty() ? std::string("[]") : names.join(u',').toStdString();
    m_workspace.edit({{"recompute.modules", isOriginal ? std::string() : text}},
                     tr("Recompute %1").arg(moduleTitle(module)));
    refresh();
}

void RecomputeSection::refresh()
{
    const TrainingPlan& plan = m_workspace.plan();
    const Granularity granularity = effectiveGranularity(plan);
    m_buttons.at(granularity)->setChecked(true);
    m_modules->setVisible(granularity == Granularity::Selective);
    const auto& chosen = plan.recompute.modules.value;
    for (const std::string& module : recomputeModules(plan)) {
        QCheckBox*& box = m_boxes[module];
        if (box == nullptr) {
            box = new QCheckBox(tr("recompute %1").arg(moduleTitle(module)), m_modules);
            box->setToolTip(tr("This part of every layer is computed again instead of kept"));
            m_modules->layout()->addWidget(box);
            connect(box, &QCheckBox::toggled, this, [this, module](bool isOn) { setModule(module, isOn); });
        }
        const QSignalBlocker blocker(box);
        box->setChecked(std::find(chosen.begin(), chosen.end(), module) != chosen.end());
    }
}

} // namespace headroom
