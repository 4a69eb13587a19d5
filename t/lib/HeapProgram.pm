package HeapProgram;

# Random programs that leave known numbers of values behind, by sub and line.
#
# Each program has parts, and calls them in a random order. A part is a few subs that allocate,
# keep, free and leak values in one way. The part knows how many values of each of its lines live
# after N calls. That follows from what perlguts and perldata say about values, and not from the
# recorder. A comment #@NAME marks a line with values that live; no other line of a sub has any.
#
# A seed always gives the same program.

use strict;
use warnings;
use B ();

my $state;
# Returns a random whole number below the argument, the same in each run with the same seed.
sub pick {
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return int(($state >> 8) / 8388608 * $_[0]);
}

# Returns one of the arguments, by chance.
sub one { return $_[ pick(scalar @_) ] }

# Returns the text of a random expression, and how many values it takes where it is stored.
sub data {
    my ($depth) = @_;
    my $kind = pick($depth > 0 ? 8 : 4);
    return (one(pick(1000), '$i', '$i + 1', '$i / 3'), 1) if $kind < 2;
    return (one('undef', '"a$i"', '"b" . $i', q('text')), 1) if $kind < 3;
    return ('\\"c$i"', 2) if $kind == 3;
    my ($n, $values, @parts) = (pick(4), 2);
    for (1 .. $n) {
        my ($text, $more) = data($depth - 1);
        $values += $more;
        push @parts, $kind < 6 ? $text : "k$_ => $text";
    }
    my $list = join ', ', @parts;
    return ($kind < 6 ? "[ $list ]" : "+{ $list }", $values);
}

