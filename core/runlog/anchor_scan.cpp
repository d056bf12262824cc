// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/anchor_scan.h"

#include <hs/hs.h>

#include <algorithm>
#include <new>

namespace headroom {

struct AnchorSet::Database
{
    hs_database_t* database = nullptr;

    Database() = default;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database() { hs_free_database(database); }
};

struct AnchorScan::Scratch
{
    hs_scratch_t* scratch = nullptr;

    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { hs_free_scratch(scratch); }
};

AnchorSet::AnchorSet(const LineFormats& formats)
    : m_formats(formats)
{
    for (std::size_t i = 0; i < formats.formats.size(); ++i) {
        if (formats.formats[i].isInner) {
            continue;
        }
        if (formats.formats[i].plainReader) {
            m_plainFormat = static_cast<std::uint16_t>(i);
        }
        for (const std::string& text : formats.formats[i].anchors) {
            auto anchor = std::ranges::find(m_anchors, text, &Anchor::text);
            if (anchor == m_anchors.end()) {
                anchor = m_anchors.insert(m_anchors.end(), {text, {}});
            }
            anchor->formats.push_back(static_cast<std::uint16_t>(i));
        }
    }
    std::vector<const char*> texts;
    std::vector<std::size_t> lengths;
    std::vector<unsigned> ids;
    for (const Anchor& anchor : m_anchors) {
        ids.push_back(static_cast<unsigned>(texts.size()));
        texts.push_back(anchor.text.data());
        lengths.push_back(anchor.text.size());
    }
    const std::vector<unsigned> flags(texts.size(), 0);
    const auto database = std::make_shared<Database>();
    hs_compile_error_t* error = nullptr;
    if (!texts.empty()
        && hs_compile_lit_multi(texts.data(), flags.data(), ids.data(), lengths.data(),
                                static_cast<unsigned>(texts.size()), HS_MODE_BLOCK, nullptr, &database->database,
                                &error)
            != HS_SUCCESS) {
        // Any set of literals compiles; what is left is memory.
        hs_free_compile_error(error);
        throw std::bad_alloc();
    }
    m_database = database;
}

const AnchorSet& AnchorSet::builtin()
{
    static const AnchorSet set(LineFormats::builtin());
    return set;
}

AnchorScan::AnchorScan(const AnchorSet& anchors)
    : m_anchors(anchors)
    , m_scratch(std::make_unique<Scratch>())
{
    const hs_database_t* const database = anchors.m_database->database;
    if (database != nullptr && hs_alloc_scratch(database, &m_scratch->scratch) != HS_SUCCESS) {
        throw std::bad_alloc();
    }
}

AnchorScan::~AnchorScan() = default;

const std::vector<AnchorHit>& AnchorScan::scan(std::string_view text)
{
    m_hits.clear();
    const auto found = [](unsigned id, unsigned long long, unsigned long long end, unsigned, void* context) {
        auto* const self = static_cast<AnchorScan*>(context);
        const std::size_t length = self->m_anchors.lengthOf(id);
        self->m_hits.push_back({static_cast<std::uint32_t>(end - length), id});
        return 0;
    };
    if (!text.empty() && m_scratch->scratch != nullptr) {
        hs_scan(m_anchors.m_database->database, text.data(), static_cast<unsigned>(text.size()), 0, m_scratch->scratch,
                found, this);
    }
    return m_hits;
}

} // namespace headroom
