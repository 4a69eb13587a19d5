# callgrind and cachegrind files in the tools that read them: callgrind_annotate, cg_annotate,
# cg_diff, KCachegrind.
use strict;
use warnings;
use FindBin;
use Test::More;
use lib 't/lib', "$FindBin::Bin/../lib";
use DProfTest qw(scratch slurp spew run_program);
use Readers;

my @EVENTS = ([Cpu => 'cpu'], [Wall => 'real']);

# Returns the rows of a table of callgrind_annotate or cg_annotate below its heading with
# "file:function": { NAME => value of the first event }, summed over files. The names are those in
# front of callgrind_annotate's " []". What is 0 is left out.
sub table_of {
    my ($text) = @_;
    my ($rows) = $text =~ /^[^\n]*file:function\n-+\n(.*?)(?:^-{20}|\z)/ms or return {};
    my %rows;
    for my $line (split /\n/, $rows) {
        my ($value, $name) = $line =~ /^ *([\d,]+|\.) (?:\([ \d.]+%\) )? *(?:\* )? *([^<>].*)/
            or next;
        next if $line =~ /^ *\S+ (?:\([ \d.]+%\) )? *[<>] /;
        $name =~ s/ \[\]\z//;
        $value = 0 if $value eq '.';
        $rows{ name_of($name) } += $value =~ tr/,//dr if $value;
    }
    return \%rows;
}

# FILE:NAME without the file. Files have no blanks here, and names begin behind the first colon that
# no other one stands beside.
sub name_of {
    my ($function) = @_;
    return $function =~ s/\A.*?(?<!:):(?!:)//r;
}

# What dprofreport has, as these tools tell it: 0 self, 1 inclusive.
sub rows_of {
    my ($metric, $which, @files) = @_;
    my ($rows) = report($metric, '-R', @files);
    my %sum;
    $sum{ $_ =~ s/([\x00-\x1f\x7f])/sprintf '\\x%02x', ord $1/ger } += $rows->{$_}[$which]
        for keys %$rows;
    return { map { $sum{$_} ? ($_ => $sum{$_}) : () } keys %sum };
}

# callgrind_annotate makes (program) several functions, if its lines are of several files.
sub without_program {
    my ($rows) = @_;
    return { map { $_ eq '(program)' ? () : ($_ => $rows->{$_}) } keys %$rows };
}

subtest 'callgrind_annotate' => sub {
    my $annotate = need_program('callgrind_annotate', 'valgrind');
    for my $profile (@{ profiles() }) {
        next if $profile->{name} eq 'names';    # a line of its table is no line of the file then
        my $file = exported('.callgrind', @{ $profile->{files} });
        for my $event (@EVENTS) {
            my ($word, $ours) = @$event;
            my @how = ("--sort=$word", "--show=$word", '--threshold=100', '--auto=no');
            my $self = table_of(reader("$profile->{name}: $word", $annotate, @how, $file));
            is_deeply($self, rows_of($ours, 0, @{ $profile->{files} }),
                "$profile->{name}: $word, self");
            my $incl = table_of(reader("$profile->{name}: $word with calls", $annotate, @how,
                '--inclusive=yes', $file));
            is_deeply(without_program($incl),
                without_program(rows_of($ours, 1, @{ $profile->{files} })),
                "$profile->{name}: $word, inclusive");
        }
    }
};

