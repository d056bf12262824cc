// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_model.h"

#include "config/comparable_plan.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "workspace/wording.h"

#include <QFont>

#include <algorithm>
#include <array>
#include <map>

namespace headroom {
namespace {

/// No estimate without these, or only a rough one.
constexpr std::array<std::string_view, 6> needed{"model.layers", "model.hidden", "model.heads",
                                                 "model.vocab",  "batch.micro",  "batch.seq"};

QString groupTitle(const QString& id)
{
    static const std::map<std::string, const char*> titles{
        {"model", QT_TRANSLATE_NOOP("headroom::PlanModel", "Model")},
        {"moe", QT_TRANSLATE_NOOP("headroom::PlanModel", "Experts")},
        {"mla", QT_TRANSLATE_NOOP("headroom::PlanModel", "Latent attention")},
        {"vision", QT_TRANSLATE_NOOP("headroom::PlanModel", "Vision encoder")},
        {"projector", QT_TRANSLATE_NOOP("headroom::PlanModel", "Projector")},
        {"frozen", QT_TRANSLATE_NOOP("headroom::PlanModel", "Frozen")},
        {"batch", QT_TRANSLATE_NOOP("headroom::PlanModel", "Batch")},
        {"objective", QT_TRANSLATE_NOOP("headroom::PlanModel", "Objective")},
        {"parallel", QT_TRANSLATE_NOOP("headroom::PlanModel", "Parallelism")},
        {"shard", QT_TRANSLATE_NOOP("headroom::PlanModel", "Sharding and offload")},
        {"precision", QT_TRANSLATE_NOOP("headroom::PlanModel", "Precision")},
        {"optimizer", QT_TRANSLATE_NOOP("headroom::PlanModel", "Optimizer")},
        {"recompute", QT_TRANSLATE_NOOP("headroom::PlanModel", "Recompute")},
        {"attention", QT_TRANSLATE_NOOP("headroom::PlanModel", "Attention")},
        {"implementation", QT_TRANSLATE_NOOP("headroom::PlanModel", "Implementation")},
        {"lora", QT_TRANSLATE_NOOP("headroom::PlanModel", "Adapters")},
        {"hardware", QT_TRANSLATE_NOOP("headroom::PlanModel", "Hardware")}};
    const auto title = titles.find(id.toStdString());
    return title == titles.end() ? id : PlanModel::tr(title->second);
}

QString placeText(const Origin& origin)
{
    const QString name = origin.source ? fileName(*origin.source) : QString();
    return origin.line > 0 ? QStringLiteral("%1:%2").arg(name, QString::number(origin.line)) : name;
}

QString originText(const Origin& origin)
{
    const QString place = placeText(origin);
    switch (origin.kind) {
    case OriginKind::Unknown:
        return place.isEmpty() ? PlanModel::tr("not stated") : PlanModel::tr("%1, not understood").arg(place);
    case OriginKind::Default:
        return PlanModel::tr("default");
    case OriginKind::Derived:
        return place.isEmpty() ? PlanModel::tr("derived") : PlanModel::tr("derived from %1").arg(place);
    case OriginKind::Preset:
        return PlanModel::tr("preset %1").arg(place);
    case OriginKind::ConfigFile:
    case OriginKind::Log:
        return place;
    case OriginKind::CommandLine:
    case OriginKind::Edited:
        break;
    }
    return PlanModel::tr("changed here");
}

std::map<std::string, std::string> textsOf(const TrainingPlan& plan)
{
    // Against a plan of which nothing is known, every value that is known differs.
    TrainingPlan nothing;
    forEachField(nothing, [](std::string_view, auto& field) { field.origin = {}; });
    std::map<std::string, std::string> texts;
    for (FieldDifference& field : difference(nothing, plan)) {
        texts.emplace(std::move(field.key), std::move(field.after));
    }
    return texts;
}

} // namespace

PlanModel::PlanModel(QObject* parent)
    : QAbstractItemModel(parent)
{
    const TrainingPlan plan;
    forEachField(plan, [this](std::string_view key, const auto&) {
        const QString field = toQString(key);
        const QString group = field.section(QLatin1Char('.'), 0, 0);
        if (group == field) {
            return; // the framework's name is the file's format, no value of its plan
        }
        if (m_groups.empty() || m_groups.back().id != group) {
            m_groups.push_back({group, {}});
        }
        m_groups.back().rows.push_back({field, field.section(QLatin1Char('.'), -1), {}, {}, {}, {}, {}, false});
    });
}

void PlanModel::setPlans(const TrainingPlan& plan, const TrainingPlan& original)
{
    const auto values = textsOf(plan);
    const auto before = textsOf(original);
    const auto effective = textsOf(comparable(plan));
    std::map<std::string, std::pair<Origin, Origin>> origins;
    forEachField(plan,
                 [&](std::string_view key, const auto& field) { origins[std::string(key)].first = field.origin; });
    forEachField(original,
                 [&](std::string_view key, const auto& field) { origins[std::string(key)].second = field.origin; });
    const auto find = [](const std::map<std::string, std::string>& texts, const std::string& key) {
        const auto found = texts.find(key);
        return found == texts.end() ? QString() : toQString(found->second);
    };
    for (std::size_t at = 0; at < m_groups.size(); ++at) {
        for (Row& row : m_groups[at].rows) {
            const std::string key = row.field.toStdString();
            row.value = find(values, key);
            row.before = find(before, key);
            const QString taken = find(effective, key);
            row.inEffect = taken == row.value ? QString() : taken;
            std::tie(row.origin, row.originBefore) = origins[key];
            const bool isNeeded = std::find(needed.begin(), needed.end(), key) != needed.end();
            const bool isUnclear = row.origin.kind == OriginKind::Unknown && row.origin.source != nullptr;
            row.isAsked = row.value.isEmpty() && (isNeeded || isUnclear);
        }
        const QModelIndex group = index(static_cast<int>(at), 0);
        emit dataChanged(index(0, 0, group), index(rowCount(group) - 1, ColumnCount - 1, group));
    }
}

int PlanModel::askedCount() const
{
    int count = 0;
    for (const Group& group : m_groups) {
        count += static_cast<int>(
            std::count_if(group.rows.begin(), group.rows.end(), [](const Row& row) { return row.isAsked; }));
    }
    return count;
}

Origin PlanModel::origin(const QModelIndex& index) const
{
    const Row* row = rowAt(index);
    if (row == nullptr) {
        return {};
    }
    // What was changed here still stands somewhere.
    return row->origin.kind == OriginKind::Edited ? row->originBefore : row->origin;
}

QModelIndex PlanModel::firstAsked() const
{
    for (const Group& group : m_groups) {
        const auto found
            = std::find_if(group.rows.begin(), group.rows.end(), [](const Row& row) { return row.isAsked; });
        if (found != group.rows.end()) {
            return indexOf(found->field, Value);
        }
    }
    return {};
}

QModelIndex PlanModel::indexOf(const QString& field, int column) const
{
    for (std::size_t group = 0; group < m_groups.size(); ++group) {
        const auto& rows = m_groups[group].rows;
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.field == field; });
        if (found != rows.end()) {
            return index(static_cast<int>(found - rows.begin()), column, index(static_cast<int>(group), 0));
        }
    }
    return {};
}

