// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/history.h"

#include <QObject>

class QUndoStack;

namespace headroom {

/// The runs a user has tried, in order, with one of them as the reference if wished. Kept in the settings from one
/// start to the next: figures and plans, not the files. Every change is a step of undo.
class RunHistory : public QObject
{
    Q_OBJECT

public:
    explicit RunHistory(QUndoStack& undo, QObject* parent = nullptr);

    [[nodiscard]] const std::vector<HistoryRun>& runs() const { return m_now.runs; }
    [[nodiscard]] std::optional<std::size_t> reference() const { return m_now.reference; }
    /// Each run beside the one before it and the reference.
    [[nodiscard]] const std::vector<HistoryStep>& steps() const { return m_steps; }

    /// At the end; beyond `limit` the first goes. A name that is there already gets a number.
    void add(HistoryRun run);
    void remove(std::size_t place);
    /// Does nothing when the name is blank.
    void rename(std::size_t place, const QString& name);
    /// By one place; does nothing at the ends.
    void move(std::size_t place, bool isLater);
    /// Of the reference itself: none any more.
    void toggleReference(std::size_t place);

    static constexpr std::size_t limit = 50;

signals:
    void changed();
    void stepped(); ///< back or forth, by undo or redo

private:
    struct State
    {
        std::vector<HistoryRun> runs;
        std::optional<std::size_t> reference;
    };
    class Edit;

    [[nodiscard]] QString nameAt(std::size_t place) const;
    void push(State after, const QString& text);
    void apply(const State& state);
    void read();
    void write() const;

    QUndoStack& m_undo;
    State m_now;
    std::vector<HistoryStep> m_steps;
};

} // namespace headroom
