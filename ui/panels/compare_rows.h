// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/fields.h"
#include "units/bytes.h"

#include <QString>

#include <optional>

class QStandardItemModel;

namespace headroom {

/// Fills the table of two runs, which has the columns of ComparePanel: what, before, after, and the change between
/// them. What neither run has gets no row.
class CompareRows
{
public:
    /// Starts with an empty table.
    explicit CompareRows(QStandardItemModel& model);

    void setting(const FieldDifference& field);
    void bytes(const QString& name, std::optional<Bytes> before, std::optional<Bytes> after);
    void number(const QString& name, std::optional<double> before, std::optional<double> after);

private:
    void add(const QString& name, const QString& before, const QString& after, const QString& change);

    QStandardItemModel& m_model;
};

} // namespace headroom