# Returns what data() does, of a reference to an array or a hash.
sub container {
    while () {
        my ($text, $values) = data(3);
        return ($text, $values) if $text =~ /\A[[+]/;
    }
}

# Returns how many values a closure of this text has, without the variables that it captures.
sub closure_values {
    my ($text) = @_;
    my ($name) = $text =~ /(\w+)/ or die;
    my $sub = eval "no strict; no warnings; my \$$name = 1; sub { $text }" // die $@;
    my ($names, $pad) = B::svref_2object($sub)->PADLIST->ARRAY;
    my @own = grep { ref ne 'B::SPECIAL' } $pad->ARRAY;
    return 2 + @own - 1;        # the sub, its pad and what is in it
}

# Returns a random statement that leaves nothing.
sub noise {
    my $k = 1 + pick(20);
    my $list = join ',', 1 .. $k;
    return one("my \@t = map { [\$_] } 1 .. $k;", "my \%t = map { \$_ => [\$_] } 1 .. $k;",
        "my \$t = join ',', 1 .. $k;", "my \$t = { a => [1 .. $k] };",
        "my \@t = sort { \$b <=> \$a } map { \$_ * 3 % 7 } 1 .. $k;",
        "my (\$t, \@u) = ([1], 1 .. $k); \@u = reverse \@u;", 'eval { die { a => [$i] } }; $@ = 1;',
        "my \@t = grep { \$_->[0] % 2 } map { [\$_] } 1 .. $k;",
        "my \$t = sub { [\$_[0]] }->($k);", "local \$noise = [1 .. $k];",
        "my \$t = sprintf '%s-%s', 'a' x $k, \$i; substr(\$t, 0, 1) = 'bc';",
        "for my \$e (map { {n => \$_} } 1 .. $k) { \$e->{m} = [\$e->{n}] }",
        "{ local \@noise = map { [\$_] } 1 .. $k; pop \@noise }", "temporary(\$i, $k);",
        "my (\$t, \$u) = temporary(\$i, $k);", "my \@t = split /,/, '$list';",
        "\@noise = (); push \@noise, [\$_] for 1 .. $k; \@noise = ();");
}

# ---- parts ----

# A part is a function of its name, which is that of its first sub. It returns { code, answer, new,
# eval, loose, bytes }:
#   answer  a function of the number of calls, which returns a hash of the values that live, by the
#           name of their line
#   new     true if the answer holds also for calls in a child or a thread that has begun anew
#   eval    the values of string evals, each call
#   loose   true if lines named `any` leave numbers of values that are perl's own business
#   bytes   the name of a line, and an expression for references to all values that it has made
our %parts = (
    keep => sub {
        my ($s) = @_;
        my ($text, $values) = data(3);
        return { new => 1, answer => sub { { a => $_[0] * $values } }, code => <<"END",
our \@$s;
sub $s {
    my (\$i) = \@_;
    @{[ noise() ]}
    push \@$s, $text; #\@a
    @{[ noise() ]}
    return;
}
END
            bytes => [a => "map { \\\$_ } \@$s"] };
    },
    unshift => sub {
        my ($s) = @_;
        my ($text, $values) = data(2);
        my $most = 1 + pick(9);
        return { answer => sub { { a => least($_[0], $most) * $values } }, code => <<"END" };
our \@$s;
sub $s {
    my (\$i) = \@_;
    unshift \@$s, $text; #\@a
    pop \@$s if \@$s > $most;
    return;
}
END
    },
    cache => sub {
        my ($s) = @_;
        my ($text, $values) = data(3);
        my $keys = 1 + pick(12);
        return { answer => sub { { a => least($_[0], $keys) * $values } }, code => <<"END",
our \%$s;
sub $s {
    my (\$i) = \@_;
    \$${s}{ \$i % $keys } = $text; #\@a
    @{[ noise() ]}
    return;
}
END
            bytes => [a => "map { \\\$_ } values \%$s"] };
    },
    'a cache that is cleared' => sub {
        my ($s) = @_;
        my ($text, $values) = data(3);
        my $keys = 2 + pick(9);
        my $clear = one("\%$s = () if keys \%$s >= $keys;", "undef \%$s if keys \%$s >= $keys;",
            "if (keys \%$s >= $keys) { delete \$${s}{\$_} for keys \%$s }",
            "delete \@${s}{ keys \%$s } if keys \%$s >= $keys;");
        my $count = sub { $_[0] ? ($_[0] - 1) % $keys + 1 : 0 };
        return { answer => sub { { a => $count->($_[0]) * $values } }, code => <<"END" };
our \%$s;
sub $s {
    my (\$i) = \@_;
    $clear
    \$${s}{"k\$i"} = $text; #\@a
    return;
}
END
    },
    cycle => sub {
        my ($s) = @_;
        my ($text, $values) = data(2);
        return { new => 1, code => <<"END",
sub $s {
    my (\$i) = \@_;
    my \$x = {}; #\@a
    my \$y = [$text]; #\@b
    \$x->{y} = \$y; #\@c
    @{[ noise() ]}
    push \@\$y, \$x; #\@d
    return;
}
END
            answer => sub { { a => $_[0], b => $_[0] * ($values + 1), c => $_[0], d => $_[0] } } };
    },
    'a broken cycle' => sub {
        my ($s) = @_;
        my $way = one('$x->{y} = undef;', 'delete $x->{y};', '%$x = ();', 'weaken($x->{y});',
            'weaken($y->[0]);', '@$y = ();');
        return { new => 1, answer => sub { {} }, code => <<"END" };
sub $s {
    my (\$i) = \@_;
    my \$x = {};
    my \$y = [];
    \$x->{y} = \$y;
    push \@\$y, \$x;
    $way
    return;
}
END
    },
    'a tree' => sub {
        my ($s) = @_;
        my ($text, $values) = data(2);
        my ($k, $weak) = (1 + pick(5), pick(2));
        my $weaken = $weak ? 'weaken($child->{up});' : '';
        return { new => 1, code => <<"END",
sub $s {
    my (\$i) = \@_;
    my \$top = { data => $text }; #\@a
    for my \$c (1 .. $k) {
        my \$child = { up => \$top, n => \$c }; #\@b
        $weaken
        push \@{ \$top->{children} }, \$child; #\@c
    }
    return;
}
END
            answer => sub {
                my $n = $weak ? 0 : $_[0];
                return { a => $n * (1 + $values), b => $n * $k * 3, c => $n * (2 + $k) };
            } };
    },
    'a tree that is kept' => sub {
        my ($s) = @_;
        my $k = 2 + pick(5);
        return { new => 1, code => <<"END",
our \@$s;
sub $s {
    my (\$i) = \@_;
    my \$top = { n => \$i }; #\@a
    \$top->{in} = [map { my \$c = { up => \$top, n => 1 }; weaken(\$c->{up}); \$c } 1 .. $k]; #\@b
    push \@$s, \$top; #\@c
    return;
}
END
            # b: perl keeps an array of the references to $top that are weak.
            answer => sub { { a => $_[0] * 2, b => $_[0] * (3 + 4 * $k), c => $_[0] } } };
    },
    'a closure that holds itself' => sub {
        my ($s) = @_;
        my $own = closure_values('$x');
        return { new => 1, code => <<"END",
sub $s {
    my (\$i) = \@_;
    my \$x;
    \$x = sub { \$x }; #\@a
    return; #\@b
}
END
            # b: the variable of the next call
            answer => sub { { a => $_[0] * $own, b => $_[0] } } };
    },
    'closures that are kept' => sub {
        my ($s) = @_;
        my ($text, $values) = data(2);
        my $own = closure_values('$x');
        return { new => 1, code => <<"END",
our \@$s;
sub $s {
    my (\$i) = \@_;
    my \$x = $text; #\@a
    push \@$s, sub { \$x }; #\@b
    return; #\@c
}
END
            answer => sub {
                return { a => $_[0] * ($values - 1), b => $_[0] * ($own + 1), c => $_[0] };
            } };
    },
    'closures that are dropped' => sub {
        my ($s) = @_;
        return { answer => sub { {} }, code => <<"END" };
our \$$s;
sub $s {
    my (\$i) = \@_;
    my \@x = (1 .. 5);
    \$$s = sub { \@x };
    \$$s = undef;
    return;
}
END
    },
    'a queue' => sub {
        my ($s) = @_;
        my ($text, $values) = data(3);
        my $most = 1 + pick(8);
        my $drop = one("shift \@$s", "splice \@$s, 0, 1", "my \$old = shift \@$s",
            "\@$s = \@${s}[1 .. \$#$s]");
        return { code => <<"END",
our \@$s;
sub ${s}_make { my (\$i) = \@_; return [ $text ] } #\@a
sub ${s}_drop { $drop; return } #\@c
sub $s {
    my (\$i) = \@_;
    push \@$s, ${s}_make(\$i); #\@b
    ${s}_drop() if \@$s > $most;
    return;
}
END
            # A list assignment makes new elements, of the sub that drops.
            answer => sub {
                my $n = least($_[0], $most);
                my $is_new = $drop =~ /\.\./ && $_[0] > $most;
                return { a => $n * (1 + $values), b => $is_new ? 0 : $n, c => $is_new ? $n : 0 };
            } };
    },
    'a tied hash' => sub {
        my ($s) = @_;
        my $keys = 1 + pick(9);
        my ($text, $values) = data(1);
        return { code => <<"END",
our \%$s;
package ${s}::Tie {
    sub TIEHASH { return bless {}, \$_[0] } #\@tie
    sub STORE { my (\$o, \$k, \$i) = \@_; \$o->{\$k} = [\$i, $text]; return } #\@store
    sub FETCH { return \$_[0]{\$_[1]} }
}
${s}::Tie->can('FETCH');
sub ${s} {
    my (\$i) = \@_;
    tie \%$s, '${s}::Tie' if !tied \%$s;
    \$${s}{ \$i % $keys } = \$i;
    my \$got = \$${s}{ \$i % $keys };
    return;
}
END
            answer => sub {
                my $n = least($_[0], $keys);
                return { tie => $_[0] ? 2 : 0, store => $n * (3 + $values) };
            } };
    },
    'a tied scalar' => sub {
        my ($s) = @_;
        return { code => <<"END",
our (\$$s, \%$s);
package ${s}::Tie {
    sub TIESCALAR { my \$x = 0; return bless \\\$x, \$_[0] } #\@tie
    sub STORE { push \@{ \$$s\{log} }, [\$_[1]]; return } #\@store
    sub FETCH { return [1] } #\@fetch
}
${s}::Tie->can('FETCH');
sub $s {
    my (\$i) = \@_;
    tie \$$s, '${s}::Tie' if !tied \$$s;
    \$$s = \$i;
    my \$got = \$$s;
    return;
}
END
            # tie: the reference, and the variable of a next call. fetch: the scalar keeps the copy
            answer => sub {
                return $_[0] ? { tie => 2, store => 2 + 3 * $_[0], fetch => 2 } : {};
            } };
    },
    'weak references' => sub {
        my ($s) = @_;
        my ($text) = container();
        return { new => 1, answer => sub { { a => $_[0] } }, code => <<"END" };
our \@$s;
sub $s {
    my (\$i) = \@_;
    my \$x = $text;
    push \@$s, \$x; #\@a
    weaken(\$${s}[-1]);
    return;
}
END
    },
    'a string eval' => sub {
        my ($s) = @_;
        my ($text, $values) = data(2);
        return { loose => 1, eval => $values, answer => sub { {} }, code => <<"END" };
our \@$s;
sub $s {
    my (\$i) = \@_;
    eval q{push \@$s, $text; 1} or die; #\@any
    return;
}
END
    },
    'a string eval of a closure' => sub {
        my ($s) = @_;
        return { loose => 1, answer => sub { {} }, code => <<"END" };
our \$$s;
sub $s {
    my (\$i) = \@_;
    \$$s = eval 'sub { [\$i] }'; #\@any
    \$$s->();
    undef \$$s;
    return;
}
END
    },
    local => sub {
        my ($s) = @_;
        my $k = 1 + pick(9);
        return { new => 1, code => <<"END",
our (\@$s, \@${s}_list, \$${s}_one, \%${s}_hash);
sub $s {
    my (\$i) = \@_;
    local \@${s}_list = (1 .. $k); #\@a
    local \$${s}_one = [1 .. $k];
    local \$${s}_hash{\$i} = { a => [\$i] };
    push \@$s, \\\@${s}_list; #\@b
    return;
}
END
            answer => sub { { a => $_[0] * (1 + $k), b => $_[0] } } };
    },
    'an array that grows' => sub {
        my ($s) = @_;
        my $k = 1 + pick(40);
        return { code => <<"END",
our \$$s;
sub $s {
    my (\$i) = \@_;
    push \@\$$s, \$_ for 1 .. $k; #\@a
    return;
}
END
            answer => sub { { a => $_[0] ? 1 + $_[0] * $k : 0 } },
            bytes => [a => "\$$s"] };
    },
    'an array with room' => sub {
        my ($s) = @_;
        my $k = 10 + pick(400);
        return { new => 1, code => <<"END",
our \@$s;
sub $s {
    my (\$i) = \@_;
    push \@$s, []; #\@a
    \$#{ \$${s}[-1] } = $k; #\@length
    \$${s}[-1][3] = \$i; #\@b
    return;
}
END
            # length: the value that stands for $#array, which the array keeps
            answer => sub { { a => $_[0] * 2, length => $_[0], b => $_[0] } } };
    },
    'strings that grow' => sub {
        my ($s) = @_;
        my $k = 1 + pick(3000);
        return { new => 1, answer => sub { { a => $_[0] } }, code => <<"END",
our \@$s;
sub $s {
    my (\$i) = \@_;
    push \@$s, ''; #\@a
    \$${s}[-1] .= 'x' x $k for 0 .. \$i % 3;
    @{[ noise() ]}
    return;
}
END
            bytes => [a => "map { \\\$_ } \@$s"] };
    },
    'strings that are shared' => sub {
        my ($s) = @_;
        my $k = 500 + pick(3000);
        return { new => 1, answer => sub { { a => $_[0] * 2, b => $_[0] } }, code => <<"END",
our (\@$s, \%$s);
sub $s {
    my (\$i) = \@_;
    my \$x = 'x' x ($k + \$i);
    push \@$s, \$x, \$x; #\@a
    \$${s}{ keys \%$s } = \$x; #\@b
    return;
}
END
            bytes => [a => "map { \\\$_ } \@$s"] };
    },
    'a list that is returned' => sub {
        my ($s) = @_;
        my ($text, $values) = container();
        return { new => 1, code => <<"END",
our \@$s;
sub ${s}_list {
    my (\$i) = \@_;
    my \$x = \$i;
    return (\$x, $text, [\$x]); #\@list
}
sub $s {
    my (\$i) = \@_;
    my \@got = ${s}_list(\$i);
    push \@$s, \\\@got; #\@a
    return; #\@b
}
END
            # The list becomes the elements of the array. b: the array of the next call
            answer => sub {
                return { list => $_[0] * (1 + $values + 3), a => $_[0], b => $_[0] };
            } };
    },
    'a list that is pushed' => sub {
        my ($s) = @_;
        my ($text, $values) = container();
        return { new => 1, code => <<"END",
our \@$s;
sub ${s}_list {
    my (\$i) = \@_;
    @{[ noise() ]}
    return (\$i, $text, 'c'); #\@list
}
sub $s {
    my (\$i) = \@_;
    push \@$s, ${s}_list(\$i); #\@a
    return;
}
END
            answer => sub { { list => $_[0] * ($values - 1), a => $_[0] * 3 } } };
    },
    'map, grep and sort' => sub {
        my ($s) = @_;
        my ($k, $min) = (3 + pick(9), 1 + pick(2));
        return { new => 1, code => <<"END",
our \@$s;
sub $s {
    my (\$i) = \@_;
    push \@$s, map { { n => \$_, t => [\$i] } } grep { \$_ > $min } 1 .. $k; #\@a
    my \@t = sort { \$b->[0] <=> \$a->[0] } map { [\$_] } 1 .. $k; #\@b
    push \@$s, \@t[0 .. $min]; #\@c
    return;
}
END
            answer => sub {
                my ($n) = @_;
                return { a => $n * ($k - $min) * 6, b => $n * ($min + 1) * 2,
                    c => $n * ($min + 1) };
            } };
    },
    'a sub that compares' => sub {
        my ($s) = @_;
        my $k = 2 + pick(9);
        return { new => 1, code => <<"END",
our \@$s;
sub ${s}_less {
    \$_->[1] //= [ \$_->[0] ] for \$a, \$b; #\@less
    return \$a->[0] <=> \$b->[0];
}
sub $s {
    my (\$i) = \@_;
    my \@t = map { [\$_] } 1 .. $k; #\@a
    my \@sorted = sort ${s}_less \@t; #\@b
    push \@$s, \\\@sorted; #\@c
    return; #\@d
}
END
            answer => sub {
                my ($n) = @_;
                return { less => $n * $k * 3, a => $n * $k * 2, b => $n * $k, c => $n, d => $n };
            } };
    },
    'die in the middle' => sub {
        my ($s) = @_;
        my ($text, $values) = data(2);
        my $die = one('die "no\n"', 'die { a => [$i] }', 'die bless [], "Error"',
            'my $zero = 0; $i = 1 / $zero', 'Nothing->no_such_method');
        return { new => 1, answer => sub { { dies => $_[0] * $values } }, code => <<"END" };
our \@$s;
sub ${s}_dies {
    my (\$i) = \@_;
    my \$x = { a => [\$i] };
    local \$noise = [1];
    push \@$s, $text; #\@dies
    $die;
    push \@$s, [1];
}
sub $s {
    my (\$i) = \@_;
    eval { ${s}_dies(\$i); 1 } and die;
    \$@ = '';
    return;
}
END
    },
    'goto &sub' => sub {
        my ($s) = @_;
        my ($text, $values) = container();
        return { new => 1, code => <<"END",
our \@$s;
sub ${s}_goes { my (\$i) = \@_; \@_ = ($text, \$i); goto &${s}_end } #\@goes
sub ${s}_end { push \@$s, \$_[0]; return } #\@end
sub $s {
    my (\$i) = \@_;
    ${s}_goes(\$i);
    return;
}
END
            # goto gives @_ away, and makes another one: the two subs keep one each.
            answer => sub {
                my ($n) = @_;
                return { goes => $n * ($values - 1) + least($n, 2), end => $n };
            } };
    },
    'DESTROY that keeps' => sub {
        my ($s) = @_;
        my $gone = one('undef $x;', '$x = 1;', 'my $t = [$x]; undef $x; @$t = ();', '');
        return { new => 1, code => <<"END",
our \@$s;
package ${s}::Kept {
    sub DESTROY { push \@$s, \$_[0] if \${^GLOBAL_PHASE} eq 'RUN'; return } #\@destroy
}
${s}::Kept->can('DESTROY');
sub $s {
    my (\$i) = \@_;
    my \$x = bless { n => \$i }, '${s}::Kept'; #\@a
    $gone
    return;
}
END
            answer => sub { { a => $_[0] * 2, destroy => $_[0] } } };
    },
    'DESTROY that makes' => sub {
        my ($s) = @_;
        my ($text, $values) = data(2);
        return { new => 1, code => <<"END",
our \@$s;
package ${s}::Made { sub DESTROY { my \$i = \$_[0]{n}; push \@$s, $text; return } } #\@destroy
${s}::Made->can('DESTROY');
sub $s {
    my (\$i) = \@_;
    bless { n => \$i }, '${s}::Made';
    my \$x = bless { n => \$i, more => [1] }, '${s}::Made';
    return;
}
END
            answer => sub { { destroy => 2 * $_[0] * $values } } };
    },
    'values that move' => sub {
        my ($s) = @_;
        my ($text, $values) = container();
        return { new => 1, code => <<"END",
our (\@$s, \%$s);
sub $s {
    my (\$i) = \@_;
    \$${s}{\$i} = $text; #\@a
    my \$got = delete \$${s}{\$i};
    push \@$s, \$got; #\@b
    return;
}
END
            answer => sub { { a => $_[0] * ($values - 1), b => $_[0] } } };
    },
    'a state variable' => sub {
        my ($s) = @_;
        my ($text, $values) = data(3);
        return { new => 1, answer => sub { { a => $_[0] * $values } }, code => <<"END" };
use feature 'state';
sub $s {
    my (\$i) = \@_;
    state \@all;
    push \@all, $text; #\@a
    return;
}
END
    },
    objects => sub {
        my ($s) = @_;
        my ($text, $values) = data(1);
        return { new => 1, code => <<"END",
our \@$s;
package ${s}::Base {
    sub new { my (\$class, \$i) = \@_; my \$o = bless {}, \$class; \$o->fill(\$i); \$o } #\@new
    sub fill { my (\$o, \$i) = \@_; \$o->{data} = $text; return } #\@fill
}
package ${s}::Sub { our \@ISA = '${s}::Base' }
${s}::Sub->can(\$_) for 'new', 'fill';
sub $s {
    my (\$i) = \@_;
    push \@$s, ${s}::Sub->new(\$i); #\@a
    return;
}
END
            answer => sub { { new => $_[0], fill => $_[0] * $values, a => $_[0] } } };
    },
    splice => sub {
        my ($s) = @_;
        my $k = 2 + pick(5);
        return { new => 1, code => <<"END",
our \@$s;
sub $s {
    my (\$i) = \@_;
    my \@t = map { [\$_] } 1 .. $k + 1; #\@a
    splice \@t, 1, 1;
    push \@$s, splice \@t, 0, $k - 1; #\@b
    return;
}
END
            answer => sub { { a => $_[0] * ($k - 1) * 2, b => $_[0] * ($k - 1) } } };
    },
    'two slots' => sub {
        my ($s) = @_;
        my ($text, $values) = container();
        return { code => <<"END",
our \%$s;
sub ${s}_swap { \@${s}{'a', 'b'} = \@${s}{'b', 'a'}; return }
sub $s {
    my (\$i) = \@_;
    \$${s}{ \$i % 2 ? 'a' : 'b' } = $text; #\@a
    ${s}_swap() if \$i % 2;
    return;
}
END
            # The elements stay, and their contents change places.
            answer => sub { { a => least($_[0], 2) * $values } } };
    },
    'arrays of arrays' => sub {
        my ($s) = @_;
        my $k = 1 + pick(6);
        return { new => 1, code => <<"END",
our \@$s;
sub $s {
    my (\$i) = \@_;
    my \@x = (1 .. $k); #\@a
    my \%x = (a => \\\@x); #\@b
    push \@$s, \\\%x; #\@c
    return; #\@d
}
END
            answer => sub {
                return { a => $_[0] * $k, b => $_[0], c => $_[0], d => $_[0] * 2 };
            } };
    },
);
# From perl 5.38 on, goto &sub makes a new @_, and the programs do not know where.
delete $parts{'goto &sub'} if $] >= 5.037;
my @names = sort keys %parts;

