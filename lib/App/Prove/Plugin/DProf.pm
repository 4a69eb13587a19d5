package App::Prove::Plugin::DProf;

# prove -PDProf: all tests under the profiler, one summary, baselines.

use strict;
use warnings;

use Config;
use Cwd ();
use File::Path ();
use File::Spec;
use File::Temp ();
use Devel::DProf::Record;
use Devel::DProf::Suite;
use Devel::DProf::Tool qw(bytes);

our $VERSION = $Devel::DProf::Core::VERSION;

sub import { }      # prove hands it the options, too

# Called by prove before any test runs.
sub load {
    my ($class, $prove) = @_;
    my $app = $prove->{app_prove};
    my $before = $app->{+__PACKAGE__};
    # .proverc and the command line may both have it
    my %opt = (%{ $before ? $before->{opt} : {} }, %{ Devel::DProf::Suite->options(@{ $prove->{args} || [] }) });
    my $suite = Devel::DProf::Suite->new(%opt);
    my $self = bless { opt => \%opt, suite => $suite, jobs => [], of_job => {} }, $class;
    $self->prepare;
    $app->{+__PACKAGE__} = $self;
    return 1 if $before;
    # one that App::Prove runs its tests with is a class of its own, so that other plugins' stay what they are
    my $subclass = "$class\::Prove" . ++our $Apps;
    my $parent = ref $app;
    my $run = $app->can('_runtests') or die "DProf: this prove is not known to the plugin\n";
    no strict 'refs';
    @{"${subclass}::ISA"} = $parent;
    *{"${subclass}::_runtests"} = sub {
        my ($prove_app, @how) = @_;
        return $prove_app->{+__PACKAGE__}->run($prove_app, $run, @how);
    };
    bless $app, $subclass;
    return 1;
}

# ---- the environment of the tests ----

# The folder that all goes to, where perl finds the module, and whether that works. Dies with what is wrong.
sub prepare {
    my ($self) = @_;
    my $was = $ENV{PERL5OPT} // '';
    die "DProf: PERL5OPT has `$1' already; only one of them can watch a program\n" if $was =~ /(?:^|\s)(-d\S*)/;
    my ($temp) = grep { defined && -w $_ && plain($_) } File::Spec->rel2abs(File::Spec->tmpdir), '/tmp'
        or die "DProf: no folder for temporary files has a name that fits in PERL5OPT\n";
    $self->{dir} = File::Temp->newdir('dprof-prove-XXXXXX', DIR => $temp);
    my @inc = $self->include;
    my $events = $self->{suite}{events};
    $self->{perl5opt} = sub {
        my ($dir, $alone) = @_;
        return join ' ', grep { length } $alone ? () : $was, @inc, "-d:DProf=mode=tree,out=$dir/%p.out" . (defined $events ? ",events=$events" : '');
    };
    return $self->try;
}

# PERL5OPT is split at blanks, the profiler's options at commas.
sub plain { return $_[0] =~ m{\A[\w./+\@~-]+\z} }

# Where perl would not find the module by itself, a folder that has nothing else: one of the person's own in front of all others
# would bring other modules with it. PERL5LIB stays as it is, and a test may change it.
sub include {
    my ($self) = @_;
    return if !Devel::DProf::Record::include_dirs();
    my $dir = "$self->{dir}/lib";
    my $object = "auto/Devel/DProf/DProf.$Config{dlext}";
    my ($module) = grep { -e } map { "$_/Devel/DProf.pm" } grep { !ref } module_dir(), @INC;
    my ($built) = grep { -e } map { "$_/$object" } grep { !ref } $Devel::DProf::Core::Dir, @INC;
    die "DProf: Devel/DProf.pm and $object are not where Devel::DProf::Core is\n" if !defined $module || !defined $built;
    File::Path::make_path("$dir/Devel", "$dir/auto/Devel/DProf");
    for (["$dir/Devel/DProf.pm", $module], ["$dir/$object", $built]) {
        symlink Cwd::abs_path($_->[1]), $_->[0] or die "DProf: $_->[0]: $!\n";
    }
    return "-I$dir";
}

sub module_dir { return $INC{'Devel/DProf/Core.pm'} =~ s{/Devel/DProf/Core\.pm\z}{}r }

