// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/edit_command.h"

namespace headroom {

EditCommand::EditCommand(std::shared_ptr<const Draft> before, std::shared_ptr<const Draft> after, Apply apply,
                         const QString& text, int gesture)
    : QUndoCommand(text)
    , m_before(std::move(before))
    , m_after(std::move(after))
    , m_apply(std::move(apply))
    , m_gesture(gesture)
{
}

void EditCommand::undo()
{
    m_apply(*m_before);
}

void EditCommand::redo()
{
    m_apply(*m_after);
}

int EditCommand::id() const
{
    return m_gesture == 0 ? -1 : m_gesture;
}

bool EditCommand::mergeWith(const QUndoCommand* other)
{
    if (other->id() != id()) {
        return false;
    }
    const auto* next = static_cast<const EditCommand*>(other);
    m_after = next->m_after;
    setText(next->text());
    setObsolete(m_before->means(*m_after));
    return true;
}

} // namespace headroom
