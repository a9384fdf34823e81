# SPDX-License-Identifier: Apache-2.0
#
# eigen_rope_eigen_version(FOLDER RESULT): the version of the Eigen whose headers are in FOLDER,
# such as 3.4.0, and nothing if there is none. The installed package has this file, too.
function(eigen_rope_eigen_version folder result)
  set(${result} "" PARENT_SCOPE)
  # Eigen 5 has a header for its version; before that it stands among the macros.
  set(file ${folder}/Eigen/Version)
  if(NOT EXISTS ${file})
    set(file ${folder}/Eigen/src/Core/util/Macros.h)
  endif()
  if(NOT EXISTS ${file})
    return()
  endif()
  foreach(part WORLD MAJOR MINOR PATCH)
    file(STRINGS ${file} line REGEX "#define EIGEN_${part}_VERSION [0-9]+")
    string(REGEX REPLACE ".* ([0-9]+).*" "\\1" ${part} "${line}")
  endforeach()
  if(PATCH STREQUAL "")
    set(${result} ${WORLD}.${MAJOR}.${MINOR} PARENT_SCOPE)
  else()
    set(${result} ${MAJOR}.${MINOR}.${PATCH} PARENT_SCOPE)
  endif()
endfunction()
