# shellcheck shell=bash
# Finds or installs what the commands of the README need. They source it in the repository's folder.
#
# First everything is looked for (look_for_…), then the steps are printed (announce), then all of it
# is installed at once (set_up). Problems are reported before anything is built; if something cannot
# be installed, the script prints the exact command and exits.

# `yes` answers every question.
yes=${yes:-no}

absolute() {
  case $1 in
    /*) echo "$1" ;;
    *) echo "$PWD/$1" ;;
  esac
}

# Absolute, so that the built programs are found from any folder.
CARGO_TARGET_DIR=$(absolute "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR

say() {
  if [ -t 2 ]; then
    printf '\033[2m── %s\033[0m\n' "$*" >&2
  else
    printf '── %s\n' "$*" >&2
  fi
}

stop() {
  printf '%s\n' "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# agree WHY QUESTION COMMAND: returns if the user agrees, and stops with the command otherwise.
agree() {
  local answer
  [ "$yes" != yes ] || return 0
  { [ -t 0 ] && [ -t 2 ]; } || stop "$1. Run this again with --yes, or run: $3"
  printf '%s. %s [Y/n] ' "$1" "$2" >&2
  read -r answer || answer=no
  case $answer in
    '' | [yY] | [yY][eE][sS]) ;;
    *) stop "Nothing was installed. To do it yourself, run: $3" ;;
  esac
}

# The output of a program is shown only if it fails.
quietly() {
  local log
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then
    rm -f "$log"
  else
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
}

# --- Packages -------------------------------------------------------------------------------------

# Missing packages by their names for apt and for brew: required ones, and optional (nice) ones.
needed_apt='' needed_brew='' nice_apt='' nice_brew=''

need() {
  case "$needed_apt " in *" $1 "*) return ;; esac
  needed_apt+=" $1"
  needed_brew+=${2:+" $2"}
}

need_optional() {
  nice_apt+=" $1"
  nice_brew+=${2:+" $2"}
}

manager() {
  if has apt-get; then
    echo apt
  elif has brew; then
    echo brew
  fi
}

# The names for the available package manager: packages needed, packages needed nice
packages() {
  local kind list=''
  for kind; do
    case $(manager)$kind in
      brewneeded) list+=$needed_brew ;;
      brewnice) list+=$nice_brew ;;
      *needed) list+=$needed_apt ;;
      *nice) list+=$nice_apt ;;
    esac
  done
  echo "${list# }"
}

# Whether packages can be installed. Stops if a required one cannot.
may_install() {
  local needed command
  needed=$(packages needed)
  case $(manager) in
    brew) return 0 ;;
    apt) ;;
    *)
      [ -z "$needed" ] || stop "croupier needs $needed, and there is neither apt nor brew to" \
        "install it. Install it and run this again."
      return 1
      ;;
  esac
  if [ "$(id -u)" = 0 ] || { has sudo && sudo -n true 2>/dev/null; }; then
    return 0
  fi
  [ -n "$needed" ] || return 1
  command="sudo apt-get update && sudo apt-get install -y $needed"
  has sudo || stop "croupier needs $needed. Run as root: ${command//sudo /}"
  # sudo asks for the password at the terminal.
  [ -t 0 ] || stop "croupier needs $needed. Run: $command"
  agree "croupier needs $needed" "Install it with sudo?" "$command"
}

# The package lists of apt are fetched once. If that fails, the packages may still be available.
apt_is_fresh=no
apt_install() {
  local sudo=''
  [ "$(id -u)" = 0 ] || sudo=sudo
  [ "$apt_is_fresh" = yes ] || $sudo apt-get update || true
  apt_is_fresh=yes
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" </dev/null
}

brew_install() {
  brew install --quiet "$@"
}

# All at once; if that fails, the required ones, and then each optional one separately.
install_packages() {
  local how=apt_install all needed one
  [ "$(manager)" = apt ] || how=brew_install
  all=$(packages needed nice)
  needed=$(packages needed)
  say "installing $all"
  # shellcheck disable=SC2086 # a list of words
  quietly $how $all && return
  if [ -n "$needed" ]; then
    # shellcheck disable=SC2086
    { [ "$needed" != "$all" ] && quietly $how $needed; } || stop "$needed could not be installed"
  fi
  for one in $(packages nice); do
    quietly $how "$one" || say "$one could not be installed; skipping what needs it"
  done
}

# --- Rust -----------------------------------------------------------------------------------------

rust_wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
rustup_command="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
# The required step: nothing, components, update or install.
rust_step=nothing

find_cargo() {
  local environment="${CARGO_HOME:-${HOME:-}/.cargo}/env"
  # shellcheck disable=SC1090
  [ ! -f "$environment" ] || . "$environment"
}

# rust_is_good [TOOLCHAIN]: Rust is installed and new enough.
rust_is_good() {
  local version
  version=$(rust_version "$@") || return 1
  [ "$(printf '%s\n' "$rust_wanted" "$version" | sort -V | head -n 1)" = "$rust_wanted" ]
}

rust_version() {
  local words
  # Checking the version must not install a toolchain.
  export RUSTUP_AUTO_INSTALL=0
  cargo ${1:+"+$1"} --version >/dev/null 2>&1 || return 1
  words=$(rustc ${1:+"+$1"} --version 2>/dev/null) || return 1
  words=${words#rustc }
  echo "${words%%[- ]*}"
}

has_components() {
  cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1
}

# look_for_rust [checks]: cargo and a linker, and for checks rustfmt and clippy.
# shellcheck disable=SC2120
look_for_rust() {
  find_cargo
  if ! rust_is_good && has rustup && rust_is_good stable; then
    say "using the rustup toolchain stable: the default one is older than Rust $rust_wanted"
    export RUSTUP_TOOLCHAIN=stable
  fi
  if rust_is_good; then
    if [ "${1:-}" = checks ] && ! has_components; then
      has rustup || stop "croupier's checks need rustfmt and clippy. Install them beside your Rust," \
        "or run: $rustup_command"
      rust_step=components
    fi
  elif has rustup; then
    rust_step=update
  else
    rust_step=install
    look_for_curl
  fi
  if ! has cc; then
    [ "$(uname)" != Darwin ] || stop "Rust needs a linker. Run: xcode-select --install"
    need "gcc libc6-dev" gcc
  fi
  # Crates are downloaded over HTTPS.
  [ "$(manager)" != apt ] || [ -f /etc/ssl/certs/ca-certificates.crt ] || need ca-certificates ''
}

agree_to_rust() {
  case $rust_step in
    components)
      agree "croupier's checks need rustfmt and clippy" "Install them with rustup?" \
        "rustup component add rustfmt clippy"
      ;;
    update)
      agree "croupier needs Rust $rust_wanted or newer, which is not installed" \
        "Update it with rustup?" "rustup update stable"
      ;;
    install)
      agree "croupier needs Rust $rust_wanted or newer, which is not installed" \
        "Install it with rustup, for this user only?" "$rustup_command"
      ;;
  esac
}

install_rust() {
  case $rust_step in
    nothing) return ;;
    components)
      say "installing rustfmt and clippy"
      quietly rustup component add rustfmt clippy || stop "rustup could not install them"
      ;;
    update)
      say "updating Rust"
      quietly rustup toolchain install stable --profile minimal -c rustfmt -c clippy ||
        stop "rustup could not update Rust"
      rust_is_good || export RUSTUP_TOOLCHAIN=stable
      ;;
    install)
      say "installing Rust"
      quietly download_rust || stop "rustup could not install Rust"
      find_cargo
      ;;
  esac
  rust_is_good || stop "croupier needs Rust $rust_wanted or newer, and it is still not found." \
    "Run: rustup default stable"
}

download_rust() {
  local script
  script=$(mktemp)
  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs -o "$script" &&
    sh "$script" -y --default-toolchain stable --profile minimal -c rustfmt -c clippy
  local code=$?
  rm -f "$script"
  return $code
}

# --- PostgreSQL -----------------------------------------------------------------------------------

# The folder of the newest PostgreSQL server programs; empty if there is none.
postgres_bin() {
  local dir
  # shellcheck disable=SC2012 # names of versions
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

postgres_is_wanted=no
look_for_postgres() {
  local named=${CROUPIER_POSTGRES_BIN:-}
  [ -z "$named" ] || [ "$(postgres_bin)" = "$named" ] ||
    stop "CROUPIER_POSTGRES_BIN is $named, but there is no initdb and postgres in it"
  [ -n "$(postgres_bin)" ] || need postgresql postgresql@17
  postgres_is_wanted=yes
}

# After the installation. Tests also call psql and pgbench, which are in the same folder.
check_postgres() {
  [ -n "$(postgres_bin)" ] ||
    stop "PostgreSQL's server programs are not found. Set CROUPIER_POSTGRES_BIN to the folder of initdb and postgres."
  PATH=$PATH:$(postgres_bin)
}

# The user that the node runs PostgreSQL as, if we are root: the same choice as in
# services/cluster/src/owner.rs.
postgres_user() {
  local user
  for user in postgres nobody; do
    if id -u "$user" >/dev/null 2>&1; then
      echo "$user"
      return
    fi
  done
}

# Whether PostgreSQL's user can reach this folder, which may not exist yet. The same check as
# `check_reach` in services/cluster/src/owner.rs, but before the node is built and started.
is_reachable() {
  local folder=$1 user
  if [ "$(id -u)" != 0 ]; then
    while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
    [ -d "$folder" ] && [ -w "$folder" ] && [ -x "$folder" ]
    return
  fi
  user=$(postgres_user)
  [ -n "$user" ] || stop "PostgreSQL refuses to run as root, and there is no user postgres or" \
    "nobody to run it as. Run: useradd --system postgres"
  (
    # A folder created for this check is removed again.
    made=''
    while [ ! -e "$folder" ]; do
      made=$folder
      folder=$(dirname "$folder")
    done
    [ -z "$made" ] || mkdir "$made" 2>/dev/null || exit 1
    enter "$user" "${made:-$folder}"
    code=$?
    [ -z "$made" ] || rmdir "$made"
    exit $code
  )
}

# enter USER FOLDER
enter() {
  # shellcheck disable=SC2016 # for the other shell
  local cd='cd -- "$1"'
  if has setpriv; then
    setpriv --reuid="$(id -u "$1")" --regid="$(id -g "$1")" --clear-groups \
      /bin/sh -c "$cd" sh "$2" 2>/dev/null
  elif has sudo; then
    sudo -n -u "$1" /bin/sh -c "$cd" sh "$2" 2>/dev/null
  fi
}

# check_data FOLDER: checks the data folder chosen by the user.
check_data() {
  is_reachable "$(absolute "$1")" && return
  [ "$(id -u)" = 0 ] || stop "$1 cannot be written to; choose another data folder"
  stop "user $(postgres_user) cannot reach $1; choose a data folder below /var/lib or /tmp"
}

# Sets `data` to the data folder if the user has not chosen one: empty for the node's default,
# croupier-data in this folder.
choose_data() {
  local usual=$PWD/croupier-data why
  data=''
  is_reachable "$usual" && return
  if [ "$(id -u)" = 0 ]; then
    data=/var/lib/croupier
    why="user $(postgres_user) cannot reach $usual"
    [ -d "$data" ] || { mkdir -p "$data" && chmod 755 "$data"; }
  else
    data=${XDG_DATA_HOME:-$HOME/.local/share}/croupier
    why="$usual cannot be written to"
  fi
  check_data "$data"
  say "the data are in $data, since $why; for other commands: export CROUPIER_DATA=$data"
}

# --- Python and Node ------------------------------------------------------------------------------

# Python with venv, for schemathesis. On Debian it is a separate package.
look_for_python() {
  has python3 || need python3 python
  python3 -c 'import ensurepip, venv' 2>/dev/null || [ "$(manager)" != apt ] ||
    need_optional python3-venv ''
}

look_for_curl() {
  has curl || need curl curl
}

# look_for_packages FOLDER: npm, for the packages in the folder's package-lock.json.
look_for_packages() {
  packages_are_there "$1" || has npm || need_optional npm node
}

packages_are_there() {
  [ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ]
}

# want_packages FOLDER: installs the packages in its package-lock.json with npm.
want_packages() {
  if ! packages_are_there "$1"; then
    has npm || return 1
    say "installing the npm packages of $1"
    npm ci --prefix "$1" --omit=dev --no-audit --no-fund --silent >/dev/null 2>&1 || return 1
    touch "$1/node_modules/.package-lock.json"
  fi
}

# GraphiQL is optional: the API does not depend on it.
want_graphiql() {
  want_packages deploy/graphiql ||
    say "GraphiQL is skipped: npm could not install it. Try: npm ci --prefix deploy/graphiql"
}

# --- All together ---------------------------------------------------------------------------------

# announce WHAT: prints all steps in one sentence.
announce() {
  local all steps=''
  all=$(packages needed nice)
  [ -z "$all" ] || steps+="install $all; "
  case $rust_step in
    components) steps+="install rustfmt and clippy; " ;;
    update) steps+="update Rust; " ;;
    install) steps+="install Rust; " ;;
  esac
  say "going to $steps$1"
}

set_up() {
  agree_to_rust
  if [ -n "$(packages needed nice)" ]; then
    if may_install; then
      install_packages
    else
      say "skipped, since installing packages is not allowed here: $(packages nice)"
    fi
  fi
  install_rust
  [ "$postgres_is_wanted" = no ] || check_postgres
}

# With CROUPIER_SETUP_ONLY=1 the commands exit here, before building: for images and for tests.
end_of_set_up() {
  check_space
  [ -z "${CROUPIER_SETUP_ONLY:-}" ] || {
    say "set-up is complete; not building, since CROUPIER_SETUP_ONLY is set"
    exit 0
  }
}

# A build that fills the disk fails with a misleading message.
check_space() {
  local place=$CARGO_TARGET_DIR free
  while [ ! -d "$place" ]; do place=$(dirname "$place"); done
  free=$(df -Pk "$place" | awk 'NR == 2 { print int($4 / 1024) }')
  [ "${free:-3072}" -ge 3072 ] || say "only $free MB are free in $place: a build needs up to 3 GB"
}
