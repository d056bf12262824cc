// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <tl/expected.hpp>

#include <QString>

#include <functional>

class QImage;
class QMenu;
class QWidget;

namespace headroom {

class PlotCanvas;

/// A chart widget as a picture: `plot` is its drawing, the other children are painted as they stand. `scale` is device
/// pixels per pixel. The raster path costs milliseconds where QCustomPlot's own needs seconds (no fast lines in it).
[[nodiscard]] QImage chartImage(QWidget& chart, PlotCanvas& plot, double scale);

/// Writes PNG, PDF or (where Qt has it) SVG by the suffix of `path`, atomically. The error is a sentence for the user.
[[nodiscard]] tl::expected<void, QString> saveChart(QWidget& chart, PlotCanvas& plot, const QString& path);

/// Children of a chart with this dynamic property are for the hand, not for the picture.
constexpr const char* notInPictures = "notInPictures";

/// Asks for a name, `fileName` at first, and says what went wrong.
void askAndSaveChart(QWidget& chart, PlotCanvas& plot, const QString& fileName);
void copyChart(QWidget& chart, PlotCanvas& plot);
/// Writes UTF-8 atomically. The error is a sentence for the user.
[[nodiscard]] tl::expected<void, QString> saveText(const QString& text, const QString& path);
void askAndSaveText(QWidget& parent, const QString& text, const QString& fileName);

/// Copy image, Save image…, Copy values.
void addExportActions(QMenu& menu, QWidget& chart, PlotCanvas& plot, const QString& fileName,
                      const std::function<QString()>& values);

} // namespace headroom
