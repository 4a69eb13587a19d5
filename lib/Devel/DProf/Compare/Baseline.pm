package Devel::DProf::Compare::Baseline;

# Baselines: profiles that are kept beside the code and compared with later runs.

use strict;
use warnings;

use Cwd ();
use Devel::DProf::Compare::Diff;
use Devel::DProf::Compare::Rules qw(rules_of);
use Devel::DProf::Constants qw(words_of DP_LINES_TIMES);
use Devel::DProf::Input;
use Devel::DProf::Metric;
use Devel::DProf::Outcome;
use Devel::DProf::Profile;
use Devel::DProf::Sides qw(parts);
use Devel::DProf::Table;
use Devel::DProf::Text qw(text shown);
use Devel::DProf::View::Layout qw(columns);

our $VERSION = $Devel::DProf::Core::VERSION;

# ---- writing ----

# Writes a baseline of the files of a run. Dies with the reason if it cannot.
sub write {
    my ($path, $files, %how) = @_;
    my $profile = profile($files, %how);
    my $failed = $profile->save($path, $VERSION, written_how($profile, $how{counters_only}));
    die "$path could not be written: $failed\n" if defined $failed;
    return 1;
}

# Returns the options of Devel::DProf::Profile::save() for a baseline: which kind of file, and which
# counters are exact enough to be in it.
sub written_how {
    my ($profile, $counters_only) = @_;
    my @counters = grep { Devel::DProf::Metric::repeats($_) } $profile->counter_names;
    my $kind = $counters_only ? Devel::DProf::Profile::COUNTERS : Devel::DProf::Profile::BASELINE;
    return { kind => $kind, counters => \@counters };
}

# Makes one profile of files, with paths that are the same in every checkout. Dies with the reason
# if a file cannot be used.
sub profile {
    my ($files, %how) = @_;
    my %take = (
        bases => bases($how{root}),
        map { defined $how{$_} ? ($_ => $how{$_}) : () } qw(phase below),
    );
    die "there are no files\n" if !@$files;
    my $sides = Devel::DProf::Sides->new(detail => 1, phases => 1, waits => 1);
    $sides->read(sub {
        my ($o, $header) = @_;
        Devel::DProf::Input::doubts($o->{path}, 0, %$header{dprof_left_out});
        my $why = why_unusable($o, $how{allow_truncated});
        die "$o->{path}: $why\n" if defined $why;
        return 'fine';
    }, { name => '', runs => [map { [$_] } @$files] });
    my $sum = Devel::DProf::Input->new(detail => 1, phases => 1)->profile;
    for my $one (parts(($sides->sides)[0])) {
        my $why = $sum->take($one, \%take) // next;
        # This process had no part in the phase.
        next if defined $how{phase} && $why eq 'there is no such phase';
        die $one->outcome(0)->{path} . ": $why\n";
    }
    return $sum;
}

# Returns why a file with this outcome cannot be part of a baseline, or undef. truncated: files
# without their end are accepted.
sub why_unusable {
    my ($o, $truncated) = @_;
    my $what = Devel::DProf::Outcome::verdict($o);
    return undef if Devel::DProf::Input::usable($what) && ($truncated || $what ne 'cut');
    return Devel::DProf::Outcome::reason($o);
}

