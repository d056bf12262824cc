# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Where the build trees are and when CMake has to run; sourced by run.sh and test.sh after packages.sh.
sourceFolder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

# configure PRESET FOLDER [OPTION…]: runs CMake where FOLDER has no usable build tree yet; ninja keeps it up to date
# later. A tree that was copied or moved from elsewhere, or left by an interrupted CMake, is made anew.
configure()
{
    local preset=$1 folder=$2 fresh=()
    shift 2
    if [[ -f $folder/CMakeCache.txt ]]; then
        if [[ -f $folder/build.ninja ]] && grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$sourceFolder" "$folder/CMakeCache.txt" \
            && grep -qxF "CMAKE_CACHEFILE_DIR:INTERNAL=$folder" "$folder/CMakeCache.txt"; then
            return 0
        fi
        fresh=(--fresh)
    fi
    (cd -- "$sourceFolder" && cmake "${fresh[@]}" --preset "$preset" -B "$folder" "$@") >&2
}

# buildRoot: where build trees go: build/ of the sources, or the user's cache when the sources cannot be written.
buildRoot()
{
    if [[ -w $sourceFolder && (! -e $sourceFolder/build || -w $sourceFolder/build) ]]; then
        printf '%s\n' "$sourceFolder/build"
        return 0
    fi
    local key
    key=$(cksum <<<"$sourceFolder")
    local folder=${XDG_CACHE_HOME:-${HOME:?}/.cache}/headroom/build-${key%% *}
    say "$sourceFolder cannot be written: building in $folder"
    mkdir -p -- "$folder"
    printf '%s\n' "$folder"
}
