#!/usr/bin/perl
# Whatever must be told of a recorder option, and of a line that the recorder adds to a file's
# header. An option is a row of the table in xs/dpx_opt.c; a line is written in xs/, or is that of
# such a row.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

# A merged file, or a baseline, need not have these: they are of one file, or another line tells
# them.
my %own = map { $_ => 'of one file' } qw(clock_zero complete counters end events_missing folded
    format inherited lines saved shares slice stopped unit);

# No test in t/ sets or looks at these so far; nothing must be added here. ops=0 is the fuzzers'.
my %untested = map { $_ => 1 } qw(ops threads before_cpu clock_zero dropped_cpu only_line);

# Returns rows of the table: name => whether the header has it.
sub options {
    my ($text) = @_;
    my ($table) = $text =~ /^static const struct option table\[\] = \{\n(.*?)^\};/ms or return;
    my %option;
    my $text_of = qr/"(?:[^"\\]|\\.)*"/;
    while ($table =~ /^    \{ "([\w-]+)",.*\n\s+$text_of((?:, \.\w+ = (?:\w+|$text_of))*) \},$/mg) {
        my ($name, $more) = ($1, $2);
        $option{$name} = $more =~ /\.told = true/ ? 1 : 0;
    }
    return %option;
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
        push @bad, "\$dprof_$name: neither src/profile/dp_origin.[ch] nor $0 says what becomes of"
            . ' it in a merged file'
            unless $own{$name} || $of{origin} =~ /\bX\($name\b|"dprof_$name"/;
        push @bad, "\$dprof_$name: no test looks at it"
            unless $untested{$name} || $untested{"${name}_line"} || $of{tests} =~ /\bdprof_$name\b/;
    }
    push @bad, map { "\$dprof_$_: $0 names it, and nobody writes it" }
        grep { !$line{$_} } sort keys %own;
    return @bad;
}

my @files = tracked();
my %real = (
    table   => content('xs/dpx_opt.c'),
    writers => join('', map { content($_) } grep { m{^xs/\w+\.c$} } @files),
    manual  => content('lib/Devel/DProf.pm'),
    format  => content('lib/Devel/DProf/Format.pod'),
    origin  => content('src/profile/dp_origin.h') . content('src/profile/dp_origin.c'),
    tests   => join('', map { content($_) }
        grep { m{^t/(?:\d+-[\w-]+\.t|lib/.*\.pm|c/\S+\.[ch])$} } @files),
);
my %option = options($real{table});
is(keys %option, () = $real{table} =~ /^    \{ "/mg, 'all rows of the table are read');
ok($option{only} && $option{skip} && !$option{signal}, '... some of which are in the header');
is(join("\n", complaints(%real)), '',
    'each option and each line of the header is documented and tested');

# The check notices violations.
my $row = qq(    { "label", NULL, TEXT, AT\(label\), 0, 0, 0, NULL,\n)
    . qq(      "a word for the header", .told = true },\n);
(my $table = $real{table}) =~ s/(^static const struct option table\[\] = \{\n)/$1$row/m;
my $bad = join "\n", complaints(%real, table => $table);
like($bad, $_->[1], "notices: $_->[0]") for (
    ['an option without a manual', qr/^label: lib/m], ['one without a test', qr/^label: no test/m],
    ['a line without a description', qr/^\$dprof_label: Format\.pod/m],
    ['one that gets lost when files are merged', qr/^\$dprof_label: neither/m],
    ['one that no test looks at', qr/^\$dprof_label: no test/m],
);
done_testing;
