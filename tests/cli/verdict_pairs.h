// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <vector>

namespace headroom::cli {

/// What a user hands in: changes of the recipe's example ("from" → "to") or a config of its own, a log, and settings
/// to try.
struct Input
{
    QByteArray from, to, log;
    QStringList settings;
    QString file;
    QByteArray config;
};

struct Pair
{
    QString name; ///< of the row: the finding's id, and what it is of where an id has several
    Input with, without;

    [[nodiscard]] QString id() const { return name.section(u' ', 0, 0); }
};

/// For every finding an input that earns it and one that does not; disagreements of log and estimate excepted, whose
/// logs are made from an estimate.
[[nodiscard]] std::vector<Pair> allPairs();

/// PyTorch's message for 3 GiB on a card of 23.65 GiB, all figures in GiB.
[[nodiscard]] QByteArray outOfMemory(const char* free, const char* allocated, const char* unallocated);

} // namespace headroom::cli
