'use strict';

// The state that a link has, the profile, the scene (the tree on show and its values), and what the search matches.

const $ = (id) => document.getElementById(id);

const state = {
    path: [],                  // names from the root's kid to the frame zoomed to
    range: null,               // [from, to], parts of that frame: what is drawn of it
    chain: [],                 // steps { act, text } of STEPS; text: a process, a phase, a sub, a package or a range of time
    centre: -1,                // the sub of the sandwich
    q: '', match: false,       // the search, and whether case counts
    metric: 0, order: 'name', icicle: false, reversed: false, merged: false, table: false, calls: false, time: false, sub: -1,
    source: false, file: -1, line: 0,                                      // the source view, its file (-1: the overview) and line
    layout: 'graph', width: 'after', colour: 'self', uncertain: false, common: false,     // of differences
};
let profile = null, scene = null;
const matches = { names: null, test: null, mark: null, error: '', at: -1 };

function begin({ facts, tree, whole = null }) {
    const { names, diff, metrics, options = {} } = facts;
    profile = { facts, names, tree, whole, diff, metrics, rank: ranks(names), kept: new Map(), chained: [], ranges: new Map(), key: (key) => metrics.findIndex((m) => m.key === key) };
    // Two counters of one profile have no common unit: each frame's share of its own counter is
    // compared.
    profile.relative = !!diff && diff.mode === 'pair-metric';
    if (diff) {
        const flags = (list) => Uint8Array.from(names, (_, i) => (list.has(i) ? 1 : 0)), { significant } = diff;
        profile.certain = significant && { self: flags(new Set(significant.self)), total: flags(new Set(significant.total)) };
        Object.assign(state, { layout: diff.view, width: diff.negate && diff.width === 'after' ? 'before' : diff.width, colour: diff.colour });
    }
    Object.assign(state, {
        metric: Math.max(0, profile.key(options.metric)), order: options.order || 'name', q: options.search || '',
        source: options.start === 'source' && hasLines(),
        icicle: !!options.inverted, reversed: !!options.reverse && canReverse(), merged: !!options.merged,
    });
    profile.initial = { ...state };
}

// Returns the number of a sub's name, or -1. Processes and phases may have the names of subs.
function subNamed(text) {
    return keep(profile.kept, 'index', () => new Map([...profile.names.keys()].filter((i) => !(profile.facts.kinds[i] >= PHASE_KIND)).reverse().map((i) => [profile.names[i], i]))).get(text) ?? -1;
}

const canReverse = () => profile.tree.n <= REVERSE_LIMIT;
const metric = () => profile.metrics[state.metric];
const last = () => profile.facts.sides.length - 1;
const sum = (list) => list.reduce((a, b) => a + b, 0);

function keep(map, key, what) {
    if (!map.has(key)) map.set(key, what());
    return map.get(key);
}

// Returns own values of all sides, scaled as the comparison asks.
function values(tree, index) {
    return keep(tree.kept, index, () => profile.facts.sides.map((_, side) => {
        const own = tree.own(index, side), of = profile.diff && (profile.diff.factors ? profile.diff.factors[index] : profile.diff.factor), factor = (of && of[side]) || 1;
        return factor === 1 ? own : own.map((v) => v * factor);
    }));
}

// Of two counters the first is drawn as if it were as large as the second; real() returns its own
// number again.
const balance = () => (profile.relative ? keep(profile.kept, 'balance ' + state.metric, () => {
    const [a, b] = values(profile.tree, state.metric).map(sum);
    return a > 0 && b > 0 ? b / a : 1;
}) : 1);
const real = (value, side) => (side === 0 ? value / balance() : value);
const shown = (tree) => keep(tree.kept, 'shown ' + state.metric, () => {
    const own = values(tree, state.metric), by = balance();
    return by === 1 ? own : [own[0].map((v) => v * by), own[1]];
});

// Own weights that decide how wide frames are. With the larger of two a frame that vanished keeps
// its place.
const WEIGHTS = {
    before: ([a]) => a,
    after: (own) => own[own.length - 1],
    union: ([a, b]) => a.map((v, i) => Math.max(v, b[i])),
    change: ([a, b]) => a.map((v, i) => Math.abs(b[i] - v)),
};

