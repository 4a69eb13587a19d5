package MadeUp;

# Made-up profiles: the text of a file as a recorder might have written it.
# lib/Devel/DProf/Format.pod says what the lines mean.

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(profile_text sampled_text);

# Makes the text of a profile. All of these have defaults:
#   format     trace, tree, or classic: a trace of the old recorder, which names no format
#   hz         ticks of a second
#   version    of the recorder
#   counters   as in the header, 'ops:ops misses:events'
#   times      [user, system, real], the run's own; undef: the recording did not come to its end
#   complete   the header says that nothing is missing
#   header     further lines of the header, as they are to stand there
#   subs       ['main f x.pm:1', ...], numbered from 1
#   lines      [marks or contexts], or a text of them
sub profile_text {
    my %how = (format => 'trace', hz => 100, times => [0, 0, 0], header => '', subs => [],
        lines => [], @_);
    my @header = ('#fOrTyTwO', "\$hz=$how{hz};");
    push @header, "\$XS_VERSION='$how{version}';" if defined $how{version};
    push @header, "\$dprof_format='$how{format} 1';" if $how{format} ne 'classic';
    push @header, "\$dprof_counters='$how{counters}';" if defined $how{counters};
    push @header, $how{header} =~ s/\n\z//r if length $how{header};
    push @header, sprintf '$rrun_utime=%s; $rrun_stime=%s; $rrun_rtime=%s;', @{ $how{times} }
        if $how{times};
    push @header, '$dprof_complete=1;' if $how{complete};
    my $n = 0;
    my @subs = map { sprintf '& %x %s', ++$n, $_ } @{ $how{subs} };
    my $lines = ref $how{lines} ? join('', map { "$_\n" } @{ $how{lines} }) : $how{lines};
    my $part = $how{format} eq 'tree' ? 'PART3' : 'PART2';
    return join('', map { "$_\n" } @header, '', $part, @subs) . $lines;
}

# Makes the text of a profile with RATE samples a second. %subs: [samples, ticks of a millionth of a
# second] by sub. The subs are called by A::caller, which has no time of its own.
sub sampled_text {
    my ($rate, %subs) = @_;
    my ($n, @names, @contexts) = (1, 'A caller a.pl:1');
    for my $sub (sort keys %subs) {
        my ($samples, $ticks) = @{ $subs{$sub} };
        push @names, "A $sub a.pl:" . ++$n;
        push @contexts, sprintf '= 2 %x 0 %d 0 %d 0 0 %d', $n, $ticks, $ticks, $samples;
    }
    my $header = join "\n", q{$dprof_unit='s';}, q{$dprof_hash_seed='0'; $dprof_perturb_keys='0';},
        "\$dprof_options='mode=tree,sample=$rate,slice=0';";
    return profile_text(format => 'tree', hz => 1_000_000, header => $header,
        counters => 'samples:samples', times => [1, 0, 1], complete => 1, subs => \@names,
        lines => ['= 0 0 0 0 0 0 0 0 0', '= 1 1 0 0 0 0 0 0 0', @contexts]);
}

1;
