'use strict';

// What is looked at: the state that a link holds (S), the profile (P), the tree on show and its values (V), what the search found (F).

const $ = (id) => document.getElementById(id);

const S = {
    path: [],                  // names from the root's kid to the frame zoomed to
    q: '', match: false,       // the search, and whether case counts
    metric: 0, order: 'name', icicle: false, reversed: false, merged: false,
    table: false, sub: -1,
    layout: 'graph', width: 'after', colour: 'self', uncertain: false,     // of differences
};
let P = null;                  // facts, tree, names, diff ...
let V = null;                  // tree, focus, own[side], total[side], weights(width) ...
let F = { test: null, names: null, error: '' };

function begin({ facts, tree }) {
    const { names, diff, options = {} } = facts;
    P = { facts, names, tree, diff, rank: ranks(names), sides: facts.sides.length, metrics: facts.metrics };
    // Two counters of one profile have no common unit: what is compared is each frame's share of its own counter.
    P.relative = !!diff && diff.mode === 'pair-metric';
    P.factor = facts.sides.map((_, side) => (diff && diff.factor && diff.factor[side]) || 1);
    P.key = (key) => P.metrics.findIndex((m) => m.key === key);
    if (diff) {
        P.moved = new Map(Object.entries(diff.moved || {}).map(([name, place]) => [+name, place]));
        const set = (list) => (list ? Uint8Array.from(names, () => 0).map((_, i) => (list.has(i) ? 1 : 0)) : null);
        P.certain = diff.significant && { self: set(new Set(diff.significant.self)), total: set(new Set(diff.significant.total)) };
        S.layout = diff.view || 'graph';
        S.width = diff.width || (diff.negate ? 'before' : 'after');
        S.colour = diff.colour || 'self';
    }
    S.metric = Math.max(0, P.key(options.metric));
    S.order = options.order || 'name';
    S.icicle = !!options.inverted;
    S.reversed = !!options.reverse && canReverse();
    S.merged = !!options.merged;
    S.q = options.search || '';
    P.initial = { ...S };
}

const canReverse = () => P.tree.n <= REVERSE_LIMIT;
const metric = () => P.metrics[S.metric];
const last = () => P.sides - 1;

// A side's own values, scaled as the comparison asks.
function scaled(tree, index, side) {
    const own = tree.own(index, side), factor = P.factor[side] * (P.relative && side === 0 ? balance(index) : 1);
    if (factor === 1) return own;
    const key = `scaled ${index}/${side}`;
    if (!tree.kept.has(key)) tree.kept.set(key, own.map((v) => v * factor));
    return tree.kept.get(key);
}

const sum = (list) => list.reduce((a, b) => a + b, 0);

// By what counter 1 is multiplied so that both are as large.
function balance(index) {
    P.balances = P.balances || [];
    if (!P.balances[index]) {
        const [a, b] = [0, 1].map((side) => sum(P.tree.own(index, side)));
        P.balances[index] = a > 0 && b > 0 ? b / a : 1;
    }
    return P.balances[index];
}

// Own weights by which frames are as wide as they are. `both` is the larger one: a frame that vanished keeps its place.
const WEIGHTS = {
    before: ([a]) => a,
    after: (own) => own[own.length - 1],
    union: ([a, b]) => a.map((v, i) => Math.max(v, b[i])),
    change: ([a, b]) => a.map((v, i) => Math.abs(b[i] - v)),
};

// The tree on show and its values. Everything that depends on them starts from here.
function makeView(pixels) {
    if (S.merged && !P.mergedTree) P.mergedTree = mergeRecursion(P.tree, P.rank);
    const base = S.merged ? P.mergedTree : P.tree;
    const own = P.facts.sides.map((_, side) => scaled(base, S.metric, side));
    const widths = P.diff ? ['before', 'after', 'union', 'change'] : ['after'];
    const keep = `values ${S.metric}`;
    if (!base.values || base.values.keep !== keep) {
        base.values = { keep, own, weights: {} };
        base.values.total = own.map((list) => inclusive(base, list));
    }
    const values = base.values;
    const weightsOf = (width) => {
        if (width === 'after') return values.total[last()];
        if (width === 'before') return values.total[0];
        values.weights[width] = values.weights[width] || inclusive(base, WEIGHTS[width](own));
        return values.weights[width];
    };
    if (!S.reversed) {
        const { frame, steps } = base.follow(S.path);
        V = { tree: base, base, own, total: values.total, focus: frame, steps, weights: weightsOf, narrow: 0, narrowWeight: 0 };
    } else {
        const columns = widths.map((width) => WEIGHTS[width](own));
        // What is too narrow in each pane is too narrow in their sum.
        if (!values.weigh) values.weigh = P.diff ? columns[0].map((v, i) => v + columns[1][i]) : columns[0];
        const made = reverse(base, values.weigh, columns, S.path, 0.3 / pixels, P.rank);
        const index = (width) => widths.indexOf(width);
        const sides = P.diff ? [0, 1] : [0];
        const { frame, steps } = made.tree.follow(S.path);
        V = {
            tree: made.tree, base, own: sides.map((s) => made.ends[s]), total: sides.map((s) => made.totals[s]), focus: frame, steps,
            weights: (width) => made.totals[index(width)], narrow: made.narrow, narrowWeight: made.narrowWeight,
        };
    }
    V.calls = !S.reversed && P.key('calls') >= 0 ? P.facts.sides.map((_, side) => base.own(P.key('calls'), side)) : null;
    if (P.diff) {
        V.changed = V.weights('change');
        V.largest = {};
    }
    return V;
}

