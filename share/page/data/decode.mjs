// Reads a profile from the page's data: facts and a tree.

import { blocks, varints } from '../base/bytes.mjs';
import { Frames, PART_KIND, PHASE_KIND, ranks, within } from './tree.mjs';

export function decode(bytes) {
    const take = blocks(bytes);
    const facts = JSON.parse(new TextDecoder().decode(take()));
    if (facts.format !== 1) throw new Error(`format ${facts.format} is not known here`);
    const n = facts.frames;
    // Each frame takes at least a byte.
    if (!(n > 0 && n <= bytes.length)) throw new Error('the data end too early');
    const up = varints(take(), new Int32Array(n), 1),
        name = varints(take(), new Int32Array(n)),
        order = take();
    const parent = new Int32Array(n).fill(-1), stack = [0];
    for (let i = 1, depth = 0; i < n; i++) {
        depth += 1 - up[i];
        if (!(depth > 0)) throw new Error(`frame ${i} has no parent`);
        parent[i] = stack[depth - 1];
        stack[depth] = i;
    }
    // Columns of values are read on first use, because most of them are never needed.
    const columns = facts.metrics.map(() => facts.sides.map(take));
    const load = (metric, side) => varints(columns[metric][side], new Float64Array(n));
    const when = order.length ? varints(order, new Int32Array(n), 1) : null;
    return withoutParts(facts, new Frames(name, parent, when, load));
}

// Returns the tree without the frames of processes, threads and phases, which only the selection of
// these needs. `whole`: the tree with them, or null.
function withoutParts(facts, whole) {
    const list = (given) => (Array.isArray(given) ? given : []), parts = list(facts.parts);
    if (!parts.length && !list(facts.kinds).includes(PHASE_KIND))
        return { facts, tree: whole, whole: null };
    const names = [...facts.names, ...parts],
        kinds = [...facts.kinds, ...parts.map(() => PART_KIND)];
    const hues = [...facts.hues, ...parts.map(() => 0)],
        fills = facts.fills && [...facts.fills, ...parts.map(() => '#888888')];
    return {
        facts: { ...facts, names, kinds, hues, fills },
        tree: within(whole, kinds, ranks(names), []),
        whole,
    };
}
