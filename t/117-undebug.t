# What perl's switch -d leaves behind is put back: the program, perl's own variables and C code see
# what they see without -d, in each mode.

use strict;
use warnings;
use Config;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

my @MODES = ('', 'tree', 'callsites=1', 'sample=1000', 'start=no');
SKIP: {
    my @with_lines = ('tree,lines', 'tree,lines=count', 'tree,sample=1000');
    skip "modes @with_lines: " . no_lines(), 1 if defined no_lines();
    push @MODES, @with_lines;
}
my $BLIB = root() . '/blib';

# Prints each variable on a line of its own, at each time that matters. Nothing may be mentioned
# that the plain run does not have: to mention $DB::single makes it.
my $SCRIPT = spew(scratch() . '/see.pl', <<'END');
sub list { return join ' ', map { defined ? $_ : 'undef' } @_ }
sub stash { my $of = shift; no strict 'refs'; return list(sort keys %$of) }
sub slots {
    my ($glob) = @_;
    return list(map { *$glob{$_} ? $_ : () } qw(SCALAR ARRAY HASH CODE));
}
my %kept;       # what the profiler is documented to leave
BEGIN { $kept{$_}++ for qw(Devel/DProf.pm XSLoader.pm strict.pm) }
sub see {
    my ($when) = @_;
    my %now = (
        'DB::' => stash('DB::'), '^P' => $^P, ENV => list(sort keys %ENV),
        ARGV => list(@ARGV), INC => list(grep { !$kept{$_} } sort keys %INC),
        '@INC' => scalar @INC, SIG => list(map { "$_=" . ($SIG{$_} // '') } sort keys %SIG),
        files => list(map { "$_: " . slots($main::{$_}) } grep { /^_</ && !/DProf|XSLoader|strict/ }
            sort keys %main::),
        '$0' => $0, '$^W' => $^W, '$^H' => $^H, '$^S' => $^S // 'undef', '$!' => $! + 0,
        '$^V' => "$^V", '$,' => $, // 'undef',
        frames => join(' ', map { (caller $_)[3] // () } 0 .. 3),
    );
    $now{"^H{$_}"} = $^H{$_} for keys %^H;
    $now{"ENV $_"} = $ENV{$_} for grep { $_ ne 'PERL5OPT' } keys %ENV;
    print "$when $_: $now{$_}\n" for sort keys %now;
}
BEGIN { see('begin') }
see('run');
eval q{see('eval'); sub late { see('late') } late()};
(sub { see('closure') })->();
if (my $pid = fork) { waitpid $pid, 0 } else { see('child'); exit }
if ($ENV{WITH_THREAD}) { require threads; threads->create(sub { see('thread') })->join }
# How code was compiled.
require B;
my %ops;
sub walk {
    my $op = shift;
    $ops{$op->name}++;
    $ops{debugged}++ if $op->name eq 'entersub' && $op->private & 16;
    return if !($op->flags & B::OPf_KIDS());
    for (my $kid = $op->first; $$kid; $kid = $kid->sibling) { walk($kid) }
}
walk($_) for B::main_root(), map { B::svref_2object($_)->ROOT } \&see, \&late;
print "op $_: $ops{$_}\n" for sort keys %ops;
# A sub of the package DB sees arguments, and that makes the variable.
{ package DB; sub seen { my @c = caller(1); return "@DB::args" } }
sub called { DB::seen() }
print 'args: ', called(1, 2, 3), "\n";
require Devel::DProf::Core;
my $c = Devel::DProf::_debugging();
print "C $_: $c->{$_}\n" for sort keys %$c;
END
my $SEE_C = spew(scratch() . '/c.pl', <<'END');
require Devel::DProf::Core;
my $c = Devel::DProf::_debugging();
print "C $_: $c->{$_}\n" for sort keys %$c;
print "C DB:: ", join(" ", sort keys %DB::);
END
my @INC_OURS = map { "-I$_" } tree(), "$BLIB/lib", "$BLIB/arch";
my %ENV_OURS = (WITH_THREAD => $Config{useithreads} ? 1 : undef);

sub run {
    my ($mode, $how, @args) = @_;
    my $load = defined $mode ? '-d:DProf' . ($mode && "=$mode") : undef;
    my @switches = defined $load && $how eq 'switch' ? $load : ();
    # A variable of the environment that a run has is one that the other has.
    my %env = (%ENV_OURS, PERL5OPT => join ' ', '-I/nowhere', $how eq 'PERL5OPT' ? $load : ());
    return run_program([$^X, @INC_OURS, @switches, @args], env => \%env);
}

sub same_in_all_modes {
    my ($name, @args) = @_;
    my $plain = run(undef, '', @args);
    is("$plain->{raw} $plain->{err}", '0 ', "$name runs without the profiler");
    for my $how (qw(switch PERL5OPT)) {
        for my $mode (@MODES) {
            my $run = run($mode, $how, @args);
            my @want = split /\n/, $plain->{out};
            my %want = map { $_ => 1 } @want;
            my @have = split /\n/, $run->{out};
            my @new = grep { !$want{$_} } @have;
            is(join("\n", "$run->{raw} " . @have, @new), '0 ' . @want,
                "$name ends as plain: $how, mode '$mode'");
        }
    }
}

same_in_all_modes('program', $SCRIPT, 'a', 'b');
same_in_all_modes('C', $SEE_C);
same_in_all_modes('-n', '-ne', 'print defined $DB::single ? 1 : 0, $. while 0', $SCRIPT);

subtest 'A program that asks for a debugger finds none' => sub {
    my $script = spew(scratch() . '/ask.pl', 'no warnings "once"; print join ",", '
        . 'map { defined ? 1 : 0 } $DB::single, $DB::trace, $DB::signal, $DB::sub, '
        . '@DB::dbline + 0, scalar(%DB::sub) || undef');
    my $plain = run(undef, '', $script)->{out};
    is(run($_, 'switch', $script)->{out}, $plain, "the program finds no debugger in mode '$_'")
        for @MODES;
};

subtest "A program can begin a debugger by \$^P" => sub {
    my $script = spew(scratch() . '/own.pl', <<'END');
BEGIN { $^P = 0x33f }
{ package DB; our ($n, $s); sub DB { $n++ } sub sub { $s++; no strict 'refs'; &$DB::sub } }
BEGIN { $DB::single = 1 }
sub f { return 5 }
print f(), f(), "\n";
$^P = 0;
print $DB::n > 1 ? 'statements' : 'none', " $DB::s $DB::single\n";
END
    my $plain = run(undef, '', $script);
    is("$plain->{raw}", 0, "the program's own debugger runs without the profiler");
    like($plain->{out}, qr/^55\nstatements [1-9]/, "the program's own debugger counts statements");
    for my $mode (@MODES) {
        my $run = run($mode, 'switch', $script);
        is("$run->{raw} $run->{out}", "0 $plain->{out}",
            "the program's own debugger runs as plain in mode '$mode'");
    }
};

subtest 'A program that the program starts has its debugger' => sub {
    my $ask = 'print defined &DB::DB ? 1 : 0, defined $DB::single ? 1 : 0, $^P ? 1 : 0, qq{\n}';
    my $script = spew(scratch() . '/starts.pl', "\$ENV{PERLDB_OPTS} = 'NonStop=1'; "
        . "system \$^X, '-d', '-e', '$ask'; print \$? >> 8, qq{\\n}");
    my $plain = run(undef, '', $script);
    plan(skip_all => "no perl5db.pl here: $plain->{err}") if $plain->{out} !~ /^111/;
    for my $mode (@MODES) {
        my $run = run($mode, 'switch', $script);
        is($run->{out}, $plain->{out}, "the started program has its debugger in mode '$mode'");
    }
};

subtest 'C code that looks for callers finds them' => sub {
    # DBI takes PL_DBsub for a debugger's, and leaves out frames.
    my $script = spew(scratch() . '/dbi.pl', 'use DBI; use DBI::Profile;' . <<'END');

my $dbh = DBI->connect('dbi:ExampleP:', '', '', { RaiseError => 1 });
$dbh->{Profile} = '!Caller2:!MethodName';
sub inner { my $sth = shift->prepare('select mode, name from ?'); $sth->execute('.') }
sub outer { inner(@_) }
outer($dbh);
inner($dbh);
my $data = $dbh->{Profile}{Data};
print "$_: ", join(' ', sort keys %{ $data->{$_} }), "\n" for sort keys %$data;
$dbh->{Profile} = undef;
END
    my $plain = run(undef, '', $script);
    plan(skip_all => 'DBI is not installed') if $plain->{err} =~ /Can't locate DBI/;
    like($plain->{out}, qr/ via .*: .*execute/, 'DBI names the caller without the profiler');
    for my $mode (@MODES) {
        is(run($mode, 'switch', $script)->{out}, $plain->{out},
            "DBI names the caller in mode '$mode'");
    }
};

subtest '-dt leaves no trace in the environment' => sub {
    plan(skip_all => 'this perl has no threads') if !$Config{useithreads};
    my $run = run_program([$^X, @INC_OURS, '-dt:DProf', '-e', 'print grep /^PERL5DB/, keys %ENV']);
    is("$run->{raw}$run->{err}$run->{out}", '0', '-dt leaves no variable PERL5DB_THREADED');
    $run = run_program([$^X, @INC_OURS, '-d:DProf', '-e', 'print $ENV{PERL5DB_THREADED}'],
        env => { PERL5DB_THREADED => 7 });
    is("$run->{raw}$run->{err}$run->{out}", '07', "the user's PERL5DB_THREADED stays");
};

subtest 'A perl that records nothing has no debugger' => sub {
    for my $switches ([qw(-d:DProf -c)], ['-d:DProf=out=/nowhere/at/all/tmon.out']) {
        my $run = run_program([$^X, @INC_OURS, @$switches, '-e',
            'BEGIN { print join(" ", "DB:", sort keys %DB::), "|$^P" }']);
        is($run->{out}, $run->{out} eq '' ? '' : 'DB:|0', "perl @$switches has no debugger")
            or diag $run->{err};
    }
};

done_testing;
