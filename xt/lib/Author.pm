package Author;
# Shared by the author's checks: the list of files, and their contents.
use strict;
use warnings;
use Cwd ();
use Exporter 'import';
use File::Basename ();

our @EXPORT = qw(tracked content is_binary shipped strip_c strip_pod);

# All checks run at the top of the distribution.
my $top = Cwd::abs_path(File::Basename::dirname(__FILE__) . '/../..');
chdir $top or die "$top: $!\n";

# Returns the existing files under version control, sorted. New files count before their commit:
# only what .gitignore names does not.
sub tracked {
    -e '.git' or die "the author's checks need the git repository, not a distribution of it\n";
    open(my $git, '-|',
        qw(git -c safe.directory=* ls-files -z --cached --others --exclude-standard))
            or die "git: $!\n";
    local $/ = "\0";
    chomp(my @files = <$git>);
    close $git or die "git ls-files failed\n";
    my %seen;
    my @there = sort grep { -f && !$seen{$_}++ } @files;
    @there > 10 or die "git ls-files names hardly any files\n";
    return @there;
}

sub shipped {
    require ExtUtils::Manifest;
    # maniskip takes $1 of the caller's last match for a pattern where a line of MANIFEST.SKIP is a
    # comment.
    '' =~ /\A/;
    my $skip = ExtUtils::Manifest::maniskip();
    return grep { !$skip->($_) } tracked();
}

sub content {
    my ($file) = @_;
    open(my $fh, '<:raw', $file) or die "$file: $!\n";
    local $/;
    return scalar(<$fh>) // '';
}

sub is_binary { return $_[0] =~ /\0/ || substr($_[0], 0, 2) eq "\x1f\x8b" }

# Removes comments and the contents of strings from C; lines keep their numbers.
sub strip_c {
    my ($text) = @_;
    $text =~ s{(/\*.*?\*/)|(//[^\n]*)|("(?:[^"\\\n]|\\.)*")|('(?:[^'\\\n]|\\.)*')}
              {defined $1 ? ' ' . "\n" x ($1 =~ tr/\n//)
                  : defined $2 ? '' : defined $3 ? '""' : "' '"}gse;
    return $text;
}

# Removes POD and what follows __END__ from Perl.
sub strip_pod {
    my ($text) = @_;
    $text =~ s/^__(?:END|DATA)__\n.*//ms;
    $text =~ s/^=[a-zA-Z].*?(?:^=cut\b[^\n]*\n|\z)//msg;
    return $text;
}

1;
