package Devel::DProf::Tool;

# What the command line tools share: messages, progress, and where files are.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Profile;

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(OK FAILED USAGE complain bytes place progress end_progress told_of);

use constant { OK => 0, FAILED => 1, USAGE => 2 };

sub complain { print STDERR Devel::DProf::Profile::escape(bytes($_[0])), "\n" }

sub bytes {
    my ($text) = @_;
    utf8::encode($text) if utf8::is_utf8($text);
    return $text;
}

sub place {
    my ($o) = @_;
    return $o->{line} ? " (line $o->{line}, byte $o->{byte})" : '';
}

# Called now and then while a file is read; speaks to terminals only, and not
# before it has taken a second.
my $progress_shown;

sub progress {
    my ($path) = @_;
    return undef if !-t STDERR;
    my $name = Devel::DProf::Profile::escape($path);
    my $start = time;
    return sub {
        my ($done, $total) = @_;
        return if time - $start < 2;
        $progress_shown = 1;
        print STDERR "\r$name: ", $total ? int(100 * $done / $total) . ' %' : int($done / 1e6) . ' MB';
    };
}

sub end_progress {
    print STDERR "\r\e[K" if $progress_shown;
    $progress_shown = 0;
}

# What all tools say of an outcome other than 0. Returns what became of the file:
# 'cut' (short: what is there counts), 'none' (there is nothing), 'bad'.
sub told_of {
    my ($o, $quiet) = @_;
    my ($path, $code) = @$o{qw(path code)};
    if ($code == Devel::DProf::Profile::TRUNCATED) {
        my $calls = $o->{open_count} == 1 ? '1 call' : "$o->{open_count} calls";
        complain("$path: profile cut short: $o->{message}" . place($o)
            . ($o->{open_count} ? "; $calls had not ended" : '')) if !$quiet;
        return 'cut';
    }
    if ($code == Devel::DProf::Profile::CANNOT_READ && $o->{errno}) {
        local $! = $o->{errno};
        complain("Unable to open $path: $!");
        return 'none';
    }
    if ($code == Devel::DProf::Profile::NOTPROFILE) {
        complain("Not a perl profile: $path" . ($o->{message} =~ /empty/ ? ' (it is empty)' : ''));
        return 'none';
    }
    if ($o->{message} =~ /^(?:Garbled|Bad) profile/) {     # the classic words stay in front
        complain("$o->{message} ($path, line $o->{line}, byte $o->{byte})");
    } else {
        complain("$path: $o->{message}" . place($o));
    }
    my ($first, @more) = @{ $o->{faults} };
    complain("$path: $_->{message}" . place($_)) for @more;
    my $rest = $o->{fault_count} - @{ $o->{faults} };
    complain("$path: ... and $rest more lines that cannot be read") if $rest;
    return 'bad';
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool - what the command line tools share

=head1 DESCRIPTION

Messages and progress. Not meant for anybody else.

=cut
