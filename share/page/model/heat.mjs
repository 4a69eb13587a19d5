// The heat map of time: how much each sub has used in each column of time.

import { isLane } from '../data/tree.mjs';
import { profile } from './profile.mjs';
import { timeline, treeOfTime, unpackChunk } from './times.mjs';

const LEAST_WIDE = 8;          // CSS pixels of a column

// Returns the columns of a range on so many pixels: `step` seconds each, the least of 1, 2 or 5
// times a power of ten that is wide enough, n of them from `from` on.
export function columnsOf([from, to], wide) {
    const rough = ((to - from) * LEAST_WIDE) / Math.max(LEAST_WIDE, wide),
        power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough * (1 - 1e-9)),
        first = Math.floor(from / step + 1e-9);
    return { step, from: first * step, n: Math.max(1, Math.ceil(to / step - 1e-9) - first) };
}

// Returns the ends of the columns that a range touches.
export function wholeColumns({ step }, [from, to]) {
    const first = Math.floor(from / step + 1e-9), last = Math.ceil(to / step - 1e-9);
    return [first * step, Math.max(last, first + 1) * step];
}

// Adds up own times of subs by column: CPU time if `cpu`, else elapsed time. Returns a promise of
// { rows, most, columns }, or of null if `isOver` returns by then that nothing needs it any more. A
// row is { sub, total, cells }, in seconds; the rows with the largest totals come first. `most` is
// the largest cell.
export async function heatOf(columns, cpu, isOver = () => false) {
    const rows = new Map(), { name, parent } = treeOfTime();
    // A process' or a phase's own time is the program's.
    const subOf = (frame) =>
        isLane(profile.facts.kinds[name[frame]]) ? name[0] : name[frame];
    const cellsOf = (sub) => {
        if (!rows.has(sub)) rows.set(sub, { sub, total: 0, cells: new Float64Array(columns.n) });
        return rows.get(sub).cells;
    };
    const add = (sub, from, to, value) => {
        const { step, n } = columns,
            a = (from - columns.from) / step,
            b = (to - columns.from) / step;
        if (!(value > 0) || b < 0 || a >= n) return;
        const cells = cellsOf(sub), last = Math.min(n - 1, Math.floor(b));
        if (!(b > a)) {
            if (a >= 0) cells[Math.floor(a)] += value;
            return;
        }
        for (let k = Math.max(0, Math.floor(a)); k <= last; k++)
            cells[k] += (value * (Math.min(b, k + 1) - Math.max(a, k))) / (b - a);
    };
    const end = columns.from + columns.n * columns.step;
    for (const lane of timeline.lanes) {
        const { hz, cuts = [] } = lane, second = (tick) => lane.from + tick / hz;
        for (const chunk of lane.chunks) {
            if (!cuts.length && (second(chunk.end) < columns.from || second(chunk.at) >= end))
                continue;
            const { code, at, cpu: own } = await unpackChunk(chunk);
            if (isOver()) return null;
            let { frame, at: now } = chunk, cut = 0;
            for (let i = 0; i < chunk.n; i++) {
                const value = (cpu ? own[i] : at[i] - now) / hz;
                // A slice that does not say what ran when has it all of the time.
                while (cut < cuts.length && cuts[cut][1] <= now) cut++;
                const [from, to] = cut < cuts.length && cuts[cut][0] <= now ? cuts[cut]
                    : [now, at[i]];
                add(subOf(frame), second(from), second(to), value);
                now = at[i];
                frame = code[i] ? frame + code[i] : parent[frame];
            }
        }
    }
    let most = 0;
    for (const row of rows.values())
        for (const cell of row.cells) {
            row.total += cell;
            most = Math.max(most, cell);
        }
    const sorted = [...rows.values()].filter(({ total }) => total > 0);
    sorted.sort((a, b) => b.total - a.total || profile.rank[a.sub] - profile.rank[b.sub]);
    return { rows: sorted, most, columns };
}
