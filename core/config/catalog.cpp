// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/catalog.h"

#include "config/builtin_files.h"
#include "config/config_document.h"
#include "config/file_bytes.h"
#include "config/key_path.h"
#include "plan/field_kinds.h"
#include "plan/fields.h"
#include "units/number.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>

namespace headroom {

namespace {

Problem problemAt(const std::string& file, std::int64_t line, Text text)
{
    return {Severity::Error, file, line, std::move(text)};
}

/// The settings of one entry, keys relative to it.
using Entry = std::vector<std::pair<std::string, const Setting*>>;

/// The entries of the file's list `name` (models[0].id, …).
std::map<std::size_t, Entry> entriesOf(const ConfigDocument& document, std::string_view name,
                                       std::vector<Problem>& problems)
{
    std::map<std::size_t, Entry> entries;
    for (const Setting& setting : document.settings()) {
        const auto steps = parseKey(setting.key);
        if (!steps || steps->size() < 3 || steps->front().name != name || !(*steps)[1].index) {
            problems.push_back(problemAt(document.name(), setting.line,
                                         Text{HEADROOM_TR("core", "“%1” is not understood here"), {setting.key}}));
            continue;
        }
        entries[*(*steps)[1].index].emplace_back(formatKey({steps->begin() + 2, steps->end()}), &setting);
    }
    return entries;
}

class CatalogReader
{
public:
    explicit CatalogReader(Catalog& catalog)
        : m_catalog(catalog)
    {
    }

    void readModels(const ConfigDocument& document)
    {
        m_file = document.name();
        append(document);
        for (const auto& [index, entry] : entriesOf(document, "models", m_catalog.problems)) {
            readModel(entry);
        }
    }

    void readGpus(const ConfigDocument& document)
    {
        m_file = document.name();
        append(document);
        for (const auto& [index, entry] : entriesOf(document, "gpus", m_catalog.problems)) {
            readGpu(entry);
        }
    }

private:
    void append(const ConfigDocument& document)
    {
        m_catalog.problems.insert(m_catalog.problems.end(), document.problems().begin(), document.problems().end());
    }

    void complain(const Setting& setting, Text text)
    {
        m_catalog.problems.push_back(problemAt(m_file, setting.line, std::move(text)));
    }

    void complain(const Setting& setting)
    {
        complain(setting, Text{HEADROOM_TR("core", "“%1” is not understood here"), {setting.key}});
    }

    /// id, title and aliases, which models and GPUs share.
    template <class T> bool readNames(T& target, const std::string& key, const Setting& setting)
    {
        if (key == "id") {
            target.id = setting.text;
        } else if (key == "title") {
            target.title = setting.text;
        } else if (key.starts_with("aliases[")) {
            target.aliases.push_back(setting.text);
        } else {
            return false;
        }
        return true;
    }

    void readModel(const Entry& entry)
    {
        ModelPreset preset;
        for (const auto& [key, setting] : entry) {
            if (readNames(preset, key, *setting)) {
                continue;
            }
            if (key == "source") {
                preset.source = setting->text;
            } else if (key == "parameters") {
                const auto count = parseInteger(setting->text);
                preset.publishedParameters = std::max<std::int64_t>(count.value_or(0), 0);
                if (preset.publishedParameters == 0) {
                    complain(*setting,
                             Text{HEADROOM_TR("core", "“%1” is not a number of parameters"), {setting->text}});
                }
            } else if (isFieldKey(key) && isModelField(key)) {
                readField(preset.plan, key, *setting);
            } else {
                complain(*setting);
            }
        }
        finishModel(std::move(preset), *entry.front().second);
    }

    void readField(TrainingPlan& plan, const std::string& key, const Setting& setting)
    {
        if (auto done = setField(plan, key, setting.text, {OriginKind::Preset, 0, nullptr}); !done) {
            complain(setting, std::move(done.error().text));
        }
    }

    void finishModel(ModelPreset preset, const Setting& place)
    {
        if (preset.id.empty() || !preset.plan.model.layers.isKnown() || !preset.plan.model.hidden.isKnown()) {
            complain(place, Text{HEADROOM_TR("core", "A model needs an id, model.layers and model.hidden")});
            return;
        }
        preset.title = preset.title.empty() ? preset.id : preset.title;
        const auto source = std::make_shared<const std::string>(preset.id);
        forEachField(preset.plan, [&source](std::string_view, auto& field) {
            if (field.origin.kind == OriginKind::Preset) {
                field.origin.source = source;
            }
        });
        preset.plan.model.name.set(preset.id, {OriginKind::Preset, 0, source});
        replaceOrAdd(m_catalog.models, std::move(preset));
    }

