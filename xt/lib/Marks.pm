package Marks;

# perl -MMarks=FILE -c SOURCE tells on which lines of SOURCE perl has removed marks of statements
# (nextstate), by perl's own ops. Prints LINE BLOCKS CONDITIONS: the number of statements that were
# alone in their blocks, and of conditions of elsif.

use strict;
use warnings;
use B ();

my (%block, %condition, %seen, $to);

sub import {
    $to = $_[1];
    B::save_BEGINs();
}

CHECK {
    # Everything compiled so far is in place now: subs, blocks, the program itself.
    my $file = $0;
    for my $av (B::begin_av(), B::check_av(), B::init_av(), B::end_av()) {
        visit($_) for $av->isa('B::AV') ? $av->ARRAY : ();
    }
    walk(B::main_root(), '', '');
    visit(B::main_cv());
    stash('main::');
    open my $out, '>', $to or die "$to: $!\n";
    for my $at (sort keys %{ { %block, %condition } }) {
        my ($line) = $at =~ /\A\Q$file\E:([0-9]+)\z/ or next;
        print $out join(' ', $line, map { $_->{$at} // 0 } \%block, \%condition), "\n";
    }
    close $out or die "$to: $!\n";
}

sub stash {
    my ($name) = @_;
    no strict 'refs';
    return if $seen{$name}++;
    for my $key (keys %$name) {
        if ($key =~ /::\z/) {
            stash($name . $key) if $key ne 'main::';
            next;
        }
        my $glob = \$name->{$key};
        my $code = ref $glob eq 'GLOB' ? *{$glob}{CODE}
            : ref $name->{$key} eq 'CODE' ? $name->{$key} : undef;
        visit(B::svref_2object($code)) if $code;
    }
}

sub visit {
    my ($cv) = @_;
    return if !$cv->isa('B::CV') || $seen{$$cv}++;
    walk($cv->ROOT, '', '') if ${ $cv->ROOT };
    my $list = $cv->PADLIST;
    return if !$list->can('MAX') || $list->MAX < 1;
    my $pad = $list->ARRAYelt(1);
    visit($_) for grep { $_->isa('B::CV') } $pad->isa('B::AV') ? $pad->ARRAY : ();
}

# The file of a removed mark is lost; it is that of the mark before. parent: name of the op above.
sub walk {
    my ($op, $file, $parent) = @_;
    for (; $$op; $op = $op->sibling) {
        if ($op->isa('B::COP')) {
            my $is_removed = $op->name eq 'null';
            $file = $op->file if !$is_removed;
            my $kind = $parent eq 'lineseq' ? \%condition : \%block;
            $kind->{ $file . ':' . $op->line }++ if $is_removed;
        }
        my $name = $op->name eq 'null' ? substr(B::ppname($op->targ), 3) : $op->name;
        $file = walk($op->first, $file, $name) if $op->can('first') && ${ $op->first };
        walk($op->pmreplroot, $file, $name)
            if $op->isa('B::PMOP') && $op->name eq 'subst' && ref $op->pmreplroot
            && $op->pmreplroot->isa('B::OP') && ${ $op->pmreplroot };
    }
    return $file;
}

1;
