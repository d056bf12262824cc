// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/terms_model.h"

#include "workspace/wording.h"

#include <QFontDatabase>
#include <QLocale>

#include <cmath>
#include <limits>

namespace headroom {

struct TermsModel::Node
{
    Term term;
    Node* parent = nullptr;
    int row = 0;
    std::vector<std::unique_ptr<Node>> children;
};

namespace {

QString valueText(const Term& term)
{
    switch (term.unit) {
    case Unit::Size:
        return term.value >= static_cast<double>(mib(512).value) ? gibText(bytesFrom(term.value), 2)
                                                                 : toQString(formatBytes(bytesFrom(term.value), 1));
    case Unit::Number:
        return std::abs(term.value) < static_cast<double>(std::numeric_limits<qint64>::max())
            ? grouped(static_cast<qint64>(std::llround(term.value)))
            : QLocale().toString(term.value, 'g', 4);
    case Unit::Factor:
        break;
    }
    return QStringLiteral("× %1").arg(QLocale().toString(term.value, 'g', 4));
}

QString formulaText(const Term& term)
{
    const QString formula = translated(Text(term.formula)); // symbols stay as they are
    const QString substituted = withGaps(toQString(term.substituted));
    if (formula.isEmpty() || substituted.isEmpty() || formula == substituted) {
        return formula + substituted;
    }
    return QStringLiteral("%1 = %2").arg(formula, substituted);
}

} // namespace

TermsModel::TermsModel(QObject* parent)
    : QAbstractItemModel(parent)
    , m_root(std::make_unique<Node>())
{
}

TermsModel::~TermsModel() = default;

void TermsModel::setTerms(std::vector<Term> terms)
{
    const auto sameShape = [](const auto& self, const Node& node, const std::vector<Term>& parts) -> bool {
        if (node.children.size() != parts.size()) {
            return false;
        }
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (node.children[i]->term.name.pattern != parts[i].name.pattern
                || !self(self, *node.children[i], parts[i].parts)) {
                return false;
            }
        }
        return true;
    };
    const auto fill = [](const auto& self, Node& node, std::vector<Term> parts) -> void {
        node.children.resize(parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            auto& child = node.children[i];
            if (!child) {
                child = std::make_unique<Node>();
            }
            std::vector<Term> below = std::move(parts[i].parts);
            child->term = std::move(parts[i]);
            child->parent = &node;
            child->row = static_cast<int>(i);
            self(self, *child, std::move(below));
        }
    };
    if (sameShape(sameShape, *m_root, terms)) {
        fill(fill, *m_root, std::move(terms));
        announceValues({});
        return;
    }
    beginResetModel();
    m_root = std::make_unique<Node>();
    fill(fill, *m_root, std::move(terms));
    endResetModel();
}

void TermsModel::announceValues(const QModelIndex& parent)
{
    const int rows = rowCount(parent);
    if (rows == 0) {
        return;
    }
    emit dataChanged(index(0, 0, parent), index(rows - 1, ColumnCount - 1, parent));
    for (int row = 0; row < rows; ++row) {
        announceValues(index(row, 0, parent));
    }
}

QModelIndex TermsModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent)) {
        return {};
    }
    const Node* node = parent.isValid() ? static_cast<const Node*>(parent.internalPointer()) : m_root.get();
    return createIndex(row, column, node->children[static_cast<std::size_t>(row)].get());
}

QModelIndex TermsModel::parent(const QModelIndex& child) const
{
    if (!child.isValid()) {
        return {};
    }
    const Node* parent = static_cast<const Node*>(child.internalPointer())->parent;
    return parent == m_root.get() || parent == nullptr ? QModelIndex()
                                                       : createIndex(parent->row, 0, const_cast<Node*>(parent));
}

int TermsModel::rowCount(const QModelIndex& parent) const
{
    if (parent.isValid() && parent.column() != 0) {
        return 0;
    }
    const Node* node = parent.isValid() ? static_cast<const Node*>(parent.internalPointer()) : m_root.get();
    return static_cast<int>(node->children.size());
}

int TermsModel::columnCount(const QModelIndex& /*parent*/) const
{
    return ColumnCount;
}

QVariant TermsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Node* node = static_cast<const Node*>(index.internalPointer());
    const Term& term = node->term;
    if (role == Qt::TextAlignmentRole && index.column() == Value) {
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    }
    if (role == Qt::FontRole) {
        QFont font = index.column() == Formula ? QFontDatabase::systemFont(QFontDatabase::FixedFont) : QFont();
        font.setBold(index.column() != Formula && node->parent == m_root.get());
        return font;
    }
    if (role == Qt::ToolTipRole) {
        return index.column() == Value && term.unit == Unit::Size
            ? tr("%1 bytes").arg(grouped(bytesFrom(term.value).value))
            : formulaText(term);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (index.column()) {
    case Name:
        return translated(term.name);
    case Formula:
        return formulaText(term);
    default:
        return valueText(term);
    }
}

QVariant TermsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole && section == Value) {
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Name:
        return tr("Term");
    case Formula:
        return tr("Formula with your numbers");
    default:
        return tr("Value");
    }
}

} // namespace headroom
