#!/bin/sh
# `npm start`: installs what is missing, then runs `tokentail demo`, or the command given after `--`.
set -eu
. "$(dirname -- "$0")/setup.sh"
cd "${INIT_CWD:-.}"
[ $# -gt 0 ] || set -- demo
exec "$NODE" "$root/src/main.ts" "$@"