// What a name belongs to: My::Mod of My::Mod::sub.
const packageOf = (text) => (/^(.+)::/s.exec(text) || ['', ''])[1];

// __ANON__[File.pm:12] of __ANON__[/usr/lib/My/File.pm:12].
const withoutFolder = (text) => text.replace(/\[[^[\]]*\/([^/[\]]+)\]/, '[$1]');

// A step that chooses a process or a phase: it comes before all others.
const stepOfPart = (noun) => ({
    word: noun, noun, told: (text) => partInWords(text), make: (_, text, k) => chosenParts(k),
    fits: (text, before) => profile.whole && lane(noun, text) >= 0 && before.every(({ act }) => LANES[act] && act !== noun),
});
const stepOfSub = (word, make) => ({ word, noun: 'sub', told: (text) => short(text, 60), make, fits: (text) => subNamed(text) >= 0 });

// What may be done to a tree before it is shown, step by step. make: returns the tree after the step; word, told: what a chip says of
// the step and of its text; noun: what the text names; fits: can the step of a link be done, after those before? What ran where and
// when comes first.
const STEPS = {
    process: stepOfPart('process'),
    phase: stepOfPart('phase'),
    only: stepOfSub('only', (tree, text) => onlyWith(tree, subNamed(text), profile.rank)),
    hide: stepOfSub('without', (tree, text) => without(tree, subNamed(text), profile.rank)),
    time: {
        word: 'time', noun: 'range of time', told: (text) => rangeInWords(text), make: (tree, text) => inRange(tree, text),
        fits: (text, before) => !before.length && hasTimes() && /^[\d.]+-[\d.]+(?:@\d+)?$/.test(text),
    },
    fold: {
        word: 'folded:', noun: 'package', told: (text) => short(text, 60), fits: () => true,
        make: (tree, text) => fold(tree, Uint8Array.from(profile.names, (name) => (packageOf(name) === text ? 1 : 0)), profile.rank),
    },
};

const LANES = { process: PART_KIND, phase: PHASE_KIND };       // steps, and the kinds of names that they choose among

// Makes the tree of the process and the phase that the chain chooses up to its k-th step.
function chosenParts(k) {
    return within(profile.whole, profile.facts.kinds, profile.rank, state.chain.slice(0, k + 1).map(({ act, text }) => lane(act, text)));
}

// Returns the number of a process' or phase's name, or -1.
const lane = (act, text) => profile.names.findIndex((name, i) => name === text && profile.facts.kinds[i] === LANES[act]);

// Returns the tree of what ran in the range, process and phase that were chosen: the steps that sources follow, too.
function placedTree() {
    const n = state.chain.findIndex(({ act }) => act !== 'time' && !LANES[act]);
    const steps = n < 0 ? state.chain.length : n;
    return steps && chained() ? profile.chained[steps - 1].tree : profile.tree;
}

// Returns the tree of which table, lists and graph are: that of the profile, after the steps of the chain. Trees of earlier steps
// are kept, for undo.
function chained() {
    let tree = profile.tree;
    state.chain.forEach(({ act, text }, k) => {
        const key = `${act} ${text}`, old = profile.chained[k];
        if (!old || old.key !== key) {
            profile.chained.length = k;
            profile.chained.push({ key, tree: STEPS[act].make(tree, text, k) });
        }
        ({ tree } = profile.chained[k]);
    });
    return tree;
}

