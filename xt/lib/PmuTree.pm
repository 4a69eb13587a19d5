package PmuTree;
# Reads event lists in Perl, in the plainest way, to compare with the output of jevents. It shares
# no code with that: JSON is cut into tokens by regexes, and an event is what the order of its keys
# says.
use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = qw(architectures read_tree @fields);
our @fields =
    qw(name event desc compat topic long_desc pmu unit perpkg aggr_mode metric_expr metric_name
        metric_group deprecated metric_constraint);

sub content {
    my ($file) = @_;
    open(my $in, '<:raw', $file) or die "$file: $!\n";
    local $/;
    return scalar <$in>;
}

sub names {
    my ($dir) = @_;
    opendir(my $dh, $dir) or die "$dir: $!\n";
    return sort grep { !/^\./ } readdir $dh;
}

# Returns the directories that have a mapfile.
sub architectures { my ($top) = @_; return grep { -f "$top/$_/mapfile.csv" } names($top) }

# Returns { files => number of lists, rows => [[cpuid, version, type, dir] ...], tables => { dir =>
# [event ...] } }.
sub read_tree {
    my ($dir) = @_;
    my %tree = (files => 0, rows => rows("$dir/mapfile.csv"), tables => {});
    my %std;
    for my $name (grep { -f "$dir/$_" && /\.json$/ } names($dir)) {
        $tree{files}++;
        $std{ $_->{name} } //= $_ for map { event($_, {}) } objects("$dir/$name");
    }
    my @todo = grep { -d "$dir/$_" } names($dir);
    while (defined(my $sub = shift @todo)) {
        my @inside = names("$dir/$sub");
        if (my @deeper = grep { -d "$dir/$sub/$_" } @inside) {
            push @todo, map { "$sub/$_" } @deeper;
            next;
        }
        my @events;
        for my $name (grep { /\.json$/ } @inside) {
            $tree{files}++;
            (my $topic = $name) =~ s/\..*//s;
            $topic =~ tr/-/ /;
            push @events, map {
                my $e = event($_, \%std);
                $e->{topic} = $topic;
                $e
            } objects("$dir/$sub/$name");
        }
        $tree{tables}{$sub} = \@events;
    }
    return \%tree;
}

sub rows {
    my ($file) = @_;
    my (undef, @lines) = split /\n/, content($file);
    my @rows;
    for (@lines) {
        next if /^#/ || !/\S/;
        my ($cpuid, $version, $sub, $type) = split /,/;
        push @rows, [ $cpuid, $version, $type, $sub ];
    }
    return \@rows;
}

# Returns each object as a list of keys and values.
sub objects {
    my ($file) = @_;
    my $text = content($file);
    my (@objects, $open);
    pos($text) = 0;
    until ($text =~ /\G[\s,:]*\z/gc) {
        if ($text =~ /\G[\s,:]*"((?:[^"\\]|\\.)*)"/gcs) { push @$open, string($1) }
        elsif ($text =~ /\G[\s,:]*\{/gc) { $open = [] }
        elsif ($text =~ /\G[\s,:]*\}/gc) { push @objects, $open }
        elsif ($text =~ /\G[\s,:]*[\[\]]/gc) { }
        else { die "$file: not understood at byte " . pos($text) . "\n" }
    }
    return @objects;
}