// Whether a name's difference is coloured: with several runs a side, what may be chance is not, at first.
function certain(name, kind) {
    return !P.certain || S.uncertain || P.certain[kind][name] === 1;
}

// The largest |difference| among the frames that are coloured: the end of the scale.
function largest(kind) {
    const key = kind + S.uncertain;
    if (V.largest[key] === undefined) {
        const [a, b] = kind === 'self' ? V.own : V.total, name = V.tree.name;
        let most = 0;
        for (let i = 0; i < V.tree.n; i++) {
            const d = Math.abs(b[i] - a[i]);
            if (d > most && certain(name[i], kind)) most = d;
        }
        V.largest[key] = most;
    }
    return V.largest[key];
}

// -1 .. 1: how blue or red. The square root shows small differences, and none at all stays white.
function shade(i, width) {
    const kind = width === 'change' || S.reversed ? 'total' : S.colour;
    const [a, b] = kind === 'self' ? V.own : V.total, d = b[i] - a[i], most = largest(kind);
    if (!certain(V.tree.name[i], kind) || Math.abs(d) <= most * 1e-9) return 0;
    const part = width === 'change' ? Math.abs(d) / V.changed[i] : Math.sqrt(Math.abs(d) / most);
    return Math.sign(d) * Math.min(1, part);
}

const isGone = (i) => P.diff && V.total[1][i] === 0 && V.total[0][i] > 0;
const isNew = (i) => P.diff && V.total[0][i] === 0 && V.total[1][i] > 0;

// Search. The names are few: each is matched once, frames are found by their names.
function compile() {
    F.error = '';
    if (S.q === '') {
        F.test = F.names = null;
        return;
    }
    let test;
    try {
        test = new RegExp(S.q, S.match ? '' : 'i');
    } catch (error) {
        F.error = 'Not a regular expression: ' + String(error.message).replace(/^Invalid regular expression:\s*/, '');
        return;
    }
    const names = new Uint8Array(P.names.length), begun = performance.now();
    for (let i = 0; i < names.length; i++) {
        if (test.test(P.names[i])) names[i] = 1;
        if (performance.now() - begun > 2000) {
            F.error = 'This expression takes too long';
            return;
        }
    }
    F.test = test;
    F.names = names;
}

// Frames found, and their share: a match below a match is in it already. Callers or not, the same stacks hold a match.
function tally() {
    F.at = -1;
    F.list = null;
    if (!F.names) return;
    const { tree: { n, name, end }, values: { total } } = { tree: V.base, values: V.base.values };
    const shares = total.map(() => 0);
    let frames = 0, until = 0;
    for (let i = 0; i < n; i++) {
        if (F.names[name[i]] === 0) continue;
        frames++;
        if (i < until) continue;
        until = end[i];
        for (let s = 0; s < total.length; s++) shares[s] += total[s][i];
    }
    F.frames = frames;
    F.subs = sum(F.names);
    F.shares = shares.map((v, s) => (total[s][0] > 0 ? v / total[s][0] : 0));
}

// The frames found that have a width, from the left.
function matches(x, weights) {
    if (!F.list) {
        const { n, name, depth } = V.tree, list = [];
        for (let i = 0; i < n; i++) if (F.names[name[i]] === 1 && weights[i] > 0) list.push(i);
        if (S.order !== 'name') list.sort((a, b) => x[a] - x[b] || depth[a] - depth[b]);
        F.list = list;
    }
    return F.list;
}

