// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headroom {

/// Two texts as one, removed and added lines coloured and signed, with line numbers. The changed places only, or all.
/// Behind an added line stands what it is there for.
class DiffView : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit DiffView(QWidget* parent = nullptr);

    void setTexts(std::string before, std::string after);
    /// By line of the new text.
    void setReasons(std::map<std::int64_t, QString> reasons);
    /// Behind a line that is shown, from 0.
    [[nodiscard]] QString reasonAt(int shownLine) const;
    void setWholeFile(bool whole);
    [[nodiscard]] bool isWholeFile() const { return m_isWhole; }
    /// One that another takes the place of counts once.
    [[nodiscard]] int changedLines() const { return m_changed; }

protected:
    void paintEvent(QPaintEvent* event) override;
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
    std::vector<std::int64_t> m_added; ///< line of the new text where a line shown is an added one, else 0
    std::map<std::int64_t, QString> m_reasons;
};

} // namespace headroom
