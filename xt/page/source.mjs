// The source view without its drawing: costs of lines, where subs begin and end, rows and folding.

import zlib from 'node:zlib';
import { is, done } from '../browser/lib.js';
import { METRICS, f } from '../browser/mktree.js';
import { Column, encode } from '../browser/mkpage.js';
import { decode } from '../../share/page/data/decode.mjs';
import {
    callsFrom, callsOf, costAt, fileTotals, hottest, lineCosts, linesHave, linesOf, placeIn,
    readLines, wholeOf,
} from '../../share/page/model/lines.mjs';
import { begin, profile, state, subNamed } from '../../share/page/model/profile.mjs';
import { makeRows, openFile, rangesOf, subAt } from '../../share/page/model/rows.mjs';

const text = [
    'package My;',                     // 1
    'sub one {',                       // 2
    '    my $x = shift;',              // 3
    '    return two($x);',             // 4
    '}',                               // 5
    '',                                // 6
    'sub two { return 1 }',            // 7
    'sub three',                       // 8
    '{',                               // 9
    '    if ($_[0]) {',                // 10
    '        2;',                      // 11
    '    }',                           // 12
    '}',                               // 13
    'one(1);',                         // 14
];

begin(decode(Uint8Array.from(zlib.gunzipSync(encode({
    metrics: METRICS, files: ['/lib/My.pm', 'app.pl'],
    places: { one: [0, 3], two: [0, 7], three: [0, 10] },
    root: { self: 1, kids: [f('one', 30, [f('two', 60, [], 4)], 2), f('three', 9)] },
})))), { lines: true, times: false });
const number = (name) => subNamed(name);

// Makes the block of one side, as the renderer does. A line: { line, count, self, incl, calls }; a
// call: { sub, times, value }.
function packed(files) {
    const parts = [], write = (list) => {
        const column = new Column();
        for (const value of list) column.add(value);
        parts.push(column.done());
    };
    const lines = files.flatMap(({ lines: list }) => list);
    const calls = lines.flatMap(({ calls: list = [] }) => list);
    parts.push(Buffer.from(JSON.stringify({ format: 1, detail: [2], sources: [],
        files: files.map(({ name }) => name) })));
    write(files.map(({ lines: list }) => list.length));
    write(files.flatMap(({ lines: list }) =>
        list.map(({ line }, k) => line - (k ? list[k - 1].line : 0))));
    write(lines.map(({ count }) => count));
    write(lines.map(({ calls: list = [] }) => list.length));
    METRICS.forEach((_, m) => {
        write(lines.map(({ self }) => (m ? 0 : self)));
        write(lines.map(({ incl }) => (m ? 0 : incl)));
    });
    write(calls.map(({ sub }) => number(sub)));
    write(calls.map(({ times }) => times));
    METRICS.forEach((_, m) => write(calls.map(({ value }) => (m ? 0 : value))));
    return Uint8Array.from(Buffer.concat(parts.flatMap((part) => {
        const size = Buffer.alloc(4);
        size.writeUInt32LE(part.length);
        return [size, part];
    })));
}

readLines(packed([
    { name: '/lib/My.pm', lines: [
        { line: 3, count: 2, self: 10, incl: 10 },
        { line: 4, count: 2, self: 20, incl: 80, calls: [{ sub: 'two', times: 4, value: 60 }] },
        { line: 7, count: 4, self: 60, incl: 60 },
        { line: 10, count: 1, self: 9, incl: 9 },
    ] },
    { name: 'app.pl', lines: [
        { line: 1, count: 1, self: 1, incl: 100, calls: [{ sub: 'three', times: 1, value: 9 },
            { sub: 'one', times: 2, value: 90 }] },
    ] },
]));

// ---- costs ----

is([...linesOf(0, 0)], [[3, 0], [4, 1], [7, 2], [10, 3]], 'lines of a file have numbers');
is(costAt(0, 1), { i: 1, count: 2, self: 20, incl: 80 }, '... and costs');
is(callsFrom(0, 4), [{ sub: number('one'), calls: 2, value: 90 },
    { sub: number('three'), calls: 1, value: 9 }], '... and calls, the longest first');
