// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/written_plan.h"
#include "insight/finding.h"
#include "runlog/read_log.h"

#include <QByteArray>
#include <QList>

#include <algorithm>
#include <string>
#include <vector>

namespace headroom {

/// The recipe's example model over the given settings.
inline TrainingPlan planOf(const QByteArray& settings)
{
    return test::planOf("model.layers=24 model.hidden=1024 model.vocab=50000 batch.seq=1024 batch.micro=2 " + settings,
                        "a.yaml");
}

/// "f 31.25 b 40 o 20 / f …": one step per group, GiB, rank 0.
inline Run runOf(const QByteArray& steps)
{
    QByteArray log;
    int step = 0;
    for (const QByteArray& group : steps.split('/')) {
        const QList<QByteArray> words = group.simplified().split(' ');
        ++step;
        for (qsizetype i = 0; i + 1 < words.size(); i += 2) {
            const QByteArray phase = words[i] == "f" ? "forward" : words[i] == "b" ? "backward" : "optimizer";
            log += "phase=" + phase + " step=" + QByteArray::number(step) + " rank=0 peak_alloc=" + words[i + 1]
                + "GiB\n";
        }
    }
    return readLogText(log.toStdString(), "train.log");
}

inline const Finding* find(const std::vector<Finding>& findings, const std::string& id)
{
    const auto found
        = std::find_if(findings.begin(), findings.end(), [&id](const Finding& finding) { return finding.id == id; });
    return found == findings.end() ? nullptr : &*found;
}

inline std::string editsText(const Finding& finding)
{
    std::string text;
    for (const PlanEdit& edit : finding.mend ? finding.mend->edits : std::vector<PlanEdit>{}) {
        text += (text.empty() ? "" : " ") + edit.field + "=" + edit.value;
    }
    return text;
}

} // namespace headroom
