// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/read_plan.h"
#include "plan/fields.h"

#include <QRegularExpression>
#include <QString>
#include <QStringList>
#include <QTest>

namespace headroom {

inline const ConfigFormats& builtinFormats()
{
    static const ConfigFormats loaded = ConfigFormats::load();
    return loaded;
}

inline const Catalog& builtinCatalog()
{
    static const Catalog loaded = Catalog::load();
    return loaded;
}

/// A test's own text as a document named test.yaml.
inline ConfigDocument parsed(const QString& text)
{
    auto document = ConfigDocument::parse(text.toStdString(), "test.yaml");
    if (!document) {
        qFatal("%s", document.error().english().c_str());
    }
    return std::move(*document);
}

inline const ConfigFormat& formatOf(const ConfigDocument& document)
{
    const ConfigFormat* format = builtinFormats().detect(document);
    if (format == nullptr) {
        qFatal("no format recognises the text");
    }
    return *format;
}

inline PlanReading readingOf(const ConfigDocument& document)
{
    return readPlan(document, formatOf(document), builtinCatalog());
}

inline QString fieldOf(const TrainingPlan& plan, const QString& key)
{
    return QString::fromStdString(fieldText(plan, key.toStdString()));
}

inline QStringList sentences(const std::vector<Problem>& problems)
{
    QStringList result;
    for (const Problem& problem : problems) {
        result << QString::fromStdString(problem.english());
    }
    return result;
}

/// "field=value, field=one, another"; no value: not known.
inline void compare(const TrainingPlan& plan, const QString& expected)
{
    static const QRegularExpression beforeField(QStringLiteral(", (?=[a-z0-9_.]+=)"));
    for (const QString& pair : expected.split(beforeField)) {
        QCOMPARE(pair.section('=', 0, 0) + "=" + fieldOf(plan, pair.section('=', 0, 0)), pair);
    }
}

} // namespace headroom
