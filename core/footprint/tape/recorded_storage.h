// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <utility>

namespace headroom {

class TapeRecorder;

/// A share in one of a recorder's storages, which is freed with the last one.
class RecordedStorage
{
public:
    RecordedStorage() = default;
    RecordedStorage(const RecordedStorage& other);
    RecordedStorage(RecordedStorage&& other) noexcept { swap(other); }
    RecordedStorage& operator=(RecordedStorage other) noexcept
    {
        swap(other);
        return *this;
    }
    ~RecordedStorage();
    explicit operator bool() const { return m_recorder != nullptr; }

private:
    friend class TapeRecorder;
    RecordedStorage(TapeRecorder& recorder, std::size_t entry);
    void swap(RecordedStorage& other) noexcept
    {
        std::swap(m_recorder, other.m_recorder);
        std::swap(m_entry, other.m_entry);
    }

    TapeRecorder* m_recorder = nullptr;
    std::size_t m_entry = 0;
};

} // namespace headroom
