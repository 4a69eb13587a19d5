# pprof files in the tools that read them: go tool pprof and its pages, protoc, npm's pprof-format.
use strict;
use warnings;
use FindBin;
use IO::Socket::INET;
use IO::Uncompress::Gunzip qw(gunzip);
use JSON::PP;
use Test::More;
use lib 't/lib', "$FindBin::Bin/../lib";
use DProfTest qw(scratch slurp spew run_program run_tool);
use NaiveStacks qw(shown);
use PprofReader;
use Readers;

my @ALL = qw(-symbolize=none -nodecount=0 -nodefraction=0 -edgefraction=0 -unit=nanoseconds);
my @metrics = ([cpu => 'cpu'], [ops => 'ops'], [wall => 'real'], [calls => 'calls']);
my @sampled = ([samples => 'samples'], [cpu => 'cpu'], [wall => 'real']);

# Returns { name => [self, inclusive] } of what -top prints; what is 0 is left out.
sub top_of {
    my ($text) = @_;
    my %rows;
    my $number = qr/(-?[\d.e+]+)[a-z]*/;
    my ($table) = $text =~ /^ +flat .*?\n(.*)/ms or return {};
    for my $line (split /\n/, $table) {
        my ($self, $all, $name) = $line =~ /^ *$number +\S+ +\S+ +$number +\S+  (.*)/
            or die "pprof -top: $line\n";
        $rows{ $name =~ s/ \(inline\)\z//r } = [$self + 0, $all + 0] if $self != 0 || $all != 0;
    }
    return \%rows;
}

# Returns the same of what dprofreport says. In a metric of calls nothing is inclusive.
sub rows_of {
    my ($metric, @args) = @_;
    my ($rows) = report($metric, '-R', @args);
    return { map {
        my ($self, $all) = @{ $rows->{$_} };
        $self != 0 || $all != 0 ? (shown($_) => [$self + 0, $all + 0]) : ()
    } keys %$rows };
}

subtest 'go tool pprof' => sub {
    my $go = need_program('go', 'golang-go');
    my $pprof = sub { return reader("pprof @_[0 .. 1]", $go, 'tool', 'pprof', @_) };
    for my $profile (@{ profiles() }) {
        my $file = exported('.pb.gz', @{ $profile->{files} });
        for my $metric ($profile->{name} eq 'samples' ? @sampled : @metrics) {
            my ($type, $ours) = @$metric;
            my $text = $pprof->('-top', "-sample_index=$type", '-cum', @ALL, $file);
            is_deeply(top_of($text), rows_of($ours, @{ $profile->{files} }),
                "$profile->{name}: $type, self and inclusive");
        }
        my %leaves;
        for my $block (split /^-+\+-+\n/m, $pprof->('-traces', @ALL, $file)) {
            my ($value, $leaf) = $block =~ /\A *(\d+)[a-z]* +(.*)/ or next;
            $leaves{$leaf} += $value;
        }
        my $rows = rows_of('cpu', @{ $profile->{files} });
        is_deeply(\%leaves, { map { $rows->{$_}[0] ? ($_ => $rows->{$_}[0]) : () } keys %$rows },
            "$profile->{name}: -traces end with these sums")
            if $profile->{name} ne 'bounds';    # too great for its sums
    }
};

subtest 'go tool pprof: two files' => sub {
    my $go = need_program('go', 'golang-go');
    my ($one, $other) = map { $_->{files}[0] } @{ profiles() }[0, 3];
    my $merged = scratch() . '/merged.out';
    run_tool('dprofmerge', ['-o', $merged, $one, $other])->{raw} == 0 or die 'dprofmerge';
    my $both = scratch() . '/both.pb.gz';
    reader('pprof -proto of two files', $go, qw(tool pprof -proto -symbolize=none),
        "-output=$both", exported('.pb.gz', $one), exported('.pb.gz', $other));
    for my $metric (@metrics) {
        my ($type, $ours) = @$metric;
        my $text = reader("-top of both, $type", $go, qw(tool pprof -top), "-sample_index=$type",
            @ALL, $both);
        is_deeply(top_of($text), rows_of($ours, $merged), "$type: as dprofmerge adds up");
    }
    my $new = exported('.pb.gz', '-f', '--diff', $one, $other);
    my $base = $new =~ s/(?=\.pb\.gz)/.base/r;
    for my $metric (@metrics) {
        my ($type, $ours) = @$metric;
        my $text = reader("-diff_base, $type", $go, qw(tool pprof -top), "-sample_index=$type",
            @ALL, "-diff_base=$base", $new);
        my ($before, $after) = map { rows_of($ours, $_) } $one, $other;
        my %change = map {
            my $name = $_;
            my @change = map { ($after->{$name}[$_] // 0) - ($before->{$name}[$_] // 0) } 0, 1;
            $change[0] || $change[1] ? ($name => \@change) : ()
        } keys %{ { %$before, %$after } };
        is_deeply(top_of($text), \%change, "-diff_base, $type: the differences of the values");
    }
};

# Returns the lines of a sub that -list shows with a value of their own: { line => value }.
sub listed {
    my ($text) = @_;
    return { map { /^ *(\d+)[a-z]* +\S+ +(\d+):/ ? ($2 => $1 + 0) : () } split /\n/, $text };
}

subtest 'go tool pprof: a source' => sub {
    my $go = need_program('go', 'golang-go');
    my ($profile) = @{ profiles() };
    my $file = exported('.pb.gz', @{ $profile->{files} });
    my $rows = rows_of('ops', @{ $profile->{files} });
    for my $sub (qw(leaf f g)) {
        my $text = reader("-list $sub", $go, qw(tool pprof), "-list=^main::$sub\$",
            '-sample_index=ops', @ALL, $file);
        my $lines = listed($text);
        my $sum = 0;
        $sum += $_ for values %$lines;
        is($sum, $rows->{"main::$sub"}[0], "main::$sub: its lines have what it has itself");
        like($text, qr/^.*\d:.*\$(?:n|x)\b/m, "main::$sub: the source is shown");
    }
};

# Starts pprof's pages on a free port; returns their address and the process.
sub serve {
    my ($go, $file) = @_;
    my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die "socket: $!";
    my $address = '127.0.0.1:' . $socket->sockport;
    close $socket;
    chomp(my $program = `$go tool -n pprof`);
    my $home = scratch();
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        $ENV{HOME} = $home;
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', '/dev/null';
        exec $program, "-http=$address", '-no_browser', '-symbolize=none', $file or exit 127;
    }
    for (1 .. 200) {
        last if IO::Socket::INET->new(PeerAddr => $address);
        select undef, undef, undef, 0.1;
    }
    return ("http://$address", $pid);
}

subtest 'go tool pprof: its pages' => sub {
    my $go = need_program('go', 'golang-go');
    need_browser();
    my ($profile) = @{ profiles() };
    my $file = exported('.pb.gz', @{ $profile->{files} });
    my ($address, $pid) = serve($go, $file);
    my $picture = $ENV{DPROF_PICTURE} // scratch() . '/flame.png';
    for my $page ('/ui/top', '/ui/source?f=main::leaf', '/ui/peek?f=main::f', '/ui/flamegraph') {
        my $run = run_node("$FindBin::Bin/pprof.js", 'look', "$address$page", $picture);
        is($run->{raw}, 0, "$page answers") or diag($run->{err});
        my $seen = eval { decode_json($run->{out}) } // {};
        is_deeply($seen->{errors}, [], '... no error');
        my $all = join "\n", $seen->{text} // '', @{ $seen->{titles} || [] };
        like($all, qr/main::leaf/, '... it shows the subs') if $page ne '/ui/top';
    }
    ok(-s $picture, 'a picture');
    kill 'TERM', $pid;
    waitpid $pid, 0;
};

subtest 'protoc' => sub {
    my $protoc = need_program('protoc', 'protobuf-compiler');
    for my $profile (@{ profiles() }) {
        my $file = exported('.pb.gz', '--label', 'phase,pid,tid', @{ $profile->{files} });
        gunzip($file => \my $bytes) or die "gunzip: $file";
        my $protoc_of = sub {
            my ($how, $in) = @_;
            my $run = run_program([$protoc, "-I$FindBin::Bin", "--$how=pprof.Profile",
                "$FindBin::Bin/pprof.proto"], stdin => spew(scratch() . '/in', $in));
            is($run->{raw}, 0, "$profile->{name}: $how") or diag($run->{err});
            return $run->{out};
        };
        my $text = $protoc_of->('decode', $bytes);
        unlike($text, qr/^ *\d+:/m, '... no field that is unknown');
        my $again = $protoc_of->('encode', $text);
        ok($bytes eq $again, '... the same bytes');
    }
};

subtest 'pprof-format' => sub {
    need_package('pprof-format');
    for my $profile (@{ profiles() }) {
        my $file = exported('.pb.gz', @{ $profile->{files} });
        my $run = run_node("$FindBin::Bin/pprof.js", 'decode', $file);
        is($run->{raw}, 0, "$profile->{name}: read") or diag($run->{err});
        my $read = decode_json($run->{out} || '{}');
        my ($rows) = report('cpu', '-R', @{ $profile->{files} });
        my ($cpu) = grep { $read->{types}[$_] eq 'cpu/nanoseconds' } 0 .. $#{ $read->{types} };
        my %want = map { $rows->{$_}[0] ne '0' ? (shown($_) => $rows->{$_}[0]) : () } keys %$rows;
        my %got = map { my $v = $read->{self}{$_}[$cpu]; utf8::encode(my $name = $_);
            $v ne '0' ? ($name => $v) : () }
            keys %{ $read->{self} };
        is_deeply(\%got, \%want, "$profile->{name}: what subs have themselves");
        ok($read->{again}, "$profile->{name}: and written again");
    }
};

done_testing;
