# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Checks of the sources that need no build; sourced by test.sh after build_tree.sh. Its check() runs and counts them.
set -euo pipefail
: "${sourceFolder:?}"

# sources PATTERN…: the tracked files (all files, where this is no git checkout), NUL-separated, relative to the root.
sources()
{
    if git -c safe.directory="$sourceFolder" -C "$sourceFolder" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git -c safe.directory="$sourceFolder" -C "$sourceFolder" ls-files -z -- "$@"
        return 0
    fi
    local pattern
    for pattern in "$@"; do
        (cd -- "$sourceFolder" && find . -path ./build -prune -o -type f \( -name "$pattern" -o -path "./$pattern" \) -print0)
    done
}

need()
{
    command -v "$1" >/dev/null || {
        echo "skipped: $1 is not installed"
        exit 77
    }
}

formatIsRight()
{
    need clang-format-14
    cd -- "$sourceFolder"
    sources '*.h' '*.cpp' | xargs -0 --no-run-if-empty clang-format-14 --dry-run -Werror
}

# Every source names its licence in the first line, scripts in the second. The samples and the test data are what users'
# files look like, and pictures have no lines.
licencesAreNamed()
{
    cd -- "$sourceFolder"
    local file bad=0
    while IFS= read -r -d '' file; do
        case $file in resources/samples/* | tests/data/*) continue ;; esac
        if ! head -n 2 -- "$file" | grep -q 'SPDX-License-Identifier: '; then
            echo "$file: no SPDX-License-Identifier in the first line"
            bad=1
        fi
    done < <(sources '*.h' '*.cpp' '*.cmake' '*CMakeLists.txt' '*.sh' '*.yaml' '*.yml' '*.xml' .ci/run .clang-format .clang-tidy)
    return "$bad"
}

scriptsAreClean()
{
    need shellcheck
    cd -- "$sourceFolder"
    # The scripts under tests are data: users' launch scripts with all their oddities.
    sources 'packaging/*.sh' 'tests/packaging/*.sh' .ci/run | xargs -0 shellcheck --external-sources
}

desktopEntryIsValid()
{
    need desktop-file-validate
    desktop-file-validate "$sourceFolder/packaging/linux/io.github.headroom.Headroom.desktop"
}

metainfoIsValid()
{
    need appstreamcli
    appstreamcli validate --no-net --explain "$sourceFolder/packaging/linux/io.github.headroom.Headroom.metainfo.xml"
}

xmlIsWellFormed()
{
    need xmllint
    cd -- "$sourceFolder"
    sources '*.xml' '*.svg' '*.qrc' '*.ts' | xargs -0 --no-run-if-empty xmllint --noout
}

manPagesAreClean()
{
    need man
    local page output
    for page in "$sourceFolder"/packaging/linux/*.1; do
        output=$(man --warnings --encoding=UTF-8 --local-file "$page" 2>&1 >/dev/null)
        [[ -z $output ]] || {
            printf '%s: %s\n' "$page" "$output"
            return 1
        }
    done
}

checkSources()
{
    check 'format (clang-format 14)' formatIsRight
    check 'licence lines' licencesAreNamed
    check 'scripts (shellcheck)' scriptsAreClean
    check 'desktop entry' desktopEntryIsValid
    check 'metainfo' metainfoIsValid
    check 'XML files' xmlIsWellFormed
    check 'man pages' manPagesAreClean
}