sub least { return $_[0] < $_[1] ? $_[0] : $_[1] }

# ---- programs ----

my $HEAD = <<'END';
no warnings;
use Scalar::Util 'weaken';
use List::Util 'first';
use Devel::DProf::Control 'heap';
our ($noise, @noise);
sub temporary { my ($i, $k) = @_; my @t = map { [$_] } 1 .. $k; return ($t[0], { i => $i }) }
sub via { my ($f, @args) = @_; return $f->(@args) }
sub jump { my $f = shift; goto &$f }
sub inner { my ($f, $i) = @_; my $t = sub { $f->($i); return { i => $i } }; $t->(); return }
package Warm {
    sub TIESCALAR { return bless [] } sub TIEHASH { return bless [] } sub FETCH { return 1 }
    sub STORE { return } sub DESTROY { return }
}
# What perl makes once, and keeps.
sub warm {
    my $t = bless [], 'Warm'; undef $t;
    tie my $x, 'Warm'; $x = 1; $t = $x;
    tie my %x, 'Warm'; $x{a} = 1; $t = $x{a};
    jump(sub { return }); main->can('warm');
    $t = first { $_ > 1 } 1 .. 2; my @t = sort { inner(sub { return }); $a <=> $b } 1 .. 2;
    @t = sort warm_less 1 .. 2;
    eval { die bless [], 'Error' }; eval { Nothing->no_such_method }; $@ = '';
    return;
}
sub warm_less { return $a <=> $b }
warm();
END

