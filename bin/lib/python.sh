# Sourced by the scripts in bin: the virtual environment, one for each clone of the project, in the cache folder.
# shellcheck shell=bash

python_environment() { # EXTRAS: '' or '[dev]'; sets VENV
  local owner="$ROOT$1" key
  key=$( (cat "$ROOT/pyproject.toml" && printf %s "$owner") | sha256sum | cut -c1-12)
  VENV=$CACHE/venv-$key
  [[ -f $VENV/owner ]] || locked make_environment "$1" "$owner"
}

make_environment() { # EXTRAS OWNER
  [[ ! -f $VENV/owner ]] || return 0
  forget_environments "$2"
  say "Making a virtual environment: $VENV"
  rm -rf "$VENV"
  "$(find_python)" -m venv "$VENV"
  "$VENV/bin/pip" install -qq --disable-pip-version-check --editable "$ROOT$1" >&2
  printf %s "$2" >"$VENV/owner" # last: an environment without it is half made
}

forget_environments() { # OWNER: remove its former environments, and those of clones that are gone
  local mark owner
  for mark in "$CACHE"/venv-*/owner; do
    [[ -f $mark ]] || continue
    owner=$(<"$mark")
    if [[ $owner == "$1" || ! -d ${owner%"[dev]"} ]]; then rm -rf "${mark%/owner}"; fi
  done
}

find_python() { # print a Python of 3.11 or later that can make environments
  local name check='import ensurepip, sys; sys.exit(sys.version_info < (3, 11))'
  for name in python3 /usr/bin/python3; do
    if "$name" -c "$check" 2>/dev/null; then
      printf '%s\n' "$name"
      return
    fi
  done
  debian_packages python3 python3-venv
  /usr/bin/python3 -c "$check" || die "Python 3.11 or later is needed."
  printf '/usr/bin/python3\n'
}
