package Devel::DProf::Tool::Dprofhtml;

# dprofhtml: dprofflame's page, which opens with the source.

use strict;
use warnings;

use Devel::DProf::Metric;
use Devel::DProf::Tool qw(OK);
use Devel::DProf::Tool::Dprofflame;
use Devel::DProf::Tool::Options;
use Devel::DProf::View::Flame;

our $VERSION = $Devel::DProf::Core::VERSION;

use constant FILE => 'dprof.html';

my $TOOL;
$TOOL = Devel::DProf::Tool::Options->new(
    lists => { METRICS => Devel::DProf::Metric::for_help() },
    name => 'dprofhtml', settings => \&settings, run => \&page,
    text => <<'END',
dprofhtml [options] [profile ...]               one side: several files are added up
dprofhtml --diff [options] baseline other       two sides

Writes a page: the source, with what each line and sub costs; the flame graph; the table of subs.
No file: reads standard input if it is a pipe or a file, else tmon.out.

= o|output=s(some)
    -o FILE             the page (dprof.html)
What is shown:
= m|metric=s
    -m METRIC           {METRICS}
                        or another counter (dproflist lists them); the page has all
= timeline!
    --no-timeline       without the time line, which shows what ran when in a trace
= source!
    --no-source         without the sources: lines by number
= symfs=s@  source-dir=s@(folder)
    --symfs DIR,...     looks for sources below these folders, too
    --source-dir DIR,...    includes sources below DIR, even if the profile does not vouch for them
= source-url=s
    --source-url URL    links sources to a forge; URL has {file} and {line}
= only=s  skip=s  kind=s
    --only REGEX --skip REGEX       only subs whose names match, or do not match;
    --kind KIND                     only spans of this kind: sql, http ...;
                        the others count for their callers
= all
    --all               also the subs of a server above its application
= R|separate-anon!  A|autoload
    --no-separate-anon  anonymous subs without file and line;  -A  autoloaded subs as *::AUTOLOAD
= from=s  run-set=s@  buckets=i(positive)
    --from STORE --run-set SET --buckets N      as in dprofflame
= pid=s  tid=s  time=s  processes  main
    --time RANGE --pid LIST --tid LIST --processes --main      as in dproffold
Two sides:
= n|normalize
    -n                  scales the baseline to the other side's total
= map=s@
    --map OLD=NEW       pairs names that differ
How it looks:
= title:s  subtitle:s  notes=s
    --title TEXT --subtitle TEXT --notes TEXT
= f|F|force
    -f                  silent about profiles cut short
    -V  -h  -H          version, this help, the manual
== diff|d
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Returns the flame graph that is drawn as a page, a Devel::DProf::View::Flame. Dies with what is
# wrong.
sub settings {
    my ($opt) = @_;
    my ($how, %fields) = Devel::DProf::Tool::Dprofflame::settings(
        { %$opt, format => Devel::DProf::View::Flame::pages() });
    return Devel::DProf::View::Flame->new($how, %fields, start => 'source');
}

# Runs the tool: writes the page, and says where it is. Returns the exit status.
sub page {
    my ($opt, $flame, $names) = @_;
    my $status = Devel::DProf::Tool::Dprofflame::graph($TOOL, { %$opt, o => $opt->{o} // FILE },
        $flame, $names);
    print 'wrote ', FILE, "; open it in a browser\n" if $status == OK && !defined $opt->{o};
    return $status;
}

1;
