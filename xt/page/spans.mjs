// Spans in the page's model: the filter by kind, callers outside of libraries, equal statements.
// Random trees are compared with what a plain way computes of the stacks.

import zlib from 'node:zlib';
import { is, ok, done } from '../browser/lib.js';
import { METRICS, f, folded, randomTree, stacks } from '../browser/mktree.js';
import { encode } from '../browser/mkpage.js';
import { decode } from '../../share/page/data/decode.mjs';
import { inStacks } from '../../share/page/data/tree.mjs';
import { compile, matches, tally } from '../../share/page/model/matches.mjs';
import {
    begin, exchanged, packageOfSub, partsOf, profile, spanKind, state, subNamed,
} from '../../share/page/model/profile.mjs';
import { isGrey, light, makeView, scene } from '../../share/page/model/scene.mjs';
import {
    allStatements, callersOf, changedStatements, inStatements, spanKinds, statementLines,
    statements,
} from '../../share/page/model/spans.mjs';
import { unite } from '../../share/page/model/unite.mjs';
import { readFolded } from '../../share/page/data/folded.mjs';
import { label } from '../../share/page/draw/label.mjs';

const fresh = { path: [], range: null, chain: [], centre: -1, q: '', match: false, kind: '',
    reversed: false };

// Opens a page. spans: facts, with the names of libraries' subs in a list.
function open(given, { library = [], ...spans } = {}) {
    Object.assign(state, fresh);
    begin(decode(Uint8Array.from(zlib.gunzipSync(encode({ metrics: METRICS, ...given })))),
        { lines: false, times: false });
    profile.facts.spans = { rows: {}, longest: {}, begun: [], ...spans,
        library: profile.names.map((name) => (library.includes(name) ? '1' : '0')).join('') };
    compile();
    makeView(1000);
}

const pathOf = (i) => scene.tree.path(i).map((name) => profile.names[name]).join(';');

// Returns the paths of the frames that have colours.
const lit = () => [...Array(scene.tree.n).keys()].filter((i) => !isGrey(i)).map(pathOf);

function choose(kind, q = '') {
    Object.assign(state, { kind, q });
    compile();
    light();
    tally();
}

// ---- names ----

const ODD = 'sql:SELECT a::int FROM b';
open({ root: { self: 0, kids: [f(ODD, 5), f('My::run', 1), f('job:mail', 2), f('plain', 3)] } });
const name = subNamed;
is(spanKinds(), ['job', 'sql'], 'the kinds of a page');
is([ODD, 'My::run', 'plain'].map((text) => spanKind(name(text))), ['sql', '', ''],
    'spans have a kind, subs have none');
is([ODD, 'My::run', 'plain'].map((text) => partsOf(name(text))),
    [['sql:', 'SELECT a::int FROM b'], ['My::', 'run'], ['', 'plain']],
    'a name has two parts');
is([packageOfSub(name(ODD)), packageOfSub(name('My::run'))], ['', 'My'],
    'the text of a span is in no package');
const ruler = { measureText: (text) => ({ width: text.length }) };
is([40, 21, 20, 11].map((room) => label(ruler, name(ODD), room)),
    [ODD, 'SELECT a::int FROM b', 'SELECT a::int FROM b', 'SE\u2026'],
    'a span on a canvas loses its kind first, and no part of its text before that');

// ---- the filter ----

open({ root: { self: 10, kids: [
    f('main::a', 20, [f('sql:one', 30, [f('DBI::x', 5)]), f('main::b', 7)]),
    f('http:two', 40, [f('sql:three', 2)]), f('main::c', 50)] } });
choose('sql');
is(lit(), ['', 'http:two', 'http:two;sql:three', 'main::a', 'main::a;sql:one',
    'main::a;sql:one;DBI::x'], 'stacks with a span of the kind have colours, the others are grey');
is([matches.frames, matches.shares], [2, [37 / 164]],
    'without a search, the spans of the kind are counted');
choose('sql', '^main|^http');
is([matches.frames, matches.shares], [2, [(62 - 7 + 7 + 42) / 164]],
    'a search finds frames in stacks of the kind only');
