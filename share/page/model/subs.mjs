// The values of subs, and of their callers and callees.

import { keep, sum } from '../base/lists.mjs';
import { inPoints, percent } from '../base/words.mjs';
import { inclusive } from '../data/tree.mjs';
import { signed } from './numbers.mjs';
import { last, profile, shown, state, values } from './profile.mjs';
import { chained, placedTree } from './steps.mjs';
import { timeStep } from './times.mjs';

// Returns sums by name of the frames that count. With `once`, a frame below a frame of the same
// name is left out, because its time is included in that one's.
export function byName(tree, lists, once, counts, other = (i) => tree.name[i]) {
    const sums = lists.map(() => new Float64Array(profile.names.length)),
        until = new Int32Array(profile.names.length);
    for (let i = 0; i < tree.n; i++) {
        if (counts && !counts(i)) continue;
        const sub = other(i);
        if (once && i < until[sub]) continue;
        until[sub] = tree.end[i];
        for (let s = 0; s < lists.length; s++) sums[s][sub] += lists[s][i];
    }
    return sums;
}

// Returns for each sub the known ones of { self, total, calls, ops } by side, and whether it has
// frames.
export function subs(tree = chained()) {
    return keep(tree.kept, 'subs ' + state.metric, () => {
        const own = shown(tree),
            named = (key) =>
                profile.key(key) < 0 ? null : byName(tree, values(tree, profile.key(key)));
        const used = new Uint8Array(profile.names.length);
        for (const name of tree.name) used[name] = 1;
        return {
            used,
            self: byName(tree, own),
            total: byName(
                tree,
                own.map((list) => inclusive(tree, list)),
                true,
            ),
            calls: named('calls'),
            ops: tree !== profile.tree && timeStep() ? null : named('ops'),
        };
    });
}

// Returns the subs for the source view, which follows only the steps for range, process and phase.
export const allSubs = () => subs(placedTree());

// Returns the callers and callees of a sub: rows of { sub, total, calls }, each by side.
export function around(sub) {
    const tree = chained(),
        { name, parent } = tree,
        all = shown(tree).map((list) => inclusive(tree, list)),
        known = profile.key('calls');
    const collect = (counts, other) => {
        const total = byName(tree, all, true, counts, other),
            calls = known < 0 ? null : byName(tree, values(tree, known), false, counts, other);
        const seen = new Set();
        for (let i = 1; i < tree.n; i++) if (counts(i)) seen.add(other(i));
        const rows = [...seen].map((key) => ({
            sub: key,
            total: total.map((list) => list[key]),
            calls: calls && calls.map((list) => list[key]),
        }));
        return rows.sort(
            (a, b) =>
                Math.max(...b.total) - Math.max(...a.total)
                || profile.rank[a.sub] - profile.rank[b.sub],
        );
    };
    return {
        callers: collect((i) => i > 0 && name[i] === sub, (i) => name[parent[i]]),
        callees: collect((i) => i > 0 && name[parent[i]] === sub, (i) => name[i]),
    };
}

// Returns subs, those with the largest self value first, or in a difference those whose self value
// differs most.
export function heaviest(table, fits = () => true) {
    const list = [],
        weigh = (sub) =>
            profile.diff && !profile.relative
                ? Math.abs(table.self[1][sub] - table.self[0][sub])
                : table.self[last()][sub];
    for (let sub = 0; sub < profile.names.length; sub++)
        if (table.used[sub] && profile.facts.kinds[sub] !== 6 && fits(sub)) list.push(sub);
    return list.sort(
        (a, b) =>
            weigh(b) - weigh(a)
            || table.total[last()][b] - table.total[last()][a]
            || profile.rank[a] - profile.rank[b],
    );
}

// Returns a short text about a sub, for places without room for a table: its share or difference.
export function inShort(table, sub) {
    const [a, b] = table.self.map((own) => own[sub]);
    if (!profile.diff) return percent(a / sum(table.self[0]));
    return profile.relative
        ? inPoints(b / (sum(table.self[1]) || 1) - a / (sum(table.self[0]) || 1))
        : signed(b - a);
}

export const hotSubs = (most) => keep(chained().kept, `hot ${state.metric} ${most}`, () => {
    const table = subs(),
        changed = (sub) => table.self[last()][sub] !== (profile.diff ? table.self[0][sub] : 0);
    return heaviest(
        table,
        (sub) => changed(sub) && (!profile.certain || profile.certain.self[sub] === 1),
    ).slice(0, most);
});

// Returns the callers and callees of each sub, for profiles without lines of calls.
export function neighbours() {
    const tree = placedTree();
    return keep(tree.kept, `neighbours ${state.metric}`, () => {
        const { name, parent, end, n } = tree,
            total = inclusive(tree, values(tree, state.metric)[last()]),
            known = profile.key('calls');
        const calls = known < 0 ? null : values(tree, known)[last()],
            pairs = new Map(),
            of = { callers: new Map(), callees: new Map() };
        for (let i = 1; i < n; i++) {
            const from = name[parent[i]],
                key = from * profile.names.length + name[i],
                pair = keep(pairs, key, () => ({
                    from,
                    to: name[i],
                    calls: 0,
                    value: 0,
                    until: 0,
                }));
            if (calls) pair.calls += calls[i];
            if (i < pair.until) continue;
            pair.until = end[i];
            pair.value += total[i];
        }
        const list = [...pairs.values()].sort(
            (a, b) =>
                b.value - a.value
                || b.calls - a.calls
                || profile.rank[a.from] - profile.rank[b.from]
                || profile.rank[a.to] - profile.rank[b.to],
        );
        for (const { from, to, calls: times, value } of list) {
            keep(of.callers, to, () => []).push({ sub: from, calls: times, value });
            keep(of.callees, from, () => []).push({ sub: to, calls: times, value });
        }
        return of;
    });
}
