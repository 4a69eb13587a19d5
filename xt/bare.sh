#!/bin/sh
# README's two commands on a bare system: proves that each is complete where there is nothing but a
# shell and root. The committed files are copied into a fresh system made by debootstrap, one for
# each command. Then the set-up runs again, without network and without root, and must find nothing
# to do.
#
# usage: sh xt/bare.sh [-s SUITE] [-m MIRROR] [-b BASE] [-n] [-k] [FOLDER]
#   -s SUITE    bookworm (default), trixie, sid, noble ...
#   -m MIRROR   where packages come from; the default goes by the suite
#   -b BASE     a folder made by debootstrap before: is copied instead of making one; made and kept
#               if it is not there
#   -n          do not check the mirror's signatures (Ubuntu's keys are not everywhere)
#   -k          keep the systems that the commands ran in
#   FOLDER      where to work (new or empty); default: a temporary one
# Needs root, debootstrap, git, util-linux (unshare) and a network.
set -u

usage() { sed -n '2,/^set -u/{/^set -u/d;s/^# \{0,1\}//;p;}' "$0"; exit "$1"; }
fail()  { printf 'bare.sh: %s\n' "$*" >&2; exit 1; }
say()   { printf '\nbare.sh: %s\n' "$*"; }

suite=bookworm mirror= base= keep= folder= unchecked=
while getopts s:m:b:nkh option; do
    case $option in
        s) suite=$OPTARG ;;
        m) mirror=$OPTARG ;;
        b) base=$OPTARG ;;
        n) unchecked=--no-check-gpg ;;
        k) keep=1 ;;
        h) usage 0 ;;
        *) usage 2 >&2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -le 1 ] || usage 2 >&2
folder=${1-}

[ "$(id -u)" = 0 ] || fail "needs root: debootstrap and chroot do."
for tool in debootstrap git unshare chroot; do
    command -v "$tool" >/dev/null ||
        fail "$tool is not installed (Debian: debootstrap, git, util-linux)."
done
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
cd "$top" || exit 1
git -c safe.directory='*' rev-parse --verify -q HEAD >/dev/null ||
    fail "$top is not a git repository."
[ -z "$(git -c safe.directory='*' status --porcelain)" ] ||
    say "note: what is not committed is not tried."

ubuntu=
case $suite in
    focal|jammy|noble|oracular|plucky|questing)
        ubuntu=1
        : "${mirror:=http://archive.ubuntu.com/ubuntu}" ;;
    *)
        : "${mirror:=http://deb.debian.org/debian}" ;;
esac

# Prints a command from README: the first two lines indented by four blanks.
command_of() { sed -n 's/^    \([^ ]\)/\1/p' README | sed -n "$1p"; }
demo=$(command_of 1)
tests=$(command_of 2)
case $demo in
    *'make demo') ;;
    *) fail "README's first command does not end in make demo: $demo" ;;
esac
case $tests in
    *'make test') ;;
    *) fail "README's second command does not end in make test: $tests" ;;
esac

made=
if [ -z "$folder" ]; then
    folder=$(mktemp -d "${TMPDIR:-/tmp}/bare.XXXXXX") || exit 1
    made=1
else
    mkdir -p "$folder" || exit 1
    [ -z "$(ls -A "$folder")" ] || fail "$folder is not empty."
    folder=$(cd "$folder" && pwd)
fi
# Mounts are in a name space of their own and are gone before anything is removed.
tidy() {
    [ -n "$keep" ] && { say "kept: $folder"; return; }
    for part in base demo test log status; do
        rm -rf --one-file-system "${folder:?}/$part"
    done
    [ -z "$made" ] || rmdir "$folder"
}
trap tidy 0
trap 'exit 1' 1 2 15

