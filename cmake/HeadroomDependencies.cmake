# SPDX-License-Identifier: GPL-3.0-or-later
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
set_package_properties(fmt PROPERTIES TYPE REQUIRED URL "https://fmt.dev" PURPOSE "text without locale surprises")
find_package(yaml-cpp REQUIRED)
set_package_properties(yaml-cpp PROPERTIES TYPE REQUIRED URL "https://github.com/jbeder/yaml-cpp"
                       PURPOSE "reads configs, model presets and format descriptions")
if(NOT TARGET yaml-cpp::yaml-cpp)
    # 0.7 (Debian 12) names its target yaml-cpp, 0.8 yaml-cpp::yaml-cpp.
    add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
find_package(tomlplusplus REQUIRED)
set_package_properties(tomlplusplus PROPERTIES TYPE REQUIRED URL "https://github.com/marzer/tomlplusplus"
                       PURPOSE "reads configs in TOML")
find_package(tl-expected REQUIRED)
set_package_properties(tl-expected PROPERTIES TYPE REQUIRED URL "https://github.com/TartanLlama/expected"
                       PURPOSE "errors as values")
find_package(CLI11 REQUIRED)
set_package_properties(CLI11 PROPERTIES TYPE REQUIRED URL "https://github.com/CLIUtils/CLI11"
                       PURPOSE "the command line of headroom-cli")
find_package(nlohmann_json REQUIRED)
find_package(simdjson 3.0 REQUIRED)
set_package_properties(nlohmann_json PROPERTIES TYPE REQUIRED URL "https://github.com/nlohmann/json"
                       PURPOSE "the JSON that headroom-cli prints")

# Libraries that come with a pkg-config file only.
find_package(PkgConfig REQUIRED)
function(headroom_pkg_library name module purpose)
    pkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${module})
    add_library(Headroom::${name} ALIAS PkgConfig::${name})
    add_feature_info("${module} ${${name}_VERSION}" ${name}_FOUND "${purpose}")
endfunction()
headroom_pkg_library(pcre2 libpcre2-8 "the fields of log lines, names of parameters")
headroom_pkg_library(vectorscan libhs "all log formats in one pass")
headroom_pkg_library(zstd libzstd "logs compressed with zstd")
find_package(ZLIB REQUIRED)
set_package_properties(ZLIB PROPERTIES TYPE REQUIRED URL "https://zlib.net" PURPOSE "logs compressed with gzip")

if(HEADROOM_GUI)
    find_package(Qt6 6.4 REQUIRED COMPONENTS Widgets PrintSupport Concurrent)
    find_package(Qt6 6.4 OPTIONAL_COMPONENTS Svg LinguistTools)
    set_package_properties(Qt6Svg PROPERTIES TYPE RECOMMENDED PURPOSE "charts exported as SVG")
    set_package_properties(Qt6LinguistTools PROPERTIES TYPE RECOMMENDED PURPOSE "the Chinese translation")
    # After Qt and without a version: the package has no version file and its target names Qt's.
    find_package(QCustomPlotQt6 REQUIRED)
    set_package_properties(QCustomPlotQt6 PROPERTIES TYPE REQUIRED URL "https://www.qcustomplot.com" PURPOSE "charts")
    set_package_properties(Qt6 PROPERTIES TYPE REQUIRED URL "https://www.qt.io" PURPOSE "the window")
endif()
if(HEADROOM_TESTS)
    find_package(Qt6 6.4 REQUIRED COMPONENTS Test)
    set_package_properties(Qt6Test PROPERTIES TYPE REQUIRED PURPOSE "the tests")
endif()
