# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What Headroom needs, by the names of Debian 12 and Ubuntu 24.04; sourced by run.sh and test.sh.

# To build the programs and to run them.
# shellcheck disable=SC2034 # used by the scripts that source this file
runPackages=(
    cmake ninja-build g++
    libfmt-dev libyaml-cpp-dev libtomlplusplus-dev libexpected-dev libcli11-dev nlohmann-json3-dev
    pkgconf libvectorscan-dev libpcre2-dev zlib1g-dev libzstd-dev libsimdjson-dev
    qt6-base-dev qt6-svg-dev qt6-tools-dev qt6-tools-dev-tools qt6-l10n-tools qt6-translations-l10n
    libqcustomplot-dev
    fonts-dejavu-core
)

# To build and run the tests: a second build of the same file comes from ccache, the window is shown under Xvfb.
# shellcheck disable=SC2034
testPackages=(ccache xvfb xauth)

# For the checks of the sources. A check whose tool cannot be had is skipped, and test.sh says so.
# shellcheck disable=SC2034
checkPackages=(git clang-format-14 shellcheck desktop-file-utils appstream libxml2-utils man-db)

# Exit code of a script that cannot go on because packages are missing.
readonly exitPackagesMissing=3

say()
{
    printf 'headroom: %s\n' "$*" >&2
}

# missingPackages NAME…: those of the packages that are not installed whole, one a line.
missingPackages()
{
    local installed name
    installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    for name in "$@"; do
        grep -qxF "installed $name" <<<"$installed" || printf '%s\n' "$name"
    done
}

# Runs a command as root: directly, through sudo, or not at all (returns 1).
asRoot()
{
    if [[ $(id -u) -eq 0 ]]; then
        "$@"
    elif ! command -v sudo >/dev/null; then
        return 1
    elif [[ -t 0 ]]; then
        sudo -- "$@"
    else
        sudo -n -- "$@" # nobody is there to type a password
    fi
}

# ensurePackages NAME…: installs what is missing. Returns exitPackagesMissing, the packages named, when it cannot.
ensurePackages()
{
    if ! command -v dpkg-query >/dev/null; then
        say "this is not a Debian system (no dpkg-query): going on with what is installed."
        return 0
    fi
    local -a missing
    mapfile -t missing < <(missingPackages "$@")
    [[ ${#missing[@]} -eq 0 ]] && return 0

    if ! asRoot true; then
        say "packages are missing, and installing them needs root or sudo: apt-get install ${missing[*]}"
        return "$exitPackagesMissing"
    fi
    say "installing ${missing[*]}"
    # An earlier run may have been interrupted between unpacking and configuring; and another apt may hold the lock.
    asRoot dpkg --configure -a >&2 || true
    local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
    asRoot "${apt[@]}" update >&2 || say "the package lists could not be refreshed: trying with those at hand."
    asRoot "${apt[@]}" install --yes --no-install-recommends "${missing[@]}" >&2 || true
    mapfile -t missing < <(missingPackages "$@")
    if [[ ${#missing[@]} -ne 0 ]]; then
        say "apt-get could not install: ${missing[*]}"
        return "$exitPackagesMissing"
    fi
}
