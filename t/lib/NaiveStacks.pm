package NaiveStacks;

# Folded stacks and flame graphs in the plainest way: a hash of stacks; a list of boxes. dproffold
# and dprofflame are compared with it. Names are bytes.

use strict;
use warnings;
use Exporter 'import';

our @EXPORT =
    qw(key frames stacks_of changed line_of sorted folded tree_of boxes_of svg_boxes shown unxml
        not_well_formed page_of times_of random_folded hurtful);

# This would be taken for a count, good or not.
my $number = qr/[-+]?(?=\.*\d)[\d.]+(?:[eE](?:[-+]?\d+|[-+]))?/;

# ---- stacks: { key => [value by column, ...] }; the key of the root is '' ----

# Makes one string of a stack, which no name can break.
sub key { return join ';', map { s/([\x00-\x20\x7f;%#])/sprintf '%%%02X', ord $1/ger } @_ }
# Returns the names in a stack that key() has made.
sub frames { return map { s/%(..)/chr hex $1/ger } split /;/, $_[0] }

# Reads as Format.pod, "FOLDED STACKS", says: the stacks of a text with so many counts on each line,
# in thousandths; numbers of bad lines; numbers of first appearance, of each stack and those above
# it.
sub stacks_of {
    my ($text, $columns) = @_;
    my (%stacks, @bad, %when);
    my ($n, $t) = (0, 0);
    my $code = qr/%(3B|2[35]|[01][0-9A-F]|7F|20(?=$number?\z))/i;
    my $count = qr/[ \t]+(\d+(?:\.\d*)?)/;
    $columns ||= 1;
    for my $line (split /\n/, $text =~ s/\A\xef\xbb\xbf//r) {
        $n++;
        $line =~ s/[ \t\r]+\z//;
        next if $line eq '' || $line =~ /\A#(?:[ \t]|\z)/;
        my ($stack, @counts) = $columns == 2 ? $line =~ /\A(.*[^ \t])$count$count\z/s
            : $line =~ /\A(.*[^ \t])$count\z/s;
        if (!@counts) {
            push @bad, $n;
            next;
        }
        $stack =~ s/\A\(program\)(?:;|\z)//;
        my @frames = map { s/$code/chr hex $1/ger } grep { length } split /;/, $stack;
        $when{ key(@frames[0 .. $_]) } //= ++$t for 0 .. $#frames;
        my $to = $stacks{ key(@frames) } //= [(0) x $columns];
        $to->[$_] += int($counts[$_] * 1000 + 0.5) for 0 .. $#counts;
    }
    return (\%stacks, \@bad, \%when);
}

# Returns stacks with each stack's frames changed by a sub; values of stacks that become equal are
# added up.
sub changed {
    my ($stacks, $change) = @_;
    my %new;
    for my $key (keys %$stacks) {
        my $to = $new{ key($change->(frames($key))) } //= [];
        $to->[$_] += $stacks->{$key}[$_] for 0 .. $#{ $stacks->{$key} };
    }
    return \%new;
}

# Returns a stack as dproffold prints it.
sub line_of {
    my ($key, $columns) = @_;
    my @frames = map { s/%(?=[0-9a-fA-F]{2})/%25/gr
        =~ s/([\x00-\x1f\x7f;])/sprintf '%%%02X', ord $1/ger =~ s/ \z/%20/r } frames($key);
    return '(program)' if !@frames;
    $frames[0] =~ s/\A#/%23/;
    unshift @frames, '(program)' if $frames[0] eq '(program)';
    $frames[-1] =~ s/ (?=$number\z)/%20/ if $columns == 1;
    return join ';', @frames;
}

# Sorts in preorder, siblings by name, by bytes.
sub sorted {
    my %names = map { $_ => [frames($_)] } @_;
    return sort {
        my ($x, $y) = @names{$a, $b};
        my $c = 0;
        for (my $i = 0; !$c && $i < @$x && $i < @$y; $i++) { $c = $x->[$i] cmp $y->[$i] }
        $c || @$x <=> @$y;
    } keys %names;
}

# Returns stacks as dproffold prints them, from values in thousandths.
sub folded {
    my ($stacks) = @_;
    return join '', map {
        my $s = $stacks->{$_};
        line_of($_, scalar @$s) . join('', map { ' ' . $_ / 1000 } @$s) . "\n"
    } sorted(grep { grep { $_ } @{ $stacks->{$_} } } keys %$stacks);
}

# ---- the tree ----

# Returns { name, key, own => [], all => [], kids => [sorted by name] } of stacks, also for those
# without a value.
sub tree_of {
    my ($stacks) = @_;
    my $columns = 1;
    my $root = { name => '(program)', key => '', kids => {} };
    for my $key (keys %$stacks) {
        my ($at, @above) = $root;
        for my $name (frames($key)) {
            push @above, $name;
            $at = $at->{kids}{$name} //= { name => $name, key => key(@above), kids => {} };
        }
        $at->{own} = $stacks->{$key};
        $columns = @{ $at->{own} };
    }
    finish($root, $columns);
    return $root;
}

# Computes the values of a node of tree_of() with its kids, and sorts these.
sub finish {
    my ($at, $columns) = @_;
    no warnings 'recursion';
    $at->{own} //= [(0) x $columns];
    $at->{all} = [@{ $at->{own} }];
    $at->{kids} = [map { $at->{kids}{$_} } sort keys %{ $at->{kids} }];
    $at->{count} = 1;
    for my $kid (@{ $at->{kids} }) {
        finish($kid, $columns);
        $at->{all}[$_] += $kid->{all}[$_] for 0 .. $columns - 1;
        $at->{count} += $kid->{count};
    }
    return;
}

# ---- boxes ----

# Returns the boxes of a tree, in preorder by name, each { node, depth, x, w }, and { hidden,
# weight, total }. How: width (sub: from a node's values of each side to its own width), least
# (share of the total), order (sub that compares nodes; none: by name), branches (count the hidden
# by their first frames), total.
sub boxes_of {
    my ($tree, %how) = @_;
    my $width = $how{width} // sub { $_[-1] };
    my $sum = widths($tree, $width);
    my %said = (hidden => 0, weight => 0, total => $sum > ($how{total} // 0) ? $sum : $how{total});
    my @boxes = { node => $tree, depth => 0, x => 0, w => $said{total} };
    place($tree, 0, 1, \%how, \%said, \@boxes);
    return (\@boxes, \%said);
}

# Computes the width of a node with its kids. Returns that width.
sub widths {
    my ($at, $width) = @_;
    no warnings 'recursion';
    $at->{w} = $width->(@{ $at->{own} });
    $at->{w} += widths($_, $width) for @{ $at->{kids} };
    return $at->{w};
}

sub place {
    my ($at, $x, $depth, $how, $said, $boxes) = @_;
    no warnings 'recursion';
    my %hidden = map { $_ => 1 } grep { $_->{w} < ($how->{least} // 0) * $said->{total} }
        @{ $at->{kids} };
    my @order = $how->{order} ? sort { $how->{order}->($a, $b) }
        grep { !$hidden{$_} } @{ $at->{kids} } : @{ $at->{kids} };
    for my $kid (@order) {
        $kid->{x} = $x;
        $x += $kid->{w};
    }
    for my $kid (@{ $at->{kids} }) {
        if ($hidden{$kid}) {
            $said->{hidden} += $how->{branches} ? 1 : $kid->{count};
            $said->{weight} += $kid->{w};
            next;
        }
        push @$boxes, { node => $kid, depth => $depth, x => $kid->{x}, w => $kid->{w} };
        place($kid, $kid->{x}, $depth + 1, $how, $said, $boxes);
    }
    return;
}

# ---- what is read back from a picture ----

# Returns a name as people see it: control bytes and broken UTF-8 as \x1b, invisible marks as
# \x{202e}.
sub shown {
    my ($name) = @_;
    return $name if $name =~ /\A[\x20-\x7e]*\z/;
    my $char =
        qr/[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]
        |[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]
        |\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}/x;
    my $out = '';
    while ($name =~ /\G($char)|\G(.)/gs) {
        my ($good, $bad) = ($1, $2);
        if (defined $bad || $good =~ /\A[\x00-\x1f\x7f]/) {
            $out .= sprintf '\x%02x', ord($bad // $good);
            next;
        }
        my $code = $good;
        utf8::decode($code);
        $code = ord $code;
        my $unseen = ($code >= 0x80 && $code < 0xa0) || ($code >= 0x2028 && $code <= 0x202e)
            || ($code >= 0x2066 && $code <= 0x2069);
        $out .= $unseen ? sprintf '\x{%02x}', $code : $good;
    }
    return $out;
}

# Returns text with XML's entities decoded.
sub unxml {
    my ($text) = @_;
    my %entity = (amp => '&', lt => '<', gt => '>', quot => '"', apos => "'");
    return $text =~ s{&(?:(\w+)|#(\d+));}{
        if (defined $1) { $entity{$1} }
        else { my $c = chr $2; utf8::encode($c) if $2 > 0x7f; $c }
    }ger;
}

# Returns the frames of a picture, in its order: { class, x, w (of data-), title, px, py, pw, ph,
# fill, label, more (other attributes), link }.
sub svg_boxes {
    my ($svg) = @_;
    my @boxes;
    while ($svg
        =~ m{(<a\ [^>]*>)?<g\ class="(f[^"]*)"([^>]*?)\ data-x="([^"]*)"\ data-w="([^"]*)"><title>
            ([^<]*)</title><rect\ x="([^"]*)"\ y="([^"]*)"\ width="([^"]*)"\ height="([^"]*)"
            \ fill="([^"]*)"(?:\ class="wide")?/>
            (?:<text\ x="[^"]*"\ y="[^"]*">([^<]*)</text>)?</g>}gx) {
        my %box;
        @box{qw(link class more x w title px py pw ph fill label)} = ($1, $2, $3, $4, $5, unxml($6),
            $7, $8, $9, $10, $11, defined $12 ? unxml($12) : undef);
        push @boxes, \%box;
    }
    return @boxes;
}

# Returns why a text is no well-formed XML 1.0, as far as such a file needs it, or ''.
sub not_well_formed {
    my ($text) = @_;
    my $name = qr/[A-Za-z_:][\w:.-]*/;
    my $entity = qr/&(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);/;
    my (@open, $roots);
    $text =~ s/\A<\?xml\ version="1\.0"(?:\ encoding="([A-Za-z][\w.-]*)")?
        (?:\ standalone="no")?\?>\n?//x or return 'no declaration';
    my $encoding = $1 // 'UTF-8';
    if ($encoding =~ /\Autf-?8\z/i) {
        utf8::decode($text) or return 'no UTF-8';
    } elsif ($text =~ /([^\x00-\x7f])/) {
        return "a byte that is not ASCII in $encoding";
    }
    return sprintf 'character U+%04X', ord $1
        if $text =~ /([^\t\n\r\x20-\x{d7ff}\x{e000}-\x{fffd}\x{10000}-\x{10ffff}])/;
    pos $text = 0;
    while (pos $text < length $text) {
        my $at = substr $text, pos $text, 60;
        if ($text =~ /\G<!\[CDATA\[(.*?)\]\]>/gcs) {
            return 'CDATA outside' if !@open;
        } elsif ($text =~ /\G<!--(.*?)-->/gcs) {
            return "comment: $at" if $1 =~ /--|-\z/;
        } elsif ($text =~ m{\G</($name)\s*>}gc) {
            return "$1 closes " . ($open[-1] // 'nothing') . ": $at" if !@open || $open[-1] ne $1;
            pop @open;
        } elsif ($text
            =~ m{\G<($name)((?:\s+$name\s*=\s*(?:"(?:[^<&"]|$entity)*"|'(?:[^<&']|$entity)*'))*)\s*
                (/?)>}gcx) {
            my ($tag, $attributes, $empty) = ($1, $2, $3);
            my %seen;
            while ($attributes =~ /($name)\s*=\s*(?:"[^"]*"|'[^']*')/g) {
                return "attribute $1 twice: $at" if $seen{$1}++;
            }
            return "second root: $at" if !@open && $roots++;
            push @open, $tag if !$empty;
        } elsif ($text =~ /\G((?:[^<&]|$entity)+)/gc) {
            return "text outside: $at" if !@open && $1 =~ /\S/;
            return "]]> in text: $at" if $1 =~ /\]\]>/;
        } else {
            return "not XML: $at";
        }
    }
    return @open ? "not closed: @open" : $roots ? '' : 'nothing';
}

# Returns what is compressed in the element dprof-NAME of a page; undef: there is none.
sub unpacked {
    my ($html, $name) = @_;
    require MIME::Base64;
    require Compress::Zlib;
    my ($base64) = $html =~ m{<script\ type="application/octet-stream"\ id="dprof-\Q$name\E">
        ([A-Za-z0-9+/]*={0,2})</script>}x or return undef;
    return Compress::Zlib::memGunzip(MIME::Base64::decode_base64($base64)) // die "not gzip\n";
}

# Splits a block of a page: the JSON, then a list of numbers for each column.
sub parts_of {
    my ($data) = @_;
    require JSON::PP;
    my @parts = bytes_of($data);
    return (JSON::PP->new->utf8->decode(shift @parts), map { [numbers_of($_)] } @parts);
}

# Splits a block of a page that has columns alone: a list of numbers for each.
sub chunk_of {
    my ($data) = @_;
    return map { [numbers_of($_)] } bytes_of($data);
}

# Splits a block of a page into its parts, as bytes.
sub bytes_of {
    my ($data) = @_;
    my @parts;
    for (my $at = 0; $at < length $data;) {
        my $size = unpack 'V', substr $data, $at, 4;
        die "a part that breaks off\n" if $at + 4 + $size > length $data;
        push @parts, substr $data, $at + 4, $size;
        $at += 4 + $size;
    }
    return @parts;
}

# Returns the numbers in bytes of LEB128.
sub numbers_of {
    my ($bytes) = @_;
    my ($v, $shift, @numbers) = (0, 0);
    for my $byte (unpack 'C*', $bytes) {
        $v += ($byte & 0x7f) * 2**$shift;
        $shift += 7;
        next if $byte & 0x80;
        push @numbers, $v;
        ($v, $shift) = (0, 0);
    }
    die "a number that breaks off\n" if $shift;
    return @numbers;
}

# Returns the source view of a page, or undef where it has none: { sides => [{ detail, lines => {
# "FILE:LINE" => { count, self, incl (by measure), calls => { NAME => [calls, value by measure] } }
# } }, ...], sources => { FILE => [by side: [state, text]] } }. Texts are bytes. Dies with what is
# wrong.
sub lines_of_page {
    my ($html) = @_;
    my $data = unpacked($html, 'lines') // return;
    my $page = page_of($html);
    my ($json, @columns) = parts_of($data);
    die "format $json->{format}\n" if $json->{format} != 1;
    my $measures = @{ $page->{json}{metrics} };
    my @names = map { my $name = $_; utf8::encode($name); $name } @{ $page->{json}{names} };
    my @files = map { my $name = $_; utf8::encode($name); $name } @{ $json->{files} };
    my (@sides, %sources);
    for my $detail (@{ $json->{detail} }) {
        my ($numbers, $line, $count, $n_calls) = splice @columns, 0, 4;
        my @values = splice @columns, 0, 2 * $measures;
        my ($name, $times, @call) = splice @columns, 0, 2 + $measures;
        my $n = @$line;
        die "columns of other lengths\n"
            if @$numbers != @files || grep { @$_ != $n } $count, $n_calls, @values;
        die "columns of calls of other lengths\n" if grep { @$_ != @$name } $times, @call;
        my ($i, $c, %lines) = (0, 0);
        for my $file (0 .. $#files) {
            my $at = 0;
            for (1 .. $numbers->[$file]) {
                $at += $line->[$i];
                my %calls;
                for (1 .. $n_calls->[$i]) {
                    die "a name that is none\n" if $name->[$c] >= @names;
                    my $label = $names[ $name->[$c] ];
                    die "$label twice\n" if $calls{$label};
                    $calls{$label} = [$times->[$c], map { $_->[$c] } @call];
                    $c++;
                }
                die "line $at twice\n" if $lines{"$files[$file]:$at"};
                $lines{"$files[$file]:$at"} = { count => $count->[$i], calls => \%calls,
                    self => [map { $values[ 2 * $_ ][$i] } 0 .. $measures - 1],
                    incl => [map { $values[ 2 * $_ + 1 ][$i] } 0 .. $measures - 1] };
                $i++;
            }
        }
        die "more lines than files have\n" if $i != $n || $c != @$name;
        push @sides, { detail => $detail, lines => \%lines };
    }
    die "more columns\n" if @columns;
    for my $n (0 .. $#{ $json->{sources} }) {
        my ($side, $file, $state) = @{ $json->{sources}[$n] };
        $sources{ $files[$file] }[$side] = [$state, unpacked($html, "source-$n")];
    }
    return { sides => \@sides, sources => \%sources, page => $page };
}

# Returns the lanes of a page's time line: { facts, sums => { frame => [real, cpu, calls] } }, in
# ticks. Dies with what is wrong.
sub times_of {
    my ($html) = @_;
    my @parents = map { $_->{parent} } @{ page_of($html)->{frames} };
    my ($json) = parts_of(unpacked($html, 'times') // return);
    my @lanes;
    for my $l (0 .. $#{ $json->{lanes} }) {
        my $lane = $json->{lanes}[$l];
        my %goes_on = map { $_ => 1 } @{ $lane->{goesOn} };
        my ($frame, $calls, $now, %sums) = (0, 0, 0);
        for my $c (0 .. $#{ $lane->{chunks} }) {
            my ($code, $real, $more) =
                chunk_of(unpacked($html, "times-$l-$c") // die "no chunk $c\n");
            die "steps of other lengths\n"
                if grep { @$_ != $lane->{chunks}[$c] } $code, $real, $more;
            for my $i (0 .. $#$code) {
                my $extra = $more->[$i] % 2 ? -($more->[$i] + 1) / 2 : $more->[$i] / 2;
                $sums{$frame}[0] += $real->[$i];
                $sums{$frame}[1] += $real->[$i] + $extra;
                $now += $real->[$i];
                $frame = $code->[$i] ? $frame + $code->[$i] : $parents[$frame];
                die "a frame that is none\n" if !defined $frame || $frame > $#parents;
                $sums{$frame}[2] += !$goes_on{ $calls++ } if $code->[$i];
            }
        }
        die "frames have not ended\n" if $frame;
        $sums{0}[0] += $lane->{end} - $now;
        $sums{0}[1] += $lane->{tail};
        push @lanes, { facts => $lane, sums => \%sums };
    }
    return @lanes;
}

# Returns the data of a page: { json, frames => [{ name, parent, when, self => [by column] }, ...]
# }. Dies with what is wrong.
sub page_of {
    my ($html) = @_;
    my ($json, @columns) = parts_of(unpacked($html, 'data') // die "no data\n");
    my ($up, $name, $when, @values) = @columns;
    my $n = $json->{frames};
    die "columns of other lengths\n"
        if @$up != $n - 1 || @$name != $n || (@$when && @$when != $n - 1)
        || grep { @$_ != $n } @values;
    die "so many columns\n" if @values != @{ $json->{metrics} } * @{ $json->{sides} };
    # Behind the names of subs are those of processes.
    my @names = map { @{ $json->{$_} } } qw(names parts);
    my (@frames, @open);
    for my $i (0 .. $n - 1) {
        if ($i) {
            die "above the root\n" if $up->[ $i - 1 ] >= @open;
            splice @open, @open - $up->[ $i - 1 ] if $up->[ $i - 1 ];
        }
        die "a name that is none\n" if $name->[$i] >= @names;
        my $text = $names[ $name->[$i] ];
        utf8::encode($text);
        push @frames, { name => $text, parent => @open ? $open[-1] : undef, depth => scalar @open,
            when => $i && @$when ? $when->[ $i - 1 ] : undef,
            self => [map { $_->[$i] } @values], hz => $json->{metrics}[0]{hz} };
        push @open, $i;
    }
    return { json => $json, frames => \@frames };
}

# ---- input ----

# Returns difficult names.
sub hurtful {
    return ('a', 'a:', 'a::b', 'a ', 'a b', 'a  ', "a\tb", 'a;b', ';', '%', '%3B', '%41', '100%',
        '%20', '#', '#x', '# x', '(program)', 'x' x 10_000, "\0", "\x1b[31m", "\x7f",
        "\r", "\n", ' lead', "caf\xc3\xa9", "\xe2\x80\xaertl\xd7\x90", "\xff\xfe", "\xc3",
        "\xef\xbf\xbe", "\xed\xa0\x80", 'thread 12', 'x 1.5', '12', '7 8', '</script>',
        '</title><script>alert(1)</script>',
        '"', "'", '&amp;', '<!--', ']]>', '{{DATA}}', "\xc2\x85", "\xf0\x9f\x90\xaa", '=1+1',
        'a->rgb(1,2,3)', '--', '-', '$x', '\\', '\\x1b', 'f_[k]', '__ANON__', 'BEGIN', 'CORE:sort',
        '0x1f', 'dead beef');
}

# Makes stacks such as profilers write: sorted or not, names that begin alike, recursion. How:
# columns, fractions, names.
sub random_folded {
    my (%how) = @_;
    my @names = $how{names} ? @{ $how{names} } : ('a', 'aa', 'ab', 'a::b', 'a::bb', 'main::run',
        'main::r', 'main', 'f1', 'f10', 'BEGIN', 'g(int, char)', 'thread', 'a b', 'a.b', 'a-b',
        'a/b', 'a$');
    my $few = int rand 2;
    my @lines = map {
        my @frames = map { $names[rand($few ? 4 : @names)] } 0 .. rand(rand() < 0.1 ? 40 : 7);
        my @counts = map { rand() < 0.2 ? 0 : int(rand() < 0.9 ? 1 + rand 1000 : 1e6 + rand 1e6)
            . ($how{fractions} && rand() < 0.3 ? ('.5', '.25', '.125', '.', '.0')[rand 5] : '') }
            1 .. $how{columns} || 1;
        join(';', map { s/%(?=[0-9a-fA-F]{2})/%25/gr
            =~ s/([\x00-\x1f\x7f;])/sprintf '%%%02X', ord $1/ger =~ s/ \z/%20/r
            =~ s/ (?=$number\z)/%20/r =~ s/\A#/%23/r } @frames) . " @counts";
    } 0 .. rand 40;
    unshift @lines, join ' ', '(program)', map { 1 + int rand 50 } 1 .. $how{columns} || 1
        if rand() < 0.5;
    @lines = sort @lines if rand() < 0.5;
    return join '', map { "$_\n" } @lines;
}

1;
