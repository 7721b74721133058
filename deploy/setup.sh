# Finds or installs what the two commands of the README need. Sourced by ./run and ./test.
# Says what it does; where it cannot install, it says the exact command and stops.

say() { printf '\033[2m── %s\033[0m\n' "$*" >&2; }

stop() {
  printf '%s\n' "$*" >&2
  exit 1
}

# Runs a command with the rights to install packages, or says it and stops.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    sudo "$@"
  else
    stop "croupier needs a package that only an administrator can install. Run: sudo $*"
  fi
}

# install DEBIAN_PACKAGE BREW_PACKAGE
install() {
  if command -v apt-get >/dev/null 2>&1; then
    say "installing $1 with apt"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null
  elif command -v brew >/dev/null 2>&1; then
    say "installing $2 with brew"
    brew install --quiet "$2"
  else
    stop "croupier needs $1, and there is neither apt nor brew to install it. Install it and run this again."
  fi
}

need_rust() {
  [ -f "$HOME/.cargo/env" ] && . "$HOME/.cargo/env"
  command -v cargo >/dev/null 2>&1 ||
    stop "croupier needs Rust. Run: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
  command -v cc >/dev/null 2>&1 || install build-essential gcc
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
