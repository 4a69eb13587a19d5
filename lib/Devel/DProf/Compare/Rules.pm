package Devel::DProf::Compare::Rules;

# Parses the rules of a gate: the texts of --fail-if and fail_if.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Constants qw(DP_RULE_GROWTH DP_RULE_NEW DP_RULE_GONE DP_RULE_LIMITS);
use Devel::DProf::Metric;
use Devel::DProf::OptionValues qw(kind_pattern);

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(rules_of limit_of);

# Returns the rules of a text, RULE, RULE, in the syntax of dprofdiff's manual, as hashes: text,
# kind, metric, limits, re, by_line, with_ops. Dies with a message if a rule is wrong.
sub rules_of {
    my ($text) = @_;
    my @rules;
    pos($text) = 0;
    while (1) {
        $text =~ /\G[\s,]+/gc;
        last if pos $text == length $text;
        push @rules, rule_at($text);
    }
    die "--fail-if: there is no rule\n" if !@rules;
    return @rules;
}

# Parses the rule at the position pos() of the text $_[0], and moves pos() behind the rule. Returns
# the rule as a hash.
sub rule_at {
    my $start = pos $_[0];
    my %rule;
    # A metric may be called "line", too; then ">" follows.
    $rule{by_line} = 1 if $_[0] =~ /\Gline\s+(?=[^\s>])/gc;
    $rule{re} = pattern_of($1) if $_[0] =~ m{\G/((?:[^/\\]|\\.)*)/\s*}gcs;
    span_at($_[0], \%rule);
    if ($_[0] =~ /\G(new|gone)\b\s*/gc) {
        $rule{kind} = $1 eq 'new' ? DP_RULE_NEW : DP_RULE_GONE;
        span_at($_[0], \%rule) if !$rule{re};
    } elsif ($_[0] =~ m{\G($Devel::DProf::Metric::EVENT|[^\s<>=,&/]+)\s*>\s*}gc) {
        @rule{qw(kind metric)} = (DP_RULE_GROWTH, $1);
        $rule{limits} = limits_at($_[0]);
        $rule{with_ops} = 1 if $_[0] =~ /\Gand\s+ops\b\s*/gc;
    } else {
        die wrong(pos $_[0], $_[0], 'METRIC > LIMIT, new or gone');
    }
    my $end = pos $_[0];
    $rule{text} = substr($_[0], $start, $end - $start) =~ s/\s+\z//r;
    die wrong($end, $_[0], 'a comma, or the end')
        if $end != length $_[0] && substr($_[0], $end, 1) ne ',';
    return \%rule;
}

# Parses [KIND] at pos($_[0]): the rule is about spans of that kind. Without [KIND], does nothing.
# Dies with a message if the rule has a pattern, or is one of lines.
sub span_at {
    my (undef, $rule) = @_;
    $_[0] =~ /\G\[([^\[\]]+)\]\s*/gc or return;
    die "--fail-if: $_[0]: a rule has either a pattern or a kind of spans; omit /PATTERN/ or [$1]\n"
        if $rule->{re};
    die "--fail-if: $_[0]: lines have no spans; omit `line' or [$1]\n" if $rule->{by_line};
    $rule->{re} = kind_pattern($rule->{span} = $1);
    return;
}

# Returns the regular expression of a rule, compiled. Dies with a message if it is none.
sub pattern_of {
    my ($re) = @_;
    no warnings 'regexp';
    return eval { qr/$re/ } // die "--fail-if: /$re/ is not a regular expression: "
        . ($@ =~ s/ at \S+ line \d+\.\n\z//r) . "\n";
}

# Parses the limits of a rule at pos($_[0]), `5% & 2ms`, and moves pos behind them. Returns them as
# [NUMBER, UNIT]; dies with a message if there is none.
sub limits_at {
    my @limits;
    do {
        $_[0] =~ /\G(\d+(?:\.\d+)?|\.\d+)\s*(%|[a-z]+\b)?\s*/gc
            or die wrong(pos $_[0], $_[0], 'a limit like 5%, 2ms or 10000');
        push @limits, [$1, $2 // ''];
    } while ($_[0] =~ /\G&\s*/gc);
    die "--fail-if: $_[0]: a rule has at most two limits\n" if @limits > DP_RULE_LIMITS;
    return \@limits;
}

# Returns the message about a mistake at a position of the text of rules. wanted: what the parser
# expected there.
sub wrong {
    my ($at, $text, $wanted) = @_;
    return "--fail-if: $wanted is expected at `" . substr($text, $at)
        . "' in `$text'; for example 'self > 5% & 2ms, calls > 0'\n";
}

my %SECONDS = (s => 1, ms => 1e-3, us => 1e-6, ns => 1e-9);

# Returns a limit of a rule as C takes it: [number, is it in percent]. is_time: the values are
# seconds. per_second: the metric's units in a second, or 0 if it is no time.
sub limit_of {
    my ($rule, $value, $unit, $is_time, $per_second) = @_;
    return [$value, 1] if $unit eq '%';
    die "--fail-if: $rule->{text}: $unit is not a unit; the units are %, s, ms, us, ns\n"
        if length $unit && !$SECONDS{$unit};
    die "--fail-if: $rule->{text}: $value$unit is a time, and this metric is a count\n"
        if length $unit && !$per_second;
    die "--fail-if: $rule->{text}: a limit of time needs a unit: $value% or ${value}ms\n"
        if !length $unit && $is_time && $value != 0;
    return [length $unit ? $value * $SECONDS{$unit} * $per_second : $value, 0];
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Compare::Rules - the rules of a gate: --fail-if, fail_if

=head1 DESCRIPTION

This module parses the rules of L<dprofdiff/--fail-if> and of C<fail_if> of L<Test::DProf>. It is
internal to this distribution.

=head1 FUNCTIONS

Both die with a message if a rule is wrong.

=over

=item rules_of TEXT

Returns the rules of a text, a hash each. The keys are text; kind, one of DP_RULE_LIST's numbers;
by_line, true if the rule is about lines; re, the compiled pattern, if there is one; and span, the
kind of spans that the rule is about, for which re is a pattern, too. A rule about growth also has
metric, a word; limits, a list of [NUMBER, UNIT]; and with_ops, true if the ops must have grown,
too.

=item limit_of RULE, NUMBER, UNIT, IS_TIME, PER_SECOND

Returns a limit as C takes it: [NUMBER, IS_PERCENT]. IS_TIME is true if the values are seconds.
PER_SECOND is the number of the metric's units in a second, or 0 if the metric is no time.

=item rule_at TEXT, span_at TEXT, RULE, pattern_of TEXT, limits_at TEXT

=item wrong POSITION, TEXT, WANTED

These functions are parts of the above.

=back

=cut
