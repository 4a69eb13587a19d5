# Threads in every state, in each way of recording: sums are right, and the program ends as it does
# without the profiler. xt/threads.pl runs the same programs over and over.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use File::Glob ':bsd_glob';
use File::Path 'make_path';
use Test::More;
use DProfTest;
use RunReader;
use ThreadPrograms;

plan skip_all => 'this perl has no threads' if !$Config{useithreads};

my ($n, $each) = (0, 0);
for my $name (thread_programs()) {
    next if @ARGV && !grep { $name eq $_ } @ARGV;
    # A user's installation runs every second one only.
    next if !@ARGV && !$ENV{EXTENDED_TESTING} && $each++ % 2;
    my $file = spew(scratch() . '/t.pl', thread_program($name));
    my $plain = plain([$file]);
    for (some_modes($n++, grep { $_->[0] ne 'limit' } MODES)) {
        my ($mode, $env) = @$_;
        my $run = profiled([$file], env => $env, limit => 60);
        is(join("\n", grep { length } same_as_plain($plain, $run),
            wrong_in_threads($name, $run->{profile})), '',
                "the threads are recorded and run as plain: $name, $mode");
    }
}

# The placeholders of out= give each thread its file name.
for (['p.%p', 'p.PID p.PID.1 p.PID.2'], ['p.%t', 'p.0 p.1.PID p.2.PID'],
    ['p.%t-%p', 'p.0-PID p.1-PID p.2-PID'],
    ['%n.%%.%x', 't.pl.%.%x t.pl.%.%x.PID.1 t.pl.%.%x.PID.2']) {
    my ($out, $want) = @$_;
    my $file = spew(scratch() . '/t.pl',
        'use threads; sub f { 1 } f(); threads->create(sub { f() })->join for 1, 2;');
    my $run = profiled([$file], env => { PERL_DPROF_OUT => $out });
    is(join(' ', map { m{([^/]+)\z} && $1 =~ s/\b$run->{pid}\b/PID/r } glob "$run->{dir}/*"), $want,
        "out=$out names the files of all threads");
}

# All threads have the clock that the hooks read, even one that can read no file of the system's.
SKIP: {
    skip 'only root can chroot', 1 if $>;
    my ($jail, $dir) = (scratch(), scratch());
    my $out = "$dir/out";
    make_path("$jail$dir");
    my $clock = sub { (slurp($_[0]) // '') =~ /\$dprof_clock='(\w+)'/ ? $1 : 'none' };
    my $run = profiled(['-e', 'use threads; chroot shift or die "$!\n"; '
            . 'threads->create(sub { my $n = 0; $n++ for 1 .. 9 })->join', $jail],
        env => { PERL_DPROF_OUT => $out });
    is($clock->("$jail$out.$run->{pid}.1"), $clock->(profiled(['-e', '1'])->{profile}),
        'a thread in a chroot has the clock of the others') or diag $run->{err};
}

done_testing;
