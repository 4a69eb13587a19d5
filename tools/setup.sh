#!/bin/sh
# Installs the requirements to build and test Devel::DProf: a C compiler, make,
# perl with its headers and core modules, zlib's headers. On Debian and Ubuntu
# it installs the missing ones; elsewhere it says what to install. If nothing is
# missing, it changes nothing, and needs neither root nor a network.
#
# usage: sh tools/setup.sh [--check]      --check: only report missing ones
set -u

say()  { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$@" >&2; exit 1; }

check_only=
case ${1-} in
    '')      ;;
    --check) check_only=1 ;;
    *)       printf 'usage: sh tools/setup.sh [--check]\n' >&2; exit 2 ;;
esac

work=$(mktemp -d) || fail "cannot make a temporary directory"
trap 'rm -rf "$work"' 0
trap 'exit 1' 1 2 15

# The checks look for the things themselves, not for packages, so that a compiler or a perl that was
# built by hand counts, too.

has_perl() { perl -e 1 2>/dev/null; }

# A perl from Debian's perl-base runs programs, but has no headers and few modules.
has_headers() {
    perl -MConfig -e 'exit !-e "$Config{archlibexp}/CORE/perl.h"' 2>/dev/null
}

has_modules() {
    perl -MExtUtils::MakeMaker -MExtUtils::ParseXS -MExtUtils::Manifest -MTest::More \
         -MTest::Harness -MJSON::PP -MPod::Usage -MFile::Temp -e 1 2>/dev/null
}

# Prints the compiler with which perl builds extensions.
compiler() {
    cc=$(perl -MConfig -e 'print $Config{cc}' 2>/dev/null)
    printf '%s' "${cc:-cc}"
}

# links PROGRAM-TEXT [FLAG ...]
links() {
    printf '%s\n' "$1" > "$work/probe.c"
    shift
    # The name may have several words ("ccache gcc").
    $(compiler) -o "$work/probe" "$work/probe.c" "$@" >/dev/null 2>&1
}

has_cc() {
    links '#include <stdio.h>
int main(void) { return printf("") != 0; }'
}

has_zlib() {
    links '#include <zlib.h>
int main(void) { return zlibVersion() == 0; }' -lz
}

# Succeeds if crypt.h exists, or if perl was built so that its headers do not include it.
has_crypt() {
    perl -MConfig -e 'exit !$Config{i_crypt}' 2>/dev/null || return 0
    links '#include <crypt.h>
int main(void) { return 0; }'
}

has_make() { command -v make >/dev/null 2>&1; }

# Sets missing (for people) and packages (Debian's names).
look() {
    missing= packages=
    want has_perl    'perl'                      'perl'
    want has_cc      'a C compiler'              'gcc libc6-dev'
    want has_make    'make'                      'make'
    want has_headers "perl's header files"       'perl'
    want has_crypt   'crypt.h'                   'libcrypt-dev'
    want has_modules "perl's core modules"       'perl'
    want has_zlib    "zlib's header files"       'zlib1g-dev'
}

want() {
    if "$1"; then return; fi
    missing="$missing${missing:+, }$2"
    for p in $3; do
        case " $packages " in
            *" $p "*) ;;
            *) packages="$packages${packages:+ }$p" ;;
        esac
    done
}

too_old() {
    has_perl && ! perl -e 'exit !($] >= 5.026)'
}

if too_old; then
    fail "this perl is $(perl -e 'printf "%vd", $^V'); Devel::DProf needs 5.26 or newer."
fi

look
# (Without a compiler, zlib cannot be tested, and counts as missing. That does no harm, because
# apt-get installs nothing twice.)
if [ -z "$missing" ]; then
    version=$(perl -e 'printf "%vd", $^V')
    say "nothing to install: compiler, make, perl $version with headers, zlib are here."
    exit 0
fi
say "missing: $missing"
if [ -n "$check_only" ]; then exit 1; fi

if ! command -v apt-get >/dev/null 2>&1; then
    # On other systems, print the command and change nothing.
    if   command -v dnf    >/dev/null 2>&1; then
        how='dnf install gcc make perl-core perl-devel zlib-devel'
    elif command -v apk    >/dev/null 2>&1; then
        how='apk add build-base linux-headers perl perl-dev perl-utils zlib-dev'
    elif command -v pacman >/dev/null 2>&1; then
        how='pacman -S --needed base-devel perl zlib'
    elif command -v zypper >/dev/null 2>&1; then
        how='zypper install gcc make perl zlib-devel'
    elif command -v brew   >/dev/null 2>&1; then
        how='xcode-select --install; brew install perl'
    elif command -v pkg    >/dev/null 2>&1; then
        how='pkg install perl5'
    else
        fail "this script installs packages on Debian and Ubuntu only; there is no apt-get here." \
             "Install a C compiler, make, perl 5.26 or newer with its header files" \
             "and core modules, and zlib's header files; then go on with: perl Makefile.PL"
    fi
    fail "this script installs packages on Debian and Ubuntu only. Here, as root, try:" \
         "    $how" \
         "and then go on with: perl Makefile.PL"
fi

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
else
    fail "to install packages I need root, and there is no sudo here. As root, run:" \
         "    apt-get update && apt-get install $packages"
fi

# Runs apt-get. It waits for another apt-get (a fresh machine often updates itself) instead of
# failing.
apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

if ! $as_root true; then
    fail "sudo did not let me install packages (its own words are above). As root, run:" \
         "    apt-get update && apt-get install $packages"
fi

wanted=$packages
say "installing with apt-get: $wanted"
updated=yes
# A list that cannot be fetched may not be needed, so continue.
apt -o APT::Update::Error-Mode=any update || updated=no
# shellcheck disable=SC2086 # a list of names
if ! apt install --no-install-recommends $wanted; then
    if [ "$updated" = no ]; then
        fail "apt-get could not fetch its package lists, nor install: $wanted" \
             "Is there a network, and are the addresses in /etc/apt right?" \
             "apt-get's own words are above."
    fi
    fail "apt-get could not install: $wanted" \
         "Its own words are above. Without a network it cannot fetch packages."
fi

look
if [ -n "$missing" ]; then
    fail "installed: $wanted" \
         "but there is still missing: $missing" \
         "perl is $(command -v perl || echo nowhere), its compiler is $(compiler)." \
         "If that perl is not the system's own, its headers and modules must come from where it" \
         "came from."
fi
say "installed: $wanted"