choose('http', 'sql');
is([matches.frames, matches.shares], [1, [2 / 164]], '... of another kind');
choose('', 'sql');
is([lit().length, matches.frames], [scene.tree.n, 2], 'without a kind, all frames have colours');
choose('');
Object.assign(state, { centre: name('main::a'), kind: 'sql' });
makeView(1000);
is([...Array(scene.tree.n).keys()].filter(isGrey).map((i) => profile.names[scene.tree.name[i]]),
    ['main::b'], 'in a sandwich, callees without a span are grey');
Object.assign(state, { centre: -1, reversed: true });
makeView(1000);
is(lit().filter((path) => !path.includes(';')).sort(),
    ['', 'DBI::x', 'sql:one', 'sql:three'], 'so are leaves of other stacks in a graph of callers');

// Returns the frames of a sandwich that have colours: those below the sub, and those above it.
function litAround(sub) {
    Object.assign(state, { centre: name(sub) });
    makeView(1000);
    const { split } = scene, [down, up] = [[], []];
    for (let i = 0; i < scene.tree.n; i++)
        if (!isGrey(i)) (i < split ? down : up).push(pathOf(i));
    state.centre = -1;
    makeView(1000);
    return JSON.stringify([down.sort(), up.sort()]);
}

// Returns the same, from the paths that are part of stacks with spans. Callers are drawn of calls
// that took any time; `all`: path -> its time.
function plainAround(sub, wanted, all) {
    const down = new Set(), up = new Set(), drawn = new Set();
    for (const [path, value] of all) {
        const stack = path.split(';'), at = stack.indexOf(sub);
        if (at < 0) continue;
        if (wanted.has(path)) down.add(stack.slice(at + 1).join(';'));
        for (let k = at; k >= 0; k--) {
            const callers = stack.slice(k, at + 1).reverse().join(';');
            if (wanted.has(path)) up.add(callers);
            if (value) drawn.add(callers);
        }
    }
    return JSON.stringify([[...down].sort(), [...up].filter((path) => drawn.has(path)).sort()]);
}

for (let seed = 1; seed <= 60; seed++) {
    const root = randomTree(seed, ['sql:a', 'sql:b', 'http:a', 'x', 'y']), list = stacks(root);
    open({ root });
    for (const kind of spanKinds()) {
        choose(kind, seed % 3 ? '[xyz]' : '');
        const has = list.map(([stack]) => stack).filter((stack) =>
                stack.some((part) => part.startsWith(`${kind}:`))),
            wanted = new Set(['']);
        for (const stack of has)
            for (let k = 1; k <= stack.length; k++) wanted.add(stack.slice(0, k).join(';'));
        if (JSON.stringify(lit().sort()) !== JSON.stringify([...wanted].sort()))
            ok(false, `random tree ${seed}: the stacks with ${kind}`);
        if (name('x') > 0
            && litAround('x') !== plainAround('x', wanted, folded(list, (stack) => stack)))
            ok(false, `random tree ${seed}: the stacks with ${kind} around x`);
        choose(kind, state.q);
        const find = seed % 3 ? /[xyz]/i : new RegExp(`^${kind}:`);
        let value = 0, frames = 0;
        for (const [stack, own] of list) {
            const paths = stack.map((part, k) => [part, stack.slice(0, k + 1).join(';')]),
                hit = ([part, path]) => find.test(part) && wanted.has(path);
            if (paths.some(hit)) value += own;
            if (paths.length && hit(paths[paths.length - 1])) frames++;
        }
        const all = list.reduce((n, [, own]) => n + own, 0);
        if (matches.frames !== frames || Math.abs(matches.shares[0] - value / all) > 1e-9)
            ok(false, `random tree ${seed}: what is found in stacks with ${kind}`);
    }
}
ok(true, '60 random trees: colours and matches are as the plain way has them');
is([...inStacks(scene.tree, new Uint8Array(profile.names.length))].some(Boolean), false,
    'no stack has none of the names');

// ---- callers ----

const library = ['DBI::x', 'Core::y'];
open({ root: { self: 0, kids: [
    f('main::a', 1, [f('DBI::x', 1, [f('sql:one', 10, [f('sql:one', 5, [], 2)], 3)], 3)]),
    f('main::b', 1, [f('http:two', 4, [f('Core::y', 1, [f('sql:one', 30, [], 1)])])]),
    f('DBI::x', 1, [f('sql:one', 2, [], 4)])] } }, { library });
const told = (rows) => rows.map(({ sub, calls, total }) =>
    [profile.names[sub], calls[0], total[0]]);
