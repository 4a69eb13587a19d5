// The scene: the tree on show and its values.

import { keep } from '../base/lists.mjs';
import { inPoints } from '../base/words.mjs';
import { reverse, weighty } from '../data/callers.mjs';
import { Frames, below, calleesOf, inclusive, mergeRecursion } from '../data/tree.mjs';
import { isUpward, last, profile, shown, state, values } from './profile.mjs';
import { stacksOfKind } from './spans.mjs';
import { chained } from './steps.mjs';

// makeView() sets these fields, and counts the versions.
export const scene = {
    version: 0,
    tree: null,
    base: null,
    all: null,
    self: null,
    total: null,
    calls: null,
    weights: null,
    narrow: 0,
    lost: null,
    largest: null,
    split: 0,
    focus: 0,
    steps: 0,
    changed: null,
    deepest: 0,
    highest: 0,
    lit: null,
};

// Own weights, which decide the widths of frames. With the larger of the two sides, a frame that is
// gone keeps its place.
const WEIGHTS = {
    before: ([a]) => a,
    after: (own) => own[own.length - 1],
    union: ([a, b]) => a.map((v, i) => Math.max(v, b[i])),
    change: ([a, b]) => a.map((v, i) => Math.abs(b[i] - v)),
};

// Makes the tree on show and its values, from which everything else follows.
export function makeView(pixels) {
    const steps = chained(),
        base = state.merged
            ? keep(steps.kept, 'merged', () => mergeRecursion(steps, profile.rank))
            : steps,
        own = shown(base),
        { kept } = base;
    const total = keep(kept, 'total ' + state.metric, () =>
        own.map((list) => inclusive(base, list)),
    );
    const calls = profile.key('calls'),
        widths = profile.diff ? ['before', 'after', 'union', 'change'] : ['after'];
    Object.assign(scene, {
        version: scene.version + 1,
        tree: base,
        base,
        all: total,
        self: own,
        total,
        narrow: 0,
        lost: null,
        calls: calls < 0 ? null : values(base, calls),
        largest: {},
        split: 0,
    });
    scene.weights = (width) => (width === 'before' ? total[0] : width === 'after' ? total[last()]
        : keep(kept, `${width} ${state.metric}`, () => inclusive(base, WEIGHTS[width](own))));
    const part = (state.range ? state.range[1] - state.range[0] : 1) * 0.5 / pixels;
    if (state.centre >= 0) makeSandwich(base, widths, part);
    else if (state.reversed) {
        const columns = keep(kept, 'columns ' + state.metric, () =>
            widths.map((width) => WEIGHTS[width](own)),
        );
        // Frames that are too narrow in the sum of the sides are too narrow in each pane.
        const weigh = keep(kept, 'weigh ' + state.metric, () =>
            profile.diff ? columns[0].map((v, i) => v + columns[1][i]) : columns[0],
        );
        const make = () =>
            reverse(
                base,
                weigh,
                keep(kept, 'weighty ' + state.metric, () => weighty(weigh)),
                columns,
                state.path,
                part,
                profile.rank,
            );
        const { tree, totals, narrow, lost } =
            state.path.length || state.range
                ? make()
                : keep(kept, `callers ${state.metric} ${pixels}`, make);
        Object.assign(scene, {
            tree,
            narrow,
            lost,
            calls: null,
            total: totals.slice(0, profile.facts.sides.length),
            weights: (width) => totals[widths.indexOf(width)],
        });
    }
    const { frame, steps: known } = scene.tree.follow(state.path);
    Object.assign(scene, {
        focus: frame,
        steps: known,
        changed: profile.diff && scene.weights('change'),
        deepest: scene.tree.depth.reduce((a, b) => (a > b ? a : b), 0),
        highest: scene.tree.depth.reduce((a, b) => (a < b ? a : b), 0),
    });
    light();
}

// Marks the frames that have colours: with a kind of spans chosen, those of stacks with such spans.
export function light() {
    scene.lit = scene.split ? litSandwich() : stacksOfKind(scene.tree);
}

