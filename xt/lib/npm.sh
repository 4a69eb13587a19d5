# Packages of npm for tests; a shell script reads this: . xt/lib/npm.sh

# This version takes the node of Debian 12, 18; 1.65 needs 20.
playwright=playwright-core@1.60.0

# Prints the folder where packages of this name are kept: npm_cache NAME
npm_cache() { echo "${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/dprof/$1"; }

DPROF_PLAYWRIGHT=${DPROF_PLAYWRIGHT:-$(npm_cache "playwright-${playwright#*@}")}
DPROF_CHROMIUM=${DPROF_CHROMIUM:-/usr/bin/chromium}
export DPROF_PLAYWRIGHT DPROF_CHROMIUM

# Does a folder have a package? npm_has FOLDER PACKAGE@VERSION
npm_has() { [ -f "$1/node_modules/${2%@*}/package.json" ]; }

# Installs packages, unless the folder has the first one: npm_install FOLDER PACKAGE@VERSION ...
# They are installed beside their place and moved there whole: two runs at once, or a run that was
# stopped, leave nothing broken. Their scripts would fetch browsers, which are there already.
npm_install() {
    npm_has "$1" "$2" && return
    npm_folder=$1 npm_new=$1.$$
    shift
    trap 'rm -rf "$npm_new"' EXIT
    trap 'exit 1' HUP INT TERM
    mkdir -p "$npm_new" "$npm_folder" || return 1
    npm install --prefix "$npm_new" --no-save --no-audit --no-fund --ignore-scripts \
        --loglevel=error "$@" </dev/null >&2 || return 1
    npm_has "$npm_folder" "$1" || mv "$npm_new/node_modules" "$npm_folder/" || return 1
    rm -rf "$npm_new"
}