is(told(callersOf(name('sql:one'))), [['main::b', 1, 30], ['main::a', 5, 15], ['(program)', 4, 2]],
    'callers are the nearest subs that are of no library; recursion counts once');

for (let seed = 1; seed <= 40; seed++) {
    const root = randomTree(seed, ['sql:a', 'L', 'x', 'y']);
    open({ root }, { library: ['L'] });
    const span = name('sql:a'), sums = new Map();
    if (span < 0) continue;
    const walk = (frame, above) => {
        let all = frame.self.cpu ?? frame.self;
        for (const kid of frame.kids || []) all += walk(kid, [...above, kid.name]);
        if (frame.name !== 'sql:a') return all;
        const up = above.slice(0, -1).reverse()
                .find((part) => part !== 'L' && part !== 'sql:a') || '(program)',
            [calls, total] = sums.get(up) || [0, 0],
            isOutermost = !above.slice(0, -1).includes('sql:a');
        sums.set(up, [calls + frame.self.calls, total + (isOutermost ? all : 0)]);
        return all;
    };
    walk(root, []);
    const got = told(callersOf(span)).map((row) => JSON.stringify(row)).sort(),
        plain = [...sums].map(([up, values]) => JSON.stringify([up, ...values])).sort();
    if (JSON.stringify(got) !== JSON.stringify(plain)) ok(false, `random tree ${seed}: ${got}`);
}
ok(true, '40 random trees: callers are as the plain way has them');

// ---- equal statements ----

const loop = (n) => [f('main::list', 1, [f('sql:SELECT a', 1, [], n), f('sql:SELECT b', 1)])];
open({ root: { self: 0, kids: [...loop(11), f('main::x', 1, [f('sql:SELECT a', 1, [], 2)])] } });
is(allStatements(), '14 SQL statements, 11 of them equal (N+1?)',
    'one statement from one path is counted');
open({ root: { self: 0, kids: loop(10) } });
is(allStatements(), '11 SQL statements, 10 of them equal', '... and ten are not yet too many');
open({ root: { self: 0, kids: loop(1) } });
is(allStatements(), '2 SQL statements', '... and one of a kind is not equal to any');
open({ root: { self: 0, kids: [f('sql:x', 1)] } });
is(allStatements(), '1 SQL statement', '... or there is just one');
open({ root: { self: 0, kids: [f('http:x', 1, [], 20)] } });
is([allStatements(), statements()], ['', []], 'other kinds are no statements');

const phase = (text, kids) => f(`(phase ${text})`, 0, kids, 0);
const served = { parts: ['one', 'two'], root: { self: 0, kids: [
    f('one', 0, [phase('list', loop(22)), phase('item', [f('sql:SELECT c', 1, [], 5)])], 0),
    f('two', 0, [phase('list', loop(14))], 0)] } };
const begun = [{ '(phase list)': 2, '(phase item)': 5 }, { '(phase list)': 1 }];
open(served, { begun });
is(statements(), [{ phase: 'phase list', times: 3, calls: 38, equal: 36 },
    { phase: 'phase item', times: 5, calls: 5, equal: 5 }],
'phases are those of all processes, and each ran several times');
is(statements().map(inStatements), ['3 times 12.7 SQL statements, 12 of them equal (N+1?)',
    '5 times 1 SQL statement'], '... so that the numbers are means');
is(allStatements(), '43 SQL statements, 12 equal in phase phase list (N+1?)',
    'all of them are told together, with the worst phase');
state.chain = [{ act: 'process', text: 'two' }];
makeView(1000);
is([allStatements(), statements()[0].times], ['15 SQL statements, 14 of them equal (N+1?)', 1],
    'a process has its own numbers');
state.chain = [{ act: 'process', text: 'one' }, { act: 'phase', text: '(phase list)' }];
makeView(1000);
is(allStatements(), '2 times 11.5 SQL statements, 11 of them equal (N+1?)',
    '... and so has a phase of it');
state.chain = [{ act: 'phase', text: '(phase item)' }];
makeView(1000);
is(allStatements(), '5 times 1 SQL statement', '... or of all');
open({ root: { self: 0, kids: loop(30) } }, { begun: [{ '(GET /)': 30 }] });
is(allStatements(), '31 SQL statements',
    'of requests that the page does not keep apart, it counts statements only');

