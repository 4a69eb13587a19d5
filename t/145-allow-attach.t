# A program may permit others to look at it, with and without the recorder.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use Devel::DProf::Live::Target;

my @PERL = built_perl();

# Runs code in another perl, and returns what it prints.
sub printed {
    my ($code, @options) = @_;
    my $run = run_program([@PERL, @options, '-e', $code]);
    is("$run->{err}$run->{status}", '0', "runs without messages: $code");
    return $run->{out};
}

my $USE = 'use Devel::DProf::Control;';
my $SHOW = '$_ eq "" || /\A[01]\z/ ? "told" : "wrong: $_"';
is(printed("$USE print for grep { /DProf|XSLoader/ } sort keys %INC"), 'Devel/DProf/Control.pm',
    'without the call, only the module itself is loaded');
is(printed("$USE Devel::DProf::Control::allow_attach() for 1, 2; print -e 'tmon.out' ? 1 : 0"), 0,
    'the call records nothing');
is(printed("$USE print $SHOW for scalar Devel::DProf::Control::allow_attach()"), 'told',
    'the call returns a boolean');
is(printed("$USE Devel::DProf::Control::allow_attach(); Devel::DProf::Control::start();"
    . 'print Devel::DProf::Control::recording() ? 1 : 0'), 0,
    'the other functions still do nothing after the call');
is(printed("use Devel::DProf::Control 'allow_attach'; print \$@ // 'undef', $SHOW "
    . 'for eval { die "x\n" } // scalar allow_attach()'), "x\ntold",
    'the call can be imported, and leaves $@ alone');
is(printed("BEGIN { \@INC = grep { !/arch/ } \@INC; \$INC{'Devel/DProf/Core.pm'} = undef }"
    . " $USE print defined Devel::DProf::Control::allow_attach() ? 1 : 0"), 0,
    'where the compiled part cannot be loaded, the call does nothing');

my $profile = spew(scratch() . '/p.pl', "$USE sub f { 1 } f(); "
    . 'Devel::DProf::Control::allow_attach(); f();');
my $run = profiled([$profile]);
my $text = slurp($run->{profile});
like($text, qr/ f /, 'the program is recorded');
unlike($text, qr/allow_attach/, 'the call is not in the profile');

subtest 'what the kernel is asked for' => sub {
    my ($strace) = grep { -x } map { "$_/strace" } split /:/, $ENV{PATH};
    plan skip_all => 'strace is not installed' if !defined $strace;
    my $trace = scratch() . '/trace';
    my $got = run_program([$strace, '-e', 'trace=prctl', '-o', $trace, @PERL, '-e',
        "$USE print Devel::DProf::Control::allow_attach() ? 1 : 0"]);
    my @calls = $got->{status} ? () : grep { /PR_SET_PTRACER/ } split /\n/, slurp($trace) // '';
    plan skip_all => 'strace does not work here' if !-s $trace || $got->{status};
    is(scalar @calls, 1, 'one call');
    my $all = qr/PR_SET_PTRACER_ANY|0xf+|-1|18446744073709551615/;
    like($calls[0], qr/\Aprctl\(PR_SET_PTRACER, $all\b/,
        'all processes are permitted');
    is($got->{out}, $calls[0] =~ /= 0$/ ? 1 : 0, 'the result is the answer of the kernel');
};

done_testing;