subtest 'callgrind_annotate: a tree, and a source' => sub {
    my $annotate = need_program('callgrind_annotate', 'valgrind');
    my ($profile) = @{ profiles() };
    my $file = exported('.callgrind', @{ $profile->{files} });
    my $text = reader('--tree=both', $annotate, '--inclusive=yes', '--tree=both', '--threshold=100',
        $file);
    like($text, qr/< .*:main::f \(\d+x\)/, 'callers');
    like($text, qr/> .*:main::leaf \(\d+x\)/, 'callees');
    $text = reader('--auto=yes', $annotate, '--auto=yes', '--threshold=100', '--show=Ops', $file);
    my ($line) = $text =~ /^ *([\d,]+) \([ \d.]+%\) +sub leaf \{/m;
    ok(defined $line, 'the source, with the cost of a line') or diag($text);
    $line =~ tr/,//d if defined $line;
    is($line, rows_of('ops', 0, @{ $profile->{files} })->{'main::leaf'},
        'which is all that the sub has');
    like($text, qr/^.*=> .*:main::leaf \(\d+x\)/m, 'and calls');
};

subtest 'cg_annotate' => sub {
    my $annotate = need_program('cg_annotate', 'valgrind');
    for my $profile (@{ profiles() }) {
        next if $profile->{name} eq 'names';
        my $file = exported('.cachegrind', @{ $profile->{files} });
        for my $event (@EVENTS) {
            my ($word, $ours) = @$event;
            my $text = reader("$profile->{name}: $word", $annotate, "--sort=$word", "--show=$word",
                '--threshold=0', '--auto=no', $file);
            is_deeply(table_of($text), rows_of($ours, 0, @{ $profile->{files} }),
                "$profile->{name}: $word");
        }
    }
};

subtest 'cg_diff' => sub {
    my $diff = need_program('cg_diff', 'valgrind');
    my ($one, $other) = map { $_->{files}[0] } @{ profiles() }[0, 3];
    my $new = exported('.cachegrind', '-f', '--diff', $one, $other);
    my $base = $new =~ s/(?=\.cachegrind)/.base/r;
    my $text = reader('two sides', $diff, $base, $new);
    my ($event) = $text =~ /^events: +(.*)/m;
    is($event, 'Cpu Wall Calls Ops', 'the events');
    my (%got, $name);
    for (split /\n/, $text) {
        $name = name_of($1) if /^fn=(.*)/;
        $got{$name} += $4 if defined $name && /^0 (\S+) (\S+) (\S+) (\S+)/;
    }
    my ($before, $after) = map { rows_of('ops', 0, $_) } $one, $other;
    my %want = map { $_ => ($after->{$_} // 0) - ($before->{$_} // 0) }
        keys %{ { %$before, %$after } };
    delete $_->{'(program)'} for \%got, \%want;
    is_deeply({ map { $got{$_} ? ($_ => $got{$_}) : () } keys %got },
        { map { $want{$_} ? ($_ => $want{$_}) : () } keys %want }, 'the changes of the values');
};

# KCachegrind has no output but its window: it has a title and a message when it cannot read.
subtest 'KCachegrind' => sub {
    need_program('kcachegrind', 'kcachegrind');
    need_program('xvfb-run', 'xvfb');
    need_program('dbus-run-session', 'dbus-daemon');
    need_program('xdotool', 'xdotool');
    for my $profile (@{ profiles() }) {
        my $file = exported('.callgrind', @{ $profile->{files} });
        my $home = scratch();
        mkdir "$home/.config";
        spew("$home/.config/kcachegrindrc", "[TipOfDay]\nRunOnStart=false\n");
        my $script = spew("$home/look", <<'END');
kcachegrind "$1" &
pid=$!
tries=0
while [ $tries -lt 100 ]; do
    title=$(xdotool search --onlyvisible --name . getwindowname %@ 2>/dev/null)
    case $title in *.callgrind*) break ;; esac
    sleep 0.2
    tries=$((tries + 1))
done
sleep 1
xdotool search --onlyvisible --name . getwindowname %@
kill $pid
END
        my $run = run_program([qw(xvfb-run -a dbus-run-session sh), $script, $file],
            env => { HOME => $home, XDG_RUNTIME_DIR => $home, LC_ALL => 'C.UTF-8' });
        like($run->{out}, qr/\.callgrind/, "$profile->{name}: a window with the profile")
            or diag($run->{err});
        my @messages = grep { /^Loading |rror|nvalid|edefini|ndefined|arning/ } split /\n/,
            $run->{out} . $run->{err};
        is(join("\n", grep { !/dbus|fd limit/ } @messages), '', "$profile->{name}: no message");
    }
};

done_testing;
