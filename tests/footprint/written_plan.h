// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/fields.h"

#include <QByteArray>
#include <QList>

#include <memory>
#include <string>

namespace headroom::test {

/// A plan from settings in words, "model.layers=32 parallel.tp=4 …", as `file` would state them line by line. A wrong
/// setting is a mistake of the test.
inline TrainingPlan planOf(const QByteArray& settings, const char* file = nullptr)
{
    TrainingPlan plan;
    const auto source = file != nullptr ? std::make_shared<const std::string>(file) : nullptr;
    int line = 0;
    for (const QByteArray& setting : settings.simplified().split(' ')) {
        const auto equals = setting.indexOf('=');
        const auto done = setField(plan, setting.left(equals).toStdString(), setting.mid(equals + 1).toStdString(),
                                   {OriginKind::ConfigFile, ++line, source});
        if (!done) {
            qFatal("%s: %s", setting.constData(), done.error().english().c_str());
        }
    }
    return plan;
}

} // namespace headroom::test
