# Without the compiled part, tools print help and manual, and say in one line what is missing.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use Devel::DProf::Tools;
use File::Path qw(make_path);
use File::Spec;
use Test::More;

my $root = File::Spec->rel2abs(root());

# Makes a folder of the Perl modules. The object is left out, or has wrong contents.
sub modules {
    my ($name, $object) = @_;
    my $lib = scratch() . "/$name";
    make_path("$lib/Devel", "$lib/auto/Devel/DProf");
    symlink "$root/lib/$_", "$lib/$_" or die "$lib/$_: $!" for 'Test';
    symlink "$root/lib/Devel/$_", "$lib/Devel/$_" or die "$lib: $!" for 'DProf', 'DProf.pm';
    spew("$lib/auto/Devel/DProf/DProf.so", $object) if defined $object;
    return $lib;
}

my $unbuilt = modules('unbuilt');
my %lib = ('no object' => $unbuilt, 'an object of something else' => modules('wrong', 'x' x 1000),
    'a folder whose name has blanks' => modules('a at b line 7. c', 'x' x 1000));
my %reason = map { $_ => qr/Can't load '[^\n]*' for module Devel::DProf: [^\n]*\S/ } keys %lib;
$reason{'no object'} =
    qr/the compiled part of Devel::DProf is missing; perl Makefile\.PL && make builds it, [^\n]*/;

sub tool {
    my ($lib, $name, @args) = @_;
    return run_program([$^X, "-I$lib", "$root/bin/$name", @args]);
}

for my $name ('dprof', map { $_->{name} } Devel::DProf::Tools::all()) {
    subtest "$name without the compiled part" => sub {
        my %shown = ('-h' => qr/^Usage:/, '-H' => qr/^NAME\n +\Q$name\E - /,
            '-V' => qr/^\Q$name\E version: \Q$Devel::DProf::Core::VERSION\E$/);
        for my $option (sort keys %shown) {
            my $run = tool($unbuilt, $name, $option);
            like($run->{out}, $shown{$option}, "$option prints what it says");
            like($run->{err}, qr/\A\Q$name\E: $reason{'no object'}\n\z/,
                "$option says what is missing");
            is($run->{status}, 0, "$option succeeds");
        }
        my $run = tool($unbuilt, $name, 'list');
        is($run->{out}, '', 'nothing is printed without these options');
        like($run->{err}, qr/\Adprof\w*: $reason{'no object'}\n\z/,
            'one line says what is missing');
        is($run->{status}, 1, 'the tool fails');
    };
}

subtest 'dprof has the help of each tool' => sub {
    for my $args (['help', 'diff'], ['diff', '-h'], ['diff', '--help']) {
        like(tool($unbuilt, 'dprof', @$args)->{out}, qr/^ +dprofdiff old\.out new\.out$/m,
            "dprof @$args");
    }
    like(tool($unbuilt, 'dprof')->{out}, qr/^ +dprof help NAME$/m, 'dprof alone prints its own');
    is(tool($unbuilt, 'dprofrun', '--', 'true', '-h')->{out}, '',
        'options of a command are not those of a tool');
};

for my $name (sort keys %lib) {
    subtest "One line says why: $name" => sub {
        my $run = tool($lib{$name}, 'dprofreport');
        like($run->{err}, qr/\Adprofreport: $reason{$name}\n\z/, 'a tool');
        unlike($run->{err}, qr/Core\.pm|XSLoader\.pm/, 'the line does not name places in modules');
        $run = run_program([$^X, "-I$lib{$name}", '-e',
            'eval { require Devel::DProf::Core }; print $@']);
        like($run->{out}, qr/\A$reason{$name}\n/, 'a program that loads the module');
        unlike($run->{out}, qr/ at [^\n]* line [0-9]+\.\n.* at /s,
            'the message has no list of places');
        $run = run_program([$^X, "-I$lib{$name}", '-e',
            'use Test::More; use Test::DProf; calls_ok(profile_ok { 1 }, "f", "==", 0); '
                . 'done_testing']);
        like($run->{out}, qr/\A(?:ok|1\.\.0)[^\n]* $reason{$name}\n/i,
            'Test::DProf skips tests, with the line');
        is(scalar(() = $run->{out} =~ /^(?!ok |1\.\.).+/mg), 0, 'what Test::DProf prints is TAP');
    };
}

done_testing;