// Makes the tree on show and its values. Everything that depends on them starts from here.
function makeView(pixels) {
    const steps = chained(), base = state.merged ? keep(steps.kept, 'merged', () => mergeRecursion(steps, profile.rank)) : steps, own = shown(base), { kept } = base;
    const total = keep(kept, 'total ' + state.metric, () => own.map((list) => inclusive(base, list)));
    const calls = profile.key('calls'), widths = profile.diff ? ['before', 'after', 'union', 'change'] : ['after'];
    scene = { tree: base, base, all: total, self: own, total, narrow: 0, lost: null, calls: calls < 0 ? null : values(base, calls), largest: {}, split: 0 };
    scene.weights = (width) => (width === 'before' ? total[0] : width === 'after' ? total[last()]
        : keep(kept, `${width} ${state.metric}`, () => inclusive(base, WEIGHTS[width](own))));
    const part = (state.range ? state.range[1] - state.range[0] : 1) * 0.5 / pixels;
    if (state.centre >= 0) makeSandwich(base, widths, part);
    else if (state.reversed) {
        const columns = keep(kept, 'columns ' + state.metric, () => widths.map((width) => WEIGHTS[width](own)));
        // Frames too narrow in their sum are too narrow in each pane.
        const weigh = keep(kept, 'weigh ' + state.metric, () => (profile.diff ? columns[0].map((v, i) => v + columns[1][i]) : columns[0]));
        const make = () => reverse(base, weigh, keep(kept, 'weighty ' + state.metric, () => weighty(weigh)), columns, state.path, part, profile.rank);
        const { tree, totals, narrow, lost } = state.path.length || state.range ? make() : keep(kept, `callers ${state.metric} ${pixels}`, make);
        Object.assign(scene, { tree, narrow, lost, calls: null, total: totals.slice(0, profile.facts.sides.length), weights: (width) => totals[widths.indexOf(width)] });
    }
    const { frame, steps: known } = scene.tree.follow(state.path);
    Object.assign(scene, { focus: frame, steps: known, changed: profile.diff && scene.weights('change'), deepest: scene.tree.depth.reduce((a, b) => (a > b ? a : b), 0), highest: scene.tree.depth.reduce((a, b) => (a < b ? a : b), 0) });
}

// Makes the view of one sub: what it calls, and who calls it. They are one list of frames: from `split` on are callers, which stand at
// depths below 0. Both begin with the sub itself.
function makeSandwich(base, widths, part) {
    const callees = calleesOf(base, state.centre, profile.rank), own = shown(callees), first = below(base, state.centre, true);
    const at = Int32Array.from(first.keys()).filter((i) => first[i]);
    const ends = widths.map((width) => {
        const all = scene.weights(width), list = new Float64Array(base.n);
        for (const i of at) list[i] = all[i];
        return list;
    });
    const weigh = profile.diff ? ends[0].map((v, i) => v + ends[1][i]) : ends[0];
    const { tree: up, totals, narrow, lost } = reverse(base, weigh, at.filter((i) => weigh[i] > 0), ends, [state.centre], part, profile.rank);
    // The frame above the sub, all of the program, is left out. A sub without any cost here has no callers.
    const split = callees.n, n = Math.max(0, up.n - 1), parent = new Int32Array(split + n), name = new Int32Array(split + n);
    name.set(callees.name);
    parent.set(callees.parent);
    for (let i = 0; i < n; i++) {
        name[split + i] = up.name[i + 1];
        parent[split + i] = i ? up.parent[i + 1] - 1 + split : -1;
    }
    const tree = new Frames(name, parent, null, null), joined = (a, b) => {
        const list = new Float64Array(split + n);
        list.set(a);
        if (b) list.set(b.subarray(1), split);
        return list;
    };
    for (let i = split; i < split + n; i++) tree.depth[i] = -tree.depth[i];
    const weights = widths.map((width, w) => joined(inclusive(callees, WEIGHTS[width](own)), totals[w])), all = new Float64Array(split + n);
    all.set(lost.slice(1), split);
    Object.assign(scene, {
        tree, split, narrow, lost: all, calls: null, self: own.map((list) => joined(list)),
        total: profile.facts.sides.map((_, side) => joined(inclusive(callees, own[side]), totals[side])), weights: (width) => weights[widths.indexOf(width)],
    });
}

// Chooses the difference that is coloured: where callers are drawn, and where widths are changes,
// only the whole one is meaningful. The triple view has one scale for its three panes.
const kindOf = (width) => ((width === 'change' && state.layout !== 'triple') || isUpward() ? 'total' : state.colour);

// Are callers drawn?
const isUpward = () => state.reversed || state.centre >= 0;

// With several runs a side, what may be chance is not coloured at first.
const certain = (name, kind) => !profile.certain || state.uncertain || profile.certain[kind][name] === 1 || (isUpward() && profile.certain.self[name] === 1);

