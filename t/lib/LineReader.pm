package LineReader;

# Reads the statements of a profile (#f and #l lines) and the contexts beside them, in plain Perl;
# it shares no code with the tools.

use strict;
use warnings;
use DProfTest 'slurp';

# Returns { header, count (by "FILE:LINE"), times (the same, [USER, SYSTEM, REAL]), counters (the
# same, [each counter]), by_sub (by "FILE:LINE SUB"), sub_counters (the same, [each counter]), lines
# and nodes (the sums: user, system, real, each counter), entries, problems }.
sub read_text {
    my ($text) = @_;
    my %got = (count => {}, times => {}, counters => {}, sub_counters => {},
        lines => [], nodes => [], header => {}, entries => 0, problems => []);
    my ($file, %name, %seen) = (undef, 0 => '-');
    my ($head, $tree) = $text =~ /\A(.*?)^PART3\n(.*)\z/ms
        or return { %got, problems => ['no tree'] };
    $got{header}{$1} = $2 while $head =~ /\$(\w+)='?([^';]*)'?;/g;
    my $columns = split ' ', $got{header}{dprof_counters} // '';
    my $times = ($got{header}{dprof_lines} // '') eq 'time' ? 3 + $columns : 0;
    for (split /\n/, $tree) {
        if (/^= \d+ \w+ \d+ (\d+) (\d+) (\d+) \d+ \d+((?: \d+)*)/) {
            my @row = ($1, $2, $3, split ' ', $4);
            $got{nodes}[$_] += $row[$_] for 0 .. $#row;
        } elsif (/^& (\w+) (\S+) (\S+) \S+(.*)/) {
            $name{$1} = join $4 eq ' kind=span' ? ':' : '::', $2, $3;
        } elsif (/^#f (\S+)(?: size=\d+ crc=[0-9a-f]+(?: text=[\w+\/=]+)?)?$/) {
            $file = $1 eq '%' ? '' : $1;
            push @{ $got{problems} }, "file $file twice" if $seen{$file}++;
        } elsif (/^#l (\d+) (\w+) (\d+)((?: \d+)*)((?: later=[1-9]\d*)?)$/) {
            my ($line, $sub, $count, $later, @row) = ($1, $2, $3, $5, split ' ', $4);
            my $at = ($file // '?') . ":$line";
            push @{ $got{problems} }, "no sub $sub" if !exists $name{$sub};
            push @{ $got{problems} }, "$_: " . @row . " columns" if @row != $times;
            push @{ $got{problems} }, "$at: the same twice" if $seen{"$at $sub$later"}++;
            push @{ $got{problems} }, "$_: more CPU than time"
                if @row && $row[0] + $row[1] > $row[2];
            $got{count}{$at} += $count;
            $got{by_sub}{"$at $name{$sub}"} += $count;
            $got{entries}++;
            $got{times}{$at}[$_] += $row[$_] for 0 .. ($times ? 2 : -1);
            for (3 .. $#row) {
                $got{counters}{$at}[$_ - 3] += $row[$_];
                $got{sub_counters}{"$at $name{$sub}"}[$_ - 3] += $row[$_];
            }
            $got{lines}[$_] += $row[$_] for 0 .. $#row;
        } elsif (/^#[fl]/) {
            push @{ $got{problems} }, "cannot be read: $_";
        }
    }
    return \%got;
}

# Reads a tree file. Returns what read_text returns.
sub read_file {
    my ($path) = @_;
    my $text = slurp($path) // return { problems => ["$path: no file"] };
    return read_text($text);
}

# Returns what is wrong: with the text itself, and where the sums of statements are not those of
# contexts.
sub problems {
    my ($got) = @_;
    my @wrong = @{ $got->{problems} };
    return @wrong if ($got->{header}{dprof_lines} // '') ne 'time';
    my @names = (qw(user system real), split ' ', $got->{header}{dprof_counters} // '');
    for my $n (0 .. $#{ $got->{nodes} }) {
        my ($lines, $nodes) = map { $_->[$n] // 0 } @$got{qw(lines nodes)};
        push @wrong, "$names[$n]: lines come to $lines, contexts to $nodes" if $lines != $nodes;
    }
    return @wrong;
}

1;
