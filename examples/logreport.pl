#!/usr/bin/perl
# Reads a web server's access log and prints who asked for what, when, and how long it took.
# usage: logreport.pl [access.log ...]
use strict;
use warnings;

# One line of the log.
package LogReport::Entry;

sub parse {
    my ($class, $line) = @_;
    my ($host, $time, $request, $status, $bytes, $agent, $millis) = $line =~
        m{^(\S+) \S+ \S+ \[([^\]]+)\] "([^"]*)" (\d+) (\d+|-) "[^"]*" "([^"]*)" (\d+)$}
        or die "not a line of an access log\n";
    my ($method, $target) = split ' ', $request;
    return bless {
        host => $host, method => $method, target => $target, status => $status,
        bytes => $bytes eq '-' ? 0 : $bytes, agent => $agent, millis => $millis,
        epoch => LogReport::Time::epoch($time),
    }, $class;
}

sub epoch  { $_[0]{epoch} }
sub status { $_[0]{status} }
sub bytes  { $_[0]{bytes} }
sub millis { $_[0]{millis} }
sub agent  { $_[0]{agent} }

# The path without its query, %XX decoded.
sub path {
    my ($self) = @_;
    my ($path) = split /\?/, $self->{target}, 2;
    $path =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
    return $path;
}

# Dates as web servers write them.
package LogReport::Time;

use Time::Local ();

my %MONTH;
@MONTH{qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec)} = 0 .. 11;

sub epoch {
    my ($text) = @_;
    my ($day, $month, $year, $hour, $minute, $second, $zone) =
        $text =~ m{^(\d+)/(\w+)/(\d+):(\d+):(\d+):(\d+) ([-+]\d{4})$}
        or die "not a date: $text\n";
    my $epoch = Time::Local::timegm($second, $minute, $hour, $day, $MONTH{$month}, $year);
    return $epoch - offset($zone);
}

sub offset {
    my ($zone) = @_;
    my ($sign, $hours, $minutes) = $zone =~ /^([-+])(\d\d)(\d\d)$/;
    return ($sign eq '-' ? -1 : 1) * ($hours * 3600 + $minutes * 60);
}

# What kind of client it was: the first rule that matches. A rule is a closure.
package LogReport::Client;

my @rules = (
    [ robot   => contains('bot') ],
    [ reader  => contains('feedreader') ],
    [ script  => begins('curl', 'Wget', 'libwww') ],
    [ unknown => sub { $_[0] eq '-' } ],
    [ browser => sub { 1 } ],
);

sub contains {
    my ($word) = @_;
    return sub { index($_[0], $word) >= 0 };
}

sub begins {
    my $words = join '|', map { quotemeta } @_;
    return sub { $_[0] =~ /^(?:$words)/ };
}

sub kind {
    my ($agent) = @_;
    for my $rule (@rules) {
        return $rule->[0] if $rule->[1]->($agent);
    }
}

# The site as a tree of path segments; each node sums what is below it.
package LogReport::Tree;

sub new { return bless { hits => 0, bytes => 0, kids => {} }, $_[0] }

sub add {
    my ($self, $bytes, $segment, @rest) = @_;
    $self->{hits}++;
    $self->{bytes} += $bytes;
    return unless defined $segment;
    my $kid = $self->{kids}{$segment} //= (ref $self)->new;
    $kid->add($bytes, @rest);
}

sub by_hits {
    my ($kids) = @_;
    return sort { $kids->{$b}{hits} <=> $kids->{$a}{hits} || $a cmp $b } keys %$kids;
}

sub lines {
    my ($self, $name, $depth, $least) = @_;
    my @lines = sprintf '%8d %9.1f MB  %s%s', $self->{hits}, $self->{bytes} / 1e6,
        '  ' x $depth, $name;
    for my $kid (by_hits($self->{kids})) {
        next if $self->{kids}{$kid}{hits} < $least;
        push @lines, $self->{kids}{$kid}->lines($kid, $depth + 1, $least);
    }
    return @lines;
}

# Numbers, counted and ranked.
package LogReport::Stats;

sub new { return bless { name => $_[1], values => [] }, $_[0] }

sub add { push @{ $_[0]{values} }, $_[1] }

sub by_value { $a <=> $b }

sub percentile {
    my ($self, $percent) = @_;
    my @sorted = sort by_value @{ $self->{values} };
    return $sorted[ int($#sorted * $percent / 100) ];
}

sub line {
    my ($self) = @_;
    return sprintf '%8d  %5d %5d %5d ms  %s', scalar @{ $self->{values} },
        (map { $self->percentile($_) } 50, 90, 99), $self->{name};
}

package main;

my $site = LogReport::Tree->new;
my (%client, %status, %time, %hour);
my $bad = 0;

while (my $line = <>) {
    my $entry = eval { LogReport::Entry->parse($line) };
    if (!$entry) {
        $bad++;
        next;
    }
    count($entry);
}
report();

sub count {
    my ($entry) = @_;
    my ($top, @segments) = grep { length } split m{/}, $entry->path;
    $site->add($entry->bytes, $top // (), @segments);
    $client{ LogReport::Client::kind($entry->agent) }++;
    $status{ $entry->status }++;
    $hour{ int($entry->epoch / 3600) % 24 }++;
    ($time{ $top // '(home)' } //= LogReport::Stats->new($top // '(home)'))->add($entry->millis);
}

sub ranked {
    my ($count) = @_;
    return sort { $count->{$b} <=> $count->{$a} || $a cmp $b } keys %$count;
}

sub report {
    print "    hits       size  path\n";
    print "$_\n" for $site->lines('/', 0, 300);
    print "\n    hits    50%   90%   99%     time to answer\n";
    print $time{$_}->line, "\n" for sort grep { @{ $time{$_}{values} } > 50 } keys %time;
    print "\nclients: ", join(', ', map { "$client{$_} $_" } ranked(\%client)), "\n";
    print "status:  ", join(', ', map { "$status{$_} x $_" } ranked(\%status)), "\n";
    print "busiest: ", join(', ', map { "$_ h" } (ranked(\%hour))[0 .. 2]), "\n";
    print "skipped: $bad lines\n" if $bad;
}
