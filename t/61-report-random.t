# dprofreport on random stacks agrees with models that know nothing but stacks: chains, edges, keys
# below one another, filters.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew in_process);
use Devel::DProf::Profile;
use JSON::PP ();

TestEnvironment::skip_long();

my $dir = scratch();
my ($n, $round) = (0, 0);

sub report {
    my ($text, @args) = @_;
    my $file = spew("$dir/" . ++$n . '.in', $text);
    my $run = in_process('dprofreport', '--format', 'json', @args, $file);
    return $run->{status} == 0 && $run->{err} eq '' ? JSON::PP->new->utf8->decode($run->{out})
        : diag "@args: $run->{err}";
}

sub frames { return grep { $_ ne '(program)' } split /;/, $_[0] }

# Paths of a chain => [value, own].
sub paths {
    my ($kids, $above) = @_;
    return map {
        my $at = "$above/$_->{name}";
        ($at => [0 + $_->{value}, 0 + $_->{own}], paths($_->{kids} // [], $at))
    } @$kids;
}

# Computes the same from stacks: callee order from the innermost frame of the sub outwards (only
# where the sub is the leaf, if self is asked for), caller order from the outermost frame down.
sub naive_chain {
    my ($stacks, $sub, %how) = @_;
    my %want;
    for (@$stacks) {
        my ($value, @f) = @$_;
        my ($last) = grep { $f[$_] eq $sub } reverse 0 .. $#f;
        next if !$value || !defined $last || ($how{self} && $last != $#f);
        my @path = $how{caller} ? @f : reverse @f[0 .. $last];
        my $at = '';
        $want{ $at .= "/$_" }[0] += $value for @path;
        $want{$at}[1] += $value;
    }
    return { map { $_ => [$want{$_}[0], $want{$_}[1] // 0] } keys %want };
}

sub pct { return sprintf '%.2f', $_[1] ? 100 * $_[0] / $_[1] : 0 }

srand 61;
for $round (1 .. ($ENV{ROUNDS} || TestEnvironment::rounds(3, 5))) {
    my @subs = map { ('A', 'B::C')[rand 2] . "::s$_" } 0 .. 4;
    my @stacks = map { [int(rand 50), map { $subs[rand @subs] } 0 .. rand 8] } 1 .. 25;
    push @stacks, [11];
    my $text = join '', map {
        my ($v, @f) = @$_;
        (@f ? join ';', @f : '(program)') . " $v\n"
    } @stacks;
    my $total = 0;
    $total += $_->[0] for @stacks;

    for my $self (0, 1) {
        for my $order (qw(callee caller)) {
            for my $type (qw(graph folded)) {
                my $got = report($text, '-g', "$type,0,$order", '--skip', 'program',
                    '--show-total-period', $self ? '--no-children' : ());
                my $bad = grep {
                    my $want = naive_chain(\@stacks, $_->{symbol}, self => $self,
                        caller => $order eq 'caller');
                    my %got = paths($_->{chain}, '');
                    JSON::PP->new->canonical->encode(\%got)
                        ne JSON::PP->new->canonical->encode($want);
                } @{ $got->{rows} };
                ok(@{ $got->{rows} } && !$bad,
                    "$round: $type, $order order, " . ($self ? 'self' : 'children')
                        . ' agree with the model');
            }
        }
    }

    # The text of folded chains has every stack that has its share, and nothing else.
    {
        my $file = spew("$dir/" . ++$n . '.in', $text);
        my $run = in_process('dprofreport', '-q', '-S', $subs[0], '-g', 'folded,3,period', $file);
        my %want;
        for (@stacks) {
            my ($value, @f) = @$_;
            my ($last) = grep { $f[$_] eq $subs[0] } reverse 0 .. $#f;
            $want{ join ';', reverse @f[0 .. $last] } += $value if defined $last;
        }
        my %got = map { /^ +(\d+) (\S+)$/ ? ($2, $1) : () } split /\n/, $run->{out};
        is_deeply(\%got, { map { $want{$_} && $want{$_} >= 0.03 * $total ? ($_, $want{$_}) : () }
            keys %want }, "$round: folded chains as text are those of the model");
    }

    # With keys below one another, the upper lines are the report by fewer keys.
    {
        my $levels = report($text, '-s', 'package,sub', '--hierarchy');
        my %few = map { $_->{package} => "$_->{children_pct} $_->{self_pct}" }
            @{ report($text, '-s', 'package')->{rows} };
        my %all = map { ("$_->{package} $_->{symbol}" => "$_->{children_pct} $_->{self_pct}") }
            @{ report($text, '-s', 'package,sub')->{rows} };
        my ($package, %up, %down);
        for (@{ $levels->{rows} }) {
            $package = $_->{entry} if !$_->{level};
            ($_->{level} ? $down{"$package $_->{entry}"} : $up{$package}) =
                "$_->{children_pct} $_->{self_pct}";
        }
        is_deeply([\%up, \%down], [\%few, \%all], "$round: --hierarchy has the sums of fewer keys");
    }

    # Callers and callees are those of the stacks.
    for my $sub (@subs) {
        my (%callers, %callees, $is_there);
        for (@stacks) {
            my ($value, @f) = ($_->[0], '(program)', @$_[1 .. $#$_]);
            my (%in, %out);
            for my $i (1 .. $#f) {
                $is_there ||= $f[$i] eq $sub;
                $in{ $f[$i - 1] } = 1 if $f[$i] eq $sub;
                $out{ $f[$i] } = 1 if $f[$i - 1] eq $sub;
            }
            $callers{$_} += $value for keys %in;
            $callees{$_} += $value for keys %out;
        }
        next if !$is_there;
        is_deeply({ map { $_->{caller} => 0 + $_->{total} }
            @{ report($text, '--callers', $sub)->{rows} } }, \%callers,
            "$round: callers of $sub are those of the model");
        is_deeply({ map { $_->{callee} => 0 + $_->{total} }
            @{ report($text, '--callees', $sub)->{rows} } }, \%callees,
            "$round: callees of $sub are those of the model");
        my $profile = Devel::DProf::Profile->new;
        $profile->add("$dir/$n.in");
        my @edges = map { $profile->edges($sub, { callees => $_ }) } 0, 1;
        is_deeply([map { +{ map { $_->[0] => $_->[3] } @$_ } } @edges], [\%callers, \%callees],
            "$round: edges as rows are those of the model");
    }

    # By caller, by --parent, relative, and what the filters cut off.
    {
        my (%caller, %parent, %cut, %deep, %shown, $base);
        for (@stacks) {
            my ($value, @f) = ($_->[0], '(program)', @$_[1 .. $#$_]);
            my (%seen, %by, %left, %flat);
            $seen{"$f[$_] " . ($_ ? $f[$_ - 1] : '[unknown]')} = 1 for 0 .. $#f;
            $caller{$_}[0] += $value for keys %seen;
            $caller{"$f[-1] " . ($#f ? $f[-2] : '[unknown]')}[1] += $value;
            for my $i (0 .. $#f) {
                my ($match) = grep { /s[01]$/ } reverse @f[0 .. $i];
                $by{ $match // '[other]' } = 1;
                $parent{ $match // '[other]' }[1] += $value if $i == $#f;
            }
            $parent{$_}[0] += $value for keys %by;
            my ($at) = grep { $f[$_] =~ /s2$/ } 0 .. $#f;
            my @short = @f[0 .. $at // $#f];
            $left{$_} = 1 for @short;
            $cut{$_}[0] += $value for keys %left;
            $cut{ $short[-1] }[1] += $value;
            @short = @f[0 .. ($#f < 3 ? $#f : 3)];
            $flat{$_} = 1 for @short;
            $deep{$_}[0] += $value for keys %flat;
            $deep{ $short[-1] }[1] += $value;
            my %has = map { $_ => 1 } @f;
            my @has = grep { $has{$_} } @subs[0, 1];
            $shown{$_}[0] += $value for @has;
            $shown{ $f[-1] }[1] += $value if $f[-1] =~ /s[01]$/;
            $base += $value if @has;
        }
        my $as = sub {
            my ($of, $want) = @_;
            return { map { $_ => [pct($want->{$_}[0] // 0, $of), pct($want->{$_}[1] // 0, $of)] }
                keys %$want };
        };
        my $got = sub {
            my ($name, @args) = @_;
            return { map { $name->($_) => [map { sprintf '%.2f',
                $_ } @$_{qw(children_pct self_pct)}] } @{ report($text, @args)->{rows} } };
        };
        my $symbol = sub { $_[0]{symbol} };
        is_deeply($got->(sub { "$_[0]{symbol} $_[0]{caller}" }, '-s', 'sub,caller'),
            $as->($total, \%caller), "$round: -s sub,caller is that of the model");
        is_deeply($got->(sub { $_[0]{parent} }, '-s', 'parent', '--parent', 's[01]$'),
            $as->($total, \%parent), "$round: --parent is that of the model");
        is_deeply($got->($symbol, '--ignore-callees', 's2$'), $as->($total, \%cut),
            "$round: --ignore-callees is that of the model");
        is_deeply($got->($symbol, '--max-stack', 3), $as->($total, \%deep),
            "$round: --max-stack is that of the model");
        is_deeply($got->($symbol, '-S', "$subs[0],$subs[1]", '--percentage', 'relative'),
            $as->($base, \%shown), "$round: --percentage relative is that of the model") if $base;
    }
}

done_testing;
