# What the tools write to a file that the user names: whole or not at all, through no planted link,
# and into devices and pipes, which stay what they are.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use Fcntl ();
use POSIX ();
use Test::More;
use Devel::DProf::View::Flame;
use Devel::DProf::Compare::Suite;
use Devel::DProf::Write;

my $data = root() . '/t/data/ours.out';
my $is_root = $> == 0;

sub below { my ($dir) = @_; return join ' ', sort map { s{.*/}{}r } glob "$dir/*" }
sub mode { return sprintf '%03o', (stat $_[0])[2] & 07777 }

# Writes a text. Returns why it failed, or an empty string.
sub write_text {
    my ($path, $text, @how) = @_;
    my $why = Devel::DProf::Write::whole($path, sub { print { $_[0] } $text; return 0 }, @how);
    return $why // '';
}

# Returns what comes out of a pipe while CODE runs: a reader waits there, and is released after CODE
# even if CODE has never opened the pipe.
sub from_pipe {
    my ($pipe, $code) = @_;
    my $got = "$pipe.got";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDOUT, '>', $got or POSIX::_exit(1);
        exec 'cat', $pipe or POSIX::_exit(1);
    }
    $code->();
    if (-p $pipe) {
        sysopen my $end, $pipe, Fcntl::O_WRONLY() | Fcntl::O_NONBLOCK();
        close $end if $end;
    } else {
        kill KILL => $pid;
    }
    waitpid $pid, 0;
    my $text = slurp($got);
    unlink $got;
    return $text;
}

# Runs CODE in a process of an ordinary user, for whom permissions hold; returns what it prints.
sub as_somebody {
    my ($code) = @_;
    return run_program(sub {
        if ($is_root) {
            $( = $) = '65534 65534';
            $< = $> = 65534;
            return 9 if $< != 65534 || $> != 65534;
        }
        print $code->();
        close STDOUT;
        return 0;
    });
}

subtest 'A file is written whole or not at all' => sub {
    my $dir = scratch();
    my $umask = umask 027;
    is(write_text("$dir/a", 'one'), '', 'a new file is written');
    is(slurp("$dir/a"), 'one', 'a new file has the text');
    is(mode("$dir/a"), '640', 'a new file has the mode that the umask leaves');
    chmod 0604, "$dir/a" or die;
    is(write_text("$dir/a", 'two'), '', 'an old file is written');
    is(slurp("$dir/a"), 'two', 'an old file gets the new text');
    is(mode("$dir/a"), '604', 'an old file keeps its mode');
    umask $umask;
    like(Devel::DProf::Write::whole("$dir/a", sub { print { $_[0] } 'x'; $! = 28; return -2 }),
        qr/^No space/, 'a writer that fails gives the reason');
    eval { Devel::DProf::Write::whole("$dir/a", sub { print { $_[0] } 'x'; die "oh\n" }) };
    is($@, "oh\n", 'an exception of the writer is passed on');
    my $file = Devel::DProf::Write->new("$dir/a");
    print { $file->handle } 'three';
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        undef $file;
        POSIX::_exit(0);
    }
    waitpid $pid, 0;
    is($file->commit, undef, 'a child that ends leaves the temporary file alone');
    is(slurp("$dir/a"), 'three', 'the parent can commit its text after a child has ended');
    Devel::DProf::Write->new("$dir/a")->discard;
    { my $forgotten = Devel::DProf::Write->new("$dir/a"); }
    is(slurp("$dir/a"), 'three', 'a write given up leaves the old file');
    my $long = 'n' x 255;
    is(write_text("$dir/$long", 'x'), '', 'a file may have the longest name there is');
    unlink "$dir/$long";
    like(write_text($dir, 'x'), qr/director/, 'a directory is an error');
    like(write_text("$dir/no/a", 'x'), qr/^No such file/, 'a missing folder is an error');
    like(write_text('', 'x'), qr/^No such file/, 'an empty name is an error');
    is(below($dir), 'a', 'no temporary file is left');
};

