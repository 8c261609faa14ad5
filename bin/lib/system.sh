# Sourced by the scripts in bin: messages, the cache folder, Debian packages.
# shellcheck shell=bash

# shellcheck disable=SC2034 # used by the scripts that source this
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/wp-coding-agents
mkdir -p "$CACHE"

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

locked() { # COMMAND...: run it while no other run of these scripts changes the cache
  local lock
  exec {lock}>"$CACHE/lock"
  flock "$lock" || die "Cannot lock $CACHE/lock."
  "$@"
  exec {lock}>&-
}

debian_packages() { # NAME...: install the ones that are missing
  local name missing=() as_root=()
  if ! command -v dpkg-query >/dev/null; then
    say "This is no Debian machine: taking it that it has what these packages hold: $*"
    return
  fi
  for name in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || die "Missing Debian packages, and no sudo to install them. As root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing Debian packages${as_root:+ with sudo}: ${missing[*]}"
  "${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 update >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 install --no-install-recommends \
    "${missing[@]}" >"$CACHE/apt.log" 2>&1 || {
    tail -n 20 "$CACHE/apt.log" >&2
    die "Debian packages could not be installed."
  }
}
