# Lines of source in the tools: dprofreport -s srcline and --annotate, dprofmerge.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew slurp in_process profiled);
use Compress::Zlib ();
use JSON::PP ();
use MIME::Base64 ();
use LineReader;

my $dir = scratch();
my $file = spew("$dir/p.pl", <<'END');
use strict;
sub leaf {
    my $n = shift;
    return $n * 2;
}
sub deep {
    my $n = shift;
    return $n if $n < 1;
    return leaf($n) + deep($n - 1);
}
my $sum = 0;
for my $i (1 .. 3) {
    $sum += leaf($i); $sum -= 1;
}
$sum += deep(4);
print "$sum\n";
END
my %env = (PERL_DPROF_MODE => 'tree', PERL_DPROF_CLOCK => 'counting');
my $run = profiled([$file], env => { %env, PERL_DPROF_LINES => 'time' });
plan skip_all => $1 if $run->{err} =~ /\ADProf: (lines needs a perl of .*)$/m;
is($run->{out}, "29\n", 'the program runs');
my $profile = $run->{profile};
my $got = LineReader::read_file($profile);

sub json {
    my (@args) = @_;
    my $report = in_process('dprofreport', '--format', 'json', @args);
    return JSON::PP->new->utf8->decode($report->{out});
}

subtest 'dprofreport -s srcline' => sub {
    my $rows = json('-s', 'srcline', '-n', '--show-total-period', '-m', 'real', $profile)->{rows};
    my %row = map { $_->{srcline} =~ /\Q$file\E:(\d+)\z/ ? ($1 => $_) : () } @$rows;
    is_deeply({ map { $_ => $row{$_}{calls} } keys %row },
        { 11 => 1, 12 => 1, 13 => 6, 15 => 1, 16 => 1, 3 => 7, 4 => 7, 7 => 5, 8 => 5, 9 => 4,
            1 => 2 }, 'counts: two statements on a line are both counted')
        or diag explain { map { $_ => $row{$_}{calls} } keys %row };
    my $sum = 0;
    $sum += $_->{self_pct} for @$rows;
    cmp_ok(abs($sum - 100), '<', 0.2, 'Self of all lines is all there is');
    is(0 + (grep { $_->{children_pct} < $_->{self_pct} } @$rows), 0, 'Children is no less');
    is(0 + (grep { $_->{children_pct} > 100 } @$rows), 0,
        '... and no more than all, recursion too');
    my $ticks = sub { 1e7 * $_[0]{self} };
    is_deeply([map { sprintf '%.0f', $ticks->($row{$_}) } 3, 4, 9],
        [map { $got->{times}{"$file:$_"}[2] } 3, 4, 9], 'ticks are those of the file')
        or diag explain $row{3};
    my $by_sub = json('-s', 'srcline,sub', $profile)->{rows};
    is_deeply({ map { $_->{srcline} =~ /\Q$file\E:(\d+)\z/ ? ($1 => $_->{symbol}) : () } @$by_sub },
        { 11 => '(program)', 12 => '(program)', 13 => '(program)', 15 => '(program)',
            16 => '(program)', 3 => 'main::leaf', 4 => 'main::leaf', 7 => 'main::deep',
            8 => 'main::deep', 9 => 'main::deep', 1 => 'main::BEGIN' }, 'lines and their subs');
};