    void readGpu(const Entry& entry)
    {
        Gpu gpu;
        for (const auto& [key, setting] : entry) {
            if (readNames(gpu, key, *setting)) {
                continue;
            }
            if (key == "architecture") {
                gpu.architecture = setting->text;
            } else if (key == "memory_is" && (setting->text == "reported" || setting->text == "nominal")) {
                gpu.isNominal = setting->text == "nominal";
            } else if (key == "memory") {
                if (auto memory = parseBytes(setting->text)) {
                    gpu.capacity = *memory;
                } else {
                    complain(*setting, std::move(memory.error().text));
                }
            } else {
                complain(*setting);
            }
        }
        if (gpu.id.empty() || gpu.capacity.value <= 0) {
            complain(*entry.front().second, Text{HEADROOM_TR("core", "A GPU needs an id and its memory")});
            return;
        }
        gpu.title = gpu.title.empty() ? gpu.id : gpu.title;
        replaceOrAdd(m_catalog.gpus, std::move(gpu));
    }

    /// The user's own entry stands in for a built-in one of the same id.
    template <class T> void replaceOrAdd(std::vector<T>& list, T entry)
    {
        const auto same = std::find_if(list.begin(), list.end(), [&](const T& other) { return other.id == entry.id; });
        if (same != list.end()) {
            *same = std::move(entry);
        } else {
            list.push_back(std::move(entry));
        }
    }

    Catalog& m_catalog;
    std::string m_file;
};

void readBuiltin(CatalogReader& reader, Catalog& catalog)
{
    for (const BuiltinFile& file : builtinFiles()) {
        const bool isGpus = file.path == "gpus.yaml";
        if (!isGpus && !file.path.starts_with("models/")) {
            continue;
        }
        const auto document = ConfigDocument::parse(std::string(file.content), std::string(file.path));
        if (!document) {
            catalog.problems.push_back(document.error());
        } else if (isGpus) {
            reader.readGpus(*document);
        } else {
            reader.readModels(*document);
        }
    }
}

void readUsers(CatalogReader& reader, Catalog& catalog, const std::filesystem::path& folder)
{
    for (const std::filesystem::path& path : yamlFiles(folder / "models")) {
        if (const auto document = ConfigDocument::open(path)) {
            reader.readModels(*document);
        } else {
            catalog.problems.push_back(document.error());
        }
    }
    std::error_code error;
    if (std::filesystem::exists(folder / "gpus.yaml", error)) {
        if (const auto document = ConfigDocument::open(folder / "gpus.yaml")) {
            reader.readGpus(*document);
        } else {
            catalog.problems.push_back(document.error());
        }
    }
}

/// Letters and digits in lower case, without the organisation before a slash.
std::string plain(std::string_view name)
{
    name = name.substr(std::min(name.find_last_of('/') + 1, name.size()));
    std::string result;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c))) {
            result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return result;
}

template <class T> const T* findNamed(const std::vector<T>& list, const std::string& name)
{
    if (name.empty()) {
        return nullptr;
    }
    const auto found = std::find_if(list.begin(), list.end(), [&name](const T& entry) {
        return plain(entry.id) == name || plain(entry.title) == name
            || std::any_of(entry.aliases.begin(), entry.aliases.end(),
                           [&name](const std::string& alias) { return plain(alias) == name; });
    });
    return found == list.end() ? nullptr : &*found;
}

} // namespace

Catalog Catalog::load(const std::filesystem::path& userFolder)
{
    Catalog catalog;
    CatalogReader reader(catalog);
    readBuiltin(reader, catalog);
    if (!userFolder.empty()) {
        readUsers(reader, catalog, userFolder);
    }
    return catalog;
}

const ModelPreset* Catalog::model(std::string_view name) const
{
    std::string wanted = plain(name);
    if (const ModelPreset* found = findNamed(models, wanted)) {
        return found;
    }
    // Fine-tuned and quantised releases keep the shape: "Qwen3-4B-Instruct-2507", "llama-2-7b-chat-hf",
    // "Meta-Llama-3.1-8B-bnb-4bit".
    constexpr std::array<std::string_view, 11> endings{"hf",   "2507", "instruct", "thinking", "chat",   "base",
                                                       "bf16", "4bit", "nf4",      "bnb",      "unsloth"};
    for (bool isShorter = true; isShorter;) {
        isShorter = false;
        for (const std::string_view ending : endings) {
            if (wanted.ends_with(ending)) {
                wanted.resize(wanted.size() - ending.size());
                isShorter = true;
            }
        }
    }
    return findNamed(models, wanted);
}

const Gpu* Catalog::gpu(std::string_view name) const
{
    const std::string wanted = plain(name);
    if (const Gpu* found = findNamed(gpus, wanted)) {
        return found;
    }
    constexpr std::string_view maker = "nvidia";
    return wanted.starts_with(maker) ? findNamed(gpus, wanted.substr(maker.size())) : nullptr;
}

} // namespace headroom