/// A group's id is 0, a row's the number of its group.
QModelIndex PlanModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent)) {
        return {};
    }
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : quintptr{0});
}

QModelIndex PlanModel::parent(const QModelIndex& child) const
{
    return child.internalId() == 0 ? QModelIndex()
                                   : createIndex(static_cast<int>(child.internalId()) - 1, 0, quintptr{0});
}

int PlanModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid()) {
        return static_cast<int>(m_groups.size());
    }
    const bool isGroup = parent.internalId() == 0 && parent.column() == 0;
    return isGroup ? static_cast<int>(m_groups[static_cast<std::size_t>(parent.row())].rows.size()) : 0;
}

int PlanModel::columnCount(const QModelIndex& /*parent*/) const
{
    return ColumnCount;
}

const PlanModel::Row* PlanModel::rowAt(const QModelIndex& index) const
{
    return index.isValid() && index.internalId() > 0
        ? &m_groups[index.internalId() - 1].rows[static_cast<std::size_t>(index.row())]
        : nullptr;
}

Qt::ItemFlags PlanModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags flags = QAbstractItemModel::flags(index);
    return rowAt(index) != nullptr && index.column() == Value ? flags | Qt::ItemIsEditable : flags;
}

QVariant PlanModel::text(const Row& row, int column) const
{
    switch (column) {
    case Name:
        return row.name;
    case Value:
        return row.isAsked ? tr("value?") : row.value.isEmpty() ? QStringLiteral("–") : row.value;
    case InEffect:
        return row.inEffect;
    default:
        return row.origin.kind == OriginKind::Edited && !row.before.isEmpty()
            ? tr("changed here, was %1 from %2").arg(row.before, originText(row.originBefore))
            : originText(row.origin);
    }
}

QVariant PlanModel::look(const Row& row, int column, int role) const
{
    if (role == Qt::DecorationRole) {
        return row.isAsked && column == Value ? QVariant(symbolIcon(Symbol::Warning)) : QVariant();
    }
    const Theme& theme = Theme::current();
    if (role == Qt::FontRole) {
        QFont font;
        font.setBold(row.origin.kind == OriginKind::Edited && column == Value);
        return font;
    }
    if (row.isAsked && (column == Value || column == Name)) {
        return theme.warning.text;
    }
    const bool isStated = row.origin.kind != OriginKind::Unknown && row.origin.kind != OriginKind::Default
        && row.origin.kind != OriginKind::Derived;
    return isStated && column != From ? QVariant() : QVariant(theme.mutedText);
}

QVariant PlanModel::data(const QModelIndex& index, int role) const
{
    const Row* row = rowAt(index);
    if (row == nullptr) {
        const bool isTitle = index.isValid() && index.column() == Name;
        QFont bold;
        bold.setBold(true);
        return !isTitle               ? QVariant()
            : role == Qt::DisplayRole ? groupTitle(m_groups[static_cast<std::size_t>(index.row())].id)
            : role == Qt::FontRole    ? QVariant(bold)
                                      : QVariant();
    }
    switch (role) {
    case Qt::DisplayRole:
        return text(*row, index.column());
    case Qt::EditRole:
        return row->value;
    case Qt::ToolTipRole:
        return index.column() == From && row->origin.source ? toQString(*row->origin.source) : row->field;
    case Qt::FontRole:
    case Qt::DecorationRole:
    case Qt::ForegroundRole:
        return look(*row, index.column(), role);
    case FieldRole:
        return row->field;
    case IsStatedRole:
        return !row->value.isEmpty();
    case IsAskedRole:
        return row->isAsked;
    default:
        return {};
    }
}

bool PlanModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    const Row* row = rowAt(index);
    const QString text = value.toString().trimmed();
    if (row == nullptr || role != Qt::EditRole || index.column() != Value || text == row->value) {
        return false;
    }
    emit editRequested(row->field, text);
    return true;
}

QVariant PlanModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Name:
        return tr("Name");
    case Value:
        return tr("Value");
    case InEffect:
        return tr("In effect");
    default:
        return tr("From");
    }
}

} // namespace headroom
