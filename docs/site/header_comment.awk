# SPDX-License-Identifier: Apache-2.0
# Doxygen's filter for headers. The comment a file opens with becomes the file's documentation; what
# a header declares belongs to the group of its room (groups.dox), operators and models to that of
# their system; the inline namespace is left out; the label Error: is no link to the class. Lines
# stay where they are.
# A header of C, whose opening comment has other marks and which names its group itself.
FILENAME ~ /\.h$/ { if (NR == 1) sub(/^\/\*.*/, "/** \\file"); print; next }
NR == 1 {
  print "/// \\file"
  opening = 1
  room = FILENAME
  sub(/\/[^\/]*$/, "", room)
  sub(/.*\//, "", room)
  if (room == "operators") {
    room = FILENAME
    sub(/.*\//, "", room)
    sub(/(_[a-z]+)?\.hpp$/, "", room)
  }
  next
}
{ sub(/namespace eigen_rope::EIGEN_ROPE_ABI/, "namespace eigen_rope") }
opening && /^\/\// {
  line = $0
  sub(/^\/\//, "", line)
  if (line ~ /^   /) line = "    " line  # set apart: code
  print "///" line
  next
}
/^extern template/ { dropped = 1 }
dropped { dropped = !/;$/; print ""; next }
/^namespace eigen_rope(::[a-z]+)? \{$/ { print $0 " /** \\addtogroup reference_" room " */ /** @{ */"; opening = 0; next }
/^\}  \/\/ namespace eigen_rope(::[a-z]+)?$/ { print "/** @} */ " $0; next }
{
  opening = 0
  sub(/- Error: /, "- %Error: ")
  # What is not public is shown by a word.
  gsub(/detail::MatrixElement<[^>]*>/, "Scalar")
  gsub(/detail::SumOf<[^>]*>/, "Sum")
  gsub(/detail::RealArgument<S>/, "S")
  gsub(/detail::Count/, "Index")
  gsub(/std::enable_if_t<detail::is_piece<Piece>>/, "void")
  gsub(/detail::Parameters</, "Parameters<")
  gsub(/detail::Determinants/, "Determinants")
  sub(/ = detail::ScalarTypeOf<[^;]*;/, ";")
  print
}
