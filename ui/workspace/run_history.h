// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/history.h"

#include <QObject>

namespace headroom {

/// The runs a user has tried, in order, with one of them as the reference if wished. Kept in the settings from one
/// start to the next: figures and plans, not the files.
class RunHistory : public QObject
{
    Q_OBJECT

public:
    explicit RunHistory(QObject* parent = nullptr);

    [[nodiscard]] const std::vector<HistoryRun>& runs() const { return m_runs; }
    [[nodiscard]] std::optional<std::size_t> reference() const { return m_reference; }
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

private:
    void settle();
    void read();
    void write() const;

    std::vector<HistoryRun> m_runs;
    std::optional<std::size_t> m_reference;
    std::vector<HistoryStep> m_steps;
};

} // namespace headroom