sub string {
    my ($raw) = @_;
    $raw =~ s/ *[\t\r\n][ \t\r\n]*/ /g;
    my %letter = (n => "\n", t => "\t", r => "\r", b => "\b", f => "\f");
    $raw =~ s{\\(?:u([0-9a-fA-F]{4})|(.))}{
        if (defined $1) { my $c = chr hex $1; utf8::encode($c); $c }
        else { $letter{$2} // $2 }
    }ge;
    return $raw;
}

my %term = (umask => 'umask', countermask => 'cmask', invert => 'inv', anythread => 'any',
    edgedetect => 'edge', sampleaftervalue => 'period', fcmask => 'fc_mask', portmask => 'ch_mask');
my %copied = (compat => 'compat', scaleunit => 'unit', perpkg => 'perpkg',
    metricexpr => 'metric_expr', metricname => 'metric_name', metricgroup => 'metric_group',
    deprecated => 'deprecated', metricconstraint => 'metric_constraint', eventname => 'name');
my %pmu = (
    'cbo' => 'uncore_cbox', 'qpi ll' => 'uncore_qpi', 'sbo' => 'uncore_sbox',
    'imph-u' => 'uncore_arb', 'upi ll' => 'uncore_upi', 'cpu-m-cf' => 'cpum_cf',
    'cpu-m-sf' => 'cpum_sf',
    'pai-crypto' => 'pai_crypto', 'l3pmc' => 'amd_l3', 'dfpmc' => 'amd_df',
    map { ($_ => $_) } 'hisi_sicl,cpa', 'hisi_sccl,ddrc', 'hisi_sccl,hha', 'hisi_sccl,l3c',
    'imx8_ddr', 'cpu_core', 'cpu_atom',
);
my %msr = (0x3f6 => 'ldlat', 0x1a6 => 'offcore_rsp', 0x1a7 => 'offcore_rsp', 0x3f7 => 'frontend');
my %clocks = map { ("cpu_clk_unhalted.$_" => 'event=0x3c,period=2000003') } qw(thread core);
my %fixed = (%clocks, 'inst_retired.any' => 'event=0xc0,period=2000003',
    'inst_retired.any_p' => 'event=0xc0,period=2000003',
    'cpu_clk_unhalted.ref' => 'event=0x0,umask=0x03,period=2000003',
    'cpu_clk_unhalted.thread_any' => 'event=0x3c,any=1,period=2000003');

sub number {
    my ($text) = @_;
    my ($digits) = $text =~ /^(0x[0-9a-f]+|[0-9]+)/i or return 0;
    return $digits =~ /^0/ ? oct $digits : $digits;
}
sub undotted { my ($text) = @_; return $text =~ s/\.\s*\z//r }

sub event {
    my ($pairs, $std) = @_;
    my (%e, @terms, @notes, %last, $code);
    for (my $i = 0; $i < @$pairs; $i += 2) {
        my ($key, $value) = (lc $pairs->[$i], $pairs->[ $i + 1 ]);
        $last{$key} = $value;
        push @terms, "$term{$key}=" . ($value =~ s/,.*//r) if $term{$key} && $value ne '0';
        $e{ $copied{$key} } = $value if $copied{$key};
        $code |= number($value) if $key eq 'eventcode';
        $code |= number($value) << 21 if $key eq 'extsel';
        $e{desc} = undotted(($e{desc} // '') . $value) if $key eq 'briefdescription';
        $e{long_desc} = undotted($value) if $key eq 'publicdescription';
        push @notes, " Spec update: $value" if $key eq 'errata' && $value ne 'null';
        push @notes, ' Supports address when precise' if $key eq 'data_la' && $value ne '0';
        if ($key eq 'unit') {
            $e{pmu} = $pmu{ lc $value } // 'uncore_' . lc $value;
            $e{desc} = join '. ', grep({ length } $e{desc} // ''), "Unit: $e{pmu} ";
        }
    }
    my $notes = join '. ', @notes;
    if (($last{pebs} // '0') ne '0' && defined $e{desc} && $e{desc} !~ /\(Precise Event\)/) {
        my $word = $last{pebs} eq '2' ? '(Must be precise)' : '(Precise event)';
        $notes = length $notes ? "$notes $word" : $word;
    }
    for (grep { defined && length $notes } @e{qw(desc long_desc)}) { $_ = length
        ? "$_ $notes" : $notes }
    push @terms, exists $last{configcode} ? 'config=' . hexadecimal(number($last{configcode}))
        : 'event=' . hexadecimal($code // 0);
    push @terms, $last{filter} if length($last{filter} // '');
    my $msr = $msr{ number($last{msrindex} // 0) };
    push @terms, "$msr=$last{msrvalue}" if $msr;
    $e{name} = lc $e{name} if defined $e{name};
    $e{event} = join ',', @terms;
    $e{aggr_mode} = { PerChip => 1, PerCore => 2 }->{ $last{aggregationmode} }
        if exists $last{aggregationmode};
    delete @e{ grep { !length($e{$_} // '') } keys %e };
    if (defined(my $name = $last{archstdevent})) {
        my $standard = $std->{ lc $name } or die "no standard event $name\n";
        %e = (%$standard, %e, event => $standard->{event});
    }
    if (defined $e{name}) { $e{event} = $fixed{ $e{name} } // $e{event} }
    else { delete $e{event} }
    return \%e;
}

sub hexadecimal { my ($n) = @_; return $n ? sprintf '0x%x', $n : '0' }

1;
