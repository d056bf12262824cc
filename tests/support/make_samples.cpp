// SPDX-License-Identifier: GPL-3.0-or-later
//
// make_samples FOLDER: writes the logs of resources/samples, each from the config beside it.
#include "config/open_plan.h"
#include "support/sample_log.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

namespace {

using namespace headroom;

bool writeLog(const samples::SampleRun& run, const std::filesystem::path& folder)
{
    const ConfigFormats formats = ConfigFormats::load();
    const Catalog catalog = Catalog::load();
    const std::string id(run.id);
    const Result<OpenedConfig> config = openConfig(folder / (id + ".yaml"), formats, catalog);
    if (!config) {
        fmt::print(stderr, "{}\n", config.error().english());
        return false;
    }
    std::ofstream file(folder / (id + ".log"), std::ios::binary);
    file << samples::sampleLog(run, config->plan);
    file.close();
    if (!file) {
        fmt::print(stderr, "{}/{}.log cannot be written\n", folder.string(), id);
    }
    return file.good();
}

} // namespace

int main(int argc, char** argv)
try {
    if (argc != 2) {
        fmt::print(stderr, "usage: make_samples FOLDER\n");
        return 2;
    }
    bool good = true;
    for (const samples::SampleRun& run : samples::sampleRuns()) {
        good = writeLog(run, argv[1]) && good;
    }
    return good ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "make_samples: %s\n", error.what());
    return 1;
}
