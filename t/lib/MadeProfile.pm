# Profiles that are made by hand: traces with subs, XS subs, spans and phases, whose numbers the
# test knows.
package MadeProfile;
use strict;
use warnings;
use Carp qw(croak);

use constant PER_MS => 10_000;          # ticks of 100 ns

# Writes a trace to a file and returns the file's name. The function gets an object with the methods
# below, and describes the program.
sub trace {
    my ($class, $file, $program, %header) = @_;
    my $self = bless { body => '', wait => 0, marks => 0, real => 0, id => {}, end => '' }, $class;
    $program->($self);
    $self->_time;
    my $time = $self->{real};
    my $hz = delete $header{hz} // 1000 * PER_MS;
    my $head = join '', map { "\$$_='$header{$_}';\n" } sort keys %header;
    open my $out, '>:raw', $file or croak "$file: $!";
    print {$out} "#fOrTyTwO\n\$hz=$hz;\n\$XS_VERSION='DProf 20261120.00';\n",
        "# All values are given in HZ\n\$over_utime=0; \$over_stime=0; \$over_rtime=0;\n",
        "\$over_tests=10000;\n\$dprof_format='trace 1';\n$head\$dprof_end=1;\n",
        "\$rrun_utime=$time; \$rrun_stime=0; \$rrun_rtime=$time; \$total_marks=$self->{marks};\n",
        "\$dprof_complete=1;\n\nPART2\n$self->{body}$self->{end}",
        "# end marks=$self->{marks} user=$time system=0 real=$time\n" or croak "$file: $!";
    close $out or croak "$file: $!";
    return $file;
}

# ---- names ----

sub _field {
    my $text = shift;
    utf8::encode($text) if utf8::is_utf8($text);
    return length $text ? $text =~ s/([\x00-\x20\x7f%])/sprintf '%%%02X', ord $1/ger : '%';
}

sub _name {
    my ($self, $label, $package, $name, $place, $more) = @_;
    my $id = $self->{id}{$label} = sprintf '%x', 1 + keys %{ $self->{id} };
    my @fields = (_field($package), _field($name), $place // '-', $more // ());
    $self->{body} .= "& $id @fields\n";
    return;
}

# A sub, PACKAGE::NAME.
sub sub {
    my ($self, $full, $place, $more) = @_;
    my ($package, $name) = $full =~ /^(.*)::(.*)$/s;
    return $self->_name($full, $package, $name, $place // "$package.pm:1", $more);
}

sub xs { return $_[0]->sub($_[1], '-', 'kind=xs') }

# A span, which calls name KIND:TEXT.
sub span {
    my ($self, $kind, $text, $place) = @_;
    return $self->_name("$kind:$text", $kind, $text, $place, 'kind=span');
}

# ---- what the program did ----

sub _time {
    my $self = shift;
    $self->{body} .= "\@ $self->{wait} 0 $self->{wait}\n" if $self->{wait};
    $self->{real} += $self->{wait};
    $self->{wait} = 0;
    return;
}

sub _mark {
    my ($self, $mark, $label) = @_;
    my $id = $self->{id}{$label} // croak "no name $label";
    $self->_time;
    $self->{body} .= "$mark $id\n";
    $self->{marks}++ if $mark ne '# phase';
    return;
}

# So many ms pass.
sub wait {
    my ($self, $ms) = @_;
    $self->{wait} += $ms * PER_MS;
    return;
}

# Calls a sub or a span, which takes so many ms itself before what it does.
sub call {
    my ($self, $label, $ms, $inside) = @_;
    $self->_mark('+', $label);
    $self->wait($ms);
    $inside->() if $inside;
    $self->_mark('-', $label);
    return;
}

# A phase begins.
sub phase {
    my ($self, $name) = @_;
    $self->_name("($name)", '', $name, '-', 'kind=phase') if !$self->{id}{"($name)"};
    $self->_mark('# phase', "($name)");
    return;
}

# A span's statement has given so many rows.
sub rows {
    my ($self, $label, $rows) = @_;
    $self->{end} .= "#s $self->{id}{$label} rows=$rows\n";
    return;
}

# A line about the requests of a server.
sub requests {
    my ($self, $name, $seen, $kept, $ms) = @_;
    my $ns = $ms * 1_000_000;
    $self->{end} .= '#r ' . _field($name) . " seen=$seen kept=$kept ns=$ns longest=$ns 100:$seen\n";
    return;
}

1;
