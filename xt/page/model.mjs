// What is drawn of a profile: the scene, steps, differences, subs, matches, numbers in words.

import zlib from 'node:zlib';
import { is, ok, done } from '../browser/lib.js';
import { METRICS, f, folded, randomTree, shape, stacks } from '../browser/mktree.js';
import { encode } from '../browser/mkpage.js';
import { grouped, growth, percent, plural, ratio } from '../../share/page/base/words.mjs';
import { hueOf } from '../../share/page/data/hue.mjs';
import { decode } from '../../share/page/data/decode.mjs';
import { compile, matches, tally } from '../../share/page/model/matches.mjs';
import { amount, signed } from '../../share/page/model/numbers.mjs';
import { begin, exchanged, profile, state, subNamed } from '../../share/page/model/profile.mjs';
import { isGone, isNew, kindOf, makeView, scene, shade } from '../../share/page/model/scene.mjs';
import { chainOf, placedTree } from '../../share/page/model/steps.mjs';
import { around, hotSubs, subs } from '../../share/page/model/subs.mjs';
import { unite } from '../../share/page/model/unite.mjs';

const NOTHING = { lines: false, times: false };
const fresh = { path: [], range: null, chain: [], centre: -1, match: false, uncertain: false };

function open(given) {
    Object.assign(state, fresh);
    const bytes = zlib.gunzipSync(encode({ metrics: METRICS, ...given }));
    begin(decode(Uint8Array.from(bytes)), NOTHING);
    makeView(1000);
}

// Returns path -> value of what is on show, as far as it has a value.
function shown(side = 0) {
    const { tree, total } = scene, sums = new Map();
    for (let i = 0; i < tree.n; i++) {
        const path = tree.path(i).map((name) => profile.names[name]).join(';');
        if (total[side][i] > 0) sums.set(path, total[side][i]);
    }
    return shape(sums);
}

// ---- the scene ----

const root = { self: 0, kids: [f('main::run', 50, [f('My::parse', 350, [f('My::next', 100)])]),
    f('strict::import', 200)] };
open({ root });
is(shown(), [['', 700], ['main::run', 500], ['main::run;My::parse', 450],
    ['main::run;My::parse;My::next', 100], ['strict::import', 200]], 'the scene has the tree');
state.path = [subNamed('main::run'), subNamed('My::parse')];
makeView(1000);
is([scene.focus, scene.steps], [2, 2], 'a path is zoomed to');
state.path = [subNamed('main::run'), subNamed('strict::import')];
makeView(1000);
is([scene.focus, scene.steps], [1, 1], '... as far as it goes');

Object.assign(state, { path: [], chain: [{ act: 'fold', text: 'My' }] });
makeView(1000);
is(shown(), [['', 700], ['main::run', 500], ['main::run;My::parse', 450],
    ['strict::import', 200]], 'a package is folded');
state.chain.push({ act: 'hide', text: 'strict::import' });
makeView(1000);
is(shown(), [['', 500], ['main::run', 500], ['main::run;My::parse', 450]],
    '... and a sub left out');
is([scene.all[0][0], profile.chained.length], [500, 2], '... and both trees are kept');
is(placedTree() === profile.tree, true, 'sources do not follow these steps');
is(chainOf([{ act: 'only', text: 'none' }, { act: 'only', text: 'My::parse' }]),
    { act: 'only', text: 'none' }, 'a step of a link that fits nothing is told');
is(state.chain, [{ act: 'only', text: 'My::parse' }], '... and left out of the chain');

Object.assign(state, { chain: [], centre: subNamed('My::parse') });
makeView(1000);
const { tree, split } = scene;
is([...tree.name].map((name) => profile.names[name]),
    ['My::parse', 'My::next', 'My::parse', 'main::run'], 'a sub stands with callees and callers');
is([[...tree.depth], split, [...scene.total[0]]], [[0, 1, 0, -1], 2, [450, 100, 450, 450]],
    '... the callers at depths below 0');

open({ parts: ['one', 'two'], root: { self: 0, kids: [f('one', 1, [f('a', 2)]),
    f('two', 4, [f('a', 8, [f('b', 16)])])] } });
state.chain = [{ act: 'process', text: 'two' }];
makeView(1000);
is(shown(), [['', 28], ['a', 24], ['a;b', 16]], 'a process is chosen');

for (let seed = 1; seed <= 50; seed++) {
    const made = randomTree(seed), list = stacks(made);
    open({ root: made });
    const plain = folded(list, (stack) => stack);
    if (JSON.stringify(shown()) !== JSON.stringify(shape(plain))) ok(false, `random tree ${seed}`);
    const table = subs(), own = new Map(), all = new Map();
    for (const [stack, value] of list) {
        const last = stack[stack.length - 1] ?? '(program)';
        own.set(last, (own.get(last) || 0) + value);
        for (const name of new Set(['(program)', ...stack]))
            all.set(name, (all.get(name) || 0) + value);
    }
    for (const [name, value] of all) {
        const sub = subNamed(name);
        if (table.total[0][sub] !== value || table.self[0][sub] !== (own.get(name) || 0))
            ok(false, `random tree ${seed}: the sums of ${name}`);
    }
}
ok(true, '50 random trees and the sums of their subs are as the plain way has them');

