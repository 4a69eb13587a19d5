// Pairs the files and lines of two sides.

import { keep } from '../base/lists.mjs';
import { alignLines } from '../data/align.mjs';
import { lineCosts, linesOf, textOf } from './lines.mjs';
import { last, profile } from './profile.mjs';

export const isOn = (file, side) =>
    lineCosts.sides[side].from[file + 1] > lineCosts.sides[side].from[file]
    || !!lineCosts.files[file].source[side];

// Returns for each file of the second side its file of the first side, or -1: the one with the same
// path, the one from which most subs have moved, or the only one left with that name in another
// folder.
export function filesBefore() {
    return keep(lineCosts.kept, 'before', () => {
        const to = lineCosts.files.map(({ index }) =>
                isOn(index, 0) && isOn(index, last()) ? index : -1,
            ),
            taken = new Set(to),
            { moved = {} } = profile.diff;
        const free = (file) => file !== undefined && !taken.has(file) && isOn(file, 0),
            bare = (file) => lineCosts.files[file].name.replace(/^.*\//s, '');
        const pair = (file, old) => {
            to[file] = old;
            taken.add(old);
        };
        for (const { index, subs: list } of lineCosts.files) {
            const votes = new Map();
            for (const { sub } of to[index] < 0 ? list : []) {
                const old = moved[sub] && lineCosts.number.get(moved[sub].replace(/:\d+$/, ''));
                if (free(old)) votes.set(old, (votes.get(old) || 0) + 1);
            }
            const [best] = [...votes].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
            if (best) pair(index, best[0]);
        }
        for (const { index } of lineCosts.files) {
            if (to[index] >= 0 || !isOn(index, last())) continue;
            const like = lineCosts.files.filter(
                (other) => free(other.index) && bare(other.index) === bare(index),
            );
            if (like.length === 1) pair(index, like[0].index);
        }
        return to;
    });
}

// Returns the first side of a file of the second one: its text, its costs, and for each line its
// number there. If a text is missing, lines that ran on both sides are paired by number, and the
// page says so.
export async function beforeOf(file) {
    const old = filesBefore()[file];
    if (old < 0) return { file: -1, lines: null, costs: new Map(), oldOf: () => 0, guessed: false };
    const lines = await textOf(old, 0), now = await textOf(file, last()), costs = linesOf(old, 0);
    const to = lines && now ? alignLines(lines, now) : null;
    return {
        file: old,
        lines,
        costs,
        to,
        oldOf: (line) => (to ? to[line - 1] || 0 : line),
        guessed: !to && !profile.relative,
    };
}
