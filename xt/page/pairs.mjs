// Which files and lines of two sides are the same.

import zlib from 'node:zlib';
import { is, ok, done } from '../browser/lib.js';
import { METRICS, f } from '../browser/mktree.js';
import { Column, encode } from '../browser/mkpage.js';
import { alignLines } from '../../share/page/data/align.mjs';
import { decode } from '../../share/page/data/decode.mjs';
import { lineCosts, readLines } from '../../share/page/model/lines.mjs';
import { beforeOf, filePairs, filesBefore, isOn } from '../../share/page/model/pairs.mjs';
import { begin, profile, subNamed, values } from '../../share/page/model/profile.mjs';

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
    normalized: '', runs: [1, 1], significant: null, moved: {}, mode: 'diff' };
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
    files: names.map((name, index) => ({ index, name, source: [], subs: [], oldSubs: [],
        texts: [null, null] })),
    sides: [0, 1].map((side) => ({ from: from(side), line: new Int32Array(9).fill(4) })),
    number: new Map(names.map((name, k) => [name, k])), detail: [2, 2], kept: new Map(),
});
lineCosts.files[2].subs.push({ sub: subNamed('moved'), line: 3 });
lineCosts.files[1].oldSubs.push({ sub: subNamed('moved'), line: 3 });
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

// ---- totals of files ----

// Returns a block of lines with the given costs: [file, line, side, self].
function packed(files, costs) {
    const parts = [Buffer.from(JSON.stringify({ format: 1, detail: costs.length ? [2, 2] : [0, 0],
        sources: [], files }))];
    const write = (list) => {
        const column = new Column();
        for (const value of list) column.add(value);
        parts.push(column.done());
    };
    for (const side of [0, 1]) {
        const of = files.map((_, k) => costs.filter(([file, , on]) => file === k && on === side));
        const lines = of.flat();
        write(of.map(({ length }) => length));
        write(of.flatMap((list) => list.map(([, line], k) => line - (k ? list[k - 1][1] : 0))));
        write(lines.map(() => 1));
        write(lines.map(() => 0));
        METRICS.forEach((_, m) => {
            write(lines.map(([, , , self]) => (m ? 0 : self)));
            write(lines.map(([, , , self]) => (m ? 0 : self)));
        });
        write([]);
        write([]);
        METRICS.forEach(() => write([]));
    }
    return Uint8Array.from(Buffer.concat(parts.flatMap((part) => {
        const size = Buffer.alloc(4);
        size.writeUInt32LE(part.length);
        return [size, part];
    })));
}

// Two checkouts of a program, with subs that are gone, new, moved to other files or without a
// place, and files that are gone, new or have another name. A model keeps where each side has its
// subs.
let differs = '', pairsAsModel = 0, files = 0;
for (let n = 0; n < 300; n++) {
    const one = () => [random(2) ? random(40) : 0, random(2) ? random(40) : 0];
    const subs = Array.from({ length: 2 + random(9) }, (_, k) => {
        const file = random(4), to = random(5) ? file : random(4);
        return { name: `s${k}`, on: [random(4) > 0, random(4) > 0], place: random(6) > 0,
            was: `old/${file}.pm`, now: `new/${random(9) ? to : `x${to}`}.pm` };
    });
    const grow = (depth) => subs.filter(() => depth < 4 && random(3) === 0).map(({ name, on }) => {
        const cpu = one().map((value, side) => (on[side] ? value : 0));
        return { name, self: { cpu, calls: cpu.map((v) => (v ? 1 : 0)), ops: [0, 0] },
            kids: grow(depth + 1) };
    });
    const root = { self: { cpu: one(), calls: [0, 0], ops: [0, 0] }, kids: grow(0) };
    const sums = new Map();
    (function walk({ name = '(program)', self, kids }) {
        const had = sums.get(name) || [0, 0];
        sums.set(name, had.map((value, side) => value + self.cpu[side]));
        kids.forEach(walk);
    })(root);
    const paths = [...new Set(subs.flatMap(({ was, now }) => [was, now]))], places = {}, old = {};
    for (const { name, place, was, now } of subs) {
        if (!place || !sums.has(name)) continue;
        const [a, b] = sums.get(name);
        places[name] = [paths.indexOf(b || !a ? now : was), 1];
        if (a && b) old[name] = [paths.indexOf(was), 1];
    }
    const page = decode(Uint8Array.from(zlib.gunzipSync(encode({
        metrics: METRICS, sides: ['a', 'b'], diff, root, files: paths, places,
    }))));
    begin(page, { lines: true, times: false });
    profile.facts.old = Object.fromEntries(Object.entries(old).map(([name, place]) =>
        [subNamed(name), place]));
    // Every second pair has lines, which have what the subs have.
    const byFile = [new Map(), new Map()];
    for (const [name, sum] of sums) {
        const sub = subs.find((one_) => one_.name === name);
        sum.forEach((value, side) => {
            const file = sub && sub.place ? (side ? sub.now : sub.was) : '';
            if (value) byFile[side].set(file, (byFile[side].get(file) || 0) + value);
        });
    }
    const listed = [...paths, ''];
    const costs = n % 2 ? byFile.flatMap((of, side) => [...of].map(([file, self]) =>
        [listed.indexOf(file), 1, side, self])).sort((a, b) => a[0] - b[0]) : [];
    lineCosts.files = null;
    readLines(packed(n % 2 ? listed : [], costs));
    const rows = filePairs(), whole = values(profile.tree, 0).map((list) =>
        list.reduce((a, b) => a + b, 0));
    const total = (key) => rows.reduce((a, row) => a + row[key], 0);
    if (total('was') !== whole[0] || total('self') !== whole[1])
        differs += `${n}: ${total('was')} ${total('self')}, the whole has ${whole} `;
    for (const { file, old: from, was, self } of rows) {
        const name = lineCosts.files[file].name;
        const known = [from < 0 ? 0 : byFile[0].get(lineCosts.files[from].name) || 0,
            byFile[1].get(name) || 0];
        if (was !== known[0] || self !== known[1]) differs += `${n} ${name}: ${was} ${self} `;
        if (was && self && name) pairsAsModel++;
    }
    const names = rows.map(({ file }) => file);
    if (new Set(names).size !== names.length) differs += `${n}: a file has two rows `;
    files += rows.length;
}
is(differs, '', '300 random pairs of trees: files add up to the totals of both sides');
ok(pairsAsModel > 300, `${pairsAsModel} of ${files} rows have values of both sides`);

done();
