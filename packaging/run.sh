#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Builds Headroom and opens it; see --help.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source-path=SCRIPTDIR source=packages.sh
source "$here/packages.sh"
# shellcheck source-path=SCRIPTDIR source=build_tree.sh
source "$here/build_tree.sh"

usage()
{
    cat <<'END'
Usage: bash packaging/run.sh [FILE…]

Installs what is missing (Debian 12, Ubuntu 24.04; as root or through sudo), builds Headroom in release mode and opens
the files: logs, configs, folders of logs. Without files it opens the first bundled sample.

Without a display ($DISPLAY and $WAYLAND_DISPLAY empty) it prints the terminal report of the files and writes a
screenshot of the window to headroom.png in the current folder.

Exit codes: 0 opened or reported, 2 bad input, 3 packages are missing and cannot be installed; otherwise the build's.
END
}

# The log and the config of the first sample in resources/samples/index.yaml, as absolute paths, one a line.
firstSample()
{
    local folder=$sourceFolder/resources/samples key name
    for key in log config; do
        name=$(sed -n "s/^ *$key: *//p" "$folder/index.yaml" | head -n 1)
        printf '%s\n' "$folder/$name"
    done
}

isConfig()
{
    [[ -f $1 && $1 == *.@(yaml|yml|json) ]]
}

# report PROGRAM ARGUMENT…: runs it; "does not fit" (1) is an answer, anything beyond is a failure.
report()
{
    local code=0
    "$@" || code=$?
    [[ $code -le 1 ]] || exit "$code"
}

reportInTerminal()
{
    local build=$1 file
    local -a logs=() configs=()
    shift
    for file in "$@"; do
        if isConfig "$file"; then configs+=("$file"); else logs+=("$file"); fi
    done
    if [[ ${#logs[@]} -ne 0 ]]; then
        report "$build/app/cli/headroom-cli" log "${logs[@]}"
        [[ ${#configs[@]} -eq 0 ]] || echo
    fi
    [[ ${#configs[@]} -eq 0 ]] || report "$build/app/cli/headroom-cli" estimate "${configs[@]}"
}

writeScreenshot()
{
    local build=$1
    shift
    if [[ ! -w . ]]; then
        say "no display, and the current folder cannot be written: no headroom.png."
        exit 2
    fi
    # Qt warns of what offscreen cannot do; the program speaks for itself.
    QT_LOGGING_RULES=default.warning=false QT_QPA_PLATFORM=offscreen "$build/app/gui/headroom" --size 1600x1000 \
        --screenshot headroom.png "$@"
    say "no display (\$DISPLAY and \$WAYLAND_DISPLAY are empty): the window as it would look is in $PWD/headroom.png"
}

main()
{
    if [[ ${1:-} == --help || ${1:-} == -h ]]; then
        usage
        return 0
    fi
    [[ ${1:-} != -- ]] || shift
    local packages=("${runPackages[@]}") build
    # Qt speaks Wayland through a plugin of its own; X11 needs none.
    [[ -z ${WAYLAND_DISPLAY:-} ]] || packages+=(qt6-wayland)
    ensurePackages "${packages[@]}"
    build=$(buildRoot)/release
    configure release "$build"
    cmake --build "$build" >&2

    local -a files=("$@")
    [[ ${#files[@]} -ne 0 ]] || mapfile -t files < <(firstSample)
    if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
        exec "$build/app/gui/headroom" "${files[@]}"
    fi
    reportInTerminal "$build" "${files[@]}"
    writeScreenshot "$build" "${files[@]}"
}

main "$@"
