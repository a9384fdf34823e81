# SPDX-License-Identifier: Apache-2.0
#
# eigen_rope_all_headers(FOLDER FILE): makes FILE, which includes every header under
# FOLDER/eigen_rope. Those that a program cannot include are none of them.
function(eigen_rope_all_headers folder file)
  file(GLOB_RECURSE headers RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/eigen_rope/*.hpp)
  list(JOIN headers ">\n#include <" text)
  file(CONFIGURE OUTPUT ${file} CONTENT "#include <${text}>\n" @ONLY)
endfunction()
