// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/report_chart.h"

#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom {

namespace {

constexpr double width = 760;
constexpr double height = 300;
constexpr double left = 64;
constexpr double right = 12;
constexpr double top = 32;
constexpr double bottom = 34;

constexpr std::array<const char*, componentCount> componentColours{
    "#4e79a7", "#76a5cf", "#a0cbe8", "#e8923a", "#f3bd7f", "#c9576a", "#6b7686", "#8f9aa8", "#c3c9d2"};
constexpr std::array<const char*, 8> phaseColours{"#3b82c4", "#e0812b", "#3f9d5a", "#8b5fbf",
                                                  "#b8860b", "#17919b", "#c2568f", "#7a6a58"};

constexpr const char* cacheColour = "#e2e5ea";
constexpr Bytes leastCache = mib(1); ///< rounding is no cache

/// A step of 1, 2 or 5 times a power of ten, so that the axis has about five of them.
double tickStep(double most)
{
    const double rough = std::max(most, 1e-6) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= rough) {
            return factor * power;
        }
    }
    return 10 * power;
}

/// A phase's name comes from a log: only what cannot be markup is drawn.
std::string escaped(std::string_view text)
{
    std::string result;
    for (const char c : text.substr(0, 24)) {
        result += std::string_view("<>&\"'").find(c) == std::string_view::npos ? c : ' ';
    }
    return result;
}

/// GiB upwards on the left, anything along the bottom.
class Drawing
{
public:
    Drawing(double mostGib, const char* label)
        : m_most(std::max(mostGib * 1.08, 1e-3))
    {
        m_svg = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\" "
                            "font-family=\"sans-serif\" font-size=\"12\">\n",
                            width, height, label);
        const double step = tickStep(m_most);
        for (double tick = 0; tick <= m_most; tick += step) {
            m_svg
                += fmt::format("<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
                               "<text class=\"label\" x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g} GiB</text>\n",
                               left, width - right, y(tick), y(tick), left - 6, y(tick) + 4, tick);
        }
    }

    [[nodiscard]] double y(double gib) const { return top + (1 - gib / m_most) * (height - top - bottom); }

    void legend(const char* colour, std::string_view name)
    {
        m_svg += fmt::format("<rect x=\"{:.0f}\" y=\"8\" width=\"9\" height=\"9\" fill=\"{}\"/>"
                             "<text class=\"label\" x=\"{:.0f}\" y=\"17\" font-size=\"10\">{}</text>\n",
                             m_legendEnd, colour, m_legendEnd + 13, name);
        m_legendEnd += 28 + 5.6 * static_cast<double>(name.size());
    }

    void capacity(std::optional<Bytes> bytes)
    {
        if (bytes && bytes->gib() <= m_most) {
            m_svg += fmt::format("<line class=\"capacity\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                                 left, width - right, y(bytes->gib()), y(bytes->gib()));
        }
    }

    void bottomLabel(double x, const std::string& text)
    {
        m_svg += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n", x,
                             height - bottom + 18, text);
    }

    void add(const std::string& element) { m_svg += element; }
    [[nodiscard]] std::string finished() const { return m_svg + "</svg>\n"; }

private:
    double m_most;
    double m_legendEnd = left;
    std::string m_svg;
};

} // namespace

std::string stagesSvg(const Footprint& footprint)
{
    double most = footprint.capacity ? footprint.capacity->gib() : 0;
    for (const StageFootprint& stage : footprint.stages) {
        most = std::max(most, stage.device.gib());
    }
    Drawing drawing(most, "memory of each pipeline stage");
    for (std::size_t component = 0; component < componentColours.size(); ++component) {
        drawing.legend(componentColours[component], nameOf(static_cast<Component>(component)));
    }
    drawing.legend(cacheColour, "unused cache");
    const double slot = (width - left - right) / static_cast<double>(footprint.stages.size());
    const std::size_t labelled = footprint.stages.size() / 24 + 1; // so that the numbers do not run into one another
    for (std::size_t i = 0; i < footprint.stages.size(); ++i) {
        const StageFootprint& stage = footprint.stages[i];
        const double x = left + slot * (static_cast<double>(i) + 0.15);
        double below = 0;
        const auto stack = [&](const char* colour, std::string_view name, Bytes bytes) {
            if (bytes.value <= 0) {
                return;
            }
            const double above = below + bytes.gib();
            drawing.add(fmt::format("<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\">"
                                    "<title>{}: {}</title></rect>\n",
                                    x, drawing.y(above), slot * 0.7, drawing.y(below) - drawing.y(above), colour, name,
                                    formatGib(bytes)));
            below = above;
        };
        Bytes cache = stage.device;
        for (std::size_t component = 0; component < stage.components.size(); ++component) {
            stack(componentColours[component], nameOf(static_cast<Component>(component)), stage.components[component]);
            cache = cache - stage.components[component];
        }
        if (cache >= leastCache) {
            stack(cacheColour, "unused cache", cache);
        }
        if (i % labelled == 0) {
            drawing.bottomLabel(left + slot * (static_cast<double>(i) + 0.5), fmt::format("stage {}", stage.stage));
        }
    }
    drawing.capacity(footprint.capacity);
    return drawing.finished();
}

std::string peaksSvg(const Run& run, std::optional<Bytes> capacity)
{
    constexpr std::size_t columns = 360;
    if (run.isEmpty()) {
        return {};
    }
    const auto [first, last] = std::minmax_element(run.step.begin(), run.step.end());
    const double firstStep = *first;
    const double span = std::max(1.0, static_cast<double>(*last) - firstStep);
    std::map<std::pair<std::uint8_t, std::size_t>, std::int64_t> peaks; // of a phase in a column of pixels
    double most = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
        const auto column
            = static_cast<std::size_t>((static_cast<double>(run.step[i]) - firstStep) / span * (columns - 1));
        std::int64_t& peak = peaks[{run.phase[i], column}];
        peak = std::max(peak, run.allocatedBytes[i]);
        most = std::max(most, Bytes{peak}.gib());
    }
    if (capacity) {
        most = std::max(most, capacity->gib());
    }
    Drawing drawing(most, "allocated peak of each phase over the steps");
    for (std::size_t phase = 0; phase < run.phaseNames.size(); ++phase) {
        std::string points;
        for (auto at = peaks.lower_bound({static_cast<std::uint8_t>(phase), 0});
             at != peaks.end() && at->first.first == phase; ++at) {
            const double x = left
                + (width - left - right) * static_cast<double>(at->first.second) / static_cast<double>(columns - 1);
            points += fmt::format("{:.1f},{:.2f} ", x, drawing.y(Bytes{at->second}.gib()));
        }
        if (!points.empty()) {
            drawing.legend(phaseColours[phase % phaseColours.size()], escaped(run.phaseNames[phase]));
            drawing.add(fmt::format("<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"{}\" points=\"{}\"/>\n",
                                    phaseColours[phase % phaseColours.size()], points));
        }
    }
    drawing.bottomLabel(left, std::to_string(*first));
    drawing.bottomLabel(width - right - 20, fmt::format("step {}", *last));
    drawing.capacity(capacity);
    return drawing.finished();
}

} // namespace headroom
