#!/usr/bin/perl
# Each option of the recorder, and each line that the recorder adds to a file's header, is
# documented and tested. An option is a row of DPX_OPTIONS in xs/record/dpx_opt.h; a line is written
# in xs/, or is that of such a row, and is a name of DP_HEADER_NAMES in src/format/dp_header.h.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

# No test in t/ sets or looks at these so far; nothing must be added here. ops=0 is the fuzzers'.
my %untested = map { $_ => 1 } qw(ops threads before_cpu clock_zero dropped_cpu only_line);

# Returns rows of the table: name => whether the header has it.
sub options {
    my ($text) = @_;
    my ($table) = $text =~ /^#define DPX_OPTIONS\(X\) \\\n((?:.*\\\n)*.*\n)/m or return;
    my %option;
    while ($table =~ /\bX\([A-Z]+, \w+, "([\w-]+)",(.*?)\)(?: \\)?$(?=\n\s+X\(|\n\z)/msg) {
        my ($name, $more) = ($1, $2);
        $option{$name} = $more =~ /\.told = true/ ? 1 : 0;
    }
    return %option;
}

# Returns the names of the list of headers: name => how it is merged.
sub names {
    my ($text) = @_;
    my ($list) = $text =~ /^#define DP_HEADER_NAMES\(X\) \\\n((?:.*\\\n)*.*\n)/m or return;
    return $list =~ /\bX\((\w+), ([A-Z]+), [A-Z]+\)/g;
}

# Returns the names, without dprof_, of what is assigned in a header.
sub assigned {
    my ($text) = @_;
    return $text =~ /(?:\$dprof_|"dprof_)(\w+)(?=[=",])/g;
}

sub complaints {
    my (%of) = @_;
    my %option = options($of{table}) or return 'no table of options';
    my %line = map { $_ => 1 } assigned($of{writers}), grep { $option{$_} } keys %option;
    my %merge = names($of{names}) or return 'no list of names';
    my @bad;
    for my $name (sort keys %option) {
        push @bad, "$name: lib/Devel/DProf.pm has no item for it"
            unless $of{manual} =~ /^=item (?:\w+=[^\n]*, )*\Q$name\E=/m;
        my $variable = 'PERL_DPROF_' . uc $name =~ tr/-/_/r;
        push @bad, "$name: no test sets it"
            unless $untested{$name} || $of{tests} =~ /\b(?:\Q$name\E=|$variable\b)/;
    }
    for my $name (sort keys %line) {
        push @bad, "\$dprof_$name: Format.pod does not tell what it is"
            unless $of{format} =~ /\$dprof_$name\b/;
        push @bad, "\$dprof_$name: DP_HEADER_NAMES (src/format/dp_header.h) does not have it"
            if !$merge{$name};
        push @bad, "\$dprof_$name: no test looks at it"
            unless $untested{$name} || $untested{"${name}_line"} || $of{tests} =~ /\bdprof_$name\b/;
    }
    push @bad, map { "\$dprof_$_: DP_HEADER_NAMES has it, and nobody writes it" }
        grep { !$line{$_} && $_ !~ /\A(?:counters_only|time)\z/ } sort keys %merge;
    return @bad;
}

my @files = tracked();
my %real = (
    table   => content('xs/record/dpx_opt.h'),
    writers => join('', map { content($_) } grep { m{^(?:xs/\w+|src/attach)/\w+\.c$} }
        @files),
    manual  => content('lib/Devel/DProf.pm'),
    format  => content('lib/Devel/DProf/Format.pod'),
    names   => content('src/format/dp_header.h'),
    tests   => join('', map { content($_) }
        grep { m{^t/(?:\d+-[\w-]+\.t|lib/.*\.pm|c/\S+\.[ch])$} } @files),
);
my %option = options($real{table});
is(keys %option, () = $real{table} =~ /^    X\([A-Z]+, \w+, "/mg, 'all rows of the list are read');
ok($option{only} && $option{skip} && !$option{signal}, 'some options are in the header');
is(join("\n", complaints(%real)), '',
    'each option and each line of the header is documented and tested');

# The check notices violations.
my $row = qq(    X\(TEXT, label, "label", "a word for the header", .told = true\) \\\n);
(my $table = $real{table}) =~ s/(^#define DPX_OPTIONS\(X\) \\\n)/$1$row/m;
my $bad = join "\n", complaints(%real, table => $table);
like($bad, $_->[1], "the check notices $_->[0]") for (
    ['an option without a manual', qr/^label: lib/m], ['one without a test', qr/^label: no test/m],
    ['a line without a description', qr/^\$dprof_label: Format\.pod/m],
    ['one that gets lost when files are merged', qr/^\$dprof_label: DP_HEADER_NAMES/m],
    ['one that no test looks at', qr/^\$dprof_label: no test/m],
);
done_testing;
