#!/bin/sh
# The module built for another perl than the system's, and its tests (make test). Where that perl
# has assertions (debugperl of the package perl-debug), the module gets them, too.
#
# usage: sh xt/other-perl.sh [-k] PERL [TEST...]
#   PERL    a path, or a name found in PATH
#   TEST    t/NN-topic.t; without any, make test
#   -k      keep the folder
# What is under version control is built, as it lies there.
set -u
keep=
[ "${1-}" = -k ] && { keep=1; shift; }
[ $# -ge 1 ] || { sed -n '2,/^set -u/{/^set -u/d;s/^# \{0,1\}//;p;}' "$0" >&2; exit 2; }
perl=$(command -v "$1") || { echo "other-perl.sh: there is no $1" >&2; exit 1; }
shift
cd "$(dirname "$0")/.." || exit 1
folder=$(mktemp -d "${TMPDIR:-/tmp}/dprof-perl.XXXXXX") || exit 1
if [ -n "$keep" ]; then echo "in $folder"; else trap 'rm -rf "$folder"' 0; trap 'exit 1' 1 2 15; fi
git -c safe.directory='*' ls-files -z | xargs -0 cp --parents -t "$folder" || exit 1
cd "$folder" && chmod 755 . || exit 1           # a test tries it as nobody
flags='-g -O2'
"$perl" -e 'exit !grep { / DEBUGGING / } Internals::V()' && flags="$flags -DDEBUGGING"
"$perl" -MConfig -e 'printf "perl %vd, %s threads, flags %s\n", $^V,
    $Config{useithreads} ? "with" : "without", shift' -- "$flags"
{ DPROF_WERROR=1 "$perl" Makefile.PL OPTIMIZE="$flags" && make; } >build.log 2>&1 ||
    { grep -v '^[a-z0-9_-]*cc -c' build.log | tail -30; exit 1; }
if [ $# -gt 0 ]; then
    "$perl" -MExtUtils::Command::MM -e 'test_harness(0, "blib/lib", "blib/arch")' "$@"
else
    make test
fi