subtest 'A file in a folder without write permission stays as it is' => sub {
    my $dir = scratch();
    spew("$dir/a", 'old');
    chmod 0777, "$dir/a";
    chmod 0555, $dir;
    chmod 0711, $dir =~ s{/[^/]*\z}{}r;
    my $run = as_somebody(sub { return write_text("$dir/a", 'new') });
    chmod 0755, $dir;
    plan skip_all => 'nobody else can be somebody here' if $run->{status};
    like($run->{out}, qr/denied/, 'a folder without write permission is an error');
    is(slurp("$dir/a"), 'old', 'the old file stays in a folder without write permission');
    is(below($dir), 'a', 'a folder without write permission gets no temporary file');
};

subtest 'Links are followed to their files' => sub {
    my $dir = scratch();
    mkdir "$dir/$_" or die for qw(real names);
    spew("$dir/real/a", 'old');
    chmod 0600, "$dir/real/a";
    symlink '../real/a', "$dir/names/a" or plan skip_all => "no symbolic links: $!";
    symlink 'a', "$dir/names/b";
    symlink "$dir/real/new", "$dir/names/new";
    symlink 'loop', "$dir/names/loop";
    is(write_text("$dir/names/b", 'text'), '', 'a link to a link is written through');
    is(readlink "$dir/names/a", '../real/a', 'the inner link of two stays a link');
    is(readlink "$dir/names/b", 'a', 'the outer link of two stays a link');
    is(slurp("$dir/real/a"), 'text', 'the file behind two links has the text');
    is(mode("$dir/real/a"), '600', 'the file behind two links keeps its mode');
    is(write_text("$dir/names/new", 'text'), '', 'a link to a missing file is written through');
    is(slurp("$dir/real/new"), 'text', 'a link to a missing file creates the file');
    like(write_text("$dir/names/loop", 'text'), qr/symbolic links/, 'a link to itself is an error');
    is(write_text("$dir/names/a", 'mine', replace => 1), '',
        'a name that the tool has chosen is written');
    ok(!-l "$dir/names/a", 'a name that the tool has chosen is no link afterwards');
    is(slurp("$dir/real/a"), 'text', 'the file behind the replaced link is unchanged');
    is(below("$dir/real"), 'a new', 'no temporary file is left beside the files');
    is(below("$dir/names"), 'a b loop new', 'no temporary file is left beside the links');
};

subtest 'Links of other users are not followed in a shared folder' => sub {
    plan skip_all => 'it takes two users' if !$is_root;
    my $dir = scratch();
    chmod 0711, $dir =~ s{/[^/]*\z}{}r;
    my $shared = "$dir/shared";
    mkdir $shared or die;
    chmod 01777, $shared;
    chmod 0711, $dir;
    spew("$dir/victim", 'precious');
    as_somebody(sub { return symlink("$dir/victim", "$shared/a") ? 1 : 0 });
    plan skip_all => 'nobody else can make a link here' if !-l "$shared/a" || !(lstat _)[4];
    is(write_text("$shared/a", 'text'), '',
        "a name where another user has put a link in /tmp is written");
    is(slurp("$dir/victim"), 'precious', 'the link of another user is not followed');
    is(slurp("$shared/a"), 'text', 'the link of another user is replaced');
    symlink "$dir/victim", "$shared/own" or die;
    is(write_text("$shared/own", 'mine'), '',
        "a user's own link in such a folder is written through");
    is(slurp("$dir/victim"), 'mine', "the file behind a user's own link has the text");
    my $chosen = "$dir/theirs";
    mkdir $chosen or die;
    spew("$chosen/a", 'old');
    chown 65534, 65534, "$chosen/a";
    is(write_text("$chosen/a", 'new'), '', "another user's file is written");
    is((stat "$chosen/a")[4], 65534, "another user's file keeps its owner");
};