subtest 'dprofreport --annotate' => sub {
    my $report = in_process('dprofreport', '--annotate', 'deep', '-m', 'real', $profile);
    is("$report->{status} $report->{err}", '0 ', 'of a sub');
    my ($source) = $report->{out} =~ /^ +6  sub deep \{\n(.*?)^ +10  \}\n/ms;
    like($report->{out}, qr/^# main::deep  \Q$file\E:6-10$/m, 'where it stands');
    like($source, qr/^ +[\d.]+% +[\d.]+% +5  7      my \$n = shift;$/m, 'a line with its count');
    like($source, qr/^ +[\d.]+% +[\d.]+% +4  9      return leaf\(\$n\) \+ deep\(\$n - 1\);\n/m,
        'the line of a recursion');
    like($source, qr/^ +# 4 calls of main::deep, [\d.]+%\n +# 4 calls of main::leaf, [\d.]+%$/m,
        'and the calls that it makes');
    my $whole = in_process('dprofreport', '--annotate', 'p.pl', $profile);
    is(() = $whole->{out} =~ /^.{29} +\d+  /mg, 16, 'a file has all its lines');
    is(in_process('dprofreport', '--annotate', 'nothing', $profile)->{err},
        "--annotate: there is no sub or file nothing in the profile\n", 'of nothing');
    is(in_process('dprofreport', '--annotate', 'deep', '--format', 'json', $profile)->{status}, 2,
        'text alone');
    spew($file, "# one line more\n" . slurp($file));
    like(in_process('dprofreport', '--annotate', 'deep', $profile)->{out},
        qr/^# The file has changed since it was recorded/m, 'a source that has changed is told');
    unlink $file;
    my $gone = in_process('dprofreport', '--annotate', 'deep', $profile);
    like($gone->{out}, qr/^# The source is not there/m, 'one that is gone, too');
    like($gone->{out}, qr/^ +[\d.]+% +[\d.]+% +5 7  $/m, '... and the costs are shown');
};

subtest 'source=1' => sub {
    my $text = "sub f { return 1 }\r\nf();\n\n# \xe4 \x00" . 'z' x 99999;
    my $kept = spew("$dir/kept.pl", $text);
    my %keep = (%env, PERL_DPROF_LINES => 'time', PERL_DPROF_SOURCE => 1);
    my $with = profiled([$kept], env => \%keep)->{profile};
    spew($kept, "other\n");
    my $report = in_process('dprofreport', '--annotate', 'f', $with);
    like($report->{out}, qr/^ +[\d.]+% +[\d.]+% +1 1  sub f \{ return 1 \}$/m,
        'the text of the recording is shown');
    unlike($report->{out}, qr/changed/, '... which has not changed');
    my $merged = "$dir/merged_source.out";
    in_process('dprofmerge', '-o', $merged, $with, $with);
    my $of = qr/^(#f \S+kept\.pl size=\d+ crc=\w+ text=(\S+))$/m;
    my ($line, $packed) = slurp($with) =~ $of;
    is((slurp($merged) =~ $of)[0], $line, 'merged, it is kept');
    is(Compress::Zlib::memGunzip(MIME::Base64::decode_base64($packed)), $text,
        'read by others, it is the text');
    my @bad = (['cut', substr $packed, 0, 40], ['no base64', "!$packed"],
        ['another text', 'H4sIAAAAAAAAAwMAAAAAAAAAAAA='], ['no gzip', 'AAAA'],
        ['longer than said', $packed, 5]);
    for (@bad) {
        my ($what, $other, $size) = @$_;
        my $bad = slurp($with) =~ s/text=\Q$packed/text=$other/r;
        $bad =~ s/(#f \S+kept.pl) size=\d+/$1 size=$size/ if $size;
        my $is = in_process('dprofreport', '--annotate', 'f', spew("$dir/bad.out", $bad));
        is($is->{status}, 0, "$what: is done without");
        like($is->{out}, qr/has changed since/, '... and the file is looked at');
    }
    my $alone = profiled([$kept], env => { %env, PERL_DPROF_SOURCE => 1 });
    like($alone->{err}, qr/^DProf: source=1 needs lines: -d:DProf=tree,lines,source=1$/m,
        'without lines it is refused');
};

subtest 'hostile source' => sub {
    my $odd = spew("$dir/odd.pl", "sub f { 1 }\tmy \$x = \"\e[31m\xe4\x00\";\r\nf();\r\n\r\n");
    my $other = profiled([$odd], env => { %env, PERL_DPROF_LINES => 'time' });
    my $report = in_process('dprofreport', '--annotate', $odd, $other->{profile});
    is($report->{status}, 0, 'is shown');
    unlike($report->{out}, qr/[\x00-\x09\x0b-\x1f]/, 'and no control character of it');
    like($report->{out}, qr/\\x1b\[31m\xc3\xa4\\x00/, 'Latin-1 as UTF-8');
};

subtest 'dprofmerge' => sub {
    my $merged = "$dir/merged.out";
    is(in_process('dprofmerge', '-o', $merged, $profile, $profile)->{status}, 0, 'two of one');
    my $two = LineReader::read_file($merged);
    is(join("\n", LineReader::problems($two)), '', 'sums are equal');
    is_deeply($two->{count}, { map { $_ => 2 * $got->{count}{$_} } keys %{ $got->{count} } },
        'counts are added');
    is_deeply([map { [@{ $two->{times}{$_} }] } sort keys %{ $two->{times} }],
        [map { [map { 2 * $_ } @{ $got->{times}{$_} }] } sort keys %{ $got->{times} }],
        'and times');
    like(slurp($merged), qr/^#f \S+p\.pl size=\d+ crc=[0-9a-f]+$/m, 'the source is known still');
    in_process('dprofmerge', '-o', "$merged.2", $merged);
    is(slurp("$merged.2"), slurp($merged), 'a merged one is written as it is');
};

subtest 'lines=count' => sub {
    spew($file, "sub f { my \$x = 1; \$x++ }\nf() for 1 .. 4;\n");
    my $counted = profiled([$file], env => { %env, PERL_DPROF_LINES => 'count' })->{profile};
    my ($line) = grep { $_->{srcline} =~ /p\.pl:1\z/ }
        @{ json('-s', 'srcline', '-n', $counted)->{rows} };
    is($line->{calls}, 8, 'counts without times');
};

done_testing;
