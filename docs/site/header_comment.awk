# SPDX-License-Identifier: Apache-2.0
# Doxygen's filter for headers: the comment a file opens with becomes the file's documentation. Lines stay where they are.
NR == 1 { print "/// \\file"; opening = 1; next }
opening && /^\/\// {
  line = $0
  sub(/^\/\//, "", line)
  if (line ~ /^   /) line = "    " line  # set apart: code
  print "///" line
  next
}
/^extern template/ { dropped = 1 }
dropped { dropped = !/;$/; print ""; next }
{ opening = 0; print }
