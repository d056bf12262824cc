// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/chart_export.h"

#include "charts/plot_canvas.h"
#include "theme/icons.h"
#include "theme/theme.h"

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QLayout>
#include <QMenu>
#include <QMessageBox>
#include <QPdfWriter>
#include <QSaveFile>

#ifdef HEADROOM_HAS_SVG
#include <QSvgGenerator>
#endif

namespace headroom {

namespace {

struct Exporter
{
    Q_DECLARE_TR_FUNCTIONS(headroom::ChartExport)
};

/// A chart that is folded away, or nearly so, is drawn at a size at which it can be read.
class ReadableSize
{
public:
    explicit ReadableSize(QWidget& chart)
        : m_chart(chart)
        , m_size(chart.size())
    {
        constexpr QSize least(240, 120);
        if (m_size.expandedTo(least) != m_size)
            give(m_size.expandedTo({800, 450}));
    }
    ReadableSize(const ReadableSize&) = delete;
    ReadableSize& operator=(const ReadableSize&) = delete;
    ~ReadableSize()
    {
        if (m_chart.size() != m_size)
            give(m_size);
    }

private:
    void give(QSize size)
    {
        m_chart.resize(size);
        if (QLayout* layout = m_chart.layout())
            layout->activate();
    }

    QWidget& m_chart;
    QSize m_size;
};

/// Lines and text instead of pixels: the labels paint themselves, the plot through its vector mode.
bool paintVectors(QWidget& chart, PlotCanvas& plot, QPaintDevice& device)
{
    QCPPainter painter(&device);
    if (!painter.isActive())
        return false;
    painter.fillRect(chart.rect(), Theme::current().window);
    for (QWidget* child : chart.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        if (child != &plot && child->isVisibleTo(&chart) && !child->property(notInPictures).toBool())
            child->render(&painter, child->pos(), QRegion(), QWidget::DrawChildren);
    }
    painter.translate(plot.pos());
    plot.toPainter(&painter, plot.width(), plot.height());
    return painter.end();
}

bool writePdf(QWidget& chart, PlotCanvas& plot, QIODevice& device)
{
    constexpr double pointsPerPixel = 0.75;
    QPdfWriter pdf(&device);
    pdf.setCreator(QApplication::applicationDisplayName());
    pdf.setTitle(chart.accessibleName());
    pdf.setResolution(96);
    pdf.setPageSize(QPageSize(QSizeF(chart.size()) * pointsPerPixel, QPageSize::Point));
    pdf.setPageMargins(QMarginsF());
    return paintVectors(chart, plot, pdf);
}

#ifdef HEADROOM_HAS_SVG
bool writeSvg(QWidget& chart, PlotCanvas& plot, QIODevice& device)
{
    QSvgGenerator svg;
    svg.setOutputDevice(&device);
    svg.setSize(chart.size());
    svg.setViewBox(chart.rect());
    svg.setResolution(96);
    svg.setTitle(chart.accessibleName());
    svg.setDescription(chart.accessibleDescription());
    return paintVectors(chart, plot, svg);
}
#endif

QString fileFilters()
{
    QStringList filters{Exporter::tr("PNG image (*.png)"), Exporter::tr("PDF document (*.pdf)")};
#ifdef HEADROOM_HAS_SVG
    filters.append(Exporter::tr("SVG drawing (*.svg)"));
#endif
    return filters.join(QStringLiteral(";;"));
}

tl::expected<void, QString> writeFile(const QString& path, const QByteArray& content)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size() || !file.commit())
        return tl::unexpected(Exporter::tr("%1: %2.").arg(path, file.errorString()));
    return {};
}

} // namespace

void askAndSaveChart(QWidget& chart, PlotCanvas& plot, const QString& fileName)
{
    QString filter;
    QString path = QFileDialog::getSaveFileName(&chart, Exporter::tr("Save image"), fileName, fileFilters(), &filter);
    if (path.isEmpty())
        return;
    if (QFileInfo(path).suffix().isEmpty())
        path += filter.contains(u"*.pdf") ? u".pdf" : filter.contains(u"*.svg") ? u".svg" : u".png";
    if (const auto saved = saveChart(chart, plot, path); !saved)
        QMessageBox::warning(&chart, Exporter::tr("Save image"), saved.error());
}

void copyChart(QWidget& chart, PlotCanvas& plot)
{
    QApplication::clipboard()->setImage(chartImage(chart, plot, 2));
}

tl::expected<void, QString> saveText(const QString& text, const QString& path)
{
    return writeFile(path, text.toUtf8());
}

void askAndSaveText(QWidget& parent, const QString& text, const QString& fileName)
{
    QString path = QFileDialog::getSaveFileName(&parent, Exporter::tr("Save values"), fileName,
                                                Exporter::tr("Comma-separated values (*.csv)"));
    if (path.isEmpty())
        return;
    if (QFileInfo(path).suffix().isEmpty())
        path += u".csv";
    if (const auto saved = saveText(text, path); !saved)
        QMessageBox::warning(&parent, Exporter::tr("Save values"), saved.error());
}

QImage chartImage(QWidget& chart, PlotCanvas& plot, double scale)
{
    const ReadableSize readable(chart);
    QImage image((QSizeF(chart.size()) * scale).toSize(), QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    image.fill(Theme::current().window);
    plot.setExportPixelRatio(scale);
    chart.render(&image);
    plot.setExportPixelRatio(0);
    QPainter painter(&image);
    for (const QWidget* child : chart.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        if (child->property(notInPictures).toBool() && child->isVisibleTo(&chart))
            painter.fillRect(child->geometry(), Theme::current().window);
    }
    return image;
}

tl::expected<void, QString> saveChart(QWidget& chart, PlotCanvas& plot, const QString& path)
{
    const ReadableSize readable(chart);
    const QString suffix = QFileInfo(path).suffix().toLower();
    QBuffer content;
    content.open(QIODevice::WriteOnly);
    bool isDrawn = false;
    if (suffix == u"png")
        isDrawn = chartImage(chart, plot, 2).save(&content, "PNG");
    else if (suffix == u"pdf")
        isDrawn = writePdf(chart, plot, content);
#ifdef HEADROOM_HAS_SVG
    else if (suffix == u"svg")
        isDrawn = writeSvg(chart, plot, content);
#endif
    else
        return tl::unexpected(Exporter::tr("%1: charts are saved as .png, .pdf or .svg.").arg(path));
    if (!isDrawn || content.size() == 0)
        return tl::unexpected(Exporter::tr("%1: the chart could not be drawn.").arg(path));
    return writeFile(path, content.data());
}

void addExportActions(QMenu& menu, QWidget& chart, PlotCanvas& plot, const QString& fileName,
                      const std::function<QString()>& values)
{
    menu.addAction(symbolIcon(Symbol::Copy), Exporter::tr("&Copy image"), &chart,
                   [&chart, &plot] { copyChart(chart, plot); });
    menu.addAction(symbolIcon(Symbol::Save), Exporter::tr("&Save image…"), &chart,
                   [&chart, &plot, fileName] { askAndSaveChart(chart, plot, fileName); });
    menu.addAction(Exporter::tr("Copy &values"), &chart, [values] { QApplication::clipboard()->setText(values()); });
}

} // namespace headroom
