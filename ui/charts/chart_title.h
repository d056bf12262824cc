// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace headroom {

/// A chart's title row: what it shows, then muted what of. The second part is elided where room is scarce and then
/// stands whole in the tool tip.
class ChartTitle : public QWidget
{
    Q_OBJECT

public:
    ChartTitle(const QString& title, QWidget* parent);

    void setTitle(const QString& title);
    [[nodiscard]] const QString& title() const { return m_title; }
    void setSubtitle(const QString& subtitle);
    [[nodiscard]] const QString& subtitle() const { return m_subtitle; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] QFont titleFont() const;

    QString m_title;
    QString m_subtitle;
};

} // namespace headroom
