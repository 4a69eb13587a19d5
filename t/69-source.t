# Lines of source in the tools: dprofreport -s srcline and --annotate, dprofmerge.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew slurp in_process profiled);
use Compress::Zlib ();
use JSON::PP ();
use MIME::Base64 ();
use LineReader;
use SourceProgram;

my $dir = scratch();
my %env = SourceProgram::HOW;
my ($file, $profile) = SourceProgram::recorded($dir);
my $got = LineReader::read_file($profile);

sub json {
    my (@args) = @_;
    my $report = in_process('dprofreport', '--format', 'json', @args);
    return JSON::PP->new->utf8->decode($report->{out});
}

subtest 'dprofreport -s srcline prints lines' => sub {
    my $rows = json('-s', 'srcline', '-n', '--show-total-period', '-m', 'real', $profile)->{rows};
    my %row = map { $_->{srcline} =~ /\Q$file\E:(\d+)\z/ ? ($1 => $_) : () } @$rows;
    is_deeply({ map { $_ => $row{$_}{calls} } keys %row },
        { 11 => 1, 12 => 1, 13 => 6, 15 => 1, 16 => 1, 3 => 7, 4 => 7, 7 => 5, 8 => 5, 9 => 4,
            1 => 2 }, 'two statements on a line are both counted')
        or diag explain { map { $_ => $row{$_}{calls} } keys %row };
    my $sum = 0;
    $sum += $_->{self_pct} for @$rows;
    cmp_ok(abs($sum - 100), '<', 0.2, 'Self of all lines adds up to 100 %');
    is(0 + (grep { $_->{children_pct} < $_->{self_pct} } @$rows), 0,
        'Children is never less than Self');
    is(0 + (grep { $_->{children_pct} > 100 } @$rows), 0,
        'Children is at most 100 %, with recursion too');
    my $ticks = sub { 1e7 * $_[0]{self} };
    is_deeply([map { sprintf '%.0f', $ticks->($row{$_}) } 3, 4, 9],
        [map { $got->{times}{"$file:$_"}[2] } 3, 4, 9], 'the ticks of lines are those of the file')
        or diag explain $row{3};
    my $by_sub = json('-s', 'srcline,sub', $profile)->{rows};
    is_deeply({ map { $_->{srcline} =~ /\Q$file\E:(\d+)\z/ ? ($1 => $_->{symbol}) : () } @$by_sub },
        { 11 => '(program)', 12 => '(program)', 13 => '(program)', 15 => '(program)',
            16 => '(program)', 3 => 'main::leaf', 4 => 'main::leaf', 7 => 'main::deep',
            8 => 'main::deep', 9 => 'main::deep', 1 => 'main::BEGIN' }, 'each line has its sub');
};

