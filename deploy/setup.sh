# Sourced by start.sh and test/run.sh: installs what is missing and sets NODE. Needs only Node ≥ 20 with npm.
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
stamp="$root/node_modules/.installed-lock"
if ! cmp -s "$root/package-lock.json" "$stamp"; then
  echo "Installing what is missing (once) …" >&2
  (cd "$root" && npm ci --no-audit --no-fund --loglevel=error >&2) || {
    echo "tokentail: npm ci failed; the lines above say why" >&2
    exit 1
  }
  cp "$root/package-lock.json" "$stamp"
fi
NODE="$root/node_modules/.bin/node"
[ -x "$NODE" ] || NODE=$(command -v node)
major=$("$NODE" -p 'process.versions.node.split(".")[0]')
if [ "$major" -lt 24 ]; then
  echo "tokentail: needs Node 24 or newer and found $("$NODE" --version); this platform has no bundled Node, install one" >&2
  exit 1
fi
PATH="$root/node_modules/.bin:$PATH"
export PATH
