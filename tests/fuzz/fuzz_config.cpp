// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a config: reading must end without a crash, and whatever can be read must keep the promises of
// ConfigDocument::set, which are checked here for each setting.
#include "config/format_file.h"
#include "config/read_plan.h"
#include "config/scalar_text.h"

#include <algorithm>
#include <cstdlib>
#include <string>

using namespace headroom;

/// The file's name tells its syntax.
#ifndef HEADROOM_FUZZ_NAME
#define HEADROOM_FUZZ_NAME "fuzz.yaml"
#endif

namespace {

void require(bool holds)
{
    if (!holds) {
        std::abort();
    }
}

bool isShared(const ConfigDocument& document, const Setting& setting)
{
    const auto& all = document.settings();
    return std::count_if(all.begin(), all.end(), [&](const Setting& other) { return other.begin == setting.begin; })
        > 1;
}

/// Only the bytes of the value differ, and the old value brings the old meaning back.
void changeAndChangeBack(const ConfigDocument& document, const Setting& setting, const std::string& value)
{
    const auto there = document.set(std::vector<ConfigEdit>{{setting.key, value}});
    if (!there) {
        require(!there.error().english().empty());
        return;
    }
    const Setting* changed = there->find(setting.key);
    require(changed != nullptr && meansTheSame(changed->text, value));
    const std::string& before = document.bytes();
    const std::string& after = there->bytes();
    if (!setting.viaAlias && !setting.viaMerge && !isShared(document, setting)) {
        const std::size_t tail = before.size() - setting.end;
        require(after.size() >= tail && after.compare(0, setting.begin, before, 0, setting.begin) == 0);
        require(after.compare(after.size() - tail, tail, before, setting.end, tail) == 0);
    }
    const auto back = there->set(std::vector<ConfigEdit>{{setting.key, setting.text}});
    if (back) {
        require(meansTheSame(back->find(setting.key)->text, setting.text));
    }
}

void checkDocument(const ConfigDocument& document)
{
    constexpr std::size_t most = 12;
    const auto& settings = document.settings();
    for (std::size_t i = 0; i < std::min(settings.size(), most); ++i) {
        require(settings[i].begin <= settings[i].end && settings[i].end <= document.bytes().size());
        if (!settings[i].isKnown) {
            continue;
        }
        require(document.find(settings[i].key) != nullptr);
        for (const char* value : {"17", "a: b", "yes", ""}) {
            changeAndChangeBack(document, settings[i], value);
        }
    }
    for (const char* key : {"added", "recompute.granularity", "a.b.c"}) {
        const auto added = document.set(std::vector<ConfigEdit>{{key, "full"}});
        require(!added || added->find(key) != nullptr);
    }
    static_cast<void>(document.set(std::vector<ConfigEdit>{{"list", {}, std::vector<std::string>{"x", "y"}}}));
}

void checkPlan(const ConfigDocument& document)
{
    static const ConfigFormats formats = ConfigFormats::load();
    static const Catalog catalog = Catalog::load();
    // One format a run, so that many runs fit: the one that knows the file, or any.
    const ConfigFormat* known = formats.detect(document);
    const std::size_t any = document.bytes().size() % formats.formats.size();
    const ConfigFormat& format = known != nullptr ? *known : formats.formats[any];
    const TrainingPlan before = readPlan(document, format, catalog).plan;
    TrainingPlan after = before;
    after.parallel.pp.set(before.parallel.pp.value + 1, {OriginKind::Edited, 0, nullptr});
    if (const auto edits = editsFor(document, format, before, after)) {
        static_cast<void>(document.set(*edits));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    const auto document = ConfigDocument::parse(bytes, HEADROOM_FUZZ_NAME);
    if (document) {
        checkDocument(*document);
        checkPlan(*document);
        static_cast<void>(parseFormat(bytes, "format.yaml"));
    } else {
        require(!document.error().english().empty());
    }
    return 0;
}
