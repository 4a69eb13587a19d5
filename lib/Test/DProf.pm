package Test::DProf;

use strict;
use warnings;

use Carp 'croak';
use Devel::DProf::Text ();
use Devel::DProf::View::Layout ();
use Test2::API ();
use Test::DProf::Growth;
use Test::DProf::Names qw(misspelt doubtful_name);
use Test::DProf::Profile;

our $VERSION = '20261120.00';

our @EXPORT = qw(profile_ok profile_script_ok calls_ok cost_ok no_repeated_ok
                 no_growth_ok no_regression_ok);
our @CARP_NOT = ('Test::DProf::Profile');

use constant WIDTH => 78;   # of a diagnostic's line, after its `# '

my $cannot;         # why nothing can be recorded here
my $started;
my $detail;         # the kinds of spans that this process records; undef: unknown, or none
my $first_pid;
my %early;          # files that were compiled before there was a recorder
my $blocks = 0;
our $Running;       # the name of the block that runs
our $Files = 0;

# ---- the beginning ----

# Takes the options of `use Test::DProf' (-pinned, events => LIST, detail => LIST), and exports the
# functions.
sub import {
    my ($class, @args) = @_;
    my (@names, %option, $pinned);
    while (@args) {
        my $arg = shift @args;
        if ($arg eq '-pinned') { $pinned = 1 }
        elsif ($arg =~ /^(?:detail|events)\z/) { $option{$arg} = shift @args }
        elsif (grep { $_ eq $arg } @EXPORT) { push @names, $arg }
        else {
            croak "use Test::DProf: unknown argument `$arg'; the arguments are -pinned, "
                . 'detail => LIST, events => LIST, and ' . join(', ', @EXPORT);
        }
    }
    pin_seed() if $pinned;
    start_recorder(%option);
    my $to = caller;
    no strict 'refs';
    *{"${to}::$_"} = \&{"${class}::$_"} for @names ? @names : @EXPORT;
    return;
}