// Subs: sums by name; the time of a sub within itself counts once.
function subs() {
    const key = 'subs ' + S.metric;
    if (P.tree.kept.has(key)) return P.tree.kept.get(key);
    const { n, name, end } = P.tree, count = P.names.length;
    const table = { self: [], total: [], calls: null, ops: null, frames: new Int32Array(count) };
    const add = (own) => {
        const sums = new Float64Array(count);
        for (let i = 0; i < n; i++) sums[name[i]] += own[i];
        return sums;
    };
    for (let i = 0; i < n; i++) table.frames[name[i]]++;
    P.facts.sides.forEach((_, side) => {
        const own = scaled(P.tree, S.metric, side), all = inclusive(P.tree, own);
        const sums = new Float64Array(count), until = new Int32Array(count);
        for (let i = 0; i < n; i++) {
            const sub = name[i];
            if (i < until[sub]) continue;
            until[sub] = end[i];
            sums[sub] += all[i];
        }
        table.self.push(add(own));
        table.total.push(sums);
    });
    for (const known of ['calls', 'ops']) {
        const index = P.key(known);
        if (index >= 0) table[known] = P.facts.sides.map((_, side) => add(P.tree.own(index, side)));
    }
    P.tree.kept.set(key, table);
    return table;
}

// Who calls a sub and whom it calls: name -> { total: [by side], calls: [by side] }. An edge within itself counts once.
function around(sub) {
    const { n, name, parent, end } = P.tree;
    const all = P.facts.sides.map((_, side) => inclusive(P.tree, scaled(P.tree, S.metric, side)));
    const index = P.key('calls'), calls = index < 0 ? null : P.facts.sides.map((_, side) => P.tree.own(index, side));
    const collect = (counts, other) => {
        const rows = new Map(), until = new Int32Array(P.names.length);
        for (let i = 1; i < n; i++) {
            if (!counts(i)) continue;
            const key = other(i);
            let row = rows.get(key);
            if (!row) rows.set(key, row = { sub: key, total: all.map(() => 0), calls: all.map(() => 0) });
            if (calls) calls.forEach((list, s) => { row.calls[s] += list[i]; });
            if (i < until[key]) continue;
            until[key] = end[i];
            all.forEach((list, s) => { row.total[s] += list[i]; });
        }
        return [...rows.values()].sort((a, b) => Math.max(...b.total) - Math.max(...a.total) || P.rank[a.sub] - P.rank[b.sub]);
    };
    return {
        callers: collect((i) => name[i] === sub, (i) => name[parent[i]]),
        callees: collect((i) => name[parent[i]] === sub, (i) => name[i]),
    };
}

// Numbers as people read them.
const grouped = (v, digits = 0) => v.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });

function percent(part) {
    if (!Number.isFinite(part)) return '';
    const v = part * 100, a = Math.abs(v);
    return (a === 0 ? '0' : a < 0.01 ? (v < 0 ? '-' : '') + '<0.01' : v.toFixed(a < 10 ? 2 : 1)) + ' %';
}

function amount(ticks, m = metric()) {
    const v = ticks / (m.hz || 1), a = Math.abs(v);
    if (m.unit !== 's') {
        const text = grouped(v, Number.isInteger(v) || a >= 100 ? 0 : 1);
        return m.unit ? `${text} ${m.unit}` : text;
    }
    if (a === 0) return '0 s';
    const [scale, unit] = a >= 0.9995 ? [1, 's'] : a >= 0.9995e-3 ? [1e3, 'ms'] : a >= 0.9995e-6 ? [1e6, '\u00b5s'] : [1e9, 'ns'];
    const w = a * scale;
    return `${v < 0 ? '\u2212' : ''}${grouped(w, w >= 1000 ? 1 : w >= 100 ? 1 : w >= 10 ? 2 : 3)} ${unit}`;
}

const signed = (ticks, m) => (ticks > 0 ? '+' : '') + amount(ticks, m).replace('-', '\u2212');

function ratio(before, after) {
    if (before === after) return '\u00d71';
    if (before === 0) return 'new';
    if (after === 0) return 'gone';
    const r = after / before;
    return '\u00d7' + (r >= 100 ? r.toFixed(0) : r.toFixed(2));
}

function growth(before, after) {
    if (before === 0) return after === 0 ? '' : 'new';
    const p = (after - before) / before * 100;
    return `${p > 0 ? '+' : p < 0 ? '\u2212' : ''}${Math.abs(p).toFixed(Math.abs(p) < 10 ? 1 : 0)} %`;
}

// Long names are cut where a line is all there is for them.
const short = (text, most = 300) => (text.length > most ? text.slice(0, most) + '\u2026' : text);
const nameOf = (i) => P.names[V.tree.name[i]];

function placeOf(name) {
    const place = P.facts.places && P.facts.places[name];
    return place ? `${P.facts.files[place[0]]}:${place[1]}` : '';
}

// DOM without HTML: make('td', { className: 'left' }, 'text', node ...)
function make(tag, options = {}, ...inside) {
    const node = Object.assign(document.createElement(tag), options);
    node.append(...inside.filter((part) => part !== null && part !== undefined && part !== ''));
    return node;
}