# The size of a value, as perlguts and B have it, on a perl of 64 bits.
my $SIZES = <<'END';
use B ();
sub bytes {
    my @todo = map { B::svref_2object($_) } @_;
    my ($bytes, %seen) = 0;
    while (my $sv = shift @todo) {
        next if $seen{$$sv}++;
        my $class = ref $sv;
        $bytes += 24;
        if ($sv->FLAGS & B::SVf_ROK) {
            push @todo, $sv->RV;
        } elsif ($class eq 'B::AV') {
            $bytes += 40 + 8 * ($sv->MAX + 1);
            push @todo, grep { ref ne 'B::SPECIAL' } $sv->ARRAY;
        } elsif ($class eq 'B::HV') {
            my %in = $sv->ARRAY;
            $bytes += 32 + (%in ? 8 * ($sv->MAX + 1) + 24 * keys %in : 0);
            push @todo, values %in;
        } elsif ($sv->can('LEN')) {
            $bytes += { 'B::PV' => 16, 'B::PVIV' => 24, 'B::PVNV' => 32 }->{$class} // die $class;
            my $shared = $sv->FLAGS & B::SVf_IsCOW
                ? ord substr(unpack('P' . $sv->LEN, pack 'P', ${ $sv->object_2svref }), -1) : 0;
            $bytes += int $sv->LEN / (1 + $shared) if $sv->LEN;
        }
    }
    return $bytes;
}
END

