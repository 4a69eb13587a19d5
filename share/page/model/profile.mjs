// The profile, and the state that a link has.

import { keep, sum } from '../base/lists.mjs';
import { REVERSE_LIMIT } from '../data/callers.mjs';
import { packageOf } from '../base/words.mjs';
import { Frames, SPAN_KIND, isLane, ranks } from '../data/tree.mjs';

export const state = {
    path: [],                  // names from the root's kid to the frame zoomed to
    range: null,               // [from, to], the drawn part of that frame
    chain: [],                 // steps { act, text }; text: a process, a sub, a range of time ...
    centre: -1,                // the sub of the sandwich
    q: '', match: false,       // the search, and whether it is case-sensitive
    kind: '',                  // the kind of spans whose stacks have colours; '': all
    metric: 0, order: 'name', icicle: false, reversed: false, merged: false,
    table: false, calls: false, time: false, heat: false, sub: -1,    // heat: the heat map of time
    texts: false,              // the list of spans; sub is then a span
    source: false, file: -1, line: 0,          // the source view, its file (-1: the overview)
    layout: 'graph', width: 'after', colour: 'self', measure: 'absolute',               // of two
    uncertain: false, common: false,
};

// begin() sets these fields. In a difference of several runs, `certain` marks the subs with a
// significant difference, by number.
export const profile = {
    facts: null, names: null, tree: null, whole: null, diff: null, metrics: null, has: null,
    rank: null, kept: null, chained: null, ranges: null, key: null,
    relative: false, certain: null, furnished: -1, initial: null, isSwapped: false,
};

// Makes a profile that of the page. `has`: the other parts of the page, lines and times.
export function begin({ facts, tree, whole = null }, has) {
    const { names, diff, metrics, options = {} } = facts;
    Object.assign(profile, {
        facts,
        names,
        tree,
        whole,
        diff,
        metrics,
        has,
        rank: ranks(names),
        kept: new Map(),
        chained: [],
        ranges: new Map(),
        certain: null,
        furnished: -1,
        isSwapped: !!facts.isSwapped,
        key: (key) => metrics.findIndex((m) => m.key === key),
    });
    // Two counters of one profile have no common unit, so each frame's shares of the two counters
    // are compared.
    profile.relative = !!diff && diff.mode === 'pair-metric';
    if (diff) {
        const flags = (list) => Uint8Array.from(names, (_, i) => (list.has(i) ? 1 : 0)),
            { significant } = diff;
        profile.certain = significant && {
            self: flags(new Set(significant.self)),
            total: flags(new Set(significant.total)),
        };
        Object.assign(state, {
            layout: diff.view,
            width: diff.negate && diff.width === 'after' ? 'before' : diff.width,
            colour: diff.colour,
        });
    }
    Object.assign(state, {
        metric: Math.max(0, profile.key(options.metric)),
        order: options.order || 'name',
        q: options.search || '',
        source: options.start === 'source' && hasLines(),
        icicle: !!options.inverted,
        reversed: !!options.reverse && canReverse(),
        merged: !!options.merged,
        heat: isSampled(),
    });
    profile.initial = { ...state };
}

// Returns what begin() takes, with the sides exchanged.
export function exchanged({ facts, tree, whole }) {
    const turned = (list) => list && [list[1], list[0]],
        { sides, diff, places = [], old = {}, spans } = facts,
        of = (frames) =>
            frames
            && new Frames(frames.name, frames.parent, frames.when, (m, side) =>
                frames.own(m, 1 - side),
            );
    return {
        facts: {
            ...facts,
            sides: turned(sides),
            isSwapped: !facts.isSwapped,
            spans: spans && { ...spans, sides: spans.sides.map((side) => 1 - side) },
            places: places.map((place, sub) => old[sub] || place),
            old: Object.fromEntries(Object.keys(old).map((sub) => [sub, places[sub]])),
            diff: {
                ...diff,
                factor: turned(diff.factor),
                factors: diff.factors && diff.factors.map(turned),
                runs: turned(diff.runs),
                moved: {},
            },
        },
        tree: of(tree),
        whole: of(whole),
    };
}

export const hasLines = () => profile.has.lines;
export const hasTimes = () => profile.has.times;

// Returns whether the time line is made of samples or slices, and not of calls.
export const isSampled = () => hasTimes() && !!(profile.facts.options || {}).sampled;

// Returns the number of a sub's name, or -1. Processes and phases may have the names of subs.
export function subNamed(text) {
    return (
        keep(
            profile.kept,
            'index',
            () =>
                new Map(
                    [...profile.names.keys()]
                        .filter((i) => !isLane(profile.facts.kinds[i]))
                        .reverse()
                        .map((i) => [profile.names[i], i]),
                ),
        ).get(text) ?? -1
    );
}

export const isSpan = (name) => profile.facts.kinds[name] === SPAN_KIND;

// Returns the kind of a span, sql of sql:SELECT 1; '' of a sub.
export const spanKind = (name) => (isSpan(name) ? /^[^:]*/.exec(profile.names[name])[0] : '');

// Returns the parts of a name: its package, or the kind of a span, with the colons that follow it,
// and the rest.
export function partsOf(name) {
    const text = profile.names[name],
        of = isSpan(name) ? `${spanKind(name)}:` : packageOf(text) && `${packageOf(text)}::`;
    return [of, text.slice(of.length)];
}

// Returns the package of a sub; '' of a span, whose text may look like one.
export const packageOfSub = (name) => (isSpan(name) ? '' : packageOf(profile.names[name]));

export const canReverse = () => profile.tree.n <= REVERSE_LIMIT;

export const metric = () => profile.metrics[state.metric];

export const last = () => profile.facts.sides.length - 1;

// Returns own values of all sides, scaled as the comparison asks.
export function values(tree, index) {
    return keep(tree.kept, index, () => profile.facts.sides.map((_, side) => {
        const own = tree.own(index, side),
            of =
                profile.diff
                && (profile.diff.factors ? profile.diff.factors[index] : profile.diff.factor),
            factor = (of && of[side]) || 1;
        return factor === 1 ? own : own.map((v) => v * factor);
    }));
}

// The factor that makes the first of two counters as large as the second for drawing; real() undoes
// it.
const balance = () => (profile.relative ? keep(profile.kept, 'balance ' + state.metric, () => {
    const [a, b] = values(profile.tree, state.metric).map(sum);
    return a > 0 && b > 0 ? b / a : 1;
}) : 1);

export const real = (value, side) => (side === 0 ? value / balance() : value);

export const shown = (tree) => keep(tree.kept, 'shown ' + state.metric, () => {
    const own = values(tree, state.metric), by = balance();
    return by === 1 ? own : [own[0].map((v) => v * by), own[1]];
});

// Returns whether callers are drawn.
export const isUpward = () => state.reversed || state.centre >= 0;

export const sideName = (side) =>
    profile.relative ? profile.facts.sides[side] : side ? 'after' : 'before';

export function placeOf(name) {
    const place = profile.facts.places && profile.facts.places[name];
    return place ? `${profile.facts.files[place[0]]}:${place[1]}` : '';
}

// Returns the number of a side's runs, by which counts are divided to give means.
export const runsOf = (side) => (profile.diff && profile.diff.runs && profile.diff.runs[side]) || 1;

// Returns the factor of a side's values, the same as that of the tree's values.
export function scaleOf(side, index = state.metric) {
    const of =
        profile.diff && (profile.diff.factors ? profile.diff.factors[index] : profile.diff.factor);
    return (of && of[side]) || 1;
}
