package PhaseReader;

# Reads which phase has which calls.

use strict;
use warnings;
use Devel::DProf::Profile;
use DProfTest ();

# Returns whether a program could load this module.
sub has {
    my ($module) = @_;
    return !DProfTest::run_perl(['-e', "require $module"])->{raw};
}

# Returns the lines of the merged tree.
sub tree_of {
    my (@files) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->detail;
    $profile->phases;
    $profile->add($_) for @files;
    open my $to, '>', \my $text or die "memory: $!";
    $profile->write_tree($to, 'test');
    close $to;
    return split /\n/, $text;
}

# Calls the code with depth, name, calls and whether it is a phase, for each node of the files'
# merged tree.
sub each_node {
    my ($files, $code) = @_;
    my (%name, %is_phase);
    for (tree_of(@$files)) {
        if (/^& (\w+) (\S+) (\S+) \S+(.*)/) {
            my ($id, $package, $sub, $more) = ($1, $2, $3, $4);
            $is_phase{$id} = $more =~ / kind=phase/;
            my $name = $is_phase{$id} ? $sub : $package . ($more =~ / kind=span/ ? ':' : '::')
                . $sub;
            $name{$id} = $name =~ s/%([0-9A-F]{2})/chr hex $1/ger;
        } elsif (/^= (\d+) (\w+) (\d+)/ && $1) {
            $code->($1, $name{$2}, $3, $is_phase{$2});
        }
    }
    return;
}

# Returns the calls of files by `PHASE SUB`, of the named subs that the pattern matches.
sub calls {
    my ($files, $pattern) = @_;
    my ($phase, %calls);
    each_node(ref $files ? $files : [$files], sub {
        my ($depth, $name, $calls, $is_phase) = @_;
        if ($is_phase) { $phase = $name }
        elsif ($calls && $name =~ $pattern && $name !~ /::(?:BEGIN|__ANON__)\z/) {
            $calls{"$phase $name"} += $calls;
        }
    });
    return \%calls;
}

# Returns how often each phase has begun.
sub begun {
    my (@files) = @_;
    my %begun;
    each_node(\@files, sub { my (undef, $name, $calls, $is_phase) = @_;
        $begun{$name} += $calls if $is_phase });
    return \%begun;
}

1;
