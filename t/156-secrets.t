# detail=: no value of the program gets into a profile, nor into what the tools make of it. They
# make pages, files of other tools, reports, stores, and messages about damaged profiles.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Uncompress::Gunzip 'gunzip';
use MIME::Base64 'decode_base64';
use Test::More;
use DProfTest;
use Slices;

my $lib = root() . '/t/lib';
my $has_dbi = eval { require DBI };
my $no_lines = no_lines();
my %mode = (trace => [], tree => [MODE => 'tree'], samples => [SAMPLE => 5000],
    $no_lines ? () : (lines => [MODE => 'tree', LINES => 'time']),
    slices => [SLICE => 1, CLOCK => 'counting:1000000', SPOOL_LIMIT => 0]);
# Each program has this file's name in a span, which shows that a search finds what is there.
my $PLAIN = 'a-plain-name';
my $secrets = 0;

# A text that nothing else has, not even a count of ticks. What masks paths has to take it for a
# value: digits alone, hex.
sub secret {
    my ($kind) = @_;
    my $n = 7_310_000 + ++$secrets;
    return $kind eq 'digits' ? "9182736455$n" : $kind eq 'hex' ? sprintf('%08xa1', $n * 131)
        : $kind eq 'uuid' ? sprintf('%08x-4a1b-4c2d-8e3f-%012x', $n, $n * 977)
        : "Tok${n}Xyz" . 'q' x 5;
}

# Replaces each SECRET_KIND_ by a secret. Returns the text and the secrets.
sub with_secrets {
    my ($text) = @_;
    my @secrets;
    $text =~ s/SECRET_(text|digits|hex|uuid)_/push @secrets, secret($1); $secrets[-1]/ge;
    return ($text, @secrets);
}

# Runs a program in a mode. Returns the folder that has all that was recorded, and the profiles.
sub recorded {
    my ($program, $mode, @args) = @_;
    my ($dir, $to) = (scratch(), scratch());
    my %option = (DETAIL => 'all', COMPRESS => 0, OPTS => undef, OUT => "$to/tmon.out",
        $mode eq 'slices' ? (SPOOL => $to, OUT => undef) : (), @{ $mode{$mode} });
    my $run = run_perl(["-I$lib", spew("$dir/program.pl", $program), @args], profile => 1,
        dir => $dir, env => { map { ("PERL_DPROF_$_" => $option{$_}) } keys %option });
    is("$run->{raw} $run->{err}", '0 ', "the program runs ($mode)");
    return ($to, grep { -f && !/\.live\z/ } glob "$to/*");
}

# Returns a copy of a profile that ends within a line.
sub damaged {
    my ($profile) = @_;
    my $text = slurp($profile);
    return spew(scratch() . '/damaged', substr($text, 0, 2 * length($text) / 3) . "\n& z\n+ q\n");
}

# Returns the text of a file without its packing. Pages hold packed parts.
sub unpacked {
    my ($file) = @_;
    my $text = gunzipped($file);
    $text =~ s{>(H4sI[\w+/=]+)<}{
        gunzip(\decode_base64($1) => \my $part) or die "$file: a part cannot be unpacked\n";
        $part
    }ge;
    return $text;
}

# Returns the commands that make something of profiles, in a folder.
sub commands {
    my ($to, $mode, @profiles) = @_;
    my @formats = (qw(speedscope firefox callgrind pprof), $mode eq 'trace' ? 'chrome' : (),
        $mode eq 'lines' ? 'cachegrind' : ());
    return (
        (map { ['dprofexport', '--format', $_, '-o', "$to/export.$_", @profiles] } @formats),
        ['dprofhtml', '--no-source', '-o', "$to/page.html", @profiles],
        ['dprofhtml', '--no-source', '--diff', '-o', "$to/pair.html", @profiles[0, -1]],
        ['dprofflame', '-o', "$to/flame.svg", '--minwidth', 0, @profiles],
        ['dproffold', $mode eq 'samples' ? () : ('-m', 'calls'), '-o', "$to/folded", @profiles],
        ['dprofmerge', '-o', "$to/merged", @profiles],
        ['dprofreport', '--wide', $mode eq 'samples' ? () : ('--kind', 'file'), @profiles],
        ['dprofreport', '--format', 'json', @profiles],
        ['dprofpp', '-S', @profiles], $mode eq 'trace' ? ['dprofpp', '-T', @profiles] : (),
        ['dprofdiff', '-v', @profiles[0, -1]], ['dproflist', '--clock', $profiles[0]],
        ['dprofstore', 'init', '--to', "dir:$to/store"],
        ['dprofstore', 'push', '--to', "dir:$to/store", @profiles],
        ['dprofstore', 'list', '--from', "dir:$to/store"]);
}

# Returns the commands that read a damaged profile.
sub complaints {
    my ($to, $damaged) = @_;
    return (['dprofpp', $damaged], ['dprofpp', '-F', $damaged], ['dprofreport', $damaged],
        ['dprofdiff', '-v', $damaged, $damaged], ['dprofhtml', '-o', "$to/mended.html", $damaged],
        ['dprofmerge', '-o', "$to/mended", $damaged],
        ['dprofstore', 'push', '--to', "dir:$to/store", $damaged]);
}

