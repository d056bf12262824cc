// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>

#include <string>
#include <vector>

namespace headroom {

/// Two texts as one, removed and added lines coloured and signed, with line numbers. The changed places only, or all.
class DiffView : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit DiffView(QWidget* parent = nullptr);

    void setTexts(std::string before, std::string after);
    void setWholeFile(bool whole);
    [[nodiscard]] bool isWholeFile() const { return m_isWhole; }
    [[nodiscard]] int changedLines() const { return m_changed; }

protected:
    void changeEvent(QEvent* event) override;

private:
    enum class Mark { None, Removed, Added, Gap };

    void rebuild();
    void colour();

    std::string m_before;
    std::string m_after;
    bool m_isWhole = false;
    int m_changed = 0;
    std::vector<Mark> m_marks; ///< of each line shown
};

} // namespace headroom
