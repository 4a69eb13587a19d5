// Builds the visible part of the tree of callers.

import { Frames } from './tree.mjs';

// Makes the tree of callers: the subs that spend the time are the root's kids, their callers the
// kids of those, and so on.
//
// The complete tree may have as many frames as the profile's frames times their depth. So only the
// visible part is built, for one zoom at a time: the path `focus`, and below it the frames with at
// least the part `share` of its weight. `weigh` are the own values of the frames `all` that decide
// about this; `columns` are lists of own values, summed for each new frame.
export const REVERSE_LIMIT = 5000000;

export const weighty = (weigh) => Int32Array.from(weigh.keys()).filter((i) => weigh[i] > 0);

export function reverse(tree, weigh, all, columns, focus, share, rank) {
    const { name, parent } = tree, outName = [], outParent = [], totals = columns.map(() => []);
    const weight = new Float64Array(rank.length),
        counts = new Int32Array(rank.length),
        slot = new Int32Array(rank.length);
    let narrow = 0, least = 0;
    const lost = [];             // by frame: the weight of its callers that are left out

    // A job is a future frame: `from` are the frames of the profile where its time was spent, and
    // `callers` those that call it there.
    const jobs = [{ above: -1, own: name[0], level: 0, from: all, callers: all, whole: true }];
    while (jobs.length) {
        const { above, own, level, from, callers, whole } = jobs.pop(),
            me = outName.length,
            seen = [],
            first = level ? 1 : 0;
        // On the way to the focus, only one caller is followed, otherwise all that are wide enough.
        const only = level < focus.length ? focus[level] : -1;
        outName.push(own);
        outParent.push(above);
        columns.forEach((column, c) =>
            totals[c].push(from.reduce((all, frame) => all + column[frame], 0)),
        );
        lost.push(0);
        if (!whole) continue;
        let mine = 0;
        for (let k = 0; k < from.length; k++) {
            const frame = callers[k], other = name[frame];
            if (only >= 0 && other !== only) continue;
            const value = weigh[from[k]];
            mine += value;
            if (frame < first) continue;
            if (counts[other]++ === 0) seen.push(other);
            weight[other] += value;
        }
        if (level === focus.length) least = mine * share;
        // A frame that is too narrow keeps its place above the focus, but without callers;
        // elsewhere it is left out.
        const kept = seen.filter((other) => {
            const fits = only >= 0 || level === focus.length || weight[other] >= least;
            if (!fits) lost[me] += weight[other];
            return fits;
        });
        narrow += seen.length - kept.length;
        const next = kept.sort((a, b) => rank[b] - rank[a]).map((other, k) => {
            slot[other] = k + 1;
            return {
                above: me,
                own: other,
                level: level + 1,
                from: new Int32Array(counts[other]),
                callers: new Int32Array(counts[other]),
                whole: only >= 0 || weight[other] >= least,
            };
        });
        for (const other of seen) counts[other] = weight[other] = 0;
        for (let k = 0; next.length && k < from.length; k++) {
            const frame = callers[k], other = name[frame];
            if (frame < first || slot[other] === 0) continue;
            const job = next[slot[other] - 1], where = counts[other]++;
            job.from[where] = from[k];
            job.callers[where] = parent[frame];
        }
        for (const job of next) {
            counts[job.own] = slot[job.own] = 0;
            jobs.push(job);
        }
    }
    const out = new Frames(Int32Array.from(outName), Int32Array.from(outParent), null, null);
    return { tree: out, totals: totals.map((t) => Float64Array.from(t)), narrow, lost };
}