my $program = <<'END';
use strict;
use warnings;
use HTTP::Tiny;
my $tiny = HTTP::Tiny->new(timeout => 5,
    default_headers => { Authorization => 'Basic SECRET_text_' });
for my $path (qw(SECRET_digits_ SECRET_hex_ SECRET_uuid_ a/SECRET_digits_/b x%20SECRET_digits_
        n=SECRET_hex_ SECRET_text_SECRET_digits_)) {
    $tiny->get("http://SECRET_text_:SECRET_text_\@127.0.0.1:1/$path?SECRET_text_=SECRET_text_"
            . '#SECRET_text_');
}
$tiny->post('http://127.0.0.1:1/p',
    { content => 'SECRET_text_', headers => { X => 'SECRET_text_' } });
my $perl = $^X;
system $perl, '-e', '1', 'SECRET_text_';
system "SECRET_text_=SECRET_text_ $perl -e 1 SECRET_text_ </dev/null # SECRET_text_";
system "env A='SECRET_text_ x' B=SECRET_text_ $perl -e 1 'SECRET_text_'";
system 'exit 0; SECRET_text_';
my $out = `echo SECRET_text_ | cat`;
open my $in, '-|', $perl, '-e', 1, 'SECRET_text_' or die;
close $in;
open $in, "$perl -e 1 SECRET_text_ |" or die;
close $in;
for my $name (qw(SECRET_digits_ SECRET_hex_ SECRET_uuid_ user-SECRET_digits_.txt
        SECRET_text_SECRET_digits_)) {
    my $path = "/nonexistent/$name";
    my ($file, $dir);
    no warnings;
    my $there = open($file, '<', $path) || -e $path || stat($path) || opendir($dir, $path)
        || open($file, "< $path") || do $path || eval { require $path };
}
my ($text, $word) = ('a SECRET_text_ b', 'SECRET_text_');
my $qr = qr/$word/;
my @n = (scalar($text =~ /$word/), scalar($text =~ /^a \Q$word\E b/o), scalar($text =~ $qr),
    scalar($text =~ /x$qr/i), scalar($text =~ m{$word|$qr}x), $text =~ s/$word/SECRET_text_/r,
    $text =~ s/a/$word/r, $text =~ s/$word/lc $word/er, $text =~ tr/a/b/r);
{ use re 'eval'; my $code = "(?{ 'SECRET_text_' })"; push @n, scalar($text =~ /a$code/) }
for ($word) { push @n, scalar(/$_/), scalar("x$_" =~ "x$_") }
my @parts = split /$word/, $text;
END

$program .= <<'END';
package Mojolicious::Renderer { sub _render_template { return 1 } }
package Mojo::Template { sub render { return 1 } sub render_file { return render(@_) } }
package Template::Document { sub process { return 1 } }
package Text::Xslate::Engine { sub render { return 1 } sub render_string { return render(@_) } }
package HTML::Template { sub output { return 1 } }
package HTML::Mason::Request { sub comp { return 1 } }
package main;
my $renderer = bless { default_handler => 'ep', templates => {} }, 'Mojolicious::Renderer';
sub page { $renderer->_render_template({ SECRET_text_ => 'SECRET_text_' }, \my $to, { @_ }) }
page(template => 'item-SECRET_digits_', format => 'html');
page(template => 'SECRET_hex_/page', format => 'html', handler => 'ep', name => 'SECRET_text_');
page(template => 'a', format => 'html', inline => 'SECRET_text_ <%= 1 %>');
Mojo::Template->render_file('t/SECRET_digits_.ep', { name => 'SECRET_text_' });
Mojo::Template->render('SECRET_text_', 'SECRET_text_');
bless({ name => 'SECRET_uuid_.tt' }, 'Template::Document')->process({ a => 'SECRET_text_' });
bless({ name => \'SECRET_text_' }, 'Template::Document')->process;
Text::Xslate::Engine->render('SECRET_hex_.tx', { SECRET_text_ => 'SECRET_text_' });
Text::Xslate::Engine->render_string('SECRET_text_', { a => 'SECRET_text_' });
bless({ options => { filename => 'SECRET_digits_.tmpl' }, param_map => { SECRET_text_ => 1 } },
    'HTML::Template')->output;
bless({ options => { scalarref => \'SECRET_text_' } }, 'HTML::Template')->output;
bless({}, 'HTML::Mason::Request')->comp('/SECRET_digits_.mas', name => 'SECRET_text_');
END

$program .= <<'END' if $has_dbi;
use DBI;
use FakeDBD qw(Fake Pg SQLite mysql MariaDB);
my %dbh = map { $_ => DBI->connect("dbi:$_:", '', '', { RaiseError => 1, PrintError => 0 }) }
    qw(Fake Pg SQLite mysql MariaDB);
