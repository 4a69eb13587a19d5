# A profile that a stranger made names any file of the user who reads it. The tools show a source,
# or put it into a page, only if the profile has the source's size and CRC, or the user has named a
# folder above it, or it is one of perl's own modules.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Compress::Raw::Zlib ();
use DProfTest qw(scratch spew slurp in_process profiled no_lines);
use MadeUp;
use NaiveStacks;

my $dir = scratch();
my $SECRET = "-----BEGIN KEY-----\nSECRET-4711\nline3\n-----END KEY-----\n";
my $PERL = "use strict;\nsub f { 'SECRET-4711' }\nf();\n";
mkdir "$dir/$_" or die for qw(home home/keys work);
my $key = spew("$dir/home/keys/id", $SECRET);
my $private = spew("$dir/home/private.pl", $PERL);
my ($n, $callgrind) = (0);

sub foreign {
    my ($file) = @_;
    return spew("$dir/work/foreign" . ++$n, "# callgrind format\nversion: 1\ncreator: x\n"
        . "positions: line\nevents: Ir\n\nfl=$file\nfn=main\n2 100\n3 50\n");
}

# A tree with lines of a file: files, by name, with what stands behind the name.
sub ours {
    my (@files) = @_;
    my @lines = ('= 0 0 1 0 0 0 0 0', '= 1 1 1 9 0 9 9 9');
    while (my ($file, $known) = splice @files, 0, 2) {
        push @lines, "#f $file$known", '#l 2 1 3 9 0 9';
    }
    return spew("$dir/work/ours" . ++$n, profile_text(format => 'tree', hz => 1000,
        header => q{$dprof_lines='time';}, times => [9, 0, 9], subs => ["main main $private:2"],
        lines => \@lines));
}

sub digest {
    my ($text) = @_;
    return sprintf ' size=%d crc=%x', length $text, Compress::Raw::Zlib::crc32($text);
}

