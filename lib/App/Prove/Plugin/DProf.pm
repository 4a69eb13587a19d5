package App::Prove::Plugin::DProf;

# prove -PDProf: runs all tests under the profiler, prints one summary, and checks baselines.

use strict;
use warnings;

use File::Path ();
use File::Spec;
use File::Temp ();
use Devel::DProf::Compare::Suite;
use Devel::DProf::Text qw(bytes);
use Devel::DProf::Tool::Record;

our $VERSION = $Devel::DProf::Core::VERSION;

sub import { }      # prove passes the options here, too

# Installs the plugin: prove calls this before it runs any test. Returns 1. Dies if an option is
# wrong or the profiler cannot run.
sub load {
    my ($class, $prove) = @_;
    my $app = $prove->{app_prove};
    my $before = $app->{+__PACKAGE__};
    # Both .proverc and the command line may load the plugin.
    my $given = Devel::DProf::Compare::Suite->options(@{ $prove->{args} || [] });
    my %opt = (%{ $before ? $before->{opt} : {} }, %$given);
    my $suite = Devel::DProf::Compare::Suite->new(%opt);
    my $self = bless { opt => \%opt, suite => $suite, jobs => [], of_job => {} }, $class;
    $self->prepare;
    $app->{+__PACKAGE__} = $self;
    return 1 if $before;
    # App::Prove's object gets a class of its own, which leaves the methods of other plugins alone.
    my $subclass = "$class\::Prove" . ++our $Apps;
    my $parent = ref $app;
    my $run = $app->can('_runtests')
        or die "DProf: the plugin does not support this version of prove (App::Prove)\n";
    no strict 'refs';
    @{"${subclass}::ISA"} = $parent;
    *{"${subclass}::_runtests"} = sub {
        my ($prove_app, @how) = @_;
        return $prove_app->{+__PACKAGE__}->run($prove_app, $run, @how);
    };
    bless $app, $subclass;
    return 1;
}

# ---- the environment of the tests ----

# Makes the folder for all files and the value of PERL5OPT, and tries them. Dies with the reason if
# the profiler cannot run.
sub prepare {
    my ($self) = @_;
    my $was = $ENV{PERL5OPT} // '';
    die "DProf: PERL5OPT already has `$1'; only one debugger or profiler can run\n"
        if $was =~ /(?:^|\s)(-d\S*)/;
    my @folders = (File::Spec->rel2abs(File::Spec->tmpdir), '/tmp');
    my ($temp) = grep { defined && -w $_ && fits_in_options($_) } @folders
        or die "DProf: no folder for temporary files has a name that fits in PERL5OPT\n";
    $self->{dir} = File::Temp->newdir('dprof-prove-XXXXXX', DIR => $temp);
    my @inc = $self->include_switch;
    my @options = $self->{suite}->recorder_options;
    $self->{perl5opt} = sub {
        my ($dir, $alone) = @_;
        my $debugger = join ',', '-d:DProf=mode=tree', "out=$dir/%p.out", @options;
        return join ' ', grep { length } $alone ? () : $was, @inc, $debugger;
    };
    return $self->try_perl;
}

# Returns whether a path can be in PERL5OPT, which is split at blanks, and in the profiler's
# options, which are split at commas.
sub fits_in_options { return $_[0] =~ m{\A[\w./+\@~-]+\z} }

# Returns a switch if perl would not find the module by itself: -I and a folder that has nothing
# else, because a folder of the user's in front of all others would add other modules. PERL5LIB is
# not changed, and a test may change it.
sub include_switch {
    my ($self) = @_;
    return if !Devel::DProf::Tool::Record::include_dirs();
    return '-I' . Devel::DProf::Tool::Record::module_folder("$self->{dir}/lib");
}