# Returns prefixes of paths and their replacements, in pairs. Paths below the project's folder
# become relative to it, also those of its blib. Paths below other folders of perl become relative
# to these.
sub bases {
    my ($root) = @_;
    require Config;
    $root = Cwd::abs_path($root // '.') // '';
    my @perls_own = @Config::Config{qw(
        privlibexp archlibexp sitelibexp sitearchexp vendorlibexp vendorarchexp)};
    my %base = map { ("$_/" => '') }
        map { my $dir = $_; $dir =~ s{/+\z}{}; ($dir, Cwd::abs_path($dir) // ()) }
        grep { defined && !ref && m{^/.} } @INC, @perls_own;
    delete @base{ grep { index($_, "$root/") == 0 } keys %base } if length $root > 1;
    if (length $root > 1) {
        for my $in ("$root/", '') {
            $base{"${in}blib/$_/"} = 'lib/' for qw(lib arch);
            $base{"${in}./"} = '' ;
        }
        $base{"$root/"} = '';
    }
    return [map { ($_ => $base{$_}) } sort keys %base];
}

# ---- comparing ----

# The least change, in percent of the total, that has a line of its own in the call tree.
use constant LEAST_PERCENT => 0.05;

# Compares the files of a run with those of a baseline. Takes NAME => VALUE pairs, and returns a
# hash (see the manual). Dies if a file cannot be compared, or if a rule is wrong.
sub compare {
    my (%how) = @_;
    my @messages;
    my @sides = map { { name => $how{"$_->[0]_name"} // $_->[1],
        runs => as_runs($how{ $_->[0] }) } }
        ['old', 'baseline'], ['new', 'now'];
    my %has = common_measures(@sides);
    my ($rules, @idle) = checkable_rules($how{fail_if}, \%has, \@messages);
    my $metric = $how{metric} // choose_metric($rules, \%has);
    my %in_c = (bases => [pair_bases($how{root})], renames => $how{renames} // [],
        strict => $how{strict} ? 1 : 0);
    my $reader = Devel::DProf::Sides->new(say => sub { push @messages, $_[0] }, waits => 1);
    my $diff = Devel::DProf::Compare::Diff->new($reader, \%in_c, metric_name => $metric, empty => 1,
        rules => $rules,
        as_measured => $how{as_measured},
        symfs => [Cwd::abs_path($how{root} // '.') // ()],
    );
    my $read = $reader->read(sub {
        my ($o) = @_;
        my $wrong = why_unusable($o, $how{allow_truncated});
        die "$o->{path}: $wrong\n" if defined $wrong;
        return $o->{code} ? 'cut' : 'fine';
    }, @sides);
    # The last message has the reason.
    $read && $diff->settle && $diff->settle_rules
        or die join('; ', @messages ? $messages[-1] : 'the sides cannot be compared') . "\n";
    push @messages, grep { !/^the program / } $diff->differences;
    push @messages, $diff->doubts;
    my $compared = $diff->compared(LEAST_PERCENT)
        or die join('; ', @messages ? $messages[-1] : 'a pattern cannot be used') . "\n";
    push @messages, $diff->idle({ %$compared, rows => scalar @{ $compared->{rows} } });
    push @idle, $diff->unmatched($compared);
    my %result = (
        (map { $_ => $compared->{$_} } qw(failed undecided needed)), metric => $metric,
        findings => findings_of($compared), messages => unique_texts(@messages), diff => $diff,
        idle => \@idle,
    );
    name_lines($diff, $result{findings}) if $has{lines};
    @result{qw(text table)} = describe_subs($compared, \%result, $how{rows} // 8);
    @result{qw(branch tree)} = describe_tree($compared, \%result, $how{rows} // 12);
    return \%result;
}

# Returns files as a list of runs: a list of files is one run, and a list of such lists is several.
sub as_runs {
    my ($files) = @_;
    return [grep { @$_ } grep { ref } @$files] if ref $files->[0];
    return [[@$files]];
}

# The words of the header `lines': counts only, or times and counters, too.
my %LINES = words_of('lines');

# Returns what all sides have, as a hash: counters (a hash of their names), times, lines (the least
# detail of lines, as a number), and perls (a list of versions).
sub common_measures {
    my (@sides) = @_;
    my (%count, $files, %perls, %has);
    my $times = 1;
    for my $side (@sides) {
        for my $path (map { @$_ } @{ $side->{runs} }) {
            my %header = Devel::DProf::Input::header_of($path);
            $files++;
            my $lines = $LINES{ $header{dprof_lines} // '' } // 0;
            $has{lines} = $lines if !defined $has{lines} || $lines < $has{lines};
            $count{ Devel::DProf::Metric::name_of($_) }++
                for split ' ', $header{dprof_counters} // '';
            $times &&= !$header{dprof_counters_only};
            push @{ $perls{ $header{dprof_perl} } }, $side->{name} if defined $header{dprof_perl};
        }
    }
    die "there is nothing to compare\n" if !$files;
    $has{counters} = { map { $_ => 1 } grep { $count{$_} == $files } keys %count };
    $has{times} = $times;
    $has{perls} = [sort keys %perls];
    return %has;
}

# Returns a list of those rules that can be checked on these sides, and then the texts of the rules
# that could not be checked by the same perl either. Adds a message to $messages about each rule
# that is left out. text: the rules as the user gave them; has: what common_measures() returned.
sub checkable_rules {
    my ($text, $has, $messages) = @_;
    return [] if !defined $text;
    my (@rules, @idle);
    for my $rule (map { rules_of($_) } ref $text ? @$text : $text) {
        my $metric = $rule->{metric};
        my $why;
        if (defined $metric && $metric ne 'calls') {
            my $is_time = $metric =~ /^(?:self|incl)\z/;
            my $known = $is_time ? $has->{times}
                : defined Devel::DProf::Metric::named($metric, keys %{ $has->{counters} });
            my $perls = join ', ', @{ $has->{perls} };
            if (@{ $has->{perls} } > 1) { $why = "recorded by different perls ($perls)" }
            elsif ($is_time && !$known) { $why = 'the baseline has counters only, and no times' }
            elsif (!$known) { $why = "not both sides have $metric" }
        }
        $why //= why_no_lines($has, $metric) if $rule->{by_line};
        if (!defined $why) {
            push @rules, $rule;
            next;
        }
        push @$messages, "rule $rule->{text} was not checked: $why";
        push @idle, $rule->{text} if @{ $has->{perls} } < 2;
    }
    return (\@rules, @idle);
}

# Returns the reason why a rule about lines cannot be checked, or undef.
sub why_no_lines {
    my ($has, $metric) = @_;
    return 'not both sides have lines' if !$has->{lines};
    return undef if $has->{lines} > 1 || !defined $metric || $metric eq 'calls';
    return "the lines have calls only, and no $metric";
}

# Returns the name of the metric that the table shows: that of a rule, else ops, else calls.
sub choose_metric {
    my ($rules, $has) = @_;
    return 'cpu' if $has->{times} && grep { ($_->{metric} // '') =~ /^(?:self|incl)\z/ } @$rules;
    my ($counter) = grep { defined && !/^(?:calls|self|incl)\z/ } map { $_->{metric} } @$rules;
    my $calls = grep { ($_->{metric} // '') eq 'calls' } @$rules;
    return Devel::DProf::Metric::named($counter, keys %{ $has->{counters} }) // $counter
        if defined $counter;
    return $has->{counters}{ops} && !$calls && @{ $has->{perls} } < 2 ? 'ops' : 'calls';
}

# Returns the folders whose names are left out when the subs of two sides are paired by file: blib,
# the project's folder, and those of @INC.
sub pair_bases {
    my ($root) = @_;
    $root = Cwd::abs_path($root // '.') // '';
    return map { text($_) } "$root/blib", 'blib', $root, grep { !ref && m{^/.} } @INC;
}

# Returns the findings of a comparison as the caller of compare() gets them: a list of hashes with
# rule, sub, old, new, undecided and, for lines, in.
sub findings_of {
    my ($compared) = @_;
    return [map { +{ rule => $_->{rule}, sub => $_->{name}, old => $_->{baseline},
        new => $_->{value}, undecided => $_->{undecided},
        defined $_->{sub} ? (in => $_->{sub}) : () } } @{ $compared->{findings} }];
}

# The most lines of a sub that a finding names.
use constant LINES => 3;

# Adds to findings about subs those lines of the sub that have grown most: in the rule's metric, or
# in counts if lines have nothing else.
sub name_lines {
    my ($diff, $findings) = @_;
    my %rule = map { $_->{text} => $_ } $diff->given_rules;
    my %rows;
    for my $finding (@$findings) {
        my $rule = $rule{ $finding->{rule} };
        next if !defined $rule->{metric} || $rule->{by_line} || $finding->{sub} eq '(total)';
        my $metric = $rule->{metric} =~ /\A(?:self|incl)\z/ ? 'cpu' : $rule->{metric};
        $metric = 'calls'
            if grep { Devel::DProf::Compare::Diff::line_detail($_) < DP_LINES_TIMES } $diff->sides;
        my $measure = $diff->reader->measure($metric) or next;
        my $rows = $rows{$metric} ||= $diff->line_rows($measure) or next;
        $finding->{lines} = grown_lines($rows->{rows}, $finding->{sub}, $metric);
    }
    return;
}

# Returns the lines of a sub whose value in a metric has grown most, LINES at most.
sub grown_lines {
    my ($rows, $sub, $metric) = @_;
    my @grown = sort { $b->{change} <=> $a->{change} || $a->{line} <=> $b->{line} }
        grep { $_->{other} eq $sub && defined $_->{file} && $_->{change} > 0 } @$rows;
    splice @grown, LINES if @grown > LINES;
    return [map { +{ name => $_->{name}, old => $_->{baseline} // 0, new => $_->{value},
        metric => $metric, fate => $_->{fate} } } @grown];
}

# Returns the text of a line that has grown: `lib/My.pm:12: 10 -> 30 ops (+200.0%)`.
sub line_text {
    my ($line) = @_;
    my $how = $line->{old} ? sprintf '%+.1f%%', 100 * ($line->{new} - $line->{old}) / $line->{old}
        : $line->{fate} eq 'inserted' ? 'inserted' : 'new';
    return shown($line->{name}) . ': ' . change_text(@$line{qw(old new)})
        . (is_time($line) ? ' s' : " $line->{metric}") . " ($how)";
}

# Returns a reference to a list of the texts, each once.
sub unique_texts { my %seen; return [grep { !$seen{$_}++ } @_] }

# ---- tables ----

# Returns the subs that have changed: first those that a rule found, then the others.
sub changed_subs {
    my ($compared, $result) = @_;
    my %found = map { $_->{sub} => 1 } @{ $result->{findings} };
    my @rows = grep { $_->{status} ne 'both' || $_->{change} || more_calls($_)
        || $found{ $_->{name} } } @{ $compared->{rows} };
    return sort { ($found{ $b->{name} } // 0) <=> ($found{ $a->{name} } // 0)
        || abs $b->{change} <=> abs $a->{change}
        || abs more_calls($b) <=> abs more_calls($a) || $a->{name} cmp $b->{name} } @rows;
}

# Returns subs, or rows of the call tree, as a Devel::DProf::Table.
sub make_table {
    my ($result, @rows) = @_;
    my $table = Devel::DProf::Table->new(['Calls before', 'baseline_calls'], ['Calls', 'calls'],
        ['Before', 'baseline'], ['Now', 'value'], ['Change', 'change_pct'], ['', 'status', 1],
        ['Level', 'level'], ['Sub', 'sub', 1]);
    $table->fact('Metric', 'metric', $result->{metric} . unit_text($result));
    for my $row (@rows) {
        my ($old, $new) = map { $_ // 0 } @$row{qw(baseline value)};
        my $percent = $old ? 100 * ($new - $old) / $old : undef;
        my $status = $row->{status} // '';
        $table->row(map({ [$_ // 0, number_text($_ // 0)] } @$row{qw(baseline_calls calls)}, $old,
            $new),
            [$percent, $old == $new ? '' : $old ? sprintf '%+.1f%%', $percent : 'new'],
            $status =~ /\A(?:new|gone)\z/ ? $status : undef, [$row->{level}, $row->{level} // ''],
            $row->{name});
    }
    return $table;
}

# Returns how many more calls a row has than the row's baseline.
sub more_calls { return ($_[0]{calls} // 0) - ($_[0]{baseline_calls} // 0) }

# Returns whether the values of a result are times.
sub is_time { return Devel::DProf::Metric::is_time_word($_[0]{metric}) }

# Returns two values as text, OLD -> NEW, or only one if they are equal.
sub change_text {
    my ($old, $new) = map { $_ // 0 } @_;
    return $old == $new ? number_text($new) : number_text($old) . ' -> ' . number_text($new);
}

# Returns a number as text, with six digits if it is not whole.
sub number_text {
    my ($n) = @_;
    return $n =~ /[.e]/ ? sprintf('%.6g', $n) : $n;
}

# Returns the rows of the call tree to show: the paths that have changed, from the program down;
# first those to the subs that a rule found, then those with the largest changes, MOST rows in all.
# Before the rows it returns the number of changed rows that are left out.
sub largest_paths {
    my ($compared, $result, $most) = @_;
    my $all = $compared->{lines};
    my %found = map { $_->{sub} => 1 } @{ $result->{findings} };
    my (@way, @parent, @changed);
    for my $i (0 .. $#$all) {
        my $row = $all->[$i];
        $#way = $row->{level} - 1;
        $parent[$i] = (grep { defined } @way)[-1];
        next if $row->{more};
        push @way, $i;
        push @changed, $i if $row->{change} || more_calls($row);
    }
    my %weight = map { $_ => abs $all->[$_]{change} } @changed;
    my %wanted = map { $_ => $found{ $all->[$_]{name} } ? 1 : 0 } @changed;
    my @order = sort { $wanted{$b} <=> $wanted{$a} || $weight{$b} <=> $weight{$a} || $a <=> $b }
        @changed;
    my %kept;
    for my $i (@order) {
        my @new;
        for (my $at = $i; defined $at && !$kept{$at}; $at = $parent[$at]) { push @new, $at }
        # The first path is always shown, even if it is longer than $most.
        next if %kept && keys(%kept) + @new > $most;
        @kept{@new} = (1) x @new;
    }
    my $more = grep { !$kept{$_} } @changed;
    return ($more, @$all[sort { $a <=> $b } keys %kept]);
}

# ---- text: lines of 78 characters at most, 80 with the `# ' of a diagnostic ----

use constant { WIDTH => 78, LEAST => 20 };

# Returns the unit behind the name of the result's metric in a heading.
sub unit_text { return is_time($_[0]) ? ' (s)' : '' }

# Returns two texts with an arrow between them, or only one if they are equal.
sub arrow_text { return $_[0] eq $_[1] ? $_[1] : "$_[0] -> $_[1]" }

# Returns the subs that matter as text of MOST lines at most, and all of them as a table.
sub describe_subs {
    my ($compared, $result, $most) = @_;
    my $table = make_table($result, changed_subs($compared, $result));
    my (undef, @rows) = $table->texts;
    my $more = @rows > $most ? @rows - $most : 0;
    splice @rows, $most;
    my $calls_only = $result->{metric} eq 'calls';
    my @lines = map { [$calls_only ? () : (arrow_text(@$_[0, 1]), ''), arrow_text(@$_[2, 3]),
        $_->[4], shown($_->[7]) . (length $_->[5] ? " ($_->[5])" : '')] } @rows;
    unshift @lines, [$calls_only ? () : ('calls', ''), $result->{metric} . unit_text($result), '',
        'sub'];
    my $total = change_text(@{ $compared->{total} }{qw(baseline value)});
    return (join_lines($more, "total: $total $result->{metric}",
        @rows ? columns(WIDTH, LEAST, @lines) : 'no sub has changed'), $table);
}

# Returns the changed part of the call tree as text of MOST lines at most, and as a table.
sub describe_tree {
    my ($compared, $result, $most) = @_;
    my ($more, @kept) = largest_paths($compared, $result, $most);
    my $table = make_table($result, @kept);
    return ('', $table) if !@kept;
    my (undef, @rows) = $table->texts;
    my $calls_only = $result->{metric} eq 'calls';
    my @lines = map { [arrow_text(@$_[0, 1]), $calls_only ? () : arrow_text(@$_[2, 3]),
        '  ' x ($_->[6] > 20 ? 20 : $_->[6]) . shown($_->[7])] } @rows;
    return (join_lines($more, columns(WIDTH, LEAST,
        ['calls', $calls_only ? () : $result->{metric} . unit_text($result), 'call tree'], @lines)),
        $table);
}

# Returns lines as one text, with a last line about those that were left out, if there are any.
sub join_lines {
    my ($more, @lines) = @_;
    return join '', map { "$_\n" } @lines, $more ? "... and $more more" : ();
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Compare::Baseline - writes profiles beside the code, and compares them with later runs

=head1 SYNOPSIS

    use Devel::DProf::Compare::Baseline;

    Devel::DProf::Compare::Baseline::write('t/perf/parse.tmon', ['tmon.out'], counters_only => 1);

    my $result = Devel::DProf::Compare::Baseline::compare(
        old => ['t/perf/parse.tmon'], new => ['tmon.out'], fail_if => 'calls > 0, ops > 2%',
    );
    print $result->{text}, $result->{branch} if $result->{failed};

=head1 DESCRIPTION

A baseline is a small tree file in a fixed order (L<Devel::DProf::Format>), made to be committed.
When an unchanged program is recorded again with the hash seed pinned (PERL_HASH_SEED=0
PERL_PERTURB_KEYS=0), its baseline differs only in its times; a baseline with counters only does not
differ at all. It does not contain the run, the process, the time of day or the machine. Paths below
the project's folder are relative to that folder, and those of other modules to the folder of
C<@INC> that contains them.

=head1 FUNCTIONS

=over

=item write PATH, FILES, OPTION => VALUE, ...

Writes the baseline. FILES is a list of the profiles of a run, traces or trees, which are added up.
The new file is written beside the old one, and then replaces it. Returns true. Dies with a line
that names the file and the fault (a file that cannot be read, or was cut short; a folder that
cannot be written to).

=over

=item counters_only => BOOL

Keeps calls, ops and other counters that repeat (C<svs>, C<svs-freed>); leaves out times,
histograms, and counters that do not repeat.

=item root => DIR

The project's folder; the current folder by default.

=item allow_truncated => BOOL

Accepts files that were cut short.

=item phase => NAME, below => PACKAGE::NAME

Only what ran in that phase, see L<Devel::DProf::Profile/take>.

=back

=item compare OPTION => VALUE, ...

Compares a run with a baseline, by L<Devel::DProf::Compare::Diff>. Dies with a line that names the
file that cannot be read or compared, or the rule that is wrong.

=over

=item old => FILES, new => FILES

The baseline, and the profile to be compared with it. Each is a list of the files of one run, or a
list of such lists, for several runs.

=item fail_if => RULES

Rules in the syntax of L<dprofdiff/--fail-if>, one string or a list of strings. If a side lacks what
a rule needs, the rule is left out, and a message says so: rules about times if the baseline has
counters only, rules about events that a side lacks, and, if the perls differ, all rules except
calls, new and gone.

=item metric => NAME

The metric of the tables: C<cpu>, C<user>, C<system>, C<real>, C<calls>, C<ops> or another counter.
The default is C<cpu> if a rule uses a time and both sides have times, otherwise the counter that a
rule uses, otherwise C<ops>, or C<calls>.

=item old_name => TEXT, new_name => TEXT

The names of the sides in messages: C<baseline> and C<now> by default.

=item rows => N

The maximum number of lines of the table (8) and of the branch (12).

=item root => DIR, allow_truncated => BOOL

As above.

=item strict => BOOL, renames => LIST, as_measured => BOOL

These are like the options of L<dprofdiff>. LIST has the old and the new name of each sub in turn.

=back

Returns a hash:

=over

=item failed, undecided, needed

Three numbers: the findings of the rules; the findings that too few runs leave undecided; the runs
a side that would decide these.

=item findings

A list of hashes with the keys rule (its text), sub (a name, or C<(total)>), old and new (numbers;
times in seconds; undef if the rule is C<new> or C<gone>) and undecided. If both sides have lines,
there is also the key lines: a list of those lines of the sub that have grown most, each a hash of
name (FILE:LINE), old, new, metric and fate (L<Devel::DProf::Profile/compared>). If the rule is
about lines, sub is FILE:LINE, and in is the sub.

=item metric

The metric of text and branch.

=item text

Lines of text: the total, and the subs that have changed, with their old and new numbers (times in
seconds). The subs that rules found come first.

=item branch

Lines of text: the part of the call tree that has changed, with calls and the inclusive metric. The
text is empty if no part has changed.

=item table, tree

All subs that have changed, and the same part of the call tree, as L<Devel::DProf::Table> objects.

=item messages

Lines about the comparison: rules that were left out, differences in perl or options, and random
hash seeds.

=item diff

The L<Devel::DProf::Compare::Diff> object, for a picture (L<Devel::DProf::View::Flame>).

=back

=item line_text LINE

Returns the text for one of a finding's lines: C<lib/My.pm:12: 10 -E<gt> 30 ops (+200.0%)>.

=item profile FILES, OPTION => VALUE, ...

Returns the L<Devel::DProf::Profile> that C<write> would write, with the options root,
allow_truncated, phase and below of C<write>. Dies in the same way.

=back

=head1 SEE ALSO

L<Test::DProf>, L<dprofdiff>, L<dprofmerge>

=cut
