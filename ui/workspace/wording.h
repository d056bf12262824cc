// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/bytes.h"
#include "units/problem.h"
#include "units/text.h"

#include <QString>

#include <filesystem>
#include <vector>

namespace headroom {

struct Mend;

/// A core sentence in the language of the window.
[[nodiscard]] QString translated(const Text& text);
/// "train.log:12: …", "train.log: …" or "…".
[[nodiscard]] QString translated(const Problem& problem);
/// One after the other.
[[nodiscard]] QString translated(const std::vector<Text>& labels);
/// Everything it changes.
[[nodiscard]] QString translated(const Mend& mend);

/// "1 204 311": groups of three with a narrow no-break space, which no locale reads as a decimal sign.
[[nodiscard]] QString grouped(qint64 value);
/// Four digits, from thousands on the whole number: 27.66, 40 741.
[[nodiscard]] QString numberText(double value);
/// A text of core's with numbers such as 152,064 in it, with gaps as grouped() has them.
[[nodiscard]] QString withGaps(QString text);
/// "83.4 GiB", one decimal, in the window's locale.
[[nodiscard]] QString gibText(Bytes bytes, int decimals = 1);
/// The number of gibText alone: "83.4".
[[nodiscard]] QString plainGib(Bytes bytes, int decimals = 1);

/// The words of a menu entry: "Open…" of "&Open…" and "打开…" of "打开(&O)…", of which Qt would leave "打开(O)…".
[[nodiscard]] QString withoutMnemonic(QString text);

[[nodiscard]] QString toQString(std::string_view text);
[[nodiscard]] QString pathText(const std::filesystem::path& path);
[[nodiscard]] std::filesystem::path toPath(const QString& path);
/// File name only, for display: the whole path when there is none, the middle left out beyond 40 characters.
[[nodiscard]] QString fileName(const std::filesystem::path& path);

} // namespace headroom
