# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every target of the house links headroom_build, which carries the language level and the warnings.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
endif()

add_library(headroom_build INTERFACE)
target_compile_options(headroom_build INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor
                                                -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    # GCC 12 (Debian 12) and 13 (Ubuntu 24.04) see overlaps in std::string's operator+ that are not there: GCC bug 105651.
    target_compile_options(headroom_build INTERFACE -Wno-restrict)
endif()
if(HEADROOM_WERROR)
    target_compile_options(headroom_build INTERFACE -Werror)
endif()
if(HEADROOM_SANITIZE)
    target_compile_options(headroom_build INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                                    -fno-omit-frame-pointer)
    target_link_options(headroom_build INTERFACE -fsanitize=address,undefined)
endif()

# headroom_core_library(NAME folder SOURCES … LINKS …): a folder of core/. Core sees no Qt: its include
# path is core/ and what LINKS names, nothing else.
function(headroom_core_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
    add_library(headroom_${name} STATIC ${ARG_SOURCES})
    set_target_properties(headroom_${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(headroom_${name} PUBLIC "${PROJECT_SOURCE_DIR}/core")
    target_link_libraries(headroom_${name} PUBLIC ${ARG_LINKS} PRIVATE headroom_build ${ARG_PRIVATE_LINKS})
endfunction()
