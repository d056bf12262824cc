#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Everything that CI checks; see --help.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source-path=SCRIPTDIR source=packages.sh
source "$here/packages.sh"
# shellcheck source-path=SCRIPTDIR source=build_tree.sh
source "$here/build_tree.sh"
# shellcheck source-path=SCRIPTDIR source=source_checks.sh
source "$here/source_checks.sh"

usage()
{
    cat <<'END'
Usage: bash packaging/test.sh [--quick]

Installs what is missing (Debian 12, Ubuntu 24.04; as root or through sudo), then
  1. checks the sources: format, licence lines, scripts, desktop files, man pages;
  2. builds everything, warnings being errors, and runs all tests (preset ci);
  3. shows the real window under Xvfb;
  4. builds core and terminal alone (preset core) and proves that they use no Qt;
  5. builds them with the address and undefined-behaviour sanitizers and runs their tests (preset asan).
--quick does 2 alone. Build trees are kept: a second call builds only what changed.

Exit codes: 0 all passed, 1 something failed, 3 packages are missing and cannot be installed.
END
}

passed=0
failed=0
skipped=0
outcome=0
failures=()
logFolder=

# check NAME COMMAND…: runs it, keeps going when it fails, leaves its exit code in `outcome`. A command that returns 77
# had nothing to check with.
check()
{
    local name=$1 start=$SECONDS word=FAILED
    shift
    printf '\n== %s\n' "$name"
    set +e
    (
        set -e
        "$@"
    )
    outcome=$?
    set -e
    case $outcome in
        0)
            word=passed
            passed=$((passed + 1))
            ;;
        77)
            word=skipped
            skipped=$((skipped + 1))
            ;;
        *)
            failed=$((failed + 1))
            failures+=("$name")
            ;;
    esac
    printf -- '-- %s: %s (%d s)\n' "$name" "$word" "$((SECONDS - start))"
}

# buildAndTest PRESET [OPTION…]: configures, builds and runs the tests of a preset; its tests are counted one by one.
buildAndTest()
{
    local preset=$1 tree=$trees/$1 log=$logFolder/$1
    check "build ($preset)" build "$@"
    [[ $outcome == 0 ]] || return 0
    printf '\n== tests (%s)\n' "$preset"
    # The options of the test presets, which know no other build tree than their own.
    QT_QPA_PLATFORM=offscreen ASAN_OPTIONS=detect_leaks=0 ctest --test-dir "$tree" --output-on-failure \
        --no-tests=error --timeout 300 --parallel 2 2>&1 | tee "$log" || true
    countTests "$preset" "$log"
}

build()
{
    local preset=$1 tree=$trees/$1
    shift
    configure "$preset" "$tree" "$@"
    cmake --build "$tree"
}

# Adds the numbers of CTest's closing line to ours; a run without that line has failed.
countTests()
{
    local preset=$1 log=$2 line
    line=$(sed -n 's/^.*% tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*$/\1 \2/p' "$log" | tail -n 1)
    local bad=${line% *} all=${line#* }
    if [[ -z $line || $all == 0 ]]; then
        failed=$((failed + 1))
        failures+=("tests ($preset): none ran")
        return 0
    fi
    failed=$((failed + bad))
    passed=$((passed + all - bad))
    [[ $bad == 0 ]] || failures+=("tests ($preset)")
}

# The window on a real X server, with the first sample: a picture of it must come out, and more than one colour in it.
showWindow()
{
    local picture=$logFolder/window.png samples=$sourceFolder/resources/samples
    local log config
    log=$(sed -n 's/^ *log: *//p' "$samples/index.yaml" | head -n 1)
    config=$(sed -n 's/^ *config: *//p' "$samples/index.yaml" | head -n 1)
    QT_QPA_PLATFORM=xcb timeout 120 xvfb-run --auto-servernum --server-args '-screen 0 1600x1000x24' \
        "$trees/ci/app/gui/headroom" --screenshot "$picture" "$samples/$log" "$samples/$config"
    local bytes
    bytes=$(stat --format %s "$picture")
    printf 'screenshot: %s bytes\n' "$bytes"
    [[ $(head -c 8 "$picture" | od -An -tx1 | tr -d ' \n') == 89504e470d0a1a0a && $bytes -gt 30000 ]]
}

# No object of core/ and of the terminal program sees Qt's headers, and the program's libraries have no Qt.
coreUsesNoQt()
{
    local tree=$trees/core found=0
    if grep -A1 -E "\"command\":.* -c $sourceFolder/(core|app/cli)/" "$tree/compile_commands.json" \
        | grep -iE '"command":.*(-I|-isystem )[^ ]*/qt6?(/|[[:space:]])'; then
        echo 'core or app/cli is compiled with an include path of Qt'
        found=1
    fi
    if grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](Q[A-Za-z]|qt)' "$sourceFolder/core" "$sourceFolder/app/cli"; then
        echo 'core or app/cli includes a header of Qt'
        found=1
    fi
    if ldd "$tree/app/cli/headroom-cli" | grep -i 'libqt'; then
        echo 'headroom-cli is linked with Qt'
        found=1
    fi
    return "$found"
}

fullRun()
{
    checkSources
    buildAndTest ci
    check 'window under Xvfb' showWindow
    # The tests of these objects have run in 2 and run again in 5.
    check 'build (core)' build core -DHEADROOM_TESTS=OFF
    check 'core uses no Qt' coreUsesNoQt
    buildAndTest asan -DHEADROOM_GUI=OFF
}

main()
{
    case ${1:-} in
        --help | -h) usage && return 0 ;;
        '' | --quick) ;;
        *)
            usage >&2
            return 2
            ;;
    esac
    ensurePackages "${runPackages[@]}" "${testPackages[@]}"
    trees=$(buildRoot)
    logFolder=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf -- '$logFolder'" EXIT
    # With names relative to the sources, a fresh clone elsewhere finds what an earlier one compiled.
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$sourceFolder CCACHE_NOHASHDIR=true LC_ALL=C.UTF-8
    if [[ ${1:-} == --quick ]]; then
        buildAndTest ci
    else
        ensurePackages "${checkPackages[@]}" || say 'going on without these: their checks are skipped.'
        fullRun
    fi

    printf '\npackaging/test.sh took %d s\n' "$SECONDS"
    [[ $failed == 0 ]] || printf 'FAILED: %s\n' "${failures[@]}"
    printf 'headroom: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [[ $failed == 0 ]]
}

main "$@"
