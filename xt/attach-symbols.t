#!/usr/bin/perl
# dprofdump looks at perls that were linked and stripped in each way. They have symbols for
# debuggers (.symtab), those that XS modules need (.dynsym), or neither; then dprofdump says what
# to do.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use Config;
use DProfTest;
use Test::More;

my $dir = scratch();
my ($flags, $exports) = map { `$^X -MExtUtils::Embed -e $_ 2>&1` =~ s/\s+/ /gr } qw(ccopts ldopts);
my ($library) = grep { -e } map { "$_/libperl.a" } "$Config{archlibexp}/CORE",
    split ' ', $Config{libpth};
plan skip_all => 'there is no strip' if system 'command -v strip >/dev/null';
plan skip_all => 'there is no libperl.a' if !$library;
my $source = spew("$dir/perl.c", <<'END');
#include <EXTERN.h>
#include <perl.h>
int main(int argc, char **argv, char **env)
{
    PerlInterpreter *my_perl;
    PERL_SYS_INIT3(&argc, &argv, &env);
    my_perl = perl_alloc();
    perl_construct(my_perl);
    return perl_parse(my_perl, NULL, argc, argv, NULL) || perl_run(my_perl);
}
END

# Links a perl. Returns its path, or skips the test.
sub linked {
    my ($name, @how) = @_;
    my $said = `$Config{cc} -o $dir/$name $source $flags @how 2>&1`;
    skip "no perl can be linked so: " . (split /\n/, $said)[-1], 1 if $?;
    return "$dir/$name";
}

# Compares what dprofdump shows of a perl that sleeps, or its message.
sub dump_is {
    my ($expected, $name, @perl) = @_;
    my $pid = open my $from, '-|', @perl, '-e',
        'sub hang { $| = 1; print "ready\n"; sleep 100 } hang();' or die "@perl: $!";
    readline $from;
    my $run = run_tool('dprofdump', [$pid]);
    like($run->{err} . $run->{out}, $expected, $name);
    kill KILL => $pid;
    close $from;
    return;
}

my $HANGS = qr/\AProcess \d+ \(perl \Q$Config{version}\E\) (?:waits|runs) in main::hang at /;
my $NONE = qr/\Adprofdump: process \d+: it runs no perl, or one without symbols; link that perl /;
my @libraries = grep { !/perl/ } split ' ', $Config{perllibs};

for my $case (
    ['a program with libperl.so', [$exports], $HANGS],
    ['a program with libperl.a, which exports all', ['-Wl,-E', $library, @libraries], $HANGS],
    ['a program with libperl.a', [$library, @libraries], $NONE],
    ['a static program', ['-static', $library, @libraries], $NONE],
) {
    my ($name, $how, $stripped) = @$case;
  SKIP: {
        my $perl = linked($name =~ tr/a-z/_/cr, @$how);
        dump_is($HANGS, $name, $perl);
        system('strip', $perl) == 0 or die "strip: $?";
        dump_is($stripped, "$name, stripped", $perl);
    }
}
SKIP: {
    my $perl = linked('shared', $exports);
    my ($so) = map { m{=> (/\S*/libperl\S*)} } `ldd $perl`;
    skip 'there is no libperl.so', 1 if !$so;
    my $name = $so =~ s{.*/}{}r;
    system("strip -o $dir/$name $so") == 0 or die "strip: $?";
    dump_is($HANGS, 'libperl.so, stripped', 'env', "LD_LIBRARY_PATH=$dir", $perl);
}

done_testing;
