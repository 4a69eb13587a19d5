// Which files and lines of two sides are the same.

import zlib from 'node:zlib';
import { is, ok, done } from '../browser/lib.js';
import { METRICS, f } from '../browser/mktree.js';
import { encode } from '../browser/mkpage.js';
import { alignLines } from '../../share/page/data/align.mjs';
import { decode } from '../../share/page/data/decode.mjs';
import { lineCosts } from '../../share/page/model/lines.mjs';
import { beforeOf, filesBefore, isOn } from '../../share/page/model/pairs.mjs';
import { begin, subNamed } from '../../share/page/model/profile.mjs';

// ---- lines ----

is([...alignLines(['a', 'b', 'c'], ['a', 'b', 'c'])], [1, 2, 3], 'texts that are the same');
is([...alignLines(['a', 'b', 'c'], ['a', 'x', 'b', 'c'])], [1, 0, 2, 3], 'a line is inserted');
is([...alignLines(['a', 'b', 'c'], ['a', 'c'])], [1, 3], 'a line is gone');
is([...alignLines(['  a {', 'b'], ['a {', 'b'])], [1, 2], 'indentation does not count');
is([...alignLines([], ['a'])], [0], 'an empty text');
is([...alignLines(['}', 'a', '}', 'b', '}'], ['}', 'b', '}', 'a', '}'])].filter(Boolean).length, 3,
    'of two lines that change places one has a pair');
is([...alignLines([...'abab'], [...'baba'])], [2, 3, 4, 0],
    'lines that are in no text once have the longest common sequence');

// Returns the length of the longest common sequence, the plain way.
function common(a, b) {
    const most = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
    for (let i = a.length - 1; i >= 0; i--)
        for (let j = b.length - 1; j >= 0; j--)
            most[i][j] = a[i] === b[j] ? most[i + 1][j + 1] + 1
                : Math.max(most[i + 1][j], most[i][j + 1]);
    return most[0][0];
}

let seed = 1;
const random = (n) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 10) % n;
};
for (let n = 0; n < 500; n++) {
    const text = () => Array.from({ length: random(12) }, () => 'abcde'[random(5)]);
    const a = text(), b = text(), to = [...alignLines(a, b)], pairs = to.filter(Boolean);
    const inOrder = pairs.every((line, k) => k === 0 || line > pairs[k - 1]);
    const same = to.every((line, k) => !line || a[line - 1] === b[k]);
    // Lines that are unique in both come first, so that there may be fewer pairs than the longest
    // sequence has.
    const most = common(a, b);
    if (!inOrder || !same || pairs.length < Math.min(1, most) || pairs.length > most)
        ok(false, `${a.join('')} and ${b.join('')}: ${to}`);
}
ok(true, '500 random texts: pairs are equal lines, and in order');

for (let n = 0; n < 200; n++) {
    const shuffled = () => {
        const list = [...'abcdefghij'];
        for (let k = list.length - 1; k > 0; k--) {
            const other = random(k + 1);
            [list[k], list[other]] = [list[other], list[k]];
        }
        return list;
    };
    const a = shuffled(), b = shuffled(), pairs = [...alignLines(a, b)].filter(Boolean);
    if (pairs.length !== common(a, b)) ok(false, `${a.join('')} and ${b.join('')}: ${pairs}`);
}
ok(true, '200 texts of unique lines: as many pairs as there can be');

const wide = Array.from({ length: 30000 }, (_, k) => `line ${k}`);
is([...alignLines(wide, wide.slice(100))].slice(0, 2), [101, 102], 'long texts have anchors');

// ---- files ----

const diff = { view: 'graph', width: 'after', colour: 'self', negate: false, factor: [1, 1],
    normalized: '', runs: [1, 1], significant: null, moved: { moved: 'old/Far.pm:3' },
    mode: 'diff' };
begin(decode(Uint8Array.from(zlib.gunzipSync(encode({
    metrics: METRICS, sides: ['a', 'b'], diff,
    root: { self: 0, kids: [f('moved', [1, 2]), f('stays', [1, 2])] },
})))), { lines: true, times: false });

const names = ['My.pm', 'old/Far.pm', 'new/Near.pm', 'a/Same.pm', 'b/Same.pm', 'Fresh.pm'];
const on = [[0, 1], [0], [1], [0], [1], [1]];
const from = (side) => {
    const list = new Int32Array(names.length + 1);
    on.forEach((sides, k) => { list[k + 1] = list[k] + (sides.includes(side) ? 1 : 0); });
    return list;
};
const text = (...lines) => Promise.resolve(lines);
Object.assign(lineCosts, {
    files: names.map((name, index) => ({ index, name, source: [], subs: [], texts: [null, null] })),
    sides: [0, 1].map((side) => ({ from: from(side), line: new Int32Array(9).fill(4) })),
    number: new Map(names.map((name, k) => [name, k])), detail: [2, 2], kept: new Map(),
});
lineCosts.files[2].subs.push({ sub: subNamed('moved'), line: 3 });
lineCosts.files[0].texts = [text('a', 'b'), text('new', 'a', 'b')];

is([isOn(0, 0), isOn(1, 1), isOn(5, 1)], [true, false, true], 'files are on sides');
is(filesBefore(), [0, -1, 1, -1, 3, -1],
    'a file pairs by its name, by the subs that moved, by its name in another folder, or not');
const before = await beforeOf(0);
is([before.file, [...before.to], before.oldOf(3), before.oldOf(1), before.guessed],
    [0, [0, 1, 2], 2, 0, false], 'lines of a file are found on the first side');
const guessed = await beforeOf(2);
is([guessed.file, guessed.to, guessed.oldOf(7), guessed.guessed, [...guessed.costs.keys()]],
    [1, null, 7, true, [4]], '... by number, where a text is missing');
const none = await beforeOf(5);
is([none.file, none.costs.size, none.oldOf(7)], [-1, 0, 0], '... or not at all');

done();
