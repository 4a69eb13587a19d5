// Folded text, read.

import { is, ok, done } from '../browser/lib.js';
import { randomTree, stacks } from '../browser/mktree.js';
import { readFolded } from '../../share/page/data/folded.mjs';

const CPU = { key: 'cpu', unit: 's' };
const bytes = (text) => new TextEncoder().encode(text);

// Returns what was read: stack -> own value.
function read(text, metric = CPU) {
    const { facts, tree } = readFolded(typeof text === 'string' ? bytes(text) : text, metric);
    const own = tree.own(0, 0), hz = facts.metrics[0].hz, list = {};
    for (let i = 1; i < tree.n; i++) {
        const path = [];
        for (let at = i; at > 0; at = tree.parent[at]) path.unshift(facts.names[tree.name[at]]);
        if (own[i]) list[path.join(';')] = own[i] / hz * (metric.unit === 's' ? 1e6 : 1);
    }
    return list;
}

function refused(text) {
    try {
        read(text);
    } catch (error) {
        return error.message;
    }
    return 'read';
}

is(read('a;b 3\na 2\na;b 4\n'), { a: 2, 'a;b': 7 }, 'stacks are added up');
is(read('a;b 3\r\n\r\n# a comment\n  \na 2'), { a: 2, 'a;b': 3 },
    'blank lines, comments and ends of lines from elsewhere');
is(read('\ufeffa 1\n'), { a: 1 }, 'a byte order mark');
is(read('a b;c 1\n'), { 'a b;c': 1 }, 'names have blanks');
is(read('a%3Bb;c%25d 1\n'), { 'a;b;c%d': 1 }, 'names have semicolons');
is(read('a\x01;b 1\n'), { 'a\\x01;b': 1 }, 'a control byte can be seen');
is(read(Uint8Array.of(0xff, 0x20, 0x31)), { '\\xff': 1 }, 'a byte that is no UTF-8 can be seen');
is(read('\u00e4\u202e 1\n'), { '\u00e4\\x{202e}': 1 }, 'what turns the direction can be seen');
is(read('f_[k] 1\n'), { f: 1 }, 'marks of other tools are left out');
is(read('ab;c 1\nabc;d 2\nab;cd 3\nab 4\na 5\n'),
    { 'ab': 4, 'ab;c': 1, 'abc;d': 2, 'ab;cd': 3, a: 5 }, 'names begin like others');
is(read('a;;b 1\n'), { 'a;b': 1 }, 'an empty frame is none');
is(read('a 1.5\nb 0.25\n'), { a: 1.5, b: 0.25 }, 'counts have decimals');
is(read('a 0.1\n', { key: 'x', unit: 'x' }), { a: 0.1 }, '... of any unit');
is(readFolded(bytes('(x) 5\n'), CPU).facts.metrics, [{ key: 'cpu', unit: 's', hz: 1e6 }],
    'the metric is the one of the page, in microseconds');

is(refused(''), 'it has no stacks', 'an empty text');
is(refused('hello\n'), 'it is neither folded stacks nor a page of dprofflame', 'another text');
is(refused('a 1\nb\n'), 'line 2 has no stack with a count at its end', 'a line without a count');
is(refused('a 1\0\n'), 'it is neither folded stacks nor a page of dprofflame', 'binary data');
is(refused('a 1 2\nb 3 4\n'), 'its lines have two counts, so that it has two sides itself',
    'text of two sides');

for (let seed = 1; seed <= 100; seed++) {
    const sums = {}, lines = [];
    for (const [stack, value] of stacks(randomTree(seed))) {
        if (!stack.length || !value) continue;
        const key = stack.join(';');
        sums[key] = (sums[key] || 0) + value;
        lines.splice(seed * 7 % (lines.length + 1), 0, `${key} ${value}`);
    }
    const got = lines.length ? read(lines.join('\n')) : {};
    const sorted = (of) => JSON.stringify(Object.entries(of).sort());
    if (sorted(got) !== sorted(sums)) ok(false, `random stacks ${seed}`);
}
ok(true, '100 lists of random stacks, in any order');

done();