bootstrap() {
    # A proxy that apt is configured with is used here, too.
    proxy=$(apt-config dump 2>/dev/null | sed -n 's/^Acquire::http::Proxy "\(.*\)";$/\1/p')
    [ -z "$proxy" ] || export http_proxy="$proxy"
    components=main
    [ -z "$ubuntu" ] || components=main,universe
    # A debootstrap older than the suite can still make it: all Ubuntus are made alike, and so are
    # all Debians.
    script=
    [ -e "/usr/share/debootstrap/scripts/$suite" ] ||
        script=/usr/share/debootstrap/scripts/${ubuntu:+gutsy}
    case $script in */) script=${script}sid ;; esac
    # shellcheck disable=SC2086 # an option or nothing, a name or nothing
    debootstrap $unchecked --variant=minbase --components="$components" "$suite" "$1" "$mirror" \
        $script > "$folder/log" 2>&1 || {
        tail -20 "$folder/log" >&2
        fail "debootstrap of $suite from $mirror failed. (Without the keys of $suite: -n.)"
    }
}

if [ -n "$base" ] && [ -e "$base/bin/sh" ]; then
    say "taking the system in $base"
else
    base=${base:-$folder/base}
    say "making a bare $suite from $mirror"
    bootstrap "$base"
fi

# Makes a system for one command: the bare one, this machine's access to the network, and the
# committed files in /src.
fresh() {
    cp -a "$base" "$1" || exit 1
    for file in /etc/resolv.conf /etc/hosts; do
        [ ! -e "$file" ] || { rm -f "$1$file"; cat "$file" > "$1$file"; }
    done
    for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
        [ ! -f "$file" ] || cp "$file" "$1/etc/apt/${file#/etc/apt/}"
    done
    mkdir "$1/src" || exit 1
    git -c safe.directory='*' archive HEAD | tar -xf - -C "$1/src" || exit 1
}

# inside ROOT UNSHARE-OPTIONS COMMAND: in the system, with /proc and /dev, in a clean environment
# and an empty stdin.
inside() {
    # shellcheck disable=SC2016,SC2086 # expanded inside; a list of options
    unshare --mount --propagation private $2 sh -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" || exit 1
        exec chroot "$1" /usr/bin/env -i \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            HOME=/root TERM=dumb sh -c "cd /src && $2"' - "$1" "$3" < /dev/null 2>&1
}

failed=0
report=
# try ROOT UNSHARE-OPTIONS TITLE COMMAND PATTERN: status 0, and a line that matches PATTERN
try() {
    say "$3"
    { inside "$1" "$2" "$4"; echo $? > "$folder/status"; } | tee "$folder/log"
    status=$(cat "$folder/status")
    if [ "$status" != 0 ]; then
        verdict="NOT OK   $3 (status $status)"
    elif ! grep -q -- "$5" "$folder/log"; then
        verdict="NOT OK   $3 (status 0, but it does not print: $5)"
    else
        verdict="ok       $3"
    fi
    case $verdict in ok*) ;; *) failed=1 ;; esac
    report="$report
$verdict"
}

fresh "$folder/demo"
for have in gcc make; do
    [ ! -e "$folder/demo/usr/bin/$have" ] || fail "the system is not bare: it has $have."
done
try "$folder/demo" '' "README's first command: $demo" "$demo" '%Time'
fresh "$folder/test"
try "$folder/test" '' "README's second command: $tests" "$tests" '^Result: PASS'
# The user is nobody, in a name space without network; the sources belong to root, so that nothing
# can be changed.
try "$folder/test" '--net' 'the set-up again, without root and without network' \
    "chown -R root /src &&
        exec chroot --userspec=65534:65534 / sh -c 'cd /src && exec sh tools/setup.sh'" \
    'nothing to install'

debian=$(cat "$folder/test/etc/debian_version" 2>/dev/null)
perl=$(chroot "$folder/test" perl -e 'printf "%vd", $^V' 2>/dev/null)
say "$suite, $debian, perl $perl$report"
exit "$failed"
