package Devel::DProf::Compare::Suite;

# Sums up the profiles of a test suite by test file, compares them with baselines, and keeps them.

use strict;
use warnings;

use Cwd ();
use File::Basename ();
use File::Path ();
use File::Spec;
use Devel::DProf::Compare::Rules qw(rules_of);
use Devel::DProf::Input;
use Devel::DProf::Outcome;
use Devel::DProf::Profile;
use Devel::DProf::Sides qw(parts);
use Devel::DProf::Table;
use Devel::DProf::Text qw(bytes text shown);
use Devel::DProf::View::Layout qw(fitted grouped aligned);

our $VERSION = $Devel::DProf::Core::VERSION;

use constant {
    DEFAULT_RULES => 'calls > 5% & 10, ops > 5% & 10000',
    WIDTH => 80, FINDINGS => 10, TOP_SUBS => 3, ALL => 1 << 30,
};

# The options: a pattern for values, and its description.
my %OPTION = (
    baseline => [qr/\A.+\z/s, 'a folder'],
    out => [qr/\A.+\z/s, 'a folder'],
    html => [qr/\A.+\z/s, 'a file'],
    summary => [qr/\A.+\z/s, 'a file'],
    format => [qr/\A(?:text|csv|json|markdown|html)\z/, 'text, csv, json, markdown or html'],
    fail_if => [qr/\S/, 'rules'],
    top => [qr/\A[1-9]\d{0,5}\z/, 'a number, 1 or more'],
    lines => [qr/\A(?:count|time)\z/, 'count or time'],
    events => [qr/\A[^\s'"\\]+\z/, 'events, with + between them'],
    detail => [qr/\A[a-z+]+\z/, 'kinds of spans, with + between them'],
    counters_only => [qr/\A[01]\z/, '1 or 0'],
    keep => [qr/\A[01]\z/, '1 or 0'],
);

# ---- options ----

# Parses items NAME=VALUE, which prove has split at commas, and returns them as a hash. Dies with a
# message if an item is no option.
sub options {
    my ($self, @items) = @_;
    my (%opt, $last);
    for my $item (@items) {
        if (defined $last && continues_value($last, $opt{$last}, $item)) {
            $opt{$last} .= ",$item";
            next;
        }
        my ($name, $value) = $item =~ /\A\s*([a-z][\w-]*)\s*(?:=(.*))?\z/s
            or die "DProf: `$item' is not an option; the options are "
                . join(', ', sort keys %OPTION) . "\n";
        $name =~ tr/-/_/;
        die "DProf: unknown option `$name'; the options are " . join(', ', sort keys %OPTION) . "\n"
            if !$OPTION{$name};
        $value //= 1 if $name eq 'counters_only' || $name eq 'keep';
        $value //= 'time' if $name eq 'lines';
        die "DProf: $name needs $OPTION{$name}[1]: $name=...\n" if !defined $value;
        $opt{$name} = $value;
        $last = $name;
    }
    return \%opt;
}

# Returns whether an item is no option but the rest of the value before it: rules contain commas,
# and so do the terms of an event between slashes.
sub continues_value {
    my ($name, $value, $item) = @_;
    return 0 if $name ne 'fail_if' && $name ne 'events';
    my $slashes = () = $value =~ m{(?<!\\)/}g;
    return 1 if $slashes % 2;
    return 0 if $name eq 'events';
    return 1 if $item =~ /\A\s*(?:(?:line\s+)?(?:new|gone))?\s*\z/
        || $item =~ m{\A\s*(?:line\s+)?/};
    return $item =~ /\A[^=]*>/ ? 1 : 0;
}

# Makes the sums of a suite from options, as options() returns them, and missing ones from the
# environment. Dies with a message if an option is wrong.
sub new {
    my ($class, %opt) = @_;
    for my $name (keys %OPTION) {
        my $env = 'PROVE_DPROF_' . uc $name;
        my $as = exists $opt{$name} ? $name : $env;
        $opt{$name} //= length($ENV{$env} // '') ? $ENV{$env} : next;
        die "DProf: $as=$opt{$name}: must be $OPTION{$name}[1]\n"
            if $opt{$name} !~ $OPTION{$name}[0];
    }
    if (defined $opt{fail_if}) {
        die "DProf: fail_if needs a baseline: baseline=DIR\n" if !defined $opt{baseline};
        my $ok = eval { rules_of(text($opt{fail_if})) };
        die 'DProf: ' . $@ =~ s/\A--fail-if/fail_if/r if !$ok;
    }
    for (qw(counters_only keep)) {
        die "DProf: $_ needs a baseline: baseline=DIR\n" if $opt{$_} && !defined $opt{baseline};
    }
    for my $name (qw(baseline out)) {
        next if !defined $opt{$name};
        die "DProf: $name=$opt{$name}: not a folder\n" if -e $opt{$name} && !-d _;
        $opt{$name} = File::Spec->rel2abs($opt{$name});
    }
    die "DProf: format needs a file: summary=FILE\n"
        if defined $opt{format} && !defined $opt{summary};
    $opt{$_} = File::Spec->rel2abs($opt{$_}) for grep { defined $opt{$_} } qw(html summary);
    return bless {
        %opt, top => $opt{top} // 10, fail_if => $opt{fail_if} // DEFAULT_RULES, files => [],
        by_name => {}, all => profile_of(), here => Cwd::getcwd() // '',
    }, $class;
}

sub baseline { return $_[0]{baseline} }

# Returns the suite's options that are the recorder's, as the recorder takes them.
sub recorder_options {
    my ($self) = @_;
    return map { "$_=$self->{$_}" } grep { defined $self->{$_} } qw(events lines detail);
}

# ---- recorded profiles ----

# Returns the paths of the profiles in a folder, without those of other files there.
sub profiles_in {
    my ($dir) = @_;
    opendir my $in, $dir or return;
    return map { "$dir/$_" } sort grep { /\.out\b/ && !/\.(?:live|new)\z/ && -f "$dir/$_" }
        readdir $in;
}

# Returns the profiles of a folder by test file, as a list of [NAME, PATH, ...]. A process belongs
# to the test file of the process that started it.
sub by_test {
    my ($self, $dir) = @_;
    my @all = grep { defined $_->{dprof_pid} }
        map { +{ path => $_, start => 0, Devel::DProf::Input::header_of($_) } } profiles_in($dir);
    my (%of_pid, %root, %paths);
    for my $one (sort { $a->{dprof_start} <=> $b->{dprof_start} } @all) {
        # The parent is the program that this process ran before, or the process that started it.
        my ($parent) = map { $of_pid{ $_ // '' } // () } @$one{qw(dprof_pid dprof_ppid)};
        my $root = $parent ? $root{ $parent->{path} } : $one->{dprof_script};
        $of_pid{ $one->{dprof_pid} } = $one;
        push @{ $paths{ $root{ $one->{path} } = $root } }, $one->{path};
    }
    return map { [$self->short_path($_), @{ $paths{$_} }] } sort keys %paths;
}

# Runs the command for yath, with the arguments DIR, options: sums up and compares all profiles of a
# folder. Returns the exit status.
sub main {
    my ($dir, @items) = @_;
    my $self = eval {
        die "DProf: name the folder of the profiles\n" if !defined $dir || !-d $dir;
        __PACKAGE__->new(%{ __PACKAGE__->options(@items) });
    };
    if (!$self) {
        print STDERR $@;
        return 2;
    }
    $self->add(shift @$_, $_) for $self->by_test($dir);
    my ($good, @lines) = $self->finish(1, $dir);
    print bytes($self->summary), "\n", @lines;
    return $good ? 0 : defined $self->{baseline} ? 3 : 1;
}

# Checks the gate, and writes the files that options ask for. passed: whether all tests passed;
# scratch: a folder for temporary files. Returns whether all succeeded, then messages as lines.
sub finish {
    my ($self, $passed, $scratch) = @_;
    my ($good, @lines) = defined $self->{baseline} ? $self->gate($passed) : 1;
    for my $what (
        ['out' => sub { $self->keep_profiles }],
        ['html' => sub { $self->draw($scratch) }],
        ['summary' => sub { $self->write_summary }],
    ) {
        my ($name, $code) = @$what;
        next if !defined $self->{$name} || eval { $code->(); 1 };
        push @lines, "FAIL: $name: " . $@ =~ s/\s+\z//r;
        $good = 0;
    }
    return ($good, map { 'DProf: ' . Devel::DProf::Profile::escape(bytes($_)) . "\n" } @lines);
}

# Adds a test file, with the profiles of its processes. FACTS: failed, skipped.
sub add {
    my ($self, $name, $paths, %facts) = @_;
    my $file = $self->{by_name}{$name};
    if (!$file) {
        $file = $self->{by_name}{$name} = {
            name => $name, paths => [], whole => [], cut => [], processes => {},
            cpu => 0, ops => undef, calls => 0, top => [],
        };
        push @{ $self->{files} }, $file;
    }
    $file->{$_} ||= $facts{$_} for keys %facts;
    my @left = @$paths;
    my $profile = profile_of(sub {
        my ($o, $header) = @_;
        my $path = shift @left;
        my $what = Devel::DProf::Outcome::verdict($o);
        if (!Devel::DProf::Input::usable($what)) {
            push @{ $self->{unread} }, "$name: a profile cannot be read: "
                . Devel::DProf::Outcome::reason($o) if !Devel::DProf::Outcome::is_empty($o);
            return;
        }
        # The process had only begun when it became another program.
        return if $what eq 'cut' && !has_anything($path);
        $file->{processes}{ $header->{dprof_pid} // $path } = 1;
        push @{ $file->{ $what eq 'cut' ? 'cut' : 'whole' } }, $path;
        push @{ $file->{paths} }, $path;
    }, @$paths);
    return if !@{ $file->{paths} };
    $self->add_costs($file, $profile);
    my $wrong = $self->{all}->merge($profile);
    push @{ $self->{unread} }, "$name is missing in the sum of all test files: $wrong"
        if defined $wrong;
    return;
}

# Returns the sum of the files PATHS as one profile. Calls REPORT, if defined, with the outcome and
# the header of each file. All details are read, because the profile may become part of a sum that
# is written.
sub profile_of {
    my ($report, @paths) = @_;
    my $sides = Devel::DProf::Sides->new(detail => 1);
    return Devel::DProf::Input->new(detail => 1)->profile if !@paths;
    $sides->read(sub { $report->(@_) if $report; return 'fine' },
        { name => '', runs => [\@paths] });
    return (parts(($sides->sides)[0]))[0];
}

# Returns whether a profile at this path has any call or time.
sub has_anything {
    my ($path) = @_;
    my $profile = profile_of(undef, $path);
    return $profile->contexts > 1 || $profile->total(Devel::DProf::Profile::REAL);
}

# Adds the values of a profile, CPU time, calls and counters, to the sums of a test file.
sub add_costs {
    my ($self, $file, $profile) = @_;
    $file->{cpu} += $profile->total(Devel::DProf::Profile::CPU) / $profile->hz;
    $file->{calls} += $profile->calls;
    for my $metric (map { $profile->metric($_) } $profile->counter_names) {
        my $total = $metric->total($profile);
        if ($metric->name eq 'ops') { $file->{ops} += $total }
        else { $file->{counters}{ $metric->name } += $total }
    }
    my @top = $profile->rows({
        time => Devel::DProf::Profile::CPU, rows => TOP_SUBS, program => 1, separate => 1,
    });
    splice @top, TOP_SUBS if @top > TOP_SUBS;
    $file->{top} = [map { +{ name => $_->[0], cpu => $_->[2] / $profile->hz } } @top];
    return;
}

# Returns a hash for each sub of a profile: name, cpu (own seconds), ops and calls.
sub subs_of {
    my ($profile) = @_;
    my $hz = $profile->hz;
    my %how = (rows => ALL, program => 1, separate => 1, order => Devel::DProf::Profile::UNSORTED);
    my %sub = map { $_->[0] => { name => $_->[0], calls => $_->[1], cpu => $_->[2] / $hz } }
        $profile->rows({ %how, time => Devel::DProf::Profile::CPU });
    $sub{'(program)'}{calls} = 0 if $sub{'(program)'};
    if (my $ops = $profile->metric('ops')) {
        my @rows = $profile->rows({ %how, $ops->for_rows });
        $sub{ $_->[0] }{ops} = $_->[2] for grep { $sub{ $_->[0] } } @rows;
    }
    return values %sub;
}

# Returns test files or subs, hashes with cpu, ops and name, sorted by cost, the costliest first.
sub sort_by_cost {
    return sort {
        $b->{cpu} <=> $a->{cpu} || ($b->{ops} // 0) <=> ($a->{ops} // 0)
            || $a->{name} cmp $b->{name}
    } @_;
}

# ---- the summary ----

# Returns a number with separators, or "-" for undef.
sub number_text { return defined $_[0] ? grouped($_[0]) : '-' }

# Returns a number and its noun, in singular or plural.
sub counted_text {
    my ($n, @words) = @_;
    return Devel::DProf::Text::plural(number_text($n), @words);
}

# Returns a name cut to a width, its end first.
sub fit_name { return fitted(shown($_[0]), $_[1]) }

# Returns a line of the summary's tables: four numbers in columns, and a name that is cut to fit.
sub text_line {
    my ($name, @numbers) = @_;
    my $line = aligned([9, 7, 15, 12], ' ', @numbers) . '  ';
    return $line . fit_name($name, WIDTH - length $line) . "\n";
}

# Returns the four cells of a test file or a sub without its name: CPU seconds, their share of
# TOTAL, ops and calls, each [EXACT, TEXT].
sub cost_cells {
    my ($total, $it) = @_;
    my $share = $total ? 100 * $it->{cpu} / $total : 0;
    return ([$it->{cpu}, sprintf '%.3f', $it->{cpu}],
        [sprintf('%.4f', $share), sprintf '%.1f%%', $share],
        map { [$_, number_text($_)] } @$it{qw(ops calls)});
}

# Returns a test file or a sub as a line of the summary's text.
sub text_row {
    my ($total, $it, $name) = @_;
    return text_line($name, map { $_->[1] } cost_cells($total, $it));
}

# Returns items with commas between them as lines that fit the width. The first line begins with
# FIRST, the others with INDENT.
sub wrapped_list {
    my ($first, $indent, @items) = @_;
    $_ .= ',' for @items[0 .. $#items - 1];
    my @pieces = map { " $_" } @items;
    $pieces[0] =~ s/^ // if @pieces && $first !~ /\S\z/;
    return map { "$_\n" } Devel::DProf::View::Layout::wrapped(WIDTH, $first, $indent, @pieces);
}

# Returns the name of a sub, in which the place of an anonymous sub is relative to the current
# folder.
sub short_name {
    my ($self, $name) = @_;
    my $here = $self->{here};
    $name =~ s{(\[)\Q$here\E/}{$1} if length $here;
    return $name;
}

# Returns the test files that have profiles.
sub profiled { my ($self) = @_; return grep { @{ $_->{paths} } } @{ $self->{files} } }

# Returns the sums of test files: cpu, calls, ops, processes, counters.
sub sum_of {
    my (@files) = @_;
    my %sum = (cpu => 0, calls => 0, ops => undef, processes => 0);
    for my $file (@files) {
        $sum{$_} += $file->{$_} for grep { defined $file->{$_} } qw(cpu calls ops);
        $sum{processes} += keys %{ $file->{processes} };
        $sum{counters}{$_} += $file->{counters}{$_} for keys %{ $file->{counters} || {} };
    }
    return \%sum;
}

# Returns texts about the costs of the suite: numbers of test files and processes, and sums.
sub cost_facts {
    my ($sum, @files) = @_;
    my $counters = $sum->{counters} || {};
    return (counted_text(scalar @files, 'test file') . ' in '
            . counted_text($sum->{processes}, 'process', 'processes'),
        sprintf('%.3f s of CPU time', $sum->{cpu}), counted_text($sum->{ops} // 0, 'op'),
        counted_text($sum->{calls}, 'call'),
        map { number_text($counters->{$_}) . ' ' . shown($_) } sort keys %$counters);
}

# Returns the text: the suite, its costliest files and subs, remarks.
sub summary {
    my ($self) = @_;
    my @files = $self->profiled;
    my $sum = sum_of(@files);
    my @text = ("\n", wrapped_list('DProf:', '      ', cost_facts($sum, @files)));
    push @text, $self->table_of_files($sum->{cpu}, @files), $self->table_of_subs($sum->{cpu})
        if @files;
    return join '', @text, $self->remarks;
}

# Returns the summary as a table: test files, each before its costliest subs, then the subs of all
# test files.
sub table {
    my ($self) = @_;
    my @files = $self->profiled;
    my $sum = sum_of(@files);
    my $table = Devel::DProf::Table->new(['Test file', 'file', 1], ['Sub', 'sub', 1],
        ['CPU s', 'cpu_s'], ['Share', 'share_pct'], ['Ops', 'ops'], ['Calls', 'calls']);
    $table->fact('Suite', 'suite', join ', ', cost_facts($sum, @files));
    $table->fact('Gate', 'gate', join ' ', @{ $self->{verdict} // ['passed'] })
        if defined $self->{baseline};
    $table->fact('Remarks', 'remarks', join ' ', map { split } $self->remarks);
    $table->json(counters => $sum->{counters} || {});
    for my $file (sort_by_cost(@files)) {
        $table->row($file->{name}, undef, cost_cells($sum->{cpu}, $file));
        $table->row($file->{name}, $_->{name}, cost_cells($sum->{cpu}, $_)) for @{ $file->{top} };
    }
    $table->row(undef, $_->{name}, cost_cells($sum->{cpu}, $_))
        for @files ? sort_by_cost(subs_of($self->{all})) : ();
    return $table;
}

# Returns the text of the table of test files, the costliest first, each with its costliest subs.
sub table_of_files {
    my ($self, $cpu, @files) = @_;
    @files = sort_by_cost(@files);
    my @rest = splice @files, $self->{top} < @files ? $self->{top} : scalar @files;
    my @text = "\n" . text_line('Test file, its costliest subs', 'CPU s', 'Share', 'Ops', 'Calls');
    for my $file (@files) {
        push @text, text_row($cpu, $file, $file->{name});
        my @top = map {
            sprintf '%s %.0f%%', fit_name($self->short_name($_->{name}), 60),
                100 * $_->{cpu} / $file->{cpu}
        } grep { $_->{cpu} > 0 } @{ $file->{top} };
        push @text, wrapped_list(' ' x 10, ' ' x 10, @top) if @top;
    }
    return @text if !@rest;
    return (@text, text_row($cpu, sum_of(@rest), '... and ' . number_text(scalar @rest) . ' more'));
}

# Returns the text of the table of the suite's costliest subs.
sub table_of_subs {
    my ($self, $cpu) = @_;
    my @subs = sort_by_cost(subs_of($self->{all}));
    splice @subs, $self->{top} if @subs > $self->{top};
    return ("\n" . text_line('Sub, of all test files', 'Self s', 'Share', 'Ops', 'Calls'),
        map { text_row($cpu, $_, $self->short_name($_->{name})) } @subs);
}

# Returns the text below the tables: test files without a profile, test files whose profiles are
# incomplete, and what could not be read.
sub remarks {
    my ($self) = @_;
    my @text;
    my @without = map { shown($_->{name}) } grep { !@{ $_->{paths} } } @{ $self->{files} };
    push @text, "\n", wrapped_list('Not profiled:', '   ',
        some_of($self->{top}, @without)) if @without;
    my @cut = map { shown($_->{name}) } grep { @{ $_->{cut} } } @{ $self->{files} };
    my $cut = 'With processes that were killed or still run'
        . (defined $self->{baseline} ? ', not compared:' : ':');
    push @text, "\n", wrapped_list($cut, '   ', some_of($self->{top}, @cut)) if @cut;
    push @text, map { 'DProf: ' . shown($_) . "\n" }
        some_of($self->{top}, @{ $self->{unread} || [] });
    return @text;
}

# Returns the first MOST texts, and how many more there are.
sub some_of {
    my ($most, @all) = @_;
    return @all <= $most ? @all : (@all[0 .. $most - 1],
        'and ' . number_text(@all - $most) . ' more');
}

# ---- baselines ----

# Returns the name of a test file as a relative path that cannot lead out of the folder it is
# written to.
sub safe_name {
    my ($self, $name) = @_;
    my $path = $name;
    $path = File::Spec->abs2rel($name, $self->{here}) if File::Spec->file_name_is_absolute($name);
    my @parts = map { /\A\.+\z/ ? s/\./%2E/gr : $_ }
        map { bytes($_) =~ s/([^\w.+@~-]|[^\x21-\x7e])/sprintf '%%%02X', ord $1/ger }
        grep { length && $_ ne '.' } split m{/}, $path;
    return join('/', @parts) . '.tmon';
}

# Returns whether this is a run of a CI service, which sets the variable CI.
sub in_ci { return ($ENV{CI} // '') !~ /\A(?:|0|false)\z/i ? 1 : 0 }

# Returns whether the user wants all baselines to be rewritten.
sub updates_baselines {
    my $wanted = $ENV{DPROF_UPDATE_BASELINES} // '';
    return length $wanted && $wanted ne '0';
}

# Compares each test file with its baseline. Returns lines about the rules that it breaks, and notes
# in {missing} the test files without a baseline.
sub compare {
    my ($self) = @_;
    require Devel::DProf::Compare::Baseline;
    my @lines;
    for my $file ($self->comparable) {
        my $base = "$self->{baseline}/" . $self->safe_name($file->{name});
        if (!-e $base) {
            push @{ $self->{missing} }, $file->{name};
            next;
        }
        next if updates_baselines();
        my $result = eval {
            Devel::DProf::Compare::Baseline::compare(
                old => [$base], new => $file->{whole}, fail_if => $self->{fail_if});
        };
        if (!$result) {
            push @{ $self->{unreadable} }, "$file->{name}: cannot be compared: " . $@ =~ s/\s+\z//r;
            next;
        }
        $self->{compared}++;
        push @{ $self->{said}{$_} }, $file->{name} for @{ $result->{messages} };
        $self->{idle}{$_}++ for @{ $result->{idle} };
        next if !$result->{failed};
        my @found = map { finding_text($_) } grep { !$_->{undecided} } @{ $result->{findings} };
        push @lines, map { "$file->{name}: $_" } some_of(FINDINGS, @found);
    }
    return @lines;
}

# Returns a line about a broken rule of the gate: sub, rule, values before and after, and the line
# that grew most.
sub finding_text {
    my ($finding) = @_;
    my ($old, $new) = map { defined && /[.e]/ ? sprintf '%.6g', $_ : number_text($_) }
        @$finding{qw(old new)};
    my $in = defined $finding->{in} ? ' in ' . shown($finding->{in}) : '';
    my ($line) = @{ $finding->{lines} || [] };
    return "$finding->{sub}$in: $finding->{rule}"
        . (defined $finding->{new} ? ": $old -> $new" : '')
        . ($line ? '; most of it at ' . Devel::DProf::Compare::Baseline::line_text($line) : '');
}

# Returns the user's rules that no comparison could check, or that match nothing in any test file:
# dprofdiff's gate does not let them pass either.
sub idle_rules {
    my ($self) = @_;
    return if $self->{fail_if} eq DEFAULT_RULES || !$self->{compared};
    my $idle = $self->{idle} || {};
    return grep { $idle->{$_} == $self->{compared} } sort keys %$idle;
}

# Returns remarks about the comparisons. A rule that matches nothing is reported only if it matches
# in no test file, because it may be meant for some of them.
sub comparison_remarks {
    my ($self) = @_;
    my $said = $self->{said} || {};
    my @texts = grep {
        !/: no (?:sub|line|span) matches\z/ || @{ $said->{$_} } == $self->{compared}
    } sort keys %$said;
    return map { s/\A--fail-if/fail_if/r . ' (' . join(', ', some_of(1, @{ $said->{$_} })) . ')' }
        @texts;
}

# Returns the test files whose costs can be compared: those that passed and were not skipped or cut.
sub comparable {
    my ($self) = @_;
    return grep { @{ $_->{whole} } && !$_->{failed} && !$_->{skipped} } @{ $self->{files} };
}

# Writes the baselines of a good run. Returns remarks as lines. Dies if a file cannot be written.
sub write_baselines {
    my ($self) = @_;
    my %missing = map { $_ => 1 } @{ $self->{missing} || [] };
    my ($written, @new) = (0);
    for my $file ($self->comparable) {
        next if $self->{keep} && !updates_baselines() && !$missing{ $file->{name} };
        my $base = "$self->{baseline}/" . $self->safe_name($file->{name});
        make_folder($base);
        Devel::DProf::Compare::Baseline::write($base, $file->{whole},
            counters_only => $self->{counters_only} ? 1 : 0);
        $written++;
        push @new, $file->{name} if $missing{ $file->{name} };
    }
    my $where = fit_name($self->short_path($self->{baseline}), 40);
    return updates_baselines() ? counted_text($written, 'baseline') . " rewritten in $where"
        : @new ? counted_text(scalar @new, 'baseline') . " recorded in $where: "
            . join ', ', some_of(3, @new) : ();
}

# Returns a path relative to the current folder if it is below that.
sub short_path {
    my ($self, $path) = @_;
    return index($path, "$self->{here}/") == 0 ? substr $path, 1 + length $self->{here} : $path;
}

# Compares with the baselines, and writes new ones if the suite passed. Returns whether the gate
# passed, then lines to print.
sub gate {
    my ($self, $passed) = @_;
    my @lines = $self->compare;
    my @told = some_of(FINDINGS, $self->comparison_remarks);
    my @unreadable = @{ $self->{unreadable} || [] };
    my @idle = $self->idle_rules;
    my @absent = $self->{keep} && in_ci() && !updates_baselines()
        ? @{ $self->{missing} || [] } : ();
    if (@lines || @unreadable || @idle || @absent) {
        my %by = map { s/: .*//sr => 1 } @lines;
        my @why = (
            %by ? counted_text(scalar keys %by, 'test file costs', 'test files cost')
                . " more than the baseline allows ($self->{fail_if})" : (),
            @unreadable ? counted_text(scalar @unreadable, 'baseline')
                . ' cannot be compared; DPROF_UPDATE_BASELINES=1 rewrites them' : (),
            @idle ? 'these rules check nothing: ' . join ', ', @idle : (),
            @absent ? counted_text(scalar @absent, 'test file has', 'test files have')
                . ' no baseline in ' . fit_name($self->short_path($self->{baseline}), 40) . ': '
                . join(', ', some_of(3, @absent))
                . '; a run without CI in the environment records it' : (),
        );
        $self->{verdict} = [@lines, @unreadable, 'FAIL: ' . join '; ', @why];
        return (0, @told, @{ $self->{verdict} });
    }
    if (!$passed) {
        $self->{verdict} = ['the suite failed: baselines stay as they are'];
        return (1, @told, @{ $self->{verdict} });
    }
    my @said = eval { $self->write_baselines };
    return (0, @told, 'FAIL: baselines cannot be written: ' . $@ =~ s/\s+\z//r) if $@;
    return (1, @told, @said);
}

# ---- files that stay ----

# Writes a profile for each test file, and one of all, to the folder out. Dies if a file cannot be
# written.
sub keep_profiles {
    my ($self) = @_;
    for my $file (grep { @{ $_->{paths} } } @{ $self->{files} }) {
        my $profile = profile_of(undef, @{ $file->{paths} });
        write_profile($profile, "$self->{out}/" . $self->safe_name($file->{name}));
    }
    write_profile($self->{all}, "$self->{out}/all.tmon");
    return;
}

# Makes the folder of a file. Dies with the reason if it cannot.
sub make_folder {
    my ($path) = @_;
    my $dir = File::Basename::dirname($path);
    File::Path::make_path($dir, { error => \my $wrong });
    for my $one (@$wrong) {
        my ($name, $why) = %$one;
        die( (length $name ? $name : $dir) . ": $why\n");
    }
    return;
}

# Returns the message that the file of an option could not be written.
sub unwritten {
    my ($path, $why, $option) = @_;
    return "$path could not be written: $why" . Devel::DProf::Write::instead($path, "$option=")
        . "\n";
}

# Writes the summary into the file of the option `summary`; its suffix chooses the format.
sub write_summary {
    my ($self) = @_;
    my $format = Devel::DProf::Table::format_of($self->{format}, $self->{summary});
    require Devel::DProf::Write;
    my $why = Devel::DProf::Write::whole($self->{summary}, sub { $self->table->print($_[0],
        format => $format, title => 'Test suite',
        text => sub { join '', $self->summary, map { "DProf: $_\n" } @{ $self->{verdict} || [] } })
    });
    die unwritten($self->{summary}, $why, 'summary') if defined $why;
    return;
}

# Writes a profile to a path, and makes the folders above it. Dies with the reason if that fails.
sub write_profile {
    my ($profile, $path) = @_;
    make_folder($path);
    my $why = $profile->save($path, $VERSION);
    die "$path could not be written: $why\n" if defined $why;
    return;
}

# Draws the flame graph of all test files. Dies with the reason if it cannot. scratch: a folder for
# temporary files.
sub draw {
    my ($self, $scratch) = @_;
    require Devel::DProf::View::Flame;
    require File::Temp;
    # The name is unpredictable, since other users may write to the folder.
    my $path = File::Temp->new(TEMPLATE => 'all-XXXXXXXX', DIR => $scratch, SUFFIX => '.tmon');
    write_profile($self->{all}, "$path");
    my $format = Devel::DProf::View::Stacks::format_of('eyes', undef, $self->{html});
    my $flame = Devel::DProf::View::Flame->new(
        { format => $format ? $format->{name} : 'html', title => 'Test suite' });
    my $ready = $flame->read("$path") && $flame->prepare;
    die "there is nothing to draw\n" if !$ready;
    require Devel::DProf::Write;
    my $why = Devel::DProf::Write::whole($self->{html}, sub { return $flame->draw($_[0])->{code} });
    die unwritten($self->{html}, $why, 'html') if defined $why;
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Compare::Suite - sums up the profiles of a test suite, and compares with baselines

=head1 SYNOPSIS

    use Devel::DProf::Compare::Suite;

    my $suite = Devel::DProf::Compare::Suite->new(top => 5, baseline => 't/base');
    $suite->add('t/parse.t', ['prof/1.out', 'prof/2.out'], failed => 0);
    print $suite->summary;
    my ($good, @lines) = $suite->finish(1, '/tmp');
    print @lines;

=head1 DESCRIPTION

L<App::Prove::Plugin::DProf> calls this module when the tests have run. Comparisons and baselines
are those of L<Devel::DProf::Compare::Baseline>.

=head1 METHODS

=over

=item new NAME => VALUE, ...

Makes an object. The options are those of L<App::Prove::Plugin::DProf/OPTIONS>: baseline, fail_if,
counters_only, keep, out, html, summary, format, top, detail, events, lines. Missing options come
from the environment (PROVE_DPROF_...). Folders are relative to the current one. Dies with one line
if an option is wrong.

=item options ITEM, ...

A class method: turns C<NAME=VALUE> items into a reference to a hash for C<new>. An item that
continues a rule or an event after a comma is joined to the previous item. Dies with one line if an
item is not an option.

=item add NAME, PATHS, FACT => BOOL, ...

Adds a test file by its name, with a reference to a list of the profiles of all its processes. A
second call with the same name adds to the first. The FACTs are failed and skipped; either of them
keeps the test file out of baselines. Profiles that were cut short count only in the summary, which
also lists those that cannot be read.

=item summary

Returns the summary as text: characters, in lines of up to 80 columns.

=item table

Returns the summary as a L<Devel::DProf::Table>. Rows of test files have a file, rows of their
costliest subs a file and a sub, and rows of the subs of the whole suite only a sub.

=item finish PASSED, SCRATCH

Compares with the baselines and, if the suite has PASSED, writes them. Also keeps profiles, draws
the flame graph and writes the summary, if the options ask for it. SCRATCH is a folder for temporary
files. Returns whether everything succeeded, and lines to be printed, as bytes.

=item by_test DIR

For recordings in one folder: returns a list of [NAME, PATH, ...] by test file. A process belongs to
the process that started it, by the ids in the headers; the first process gives the name.

=back

=head1 FUNCTIONS

=over

=item profiles_in DIR

Returns the paths of a folder's profiles, such as C<*.out>, and C<*.out.old>, which remains if a
process has run two programs.

=item main DIR, ITEM, ...

The command for L<App::Prove::Plugin::DProf/YATH>: prints the summary of a folder, and the lines of
C<finish>. Returns an exit status: 0; 2 if an option is wrong; after any other failure 3 with a
baseline (a rule was broken, or something could not be written) and 1 without one (something could
not be written).

=back

=head1 SEE ALSO

L<App::Prove::Plugin::DProf>, L<Devel::DProf::Compare::Baseline>

=cut
