// Pairs the files and lines of two sides.

import { keep } from '../base/lists.mjs';
import { alignLines } from '../data/align.mjs';
import { fileTotals, lineCosts, linesOf, subsIn, textOf } from './lines.mjs';
import { last, profile } from './profile.mjs';

const usedOn = (side) =>
    keep(profile.tree.kept, `used ${side}`, () => {
        const used = new Uint8Array(profile.names.length), { name, n } = profile.tree;
        for (let m = 0; m < profile.metrics.length; m++) {
            const own = profile.tree.own(m, side);
            for (let i = 0; i < n; i++) if (own[i]) used[name[i]] = 1;
        }
        return used;
    });

export const isOn = (file, side) =>
    lineCosts.sides[side].from[file + 1] > lineCosts.sides[side].from[file]
    || !!lineCosts.files[file].source[side]
    || subsIn(file, side).some(({ sub }) => usedOn(side)[sub]);

// Returns for each file of the second side its number on the first one, -1 for a file that is new,
// or that the second side lacks. A file pairs with the one of its name; or else as its subs do,
// with the file where most of them were; or with the only file left that has its name in another
// folder.
export function filesBefore() {
    return keep(lineCosts.kept, 'before', () => {
        const to = lineCosts.files.map(({ index, name }) =>
                name === '' || (isOn(index, 0) && isOn(index, last())) ? index : -1,
            ),
            taken = new Set(to),
            was = new Map();
        const free = (file) => !taken.has(file) && isOn(file, 0),
            bare = (file) => lineCosts.files[file].name.replace(/^.*\//s, '');
        for (const { index } of lineCosts.files)
            for (const { sub } of subsIn(index, 0)) if (usedOn(0)[sub]) was.set(sub, index);
        const votes = [];
        for (const { index } of lineCosts.files) {
            const count = new Map();
            for (const { sub } of to[index] < 0 ? subsIn(index, last()) : []) {
                if (!usedOn(last())[sub] || !was.has(sub) || !free(was.get(sub))) continue;
                count.set(was.get(sub), (count.get(was.get(sub)) || 0) + 1);
            }
            for (const [old, subs] of count) votes.push({ index, old, subs });
        }
        votes.sort((a, b) => b.subs - a.subs || a.index - b.index || a.old - b.old);
        const pair = (file, old) => {
            to[file] = old;
            taken.add(old);
        };
        for (const { index, old } of votes) if (to[index] < 0 && free(old)) pair(index, old);
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

// Returns the rows of a list of files of two sides: { file, old, was, self, ... }, the totals of
// the file on the second side, and on the first one as `was`. The number of the file is that on the
// second side; a file that only the first side has keeps its own. -1: the other side has none. The
// sums of `was` and of `self` are those of all files.
export function filePairs() {
    const [before, after] = [0, last()].map(fileTotals), to = filesBefore();
    const paired = new Set(to.filter((old) => old >= 0)), rows = [];
    lineCosts.files.forEach((_, file) => {
        const here = isOn(file, last()) || after[file].self !== 0;
        // What has no place, and what another file was, has its values there.
        if (!here && (paired.has(file) ? to[file] !== file : !isOn(file, 0))) return;
        const old = here || to[file] >= 0 ? to[file] : file,
            was = old < 0 ? 0 : before[old].self,
            change = profile.relative ? 0 : after[file].self - was;
        rows.push({ ...after[file], file, old, was, change });
    });
    return rows;
}

// Returns the first side of a file of the second one: its text, its costs, and which of its lines
// each line is. If one of the texts is missing, lines pair by number if they ran in both, and the
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