// Returns the largest |difference| among the coloured frames: the end of the scale.
function largest(kind) {
    const key = kind + state.uncertain;
    if (scene.largest[key] === undefined) {
        const [a, b] = scene[kind], { name, n } = scene.tree;
        let most = 0;
        for (let i = 0; i < n; i++) {
            const d = Math.abs(b[i] - a[i]);
            if (d > most && certain(name[i], kind)) most = d;
        }
        scene.largest[key] = most;
    }
    return scene.largest[key];
}

// Returns -1 .. 1: how blue or red. The square root shows small differences; less than a thousandth
// of the largest is none.
function shade(i, width) {
    const kind = kindOf(width), [a, b] = scene[kind], d = b[i] - a[i], most = largest(kind);
    if (!certain(scene.tree.name[i], kind) || Math.abs(d) < most * 1e-3) return 0;
    const part = width === 'change' && state.layout !== 'triple' ? Math.abs(d) / scene.changed[i] : Math.sqrt(Math.abs(d) / most);
    return Math.sign(d) * Math.min(1, part);
}

const isGone = (i) => !!profile.diff && scene.total[1][i] === 0 && scene.total[0][i] > 0;
const isNew = (i) => !!profile.diff && scene.total[0][i] === 0 && scene.total[1][i] > 0;

// Search. There are few names: each is matched once, and frames are found by name. A bad expression
// leaves the last good one.
function compile() {
    matches.error = '';
    if (state.q === '') {
        matches.names = matches.test = matches.mark = null;
        return;
    }
    try {
        const test = new RegExp(state.q, state.match ? '' : 'i');
        matches.test = (text) => test.test(text);
        matches.mark = new RegExp(test.source, test.flags + 'g');
        matches.names = Uint8Array.from(profile.names, (name) => (test.test(name) ? 1 : 0));
    } catch (error) {
        matches.error = `Not a usable regex: ${error.message.replace(/^.*: /s, '')}`;
    }
}

// Counts the frames found, and their share: a match below a match is part of it already. With or
// without callers, the same stacks have a match.
function tally() {
    matches.at = -1;
    matches.list = null;
    if (!matches.names) return;
    const { base: { n, name, end }, all } = scene, sums = all.map(() => 0);
    let frames = 0, until = 0;
    for (let i = 0; i < n; i++) {
        if (matches.names[name[i]] === 0) continue;
        frames++;
        if (i < until) continue;
        until = end[i];
        for (let s = 0; s < sums.length; s++) sums[s] += all[s][i];
    }
    matches.frames = frames;
    matches.shares = sums.map((v, s) => (all[s][0] > 0 ? v / all[s][0] : 0));
}

// Returns sums by name, of the frames that count. With `once`, a frame below one of its name is
// left out: its time is in that one's.
function byName(tree, lists, once, counts, other = (i) => tree.name[i]) {
    const sums = lists.map(() => new Float64Array(profile.names.length)), until = new Int32Array(profile.names.length);
    for (let i = 0; i < tree.n; i++) {
        if (counts && !counts(i)) continue;
        const sub = other(i);
        if (once && i < until[sub]) continue;
        until[sub] = tree.end[i];
        for (let s = 0; s < lists.length; s++) sums[s][sub] += lists[s][i];
    }
    return sums;
}

// Returns for each sub { self, total, calls, ops } by side, where known, and whether it has frames.
function subs(tree = chained()) {
    return keep(tree.kept, 'subs ' + state.metric, () => {
        const own = shown(tree), named = (key) => (profile.key(key) < 0 ? null : byName(tree, values(tree, profile.key(key))));
        const used = new Uint8Array(profile.names.length);
        for (const name of tree.name) used[name] = 1;
        return { used, self: byName(tree, own), total: byName(tree, own.map((list) => inclusive(tree, list)), true), calls: named('calls'), ops: tree !== profile.tree && timeStep() ? null : named('ops') };
    });
}

// Sources are those of the whole program, or of what was chosen of it: no other step counts.
const allSubs = () => subs(placedTree());

