#!/usr/bin/perl
# Says which changed lines look otherwise than .clang-format and .perltidyrc would have them.
#
#   perl xt/style.pl [COMMIT]       lines that are not in COMMIT (HEAD if not given)
#   perl xt/style.pl --all FILE ... all lines of these files
#
# It compares what stands between the tokens of a line. Where lines are broken, and in which columns
# comments and tables stand, is the author's choice. Needs clang-format and perltidy (Debian's
# packages have these names). Exit status 1 where a line differs.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use File::Temp ();

exit main(@ARGV) if !caller;

sub main {
    my @args = @_;
    my $all = @args && $args[0] eq '--all' ? shift @args : '';
    my $changed = $all ? { map { $_ => undef } @args } : changed($args[0] // 'HEAD');
    my @found;
    for my $file (sort keys %$changed) {
        my $formatted = formatted($file) // next;
        push @found, differences($file, content($file), $formatted, $changed->{$file});
    }
    print map { "$_\n" } @found;
    return @found ? 1 : 0;
}

# Returns, by file, the numbers of the lines that are not in a commit.
sub changed {
    my ($commit) = @_;
    my (%lines, $file);
    open(my $git, '-|', qw(git diff -U0 --no-color --no-prefix --diff-filter=d), $commit, '--')
        or die "git: $!\n";
    while (my $line = <$git>) {
        $file = $1 if $line =~ m{^\+\+\+ (.*?)\t?\n};
        next if $line !~ /^\@\@ -\S+ \+(\d+)(?:,(\d+))? /;
        @{ $lines{$file} }{ $1 .. $1 + ($2 // 1) - 1 } = ();
    }
    close $git or die "git diff $commit failed\n";
    return \%lines;
}

# Returns a file as its formatter writes it; undef if it has none, or cannot read the file.
sub formatted {
    my ($file) = @_;
    return undef if $file !~ m{\.[ch]\z|\.(?:pl|pm|t|PL)\z};
    my @command = $file =~ /[ch]\z/ ? ('clang-format', $file)
        : ('perltidy', '-st', '-se', '-pro=.perltidyrc', $file);
    open(my $out, '-|', @command) or die "$command[0]: $!: install it\n";
    local $/;
    my $text = <$out>;
    return close $out ? $text : undef;
}

# Returns what is in a text between its tokens, token by token: each with the number of its line,
# and whether a blank stands behind it. A line's end is as good as a blank, or as none.
sub tokens {
    my ($text) = @_;
    my ($n, @tokens) = (1);
    while ($text =~ /\G(?:(\w+|[^\w\s])([ \t]*(\n)?)|(\s))/g) {
        my ($token, $behind, $end, $blank) = ($1, $2, $3, $4);
        push @tokens, [$token, $n, defined $end ? 'end' : $behind eq '' ? '' : ' ']
            if defined $token;
        $n++ if defined $end || ($blank // '') eq "\n";
    }
    return @tokens;
}

# Returns a message for each line that has a blank too many, or one too few.
sub differences {
    my ($file, $text, $formatted, $lines) = @_;
    my @is = tokens($text);
    my @wanted = tokens($formatted);
    my (@found, %seen);
    for my $i (0 .. ($#is < $#wanted ? $#is : $#wanted)) {
        my ($token, $n, $behind) = @{ $is[$i] };
        last if $token ne $wanted[$i][0];       # the formatter has changed more than blanks
        next if $behind eq $wanted[$i][2] || $behind eq 'end' || $wanted[$i][2] eq 'end';
        next if $token eq '[' || $is[$i + 1][0] eq ']';     # [ row => of, a => table ], [x]
        # To clang-format, the & behind this macro is an operator between two values.
        next if ($i ? $is[$i - 1][0] : '') eq 'aTHX_' || $token eq 'aTHX_';
        next if $lines && !exists $lines->{$n} || $seen{$n}++;
        push @found, sprintf "%s line %d: %s blank behind `%s', before `%s'", $file, $n,
            $behind ? 'no' : 'a', $token, $is[$i + 1][0] // '';
    }
    return @found;
}

1;
