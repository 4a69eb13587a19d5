# speedscope files in npm's speedscope, opened in chromium: its table of subs, metric by metric.
use strict;
use warnings;
use Encode ();
use FindBin;
use JSON::PP;
use Test::More;
use lib 't/lib', "$FindBin::Bin/../lib";
use DProfTest qw(scratch);
use NaiveStacks qw(shown);
use Readers;

need_browser();
need_package('speedscope');

my %size = (ns => 1, "\x{b5}s" => 1e3, ms => 1e6, s => 1e9);

# Returns what a cell says, "6.81ms (89%)" or "1,003 (5%)", and how far off it may be.
sub value_of {
    my ($cell) = @_;
    my $text = $cell =~ s/ \(.*\)\z//r;
    return (($1 * 60 + $2) * 1e9, 1e9) if $text =~ /^(\d+):(\d+)\z/;
    my ($number, $unit) = $text =~ /^([\d.,]+)(\D*)\z/ or return ("not a value: $cell", 0);
    $number =~ tr/,//d;
    return ($number, 0) if $unit eq '';
    return ($number * $size{$unit}, 0.0051 * $size{$unit});
}

# Returns what differs between the rows of a table and those of dprofreport, as [self, inclusive].
sub differences {
    my ($metric, $table, $rows) = @_;
    my (%want, @wrong);
    for my $name (keys %$rows) {
        my ($self, $all) = @{ $rows->{$name} };
        $want{ shown($name) } = [$all, $self] if $self != 0 || $all != 0;
    }
    for my $row (@$table) {
        my ($name, @cells) = @$row;
        my $want = delete $want{ shown(Encode::encode('UTF-8', $name)) };
        push @wrong, "$name: not in the report" if !$want;
        # Of calls, dprofreport has no inclusive ones.
        for my $k ($metric eq 'calls' ? 1 : (0, 1)) {
            my ($value, $off) = value_of($cells[$k]);
            my $close = $off + 1e-12 * ($want->[$k] // 0);
            push @wrong, "$name: $cells[$k], not $want->[$k]"
                if $want && ($value !~ /^[\d.e+]+\z/ || abs($value - $want->[$k]) > $close);
        }
    }
    return join "\n", @wrong, map { "$_ is missing" } grep { $metric ne 'calls' || $want{$_}[1] }
        sort keys %want;
}

for my $profile (grep { $_->{name} ne 'processes' } @{ profiles() }) {
    my $file = exported('.speedscope.json', @{ $profile->{files} });
    my $run = run_node("$FindBin::Bin/speedscope.js", $file, scratch() . "/$profile->{name}.png");
    ok($run->{raw} == 0, "$profile->{name}: speedscope opens it") or diag($run->{err}), next;
    my $page = JSON::PP->new->utf8->decode($run->{out});
    is_deeply($page->{errors}, [], '... without an error');
    is((grep { $_->{name} eq 'time order' } @{ $page->{shown} }),
        $profile->{name} eq 'trace' ? 1 : 0, '... order of time of a trace');
    for my $shown (@{ $page->{shown} }) {
        my $metric = $shown->{name} eq 'time order' ? 'real' : $shown->{name};
        my ($rows) = report($metric, '-R', @{ $profile->{files} });
        is(differences($metric, $shown->{rows}, $rows), '',
            "... $shown->{name}: self and inclusive of " . @{ $shown->{rows} } . ' subs');
    }
}

done_testing;
