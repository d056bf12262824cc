# SPDX-License-Identifier: GPL-3.0-or-later
#
# cmake -DLUPDATE=program -DROOT=dir -DBINARY=dir -P UpdateTranslations.cmake: brings the catalogues of resources/i18n
# up to date with the sources. New texts come in as unfinished, those that are gone are dropped.

# The samples name themselves in a data file, which lupdate cannot read; samples.cpp looks them up in context "samples".
set(samples "${BINARY}/sample_texts.cpp")
file(STRINGS "${ROOT}/resources/samples/index.yaml" lines REGEX "^ *(title|description): " ENCODING UTF-8)
set(code "")
foreach(line IN LISTS lines)
    string(REGEX REPLACE "^ *(title|description): " "" text "${line}")
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(APPEND code "QT_TRANSLATE_NOOP(\"samples\", \"${text}\");\n")
endforeach()
file(WRITE "${samples}" "${code}")

# headroom_update(CATALOGUE OPTION…): line numbers are left out, since every edit of a source would change the catalogue.
function(headroom_update catalogue)
    execute_process(
        COMMAND "${LUPDATE}" ${ARGN} -locations none -no-obsolete -source-language en
                -tr-function-alias QT_TRANSLATE_NOOP+=HEADROOM_TR
                ui app core "${samples}" -ts "resources/i18n/${catalogue}"
        WORKING_DIRECTORY "${ROOT}"
        COMMAND_ERROR_IS_FATAL ANY)
endfunction()
headroom_update(headroom_zh_CN.ts)
# English needs no more than its plural forms: "1 layer", "2 layers".
headroom_update(headroom_en.ts -pluralonly)
