#!/bin/sh
# `npm test`: installs what is missing, then runs every check. Arguments go to vitest.
set -eu
. "$(dirname -- "$0")/../deploy/setup.sh"
cd "$root"
missing=
command -v prometheus >/dev/null && command -v promtool >/dev/null || missing="prometheus"
command -v prometheus-alertmanager >/dev/null || missing="$missing prometheus-alertmanager"
if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing$(printf ' %s' $missing) …" >&2
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >/dev/null 2>&1 ||
      echo "Could not install$(printf ' %s' $missing); tests against them are skipped" >&2
  else
    echo "Tests against$(printf ' %s' $missing) are skipped; as root: apt-get install$(printf ' %s' $missing)" >&2
  fi
fi
exec "$NODE" test/run.ts "$@"