# Returns the tools that show the secret, and what they say.
sub showing {
    my ($profile, @args) = @_;
    my ($out, $page, %shows) = ('', "$dir/page.html");
    unlink $page;
    for my $tool ('dprofhtml', 'dprofflame') {
        my $run = in_process($tool, '-o', $page, @args, $profile);
        my $data = NaiveStacks::lines_of_page(slurp($page)) || {};
        my @texts = map { $_->[1] // '' } map { @$_ } values %{ $data->{sources} || {} };
        $shows{$tool} = 1 if grep { /SECRET-4711/ } @texts, slurp($page);
        $out .= $run->{err};
    }
    for my $word (qw(main::main main id private.pl)) {
        my $run = in_process('dprofreport', '--annotate', $word, @args, $profile);
        $shows{dprofreport} = 1 if $run->{out} =~ /SECRET-4711/;
        $out .= $run->{out};
        $run = in_process('dprofdiff', '--annotate', $word, @args, $profile, $profile);
        $shows{dprofdiff} = 1 if $run->{out} =~ /SECRET-4711/;
    }
    return (join(' ', sort keys %shows), $out);
}

subtest 'A source that a profile only names is not shown' => sub {
    for (['a key', $key], ['Perl', $private]) {
        my ($what, $file) = @$_;
        for my $profile (foreign($file), ours($file, '')) {
            my ($shows, $said) = showing($profile);
            is($shows, '', "$what is not shown");
            like($said, qr/source of \Q$file\E.*--source-dir/,
                "the page says that the source of $what is left out");
            like($said, qr/^# The source is left out: .*--source-dir/m,
                "the report says that the source of $what is left out");
            is((showing($profile, '--source-dir', "$dir/home"))[0],
                'dprofflame dprofhtml dprofreport', "--source-dir shows $what");
            is((showing($profile, '--source-dir', "$dir/work"))[0], '',
                "--source-dir of another folder does not show $what");
        }
    }
};

subtest "Perl's own modules are shown" => sub {
    my $own = foreign($INC{'strict.pm'});
    my $run = in_process('dprofreport', '--annotate', 'main', $own);
    like($run->{out}, qr/^ .* 3  .*strict::VERSION/m, 'the report shows a module of perl');
};

subtest 'A path that leads out of the folder is not shown' => sub {
    symlink "$dir/home", "$dir/work/link" or plan skip_all => "no symbolic links: $!";
    for my $file ("../home/keys/id", "link/keys/id", "$dir/work/../home/keys/id",
        "$dir/work/link/keys/id") {
        for my $option ('--source-dir', '--symfs') {
            is((showing(foreign($file), $option, "$dir/work"))[0], '',
                "$option does not show $file");
        }
    }
    ok(!-e "$dir/workshop" && mkdir("$dir/workshop"),
        'a folder with the same beginning can be made');
    my $near = spew("$dir/workshop/id", $SECRET);
    is((showing(foreign($near), '--source-dir', "$dir/work"))[0], '',
        '--source-dir does not show a folder with the same beginning');
};

subtest "A source with the profile's size and CRC is shown" => sub {
    my $all = 'dprofdiff dprofflame dprofhtml dprofreport';
    is((showing(ours($private, digest($PERL))))[0], $all,
        "a Perl file with the profile's size and CRC is shown");
    is((showing(ours($private, digest("$PERL "))))[0], '',
        'a Perl file of another size is not shown');
    is((showing(ours($private, digest($PERL =~ tr/4/5/r))))[0], '',
        'a Perl file with another CRC is not shown');
    my ($shows, $said) = showing(ours($key, digest($SECRET)));
    is($shows, '', 'a file that is no Perl is not shown, as its CRC may be guessed');
    like($said, qr/^# The source is left out/m,
        'the report says that a file that is no Perl is left out');
    my $dot = "$dir/home/./private.pl";
    my @guesses = map { ($_->[0], digest($_->[1])) } ["$dir/home//private.pl", "$PERL 1"],
        [$dot, "$PERL 2"], [$private, $PERL];
    is((showing(ours(@guesses)))[0] =~ s/\S+//gr =~ s/ //gr, '', 'wrong guesses show nothing');
    my $two = ours($dot, digest($PERL), $private, digest($PERL));
    is((showing($two))[0], $all, 'two names with one CRC do no harm');
};

subtest "The sources of a user's own profiles are shown" => sub {
    my $program = spew("$dir/mine.pl", "sub main { my \$x = 'SECRET-4711'; \$x }\nmain();\n");
    my $can_lines = !defined no_lines();
    SKIP: { skip no_lines() . ': what follows is without', 1 if !$can_lines }
    my @modes = ({}, { MODE => 'tree' }, { MODE => 'tree', CALLSITES => 1 },
        ($can_lines ? { MODE => 'tree', LINES => 'count' } : ()), { SAMPLE => 1000 },
        { LIMIT => 65536 }, { COMPRESS => 1 });
    for my $mode (@modes) {
        my %env = map { ("PERL_DPROF_$_" => $mode->{$_}) } keys %$mode;
        $env{PERL_DPROF_CLOCK} = 'counting';
        my $profile = profiled([$program], env => \%env)->{profile};
        my $what = join ',', map { lc "$_=$mode->{$_}" } sort keys %$mode;
        my ($shows, $said) = showing($profile);
        if ($mode->{SAMPLE} && slurp($profile) !~ /^#f \S+mine\.pl/m) {
            pass("the sources are not tried: no sample of $what was taken");
            next;
        }
        like($shows, qr/dprofflame dprofhtml dprofreport/,
            ($what || 'a trace') . ': all tools show the source');
        unlike($said, qr/source-dir/, ($what || 'a trace') . ': no tool speaks of --source-dir');
        my $merged = "$dir/merged";
        in_process('dprofmerge', '-o', $merged, $profile);
        like((showing($merged))[0], qr/dprofflame dprofhtml dprofreport/,
            ($what || 'a trace') . ': all tools show the source of the merged profile');
    }
    my $profile = profiled([$program], env => { PERL_DPROF_MODE => 'tree',
        $can_lines ? (PERL_DPROF_LINES => 'time') : () })->{profile};
    spew($program, slurp($program) . "# changed\n");
    my ($shows, $said) = showing($profile);
    is($shows, '', 'a source that has changed is not shown');
    like($said, qr/^# The file has changed since the recording; --source-dir DIR/m,
        'the report says that the source has changed');
    is((showing($profile, '--source-dir', $dir))[0], 'dprofreport',
        '--source-dir shows a changed source in the report');
};

subtest 'A source that is no regular file is not read' => sub {
    require POSIX;
    POSIX::mkfifo("$dir/fifo", 0600) or plan skip_all => "no FIFOs: $!";
    my $profile = profiled([spew("$dir/odd.pl", <<"END")])->{profile};
# line 1 "$dir/fifo"
sub f { 1 } f();
# line 1 "$dir"
sub g { 1 } g();
# line 1 "/dev/zero"
sub h { 1 } h();
END
    my @known = slurp($profile) =~ /^#f (\S+)/mg;
    is_deeply(\@known, [], 'FIFOs, folders and devices are not read');
};

done_testing;
