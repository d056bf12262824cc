// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace headroom {

/// A sentence in the middle of a plot that has nothing to show, on as many lines as it takes. Hidden where it is empty.
class PlotMessage : public QCPItemText
{
    Q_OBJECT

public:
    explicit PlotMessage(QCustomPlot* plot);

    void setMessage(const QString& message);
    [[nodiscard]] const QString& message() const { return m_message; }

protected:
    void draw(QCPPainter* painter) override;

private:
    QString m_message;
};

} // namespace headroom