# Ways to call a part's sub. None of them leaves a value.
my @ways = (
    '%s(%s);', '&{\&%s}(%s);', 'main->can("%s")->(%s);', 'eval { %s(%s); 1 } or die $@;',
    'my @t = map { %s(%s); [1] } 1;', 'my @t = grep { %s(%s); 1 } 1;', 'for (1) { %s(%s) }',
    'via(\&%s, %s);', 'jump(\&%s, %s);', '{ local $noise = [1]; %s(%s) }',
    'my @t = sort { %s(%s); 0 } 1, 2;', 'my $t = first { %s(%s); 1 } 1;', 'inner(\&%s, %s);',
);

# Returns { code, expect, new, eval, loose, bytes, parts } for a seed; parts: the names of the parts
# that it is to have, in place of random ones. The code has subs `run`, which calls the parts, and
# `again`, which calls those that a child or a thread may call.
#   expect  the values that live after run(), by "SUB LINE"
#   new     those of a child or a thread that has called again()
#   eval    those of string evals
#   loose   sites with other values, which nothing is known of
#   bytes   code that prints sites with the bytes that live
sub program {
    my ($seed, @chosen) = @_;
    $state = $seed * 7919 % 2147483648;
    pick(2) for 1 .. 10;
    @chosen = map { one(@names) } 1 .. 4 + pick(6) if !@chosen;
    my @text = split /\n/, $HEAD;
    my (%program, @parts);
    for my $n (0 .. $#chosen) {
        push @parts, my $part = $parts{ $chosen[$n] }->("s$n");
        my ($package, $sub) = ('main');
        for my $line (split /\n/, $part->{code}) {
            push @text, $line;
            $package = $1 if $line =~ /^package (\S+)/;
            $sub = "${package}::$1" if $line =~ /\bsub (\w+) \{/;
            $package = 'main' if $line =~ /^(?:\}|package.*\} *(?:#\@\w+)?$)/;
            $part->{site}{$1} = "$sub " . @text if $line =~ /#@(\w+)/;
        }
        $program{loose}{ $part->{site}{any} } = 1 if $part->{loose};
    }
    my (@n, @calls);
    for (1 .. 20 + pick(120)) {
        my $at = pick(scalar @parts);
        push @calls, sprintf '    { ' . one(@ways) . ' }', "s$at", $n[$at]++ // 0;
    }
    push @text, 'sub run {', @calls, '    return;', '}';
    $program{expect} = answers(\@parts, map { $_ // 0 } @n[0 .. $#parts]);
    $program{eval} += ($parts[$_]{eval} // 0) * ($n[$_] // 0) for 0 .. $#parts;
    my @again = map { $_->{new} ? 1 + pick(9) : 0 } @parts;
    $program{new} = answers(\@parts, @again);
    # A thread looks up the methods of a class anew.
    push @text, 'sub warm_again {', '    warm();', (grep { /^\S+->can\(/ } @text), '}';
    push @text, 'sub again {', '    warm_again();',
        (map { $again[$_] ? "    s$_(\$_) for 1 .. $again[$_];" : () } 0 .. $#parts),
        '    return;', '}';
    for my $part (grep { $_->{bytes} } @parts) {
        my ($name, $values) = @{ $part->{bytes} };
        $program{bytes} .= "print '$part->{site}{$name} ', bytes($values), qq{\\n};\n";
    }
    $program{bytes} = $SIZES . $program{bytes} if $program{bytes};
    return { %program, code => join("\n", @text, ''), parts => \@chosen };
}

# Returns the values that live by "SUB LINE", of parts that have been called so many times.
sub answers {
    my ($parts, @times) = @_;
    my %all;
    for my $n (0 .. $#$parts) {
        my $answer = $parts->[$n]{answer}->($times[$n]);
        $all{ $parts->[$n]{site}{$_} } = $answer->{$_} for grep { $answer->{$_} } keys %$answer;
    }
    return \%all;
}

1;
