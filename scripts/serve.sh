#!/bin/sh
# Starts the service for production with the operator's own Node if it is version 24 or later, otherwise with the one of
# node_modules, which npm puts first in the PATH. The operator's is patched with the system; a package is not
# (docs/design/dependencies.md, "Supply chain"). The arguments go to the service.
set -eu

own=""
old_ifs=$IFS
IFS=:
for folder in $PATH; do
  case "$folder" in
    */node_modules/.bin | */node_modules/.bin/ | */node-gyp-bin | "") continue ;;
  esac
  if [ -x "$folder/node" ]; then
    own="$folder/node"
    break
  fi
done
IFS=$old_ifs

if [ -n "$own" ]; then
  version=$("$own" --version 2>/dev/null || echo v0)
  major=${version#v}
  major=${major%%.*}
  case "$major" in
    "" | *[!0-9]*) major=0 ;;
  esac
  if [ "$major" -ge 24 ]; then exec "$own" bin/partner-orders.js --all-cores "$@"; fi
fi
exec node bin/partner-orders.js --all-cores "$@"
