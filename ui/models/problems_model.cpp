// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/problems_model.h"

#include "theme/icons.h"
#include "workspace/wording.h"

namespace headroom {
namespace {

Symbol symbolOf(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return Symbol::Error;
    case Severity::Warning:
        return Symbol::Warning;
    case Severity::Note:
        break;
    }
    return Symbol::Info;
}

QString wordFor(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return ProblemsModel::tr("Error");
    case Severity::Warning:
        return ProblemsModel::tr("Warning");
    case Severity::Note:
        break;
    }
    return ProblemsModel::tr("Note");
}

QString placeOf(const Problem& problem)
{
    if (problem.file.empty()) {
        return {};
    }
    const QString name = fileName(problem.file);
    return problem.line > 0 ? QStringLiteral("%1:%2").arg(name, QString::number(problem.line)) : name;
}

} // namespace

ProblemsModel::ProblemsModel(QObject* parent)
    : QAbstractTableModel(parent)
{
}

void ProblemsModel::setProblems(std::vector<Problem> problems)
{
    if (problems == m_problems) {
        return;
    }
    beginResetModel();
    m_problems = std::move(problems);
    endResetModel();
}

int ProblemsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_problems.size());
}

int ProblemsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ProblemsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Problem& row = problem(index.row());
    if (role == Qt::DecorationRole && index.column() == Level) {
        return symbolIcon(symbolOf(row.severity));
    }
    if (role == Qt::ToolTipRole && !row.file.empty()) {
        return toQString(row.file);
    }
    if (role == SortRole && index.column() == Level) {
        return static_cast<int>(row.severity);
    }
    if (role == SortRole && index.column() == Place) {
        return QStringLiteral("%1:%2").arg(toQString(row.file)).arg(row.line, 12, 10, QLatin1Char('0'));
    }
    if (role != Qt::DisplayRole && role != SortRole) {
        return {};
    }
    switch (index.column()) {
    case Level:
        return wordFor(row.severity);
    case Place:
        return placeOf(row);
    default:
        return translated(row.text);
    }
}

QVariant ProblemsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Level:
        return tr("Severity");
    case Place:
        return tr("Place");
    case Sentence:
        return tr("What was not understood");
    default:
        return {};
    }
}

} // namespace headroom