is(callsOf(0, number('two')), [{ file: 0, line: 4, calls: 4, value: 60 }], 'a sub has callers');
is(fileTotals(0), [{ self: 99, count: 9, calls: 7, subs: 3 }, { self: 1, count: 1, calls: 0,
    subs: 0 }, { self: 0, count: 0, calls: 0, subs: 1 }],
    'files have totals, and what has no place has its own');
is([wholeOf(0), linesHave(0)], [100, true], 'the lines have all of the whole');
is(hottest(0, 2).map(({ file, line, self }) => [file, line, self]), [[0, 7, 60], [0, 4, 20]],
    'the hottest lines');
is([placeIn(number('two')), placeIn(0)], [{ file: 0, line: 7 }, null], 'subs have places');

// ---- subs ----

const ranges = rangesOf(0, text);
is(ranges.map(({ sub, line, end }) => [profile.names[sub], line, end]),
    [['one', 2, 5], ['two', 7, 7], ['three', 8, 13]], 'subs begin at their names, and end');
is(rangesOf(0, null).map(({ line, end }) => [line, end]), [[3, 3], [7, 7], [10, 10]],
    '... at their first statements, where there is no text');

// ---- rows ----

Object.assign(openFile, { file: 0, side: 0, lines: text, costs: linesOf(0, 0), ranges,
    whole: wholeOf(0) });
state.file = 0;

// Returns rows as text: 3 is a line, =one a sub, >two a call, <4 a caller, 3-5 lines that are
// folded, -2 a line that is gone, +2 so many rows more.
function rows(change = {}) {
    Object.assign(openFile, { fold: 'all', notes: false, before: null }, change);
    makeRows();
    return openFile.rows.map(({ kind, line, to, sub, call, n }) => ({
        line: `${line}`, fold: `${line}-${to}`, gone: `-${line}`, more: `+${n}`,
        sub: `=${profile.names[sub]}`, call: `>${call && profile.names[call.sub]}`,
        caller: `<${call && call.line}`,
    })[kind]).join(' ');
}

is(rows(), '1 =one 2 3 4 5 6 =two 7 =three 8 9 10 11 12 13 14', 'lines and subs');
is([openFile.at.get(1), openFile.at.get(2), openFile.at.get(14)], [0, 2, 16],
    'lines know their rows');
is(rows({ notes: true }),
    '1 =one <1 2 3 4 >two 5 6 =two <4 7 =three <1 8 9 10 11 12 13 14', 'calls and callers');
is(rows({ fold: 'subs' }), '1 =one 2 3-5 6 =two 7 =three 8 9-13 14', 'subs are folded');
openFile.opened.add(3);
is(rows({ fold: 'subs' }), '1 =one 2 3 4 5 6 =two 7 =three 8 9-13 14', '... and one is opened');
openFile.opened.clear();
openFile.shut.add(8);
is(rows(), '1 =one 2 3 4 5 6 =two 7 =three 8 9-13 14', 'a sub is shut');
openFile.shut.clear();
is(rows({ fold: 'cheap' }), '1 =one 2 3 4 5 6 =two 7 =three 8 9 10 11 12-14',
    'cheap lines are folded, but for their neighbours');
is([3, 7, 11, 14].map((line) => profile.names[subAt(line)]), ['one', 'two', 'three', undefined],
    'a line is in a sub');

const before = { file: 0, lines: ['package My;', 'gone', 'sub one {'], costs: new Map(),
    to: Int32Array.from(text, (_, k) => [1, 3][k] || 0), oldOf: () => 0 };
is(rows({ before }), '1 -2 =one 2 3 4 5 6 =two 7 =three 8 9 10 11 12 13 14',
    'a line of the first side that is gone stands where it was');
is(rows({ lines: null, ranges: rangesOf(0, null) }), '=one 3 4 =two 7 =three 10',
    'without a text there are lines with costs');

done();