my @everywhere = (
    q{SELECT 'SECRET_text_', 'it''s SECRET_text_' FROM t WHERE a = SECRET_digits_},
    q{SELECT * FROM t WHERE a IN ('SECRET_text_', SECRET_digits_, -SECRET_digits_.5e3)},
    qq{SELECT 1 -- SECRET_text_ it's\nFROM t /* SECRET_text_ ' */ WHERE a = 'SECRET_text_'},
    q{INSERT INTO t VALUES ('SECRET_text_', SECRET_digits_), (N'SECRET_text_', X'SECRET_hex_')},
    q{SELECT 'SECRET_text_ without end}, q{SELECT 0xSECRET_hex_ FROM t LIMIT SECRET_digits_},
);
my %own = (
    Pg => [q{SELECT E'a\\'SECRET_text_', $$SECRET_text_ '$$, $q$SECRET_text_ $$ "$q$,
            U&'SECRET_text_'},
        q{SELECT /* a /* SECRET_text_ */ 'SECRET_text_ */ B'101', 'SECRET_text_'::text},
        qq{SELECT 'a\\', 'SECRET_text_', 'b'\n'SECRET_text_'}],
    SQLite => [q{SELECT 'a\\', 'SECRET_text_', "SECRET_text_", x'SECRET_hex_'
            WHERE "a" = "SECRET_text_"}],
    Fake => [q{SELECT 'a\\'SECRET_text_', "SECRET_text_", $$SECRET_text_$$},
        q{SELECT q'[it's SECRET_text_]' FROM dual},
        q{SELECT "SECRET_text_" WHERE a LIKE "SECRET_text_%"}],
);
$own{$_} = [q{SELECT "SECRET_text_", 'a\\'SECRET_text_', "it""s SECRET_text_", _utf8'SECRET_text_'},
    qq{SELECT 1 # SECRET_text_ '\n, 'SECRET_text_' /*! , 'SECRET_text_' */},
    q{SELECT * FROM `t` WHERE `a` = "SECRET_text_"}] for qw(mysql MariaDB);
for my $name (sort keys %dbh) {
    for my $statement (@everywhere, @{ $own{$name} }) {
        my $sth = $dbh{$name}->prepare($statement);
        $sth->execute(('SECRET_text_') x ($statement =~ tr/?//));
        my $rows = $sth->fetchall_arrayref;
        $dbh{$name}->do($statement, { SECRET_text_ => 'SECRET_text_' }, 'SECRET_text_');
        $rows = $dbh{$name}->selectcol_arrayref($statement);
    }
    $dbh{$name}->do('SELECT a FROM t WHERE b = ? AND c = :name', undef, 'SECRET_text_',
        'SECRET_digits_');
    eval { $dbh{$name}->do("it fails 'SECRET_text_'") };
}
END

for my $mode (sort keys %mode) {
    my ($text, @secrets) = with_secrets("stat '$PLAIN';\n$program");
    my ($argument, $last) = with_secrets('SECRET_text_');
    my ($any) = map { qr/$_/ } join '|', map { quotemeta } @secrets, $last;
    my ($folder, @profiles) = recorded($text, $mode, $argument);
    my $to = scratch();
    my @run = map { run_tool(@$_[0], [@$_[1 .. $#$_]]) } commands($to, $mode, @profiles);
    is_deeply([map { $_->{raw} ? $_->{err} : () } @run], [], "the tools run ($mode)");
    my %made = map { my $in = $_; map { ($_ => unpacked("$in/$_")) } files_in($in) } $folder, $to;
    # Samples can miss the call, and a slice has only some of the calls.
    my @without = grep { !m{(?:\A|/)\.dprofstore\z} && $made{$_} !~ /\Q$PLAIN\E/ } sort keys %made;
    is("@without", '', '... and all files have the spans') if $mode !~ /samples|slices/;
    push @run, map { run_tool(@$_[0], [@$_[1 .. $#$_]]) } complaints($to, damaged($profiles[0]));
    %made = (%made, map { ($_ => unpacked("$to/$_")) } files_in($to));
    $made{"what command $_ says"} = "$run[$_]{out}$run[$_]{err}" for 0 .. $#run;
    is_deeply([map { my $name = $_; map { "$name: $_" } $made{$name} =~ /$any/g } sort keys %made],
        [], "... without one of the $#{[@secrets, 0, 0]} secrets");
}

# The program waits for the tool that looks at it.
{
    my ($text, @secrets) = with_secrets(<<'END');
sub looked_at { my $own = 'SECRET_text_'; return system(@ARGV, $$) }
eval q{sub { exit looked_at('SECRET_text_', { SECRET_text_ => 'SECRET_text_' }) >> 8 }
    ->('SECRET_text_')};
END
    my $file = spew(scratch() . '/waits.pl', $text);
    my @run = map { run_program([$^X, $file, tool_command('dprofdump', @$_)]) } [], ['--json'],
        ['--threads'];
    SKIP: {
        skip "dprofdump cannot look here: $run[0]{err}", 1 if $run[0]{status} == 1;
        like($_->{out}, qr/main::looked_at/, 'dprofdump has the stack') for @run;
        my ($any) = map { qr/$_/ } join '|', map { quotemeta } @secrets;
        is_deeply([map { "$_->{out}$_->{err}" =~ /$any/g } @run], [], '... and no values');
    }
}

done_testing;
