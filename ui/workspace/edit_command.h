// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/draft.h"

#include <QUndoCommand>

#include <functional>
#include <memory>

namespace headroom {

/// One step of undo: the draft before and after. Commands with the same gesture (the ticks of one drag of a slider)
/// become one, and none at all when the drag ends where it began.
class EditCommand : public QUndoCommand
{
public:
    using Apply = std::function<void(const Draft&)>;

    /// `gesture` 0 never merges.
    EditCommand(std::shared_ptr<const Draft> before, std::shared_ptr<const Draft> after, Apply apply,
                const QString& text, int gesture);

    void undo() override;
    void redo() override;
    [[nodiscard]] int id() const override;
    bool mergeWith(const QUndoCommand* other) override;

private:
    std::shared_ptr<const Draft> m_before;
    std::shared_ptr<const Draft> m_after;
    Apply m_apply;
    int m_gesture;
};

} // namespace headroom
