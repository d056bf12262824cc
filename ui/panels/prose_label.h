// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

namespace headroom {

/// Words longer than a line of a narrow panel may be broken behind their dots, underscores and slashes: each gets a
/// break of no width there.
[[nodiscard]] QString breakable(const QString& text);

/// Sentences that go on in as many lines as they need and never ask for more width than there is. They can be selected,
/// and what is copied is what was written, without the breaks.
class ProseLabel : public QLabel
{
    Q_OBJECT

public:
    explicit ProseLabel(QWidget* parent = nullptr);

    void setWords(const QString& words);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void copy() const;
};

} // namespace headroom
