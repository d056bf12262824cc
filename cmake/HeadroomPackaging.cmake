# SPDX-License-Identifier: GPL-3.0-or-later
#
# `cpack` in a build tree of preset release makes headroom_VERSION_ARCH.deb; dpkg-shlibdeps finds what it depends on.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME headroom)
set(CPACK_PACKAGE_VENDOR "The Headroom developers")
set(CPACK_PACKAGE_CONTACT "The Headroom developers <headroom@localhost>")
set(CPACK_PACKAGE_HOMEPAGE_URL "${PROJECT_HOMEPAGE_URL}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
    "Headroom opens the log and the configuration of a multi-GPU training run that met an out-of-memory error. It shows in
which phase memory peaks, recomputes the peak of every pipeline stage from the configuration, redraws the estimate
while knobs move, and exports the adjusted configuration.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The texts of Qt itself, such as the buttons of dialogs, in the languages that Headroom speaks.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS qt6-translations-l10n)
include(CPack)
