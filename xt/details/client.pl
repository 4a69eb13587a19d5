# Requests of several clients: client.pl URL.
use strict;
use warnings;
use HTTP::Tiny;
use LWP::UserAgent;
use Mojo::UserAgent;
use URI;

my ($base) = @ARGV;
my $with_user = $base =~ s{//}{//user:password\@}r;
my $lwp = LWP::UserAgent->new;
$lwp->get("$base/artist/$_?q=$_") for 1 .. 3;
$lwp->get("$base/moved");
$lwp->post("$base/text", { a => 1 });
$lwp->head("$with_user/text");
$lwp->get(URI->new("$base/artists"));
my $tiny = HTTP::Tiny->new;
$tiny->get("$base/artist/$_") for 1 .. 4;
$tiny->get("$base/moved");
$tiny->post_form("$base/text", { a => 1 });
$tiny->delete("$base/artist/1");
my $mojo = Mojo::UserAgent->new;
$mojo->get("$base/artist/$_" => { Accept => '*/*' }) for 1 .. 5;
$mojo->get("$base/moved");
$mojo->post("$with_user/text" => json => { a => 1 });
$tiny->get("$base/quit");