# Returns calls by "FILE:LINE callee", from the contexts of the file, with the inclusive real ticks
# of the callee, recursion counted once.
sub naive_calls {
    my ($path) = @_;
    my (%name, %calls, %ticks, @path);
    for (split /\n/, slurp($path)) {
        $name{$1} = "$2::$3" if /^& (\w+) (\S+) (\S+)/;
        next if !/^= (\d+) (\w+) (\d+) \d+ \d+ (\d+)(.*)/;
        my ($depth, $sub, $calls, $real, $rest) = ($1, $2, $3, $4, $5);
        my $at = $rest =~ / at=(\S+)/ ? "$1 $name{$sub}" : '';
        $#path = $depth - 1;
        $path[$depth] = $at;
        $calls{$at} += $calls if length $at;
        my %seen;
        $ticks{$_} += $real for grep { length && !$seen{$_}++ } map { $_ // '' } @path;
    }
    return (\%calls, \%ticks);
}

subtest 'dprofreport -s srcline --callees and --callers print calls of lines' => sub {
    my $from = sub { json('-s', 'srcline', '--callees', @_)->{rows} };
    my $to = sub { json('-s', 'srcline', '--callers', @_)->{rows} };
    my $told = sub { [sort map { "$_->{caller} " . ($_->{site} =~ s{.*/}{}r)
        . " $_->{callee} $_->{calls}" } @{ $_[0] }] };
    my @leaf = ('(program) p.pl:13 main::leaf 3', 'main::deep p.pl:9 main::leaf 4');
    my @begin = ('(program) p.pl:1 main::BEGIN 1');
    my @deep = ('(program) p.pl:15 main::deep 1', 'main::deep p.pl:9 main::deep 4');
    is_deeply($told->($from->('p.pl:9', $profile)), [$deep[1], $leaf[1]],
        '--callees of a line has the calls from it');
    is_deeply($told->($from->("$file:9", $profile)), [$deep[1], $leaf[1]],
        '--callees takes the path of a line');
    is_deeply($told->($from->('deep', $profile)), [$deep[1], $leaf[1]],
        '--callees of a sub has the calls from its lines');
    is_deeply($told->($from->('(program)', $profile)), [@begin, $leaf[0], $deep[0]],
        '--callees of (program) has the calls outside of subs');
    is_deeply($told->($from->('/p\.pl:(?:9|13)/', $profile)), [$leaf[0], $deep[1], $leaf[1]],
        '--callees of a regex has the calls from its lines');
    is_deeply($told->($from->('p.pl:3', $profile)), [],
        '--callees of a line that calls nothing is empty');
    is_deeply($told->($to->('p.pl:3', $profile)), \@leaf,
        '--callers of a line has the lines that call its sub');
    is_deeply($told->($to->('p.pl:9', $profile)), \@deep,
        '--callers of a line of a recursive sub has its own line');
    is_deeply($told->($to->('/p\.pl:[39]\z/', $profile)), [sort @leaf, @deep],
        '--callers of a regex has the lines that call two subs');
    is_deeply($told->(json('--callers', 'p.pl:4', $profile)->{rows}), \@leaf,
        'FILE:LINE needs no -s srcline');
    is(scalar @{ $from->('/./', '-O', 1, $profile) }, 1, '-O limits the rows');
    my ($calls, $ticks) = naive_calls($profile);
    my $rows = $from->('/./', '-m', 'real', $profile);
    my (%calls, %ticks);
    for (@$rows) {
        $calls{"$_->{site} $_->{callee}"} += $_->{calls};
        $ticks{"$_->{site} $_->{callee}"} += sprintf '%.0f', 1e7 * $_->{total};
    }
    is_deeply(\%calls, $calls,
        'the calls from all lines are those of the contexts') or diag explain \%calls;
    is_deeply(\%ticks, $ticks, 'the ticks of the calls are those of the contexts')
        or diag explain [\%ticks, $ticks];
    for (['--callers', 'p.pl:12', qr/^p\.pl:12 is in no sub, so nothing calls it; --callees p\.pl/],
        ['--callees', 'p.pl:99', qr/^there is no sub, file or line p\.pl:99 in \S+$/],
        ['--callees', 'no', qr/^there is no sub, file or line no in \S+$/]) {
        my ($option, $word, $error) = @$_;
        my $run = in_process('dprofreport', '-s', 'srcline', $option, $word, $profile);
        like($run->{err}, $error, "$option $word gives a message");
        is($run->{status}, 1, "$option $word gives status 1");
    }
    is(in_process('dprofreport', '-s', 'srcline', '--callees', '/(/', $profile)->{status}, 2,
        'a bad regex is a usage error');
    my $bare = profiled([$file], env => \%env)->{profile};
    like(in_process('dprofreport', '--callees', 'p.pl:9', $bare)->{err},
        qr/no places of calls were recorded; record them with lines or callsites=1$/,
        'a profile without places of calls gives a message');
};

subtest 'Calls of blocks have their place' => sub {
    mkdir "$dir/a b" or die;
    my $blocks = spew("$dir/a b/first.pl", <<'END');
use List::Util 'first';
sub leaf { my $n = shift;
    return $n * 2 }
sub mid { my $found = first { leaf($_) > 4 } 1 .. 5;
    return leaf($found) }
mid() for 1 .. 3;
END
    my $run = profiled([$blocks], env => { %env, PERL_DPROF_LINES => 'time' });
    my $rows = json('--callees', 'a b/first.pl:4', $run->{profile})->{rows};
    is_deeply([sort map { "$_->{caller} $_->{callee} $_->{calls}" } @$rows],
        ['main::__ANON__ main::leaf 9', 'main::mid List::Util::first 3',
            'main::mid main::__ANON__ 9'], 'the line that calls first also calls its block');
    is($rows->[0]{site}, "$blocks:4", 'the place of a call is shown');
    is(json('--callers', 'main::mid', $run->{profile})->{rows}[0]{site}, "$blocks:6",
        '--callers of a sub has the place of a call');
};

subtest 'dprofreport -F hot prints the hottest line of a sub' => sub {
    my $hottest = sub {
        my (%best) = @_;
        my ($line) = sort { $best{$b} <=> $best{$a} || $a cmp $b } keys %best;
        my $whole = 0;
        $whole += $_ for values %best;
        return [$line, sprintf '%.2f', 100 * $best{$line} / $whole];
    };
    my $shown = sub {
        return map { $_->{symbol} => defined $_->{hot}
            ? [$_->{hot}, sprintf '%.2f', $_->{hot_pct}] : undef }
            @{ json('-F', '+hot', @_)->{rows} };
    };
    my %real = map { $_ => $got->{times}{$_}[2] } keys %{ $got->{times} };
    my %of = ('main::leaf' => [3, 4], 'main::deep' => [7 .. 9], '(program)' => [11 .. 13, 15, 16]);
    for (['real', sub { $real{ $_[0] } }], ['calls', sub { $got->{count}{ $_[0] } }]) {
        my ($metric, $cost) = @$_;
        my %hot = $shown->('-m', $metric, $profile);
        for my $sub ('main::leaf', 'main::deep') {
            my %cost = map { ("$file:$_" => $cost->("$file:$_")) } @{ $of{$sub} };
            is_deeply($hot{$sub}, $hottest->(%cost),
                "-F hot -m $metric prints the hottest line of $sub") or diag explain \%hot;
        }
    }
    my %two = $shown->('-m', 'real', '-s', 'sub,pid', $profile, $profile);
    my %one = $shown->('-m', 'real', $profile);
    is_deeply(\%two, \%one, 'two profiles that are kept apart have the lines of one');
    my %package = map { $_->{package} => $_->{hot} }
        @{ json('-F', '+hot', '-s', 'package', '-m', 'calls', $profile)->{rows} };
    my ($most) = @{ $hottest->(map { my $at = "$file:$_"; ($at => $got->{count}{$at}) }
        map { @{ $of{$_} } } 'main::leaf', 'main::deep') };
    is($package{main}, $most, 'the hottest line of a package is of all its subs');
    my $csv = in_process('dprofreport', '-F', 'hot,sub', '--format', 'csv', $profile)->{out};
    like($csv, qr/\Ahot_pct,hot,symbol$/m, 'CSV has the columns of the hottest line');
    like($csv, qr/^\d+\.\d\d,\Q$file\E:\d+,main::leaf$/m, 'CSV has the values of the hottest line');
    my $levels = in_process('dprofreport', '-F', '+hot', '-s', 'package,sub', '--hierarchy',
        $profile);
    like($levels->{out}, qr/^ +\S+% +\S+% {25,}main$/m,
        '--hierarchy leaves the sum of subs without a line');
    like($levels->{out}, qr/^ +\S+% +\S+% +\S+% +\S+p\.pl:\d+    main::leaf$/m,
        '--hierarchy indents the keys');
    my %bare = $shown->(profiled([$file], env => \%env)->{profile});
    is(join('', grep { defined } values %bare), '', 'a profile without lines has no hottest line');
    my $counts = profiled([$file], env => { %env, PERL_DPROF_LINES => 'count' })->{profile};
    my %counted = $shown->($counts);
    is_deeply($counted{'main::deep'}, ["$file:7", '35.71'],
        'lines=count: the hottest line is the one that ran most often');
    my @by_line = grep { defined $_->{hot} }
        @{ json('-F', '+hot', '-s', 'srcline', $profile)->{rows} };
    is(scalar @by_line, 0, 'rows of lines have no hottest line');
};

subtest 'dprofreport --annotate prints the source with costs' => sub {
    my $report = in_process('dprofreport', '--annotate', 'deep', '-m', 'real', $profile);
    is("$report->{status} $report->{err}", '0 ', '--annotate of a sub gives no message');
    my ($source) = $report->{out} =~ /^ +6  sub deep \{\n(.*?)^ +10  \}\n/ms;
    like($report->{out}, qr/^# main::deep  \Q$file\E:6-10$/m,
        '--annotate names the place of the sub');
    like($source, qr/^ +[\d.]+% +[\d.]+% +5  7      my \$n = shift;$/m,
        '--annotate prints a line with its count');
    like($source, qr/^ +[\d.]+% +[\d.]+% +4  9      return leaf\(\$n\) \+ deep\(\$n - 1\);\n/m,
        '--annotate prints the line of a recursion');
    like($source, qr/^ +# 4 calls of main::deep, [\d.]+%\n +# 4 calls of main::leaf, [\d.]+%$/m,
        '--annotate prints the calls of a line');
    my ($row) = grep { $_->{line} == 9 } @{ JSON::PP->new->decode(in_process('dprofreport',
        '--annotate', 'deep', '-m', 'real', '--format', 'json', $profile)->{out})->{rows} };
    like("$row->{count} $row->{sub}: $row->{calls}", qr/\A4\ main::deep:
        \ 4\ calls\ of\ main::deep,\ [\d.]+%;\ 4\ calls\ of\ main::leaf,\ [\d.]+%\z/x,
        '... as JSON has them');
    my $whole = in_process('dprofreport', '--annotate', 'p.pl', $profile);
    is(() = $whole->{out} =~ /^.{29} +\d+  /mg, 16, '--annotate of a file prints all its lines');
    is(in_process('dprofreport', '--annotate', 'nothing', $profile)->{err},
        "--annotate: there is no sub or file nothing in the profile; dprofreport lists the subs\n",
        '--annotate of an unknown name is an error');
    is(in_process('dprofreport', '--annotate', 'deep', '--format', 'perf', '-m', 'real',
        $profile)->{out}, $report->{out}, '--annotate: the table of perf is the text');
    is(in_process('dprofreport', '--annotate', 'deep', '--format', 'svg', $profile)->{status}, 2,
        '--annotate draws no picture');
    spew($file, "# one line more\n" . slurp($file));
    like(in_process('dprofreport', '--annotate', 'deep', $profile)->{out},
        qr/^# The file has changed since the recording/m,
        '--annotate says that a source has changed');
    unlink $file;
    my $gone = in_process('dprofreport', '--annotate', 'deep', $profile);
    like($gone->{out}, qr/^# The source file is missing/m,
        '--annotate says that a source is missing');
    like($gone->{out}, qr/^ +[\d.]+% +[\d.]+% +5 7  $/m,
        '--annotate prints the costs of a missing source');
};

subtest 'source=1 keeps the source in the profile' => sub {
    my $text = "sub f { return 1 }\r\nf();\n\n# \xe4 \x00" . 'z' x 99999;
    my $kept = spew("$dir/kept.pl", $text);
    my %keep = (%env, PERL_DPROF_LINES => 'time', PERL_DPROF_SOURCE => 1);
    my $with = profiled([$kept], env => \%keep)->{profile};
    spew($kept, "other\n");
    my $report = in_process('dprofreport', '--annotate', 'f', $with);
    like($report->{out}, qr/^ +[\d.]+% +[\d.]+% +1 1  sub f \{ return 1 \}$/m,
        '--annotate prints the text that source=1 kept');
    unlike($report->{out}, qr/changed/, '--annotate does not compare the text that source=1 kept');
    my $merged = "$dir/merged_source.out";
    in_process('dprofmerge', '-o', $merged, $with, $with);
    my $of = qr/^(#f \S+kept\.pl size=\d+ crc=\w+ text=(\S+))$/m;
    my ($line, $packed) = slurp($with) =~ $of;
    is((slurp($merged) =~ $of)[0], $line, 'dprofmerge keeps the text');
    is(Compress::Zlib::memGunzip(MIME::Base64::decode_base64($packed)), $text,
        'base64 and zlib decode the text');
    my @bad = (['cut', substr $packed, 0, 40], ['no base64', "!$packed"],
        ['another text', 'H4sIAAAAAAAAAwMAAAAAAAAAAAA='], ['no gzip', 'AAAA'],
        ['longer than said', $packed, 5]);
    for (@bad) {
        my ($what, $other, $size) = @$_;
        my $bad = slurp($with) =~ s/text=\Q$packed/text=$other/r;
        $bad =~ s/(#f \S+kept.pl) size=\d+/$1 size=$size/ if $size;
        my $is = in_process('dprofreport', '--annotate', 'f', spew("$dir/bad.out", $bad));
        is($is->{status}, 0, "--annotate of a damaged text gives status 0: $what");
        like($is->{out}, qr/has changed since/,
            "--annotate compares the file if the text is damaged: $what");
    }
    my $alone = profiled([$kept], env => { %env, PERL_DPROF_SOURCE => 1 });
    like($alone->{err}, qr/^DProf: source=1 needs lines: -d:DProf=tree,lines,source=1$/m,
        'source=1 without lines is refused');
};

subtest "dprofreport --annotate prints each line's own costs" => sub {
    my $nested = spew("$dir/nested.pl", <<'END');
use List::Util 'first';
sub leaf { return $_[0] > 2 }
sub outer {
    my @of = (1 .. 3);
    my $found = first {
        my $n = $_;
        leaf($n);
    } @of;
    return $found + (first { leaf($_) } @of);
}
outer();
END
    my $run = profiled([$nested], env => { %env, PERL_DPROF_LINES => 'time' });
    my $text = in_process('dprofreport', '--annotate', 'outer', '-m', 'real', $run->{profile})
        ->{out};
    is_deeply({ map { /^.{20} *(\d+) +(\d+) {2}/ ? ($2 => $1) : () } split /\n/, $text },
        { 4 => 1, 6 => 3, 7 => 3, 8 => 1, 9 => 1 },
        'lines of a block have its counts, unless the sub has statements there, too') or diag $text;
    like($text, qr/^.{29} +7  +leaf\(\$n\);\n +# 3 calls of main::leaf, /m,
        '--annotate prints the calls of a block');
    my ($of_nine) = $text =~ /^.{29} +9  .*\n((?: +# .*\n)*)/m;
    like($of_nine, qr/^ +# 1 call of List::Util::first, /m,
        "a line of the sub has the sub's own calls");
    unlike($of_nine, qr/main::leaf/, 'a line of the sub does not have the calls of a block on it');
    my $counted = profiled([$nested], env => { %env, PERL_DPROF_LINES => 'count' })->{profile};
    like(in_process('dprofreport', '--annotate', 'nested.pl', '-m', 'real', $counted)->{out},
        qr/^ +(?!0\.00)\d+\.\d\d% +1 +11  outer\(\);$/m,
        'lines=count: shares are of the total, not of all lines');
    my $calls = in_process('dprofreport', '--annotate', 'outer', '-m', 'calls', $run->{profile});
    like($calls->{err}, qr/^-m calls: --annotate has no shares of calls/,
        '--annotate refuses -m calls');
    is($calls->{status}, 2, '--annotate -m calls is a usage error');
    my $both = in_process('dprofreport', '--annotate', 'nested.pl', '-s', 'pid', '-m', 'real',
        $run->{profile}, $run->{profile});
    like($both->{out}, qr/^ .* 2 +11  outer\(\);$/m, 'files of several processes are added up');
};

subtest 'dprofreport --annotate prints calls of a profile without lines' => sub {
    my $caller = spew("$dir/calls.pl", "sub leaf { 1 }\nsub run {\n    leaf();\n}\nrun();\n");
    my $calls = profiled([$caller], env => { %env, PERL_DPROF_CALLSITES => 1 })->{profile};
    my $text = in_process('dprofreport', '--annotate', 'run', '-m', 'real', $calls)->{out};
    like($text, qr/^# The profile has calls but no costs of statements: record with lines\.$/m,
        '--annotate says that the profile has no costs of statements');
    like($text, qr/^ +\d+\.\d\d% {20} 3      leaf\(\);\n +# 1 call of main::leaf, \d+\.\d\d%$/m,
        '--annotate leaves the counts of lines blank');
};

subtest 'dprofreport --annotate finds the end of a sub' => sub {
    my $ends = spew("$dir/ends.pl", <<'END');
sub same_line { my $n = shift;
    return $n }
same_line(1);
if (same_line(2)) {
    same_line(3);
}
sub closure {
    my $n = shift;
    return sub {
        my $m = $n;
        return $m if $n;
        die;
    };
}
closure(1)->();
sub documented {
    # one
    # two
    # three
    # four
    # five
    # six
    return 1;
}
documented();
END
    my $run = profiled([$ends], env => { %env, PERL_DPROF_LINES => 'time' });
    my $lines = sub { join ' ', in_process('dprofreport', '--annotate', @_, $run->{profile})
        ->{out} =~ /^.{29} +(\d+)  /mg };
    is($lines->('same_line'), '1 2', 'a sub ends with the brace after its last statement');
    is($lines->('documented'), '16 17 18 19 20 21 22 23 24',
        'a sub has the comments at its beginning');
    is($lines->('closure'), '7 8 9 10 11 12 13 14', 'a sub has the lines of its closures');
};

# Samples, and attaching, know some of the statements, and perhaps none of those behind the sub.
subtest 'The end of a sub is found, whichever of its statements are known' => sub {
    require Devel::DProf::View::Source;
    my @subs = ("sub f { my \$y = 0; \$y += \$_ for 1 .. 9; return \$y }\n",
        "sub f { return { a => '}', b => \"{\" } }   # not }\n",
        "sub f\n{\n    my \$x = shift;\n    return \$x }\n",
        "sub f {\n    my (\$x) = \@_;\n    return map {\n        {\$_ => 1}\n    } \@\$x;\n}\n",
        "    sub f {\n        return 1;\n    }\n",
        "sub f {\n    \$_[0] =~ /\\{[{]\\d{1,2}/;\n    return 2;\n}\n",
        "my \$f = sub { return \$_[0] };\n", "sub f { if (1) {\n    g() }\n    return 3 }\n");
    my @behind = ("\n#\nmy \$i = 0;\nwhile (\$i++ < 3) {\n    f();\n}\n",
        "for (1) {\n    f();\n}\n", "\n}\n", '');
    my @wrong;
    for my $sub (@subs) {
        my $lines = () = $sub =~ /\n/g;
        for my $behind (@behind) {
            my $source = Devel::DProf::View::Source->new(same => "use strict;\n$sub$behind");
            for my $last (1 .. $lines) {
                my $end = $source->end_of('main::f', 2, 1 + $last, sub { 0 });
                push @wrong, "$sub$behind: from $last to " . ($end - 1) if $end != 1 + $lines;
            }
        }
    }
    is("@wrong", '', 'the end is the brace that closes the sub');
};

subtest 'dprofreport --annotate prints lines that no file has' => sub {
    my $template = spew("$dir/tmpl", "one\ntwo\n");
    my $made = spew("$dir/made.pl", <<"END");
eval qq{#line 2 "$template"\\n\\\$x = 1;\\n\\n\\\$x = 2;\\n1} or die;
eval "\\\$x++;";
END
    my $run = profiled([$made], env => { %env, PERL_DPROF_LINES => 'time' });
    my $text = in_process('dprofreport', '--annotate', 'tmpl', '--source-dir', $dir,
        $run->{profile})->{out};
    like($text, qr/^.{20} +1 2  two\n.{20} +1 4  \n.{20} +1 5  \n\z/m,
        'lines after the end of a file are shown');
    like(in_process('dprofreport', '--annotate', '(eval 2)', $run->{profile})->{out},
        qr/^# The source was not in a file: the program had it as a string\.$/m,
        '--annotate says that the source of a string eval is missing');
};

subtest 'Lines belong to a process and to the main program' => sub {
    my $by_pid = json('-s', 'srcline,pid', '-n', '-m', 'real', $profile, $profile)->{rows};
    is_deeply({ map { $_->{srcline} =~ /p\.pl:(9|13)\z/ ? ($1 => $_->{calls}) : () } @$by_pid },
        { 9 => 2 * 4, 13 => 2 * 6 }, '-s srcline,pid has the lines of both processes');
    like(in_process('dprofreport', '-n', '-s', 'srcline', $profile)->{out},
        qr/^Children +Self +Count +Source:Line$/m, 'the column of how often lines ran is Count');
    my $main = in_process('dprofreport', '--main', '-s', 'srcline,sub', '--format', 'json',
        $profile);
    like($main->{err}, qr/^\Q$profile\E: --main leaves out the costs of statements, /,
        '--main says that it has no costs of statements');
    my ($sum, %line) = (0);
    for (@{ JSON::PP->new->utf8->decode($main->{out})->{rows} }) {
        $sum += $_->{self_pct};
        $line{ $_->{symbol} } = $_->{srcline};
    }
    cmp_ok(abs($sum - 100), '<', 0.2, 'the column Self of --main adds up to 100 %');
    like($line{'main::leaf'}, qr/p\.pl:3\z/, 'the lines of --main are those where subs begin');
    is(in_process('dprofreport', '--main', $profile)->{err}, '',
        '--main of subs prints no message');
};

subtest 'Profiles with different kinds of lines give a message' => sub {
    my $small = spew("$dir/small.pl", "sub f { 1 }\nf();\n");
    my ($times, $counts, $none) = map { profiled([$small], env => { %env, %$_ })->{profile} }
        { PERL_DPROF_LINES => 'time' }, { PERL_DPROF_LINES => 'count' }, {};
    my $told = sub { in_process('dprofreport', @_)->{err} };
    is($told->('-s', 'srcline', $times, $none), "$none: the file has no costs of statements, unlike"
        . " $times; the lines shown lack its share\n",
            'a message names the profile without costs of statements');
    is($told->('-F', 'hot', $counts, $times), "$counts: the file has counts of statements but no"
        . " times, unlike $times; the lines shown lack its times\n",
            'a message names the profile with counts alone');
    is($told->(@$_), '', "dprofreport @$_[0 .. $#$_ - 1] prints no message")
        for ['-s', 'srcline', $none],
        [$times, $none], ['-f', '-s', 'srcline', $times, $none];
};

subtest '--symfs finds a source in another folder' => sub {
    my $moved = spew("$dir/moved.pl", "sub here {\n    return 1;\n}\nhere();\n");
    my $run = profiled([$moved], env => { %env, PERL_DPROF_LINES => 'time' })->{profile};
    mkdir "$dir/root" or die;
    my $path = "$dir/root";
    for (grep { length } split m{/}, $dir) {
        $path .= "/$_";
        mkdir $path or die;
    }
    rename $moved, "$path/moved.pl" or die;
    my $shown = sub { in_process('dprofreport', '--annotate', 'here', @_, $run)->{out} };
    my $here = qr/^.{29} 1  sub here \{\n.{20} +1 2      return 1;$/m;
    like($shown->('--symfs', "$dir/root"), $here, '--symfs finds a source by its whole path');
    like($shown->('--symfs', $path), $here, '--symfs finds a source by the end of its path');
    like($shown->('--symfs', "$dir/none,$path"), $here,
        '--symfs finds a source in the second folder');
    rename "$path/moved.pl", "$path/kept.pl" or die;
    spew("$path/moved.pl", "sub other {\n}\n");
    like($shown->('--symfs', $path), qr/^# The source file is missing;/m,
        '--symfs does not take another file with the same end');
    like($shown->('--symfs', "$dir/root"), qr/^# The file has changed since the recording/m,
        '--symfs says that the file at the whole path has changed');
    rename "$path/kept.pl", $moved or die;
    like($shown->('--symfs', "$dir/root"), $here,
        '--symfs finds the right file behind the changed one');
};

subtest 'Names of files that are not ASCII are found' => sub {
    for (["caf\xc3\xa9", 'UTF-8'], ["caf\xe9", 'Latin-1']) {
        my ($name, $what) = @$_;
        my $odd = spew("$dir/$name.pl", "sub here {\n    return 1;\n}\nhere();\n");
        my ($found, $kept) = map { profiled([$odd], env => { %env, PERL_DPROF_LINES => 'time',
            PERL_DPROF_SOURCE => $_ })->{profile} } 0, 1;
        my $shown = sub { in_process('dprofreport', '--annotate', 'here', @_)->{out} };
        like($shown->($found), qr/ 2      return 1;$/m, "$what: --annotate finds the file");
        spew($odd, "# one line more\n" . slurp($odd));
        like($shown->($found), qr/^# The file has changed/m,
            "$what: --annotate says that the file has changed");
        like($shown->($kept), qr/ 2      return 1;$/m,
            "$what: --annotate finds the text in the profile");
    }
};

subtest 'Hostile source is escaped' => sub {
    my $odd = spew("$dir/odd.pl", "sub f { 1 }\tmy \$x = \"\e[31m\xe4\x00\";\r\nf();\r\n\r\n");
    my $other = profiled([$odd], env => { %env, PERL_DPROF_LINES => 'time' });
    my $report = in_process('dprofreport', '--annotate', $odd, $other->{profile});
    is($report->{status}, 0, 'a source with odd bytes is annotated');
    unlike($report->{out}, qr/[\x00-\x09\x0b-\x1f]/,
        'a source with odd bytes prints no control character');
    like($report->{out}, qr/\\x1b\[31m\xc3\xa4\\x00/, 'a source in Latin-1 is printed as UTF-8');
};

subtest 'dprofmerge adds up lines' => sub {
    my $merged = "$dir/merged.out";
    is(in_process('dprofmerge', '-o', $merged, $profile, $profile)->{status}, 0,
        'two profiles of one program are merged');
    my $two = LineReader::read_file($merged);
    is(join("\n", LineReader::problems($two)), '', 'the merged sums are equal');
    is_deeply($two->{count}, { map { $_ => 2 * $got->{count}{$_} } keys %{ $got->{count} } },
        'counts of lines are added');
    is_deeply([map { [@{ $two->{times}{$_} }] } sort keys %{ $two->{times} }],
        [map { [map { 2 * $_ } @{ $got->{times}{$_} }] } sort keys %{ $got->{times} }],
        'times of lines are added');
    like(slurp($merged), qr/^#f \S+p\.pl size=\d+ crc=[0-9a-f]+$/m,
        'the merged file has the checksum of the source');
    in_process('dprofmerge', '-o', "$merged.2", $merged);
    is(slurp("$merged.2"), slurp($merged), 'merging one merged file changes nothing');
};

subtest 'dprofreport prints profiles of lines=count' => sub {
    spew($file, "sub f { my \$x = 1; \$x++ }\nf() for 1 .. 4;\n");
    my $counted = profiled([$file], env => { %env, PERL_DPROF_LINES => 'count' })->{profile};
    my ($line) = grep { $_->{srcline} =~ /p\.pl:1\z/ }
        @{ json('-s', 'srcline', '-n', $counted)->{rows} };
    is($line->{calls}, 8, 'lines=count has counts without times');
};

done_testing;
