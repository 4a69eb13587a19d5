#!/usr/bin/perl
# Writes a web server's access log for the other examples: the same lines every time.
# usage: makelog.pl [LINES] > access.log
use strict;
use warnings;

my $lines = shift // 20_000;

# A generator of our own: perl's rand may differ between builds.
my $state = 42;
sub pick {
    my ($below) = @_;
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return int($state / 65536) % $below;
}

my @months = qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec);
my @paths = (
    '/', '/index.html', '/about.html', '/feed.xml', '/robots.txt', '/favicon.ico',
    map({ ("/blog/2025/$_.html", "/blog/2026/$_.html") } 1 .. 30),
    map({ "/static/img/$_.png" } 1 .. 40),
    map({ "/static/css/$_.css" } qw(base print dark)),
    map({ "/shop/item?id=$_" } 100 .. 160),
    '/shop/cart', '/shop/checkout', '/api/v1/search?q=perl', '/api/v1/search?q=log%20file',
    '/api/v2/status',
);
my @agents = (
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) '
        . 'Chrome/141.0.0.0 Safari/537.36',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 15_6) AppleWebKit/605.1.15 (KHTML, like Gecko) '
        . 'Version/18.6 Safari/605.1.15',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'curl/8.14.1', 'Wget/1.25.0', 'feedreader/3.2 (42 subscribers)', '-',
);

my ($day, $second) = (0, 0);
for my $n (1 .. $lines) {
    $second += pick(20);
    if ($second >= 86_400) {
        $day++;
        $second -= 86_400;
    }
    my @odd = (404, 301, 304, 500);
    my $status = pick(10) ? 200 : $odd[pick(4)];
    printf qq{%d.%d.%d.%d - - [%02d/%s/2026:%02d:%02d:%02d +0000] "%s %s HTTP/1.1" %d %d "-" "%s" }
        . qq{%d\n},
        10, pick(4), pick(200), 1 + pick(250),
        1 + $day % 28, $months[int($day / 28) % 12], int($second / 3600), int($second / 60) % 60,
        $second % 60,
        pick(20) ? 'GET' : 'POST', $paths[pick(scalar @paths)],
        $status, $status == 304 ? 0 : 200 + pick(30_000),
        $agents[pick(scalar @agents)],
        1 + pick(50) * (pick(30) ? 1 : 40);
}