// The same requests as a trace, whose graph has no phases.
const traced = [{ '(GET /)': [38, 36], '(BEGIN)': [1, 1] }];
open({ root: { self: 0, kids: loop(38) } }, { begun: [{ '(GET /)': 3 }], statements: traced });
is(statementLines(), ['GET /: 3 times 12.7 SQL statements, 12 of them equal (N+1?)',
    'BEGIN: 1 SQL statement'], 'a page of a trace has the numbers of its phases');
is(allStatements(), '39 SQL statements, 12 equal in phase GET / (N+1?)', '... and says the worst');
state.chain = [{ act: 'hide', text: 'sql:SELECT b' }];
makeView(1000);
is(statementLines(), ['38 SQL statements'], '... but not of what a step leaves');
state.chain = [];
open({ root: { self: 0, kids: loop(38) } }, { begun: [{ '(GET /)': 3 }, { '(GET /)': 1 }],
    statements: [...traced, { '(GET /)': [2, 1] }] });
is(statementLines(), ['GET /: 4 times 10 SQL statements', 'BEGIN: 1 SQL statement'],
    'what is equal in several processes together is unknown');

// ---- statements of two sides ----

const diff = { view: 'graph', width: 'after', colour: 'self', negate: false, factor: [1, 2],
    normalized: '', runs: [1, 1], significant: null, moved: {}, mode: 'diff' };
const both = (text, before, after) => f(`sql:${text}`, [1, 1], [], [before, after]);
const compared = (kids, spans = {}, more = {}) => open({ sides: ['a', 'b'],
    diff: { ...diff, ...more }, root: { self: 0, kids } }, { sides: [0, 1], ...spans });
const listed = (...kids) => [f('main::list', [1, 1], kids, [1, 1])];
compared([
    ...listed(both('loop', 1, 12), both('same', 3, 3), both('less', 11, 10), both('log', 0, 1)),
    f('main::other', [1, 1], [both('loop', 2, 2), both('old', 10, 0), f('http:x', [0, 1], [],
        [0, 99])], [1, 1])]);
is(statementLines(), ['repeated now (N+1?): loop (2 \u2192 12 by one path)',
    'new: log (0 \u2192 1 by one path)', 'gone: old (10 \u2192 0 by one path)',
    'no longer repeated: less (11 \u2192 10 by one path)'],
'a difference says which statements are repeated now, new or gone');
is(allStatements(),
    'SQL statements: 1 repeated now (N+1?), 1 new, 1 gone, 1 no longer repeated',
    '... and how many');
begin(exchanged(profile), { lines: false, times: false });
makeView(1000);
is(changedStatements().map(({ name: sub, fate }) => [partsOf(sub)[1], fate]),
    [['less', 0], ['old', 1], ['log', 2], ['loop', 3]], 'exchanged sides have the opposite');
compared(listed(both('loop', 12, 24)));
is([allStatements(), statementLines()], ['', []],
    'a statement that was repeated before is no news');
compared(listed(both('loop', 30, 33)), {}, { runs: [3, 3] });
is(statementLines(), ['repeated now (N+1?): loop (10 \u2192 11 by one path)'],
    'several runs have means');
const loaded = listed(both('page', 9, 36), both('loop', 9, 44), both('log', 0, 4));
const asked = { begun: [{ '(phase GET /)': 9 }, { '(phase GET /)': 4 }] };
compared([f('(phase GET /)', [0, 0], loaded, [0, 0])], asked);
is(statementLines(), ['repeated now (N+1?): loop (1 \u2192 11 by one path)',
    'new: log (0 \u2192 1 by one path)'], 'phases that ran more often have means');
compared(loaded, asked);
is(statementLines(), ['new: log (0 \u2192 4 by one path)'],
    'of requests that the page does not keep apart, it says only what is new or gone');

// ---- a second profile ----

open({ root: { self: 1, kids: [f('sql:one', 10)] } });
const other = readFolded(new TextEncoder().encode('main::a;http:x 5\nsql:one 7\njob:x 3\n'),
    METRICS[0]);
begin(unite(other, 'other'), { lines: false, times: false });
makeView(1000);
is([spanKinds(), profile.facts.spans, allStatements()], [['http', 'sql'], null, ''],
    'folded stacks that are dropped have the kinds that are known');
is(told(callersOf(name('http:x')).map((row) => ({ ...row, calls: [0] }))), [['main::a', 0, 0]],
    '... and callers');
done();