subtest 'Devices and pipes are written in place' => sub {
    my $dir = scratch();
    POSIX::mkfifo("$dir/pipe", 0600) or plan skip_all => "no pipes: $!";
    symlink 'pipe', "$dir/link";
    for my $name (qw(pipe link)) {
        my $got = from_pipe("$dir/$name", sub { write_text("$dir/$name", 'text') });
        is($got, 'text', "a $name takes the text");
        ok(-p "$dir/pipe", "a $name leaves the pipe a pipe");
    }
    is(readlink "$dir/link", 'pipe', 'the link to a pipe stays a link');
    if ($is_root && $^O eq 'linux' && system('mknod', "$dir/null", 'c', 1, 3) == 0) {
        my $why = write_text("$dir/null", 'text');
        plan skip_all => "devices do not work here: $why" if $why =~ /denied|permitted/;
        is($why, '', 'a device takes the text');
        ok(-c "$dir/null", 'a device stays a device');
        unlink "$dir/null";
    }
    if (-c '/dev/full') {
        like(write_text('/dev/full', 'text'), qr/^No space/, 'a full device is an error');
        ok(-c '/dev/full', 'a full device stays a device');
    }
    is(below($dir), 'link pipe', 'no temporary file is left');
};

# Each tool that writes to a file: how it is asked to, and how its output begins.
my @tools = (
    ['dprofmerge', qr/\A#/], ['dprofflame', qr/\A<\?xml/], ['dproffold', qr/\A\S.* \d+$/m],
);

for (@tools) {
    my ($tool, $begins) = @$_;
    subtest "$tool writes no file of others" => sub {
        my $dir = scratch();
        spew("$dir/victim", 'precious');
        my $main = DProfTest::main_of($tool);
        my $run = run_program(sub {
            symlink 'victim', "x.svg.$$.new";
            return $main->('-o', 'x.svg', $data);
        }, dir => $dir);
        is("$run->{status} $run->{err}", '0 ',
            "$tool succeeds where temporary names are planted links");
        is(slurp("$dir/victim"), 'precious', "$tool does not write through planted links");
        like(slurp("$dir/x.svg"), $begins, "$tool writes its file beside planted links");
        unlink "$dir/x.svg.$run->{pid}.new";
        symlink 'victim', "$dir/link.svg";
        $run = run_tool($tool, ['-o', 'link.svg', $data], dir => $dir);
        is($run->{status}, 0, "$tool writes to a link that the user names");
        ok(-l "$dir/link.svg", "$tool leaves the link that the user names a link");
        like(slurp("$dir/victim"), $begins,
            "$tool writes the file behind the link that the user names");
        POSIX::mkfifo("$dir/pipe.svg", 0600) or die "pipe.svg: $!";
        my $into = sub { $run = run_tool($tool, ['-o', 'pipe.svg', $data], dir => $dir) };
        my $got = from_pipe("$dir/pipe.svg", $into);
        is("$run->{status} $run->{err}", '0 ', "$tool writes to a pipe");
        is($got, slurp("$dir/x.svg"), "$tool writes the same bytes to a pipe");
        ok(-p "$dir/pipe.svg", "$tool leaves the pipe a pipe");
        if (-e '/proc/self/fd/1' && symlink '/proc/self/fd/1', "$dir/stdout") {
            # This is what /dev/stdout is.
            $run = run_tool($tool, ['-o', 'stdout', $data], dir => $dir);
            is($run->{out}, slurp("$dir/x.svg"), "$tool writes through a link to an open file");
            ok(-l "$dir/stdout", "$tool leaves the link to an open file a link");
            unlink "$dir/stdout";
        }
        $run = run_tool($tool, ['-o', '/dev/full', $data], dir => $dir);
        if (-c '/dev/full') {
            is($run->{status}, 1, "$tool fails if the device is full");
            like($run->{err}, qr/could not be written: No space/,
                "$tool says that the device is full");
            ok(-c '/dev/full', "$tool leaves a full device a device");
        }
        $run = run_tool($tool, ['-o', '.', $data], dir => $dir);
        like($run->{err}, qr/could not be written: /,
            "$tool says that it cannot write to a directory");
        is(below($dir), 'link.svg pipe.svg victim x.svg', "$tool leaves no temporary file");
    };
}

subtest 'palette.map is written to no file of others' => sub {
    my $dir = scratch();
    spew("$dir/victim", 'precious');
    my $run = run_program(sub {
        symlink 'victim', "palette.map.$$.new";
        return Devel::DProf::Tool::Dprofflame::main('--cp', '-o', 'x.svg', $data);
    }, dir => $dir);
    is("$run->{status} $run->{err}", '0 ',
        'a palette is written where temporary names are planted links');
    is(slurp("$dir/victim"), 'precious',
        'dprofflame does not write palette.map through planted links');
    like(slurp("$dir/palette.map"), qr/^.+->rgb\(/m, 'palette.map has its text');
};

subtest "Test::DProf's pictures are written to no file of others" => sub {
    my $dir = scratch();
    spew("$dir/victim", 'precious');
    mkdir "$dir/$_" or die for qw(kept scratch);
    POSIX::mkfifo("$dir/pipe.svg", 0600) or plan skip_all => "no pipes: $!";
    my $finish = sub {
        my ($html) = @_;
        my $suite = Devel::DProf::Compare::Suite->new(out => "$dir/kept", html => $html);
        $suite->add('a.t', [$data]);
        return $suite->finish(1, "$dir/scratch");
    };
    for my $name ('kept/a.t.tmon', 'kept/all.tmon', 'x.svg', 'scratch/all') {
        symlink "$dir/victim", "$dir/$name.$$.new";
        symlink "$dir/victim", "$dir/$name.$$.tmon";
    }
    my ($good, @lines) = $finish->("$dir/x.svg");
    is("$good@lines", 1, 'a test succeeds where temporary names are planted links');
    is(slurp("$dir/victim"), 'precious', 'a test does not write through planted links');
    like(slurp("$dir/x.svg"), qr/\A<\?xml/, 'a test writes its picture');
    my $got = from_pipe("$dir/pipe.svg", sub { ($good, @lines) = $finish->("$dir/pipe.svg") });
    is("$good@lines", 1, 'html= may be a pipe');
    like($got, qr/\A<\?xml/, 'the pipe of html= takes the picture');
    ok(-p "$dir/pipe.svg", 'the pipe of html= stays a pipe');
    if (-c '/dev/full') {
        ($good, @lines) = $finish->('/dev/full');
        like("$good@lines", qr/^0DProf: FAIL: html: .*No space/,
            'html= on a full device fails the test');
        ok(-c '/dev/full', 'a full device of html= stays a device');
    }
    unlink glob "$dir/scratch/*$$*";
    is(below("$dir/scratch"), '', 'no temporary file is left');
};

subtest 'Pictures of baselines are written to no file of others' => sub {
    require Devel::DProf::Compare::Baseline;
    require Test::DProf;
    my $dir = scratch();
    spew("$dir/victim", 'precious');
    mkdir "$dir/$_" or die for qw(tmp mine);
    my $result = Devel::DProf::Compare::Baseline::compare(old => [$data], new => [$data]);
    local $ENV{TMPDIR} = "$dir/tmp";
    local $0 = 't/x.t';
    local $ENV{DPROF_ARTIFACTS};
    delete $ENV{DPROF_ARTIFACTS};
    my $name = 'dprof-t-x.t-name.html';
    symlink "$dir/victim", "$dir/tmp/$_" for $name, "$name.$$.new";
    my ($line) = Test::DProf::draw_difference($result, 'name');
    is($line, "flame graph of the difference: $dir/tmp/$name",
        'a picture is written to a folder that all users share');
    ok(!-l "$dir/tmp/$name", 'the picture replaces a link in the shared folder');
    like(slurp("$dir/tmp/$name"), qr/\A<!DOCTYPE html>/, 'the picture is a page');
    is(slurp("$dir/victim"), 'precious', 'the file behind the replaced link is unchanged');
    $ENV{DPROF_ARTIFACTS} = "$dir/mine";
    POSIX::mkfifo("$dir/mine/$name", 0600) or die "$name: $!";
    my $got = from_pipe("$dir/mine/$name",
        sub { ($line) = Test::DProf::draw_difference($result, 'name') });
    is($line, "flame graph of the difference: $dir/mine/$name",
        'a pipe in a folder that the user names is written');
    is($got, slurp("$dir/tmp/$name"), 'the pipe gets the same bytes as the file');
    ok(-p "$dir/mine/$name", "the pipe in the user's folder stays a pipe");
};

done_testing;