# Runs the perl of the tests once, because an error that it reports would fail every test.
sub try_perl {
    my ($self) = @_;
    my $dir = "$self->{dir}/try";
    make_folder($dir);
    local $ENV{PERL5OPT} = $self->{perl5opt}->($dir, 1);
    my $perl = $ENV{HARNESS_PERL} // $^X;
    my $said = '';
    if (open my $in, '-|') {
        local $/;
        $said = <$in> // '';
        close $in;
    } else {
        open STDERR, '>&', \*STDOUT;
        exec { $perl } $perl, '-e', '0'
            or do { print "$perl: $!\n"; require POSIX; POSIX::_exit(127) };
    }
    my ($line) = grep { /\S/ } split /\n/, $said;
    die 'DProf: the profiler cannot run here: ' . ($line // "status $?") =~ s/\ADProf: //r . "\n"
        if $? || !Devel::DProf::Compare::Suite::profiles_in($dir);
    return;
}

# ---- the run ----

# Runs prove's tests with the recorder; prove's App::Prove calls it in place of _runtests, whose
# code is $run. Returns whether all tests passed and the suite's gates hold.
sub run {
    my ($self, $app, $run, $args, @tests) = @_;
    my $suite = $self->{suite};
    local %ENV = %ENV;
    $self->{perl5lib} = $ENV{PERL5LIB};
    # Calls and ops repeat only with the same hash seed. Without a baseline, the seed stays random,
    # as tests must not notice the profiler.
    @ENV{qw(PERL_HASH_SEED PERL_PERTURB_KEYS)} = (0, 0) if defined $suite->baseline;
    my %more = (
        parser_args => sub { $self->before_test($_[1]) },
        after_test => sub { $self->after_test(@_) },
    );
    my %own = %{ $args->{callbacks} || {} };
    for my $event (keys %more) {
        my ($ours, $theirs) = ($more{$event}, $own{$event});
        $own{$event} = sub { $ours->(@_); return $theirs ? $theirs->(@_) : () };
    }
    my $loud = ($args->{verbosity} // 0) >= 0;
    my $text = text_formatter($args);
    local @SIG{qw(INT TERM HUP PIPE)} = map { $self->cleanup_handler($_, $SIG{$_}) }
        qw(INT TERM HUP PIPE);
    my $passed = eval { $app->$run({ %$args, callbacks => \%own }, @tests) ? 1 : 0 };
    my $error = $@;
    my $good = eval { $self->finish($passed, $loud, $text ? \*STDOUT : \*STDERR) };
    print STDERR 'DProf: ', $@ =~ s/\ADProf: //r if !defined $good;
    die $error if !defined $passed;
    return $passed && $good;
}

# Returns a handler for the signal NAME that removes the folder of profiles and then lets the signal
# end the process, or the user's own handler if there is one.
sub cleanup_handler {
    my ($self, $name, $handler) = @_;
    return $handler if defined $handler && length $handler && $handler ne 'DEFAULT';
    my $pid = $$;
    return sub {
        File::Path::remove_tree("$self->{dir}") if $$ == $pid;
        $SIG{$name} = 'DEFAULT';
        kill $name => $$;
    };
}

# Returns whether the formatter writes text: after XML, for example, no text may follow.
sub text_formatter {
    my ($args) = @_;
    my ($by_env) = map { /^f(.*)/ ? $1 =~ s/-/::/gr : () } split /:/, $ENV{HARNESS_OPTIONS} // '';
    my $class = $args->{formatter_class} // $by_env // 'TAP::Formatter::Console';
    return $class =~ /\ATAP::Formatter::(?:Console|File|Color)\z/;
}

# Makes the folder, or dies with a message for people.
sub make_folder {
    my ($dir) = @_;
    mkdir $dir or die "DProf: prove ends, since it cannot make the folder $dir for the profiles of "
        . "a test: $!; set TMPDIR to use another place\n";
    return;
}

# Makes a folder for a test, where all processes of the test write their profiles, and puts it into
# PERL5OPT. job: [file, name] of the test.
sub before_test {
    my ($self, $job) = @_;
    my ($file, $name) = @$job;
    my $n = @{ $self->{jobs} };
    my $dir = "$self->{dir}/$n";
    make_folder($dir);
    push @{ $self->{jobs} }, { file => $file, name => $name, dir => $dir };
    push @{ $self->{of_job}{"$file\0$name"} }, $n;
    $ENV{PERL5OPT} = $self->{perl5opt}->($dir);
    return if !defined $self->{suite}->baseline;
    # With -j, prove adds the folders to PERL5LIB once for each running test, so that searching @INC
    # would cost more.
    if (defined $self->{perl5lib}) { $ENV{PERL5LIB} = $self->{perl5lib} }
    else { delete $ENV{PERL5LIB} }
    return;
}

# Notes whether a test, a [file, name], has failed or was skipped, as its TAP says.
sub after_test {
    my ($self, $job, $parser) = @_;
    my $n = shift @{ $self->{of_job}{"$job->[0]\0$job->[1]"} } // return;
    $self->{jobs}[$n]{facts} = {
        failed => $parser->has_problems ? 1 : 0, skipped => defined $parser->skip_all ? 1 : 0,
    };
    return;
}

# Prints the summary to the handle OUT, checks the gate, and writes the files that options ask for.
# passed: whether all tests passed. Returns whether the gate passed.
sub finish {
    my ($self, $passed, $loud, $out) = @_;
    my $suite = $self->{suite};
    for my $job (@{ $self->{jobs} }) {
        my @profiles = Devel::DProf::Compare::Suite::profiles_in($job->{dir});
        $suite->add($job->{name}, \@profiles, %{ $job->{facts} || { failed => 1 } });
    }
    print {$out} bytes($suite->summary) if $loud;
    my ($good, @lines) = $suite->finish($passed, "$self->{dir}");
    push @lines,
        "DProf: Next: -PDProf=baseline=t/base,keep,counters_only fails if a sub does more\n"
        if $passed && !defined $suite->baseline;
    if ($loud) { print {$out} "\n", @lines if @lines }
    elsif (!$good) { print STDERR @lines }
    return $good;
}

1;

__END__

=encoding UTF-8

=head1 NAME

App::Prove::Plugin::DProf - prove -PDProf: a test suite under the profiler

=head1 SYNOPSIS

    prove -b -PDProf t/
    prove -b -j4 -PDProf=top=20,html=suite.html t/
    prove -b '-PDProf=baseline=t/base,fail_if=calls > 0, ops > 2%' t/
    DPROF_UPDATE_BASELINES=1 prove -b -PDProf=baseline=t/base t/

=head1 DESCRIPTION

This plugin runs every test file under L<Devel::DProf> in tree mode. After prove's own result, it
reports the costs of the suite: the most expensive test files, with the most expensive subs of each,
and the most expensive subs of all test files together.

    Files=46, Tests=719,  7 wallclock secs ...
    Result: PASS

    DProf: 46 test files in 48 processes, 4.136 s of CPU time, 7,691,116 ops,
          192,661 calls

        CPU s   Share             Ops        Calls  Test file, its costliest subs
        0.294    7.1%       1,185,007       35,880  t/old-base.t
              Test2::API::context 8%, Test::Builder::cmp_ok 6%, main::BEGIN 5%
        ...
       Self s   Share             Ops        Calls  Sub, of all test files
        0.442   10.7%          47,221        2,489  Test::Builder::BEGIN

CPU s is user and system time of all processes of the file. Ops are the steps that perl's
interpreter executed (L<Devel::DProf/"TRACE AND TREE">). Calls are all calls of subs. Time outside
of subs is C<(program)>.

Everything that a test starts counts for the test: forked children and other perls, even if the test
changes PERL5LIB. Tests see PERL5OPT with C<-d:DProf> in it (after its previous contents), and
perhaps one more folder in C<@INC>. L<Devel::DProf/"WHAT A PROGRAM CAN STILL SEE"> lists the rest.
C<-j>, C<-b>, C<-l>, C<-r>, C<--state>, C<--exec>, HARNESS_OPTIONS and other plugins work as without
this plugin. With C<-q> and C<-Q> there is no summary. With a formatter of your own (C<--formatter>)
the summary goes to standard error.

These are not profiled: test files that are not Perl; programs that run without PERL5OPT, such as
perls that a test starts under C<-T>; and perls that C<kill> ends before they have done anything.
Test files that are under C<-T> themselves are profiled, because prove passes the switches on. The
summary lists files that were not profiled, and they fail nothing.

=head1 OPTIONS

Options follow C<-PDProf=>, separated by commas. An unknown option or a bad value is an error before
any test runs. Each option can also be set in an environment variable, PROVE_DPROF_ and its name in
capitals; the command line takes precedence.

=over

=item top=N

The number of test files and subs to show, 10 by default. One line sums up the other files.

=item baseline=DIR

Compares each test file with its last good run, which is kept in that folder: F<DIR/t/parse.t.tmon>
for F<t/parse.t> (characters that do not belong in file names are written as C<%XX>). If a test file
costs more than the rules of C<fail_if> allow, a line for each finding names the test file, the sub,
the rule, and the old and new number. prove's exit status is then 1.

    DProf: t/parse.t: My::Lexer::token: calls > 0: 1,200 -> 2,400
    DProf: FAIL: 1 test file costs more than the baseline allows (calls > 0, ops > 2%)

When the suite has passed and no rule was broken, the run becomes the last good one, and is written
to the folder. The plugin reports baselines that were recorded for the first time. Test files that
failed or were skipped are neither compared nor written; neither are processes that were killed or
still run. With the environment variable DPROF_UPDATE_BASELINES=1 nothing is compared, and all
baselines are rewritten if the suite passes.

The baselines can be committed; see L<Devel::DProf::Compare::Baseline>. For that purpose use
C<counters_only> and C<keep>.

With C<baseline>, tests run with PERL_HASH_SEED=0 and PERL_PERTURB_KEYS=0, so that calls and ops
repeat. Without it, they run with the settings that they would have without the profiler.

=item fail_if=RULES

The rules, in the syntax of L<dprofdiff/--fail-if>. Rules contain commas, and commas separate them;
the plugin recognizes both. The default is C<< calls > 5% & 10, ops > 5% & 10000 >>, for any sub.
Times of single runs differ by chance, so rules for C<self> and C<incl> need limits far above the
chance differences. A rule of yours that no comparison can check, or that matches no sub in any test
file, fails. Calls and ops do not see what regexes, XS code and input cost: C<dprofdiff --run> does.

=item keep

Existing baselines stay unchanged until DPROF_UPDATE_BASELINES=1 is set, so a suite cannot become
slower bit by bit. (Otherwise each good run is the baseline of the next.) A test file without a
baseline gets one, except in CI, where that fails: CI services set the variable CI, and nobody would
commit the new file.

=item counters_only

Baselines have calls and ops, and no times. The baselines of an unchanged suite do not change by a
single byte.

=item out=DIR

Keeps the profiles: F<DIR/t/parse.t.tmon> for all processes of F<t/parse.t>, and F<DIR/all.tmon> for
the whole suite. All tools read them.

    dprofreport kept/all.tmon
    dprofdiff old/all.tmon new/all.tmon

=item html=FILE

Draws a flame graph of the whole suite: a picture if the name ends in C<.svg>, otherwise a page.

=item summary=FILE

Writes the summary to a file, too: all test files with their costliest subs, and all subs of the
suite. In the rows of a test file's subs, the test file is named as well.

=item format=text, format=csv, format=json, format=markdown, format=html

The format of that file. Without this option, the suffix of its name decides: C<.csv>, C<.json>,
C<.md> or C<.html>; files with other names get the text that prove prints.

=item lines=count, lines=time

Records the costs of source lines, too (L<Devel::DProf/OPTIONS>). If the baseline also has lines, a
finding names the line of the sub that has grown most, and rules may be about lines (B<--fail-if> of
L<dprofdiff>). C<count> records how often lines ran, and these numbers repeat.

=item events=EVENT+EVENT

Counts events; see L<Devel::DProf/EVENTS>. Their totals are in the first lines of the summary, and
rules may use them.

=item detail=KIND+KIND

Records statements of SQL, requests to other servers and so on as spans; see L<Devel::DProf/Spans>.
Rules may be about kinds of spans, as in C<[sql] calls E<gt> 0>.

=back

=head1 ENVIRONMENT

=over

=item PROVE_DPROF_BASELINE, PROVE_DPROF_FAIL_IF, PROVE_DPROF_TOP, ...

The options, for values that contain commas, and for CI. C<counters_only> and C<keep> are 0 or 1.

=item DPROF_UPDATE_BASELINES

See C<baseline>.

=item TMPDIR

The folder for profiles until they are read. Its name becomes part of PERL5OPT. If the name contains
blanks, commas or the like, F</tmp> is used instead.

=item PERL_DPROF_...

The profiler's own variables, for options that the plugin does not set. See
L<Devel::DProf/ENVIRONMENT>.

=back

=head1 YATH

yath does not load prove's plugins. The environment can make yath record its tests, and a command
sums them up afterwards, with the same options except C<events>:

    mkdir /tmp/prof
    yath test --no-use-fork --env-var PERL5OPT=-d:DProf=tree,out=/tmp/prof/%p.out
    perl -MDevel::DProf::Compare::Suite -e 'exit Devel::DProf::Compare::Suite::main(@ARGV)' \
        /tmp/prof top=20 html=suite.html

C<--no-use-fork> makes yath start each test as a program of its own: a test that yath only forks is
not a new perl, so it does not read PERL5OPT. For a baseline add

    --env-var PERL_HASH_SEED=0 --env-var PERL_PERTURB_KEYS=0

to the first command, and C<baseline=DIR> and C<'fail_if=RULES'> to the second, whose exit status is
then 3 if something costs more. The second command assumes that all tests have passed, so run it
only if yath's own status is 0. Devel::DProf has to be installed, or in PERL5LIB; a test that
changes PERL5LIB may then be unable to find it. This was tried with Test2::Harness 1.000151.

=head1 DIAGNOSTICS

=over

=item DProf: PERL5OPT already has `-d:NAME'; only one debugger or profiler can run

PERL5OPT already loads Devel::Cover, Devel::NYTProf or another debugger.

=item DProf: the profiler cannot run here: MESSAGE

The plugin tries the perl that will run the tests (HARNESS_PERL, if that is set) before the first
test. This perl cannot load Devel::DProf, or an event is unknown or not permitted.

=item DProf: fail_if /REGEX/ METRIC > LIMIT: no sub matches (FILE, and N more)

No sub in any of the test files has such a name. If the rule is about lines, no line has it.

=back

=head1 LIMITS

If a test starts a perl of another version or architecture, that perl runs, but is not profiled. A
perl of the same version and architecture with another configuration (a debugging perl) prints one
line about it on its standard error. A test that checks standard error should remove PERL5OPT from
the environment of such a perl.

If a harness runs tests on other machines without passing on the environment, no profiles exist.

=head1 METHODS

prove calls C<load>; C<import> does nothing. Everything else is in L<Devel::DProf::Compare::Suite>.

=head1 SEE ALSO

L<prove>, L<Test::DProf>, L<Devel::DProf>, L<dprofdiff>, L<Devel::DProf::Compare::Suite>

=head1 COPYRIGHT AND LICENSE

Copyright (C) 2026 by the Devel::DProf developers.

This is free software; you can redistribute it and/or modify it under the same terms as Perl itself.

=cut
