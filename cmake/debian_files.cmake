# SPDX-License-Identifier: Apache-2.0
#
# CPack runs this when the components of the Debian packages lie in their folders, and before it
# makes packages of them. The script strips what is compiled, compresses the manual page, adds the
# copyright and the changelogs, finds out on which packages the compiled files depend, and writes
# the control files of the shared libraries.
#
# CPack has a way of its own to write shlibs. With it the package gets scripts that call ldconfig,
# where Debian wants a trigger.
cmake_policy(VERSION 3.21)
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

set(control_dir ${CPACK_EIGEN_ROPE_BINARY_DIR}/debian)
file(REMOVE_RECURSE ${control_dir})
# dpkg-shlibdeps wants to be run beside a file debian/control.
file(WRITE ${control_dir}/control "")

function(run)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The newest version that CHANGELOG.md has a date for, as a changelog of Debian has it.
file(STRINGS ${CPACK_EIGEN_ROPE_SOURCE_DIR}/CHANGELOG.md released REGEX "^## [0-9.]+ - [0-9-]+$")
list(GET released 0 released)
string(REGEX REPLACE ".* - " "" released "${released}")
execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C date --utc --rfc-email --date=${released}
  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(changelog "eigen-rope (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * The changes of this version are listed in NEWS.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
  set(doc ${root}/usr/share/doc/${package})
  file(COPY ${CPACK_EIGEN_ROPE_SOURCE_DIR}/packaging/debian/copyright DESTINATION ${doc})
  file(WRITE ${doc}/changelog "${changelog}")
  configure_file(${CPACK_EIGEN_ROPE_SOURCE_DIR}/CHANGELOG.md ${doc}/NEWS COPYONLY)
  file(GLOB manual_pages ${root}/usr/share/man/man*/*)
  run(gzip -9 --no-name ${doc}/changelog ${doc}/NEWS ${manual_pages})
  if(EXISTS ${root}/usr/share/zsh)
    # Where Debian's zsh looks.
    file(RENAME ${root}/usr/share/zsh/site-functions ${root}/usr/share/zsh/vendor-completions)
  endif()

  set(sections --remove-section=.comment --remove-section=.note)
  file(GLOB_RECURSE archives ${root}/*.a)
  foreach(file ${archives})
    run(${CPACK_EIGEN_ROPE_STRIP} --strip-debug --enable-deterministic-archives ${sections} ${file})
  endforeach()
  file(GLOB_RECURSE libraries ${root}/*.so.${CPACK_PACKAGE_VERSION})
  foreach(file ${libraries})
    run(${CPACK_EIGEN_ROPE_STRIP} --strip-unneeded ${sections} ${file})
  endforeach()
  file(GLOB programs ${root}/usr/bin/* ${root}/usr/libexec/eigen-rope/*)
  foreach(file ${programs})
    run(${CPACK_EIGEN_ROPE_STRIP} ${sections} ${file})
  endforeach()

  if(libraries)
    file(REMOVE ${control_dir}/shlibs)
    foreach(file ${libraries})
      string(REGEX REPLACE ".*/([^/]*)\\.so\\.([0-9]+\\.[0-9]+).*" "\\1 \\2" soname ${file})
      file(APPEND ${control_dir}/shlibs
        "${soname} ${package} (>= ${CPACK_PACKAGE_VERSION})\n")
    endforeach()
    file(WRITE ${control_dir}/triggers "activate-noawait ldconfig\n")
    run(dpkg-gensymbols -q -p${package} -v${CPACK_PACKAGE_VERSION} -P${root}
      -O${control_dir}/symbols)
    file(READ ${control_dir}/symbols symbols)
    string(REPLACE "#MINVER#" "#MINVER#\n* Build-Depends-Package: libeigen-rope-dev" symbols
      "${symbols}")
    file(WRITE ${control_dir}/symbols "${symbols}")
    # Where dpkg-shlibdeps looks for what the program's package, which comes later, depends on.
    set(own_libraries -l${CPACK_EIGEN_ROPE_BINARY_DIR} -L${control_dir}/shlibs)
  endif()
  if(libraries OR programs)
    # It warns that the files do not lie where debhelper has them.
    execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C dpkg-shlibdeps -O ${own_libraries}
      -x${package} ${libraries} ${programs} WORKING_DIRECTORY ${CPACK_EIGEN_ROPE_BINARY_DIR}
      OUTPUT_VARIABLE depends OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE remarks
      RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "[rope] dpkg-shlibdeps failed: ${remarks}")
    endif()
    string(REPLACE "shlibs:Depends=" "" CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  endif()
  run(chmod --recursive u=rwX,go=rX ${root})
endforeach()
