# The cookbook's recipes are run as printed: each in a folder of its own, beside a copy of
# examples/. The files that they write must be there, and be what their names say. Files that
# recipes contain are written; of a CI service's file, the steps are run.
use strict;
use warnings;
use Test::More;
use CPAN::Meta::YAML ();
use Cwd 'abs_path';
use File::Temp ();
use Config;

my $top = abs_path('.');
my $scratch = File::Temp->newdir('dprof-cookbook-XXXXXX', TMPDIR => 1);

sub slurp {
    my ($file) = @_;
    local $/;
    open my $in, '<:raw', $file or return undef;
    return scalar <$in>;
}
sub spew {
    my ($file, $text) = @_;
    open my $out, '>:raw', $file or die "$file: $!";
    print $out $text;
    close $out or die "$file: $!";
}

# Makes a PATH with the perl that runs this test, and the tools just built. No user settings are
# used.
mkdir "$scratch/bin" or die $!;
spew("$scratch/bin/perl", qq{#!/bin/sh\nexec "$^X" "\$@"\n});
chmod 0755, "$scratch/bin/perl" or die $!;
delete @ENV{ grep { /^(?:PERL_|PERL5|DPROF|GIT_|HARNESS_|TEST_)/ } keys %ENV };
$ENV{PERL5LIB} = "$top/blib/lib$Config{path_sep}$top/blib/arch";
$ENV{PATH} = "$scratch/bin:$top/blib/script:$ENV{PATH}";
$ENV{GITHUB_BASE_REF} = 'main';
@ENV{qw(HOME GIT_CONFIG_NOSYSTEM)} = ("$scratch", 1);
spew("$scratch/.gitconfig", "[init]\n\tdefaultBranch = main\n");
$ENV{"GIT_$_"} = $_ =~ /EMAIL/ ? 'cook@localhost' : 'Cook'
    for qw(AUTHOR_NAME AUTHOR_EMAIL COMMITTER_NAME COMMITTER_EMAIL);

# Installers are not run, but their calls are recorded.
spew("$scratch/bin/cpanm", qq{#!/bin/sh\necho "\$@" >> '$scratch/installed'\n});
chmod 0755, "$scratch/bin/cpanm" or die $!;
mkdir "$scratch/tmp" or die $!;
$ENV{TMPDIR} = "$scratch/tmp";

# Returns title, text and commands of each recipe; then what is run, in which a file of the recipe
# is a command that writes it.
sub recipes {
    my ($pod) = @_;
    my @recipes;
    for my $part (split /^=head[12] /m, $pod) {
        my ($title) = $part =~ /\A(.*)/;
        my (@commands, @run, $file, $text);
        # a command goes on behind a backslash
        1 while $part =~ s/^( {4}\$ .*?) \\\n +/$1 /m;
        my $end = sub { push @run, wrote($file, $text) if defined $file; undef $file };
        for my $line (split /^/, $part) {
            if ($line =~ /^ {4}\$ (.*)$/) { $end->(); push @commands, $1; push @run, $1 }
            elsif ($line =~ m{^ {4}# ([\w.][\w./-]*\.(?:t|p[lm]|psgi|sh|yml))$}) {
                $end->();
                ($file, $text) = ($1, $line);
            }
            elsif ($line !~ /^(?: {4}|$)/) { $end->() }
            elsif (defined $file) { $text .= $line }
        }
        $end->();
        push @recipes, [$title, $part, \@run, @commands] if @commands;
    }
    return @recipes;
}

sub wrote {
    my ($file, $text) = @_;
    $text =~ s/^ {4}//mg;
    $text =~ s/\n+\z/\n/;
    my $folder = $file =~ m{^(.*)/} ? $1 : '.';
    return "mkdir -p $folder", "cat > $file <<'(end)'\n$text(end)",
        $file =~ /\.yml\z/ ? steps($file, $text) : ();
}

# Returns a workflow's steps, as commands: each in a shell of its own, as the service runs it, first
# unchanged, then after a change that some step must notice.
sub steps {
    my ($file, $text) = @_;
    my $no = no_yaml($text);
    die "$file is no YAML: $no" if defined $no;
    my ($yaml) = @{ CPAN::Meta::YAML->read_string($text) };
    my @steps;
    for my $job (grep { ref eq 'HASH' } map { ref $_ eq 'HASH' ? values %$_ : () } $yaml->{jobs}
        // $yaml) {
        my $env = $job->{env} // $job->{variables} // {};
        my $set = join ' ', map { "$_='$env->{$_}'" } sort keys %$env;
        my @commands = (map({ $_->{run} // () } @{ $job->{steps} // [] }),
            map { @{ $job->{$_} // [] } } qw(before_script script));
        push @steps, map { "$set sh -e -c " . quoted($_ =~ s/\n+\z//r) } @commands;
    }
    die "$file: no steps are found" if @steps < 3;
    my $all = join ' && ', map { "{ $_; }" } @steps;
    # What one run leaves must not reach the next.
    my $fresh = 'test ! -e .git || { rm -rf ../suite; git worktree remove --force ../base; }';
    my $change = 'patch -p1 < any-case.patch';
    return "{ $all; } > all.txt 2>&1 || { cat all.txt; false; }",
        "{ $fresh; $change; } > patched.txt 2>&1",
        map({
            is_gate($_)
                ? "{ $_; } > failed.txt 2>&1 && { echo 'this should fail'; false; "
                    . "}\ngrep Inventory::Item::code failed.txt perf/* > named.txt"
                    : "{ $_; } > steps.txt 2>&1";
        } @steps);
}

# Returns a parser's complaint, or undef. Perl's own accepts much as YAML; others are asked where
# installed.
sub no_yaml {
    my ($text) = @_;
    # it dies, or says no
    eval { CPAN::Meta::YAML->read_string($text) } or return $@ || CPAN::Meta::YAML->errstr;
    for my $parser (qw(YAML::PP YAML::XS)) {
        next if !eval "require $parser; 1";
        eval { $parser->can('Load')->($text); 1 } or return $@;
    }
    my @python = ('python3', '-c',
        "import sys\ntry: import yaml\nexcept ImportError: sys.exit()\ntry: "
            . "yaml.safe_load(sys.argv[1])\nexcept yaml.YAMLError as e: print(e)");
    open my $in, '-|', @python, $text or return undef;
    local $/;
    my $said = <$in> // '';
    return length $said ? $said : undef;
}

sub quoted { return "'" . ($_[0] =~ s/'/'\\''/gr) . "'" }
sub is_gate { return $_[0] =~ /\bprove\b|--fail-if/ }

# Returns the files that commands write, and those that the text of the recipe names.
sub named {
    my ($text, @commands) = @_;
    my %named = map { $_ => 1 } map { /(?:\s-o |out=|> )'?([\w.-]+)(?=[\s']|$)/g } @commands;
    $named{$_} = 1 for grep { !m{/} } $text =~ /F<([^>]+)>/g;
    delete @named{ map { /^mv (\S+)/ } @commands };
    return sort keys %named;
}

# Returns what is wrong with a file, by its name.
sub flaw {
    my ($dir, $name) = @_;
    my $text = slurp("$dir/$name") // return "$name is not there";
    return "$name is empty" if !length $text;
    my $is = $name =~ /\.svg\z/ ? $text =~ /\A<\?xml .*<svg .*<title>\(program\) .*<\/svg>\n\z/s
        : $name =~ /\.html\z/
        ? $text =~ /\A<!DOCTYPE html>.*id="dprof-data">[A-Za-z0-9+\/]{100,}={0,2}<.*<\/html>\n\z/s
        : $name =~ /\.folded\z/ ? $text =~ /\A(?:[^\n]+ \d+(?:\.\d+)?\n)+\z/
        : $name =~ /\.out\z/ ? $text =~ /\A#fOrTyTwO\n/
        : 1;
    return $is ? () : "$name is not what its name says";
}

my @recipes = recipes(slurp("$top/lib/Devel/DProf/Cookbook.pod") // die 'no cookbook');
cmp_ok(scalar @recipes, '>=', 12, 'the cookbook has twelve recipes or more');
# These are the promises of their texts.
my %says = (
    "A distribution's own t/perf.t" =>
    { 'failed.txt' => qr/^# FAIL calls > 0: Inventory::Item::code: 100 -> 10100$/m },
    'A GitHub workflow' => {
        'all.txt' =>
        qr/\A(?!.*baselines recorded.*baselines recorded).*^DProf: 2 baselines recorded/ms,
        'failed.txt' => qr{^DProf: t/stock\.t: Inventory::Item::code: calls }m,
    },
    'A GitLab job' => { 'named.txt' => qr/^perf\/junit\.xml:.*Inventory::Item::code/m,
        'perf/restock.html' => qr/^<!DOCTYPE html>/ },
    'What became slower since the last release?' => {
        'calls.txt' => qr/Inventory::Item::code/, 'times.txt' => qr/Inventory::Item::code/,
        'release.md' => qr/^\|.*Inventory::Item::code/m,
    },
    'A pair of flame graphs each night' => { 'before.svg' => qr/<title>LogReport::Stats::by_value /,
        'after.svg' => qr/<title>LogReport::Stats::percentile /,
        'night.html' => qr/^<!DOCTYPE html>/ },
    'In KCachegrind, with the source' => {
        'callgrind.out.logreport' => qr/^events: Ops Cpu Calls\n.*^calls=1500 \d+\n\d+ \d/ms },
    'Counts before and after, with cg_diff' => {
        'half.base.cachegrind' => qr/^fn=main::count\n\d+ 1500 \d+$/m,
        'half.cachegrind' => qr/^fn=main::count\n\d+ 750 \d+$/m },
    'What does my hung daemon do?' =>
    { 'stack.txt' => qr/\AProcess .* waits in main::take_lock at daemon\.pl line 6, in CORE:/ },
    'Profile production for ten seconds' =>
    { 'report.txt' => qr/ main::price$/m, 'production.svg' => qr/<title>main::price / },
    # The kernel may hand cores to a program, or put them elsewhere.
    'A core file' => { 'dead.txt' =>
        qr{\A(?:Core file .* was in main::inner at crash\.pl line 4, in .*kill\.$|\||\S*/)}m },
    # Whether it fails depends on the machine's load.
    'A canary beside the stable version' => {
        'verdict.txt' => qr/^# Power: .* self > 10%.*^ .* Shop::price$/ms,
        'pushed.txt' => qr/(?:^\d+ profiles pushed\n){2}\z/m },
    'Requests of a PSGI application' => {
        'requests.txt' => qr{\A200 /page/10\n200 /page/2000\n404 /nowhere\n\z},
        'paths.txt' => qr{^.* 2010  GET /page/N +Shop::row$}m, 'requests.svg' => qr/Shop::row/,
    },
    'Which SQL statement takes the time?' => {
        'statements.txt' =>
        qr/^sql: .*Shop::Store::total_of +SELECT sum.*^  40 times in phase all customers$/ms },
    'Which other server does it wait for?' =>
    { 'requests.txt' => qr{^.* 5 .* main::weather_of +GET http://127\.0\.0\.1:\*?\S*/city/\*$}m },
    'Statements in a loop, as a test' => {
        'tests.txt' => qr/^statements in a loop$/m,
        'repeated.txt' => qr/Failed test 'no statement in a loop'.*SELECT sum\(cents\)/s },
    'Does it leak, and what holds the values?' => {
        'tests.txt' => qr/^it leaks$/m,
        'leak.txt' =>
        qr/\A(?!.*'a cache').*2 each call, made in Node::new.*but a cycle: HASH \(Node\)/s },
    'What grows in a daemon?' => {
        'grown.txt' => qr/^main::keep .*%/m, 'lines.txt' => qr/daemon\.pl:6$/m },
    'Routes of a Mojolicious application' => {
        'page.txt' => qr{\A<p>1</p>\n.*<p>2000</p>\n\z}s,
        'routes.txt' => qr{^.* 2000  GET /page/:n +main::row$}m, 'routes.svg' => qr/main::row/,
    },
);
# Recipes for modules that are no prerequisites.
my %needs = (
    'Requests of a PSGI application' => [qw(Plack::Test HTTP::Request::Common)],
    'Routes of a Mojolicious application' => ['Mojolicious::Lite'],
    'Which SQL statement takes the time?' => ['DBD::SQLite'],
    'Statements in a loop, as a test' => ['DBD::SQLite'],
);
my $n = 0;
for my $recipe (@recipes) {
    my ($title, $text, $run, @commands) = @$recipe;
  SKIP: {
        for my $tool (qw(git patch)) {
            skip "$title: there is no $tool here", 1
                if grep({ /\b$tool / } @commands) && system("$tool --version >/dev/null 2>&1");
        }
        my @missing =
            grep { system($^X, '-e', "exit !eval 'require $_'") } @{ $needs{$title} // [] };
        if (@missing) {
            delete $says{$title};
            skip "$title: there is no @missing", 1;
        }
        my $dir = "$scratch/" . ++$n;
        system('mkdir', $dir) == 0 && system('cp', '-R', "$top/examples", $dir) == 0
            or die 'no scratch folder';
        # Writes the folder where it ends, for what comes after; its output shows where it stopped.
        # What two shells trace at the same time may be torn apart.
        my $how = grep({ /&$|[^|]\|[^|]/ } @$run) ? 'set -e' : 'set -ex';
        my $script = join '', "cd '$dir'\n$how\n", map { "$_\n" } @$run, 'set +x',
            "pwd > '$dir.end'";
        spew("$dir.sh", $script);
        my $status = system("sh '$dir.sh' </dev/null >'$dir.said' 2>&1");
        my @wrong = $status ? "ended with status $status: " . slurp("$dir.said") : ();
        chomp(my $end = slurp("$dir.end") // $dir);
        push @wrong, map { flaw($end, $_) } named($text, @commands) if !@wrong;
        my $says = delete $says{$title} // {};
        push @wrong, map { (slurp("$end/$_") // '') =~ $says->{$_} ? ()
            : "$_ does not have $says->{$_}: " . substr(slurp("$end/$_") // '', 0, 2000) } @wrong
            ? () : sort keys %$says;
        # A recipe that succeeded should print nothing else on stderr, except for prove, baselines,
        # a gate, and dproftop where the program beside it takes a second to start.
        push @wrong,
            grep { !/^\+\ |^(?:\S+\ \.\.\ ok|All\ tests\ successful\.|Files=.*|Result:\ PASS)$
                |^\#\ baseline\ \S+\ was\ written$|^dprofdiff:\ \d+\ findings\ of\ --fail-if$
                |^dproftop:\ waiting\ for\ tmon\.out$/x }
            split /^/, slurp("$dir.said");
        is(join("\n", @wrong), '', "the recipe works: $title");
    }
}

is(join(', ', sort keys %says), '', 'all promises of recipes were checked');
my $tarball = '--notest ./Devel-DProf-*.tar.gz';
is(join('', map { "$_\n" } ($tarball, '--notest --installdeps .') x 4),
    slurp("$scratch/installed") // '', 'workflows install what they need, each time');

# The checks can fail.
like(join(' ', named("F<x.svg>, F<doc/y.svg>", "dprofflame --diff -o a.svg b c",
    "perl -d:DProf=tree,out=p.out x > 't.txt'")), qr/^a\.svg p\.out t\.txt x\.svg$/,
    'the check finds names of files');
spew("$scratch/bad.svg", "<svg>\n");
spew("$scratch/bad.html", "<html>\n");
spew("$scratch/bad.folded", "a;b\n");
spew("$scratch/bad.out", "a;b 1\n");
my ($sample) =
    recipes("=head2 X\n\nText\n\n    \$ one\n\n    # t/a.t\n    use x;\n\n    \$y = 1;\n\nText\n\n "
        . "   \$ two > z.txt\n");
is(join('|', @{ $sample->[2] }),
    "one|mkdir -p t|cat > t/a.t <<'(end)'\n# t/a.t\nuse x;\n\n\$y = 1;\n(end)|two > z.txt",
    'the check finds files among commands');
ok(defined no_yaml("a:\n    b: c\n  d: e\n"), 'the check notices wrong YAML');
is(no_yaml("a:\n  - b\n"), undef, 'the check accepts right YAML');
ok(!eval { wrote('a.yml', "a:\n  steps:\n    - run: x\n"); 1 },
    'the check notices a workflow without steps');
is(scalar(map { flaw($scratch, $_) } map { "bad.$_" } qw(svg html folded out gone)), 5,
    'the check notices files of the wrong kind');
done_testing;
