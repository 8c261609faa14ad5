# Sourced by the scripts in bin and by the tests: WordPress, WP-CLI and the SQLite drop-in, all three out of one npm package.
# shellcheck shell=bash

STUDIO_VERSION=1.22.0
STUDIO_SHA512=6e832d6a19218160ca2b2353040d6e4cae60867026c5784363a29e4023bd166708dffa3e60e4aaf09c185b96589f11c2c47d7825ffe60fa0894c1bd35a5d98b7

fetch_wordpress() { # sets PACKAGES: a folder with wordpress/, wp-cli.phar and sqlite-database-integration/
  locked choose_wordpress
  export PACKAGES
}

choose_wordpress() {
  PACKAGES=$CACHE/wordpress-$STUDIO_VERSION
  [[ ! -d $PACKAGES ]] || return 0
  command -v npm >/dev/null || debian_packages npm
  say "Downloading WordPress and WP-CLI (67 MB)"
  local folder
  folder=$(mktemp -d "$CACHE/download.XXXXXX")
  if npm_pack "$folder" "$STUDIO_VERSION"; then
    sha512sum --quiet --check <<<"$STUDIO_SHA512  $folder/package.tgz" >&2 || {
      rm -rf "$folder"
      die "The checksum of wp-studio $STUDIO_VERSION is not the pinned one: nothing was installed."
    }
  else
    PACKAGES=$CACHE/wordpress-newest
    say "Warning: wp-studio $STUDIO_VERSION is not to be had. Taking the newest version, which has no pinned checksum."
    [[ -d $PACKAGES ]] || npm_pack "$folder" latest || {
      rm -rf "$folder"
      die "npm could not download wp-studio."
    }
  fi
  if [[ ! -d $PACKAGES ]]; then unpack_wordpress "$folder"; fi
  rm -rf "$folder"
}

npm_pack() { # FOLDER VERSION
  (cd "$1" && npm pack --silent "wp-studio@$2" >/dev/null 2>npm.log && mv wp-studio-*.tgz package.tgz)
}

unpack_wordpress() { # FOLDER: found by name, since another version may keep them elsewhere
  local listing core phar dropin
  listing=$(tar -tzf "$1/package.tgz")
  core=$(grep -m1 '/wordpress/wp-load\.php$' <<<"$listing") || die "There is no WordPress in wp-studio."
  phar=$(grep -m1 '/wp-cli\.phar$' <<<"$listing") || die "There is no WP-CLI in wp-studio."
  dropin=$(grep -m1 '/sqlite-database-integration/db\.copy$' <<<"$listing") || die "There is no SQLite drop-in in wp-studio."
  core=${core%/wp-load.php} dropin=${dropin%/db.copy}
  tar -xzf "$1/package.tgz" -C "$1" "$core" "$phar" "$dropin"
  mkdir "$1/packages"
  mv "$1/$core" "$1/$phar" "$1/$dropin" "$1/packages/"
  mv "$1/packages" "$PACKAGES"
}

lay_wordpress() { # SITE: put WordPress's files there
  mkdir -p "$(dirname "$1")"
  cp -a "$PACKAGES/wordpress" "$1"
  rm -f "$1/wp-config.php"
  mkdir -p "$1/wp-content/mu-plugins"
}

lay_sqlite() { # SITE: keep its database in a file, without a server
  local folder=$1/wp-content/mu-plugins/sqlite-database-integration
  cp -a "$PACKAGES/sqlite-database-integration" "$folder"
  sed -e "s#{SQLITE_IMPLEMENTATION_FOLDER_PATH}#$folder#" -e 's#{SQLITE_PLUGIN}#sqlite-database-integration/load.php#' \
    "$folder/db.copy" >"$1/wp-content/db.php"
}
