#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# packages.sh and build_tree.sh against a make-believe system: a PATH of stand-ins that write down how they were called.
# Usage: test_scripts.sh [CASE]; without a case it runs all.
# shellcheck disable=SC2016 # expect() expands what it is given
set -euo pipefail
packaging=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../packaging" && pwd -P)
bash=$BASH
system=$(mktemp -d)
trap 'rm -rf -- "$system"' EXIT

# stub NAME: reads the body of a stand-in from standard input.
stub()
{
    { printf '#!%s\n' "$bash" && cat; } >"$system/bin/$1"
    chmod +x "$system/bin/$1"
}

# A Debian system where the packages of the file `installed` are installed, and apt-get installs what the file `archive`
# has.
freshSystem()
{
    rm -rf -- "${system:?}"/*
    mkdir -p "$system/bin"
    : >"$system/installed"
    : >"$system/calls"
    local tool
    for tool in cat grep env cksum mkdir dirname; do
        ln -s "$(command -v "$tool")" "$system/bin/$tool"
    done
    stub id <<<"echo $1"
    stub dpkg <<<"echo dpkg \"\$@\" >>$system/calls"
    stub dpkg-query <<<"cat $system/installed"
    stub apt-get <<END
echo "apt-get \$*" >>$system/calls
[[ \$* != *install* ]] || for name in \$(cat $system/archive); do
    [[ " \$* " != *" \$name "* ]] || echo "installed \$name" >>$system/installed
done
END
}

# inSystem COMMAND…: runs a function of the scripts there; its output goes to the file `output`, its code to `code`.
inSystem()
{
    code=0
    PATH=$system/bin "$bash" -c "set -euo pipefail; source '$packaging/packages.sh'; source '$packaging/build_tree.sh'; $*" \
        >"$system/output" 2>&1 </dev/null || code=$?
}

expect()
{
    if ! eval "$1"; then
        echo "not so: $1 (exit code $code)"
        sed 's/^/    output: /' "$system/output"
        sed 's/^/    call: /' "$system/calls"
        exit 1
    fi
}

nothingMissing()
{
    freshSystem 0
    printf 'installed %s\n' cmake g++ >"$system/installed"
    inSystem ensurePackages cmake g++
    expect '[[ $code == 0 && ! -s $system/calls && ! -s $system/output ]]'
}

rootInstallsOnlyWhatIsMissing()
{
    freshSystem 0
    echo 'installed cmake' >"$system/installed"
    echo g++ >"$system/archive"
    inSystem ensurePackages cmake g++
    expect '[[ $code == 0 ]]'
    expect 'grep -q "^apt-get .*update" $system/calls'
    expect 'grep -q "^apt-get .*install.* g++$" $system/calls'
    expect '! grep -q "cmake" $system/calls'
}

halfInstalledCountsAsMissing()
{
    freshSystem 0
    echo 'half-configured cmake' >"$system/installed"
    echo cmake >"$system/archive"
    inSystem ensurePackages cmake
    expect '[[ $code == 0 ]]'
    expect 'grep -q "^dpkg --configure -a" $system/calls'
}

userWithoutSudoIsTold()
{
    freshSystem 1000
    inSystem ensurePackages cmake g++
    expect '[[ $code == 3 ]]'
    expect 'grep -q "needs root or sudo: apt-get install cmake g++" $system/output'
    expect '! grep -q apt-get $system/calls'
}

userWithSudoInstalls()
{
    freshSystem 1000
    stub sudo <<<"echo sudo >>$system/calls; while [[ \$1 == -* ]]; do shift; done; exec \"\$@\""
    stub true <<<''
    echo cmake >"$system/archive"
    inSystem ensurePackages cmake
    expect '[[ $code == 0 ]]'
    expect 'grep -q "^sudo" $system/calls'
}

refusedSudoIsTold()
{
    freshSystem 1000
    stub sudo <<<'echo "sudo: a password is required" >&2; exit 1'
    inSystem ensurePackages cmake
    expect '[[ $code == 3 ]]'
    expect 'grep -q "needs root or sudo: apt-get install cmake" $system/output'
}

unavailablePackageIsNamed()
{
    freshSystem 0
    echo cmake >"$system/archive"
    inSystem ensurePackages cmake libnowhere-dev
    expect '[[ $code == 3 ]]'
    expect 'grep -q "could not install: libnowhere-dev" $system/output'
}

otherSystemsGoOn()
{
    freshSystem 1000
    rm "$system/bin/dpkg-query"
    inSystem ensurePackages cmake
    expect '[[ $code == 0 ]]'
    expect 'grep -q "not a Debian system" $system/output'
}

# configure, with the cache of a build tree and a CMake that only writes down its arguments.
treeIsConfiguredWhenItMust()
{
    local tree=$system/tree source=${packaging%/packaging}
    freshSystem 0
    mkdir "$tree"
    stub cmake <<<"echo cmake \"\$@\" >>$system/calls"
    inSystem configure release "'$tree'" -DX=1
    expect 'grep -q -- "^cmake --preset release -B $tree -DX=1$" $system/calls'

    : >"$system/calls"
    : >"$tree/build.ninja"
    printf '%s\n' "CMAKE_HOME_DIRECTORY:INTERNAL=$source" "CMAKE_CACHEFILE_DIR:INTERNAL=$tree" >"$tree/CMakeCache.txt"
    inSystem configure release "'$tree'"
    expect '[[ ! -s $system/calls ]]'

    rm "$tree/build.ninja" # CMake was interrupted
    inSystem configure release "'$tree'"
    expect 'grep -q -- "^cmake --fresh --preset" $system/calls'

    : >"$system/calls"
    : >"$tree/build.ninja"
    echo 'CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere' >"$tree/CMakeCache.txt"
    inSystem configure release "'$tree'"
    expect 'grep -q -- "^cmake --fresh --preset" $system/calls'
}

cases=(nothingMissing rootInstallsOnlyWhatIsMissing halfInstalledCountsAsMissing userWithoutSudoIsTold
    userWithSudoInstalls refusedSudoIsTold unavailablePackageIsNamed otherSystemsGoOn treeIsConfiguredWhenItMust)
for name in "${@:-${cases[@]}}"; do
    echo "$name"
    "$name"
done