// Returns who calls a sub and whom it calls: rows of { sub, total, calls }, each by side.
function around(sub) {
    const tree = chained(), { name, parent } = tree, all = shown(tree).map((list) => inclusive(tree, list)), known = profile.key('calls');
    const collect = (counts, other) => {
        const total = byName(tree, all, true, counts, other), calls = known < 0 ? null : byName(tree, values(tree, known), false, counts, other);
        const seen = new Set();
        for (let i = 1; i < tree.n; i++) if (counts(i)) seen.add(other(i));
        const rows = [...seen].map((key) => ({ sub: key, total: total.map((list) => list[key]), calls: calls && calls.map((list) => list[key]) }));
        return rows.sort((a, b) => Math.max(...b.total) - Math.max(...a.total) || profile.rank[a.sub] - profile.rank[b.sub]);
    };
    return {
        callers: collect((i) => i > 0 && name[i] === sub, (i) => name[parent[i]]),
        callees: collect((i) => i > 0 && name[parent[i]] === sub, (i) => name[i]),
    };
}

// Numbers for people.
const grouped = (v, digits = 0) => v.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits }).replace('-', '\u2212');
const plural = (n, word) => `${grouped(n)} ${word}${n === 1 ? '' : 's'}`;
const COUNT = { unit: '' };

function percent(part) {
    const v = part * 100, a = Math.abs(v);
    return Number.isFinite(v) ? (a === 0 ? '0' : a < 0.01 ? '<0.01' : v.toFixed(a < 10 ? 2 : 1)) + ' %' : '';
}

function amount(ticks, m = metric()) {
    const v = ticks / (m.hz || 1), a = Math.abs(v);
    if (m.unit !== 's') return grouped(v, Number.isInteger(v) || a >= 100 ? 0 : 1) + (m.unit ? ' ' + (a === 1 ? m.unit.replace(/sses$/, 'ss').replace(/([^s])s$/, '$1') : m.unit) : '');
    if (a === 0) return '0 s';
    const [scale, unit] = a >= 0.9995 ? [1, 's'] : a >= 0.9995e-3 ? [1e3, 'ms'] : a >= 0.9995e-6 ? [1e6, '\u00b5s'] : [1e9, 'ns'];
    return `${grouped(v * scale, a * scale >= 100 ? 1 : a * scale >= 10 ? 2 : 3)} ${unit}`;
}

const signed = (ticks, m) => (ticks > 0 ? '+' : '') + amount(ticks, m);

function ratio(before, after) {
    if (before === after) return '\u00d71';
    if (before === 0) return 'new';
    return after === 0 ? 'gone' : '\u00d7' + (after / before).toFixed(after / before >= 100 ? 0 : 2);
}

function growth(before, after) {
    const p = (after - before) / before * 100;
    return before === 0 ? '' : `${p > 0 ? '+' : ''}${grouped(p, p !== 0 && Math.abs(p) < 10 ? 1 : 0)} %`;
}

// Returns the difference of a frame's shares of two counters, in percentage points.
function points(i, kind) {
    const [a, b] = scene[kind];
    return inPoints(b[i] / (scene.total[1][0] || 1) - a[i] / (scene.total[0][0] || 1));
}

const inPoints = (part) => `${part > 0 ? '+' : ''}${grouped(part * 100, 2)} points`;

const short = (text, most = 300) => (text.length > most ? text.slice(0, most) + '\u2026' : text);
const nameOf = (i) => profile.names[scene.tree.name[i]];
const sideName = (side) => (profile.relative ? profile.facts.sides[side] : side ? 'after' : 'before');

function placeOf(name) {
    const place = profile.facts.places && profile.facts.places[name];
    return place ? `${profile.facts.files[place[0]]}:${place[1]}` : '';
}

// DOM without HTML: make('td', { className: 'left' }, 'text', node ...)
function make(tag, options = {}, ...inside) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(options)) {
        if (/-|^role$/.test(key)) node.setAttribute(key, value);
        else node[key] = value;
    }
    node.append(...inside.filter((part) => part !== null && part !== ''));
    return node;
}

const button = (text, onclick, options = {}) => make('button', { type: 'button', onclick, ...options }, text);