# Returns whether the hash seed is pinned, so that calls and ops repeat.
sub is_pinned {
    return ($ENV{PERL_HASH_SEED} // '') eq '0' && ($ENV{PERL_PERTURB_KEYS} // '') eq '0';
}

# Executes the same test again with the hash seed pinned, unless it is pinned already. Dies if that
# is impossible.
sub pin_seed {
    return if is_pinned();
    croak 'use Test::DProf -pinned: not under -T; set PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0'
        if ${^TAINT};
    my $hub = Test2::API::test2_stack()->top;
    croak 'use Test::DProf -pinned must come before the first test and the plan'
        if $hub->count || defined $hub->plan;
    croak 'use Test::DProf -pinned: the test is read from standard input' if $0 eq '-';
    croak 'use Test::DProf -pinned: this was tried, and the hash seed is still not pinned'
        if $ENV{TEST_DPROF_PINNED};
    my @command;
    if (open my $in, '<:raw', '/proc/self/cmdline') {
        local $/;
        @command = split /\0/, <$in> // '', -1;
        pop @command;
        shift @command;
    } else {
        require Devel::DProf::Tool::Record;
        @command = ($^W ? '-w' : (), (map { "-I$_" } grep { !ref } @INC), $0, @ARGV);
    }
    @ENV{qw(PERL_HASH_SEED PERL_PERTURB_KEYS TEST_DPROF_PINNED)} = (0, 0, 1);
    exec { $^X } $^X, @command or croak "use Test::DProf -pinned: $^X: $!";
}

# Starts the recorder once in a process, stopped, so that blocks can be recorded. If it cannot run,
# $cannot says why, and all tests of the module are skipped.
sub start_recorder {
    my (%option) = @_;
    delete $ENV{TEST_DPROF_PINNED};
    if ($started++) {
        my ($late) = grep { defined $option{$_} } qw(detail events);
        croak "use Test::DProf $late: only the first use of the module may have it"
            if defined $late;
        return;
    }
    $first_pid = $$;
    $cannot = why_unable();
    return if defined $cannot || Devel::DProf::_is_there();
    my @options = ('mode=tree', 'start=no', 'out=' . (private_dir() =~ s/%/%%/gr) . '/own');
    my @given = grep { defined $option{$_} } qw(detail events);
    push @options, map { "$_=$option{$_}" } @given;
    push @options, "clock=$ENV{PERL_DPROF_CLOCK}"
        if length($ENV{PERL_DPROF_CLOCK} // '') && !${^TAINT};
    if (!eval { Devel::DProf::_start_own(@options); 1 }) {
        my $why = $@ =~ s/^DProf: //r =~ s/\n+\z//r;
        croak "use Test::DProf: $why" if @given && $why =~ /event|^detail/;
        $cannot = $why;
        return;
    }
    $detail = $option{detail};
    remember_early();
    return;
}

# Returns the reason why nothing can be recorded, or undef.
sub why_unable {
    local $@;
    if (!defined &Devel::DProf::_is_there && !eval { require Devel::DProf::Core; 1 }) {
        return 'Devel::DProf cannot be loaded by this perl: ' . ($@ =~ /^([^\n]*)/)[0];
    }
    return undef if Devel::DProf::_is_there();
    my ($other) = grep { $INC{"Devel/$_.pm"} } qw(NYTProf FastProf SmallProf Profiler);
    return "another profiler is running (Devel::$other)" if defined $other;
    return cover_message() if $INC{'Devel/Cover.pm'};
    return 'a debugger or another profiler is running'
        . (length($ENV{PERL5DB} // '') ? " (PERL5DB is `$ENV{PERL5DB}')" : '')
        if $^P & 0x1 || (length($ENV{PERL5DB} // '') && defined &DB::DB);
    return undef;
}

# Returns the reason to skip tests under Devel::Cover.
sub cover_message { return 'Devel::Cover is running, which changes the ops that code executes' }

# Remembers the files that were compiled before this module was loaded: their code has no hooks yet.
# Subs that can be called by name get hooks later, but anonymous subs and those called through
# references may not.
sub remember_early {
    my @core = grep { defined && length } map { s{/[^/]+\z}{}r } grep { defined }
        @INC{qw(strict.pm warnings.pm)};
    require Config;
    push @core, @Config::Config{qw(privlibexp archlibexp)};
    for my $name (keys %INC) {
        my $path = $INC{$name} // next;
        next if ref $path || $name =~ /^[a-z]/
            || $name =~ m{^(?:Test2?|Devel/DProf|Test/DProf|TAP)\b};
        next if grep { index($path, "$_/") == 0 } @core;
        $early{$path} = $name;
    }
    return;
}

my $dir;

# Returns a private folder for profiles, which is removed at the end.
sub private_dir {
    return $dir if defined $dir;
    require File::Spec;
    my $tmp = File::Spec->tmpdir;
    $tmp = "$1" if $tmp =~ /^(.*)\z/s;
    for my $n (0 .. 999) {
        my $path = "$tmp/test-dprof-$$" . ($n ? ".$n" : '');
        return $dir = $path if mkdir $path, 0700;
    }
    die "DProf: no folder in $tmp: $!\n";
}

END { remove_dir() if defined $dir && $$ == $first_pid }

# Removes the folder of profiles when the process ends. The folder is renamed first: children that
# still run must not put files into it.
sub remove_dir {
    local ($?, $!, $@);
    # After this, children that are still running cannot write to it.
    my @folders = rename($dir, "$dir.gone") ? "$dir.gone" : $dir;
    for my $folder (@folders) {     # more may be added
        opendir my $in, $folder or next;
        for my $name (grep { !/^\.\.?\z/ } readdir $in) {
            my ($path) = "$folder/$name" =~ /^(.*)\z/s;
            if (-d $path && !-l $path) { push @folders, $path }
            else { unlink $path }
        }
    }
    rmdir for reverse @folders;
    return;
}

# ---- recording ----

# Calls a block and records what it does, as a test that passes if the block lives. Returns its
# profile, a Test::DProf::Profile.
sub profile_ok(&;$) {
    my ($code, $name) = @_;
    croak 'profile_ok: the first argument must be a block' if ref $code ne 'CODE';
    croak "profile_ok `" . ($name // 'profile') . "' within profile_ok `$Running': blocks cannot "
        . 'be nested' if defined $Running;
    $name //= 'profile';
    start_recorder() if !$started;
    return skipped_block($code, $name) if defined $cannot;

    my $phase = ++$blocks . ": $name" . place_of_process();
    my ($lived, $error);
    {
        local $@;
        local $Running = $name;
        Devel::DProf::_control_begin($phase) or croak 'profile_ok: nothing can be recorded here';
        $lived = eval { Devel::DProf::_block($code); 1 };
        $error = $@;
        Devel::DProf::_control_end();
    }
    my ($pid, $path) = ($$, Devel::DProf::_file());
    my $p = Test::DProf::Profile->new(is_block => 1, dir => \&private_dir, read => sub {
        Devel::DProf::_control_save_block() if $$ == $pid;
        return read_block($path, $phase);
    });
    my @diag = $lived ? () : ("the block died: " . error_text($error));
    push @diag, too_early($p) if %early;
    my $ctx = Test2::API::context();
    $ctx->ok($lived && !@diag, $name, [map { wrap_line($_) } @diag]);
    $ctx->release;
    return $p;
}

# Returns the text of an exception.
sub error_text {
    my ($error) = @_;
    my $text = eval { defined $error ? "$error" : '' } // 'an exception that cannot be printed';
    $text =~ s/\n+\z//;
    return length $text ? $text : 'an empty exception';
}

# Calls a block without recording it, and skips the test. Returns a profile that says why.
sub skipped_block {
    my ($code, $name) = @_;
    eval { $code->(); 1 } or note_text("the block died: " . error_text($@));
    return skip_with($name, $cannot, 1);
}

# Prints texts as notes of the test.
sub note_text {
    my $ctx = Test2::API::context();
    $ctx->note($_) for @_;
    $ctx->release;
    return;
}

# Skips a test with a reason. Returns a profile that says why there are no numbers.
sub skip_with {
    my ($name, $why) = @_;
    my $ctx = Test2::API::context();
    $ctx->skip($name, $why);
    $ctx->release;
    return Test::DProf::Profile->new(skipped => $why);
}

# Returns a suffix that makes block names of children and threads unique.
sub place_of_process {
    my $tid = $INC{'threads.pm'} ? threads->tid : 0;
    return ($$ != $first_pid ? " ($$)" : '') . ($tid ? " (thread $tid)" : '');
}

# Reads the data that all processes and threads have recorded in a phase.
sub read_block {
    my ($path, $phase) = @_;
    require Devel::DProf::Compare::Baseline;
    my $root = project_folder();
    return Devel::DProf::Compare::Baseline::profile([Devel::DProf::Input::processes($path)],
        phase => $phase, below => 'Devel::DProf::_block', allow_truncated => 1, root => $root);
}

# Returns the folder of the project: tests run in it.
sub project_folder { return '.' }

# Returns lines of diagnosis if the block called subs that were compiled before this module was
# loaded, because the recorder may have missed such calls; otherwise nothing.
sub too_early {
    my ($p) = @_;
    my (%called, @order);
    for my $sub ($p->profile->subs({ separate => 1 })) {
        my ($label, undef, $file) = @$sub;
        my ($path) = grep { $_ eq $file || m{/\Q$file\E\z} } sort keys %early;
        next if !length $file || !defined $path || is_core($early{$path});
        push @order, $path if !$called{$path};
        push @{ $called{$path} }, $label;
    }
    return if !@order;
    my @lines = 'compiled before Test::DProf was loaded, so that some of its calls may be missing:';
    push @lines, map {
        my @subs = @{ $called{$_} };
        "  $_ (" . join(', ', @subs > 3 ? (@subs[0 .. 2], '...') : @subs) . ')'
    } @order;
    my $module = $early{ $order[0] } =~ s{/}{::}gr =~ s/\.pm\z//r;
    return @lines, "put `use Test::DProf;' above what loads $module";
}

# Returns whether a file of %INC is a module of perl's core.
sub is_core {
    my ($name) = @_;
    my $module = $name =~ s{/}{::}gr =~ s/\.pm\z//r;
    return eval { require Module::CoreList; Module::CoreList::is_core($module) } ? 1 : 0;
}

# Runs a script in a process of its own and records it, as a test that passes if the script ends as
# expected. Returns its profile. A hash in front has options.
sub profile_script_ok {
    my %how = ref $_[0] eq 'HASH' ? %{ shift() } : ();
    my ($script, @args) = @_;
    croak 'profile_script_ok: no script is given' if !defined $script || !length $script;
    for (keys %how) {
        croak "profile_script_ok: unknown option $_; the options are detail, env, events, lines, "
            . "name, perl, status, stdin"
            if !/^(?:detail|env|events|lines|name|perl|status|stdin)\z/;
    }
    croak 'profile_script_ok: not under -T' if ${^TAINT};
    croak "profile_script_ok within profile_ok `$Running': blocks cannot be nested"
        if defined $Running;
    my $name = $how{name} // join ' ', $script, @args;
    start_recorder() if !$started;
    my $broken = defined $cannot && !defined &Devel::DProf::_is_there ? $cannot : undef;
    # These are the options that a script inherits.
    my $perl_options = join ' ', $ENV{PERL5OPT} // '', @{ $how{perl} || [] };
    $broken //= cover_message() if $perl_options =~ /(?:-[Mm]Devel::|-d:)Cover\b/;
    return skip_with($name, $broken) if defined $broken;
    require Devel::DProf::Compare::Baseline;
    require Devel::DProf::Tool::Record;
    my $folder = private_dir() . '/script' . ++$Files . ($$ != $first_pid ? ".$$" : '');
    mkdir $folder, 0700 or croak "$folder: $!";
    my $stdin = "$folder/stdin";
    spew($stdin, ref $how{stdin} ? ${ $how{stdin} } : $how{stdin}) if defined $how{stdin};
    my ($status, $files, $said) = Devel::DProf::Tool::Record::record_into(
        $folder, [$^X, @{ $how{perl} || [] }, $script, @args], output => 1,
        inc => [map { File::Spec->rel2abs($_) } grep { !ref } added_inc()],
        defined $how{stdin} ? (stdin => $stdin) : (),
        map { $_ => $how{$_} } qw(detail env events lines));
    my ($out, $err) = map { slurp("$folder/$_") } qw(stdout said);
    my $p = Test::DProf::Profile->new(
        dir => \&private_dir, stdout => $out, stderr => $err, status => $status,
        @$files ? () : (skipped => 'there is no profile of the script'),
        read => sub {
            return Devel::DProf::Compare::Baseline::profile($files, root => project_folder(),
                allow_truncated => 1);
        },
    );
    my @diag;
    my $wanted = $how{status} // 0;
    push @diag,
        "$script " . end_text($status) . ", wanted status $wanted" if $status != $wanted << 8;
    push @diag, "$script left no profile; is it a Perl script?" if !@$files && !@diag;
    push @diag, map { ("its $_->[0]:", last_lines($_->[1])) } grep { @diag && length $_->[1] }
        ['output', $out], ['error output', $err];
    my $ctx = Test2::API::context();
    $ctx->ok(!@diag, $name, [map { wrap_line($_) } @diag]);
    $ctx->release;
    return $p;
}

# Returns the folders of @INC that perl would not search by default.
sub added_inc {
    require Config;
    require File::Spec;
    my %known = map { $_ => 1 } grep { defined && length } @Config::Config{qw(
        privlibexp archlibexp sitelibexp sitearchexp vendorlibexp vendorarchexp)};
    return grep { !ref && !$known{$_} && -d } @INC;
}

# Returns in words how a process has ended, from its status.
sub end_text {
    my ($status) = @_;
    return 'could not be started' if $status == -1;
    return 'was killed by signal ' . ($status & 127) if $status & 127;
    return 'ended with status ' . ($status >> 8);
}

# Returns the last ten lines of a text, indented and cut to the width.
sub last_lines {
    my @lines = split /\n/, Devel::DProf::Text::text($_[0]);
    @lines = ('...', @lines[-10 .. -1]) if @lines > 10;
    return map { '  ' . Devel::DProf::View::Layout::cut($_, WIDTH - 2) } @lines;
}

# Returns the contents of a file, or ''.
sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or return '';
    local $/;
    return <$in> // '';
}

# Writes a text to a file. Dies if that fails.
sub spew {
    my ($path, $text) = @_;
    utf8::encode($text) if utf8::is_utf8($text);
    open my $out, '>:raw', $path or croak "$path: $!";
    print {$out} $text;
    close $out or croak "$path: $!";
    return;
}

# ---- limits ----

my %HOLDS = (
    '<' => sub { $_[0] < $_[1] }, '<=' => sub { $_[0] <= $_[1] },
    '>' => sub { $_[0] > $_[1] }, '>=' => sub { $_[0] >= $_[1] },
    '==' => sub { $_[0] == $_[1] }, '!=' => sub { $_[0] != $_[1] },
);

# Tests how often a sub was called: its calls must be in the relation OP to LIMIT. Returns whether
# the test passed.
sub calls_ok {
    my ($p, $sub, $op, $limit, $name) = @_;
    goto &span_calls_ok if ref $sub eq 'HASH';  # so that a failure names the line of the test
    check_arguments('calls_ok', $p, $sub, $op, $limit);
    $name //= "$sub: calls $op $limit";
    return skip_with($name, $p->skipped) && 1 if defined $p->skipped;
    my $calls = eval { $p->calls($sub) };
    return failed_to_read($name, $@) if !defined $calls;
    my $ctx = Test2::API::context();
    my @diag = misspelt($p, $sub);
    my $ok = !@diag && $HOLDS{$op}->($calls, $limit) ? 1 : 0;
    if (!$ok && !@diag) {
        @diag = "$sub was called " . times_of($calls) . ", wanted $op $limit";
        my @callers = $calls ? $p->callers($sub) : ();
        my $more = @callers > 5 ? @callers - 5 : 0;
        splice @callers, 5;
        push @diag, 'called by:', (map { named_line(12, [8], $_->[0], $_->[1]) } @callers),
            $more ? "       ... and $more more" : () if @callers;
    }
    push @diag, doubtful_name($p, $sub) if !$ok;
    $ctx->ok($ok, $name, [map { wrap_line($_) } @diag]);
    $ctx->release;
    return $ok;
}

# Tests the calls of all spans of a kind, or of those whose text matches.
sub span_calls_ok {
    my ($p, $of, $op, $limit, $name) = @_;
    check_arguments('calls_ok', $p, 'spans', $op, $limit);
    my ($kind, $text) = span_options('calls_ok', [qw(kind text)], %$of);
    $name //= "$kind spans: calls $op $limit";
    return skip_with($name, $p->skipped) && 1 if defined $p->skipped;
    my $spans = eval { $p->spans(kind => $kind) };
    return failed_to_read($name, $@) if !$spans;
    my @rows = grep { !defined $text || $_->{text} =~ $text } @{ $spans->{rows} };
    my $calls = 0;
    $calls += $_->{calls} for @rows;
    my @diag = wrong_kind($p, $kind);
    my $ok = !@diag && $HOLDS{$op}->($calls, $limit) ? 1 : 0;
    if (!$ok && !@diag) {
        @rows = sort { $b->{calls} <=> $a->{calls} || $a->{text} cmp $b->{text} } @rows;
        my $more = @rows > 5 ? @rows - 5 : 0;
        splice @rows, 5;
        @diag = ("spans of the kind $kind were executed " . times_of($calls)
            . ", wanted $op $limit", (map { span_line($_->{calls}, $_) } @rows),
            $more ? "       ... and $more more" : ());
    }
    my $ctx = Test2::API::context();
    $ctx->ok($ok, $name, [map { wrap_line($_) } @diag]);
    say_no_spans($ctx, $p, $kind);
    $ctx->release;
    return $ok;
}

# Returns the kind and the text of options about spans, which are NAME => VALUE.
sub span_options {
    my ($what, $known, %of) = @_;
    for my $key (sort keys %of) {
        croak "$what: unknown option $key; the options are " . join ', ', @$known
            if !grep { $_ eq $key } @$known;
    }
    croak "$what: kind is missing; kind => 'sql', for example" if !length($of{kind} // '');
    croak "$what: text must be a pattern, qr/.../"
        if defined $of{text} && ref $of{text} ne 'Regexp';
    return @of{qw(kind text)};
}

# Returns a line with a number and a span. The beginning of a text says more than its end.
sub span_line {
    my ($calls, $span) = @_;
    my $line = sprintf '  %8d  ', $calls;
    return $line . Devel::DProf::View::Layout::cut(
        Devel::DProf::Text::shown("$span->{kind}:$span->{text}"), WIDTH - length $line);
}

# The kinds of spans that detail= records.
my @KINDS = qw(sql http template command file regex);

# Returns why a test checks nothing, if there is no span of its kind: the kind is misspelt, or
# another kind was recorded. Returns an empty list if the test may be right.
sub wrong_kind {
    my ($p, $kind) = @_;
    my %seen = map { $_->{kind} => 1 } @{ $p->spans->{rows} };
    return if $seen{$kind};
    if (!grep { $_ eq $kind } @KINDS) {
        my $meant = Devel::DProf::Text::meant($kind, @KINDS, sort keys %seen);
        return length $meant ? "there is no span of the kind $kind; $meant" : ();
    }
    my %header = $p->profile->files ? $p->profile->header(0) : ();
    my $recorded = $header{dprof_detail} // ($p->is_block ? $detail : undef) // return;
    return if !length $recorded || grep { $_ eq $kind || $_ eq 'all' } split /\+/, $recorded;
    return "the kind $kind was not recorded, but $recorded; detail => '$recorded+$kind' records it,"
        . ' too';
}

# Without any span, a test of an upper limit checks nothing, so it says so even if it passes.
sub say_no_spans {
    my ($ctx, $p, $kind) = @_;
    return if @{ $p->spans->{rows} };
    $ctx->diag($_) for wrap_line('no spans were recorded: ' . ($p->is_block
        ? "use Test::DProf detail => '$kind'" : "profile_script_ok { detail => '$kind' }, ...")
        . ' records them, and so does span() of Devel::DProf::Control');
    return;
}

sub no_repeated_ok {
    my ($p, @how) = @_;
    check_arguments('no_repeated_ok', $p, 'spans', '<=', 0);
    croak 'no_repeated_ok: options are NAME => VALUE' if @how % 2;
    my %how = (max => 10, @how);
    my ($kind, $text) = span_options('no_repeated_ok', [qw(kind text max name)], %how);
    croak 'no_repeated_ok: max must be a whole number, 1 or more' if $how{max} !~ /\A[1-9]\d*\z/a;
    my $name = $how{name} // 'no path repeats a ' . (defined $text ? 'matching ' : '')
        . "$kind span more than "
        . ($how{max} == 1 ? 'once' : "$how{max} times");
    return skip_with($name, $p->skipped) && 1 if defined $p->skipped;
    my $spans = eval { $p->spans(kind => $kind, repeated => $how{max}) };
    return failed_to_read($name, $@) if !$spans;
    my $matches = sub { !defined $text || $_->{text} =~ $text };
    my @repeats = grep { $matches->() } @{ $spans->{repeats} };
    my $more = @repeats > 5 ? @repeats - 5 : 0;
    splice @repeats, 5;
    my @diag = wrong_kind($p, $kind);
    push @diag, map { (span_line($_->{calls}, $_), '           by '
        . Devel::DProf::Text::shown(@{ $_->{path} } ? join ' > ', @{ $_->{path} }
            : '(program)')) } @repeats;
    push @diag, "       ... and $more more" if $more;
    my $ctx = Test2::API::context();
    $ctx->ok(!@diag, $name, [map { wrap_line($_) } @diag]);
    say_no_spans($ctx, $p, $kind);
    $ctx->diag("no text of the kind $kind matches $text, so nothing was tested")
        if @{ $spans->{rows} } && !grep { $matches->() } @{ $spans->{rows} };
    $ctx->release;
    return @diag ? 0 : 1;
}

# Calls a block again and again, as a test that passes if it leaves no values behind. Returns
# whether the test passed.
sub no_growth_ok(&;@) {
    my ($code, @how) = @_;
    croak 'no_growth_ok: the first argument must be a block' if ref $code ne 'CODE';
    croak "no_growth_ok within profile_ok `$Running': blocks cannot be nested" if defined $Running;
    my $how = Test::DProf::Growth::options(@how);
    start_recorder() if !$started;
    my $why = $cannot // Devel::DProf::_growth_refusal();
    return skip_with($how->{name}, $why) && 1 if defined $why;

    my ($rows, $lived, $error);
    {
        local $@;
        local $Running = $how->{name};
        Devel::DProf::_control_begin(++$blocks . ": $how->{name}" . place_of_process())
            or croak 'no_growth_ok: nothing can be recorded here';
        $lived = eval {
            Devel::DProf::_block(sub {
                $rows = Devel::DProf::_growth($code, @$how{qw(warmup times)});
            });
            1;
        };
        $error = $@;
        Devel::DProf::_growth_end();
        Devel::DProf::_control_end();
    }
    my ($ok, @diag) = !$lived ? (0, 'the block died: ' . error_text($error))
        : !defined $rows ? (0, 'memory is short') : Test::DProf::Growth::judge($how, $rows);
    my $ctx = Test2::API::context();
    $ctx->ok($ok, $how->{name}, [map { wrap_line($_) } @diag]);
    $ctx->release;
    return $ok;
}

# Returns a number of calls in words.
sub times_of { return $_[0] == 1 ? 'once' : "$_[0] times" }

# Tests what a sub has cost in a metric: the cost must be in the relation OP to LIMIT. Returns
# whether the test passed.
sub cost_ok {
    my ($p, $sub, $what, $op, $limit, $name) = @_;
    check_arguments('cost_ok', $p, $sub, $op, $limit);
    croak 'cost_ok: no metric is given; use ops, for example' if !defined $what || !length $what;
    $name //= "$sub: $what $op $limit";
    return skip_with($name, $p->skipped) && 1 if defined $p->skipped;
    my $cost = eval { $p->cost($sub, $what) };
    return failed_to_read($name, $@) if !defined $cost;
    my $ctx = Test2::API::context();
    my @diag = misspelt($p, $sub);
    my $ok = !@diag && $HOLDS{$op}->($cost, $limit) ? 1 : 0;
    if (!$ok && !@diag) {
        my ($metric) = $p->metric_of($what);
        my $unit = $metric->is_time ? ' s' : '';
        @diag = "$what of $sub is " . (sprintf '%.9g', $cost) . "$unit, wanted $op $limit$unit";
        push @diag, callee_lines($p, $metric);
        push @diag, 'the hash seed is random, and ops differ from run to run: ' . how_to_pin()
            if $metric->name eq 'ops' && $p->is_block && !is_pinned();
    }
    $ctx->ok($ok, $name, [map { wrap_line($_) } @diag]);
    $ctx->release;
    return $ok;
}

# Returns lines with the costliest subs of a profile in a metric.
sub callee_lines {
    my ($p, $metric) = @_;
    my $rows = $p->rows($metric->name);
    my $unit = $metric->is_time ? $p->profile->hz : 1;
    my @names = grep { $_ ne '(total)' && $rows->{$_}{self} && !/__ANON__\z/ }
        sort { $rows->{$b}{self} <=> $rows->{$a}{self} || $a cmp $b } keys %$rows;
    splice @names, 6;
    return if !@names;
    my @lines = map { named_line(44, [12, 12, 8], @$_) } [qw(sub self inclusive calls)], map {
        my $row = $rows->{$_};
        [$_, (map { sprintf '%.9g', $row->{$_} / $unit } qw(self incl)), $row->{calls}];
    } @names;
    return ('the most ' . $metric->name . ':', @lines);
}

# Dies if the arguments of a test function are wrong. what: the function's name.
sub check_arguments {
    my ($what, $p, $sub, $op, $limit) = @_;
    croak "$what: the first argument must be a profile, as profile_ok returns it"
        if !ref $p || !eval { $p->isa('Test::DProf::Profile') };
    croak "$what: the second argument must be the name of a sub"
        if !defined $sub || !length $sub || ref $sub;
    croak "$what: the limit is given as '<=', 12; the operators are " . join(' ', sort keys %HOLDS)
        if !defined $op || !$HOLDS{$op};
    croak "$what: the limit must be a number"
        if !defined $limit || $limit !~ /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?\z/;
    return;
}

# Fails a test because its profile could not be read. Returns 0.
sub failed_to_read {
    my ($name, $why) = @_;
    my $ctx = Test2::API::context(level => 1);
    $ctx->ok(0, $name, [map { wrap_line($_) } error_text($why) =~ s/ at \S+ line \d+\.?\z//r]);
    $ctx->release;
    return 0;
}

# Returns the end of a message: how to pin the hash seed.
sub how_to_pin {
    return 'PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 in the environment, or '
        . "`use Test::DProf -pinned', make them repeat";
}

# ---- baselines ----

# Compares a profile with its baseline by the rules of the options, as a test. Returns whether the
# test passed.
sub no_regression_ok {
    my ($p, @how) = @_;
    croak 'no_regression_ok: the first argument must be a profile, as profile_ok returns it'
        if !ref $p || !eval { $p->isa('Test::DProf::Profile') };
    croak 'no_regression_ok: options are NAME => VALUE' if @how % 2;
    my %how = @how;
    for (keys %how) {
        croak "no_regression_ok: unknown option $_; the options are baseline, counters_only, "
            . "fail_if, metric, name, strict"
            if !/^(?:baseline|counters_only|fail_if|metric|name|strict)\z/;
    }
    my $file = $how{baseline};
    croak 'no_regression_ok: baseline => FILE is missing' if !defined $file || !length $file;
    my $rules = $how{fail_if} // 'calls > 0, ops > 2%';
    my $name = $how{name} // "no regression since $file";
    return skip_with($name, $p->skipped) && 1 if defined $p->skipped;
    require Devel::DProf::Compare::Baseline;
    return update_baseline($p, $file, $name, $how{counters_only}) if $ENV{DPROF_UPDATE_BASELINES};
    my $ctx = Test2::API::context();
    my ($ok, @diag, @notes) = (0);
    my $result;
    if (!-e $file) {
        @diag = ("there is no baseline $file", "this writes it: DPROF_UPDATE_BASELINES=1 prove $0");
    } elsif (!($result = eval { Devel::DProf::Compare::Baseline::compare(
        old => [$file], new => [$p->file], old_name => $file, new_name => 'now',
        fail_if => $rules, metric => $how{metric}, strict => $how{strict},
            root => project_folder()) })) {
        @diag = (error_text($@));
    } else {
        my @said = map { s/(PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0) make them repeat/how_to_pin()/er }
            @{ $result->{messages} };
        $ok = !$result->{failed} && !($how{strict} && $result->{undecided}) ? 1 : 0;
        if ($ok) { @notes = @said }
        else { @diag = (change_lines($result), @said, draw_difference($result, $name)) }
    }
    $ctx->ok($ok, $name, [map { wrap_line($_) } @diag]);
    # A rule that was not checked is reported even if the test passes.
    for my $note (map { wrap_line($_) } @notes) {
        $ok && $note =~ /was not checked|is not the same/ ? $ctx->diag($note) : $ctx->note($note);
    }
    $ctx->release;
    return $ok;
}

# Returns lines about the rules that failed, six at most.
sub finding_lines {
    my ($result) = @_;
    my @found = grep { !$_->{undecided} } @{ $result->{findings} };
    my $more = @found > 6 ? @found - 6 : 0;
    splice @found, 6;
    my @lines = map {
        my $f = $_;
        my $numbers = defined $f->{old}
            ? ': ' . Devel::DProf::Compare::Baseline::change_text($f->{old}, $f->{new}) : '';
        my $in = defined $f->{in} ? ' in ' . Devel::DProf::Text::shown($f->{in}) : '';
        ("FAIL $f->{rule}: " . Devel::DProf::Text::shown($f->{sub}) . $in . $numbers,
            map { '  ' . Devel::DProf::Compare::Baseline::line_text($_) } @{ $f->{lines} || [] });
    } @found;
    return (@lines, $more ? "... and $more more" : ());
}

# Returns a comparison as lines: findings, and both tables.
sub change_lines {
    my ($result) = @_;
    my @branch = split /\n/, $result->{branch} // '';
    return (finding_lines($result), split(/\n/, $result->{text}),
        $result->{branch} ? ('what changed in the call tree:', @branch) : ());
}

# Returns a line of numbers and a name. The numbers take COLUMNS characters in all, each in its
# width, and the name gets the rest.
sub named_line {
    my ($columns, $widths, $name, @numbers) = @_;
    return '  ' . Devel::DProf::View::Layout::aligned($widths, '  ', @numbers) . '  '
        . Devel::DProf::View::Layout::fitted($name, WIDTH - $columns);
}

# Returns a line broken into lines that fit. Lines of tables are short enough.
sub wrap_line {
    my ($line) = @_;
    return $line if length $line <= WIDTH || $line !~ /\S\s\S/;
    return Devel::DProf::View::Layout::wrapped(WIDTH, '', '  ', $line =~ /(\s*\S+)/g);
}

# Writes the baseline instead of comparing with it (DPROF_UPDATE_BASELINES=1), as a test of its own.
# Returns whether that worked.
sub update_baseline {
    my ($p, $file, $name, $counters_only) = @_;
    my $ctx = Test2::API::context(level => 1);
    my $failed = eval {
        my ($folder) = $file =~ m{^(.*)/[^/]+\z}s;
        if (defined $folder && length $folder && !-d $folder) {
            require File::Path;
            File::Path::make_path($folder);
        }
        my $how = Devel::DProf::Compare::Baseline::written_how($p->profile, $counters_only);
        $p->profile->save($file, $VERSION, $how);
    };
    my $why = $@ ? error_text($@) =~ s/ at \S+ line \d+\.?\z//r : $failed;
    my @why = defined $why ? wrap_line("the baseline $file could not be written: $why") : ();
    $ctx->ok(!defined $why, $name, \@why);
    $ctx->diag("baseline $file was written") if !defined $why;
    my $doubt = 'the hash seed is random, so that ops in it will not repeat: ' . how_to_pin();
    $ctx->diag($_) for !defined $why && $p->is_block && !is_pinned() ? wrap_line($doubt) : ();
    $ctx->release;
    return defined $why ? 0 : 1;
}

# Draws the flame graph of the difference. Returns a remark with its path, or with the reason why it
# could not be drawn.
sub draw_difference {
    my ($result, $name) = @_;
    my $folder = $ENV{DPROF_ARTIFACTS};
    my $is_shared = !length($folder // '');
    my @lines = eval {
        require Devel::DProf::View::Flame;
        if (!$is_shared) {
            require File::Path;
            File::Path::make_path($folder) if !-d $folder;
        } else {
            require File::Spec;
            $folder = File::Spec->tmpdir;
        }
        my $stem = join '-', 'dprof', map { s{[^\w.]+}{-}gr =~ s/^-+|-+\z//gr } $0, $name;
        my $path = "$folder/" . substr($stem, 0, 120) . '.html';
        my $flame = Devel::DProf::View::Flame->of_comparison(
            $result->{diff}, { format => 'html', title => undef });
        $flame->prepare or die "it cannot be drawn\n";
        require Devel::DProf::Write;
        # In a folder that all users share, another user's file of that name is replaced, not
        # written.
        my $draw = sub { return $flame->draw($_[0])->{code} };
        my $why = Devel::DProf::Write::whole($path, $draw, replace => $is_shared);
        die "$path: $why\n" if defined $why;
        "flame graph of the difference: $path";
    };
    return @lines ? @lines : 'there is no flame graph of the difference: ' . error_text($@);
}

1;

__END__

=encoding UTF-8

=head1 NAME

Test::DProf - tests that the costs of code do not grow: calls, ops, times

=head1 SYNOPSIS

    use strict;
    use warnings;
    use Test::DProf -pinned;        # first, so that it sees all compiled code
    use Test::More;

    use My;

    my $p = profile_ok { My::run('t/data/log.txt') } 'a log is read';

    calls_ok $p, 'My::fetch', '<=', 12;
    calls_ok $p, { kind => 'sql' }, '<=', 12;
    no_repeated_ok $p, kind => 'sql';
    cost_ok $p, 'My::parse', 'ops', '<=', 50_000;
    no_regression_ok $p, baseline => 't/perf/run.tmon', counters_only => 1,
        fail_if => 'calls > 0, ops > 2%';

    my $tool = profile_script_ok 'bin/tool', '--verbose', 't/data/log.txt';
    calls_ok $tool, 'My::fetch', '==', 12;

    done_testing;

=head1 DESCRIPTION

With tests, a distribution keeps its speed as it keeps its correctness. Times differ from machine to
machine, and by a quarter from run to run. The number of calls of a sub does not differ, and neither
does the number of steps that perl's interpreter executes (ops), with the same perl and the same
hash seed. So tests check calls and ops.

Use the module together with L<Test::More>, L<Test2::V0> or any other module that is built on
L<Test2::API>. It brings its own recorder, L<Devel::DProf> without C<-d>, so load it before the code
to be tested is compiled. Outside of C<profile_ok> nothing is recorded, and a call has the same cost
as without the module.

The program does not notice the recorder, which sets no debugger flag, and takes no descriptor that
the program could see, no variable, no handler and no signal. If a test file already runs under
C<-d:DProf>, as it does with C<prove -PDProf>, the module uses that recording, and blocks are parts
of it.

When nothing can be recorded, the tests are skipped, with the reason, but blocks still run. The
reason may be that the perl has no Devel::DProf, or that a debugger, another profiler or
L<Devel::Cover> is running.

=head1 LOADING

    use Test::DProf;
    use Test::DProf -pinned;
    use Test::DProf events => 'svs+bytes';
    use Test::DProf detail => 'sql+http';
    use Test::DProf qw(profile_ok calls_ok);

If no function is named, all are exported.

If the hash seed is not pinned, C<-pinned> executes the same command again, with PERL_HASH_SEED=0
PERL_PERTURB_KEYS=0 in the environment. Without a pinned seed, ops and sometimes calls differ from
run to run, and a comparison treats values that differ by up to 0.1 % as equal. C<-pinned> must
precede anything that has an effect. It dies under C<-T>, and if the test is read from standard
input.

C<events> requests counters in addition to calls, times and ops: L<Devel::DProf/EVENTS>, separated
by C<+>. C<use> dies if one of them cannot be counted here.

C<detail> records what the time was spent on, as spans: statements of SQL, requests to other servers
and so on. Its kinds are those of L<Devel::DProf/Spans>, separated by C<+>, or C<all>.
C<use> dies if there is no such kind.

Only the first C<use> of the module may have C<events> or C<detail>; a later one dies. Under
C<-d:DProf> neither has an effect: give that recorder the option (C<prove -PDProf=detail=sql>).

=head1 FUNCTIONS

=head2 profile_ok BLOCK NAME

    my $p = profile_ok { My::run() } 'runs';

Runs the block in void context, and records the calls in it. Calls in forked children and threads
are included if these have ended when C<$p> is first queried. The test passes if the block lives. If
the block dies, the test fails, and the diagnostic has the exception. The function always returns a
profile, L<Test::DProf::Profile>, with everything recorded up to that point.

The block itself is C<(program)> in the profile. The subs that were running when it began are not in
the profile. Phases that the block marks (L<Devel::DProf::Control>) are not shown separately, but
its C<stop> and C<start> have an effect. A block within a block is an error; so is C<last> out of a
block. A block may run many times, and each run has its own profile. With thousands of profiles this
becomes slow, since reading one of them means searching all.

The test fails if the block called something that was compiled before this module was loaded, and
names the file: its named subs are recorded, but anonymous ones may not be. Perl's own modules and
test modules may be loaded before.

=head2 profile_script_ok [HASH], SCRIPT, ARGUMENTS...

    my $p = profile_script_ok 'bin/tool', '--verbose';
    my $p = profile_script_ok { stdin => $text, status => 1 }, 'bin/tool';
    my $p = profile_script_ok { detail => 'sql' }, 'bin/tool';

Runs a Perl script in a child process, by this perl, with the folders of C<@INC>, under C<-d:DProf>
in tree mode, with the hash seed pinned. Processes that the script starts are recorded, too, and
added up. The test passes if the exit status is 0. Standard input is empty. If the test fails, the
diagnostic shows the last lines of the script's output. The function returns a profile that also has
C<stdout>, C<stderr> and C<status>.

The hash may have these keys: stdin, a string, or a reference to one; env, a hash of environment
variables, where undef removes a variable; status, the expected exit status; events and detail, as
above; lines, C<count> or C<time>, as in L<Devel::DProf/OPTIONS>; perl, a list of switches; name,
the name of the test.

=head2 calls_ok PROFILE, SUB, OPERATOR, NUMBER [, NAME]

    calls_ok $p, 'My::fetch', '<=', 12;

Tests how often a sub was called. OPERATOR is one of C<E<lt> E<lt>= == != E<gt>= E<gt>>. A sub that
was never called has 0 calls. If neither the block nor the process has a sub of that name, the test
fails, and the diagnostic suggests similar names. Returns true if the test passes.

=head2 calls_ok PROFILE, { kind => KIND [, text => REGEX] }, OPERATOR, NUMBER [, NAME]

    calls_ok $p, { kind => 'sql' }, '<=', 12, 'a page needs at most 12 statements';
    calls_ok $p, { kind => 'http', text => qr/^POST / }, '==', 0;

Tests how many spans of a kind were executed, all of them or those whose text matches. Spans are
statements of SQL, requests to other servers, templates and so on (L<dprofreport/Spans>). They are
recorded with C<detail> (L</LOADING>, L</profile_script_ok [HASH], SCRIPT, ARGUMENTS...>), or by
C<span> of L<Devel::DProf::Control>. If the profile has no span at all, the test says so, even if it
passes.

=head2 no_repeated_ok PROFILE, kind => KIND [, text => qr/.../, max => NUMBER, name => NAME]

    no_repeated_ok $p, kind => 'sql';

Fails if one path of calls executes a text more than max times, 10 if not given: a statement in a
loop. With text, only texts that match are tested. If phases of a script are repeated, it is the
mean over their times, as in L<dprofreport>. The diagnostic has the texts and the paths.

=head2 no_growth_ok BLOCK [times => NUMBER, warmup => NUMBER, allow => 'N values', name => NAME]

    no_growth_ok { My::request('/') } times => 100;

Calls the block a few times to fill caches, then times times, 100 if not given, and fails if more
values live afterwards than before: a leak. The diagnostic has the subs and lines that made them:

    # 100 calls left 600 values behind (43,200 bytes):
    #   400 values, 4 each call, made in Node::new, line 3: objects of Node
    #     called by main::leak < main::request < the block
    #     held by nothing but a cycle: HASH (Node) -> HASH (Node) -> the first
    #   200 values, 2 each call, made in main::leak, line 6
    #     called by main::request < the block
    #     held by nothing but a cycle: HASH (Node) -> HASH (Node) -> the first

Held by is how perl still reaches one of the values: the variable, and what it refers to, without
keys and contents. A cycle is a leak that only C<weaken> of L<Scalar::Util> or code of your own
ends.

The numbers are exact, and the same each time if the code does the same each time. warmup is the
number of calls before, 2 if not given; code that fills a cache of a hundred entries needs a
hundred. allow is what may be left: C<'0 values'> if not given, or C<'1000 bytes'>. The sum counts:
a value that replaces another one is no growth. A limit in bytes also counts strings and arrays that
grow in place.

Returns true if the test passes. It is skipped where values cannot be followed
(L<Devel::DProf/Limits of heap=exact>).

=head2 cost_ok PROFILE, SUB, WHAT, OPERATOR, NUMBER [, NAME]

    cost_ok $p, 'My::parse', 'ops', '<=', 50_000;       # steps of its own
    cost_ok $p, 'My::parse', 'incl ops', '<=', 90_000;  # with what it calls
    cost_ok $p, '(total)', 'ops', '<=', 100_000;
    cost_ok $p, 'My::parse', 'incl', '<', 2.5;          # seconds

Tests the cost of a sub in all its calls together. L<Test::DProf::Profile/cost> lists the values of
WHAT; times are in seconds. Returns true if the test passes. The test fails if WHAT was not counted:
for example, a debugging perl replaces the run loop, and then ops are not counted.

=head2 no_regression_ok PROFILE, baseline => FILE, OPTION => VALUE, ...

    no_regression_ok $p, baseline => 't/perf/run.tmon', fail_if => 'calls > 0, ops > 2%',
        counters_only => 1;

Compares with a baseline, and fails if a rule fails. Returns true if the test passes.

=over

=item baseline => FILE

A file of L<Devel::DProf::Compare::Baseline>, to be committed. The path is relative to the current
folder, which is the project's.

=item fail_if => RULES

The rules, in the syntax of L<dprofdiff/--fail-if>; C<calls E<gt> 0, ops E<gt> 2%> by default. Rules
about times need a baseline that has times. They compare one run a side, so their results vary.
Times that have grown by less than 1 ms or 0.5 % of the total do not count (see B<--time-floor> of
L<dprofdiff>).

=item counters_only => 1

A baseline that is written has calls and counters that repeat, and no times. For unchanged code and
the same perl, the file is always the same.

=item metric => NAME, strict => 1, name => TEXT

C<metric> is the metric of the table (L<Devel::DProf::Compare::Baseline/compare>). With C<strict>,
undecided rules fail. C<name> is the name of the test.

=back

The diagnostic of a failure has the rules that failed, the subs that have changed with old and new
numbers, the branch of the call tree that has changed, and the path of a flame graph of the
difference. If both sides have lines (C<lines> of C<profile_script_ok>; blocks have none), it also
has the lines that have grown most. The flame graph is written to the folder that the environment
variable DPROF_ARTIFACTS names, which is created if necessary, or else to the system's temporary
folder. It is not removed.

A missing baseline is a failure. With DPROF_UPDATE_BASELINES=1 in the environment no baseline is
compared; all are written, and a diagnostic names each:

    DPROF_UPDATE_BASELINES=1 prove -l t/perf
    git diff t/perf

Rules that cannot be checked against a baseline are left out, and a diagnostic says so. If another
perl recorded the baseline, only rules about calls, C<new> and C<gone> are checked. Rules about a
counter that one of the two sides lacks are left out, too.

=head1 LIMITS

The hash seed of a running process cannot be set, which is why C<-pinned> exists.

Every call is recorded, so there is no C<sample=HZ>: compare sampled profiles with
L<dprofdiff/Samples>.

Calls of anonymous subs that were compiled in the test file above C<use Test::DProf> may be missing,
and the module cannot detect this. Put C<use Test::DProf> first.

The module works under C<-T>, except for C<-pinned> and C<profile_script_ok>, whose command would be
tainted. Threads may have blocks of their own. Threads that were started within a block belong to
it, once they are joined.

=head1 ENVIRONMENT

DPROF_UPDATE_BASELINES, DPROF_ARTIFACTS: see above. The variables of L<Devel::DProf>,
PERL_DPROF_..., have no effect on C<profile_ok>, except PERL_DPROF_CLOCK. PERL_DPROF_DETAIL,
PERL_DPROF_EVENTS and PERL_DPROF_LINES are the defaults of C<detail>, C<events> and C<lines> of
C<profile_script_ok>.

=head1 SEE ALSO

L<Test::DProf::Profile>, L<Devel::DProf::Compare::Baseline>, L<dprofdiff>, L<Devel::DProf::Cookbook>

=cut
