#!/usr/bin/perl
# What the modules load, and what they say they are. Versions agree, prerequisites are declared,
# and the module that -d:DProf loads brings XSLoader and nothing else into the program.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use ExtUtils::MakeMaker ();
use File::Copy ();
use File::Path ();
use File::Temp ();
use JSON::PP ();
use Test::More;

# Names of modules that a piece of Perl loads with use or require; pragmas and versions are not
# modules.
sub loads {
    my ($code) = @_;
    my %loads;
    for my $line (split /\n/, strip_pod($code)) {
        next unless $line
            =~ /^\s*(?:[^'"#]*?[{;(]\s*|[^'"#\/]*?\s)?(?:use|require)\s+([A-Za-z]\w*(?:::\w+)*)\b/;
        $loads{$1} = 1;
        if ($1 eq 'parent' || $1 eq 'base') {
            $loads{$_} = 1 for $line =~ /([A-Z]\w*(?:::\w+)+)/g;
        }
    }
    return sort keys %loads;
}

# Config belongs to perl itself, and to no distribution.
sub is_pragma { return $_[0] eq 'Config' || $_[0] =~ /^[a-z]/ && $_[0] !~ /^threads/ }

my @files = tracked();
my @modules = grep { m{^lib/.*\.pm$} } @files;

# Versions.
my $version = MM->parse_version('lib/Devel/DProf.pm');
like($version, qr/^20\d\d[01]\d[0-3]\d\.\d\d$/, "the version is a date: $version");
cmp_ok($version, '>', 20110802, 'the version is later than that of the classic releases');
my ($newest) = content('Changes') =~ /^(\d\S*)/m;
is($newest, $version, 'Changes begins with the version');
for my $module (@modules) {
    # A module without a version, or with that of the core, agrees.
    next unless strip_pod(content($module)) =~ /^\s*our\s+\$VERSION\s*=\s*'/m;
    is(MM->parse_version($module), $version, "$module has the version");
}
like(content('lib/Devel/DProf/Format.pod'), qr/XS_VERSION='DProf \Q$version\E'/,
    'Format.pod names the version');

# DProf.pm: read, and loaded.
is(join(' ', loads(content('lib/Devel/DProf.pm'))), 'XSLoader',
    'lib/Devel/DProf.pm loads XSLoader and nothing else');
SKIP: {
    # As when installed, Perl and C are in one folder: with the two of blib, XSLoader takes a
    # detour.
    my @so = glob 'blib/arch/auto/Devel/DProf/DProf.*';
    skip 'not built', 1 unless @so;
    my $dir = File::Temp->newdir;
    File::Path::make_path("$dir/auto/Devel/DProf", "$dir/Devel");
    File::Copy::copy($_, "$dir/auto/Devel/DProf") or die "$_: $!" for @so;
    File::Copy::copy('blib/lib/Devel/DProf.pm', "$dir/Devel") or die $!;
    local $ENV{PERL_DPROF_OUT_FILE_NAME} = "$dir/tmon.out";
    local @ENV{qw(PERL5OPT PERL5LIB)} = ('', '');
    my $inc = sub {
        open(my $fh, '-|', $^X, "-I$dir", @_, '-e', 'print join " ", sort keys %INC') or die $!;
        return <$fh> // '';
    };
    # In some perls XSLoader itself loads strict.
    my @with_xsloader = split ' ', $inc->('-MXSLoader');
    is($inc->('-d:DProf'), join(' ', sort 'Devel/DProf.pm', @with_xsloader),
        '%INC of a profiled program has XSLoader alone');
}

# No tool starts the profiler: only -d:DProf loads Devel/DProf.pm.
for my $file (grep { $_ ne 'lib/Devel/DProf.pm' } @modules, grep { m{^bin/} } @files) {
    ok(!grep({ $_ eq 'Devel::DProf' } loads(content($file))), "$file does not load the profiler");
}

# Prerequisites. MYMETA.json is what Makefile.PL declares.
SKIP: {
    skip 'perl Makefile.PL first', 1 unless -e 'MYMETA.json';
    my $prereqs = JSON::PP::decode_json(content('MYMETA.json'))->{prereqs};
    my $parents = 'Devel|Test|App::Prove::Plugin|Mojolicious::Plugin|Plack::Middleware';
    my $own = qr/^(?:$parents)::DProf\b/;
    my %declared = map { $_ => { map { %{ $_ // {} } } @{ $prereqs->{$_}
        // {} }{qw(requires recommends suggests)} } }
        qw(configure build runtime test);
    my $missing = sub {
        my ($phases, @of) = @_;
        my %have = map { %{ $declared{$_} } } @$phases;
        my @bad;
        for my $file (@of) {
            push @bad, map { "$file: $_" }
                grep { !is_pragma($_) && !exists $have{$_}
                    && !/$own/ }
                loads(content($file));
        }
        return join "\n", @bad;
    };
    is($missing->(['runtime'], @modules, grep { m{^bin/} } @files), '',
        'all modules that lib/ and bin/ load are declared');
    # A test may load perl's own modules, and those that are declared.
    my %core = do { require Module::CoreList; %{ Module::CoreList::find_version('5.026000') } };
    my $undeclared = join "\n", grep {
        my ($m) = /: (\S+)$/;
        !exists $core{$m} && !-e 't/lib/' . ($m =~ s{::}{/}gr) . '.pm'
    }
        split /\n/, $missing->([qw(runtime test)], grep { m{^t/[^/]+\.t$} } @files);
    is($undeclared, '', 'all modules that t/ loads are in perl 5.26, or declared');
}

is(join(' ',
    loads("use strict;\n  require Foo::Bar;\nuse Baz 1.2 'x';\n# use Not;\n=head1 X\n\nuse "
        . "Pod;\n\n=cut\n\nuse parent 'A::B';\n")),
    'A::B Baz Foo::Bar parent strict', 'the check reads use and require');
is(join(' ',
    loads("eval { require Inner; 1 };\nprint 'to use Things';\nlike(\$x, qr/^X: to use "
        . "Things/);\n__END__\nuse Late;\n")), 'Inner',
            'the check reads no modules in strings or after __END__');
done_testing;
