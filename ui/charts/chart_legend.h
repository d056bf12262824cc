// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QWidget>

#include <vector>

namespace headroom {

class LegendEntry;

/// Marks and names in columns that wrap to the width. Checkable entries are buttons that show and hide what they name.
class ChartLegend : public QWidget
{
    Q_OBJECT

public:
    enum class Mark { Line, DashedLine, Square, Diamond, Outline };

    struct Entry
    {
        int id = 0; ///< handed back by toggled()
        QString name;
        QColor color;
        Mark mark = Mark::Line;
        bool isCheckable = false;
        bool isChecked = true;

        friend bool operator==(const Entry&, const Entry&) = default;
    };

    explicit ChartLegend(QWidget* parent);

    /// Does nothing when the entries are those shown.
    void setEntries(std::vector<Entry> entries);
    [[nodiscard]] const std::vector<Entry>& entries() const { return m_entries; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;

signals:
    void toggled(int id, bool isChecked);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void place();
    [[nodiscard]] QSize cell() const;
    [[nodiscard]] int columns(int width) const;

    std::vector<Entry> m_entries;
    std::vector<LegendEntry*> m_buttons;
};

} // namespace headroom
