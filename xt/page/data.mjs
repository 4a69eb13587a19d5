// What the page's data become: columns, trees, trees of trees, callers. Trees that are made are
// compared with what a plain way computes of the stacks.

import zlib from 'node:zlib';
import { is, ok, done } from '../browser/lib.js';
import { METRICS, f, folded, randomTree, shape, stacks } from '../browser/mktree.js';
import { Column, encode } from '../browser/mkpage.js';
import { blocks, bytesOf, inflate, varints } from '../../share/page/base/bytes.mjs';
import { reverse, weighty } from '../../share/page/data/callers.mjs';
import { decode } from '../../share/page/data/decode.mjs';
import {
    fold, inclusive, mergeRecursion, onlyWith, positions, ranks, without,
} from '../../share/page/data/tree.mjs';

const raises = (act) => {
    try {
        act();
    } catch (error) {
        return error.message;
    }
    return 'nothing';
};

// ---- numbers ----

const numbers = [0, 1, 127, 128, 16383, 16384, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1];
const column = new Column();
for (const number of numbers) column.add(number);
is([...varints(column.done(), new Float64Array(numbers.length))], numbers,
    'numbers of all sizes come back from a column');
is([...varints(Uint8Array.of(5, 6), new Int32Array(3), 1)], [0, 5, 6],
    'a column may begin at a later index');
is(raises(() => varints(Uint8Array.of(1), new Int32Array(2))), 'a column ends too early',
    'a column that is cut short is refused');
is([...bytesOf('AQID')], [1, 2, 3], 'base64 becomes bytes');
is([...await inflate(zlib.gzipSync(Uint8Array.of(7, 8)))], [7, 8], 'gzip is unpacked');
is(raises(() => blocks(Uint8Array.of(9, 0, 0, 0, 1))()), 'the data end too early',
    'a block that is cut short is refused');

// ---- profiles ----

const read = (profile) => decode(Uint8Array.from(zlib.gunzipSync(encode(profile))));

// Returns path -> inclusive value of the frames that have a value.
function drawn(names, tree, values) {
    const all = inclusive(tree, values), sums = new Map();
    for (let i = 0; i < tree.n; i++)
        if (all[i] > 0) sums.set(tree.path(i).map((name) => names[name]).join(';'), all[i]);
    return shape(sums);
}

const small = read({
    metrics: METRICS, root: { self: 3, kids: [f('a', 5, [f('b', 7)]), f('c', 2)] },
});
is(small.facts.names, ['(program)', 'a', 'b', 'c'], 'a profile has its names');
is([...small.tree.parent], [-1, 0, 1, 0], '... and the parents of its frames');
is([...small.tree.end], [4, 3, 3, 4], '... and the ends of their subtrees');
is([...small.tree.own(0, 0)], [3, 5, 7, 2], '... and their own values');
is(small.tree.kids(0), [1, 3], 'a frame has kids');
is(small.tree.follow([1, 2]), { frame: 2, steps: 2 }, 'a path leads to a frame');
is(small.tree.follow([1, 3]), { frame: 1, steps: 1 }, '... or as far as it exists');
is([...positions(small.tree, [17, 12, 7, 2], 'weight')], [0, 0, 0, 12],
    'frames begin where the heavier ones end');
is(raises(() => read({ format: 2, root: { self: 1 } })), 'format 2 is not known here',
    'an unknown format is refused');

const parted = read({
    metrics: METRICS, parts: ['one', 'two'],
    root: { self: 0, kids: [f('one', 1, [f('a', 2)]), f('two', 4, [f('a', 8, [f('b', 16)])])] },
});
is(drawn(parted.facts.names, parted.tree, parted.tree.own(0, 0)),
    [['', 31], ['a', 26], ['a;b', 16]], 'frames of processes are left out of the tree on show');
is(parted.whole.n, 6, '... and stand in the whole one');

const { facts: { names: subs }, tree } = read({ metrics: METRICS, root: { self: 0, kids: [
    f('a', 0, [f('x', 96)]), f('b', 0, [f('x', 3)]), f('c', 0, [f('x', 1)]),
] } });
const own = tree.own(0, 0);
const wide = reverse(tree, own, weighty(own), [own], [], 0.03, ranks(subs));
is([[...wide.tree.name].map((name) => subs[name]), wide.narrow, wide.lost],
    [['(program)', 'x', 'a', 'b'], 1, [0, 1, 0, 0]], 'callers that are wide enough are built');

// ---- trees of trees ----

const changes = {
    merged: (stack) => stack.filter((name, k) => name !== stack[k - 1]),
    folded: (stack) => stack.filter((name, k) => !(k && 'ab'.includes(name)
        && 'ab'.includes(stack[k - 1]))),
};

for (let seed = 1; seed <= 200; seed++) {
    const made = randomTree(seed), list = stacks(made);
    const { facts: { names }, tree } = read({ metrics: METRICS, root: made });
    const rank = ranks(names), number = (name) => names.indexOf(name), a = number('a');
    const values = tree.own(0, 0), results = [];
    const compare = (what, result, expected) => {
        const got = drawn(names, result, result.own(0, 0));
        if (JSON.stringify(got) !== JSON.stringify(shape(expected))) results.push(what);
    };
    compare('as it is', tree, folded(list, (stack) => stack));
    compare('merged', mergeRecursion(tree, rank), folded(list, changes.merged));
    compare('only', onlyWith(tree, a, rank),
        folded(list.filter(([stack]) => stack.includes('a')), (stack) => stack));
    compare('without', without(tree, a, rank),
        folded(list.filter(([stack]) => !stack.includes('a')), (stack) => stack));
    const group = Uint8Array.from(names, (name) => ('ab'.includes(name) ? 1 : 0));
    compare('folded', fold(tree, group, rank), folded(list, changes.folded));

    const up = reverse(tree, values, weighty(values), [values], [], 0, rank);
    const callers = new Map();
    for (let i = 0; i < up.tree.n; i++)
        callers.set(up.tree.path(i).map((name) => names[name]).join(';'), up.totals[0][i]);
    const reversed = folded(list, (stack) => (stack.length ? [...stack].reverse() : ['(program)']));
    const plain = [...reversed].filter(([key]) => key.split(';').length <= 2);
    const near = shape(callers).filter(([key]) => key.split(';').length <= 2);
    if (JSON.stringify(near) !== JSON.stringify(shape(new Map(plain)))) results.push('callers');
    if (results.length) ok(false, `random tree ${seed}: ${results.join(', ')}`);
}
ok(true, '200 random trees, merged, cut, folded and reversed, are as the plain way has them');

done();
