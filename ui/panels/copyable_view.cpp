// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/copyable_view.h"

#include "theme/icons.h"

#include <QAbstractItemView>
#include <QAction>
#include <QClipboard>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QItemSelectionModel>

#include <algorithm>

namespace headroom {
namespace {

QString lineOf(const QAbstractItemModel& model, const QModelIndex& first)
{
    QStringList cells;
    for (int column = 0; column < model.columnCount(first.parent()); ++column) {
        cells.append(first.siblingAtColumn(column).data().toString());
    }
    return cells.join(QLatin1Char('\t'));
}

void appendAll(const QAbstractItemModel& model, const QModelIndex& parent, QStringList& lines)
{
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex index = model.index(row, 0, parent);
        lines.append(lineOf(model, index));
        appendAll(model, index, lines);
    }
}

} // namespace

QString tabSeparated(const QAbstractItemView& view)
{
    const QAbstractItemModel& model = *view.model();
    QStringList header;
    for (int column = 0; column < model.columnCount(); ++column) {
        header.append(model.headerData(column, Qt::Horizontal).toString());
    }
    QStringList lines{header.join(QLatin1Char('\t'))};
    QModelIndexList rows = view.selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    if (rows.isEmpty()) {
        appendAll(model, {}, lines);
    }
    for (const QModelIndex& row : rows) {
        lines.append(lineOf(model, row));
    }
    return lines.join(QLatin1Char('\n'));
}

void makeCopyable(QAbstractItemView& view)
{
    auto* copy
        = new QAction(symbolIcon(Symbol::Copy), QCoreApplication::translate("CopyableView", "&Copy as table"), &view);
    copy->setStatusTip(QCoreApplication::translate("CopyableView", "Copies the chosen rows as tab-separated text"));
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    QObject::connect(copy, &QAction::triggered, &view,
                     [&view] { QGuiApplication::clipboard()->setText(tabSeparated(view)); });
    view.addAction(copy);
    view.setContextMenuPolicy(Qt::ActionsContextMenu);
}

} // namespace headroom
