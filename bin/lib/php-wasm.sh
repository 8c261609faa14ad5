# Sourced by the tests: other versions of PHP than the machine's, as WebAssembly builds from npm.
# shellcheck shell=bash

PHP_WASM_VERSION=3.1.53

fetch_php_wasm() { # VERSION...: print the folder whose node_modules holds them
  locked install_php_wasm "$@"
}

install_php_wasm() {
  local folder=$CACHE/php-wasm-$PHP_WASM_VERSION version names=("@php-wasm/universal@$PHP_WASM_VERSION")
  for version in "$@"; do names+=("@php-wasm/node-${version/./-}@$PHP_WASM_VERSION"); done
  if [[ ! -f $folder/complete ]]; then
    npm install --silent --no-audit --no-fund --prefix "$folder" "${names[@]}" >&2
    touch "$folder/complete"
  fi
  printf '%s\n' "$folder"
}