// Marks those frames of a sandwich: a span may be among the callers or the callees of the sub.
function litSandwich() {
    const { base, tree, split } = scene, lit = stacksOfKind(base);
    if (!lit) return null;
    const marked = new Frames(base.name, base.parent, null, () => Float64Array.from(lit)),
        callees = calleesOf(marked, state.centre, profile.rank).own(0, 0),
        flags = new Uint8Array(tree.n),
        at = outermost(base).filter((i) => lit[i]);
    callees.forEach((n, i) => { flags[i] = n > 0; });
    for (const i of at) {
        // The callers of this call, as far as they are drawn, from the sub up.
        let k = split;
        for (let up = i; up >= 0 && k < tree.n; up = base.parent[up]) {
            const own = base.name[up];
            if (up !== i) k = tree.kids(k).find((kid) => tree.name[kid] === own) ?? tree.n;
            if (k < tree.n) flags[k] = 1;
        }
    }
    return flags;
}

// Returns the calls of the sandwich's sub that are in no other call of it.
function outermost(base) {
    const first = below(base, state.centre, true);
    return Int32Array.from(first.keys()).filter((i) => first[i]);
}

export const isGrey = (i) => !!scene.lit && !scene.lit[i];

// Makes the view of one sub with its callees and callers. Both are in one list of frames, in which
// callers begin at `split` and have depths below 0. Both parts begin with the sub itself.
function makeSandwich(base, widths, part) {
    const callees = calleesOf(base, state.centre, profile.rank),
        own = shown(callees),
        at = outermost(base);
    const ends = widths.map((width) => {
        const all = scene.weights(width), list = new Float64Array(base.n);
        for (const i of at) list[i] = all[i];
        return list;
    });
    const weigh = profile.diff ? ends[0].map((v, i) => v + ends[1][i]) : ends[0];
    const {
        tree: up,
        totals,
        narrow,
        lost,
    } = reverse(
        base,
        weigh,
        at.filter((i) => weigh[i] > 0),
        ends,
        [state.centre],
        part,
        profile.rank,
    );
    // The frame above the sub, which is the whole program, is left out. A sub without any cost here
    // has no callers.
    const split = callees.n,
        n = Math.max(0, up.n - 1),
        parent = new Int32Array(split + n),
        name = new Int32Array(split + n);
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
    const weights = widths.map((width, w) =>
            joined(inclusive(callees, WEIGHTS[width](own)), totals[w]),
        ),
        all = new Float64Array(split + n);
    all.set(lost.slice(1), split);
    Object.assign(scene, {
        tree,
        split,
        narrow,
        lost: all,
        calls: null,
        self: own.map((list) => joined(list)),
        total: profile.facts.sides.map((_, side) =>
            joined(inclusive(callees, own[side]), totals[side]),
        ),
        weights: (width) => weights[widths.indexOf(width)],
    });
}

// Returns the kind of difference that is coloured. If callers are drawn, or if widths are changes,
// only the total difference is meaningful. The triple view has one scale for its three panes.
export const kindOf = (width) =>
    (width === 'change' && state.layout !== 'triple') || isUpward() ? 'total' : state.colour;

// With several runs a side, uncertain changes are not coloured at first.
const certain = (name, kind) =>
    !profile.certain
    || state.uncertain
    || profile.certain[kind][name] === 1
    || (isUpward() && profile.certain.self[name] === 1);

// Returns the largest |difference| among the coloured frames, which is the end of the scale.
export function largest(kind) {
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

// Differences below this part of the largest one are neutral, as in src/view/dp_flame.c.
export const NEUTRAL = 0.01;

// Returns -1 .. 1: how blue or red, as part of the largest difference, or relative to the larger
// side of the frame.
export function shade(i, width) {
    const kind = kindOf(width), [a, b] = scene[kind], d = b[i] - a[i], most = largest(kind);
    if (!certain(scene.tree.name[i], kind) || Math.abs(d) < most * NEUTRAL) return 0;
    const whole =
        width === 'change' && state.layout !== 'triple'
            ? scene.changed[i]
            : state.measure === 'relative'
              ? Math.max(a[i], b[i])
              : most;
    return Math.sign(d) * Math.min(1, Math.abs(d) / whole);
}

export const isGone = (i) => !!profile.diff && scene.total[1][i] === 0 && scene.total[0][i] > 0;

export const isNew = (i) => !!profile.diff && scene.total[0][i] === 0 && scene.total[1][i] > 0;

// Returns the difference of a frame's shares of two counters, in percentage points.
export function points(i, kind) {
    const [a, b] = scene[kind];
    return inPoints(b[i] / (scene.total[1][0] || 1) - a[i] / (scene.total[0][0] || 1));
}

export const nameOf = (i) => profile.names[scene.tree.name[i]];
