// The colours of Perl.

import fs from 'node:fs';
import { execFileSync } from 'node:child_process';
import { is, ok, done } from '../browser/lib.js';
import { perlParts } from '../../share/page/data/perl.mjs';

// Returns the parts of a text: word:if string:"x" ...
const parts = (text) => {
    const lines = text.split('\n');
    return perlParts(lines).flatMap((list, i) =>
        list.map(([from, to, kind]) => `${kind}:${lines[i].slice(from, to)}`)).join(' ');
};

is(parts('my $x = shift;  # why'), 'word:my variable:$x comment:# why', 'words and comments');
is(parts('sub price { return $self->{sum} / 2; }'),
    'word:sub name:price word:return variable:$self number:2', 'a slash that divides');
is(parts('return $a / $b / $c;'), 'word:return variable:$a variable:$b variable:$c',
    '... twice is no regular expression');
is(parts('if (/^a#b/i and $x =~ m{c/d}x) {'),
    'word:if string:/^a#b/i word:and variable:$x string:m{c/d}x', 'regular expressions');
is(parts('split /,/, $line'), 'string:/,/ variable:$line', '... after a function');
is(parts('s{a{2}}{b}g; tr/a-z/A-Z/; y[a][b];'), 'string:s{a{2}}{b}g string:tr/a-z/A-Z/ '
    + 'string:y[a][b]', 'quotes of two parts, and nested braces');
is(parts('s(a)\n  (b)e;'), 'string:s(a) string:  (b)e', '... on two lines');
is(parts('$h{s} = $h{y}; $x->y(1); (s => 1, q => 2)'),
    'variable:$h variable:$h variable:$x number:1 number:1 number:2',
    'names of keys and methods are no quotes');
is(parts('"a \\" # b" . \'c\\\\\' # d'), 'string:"a \\" # b" string:\'c\\\\\' comment:# d',
    'backslashes in quotes');
is(parts('my $t = "one\ntwo"; 3'), 'word:my variable:$t string:"one string:two" number:3',
    'a quote of two lines');
is(parts('print <<A, <<"B"; # c\none\nA\ntwo # x\nB\n1;'),
    'string:<<A string:<<"B" comment:# c string:one string:A string:two # x string:B number:1',
    'here-documents');
is(parts('f(<<~E);\n  x\n  E\n1'), 'string:<<~E string:  x string:  E number:1', '... indented');
is(parts('$x << 2; 1 << $y; $x <<EOT'), 'variable:$x number:2 number:1 variable:$y variable:$x',
    'a shift is no here-document');
is(parts('1;\n=pod\n\nmy $x\n\n=cut\n2;'), 'number:1 pod:=pod pod:my $x pod:=cut number:2',
    'manuals');
is(parts('1;\n__END__\nmy $x'), 'number:1 pod:__END__ pod:my $x', 'what is behind the end');
is(parts('%h = (%$x); $i % 3; @{$x}; $#x; $#{$x}; $$; $_; @_; &f'),
    'variable:%h variable:$x variable:$i number:3 variable:@ variable:$x variable:$#x '
    + 'variable:$# variable:$x variable:$$ variable:$_ variable:@_ variable:&f', 'variables');
is(parts('qw(a b) x 3'), 'string:qw(a b) word:x number:3', 'lists of words');
is(parts('0x1F + 1_000.5e-3'), 'number:0x1F number:1_000.5e-3', 'numbers');
is(parts(''), '', 'an empty line');

// Each part lies in its line, and parts are in order, whatever the text is.
let seed = 7, bad = '';
const random = (n) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 10) % n;
};
const PIECES = ['$x', '/', 's', '{', '}', '"', "'", '\\', '<<A', 'A', '#', '\n', ' ', '=cut', '(',
    '->', '=>', 'q', 'sub', '%', '\u00e9', '\ud83d\ude00', '__END__', '=pod', '1e', '$', '@'];
for (let n = 0; n < 3000; n++) {
    const text = Array.from({ length: random(40) }, () => PIECES[random(PIECES.length)]).join('');
    const lines = text.split('\n');
    perlParts(lines).forEach((list, i) => {
        let last = 0;
        for (const [from, to] of list) {
            if (from < last || to <= from || to > lines[i].length) bad += JSON.stringify(text);
            last = to;
        }
    });
}
is(bad, '', 'parts of 3,000 random texts are in order, and in their lines');

// Perl's own modules: where a file ends in a quote or in a text, a guess was wrong.
const files = execFileSync('perl', ['-e', 'print "$_\\n" for grep { -f } map { my $d = $_; map '
    + '{ "$d/$_" } qw(Carp.pm Test/More.pm Test/Builder.pm File/Temp.pm File/Spec/Unix.pm '
    + 'Getopt/Long.pm CPAN/Meta.pm JSON/PP.pm Pod/Simple.pm Pod/Man.pm Text/Balanced.pm '
    + 'Math/BigInt.pm Math/BigFloat.pm perl5db.pl CPAN.pm IO/Socket/IP.pm Time/Local.pm) } '
    + 'grep { !ref } @INC']).toString().trim().split('\n');
const wrong = files.filter((file) => {
    const lines = fs.readFileSync(file, 'latin1').split('\n'),

        end = lines.findIndex((line) => /^__END__\s*$/.test(line)),
        at = end < 0 ? lines.findLastIndex((line) => /^1;\s*$/.test(line)) : end;
    const kinds = at < 0 ? [] : perlParts(lines)[at].map(([, , kind]) => kind);
    return at >= 0 && kinds[0] !== 'number' && kinds[0] !== 'pod';
});
is(wrong, [], `${files.length} modules of perl are read to their ends`);
ok(files.length > 5, 'perl has modules');

done();
