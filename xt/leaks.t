# Leaks that people have reported in perl modules: heap=exact names the sub in its first three rows.
#
#   perl xt/leaks.t       after make
#
# Each program serves requests: five, a snapshot, a hundred, a snapshot. dprofdiff compares the two.
# Cases with a module run its code, and are skipped where the module is absent; the others are the
# shortest program that leaks as the report says.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use Test::More;
use DProfTest;

my $PERL = 'https://github.com/Perl/perl5/issues';
my $MOJO = 'https://github.com/mojolicious/mojo';
# Each case: name, report, needed module, the sub that has to be found, code with a sub `request`.
my @cases = (
    ['HTML::TreeBuilder, trees that nobody deletes',
        'http://blogs.perl.org/users/christopher_j_madsen/2012/06/html-tree-5.html',
        'HTML::TreeBuilder', 'HTML::Element::new', <<'END'],
use HTML::Element -noweak; use HTML::TreeBuilder;
sub request { my $t = HTML::TreeBuilder->new_from_content('<p>a<b>c</b></p>' x 5); return }
END
    ['Memoize, a cache without bounds', 'perldoc Memoize, CAVEATS', 'Memoize',
        'Memoize::', <<'END'],
use Memoize; sub slow { return [$_[0]] } memoize('slow');
sub request { slow($n); return }
END
    ['Mojo::IOLoop, timers that stay', "$MOJO/pull/760", 'Mojo::IOLoop',
        'Mojo::Reactor::Poll::_timer', <<'END'],
use Mojo::IOLoop; sub work { my ($data) = @_; return Mojo::IOLoop->recurring(9 => sub { $data }) }
sub request { work({ id => $n }); return }
END
    ['Mojo::EventEmitter, a callback that holds its emitter', "$MOJO/pull/1403",
        'Mojo::EventEmitter', 'Mojo::EventEmitter::on', <<'END'],
use Mojo::EventEmitter;
sub request { my $e = Mojo::EventEmitter->new; $e->on(done => sub { $e->emit('x') }); return }
END
    ['Mojo::Server::Morbo, a closure that calls itself', "$MOJO/pull/2321", undef,
        'Backend::list_files', <<'END'],
package Backend { sub list_files { my ($dir) = @_; my @found; my $scan;
    $scan = sub { my ($d, $depth) = @_; push @found, "$d/f$_" for 1 .. 3;
        $scan->("$d/x", $depth - 1) if $depth };
    $scan->($dir, 2); return scalar @found } }
sub request { Backend::list_files('a'); return }
END
    ['perl5, a recursive closure', "$PERL/7409", undef, 'main::walk', <<'END'],
sub walk { my $traverse; $traverse = sub { $traverse->($_[0] + 1) unless $_[0] };
    $traverse->(0); return }
sub request { my @t = map { [$_] } 1 .. 30; walk(); return }
END
    ['Hash::Util::FieldHash, a value that holds its key', "$MOJO/issues/762",
        'Hash::Util::FieldHash', 'main::remaining', <<'END'],
use Hash::Util::FieldHash 'fieldhash'; fieldhash my %remaining;
sub remaining { my ($o, $x) = @_; $remaining{$o} = [sub { $x }]; return }
sub request { my ($o, $x) = (bless({}, 'O'), bless({}, 'O')); $x->{o} = $o; remaining($o, $x) }
END
    ['Nagios::Object, objects that know their parser',
        'https://github.com/duncs/perl-nagios-object/pull/2', undef, 'Nagios::Object::new',
        <<'END'],
package Nagios::Object { sub new { my ($c, %a) = @_; return bless {%a}, $c } }
package Nagios::Config { sub new { my $s = bless { list => [] }, shift;
    push @{ $s->{list} }, Nagios::Object->new(name => $_, parser => $s) for 1 .. 4; return $s } }
sub request { Nagios::Config->new; return }
END
    ['a cross of references', "$PERL/5139", undef, 'main::cross', <<'END'],
sub cross { my $x = []; my $y = [$x]; push @$x, $y; return }
sub request { cross(); return }
END
    ['Convos, a cache of objects with a user agent',
        'https://github.com/convos-chat/convos/pull/332', undef, 'LinkEmbedder::Link::new',
        <<'END'],
package LinkEmbedder::Link { sub new { my ($c, $url) = @_; my $s = bless { url => $url }, $c;
    $s->{ua} = { cb => sub { $s } }; return $s } }
our %cache;
sub request { $cache{"url$n"} = LinkEmbedder::Link->new("url$n"); return }
END
);
for (@cases) {
    my ($name, $report, $module, $sub, $code) = @$_;
  SKIP: {
        skip "$name: there is no $module", 1
            if $module && system "'$^X' -M$module -e 1 >/dev/null 2>&1";
        my $head = "use Devel::DProf::Control 'heap'; our \$n;\n";
        my $run = profiled([spew(scratch() . '/p.pl', "$head$code\n"
            . "\$n++, request() for 1 .. 5; heap('warm');\n"
            . "\$n++, request() for 1 .. 100; heap('done');\n")], limit => 120,
            env => { PERL_DPROF_MODE => 'tree', PERL_DPROF_HEAP => 'exact' });
        my $diff = run_tool('dprofdiff', ['-m', 'live-values',
            map { "$run->{profile}-$_" } qw(warm done)]);
        my @rows = map { /^(\S+) +[\d,-]+ +[\d,]+ / ? $1 : () } split /\n/, $diff->{out};
        my ($rank) = grep { $rows[ $_ - 1 ] =~ /\A\Q$sub\E/ } 1 .. @rows;
        ok(defined $rank && $rank <= 3, "$name: $sub is row " . ($rank // 'none') . " ($report)")
            || diag $run->{err}, $diff->{err}, $diff->{out};
    }
}
done_testing();
