package Devel::DProf::View::Editor;

# The dearest lines for editors: a list of places that vim and emacs step through, and JSON.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_F_SHOWN);
use Devel::DProf::Core;
use Devel::DProf::Text qw(json_text plural shown);
use Devel::DProf::View::Layout qw(grouped seconds);

our $VERSION = $Devel::DProf::Core::VERSION;

# Columns of line_rows and of subs and rows.
use constant { FILE => 0, LINE => 1, SUB => 2, COUNT => 3, SELF => 4, INCL => 5, CALLS => 6,
    OF_FILE => 2, OF_LINE => 3 };
use constant VERSION => 1;      # of the JSON

# Makes the list for a profile. METRIC: a Devel::DProf::Metric. FLAGS says which subs are shown, as
# for print_report. Without costs of lines, the place of a sub is its first line.
sub new {
    my ($class, $profile, $metric, $flags) = @_;
    my @names = ((map { $_->[0] } $profile->subs({ separate => 1 })), '');
    my %shown = map { !defined $flags || ord(substr $flags, $_, 1) & DP_F_SHOWN
        ? ($names[$_] => 1) : () } 0 .. $#names;
    my @rows = grep { $shown{ $_->{sub} } }
        $profile->line_detail ? of_lines($profile, $metric) : of_subs($profile, $metric);
    return bless { profile => $profile, metric => $metric, has_lines => $profile->line_detail,
        rows => [sort { $b->{self} <=> $a->{self} || $a->{file} cmp $b->{file}
            || $a->{line} <=> $b->{line} || $a->{sub} cmp $b->{sub} } @rows] }, $class;
}

# Returns a hash for each line that cost something: file, line, sub, count, calls, self, inclusive.
sub of_lines {
    my ($profile, $metric) = @_;
    my @subs = map { $_->[0] } $profile->subs({ separate => 1 });
    return map { +{ file => $_->[FILE], line => $_->[LINE], count => $_->[COUNT],
        calls => $_->[CALLS], self => $_->[SELF], inclusive => $_->[INCL],
        sub => defined $_->[SUB] ? $subs[ $_->[SUB] ] : '' } }
        grep { length $_->[FILE] && $_->[LINE] && ($_->[SELF] || $_->[INCL]) }
        @{ $profile->line_rows($metric->number, $metric->counter // 0) };
}

# Returns the same for subs, whose count is that of their calls.
sub of_subs {
    my ($profile, $metric) = @_;
    my %place = map { $_->[0] => [@$_[OF_FILE, OF_LINE]] } $profile->subs({ separate => 1 });
    return map {
        my ($name, $calls, $self, $inclusive) = @$_;
        my ($file, $line) = @{ $place{$name} // ['', 0] };
        +{ file => $file, line => $line, sub => $name, count => $calls, calls => 0,
            self => $self, inclusive => $inclusive };
    } grep { length(($place{ $_->[0] } // [''])->[0]) }
        $profile->rows({ separate => 1, rows => 2**31, $metric->for_rows });
}

# Returns a value as people read it.
sub shown_value {
    my ($self, $value) = @_;
    return grouped($value) if !$self->{metric}->is_time || $self->{profile}->unit ne 's';
    return seconds($value / $self->{profile}->hz) || '0 s';
}

# Returns the list for an editor, a line each: FILE:LINE: what it cost. ROWS: their number, 0: all.
sub quickfix {
    my ($self, $rows) = @_;
    my @rows = @{ $self->{rows} };
    splice @rows, $rows if $rows && @rows > $rows;
    my $total = $self->{metric}->total($self->{profile});
    my $what = $self->{metric}->is_time ? 'self' : $self->{metric}->label;
    return join '', map {
        sprintf "%s:%d: %.2f%% %s (%s), %s%s\n", shown($_->{file}), $_->{line},
            $total ? 100 * $_->{self} / $total : 0, $what, $self->shown_value($_->{self}),
            $self->{has_lines} ? plural(grouped($_->{count}), 'time')
            : plural(grouped($_->{count}), 'call'),
            length $_->{sub} ? ', ' . shown($_->{sub}) : '';
    } @rows;
}

# Returns all lines as JSON, by file and line.
sub json {
    my ($self) = @_;
    my $profile = $self->{profile};
    my $is_seconds = $self->{metric}->is_time && $profile->unit eq 's';
    my $number = sub { $is_seconds ? $_[0] / $profile->hz : $_[0] + 0 };
    my %files;
    for my $row (@{ $self->{rows} }) {
        push @{ $files{ $row->{file} } }, {
            line => $row->{line} + 0, sub => $row->{sub}, count => $row->{count} + 0,
            calls => $row->{calls} + 0, self => $number->($row->{self}),
            inclusive => $number->($row->{inclusive}),
        };
    }
    return json_text({ version => VERSION, metric => $self->{metric}->label,
        unit => $is_seconds ? 's' : $self->{metric}->unit,
        places => $self->{has_lines} ? 'lines' : 'subs',
        files => [map { +{ file => $_, lines => [sort { $a->{line} <=> $b->{line}
            || $a->{sub} cmp $b->{sub} } @{ $files{$_} }] } } sort keys %files] }, pretty => 1);
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Editor - the dearest lines for editors

=head1 SYNOPSIS

    my $list = Devel::DProf::View::Editor->new($profile, $profile->metric('cpu'));
    print $list->quickfix(50);

=head1 DESCRIPTION

C<dprofreport --format quickfix> and C<--format editor> print what this class makes of a
L<Devel::DProf::Profile>: C<quickfix(ROWS)> a line for each place, C<json> all of them. It is
internal to this distribution; L<dprofreport> documents both formats.

=cut
