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
constexpr double height = 314;
constexpr double left = 64;
constexpr double right = 12;
constexpr double top = 46; ///< two lines of legend
constexpr double bottom = 34;

constexpr std::array<const char*, componentCount> componentColours{
    "#4e79a7", "#76a5cf", "#a0cbe8", "#e8923a", "#f3bd7f", "#c9576a", "#6b7686", "#8f9aa8", "#c3c9d2"};
constexpr std::array<const char*, 8> phaseColours{"#3b82c4", "#e0812b", "#3f9d5a", "#8b5fbf",
                                                  "#b8860b", "#17919b", "#c2568f", "#7a6a58"};

constexpr std::array<const char*, componentCount> componentTitles{
    HEADROOM_TR("core", "parameters"),  HEADROOM_TR("core", "gradients"), HEADROOM_TR("core", "optimizer state"),
    HEADROOM_TR("core", "activations"), HEADROOM_TR("core", "in flight"), HEADROOM_TR("core", "logits"),
    HEADROOM_TR("core", "working set"), HEADROOM_TR("core", "buffers"),   HEADROOM_TR("core", "context")};

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

/// Characters, of which UTF-8 needs several bytes for some.
std::size_t length(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// A phase's name comes from a log: only what cannot be markup is drawn.
std::string escaped(std::string_view text)
{
    std::string result;
    for (const char c : text) {
        result += std::string_view("<>&\"'").find(c) == std::string_view::npos ? c : ' ';
    }
    return result;
}

/// GiB upwards on the left, anything along the bottom.
class Drawing
{
public:
    Drawing(double mostGib, const std::string& label)
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

    void legend(const char* colour, const std::string& name)
    {
        const double needed = 28 + 5.6 * static_cast<double>(length(name));
        if (m_legendEnd + needed > width && m_legendEnd > left) {
            m_legendEnd = left;
            m_legendTop += 14;
        }
        m_svg += fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"9\" height=\"9\" fill=\"{}\"/>"
                             "<text class=\"label\" x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"10\">{}</text>\n",
                             m_legendEnd, m_legendTop, colour, m_legendEnd + 13, m_legendTop + 9, name);
        m_legendEnd += needed;
    }

    void capacity(std::optional<Bytes> bytes, const Wording& wording)
    {
        if (bytes && bytes->gib() <= m_most) {
            const double at = y(bytes->gib());
            const std::string text = escaped(wording(Text{HEADROOM_TR("core", "capacity %1"), {formatGib(*bytes, 1)}}));
            m_svg += fmt::format("<line class=\"capacity\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
                                 "<text class=\"label\" x=\"{:.0f}\" y=\"{:.1f}\" font-size=\"10\" "
                                 "text-anchor=\"end\">{}</text>\n",
                                 left, width - right, at, at, width - right, at - 4, text);
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
    double m_legendEnd = left, m_legendTop = 8;
    std::string m_svg;
};

} // namespace

Text titleOf(Component component)
{
    return Text{componentTitles[static_cast<std::size_t>(component)]};
}

std::string stagesSvg(const Footprint& footprint, const Wording& wording)
{
    double most = footprint.capacity ? footprint.capacity->gib() : 0;
    for (const StageFootprint& stage : footprint.stages) {
        most = std::max(most, stage.device.gib());
    }
    Drawing drawing(most, escaped(wording(Text{HEADROOM_TR("core", "Memory of each pipeline stage")})));
    std::array<std::string, componentCount> titles;
    for (std::size_t component = 0; component < titles.size(); ++component) {
        titles[component] = escaped(wording(Text{componentTitles[component]}));
        drawing.legend(componentColours[component], titles[component]);
    }
    const std::string cacheTitle = escaped(wording(Text{HEADROOM_TR("core", "unused cache")}));
    drawing.legend(cacheColour, cacheTitle);
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
            stack(componentColours[component], titles[component], stage.components[component]);
            cache = cache - stage.components[component];
        }
        if (cache >= leastCache) {
            stack(cacheColour, cacheTitle, cache);
        }
        if (i % labelled == 0) {
            drawing.bottomLabel(left + slot * (static_cast<double>(i) + 0.5),
                                escaped(wording(Text{HEADROOM_TR("core", "stage %1"), {std::to_string(stage.stage)}})));
        }
    }
    drawing.capacity(footprint.capacity, wording);
    return drawing.finished();
}

std::string peaksSvg(const Run& run, std::optional<Bytes> capacity, const Wording& wording)
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
    Drawing drawing(most, escaped(wording(Text{HEADROOM_TR("core", "Allocated peak of each phase over the steps")})));
    for (std::size_t phase = 0; phase < run.phaseNames.size(); ++phase) {
        std::string points;
        for (auto at = peaks.lower_bound({static_cast<std::uint8_t>(phase), 0});
             at != peaks.end() && at->first.first == phase; ++at) {
            const double x = left
                + (width - left - right) * static_cast<double>(at->first.second) / static_cast<double>(columns - 1);
            points += fmt::format("{:.1f},{:.2f} ", x, drawing.y(Bytes{at->second}.gib()));
        }
        if (!points.empty()) {
            drawing.legend(phaseColours[phase % phaseColours.size()], escaped(run.phaseNames[phase].substr(0, 24)));
            drawing.add(fmt::format("<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"{}\" points=\"{}\"/>\n",
                                    phaseColours[phase % phaseColours.size()], points));
        }
    }
    drawing.bottomLabel(left, std::to_string(*first));
    drawing.bottomLabel(width - right - 20,
                        escaped(wording(Text{HEADROOM_TR("core", "step %1"), {std::to_string(*last)}})));
    drawing.capacity(capacity, wording);
    return drawing.finished();
}

} // namespace headroom
