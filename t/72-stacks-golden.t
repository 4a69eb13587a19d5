# Each format of stacks for programs is the golden file, byte by byte; DPROF_GOLDEN=1 rewrites them,
# review the diff. The suffix of a file selects its format, so that nothing here names one.
use strict;
use warnings;
use Cwd 'abs_path';
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch run_tool slurp spew data);
use Devel::DProf::View::Stacks;

my $dir = scratch();
my $golden = abs_path('t/golden');
my @cases = (
    'ours.out', '-m calls ours.out', '--unit ns --reverse shop-new.out',
    '--diff -n shop-old.out shop-new.out',
);

my @formats = Devel::DProf::View::Stacks::formats('programs');
is($formats[0]{name}, 'folded', 'folded text is the first format');
for my $format (@formats) {
    my ($suffix) = split ' ', $format->{suffixes};
    my $text = '';
    for my $case (@cases) {
        my $file = "$dir/out$suffix";
        my $run = run_tool('Dproffold', ['-f', '-o', $file, split ' ', $case], dir => data('.'));
        is("$run->{out}$run->{err}$run->{status}", 0,
            "$format->{name} is written without a message: $case");
        $text .= "--- $case\n" . slurp($file) =~ s/\Q$Devel::DProf::Core::VERSION\E/VERSION/gr;
    }
    my $name = "stacks.$format->{name}";
    spew("$golden/$name", $text) if $ENV{DPROF_GOLDEN};
    is($text, -e "$golden/$name" ? slurp("$golden/$name") : '', "$name is the golden file");
}

# Each format has one name, each suffix one format.
for my $for (qw(programs eyes tools)) {
    my (%names, %suffixes);
    for my $format (Devel::DProf::View::Stacks::formats($for)) {
        $names{ $format->{name} }++;
        for my $suffix (split ' ', $format->{suffixes}) {
            $suffixes{$suffix}++;
            is(Devel::DProf::View::Stacks::format_of($for, undef, "/a.b/c\U$suffix")->{name},
                $format->{name}, "the suffix $suffix means $format->{name}");
        }
        is(Devel::DProf::View::Stacks::format_of($for, $format->{name}, 'x.svg')->{name},
            $format->{name}, "--format $format->{name} means $format->{name}");
    }
    is_deeply([grep { $_ > 1 } values %names, values %suffixes], [],
        'no two formats share a suffix');
    is(Devel::DProf::View::Stacks::format_of($for, undef, $_), undef,
        'a name without a suffix has no format')
        for undef, '', '-', 'svg', 'x.svg/y', 'x.none';
    is(eval { Devel::DProf::View::Stacks::format_of($for, 'none'); 1 }, undef,
        'an unknown format is an error');
    like($@, qr/^--format: unknown format none; there are \w+/,
        'the message of an unknown format lists the formats');
}

done_testing;