# The perl that runs the tests, once: what it does not like would fail every test.
sub try {
    my ($self) = @_;
    my $dir = "$self->{dir}/try";
    mkdir $dir or die "DProf: $dir: $!\n";
    local $ENV{PERL5OPT} = $self->{perl5opt}->($dir, 1);
    my $perl = $ENV{HARNESS_PERL} // $^X;
    my $said = '';
    if (open my $in, '-|') {
        local $/;
        $said = <$in> // '';
        close $in;
    } else {
        open STDERR, '>&', \*STDOUT;
        exec { $perl } $perl, '-e', '0' or do { print "$perl: $!\n"; require POSIX; POSIX::_exit(127) };
    }
    my ($line) = grep { /\S/ } split /\n/, $said;
    die 'DProf: the profiler cannot run here: ' . ($line // "status $?") =~ s/\ADProf: //r . "\n" if $? || !Devel::DProf::Suite::profiles_in($dir);
    return;
}

# ---- the run ----

sub run {
    my ($self, $app, $run, $args, @tests) = @_;
    my $suite = $self->{suite};
    my $dir = "$self->{dir}";
    local %ENV = %ENV;
    # calls and ops repeat with the same seed only; without a baseline no test shall see that it is watched
    @ENV{qw(PERL_HASH_SEED PERL_PERTURB_KEYS)} = (0, 0) if defined $suite->{baseline};
    my %more = (
        parser_args => sub { $self->before_test($_[1]) },
        after_test => sub { $self->after_test(@_) },
    );
    my %own = %{ $args->{callbacks} || {} };
    for my $event (keys %more) {
        my ($ours, $theirs) = ($more{$event}, $own{$event});
        $own{$event} = sub { $ours->(@_); return $theirs ? $theirs->(@_) : () };
    }
    my $loud = ($args->{verbosity} // 0) >= 0;
    my $text = text_formatter($args);
    local @SIG{qw(INT TERM HUP)} = map { $self->leave($_, $SIG{$_}) } qw(INT TERM HUP);
    my $passed = eval { $app->$run({ %$args, callbacks => \%own }, @tests) ? 1 : 0 };
    my $error = $@;
    my $good = eval { $self->finish($passed, $loud, $text ? \*STDOUT : \*STDERR) };
    print STDERR 'DProf: ', $@ =~ s/\ADProf: //r if !defined $good;
    die $error if !defined $passed;
    return $passed && $good;
}

# A person who interrupts us leaves no folder behind.
sub leave {
    my ($self, $name, $handler) = @_;
    return $handler if defined $handler && length $handler && $handler ne 'DEFAULT';
    my $pid = $$;
    return sub {
        File::Path::remove_tree("$self->{dir}") if $$ == $pid;
        $SIG{$name} = 'DEFAULT';
        kill $name => $$;
    };
}

# A formatter that writes XML wants no text behind it.
sub text_formatter {
    my ($args) = @_;
    my ($by_env) = map { /^f(.*)/ ? $1 =~ s/-/::/gr : () } split /:/, $ENV{HARNESS_OPTIONS} // '';
    my $class = $args->{formatter_class} // $by_env // 'TAP::Formatter::Console';
    return $class =~ /\ATAP::Formatter::(?:Console|File|Color)\z/;
}

# Each test has a folder: what it starts, and what that starts, writes there.
sub before_test {
    my ($self, $job) = @_;
    my ($file, $name) = @$job;
    my $n = @{ $self->{jobs} };
    my $dir = "$self->{dir}/$n";
    mkdir $dir or die "DProf: $dir: $!\n";
    push @{ $self->{jobs} }, { file => $file, name => $name, dir => $dir };
    push @{ $self->{of_job}{"$file\0$name"} }, $n;
    $ENV{PERL5OPT} = $self->{perl5opt}->($dir);
    return;
}

sub after_test {
    my ($self, $job, $parser) = @_;
    my $n = shift @{ $self->{of_job}{"$job->[0]\0$job->[1]"} } // return;
    $self->{jobs}[$n]{facts} = { failed => $parser->has_problems ? 1 : 0, skipped => defined $parser->skip_all ? 1 : 0 };
    return;
}

# The summary, and what else was asked for. Returns whether the gate passed.
sub finish {
    my ($self, $passed, $loud, $out) = @_;
    my $suite = $self->{suite};
    for my $job (@{ $self->{jobs} }) {
        $suite->add($job->{name}, [Devel::DProf::Suite::profiles_in($job->{dir})], %{ $job->{facts} || { failed => 1 } });
    }
    print {$out} bytes($suite->summary) if $loud;
    my ($good, @lines) = defined $suite->{baseline} ? $suite->gate($passed) : 1;
    for my $what (['out' => sub { $suite->keep_profiles }], ['html' => sub { $suite->draw("$self->{dir}") }]) {
        my ($name, $code) = @$what;
        next if !defined $suite->{$name} || eval { $code->(); 1 };
        push @lines, "FAIL: $name: " . $@ =~ s/\s+\z//r;
        $good = 0;
    }
    my $to = $loud ? $out : \*STDERR;
    print {$to} $loud ? "\n" : '', map { 'DProf: ' . Devel::DProf::Profile::escape(bytes($_)) . "\n" } @lines if $loud ? @lines : !$good;
    return $good;
}

1;