// ---- subs ----

open({ root });
is(hotSubs(2).map((sub) => profile.names[sub]), ['My::parse', 'strict::import'],
    'the hottest subs');
const { callers, callees } = around(subNamed('My::parse'));
is([callers, callees].map((rows) => rows.map(({ sub, total, calls }) =>
    [profile.names[sub], total, calls])),
[[['main::run', [450], [1]]], [['My::next', [100], [1]]]], 'a sub has callers and callees');

state.q = '^my::';
compile();
tally();
is([matches.frames, matches.shares, matches.error], [2, [450 / 700], ''],
    'matches below a match count once');
state.match = true;
compile();
tally();
is([matches.frames, matches.shares], [0, [0]], '... and none, if case counts');
state.q = '(';
compile();
ok(/^Not a usable regex: ./.test(matches.error), 'a wrong expression is told');
state.q = '';
compile();
is(matches.names, null, 'an empty search matches nothing');

// ---- differences ----

const diff = { view: 'graph', width: 'after', colour: 'self', negate: false, factor: [1, 2],
    normalized: '', runs: [1, 1], significant: { self: ['grown'], total: [] }, moved: {},
    mode: 'diff' };
const two = (name, before, after) => f(name, [before, after]);
open({ sides: ['a', 'b'], diff, root: { self: 0, kids: [two('gone', 10, 0), two('grown', 10, 15),
    two('new', 0, 5), two('same', 20, 10)] } });
const frame = (name) => [...scene.tree.name].indexOf(subNamed(name));
is(shown(1), [['', 60], ['grown', 30], ['new', 10], ['same', 20]],
    'a side is scaled by its factor');
is(['gone', 'grown', 'new', 'same'].map((name) => [isGone(frame(name)), isNew(frame(name))]),
    [[true, false], [false, false], [false, true], [false, false]], 'frames are gone or new');
is(['gone', 'grown', 'new', 'same'].map((name) => shade(frame(name), 'after')), [0, 1, 0, 0],
    'what is uncertain has no colour');
state.uncertain = true;
is(['gone', 'grown', 'new', 'same'].map((name) => +shade(frame(name), 'after').toFixed(3)),
    [-0.5, 1, 0.5, 0], '... unless that is wanted: colours are in proportion');
state.measure = 'relative';
is(['gone', 'grown', 'new', 'same'].map((name) => Math.sign(shade(frame(name), 'after'))
    * +(Math.abs(shade(frame(name), 'after')) === 1)), [-1, 0, 1, 0],
    'relative to the larger side, what is gone or new has the strongest colours');
state.measure = 'absolute';
const had = { sides: [...profile.facts.sides], self: scene.self.map((list) => [...list]) };
begin(exchanged(profile), NOTHING);
makeView();
is([profile.facts.sides, scene.self.map((list) => [...list])],
    [[...had.sides].reverse(), [...had.self].reverse()], 'sides are exchanged');
begin(exchanged(profile), NOTHING);
makeView();
is([profile.isSwapped, scene.self.map((list) => [...list])], [false, had.self], '... and back');
is([kindOf('after'), kindOf('change')], ['self', 'total'], 'changes are coloured by their whole');

// ---- another profile ----

open({ root });
const other = decode(Uint8Array.from(zlib.gunzipSync(encode({
    metrics: METRICS, root: { self: 0, kids: [f('main::run', 70, [f('New::sub', 30)])] },
}))));
begin(unite(other, 'other.out'), NOTHING);
makeView(1000);
is(shown(1), [['', 100], ['main::run', 100], ['main::run;New::sub', 30]], 'a profile is united');
is(shown(0)[1], ['main::run', 500], '... with the one of the page');
is(profile.facts.sides, ['tmon.out', 'other.out'], '... and both have names');
ok(hueOf('My::parse', new Map()) === hueOf('My::next', new Map()), 'a package has one hue');

// ---- words ----

open({ root });
is([0, 1, 950, 1e4].map((ticks) => amount(ticks)), ['0 s', '1.000 ms', '950.0 ms', '10.00 s'],
    'times have units');
is([amount(1, METRICS[1]), amount(1234, METRICS[1]), amount(2, { unit: 'cache-misses' })],
    ['1 call', '1,234 calls', '2 cache-misses'], 'counts have names');
is([signed(5), signed(-5), signed(0)], ['+5.000 ms', '\u22125.000 ms', '0 s'],
    'changes have signs');
is([percent(0), percent(0.00001), percent(0.5), percent(Infinity)],
    ['0 %', '<0.01 %', '50.0 %', ''], 'shares');
is([ratio(1, 2), ratio(0, 2), ratio(2, 0), ratio(3, 3)], ['\u00d72.00', 'new', 'gone', '\u00d71'],
    'ratios');
is([growth(100, 105), growth(100, 50), growth(0, 1)], ['+5.0 %', '\u221250 %', ''], 'growth');
is([grouped(-1234.5, 1), plural(1, 'sub'), plural(2, 'sub')],
    ['\u22121,234.5', '1 sub', '2 subs'], 'numbers and nouns');

done();
