# Real programs on real input give the same results as plain, and a profile without a flaw.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use Test::More;
use DProfTest;

sub both {
    my ($what, $args, %opt) = @_;
    # The order of hashes must not matter.
    $opt{env} = { PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0 };
    my $plain = plain($args, %opt, dir => scratch());
    my $run = profiled($args, %opt);
    is($plain->{raw}, 0, "$what runs without the profiler") or diag $plain->{err};
    same_as_plain($plain, $run, "$what prints the same with the profiler");
    cmp_ok(length $plain->{out}, '>', 100, "$what: the program prints something");
    my $got = profile_ok($run->{profile}, "$what: the profile", events => 0);
    cmp_ok($got->{sum}[2], '>', 0, "$what takes time");
    return ($got, $plain);
}

# Finds the first of these files that exists, cut to some size so that the tests end.
sub pod {
    my $lines = shift;
    my ($file) = grep { -r } map { ("$_/pod/perlfunc.pod", "$_/pods/perlfunc.pod") } @INC,
        $Config{privlibexp};
    if (!$file) {
        # Debian packages perl's manual separately; big modules have theirs inside.
        ($file) = sort { -s $b <=> -s $a } grep { -r }
            map { ("$_/Math/BigFloat.pm", "$_/CPAN.pm", "$_/Module/Build/API.pod") } @INC;
    }
    return unless $file;
    my @lines = split /^/, slurp($file);
    # A module begins with its code, which is skipped.
    if ($file =~ /\.pm$/) { shift @lines while @lines && $lines[0] !~ /^=head1/ }
    splice @lines, $lines if @lines > $lines;
    my $open = grep({ /^=over/ } @lines) - grep { /^=back/ } @lines;
    push @lines, ("\n=back\n\n") x $open;
    return spew(scratch() . '/text.pod', join '', "=encoding utf8\n\n=pod\n\n",
        grep { !/^=encoding/ } @lines);
}

subtest 'pod2text runs as plain' => sub {
    my $pod = pod(TestEnvironment::rounds(700, 1500));
    my ($pod2text) = grep { -r } "$Config{scriptdirexp}/pod2text",
        map { "$_/pod2text" } split /:/, $ENV{PATH};
    plan skip_all => 'no pod2text or no manual' unless $pod && $pod2text;
    my ($got) = both('pod2text', [$pod2text, $pod]);
    cmp_ok($got->calls('Pod::Text::cmd_para'), '>', 50, 'the paragraphs are counted');
    is($got->calls('Pod::Text::start_document'), 1, 'one document was begun');
};

subtest 'Pod::Simple runs as plain' => sub {
    my $pod = pod(700);
    plan skip_all => 'no manual' unless $pod;
    my ($got) = both('Pod::Simple::DumpAsText',
        ['-MPod::Simple::DumpAsText', '-e',
            'exit Pod::Simple::DumpAsText->filter(shift)->any_errata_seen', $pod]);
    cmp_ok($got->calls('Pod::Simple::DumpAsText::_handle_element_start'), '>', 100,
        'the elements are counted');
    return if !$ENV{EXTENDED_TESTING};
    my ($html) = both('Pod::Simple::XHTML',
        ['-MPod::Simple::XHTML', '-e',
            'my $p = Pod::Simple::XHTML->new; $p->html_header(""); $p->html_footer(""); '
                . '$p->output_string(\my $o); $p->parse_file(shift); print $o', $pod]);
};

subtest 'JSON::PP runs as plain' => sub {
    my $code = <<'END';
use strict; use JSON::PP; my $json = JSON::PP->new->canonical->pretty; my $calls = 0;
my $data =
    { map { ("key $_" => [1 .. 5, { nested => "text \x{263a} $_", n => $_ / 7, t => JSON::PP::true,
        u => undef }]) } 1 .. 60 };
my $text = $json->encode($data); my $back = $json->decode($text); binmode STDOUT, ':utf8';
print $text; print $json->encode($back) eq $text ? "same\n" : "differ\n";
eval { $json->decode('{"a":') }; print $@;
END
    my ($got, $plain) = both('JSON::PP', ['-e', $code]);
    like($plain->{out}, qr/^same$/m, 'the decoded data are the same');
    is($got->calls('JSON::PP::decode'), 2, 'both calls of decode are counted');
    cmp_ok($got->calls('JSON::PP::string_to_json'), '>=', 300, 'the strings are counted');
    is($got->calls('JSON::PP::hash_to_json'), 2 * 61, 'each hash is counted');
};

subtest 'perltidy runs as plain' => sub {
    my ($perltidy) = grep { -r } map { "$_/perltidy" } split /:/, $ENV{PATH};
    TestEnvironment::skip_long();
    plan skip_all => 'no perltidy'
        unless $perltidy && run_perl(['-MPerl::Tidy', '-e', '1'])->{raw} == 0;
    my ($got) = both('perltidy', [$perltidy, '-npro', '-st', '-se',
        root() . '/t/lib/TraceReader.pm']);
    is($got->calls('Perl::Tidy::perltidy'), 1, 'perltidy is called once');
    cmp_ok($got->calls('Perl::Tidy::Tokenizer::get_line'), '>', 200, 'the lines are counted');
};

subtest 'Other modules of perl run as plain' => sub {
    my ($got) = both('Text::Wrap, Data::Dumper, Storable, Encode, POSIX, Time::Local',
        ['-MText::Wrap', '-MData::Dumper', '-MStorable=dclone', '-MEncode', '-MPOSIX=floor',
            '-MTime::Local', '-e',
        '$Data::Dumper::Sortkeys = $Data::Dumper::Useperl = 1; my $d = { map { $_ => [1 .. $_] } '
            . '1 .. 20 }; print Dumper(dclone($d)); print wrap("", "  ", "word " x 200), "\n"; '
        . 'print length encode("UTF-16", decode("UTF-8", "\xc3\xa4" x 50)), "\n"; '
        . 'print floor(3.7), timegm(0, 0, 0, 1, 0, 100), "\n"']);
    is($got->calls('Data::Dumper::_dump'), 241 + 20 - 10, 'each value is counted') or 1;
    ($got) = both('Test::More itself',
        ['-MTest::More', '-e',
            'ok($_, "test $_") for 1 .. 30; is_deeply([1, { a => 2 }], [1, { a => 2 }]); '
                . 'subtest inner => sub { ok 1; done_testing }; SKIP: { skip "why", 1 } '
                . 'isa_ok([], "ARRAY"); done_testing']);
    is($got->calls('Test::More::ok'), 31, 'the calls of ok are counted');
    ($got) = both('Math::BigInt',
        ['-MMath::BigInt', '-e',
            'print Math::BigInt->new(2) ** 200 + $_, "\n" for 1 .. 3; '
                . 'print Math::BigInt->new(50)->bfac, "\n" for 1 .. 3']);
    is($got->calls('Math::BigInt::bfac'), 3, 'the factorials are counted');
};

done_testing;
