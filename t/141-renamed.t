# Subs that may only have another name: dprofdiff names the pairs in JSON, tables and pages as in
# its answer.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Compress::Zlib ();
use JSON::PP ();
use MIME::Base64 ();
use Test::More;
use DProfTest;
use MadeUp;

my $dir = scratch();

# Makes a profile of subs of package P: NAME => [microseconds, calls, ops].
sub profile {
    my ($name, %subs) = @_;
    my @names = sort keys %subs;
    my $total = 0;
    $total += $_->[0] for values %subs;
    my @lines = ('= 0 0 0 0 0 0 0 0 0', map {
        my ($time, $calls, $ops) = @{ $subs{ $names[$_] } };
        sprintf '= 1 %x %d %d 0 %d 0 0 %d', $_ + 1, $calls, $time, $time, $ops;
    } 0 .. $#names);
    return spew("$dir/$name.out", profile_text(format => 'tree', hz => 1_000_000,
        times => [$total, 0, $total], counters => 'ops:ops', complete => 1,
        header => "\$dprof_run='$name'; \$dprof_hash_seed=0; \$dprof_perturb_keys=0;",
        subs => [map { "P $_ p.pl:1" } @names], lines => \@lines));
}

my %same = (a => [10_000, 100, 5000]);
my @sides = (profile('old', %same, 'b<"' => [20_000, 300, 900], c => [30_000, 1000, 70_000]),
    profile('new', %same, y => [20_000, 300, 900], z => [31_000, 1005, 70_400]));
my @want = (['P::c', 'P::z', 1005, 0], ['P::b<"', 'P::y', 300, 1]);

# Returns the lines of text for the pairs.
sub lines_of {
    return map { "$_->[0] -> $_->[1], " . ($_->[2] =~ s/(\d)(\d{3})\z/$1,$2/r) . ' calls'
        . ($_->[3] ? ', the same ops: --map auto' : ': --map OLD=NEW')
        . ' compares them as one sub' } @_;
}

my $json = JSON::PP::decode_json(in_process('dprofdiff', '--format', 'json', @sides)->{out});
is_deeply([map { [@$_{qw(from to calls)}, $_->{certain} ? 1 : 0] } @{ $json->{renamed} }], \@want,
    'JSON lists the pairs');
my $answer = in_process('dprofdiff', @sides)->{out};
is(join("\n", $answer =~ /^Renamed\? (.*)$/mg), join("\n", lines_of(@want)),
    'the answer has the same pairs');
$answer = in_process('dprofdiff', '-v', @sides)->{out};
is(scalar(() = $answer =~ /Renamed\?/g), 2, '-v does not name them twice');
for my $format (qw(markdown html)) {
    my $out = in_process('dprofdiff', '--format', $format, @sides)->{out};
    $out =~ s/&lt;/</g, $out =~ s/&gt;/>/g, $out =~ s/&quot;/"/g;
    $out =~ s/\\([<>*_`|\[\]-])/$1/g if $format eq 'markdown';
    is(scalar(grep { index($out, $_) >= 0 } lines_of(@want)), 2, "$format names the pairs")
        or diag $out;
}
# Pages and pictures, whichever tool makes them.
sub data_of_page {
    my ($data) = $_[0] =~ m{id="dprof-data">([^<]*)</script>};
    return Compress::Zlib::memGunzip(MIME::Base64::decode_base64($data // '')) // '';
}
my @auto = ([], ['--map', 'auto']);
for (['dprofdiff', '--format', 'flame'], ['dprofflame', '--diff', '--format', 'html'],
    ['dprofhtml', '--diff', '-o', '-']) {
    my ($tool, @options) = @$_;
    for my $map (@auto) {
        my $run = in_process($tool, @options, @$map, @sides);
        is($run->{err}, '', "$tool @options @$map says nothing");
        my $data = data_of_page($run->{out});
        is(scalar(() = $data =~ /"Renamed\?"/g), @$map ? 1 : 2,
            "the page of $tool @options @$map names the pairs");
        like($data, qr/"P::c -> P::z, 1,005 calls: --map OLD=NEW compares them as one sub"/,
            "a note of the page of $tool @$map has the names");
    }
}
for (['dprofdiff', '--format', 'flame-svg'], ['dprofflame', '--diff']) {
    my ($tool, @options) = @$_;
    my ($line) = in_process($tool, @options, @sides)->{out}
        =~ m{<text id="subtitle"[^>]*>([^<]*)</text>};
    is($line, 'Renamed? P::c -&gt; P::z, 1,005 calls: --map OLD=NEW compares them as one sub; '
        . 'and 1 more pair', "the picture of $tool names the first pair");
    unlike(in_process($tool, @options, @sides[0, 0])->{out}, qr/Renamed/,
        "the picture of $tool without pairs has no such line");
}
like(in_process('dprofflame', '--diff', '--subtitle', 'mine', @sides)->{out},
    qr{<text id="subtitle"[^>]*>mine</text>}, 'a subtitle of the user stays');
like(in_process('dproffold', '--diff', '-m', 'calls', '--map', 'auto', @sides)->{out},
    qr/^P::y 300 300$/m, 'folded stacks take --map auto, too');

for my $same (['--map', 'auto', 1], ['--map', 'P::c=P::z', 1]) {
    my (@map) = @$same[0, 1];
    $json = JSON::PP::decode_json(in_process('dprofdiff', @map, '--format', 'json', @sides)->{out});
    is(scalar @{ $json->{renamed} }, 1, "@map leaves one pair");
}
$json = JSON::PP::decode_json(in_process('dprofdiff', '--format', 'json', @sides[0, 0])->{out});
ok(!exists $json->{renamed}, 'without pairs there is no list');

done_testing;
