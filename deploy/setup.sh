# Finds or installs what the commands of the README need. Sourced by them.
# Says what it does; where it cannot install, it says the exact command and stops.

say() { printf '\033[2m── %s\033[0m\n' "$*" >&2; }

stop() {
  printf '%s\n' "$*" >&2
  exit 1
}

# install DEBIAN_PACKAGE BREW_PACKAGE
install() {
  local sudo=
  if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" != 0 ]; then
      sudo=sudo
      sudo -n true 2>/dev/null ||
        stop "croupier needs $1. Run: sudo apt-get update && sudo apt-get install -y $1"
    fi
    say "installing $1 with apt"
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null
  elif command -v brew >/dev/null 2>&1; then
    say "installing $2 with brew"
    brew install --quiet "$2"
  else
    stop "croupier needs $1, and there is neither apt nor brew to install it. Install it and run this again."
  fi
}

need_cargo() {
  [ -f "$HOME/.cargo/env" ] && . "$HOME/.cargo/env"
  command -v cargo >/dev/null 2>&1 ||
    stop "croupier needs Rust. Run: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
  if ! command -v cc >/dev/null 2>&1; then
    [ "$(uname)" != Darwin ] || stop "Rust needs a linker. Run: xcode-select --install"
    install build-essential gcc
  fi
}

need_rust() {
  need_cargo
  cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 ||
    stop "croupier's checks need rustfmt and clippy. Run: rustup component add rustfmt clippy"
}

need_python() {
  command -v python3 >/dev/null 2>&1 || install python3 python3
}

# The folder of PostgreSQL's server binaries, newest first; nothing if there is none.
postgres_bin() {
  for dir in "${CROUPIER_POSTGRES_BIN:-}" \
    $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -Vr) \
    $(ls -d /opt/homebrew/opt/postgresql@*/bin /usr/local/opt/postgresql@*/bin 2>/dev/null | sort -Vr) \
    "$(dirname "$(command -v initdb 2>/dev/null || echo /nowhere/initdb)")"; do
    if [ -n "$dir" ] && [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ]; then
      echo "$dir"
      return
    fi
  done
}

need_postgres() {
  [ -n "$(postgres_bin)" ] || install postgresql postgresql@17
  [ -n "$(postgres_bin)" ] ||
    stop "PostgreSQL's server programs are not found. Set CROUPIER_POSTGRES_BIN to the folder of initdb and postgres."
}

# Node and npm, if they are there or can be installed. What needs them is skipped otherwise.
have_node() {
  command -v npm >/dev/null 2>&1 || (install npm node) >/dev/null 2>&1 || true
  command -v npm >/dev/null 2>&1
}

# want_packages FOLDER: what its package-lock.json says, from npm.
want_packages() {
  have_node || return 1
  [ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ] ||
    npm ci --prefix "$1" --omit=dev --no-audit --no-fund --silent >/dev/null 2>&1 || return 1
  touch "$1/node_modules/.package-lock.json"
}

# GraphiQL is a convenience: without it the API is the same.
want_graphiql() {
  want_packages deploy/graphiql ||
    say "GraphiQL is left out: npm could not install it. Try: npm ci --prefix deploy/graphiql"
}
