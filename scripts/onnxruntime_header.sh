# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that compile the package for ONNX Runtime: its header, which the wheels do
# not have.
# shellcheck shell=bash

header=onnxruntime_c_api.h

# debian_mirror CODENAME: where this machine gets that release of Debian from
debian_mirror() {
  local files=() file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || files+=("$file")
  done
  [ ${#files[@]} -gt 0 ] || return 0
  # An empty line ends the last stanza of each file.
  for file in "${files[@]}"; do cat "$file" && echo; done | awk -v codename="$1" '
    function found(address) { if (address != "" && mirror == "") mirror = address }
    /^deb / {
      sub(/\[[^]]*\] */, "")
      if ($3 == codename) found($2)
    }
    /^URIs:/ { address = $2 }
    /^Suites:/ { for (i = 2; i <= NF; ++i) if ($i == codename) suits = 1 }
    /^ *$/ {
      if (suits) found(address)
      address = ""
      suits = 0
    }
    END { print mirror }'
}

# fetch_header FOLDER: unpacks the package that has the header, of the next release of Debian
fetch_header() {
  local mirror lists=$1/apt/lists cache=$1/apt/cache codename
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  mirror=$(debian_mirror "$codename")
  [ -n "$mirror" ] || die \
    "EIGEN_ROPE_ONNXRUNTIME_INCLUDE must name the folder of $header: this machine has no sources of Debian"
  rm -rf "$1"
  mkdir -p "$lists/partial" "$cache/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" \
    >"$1/apt/trixie.list"
  local options=(-qq -o "Dir::Etc::sourcelist=$PWD/$1/apt/trixie.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$PWD/$lists" -o "Dir::Cache=$PWD/$cache" -o APT::Sandbox::User=
    -o APT::Get::List-Cleanup=0 -o Acquire::Languages=none)
  if ! (apt-get "${options[@]}" update && cd "$1/apt" && apt-get "${options[@]}" download \
    libonnxruntime-dev) >"$1/apt/log" 2>&1; then
    cat "$1/apt/log" >&2
    die "apt could not fetch libonnxruntime-dev of Debian 13 (network?)"
  fi
  dpkg -x "$1"/apt/libonnxruntime-dev_*.deb "$1/root"
  mv "$1/root/usr/include/onnxruntime" "$1/include"
  rm -rf "$1/apt" "$1/root"
}

# find_onnxruntime_header: sets onnxruntime_include to the folder that has it
find_onnxruntime_header() {
  onnxruntime_include=${EIGEN_ROPE_ONNXRUNTIME_INCLUDE:-}
  if [ -z "$onnxruntime_include" ]; then
    if apt-cache show libonnxruntime-dev >/dev/null 2>&1; then
      require_packages libonnxruntime-dev
      onnxruntime_include=/usr/include/onnxruntime
    else
      onnxruntime_include=$PWD/build/onnxruntime-header/include
      if [ ! -e "$onnxruntime_include/$header" ]; then
        say "fetching ONNX Runtime's header"
        fetch_header build/onnxruntime-header
      fi
    fi
  fi
  [ -e "$onnxruntime_include/$header" ] || die "EIGEN_ROPE_ONNXRUNTIME_INCLUDE must be a folder with $header, got $onnxruntime_include"
}
