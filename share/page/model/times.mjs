// The time line of traces, and of samples and slices. Times here are seconds since the first
// process began.
//
// A lane (a file) has chunks of steps, each packed separately: 65,536 beginnings and ends of calls.
// All chunks are read once, when the time line is opened: for the overview (cells of time, and the
// calls longer than these), and for the sums of each chunk's frames, so that a range is the sum of
// whole chunks and of parts of the two at its ends. Zooming in unpacks chunks again, and the last
// ones are kept.

import { blocks, bytesOf, inflate, varints } from '../base/bytes.mjs';
import { $, say } from '../base/elements.mjs';
import { keep } from '../base/lists.mjs';
import { redraw, work } from '../base/redraw.mjs';
import { Frames, OUT, inclusive, regroup } from '../data/tree.mjs';
import { seconds } from './numbers.mjs';
import { hasTimes, isSampled, metric, profile, state } from './profile.mjs';

export const CELLS = 4096;            // cells of a lane's overview

export const KEPT = 64;               // chunks that stay unpacked

// The lanes, and the state of their view: `view` is the visible range.
export const timeline = { lanes: [], kept: new Set(), span: 0, view: null, boxes: [], ready: null };

// The tree whose frames the steps have: the profile's, or the whole one with processes and phases.
export const treeOfTime = () => profile.whole || profile.tree;

export async function unpackChunk(chunk) {
    if (chunk.steps) {
        timeline.kept.delete(chunk);
        timeline.kept.add(chunk);
        return chunk.steps;
    }
    const take = blocks(await inflate(bytesOf($(chunk.element).textContent))), n = chunk.n;
    const code = varints(take(), new Int32Array(n)),
        at = varints(take(), new Float64Array(n)),
        cpu = varints(take(), new Float64Array(n));
    let now = chunk.at;
    for (let i = 0; i < n; i++) {
        const real = at[i], more = cpu[i];
        cpu[i] = real + (more % 2 ? -(more + 1) / 2 : more / 2);
        at[i] = now += real;
    }
    chunk.steps = { code, at, cpu };
    timeline.kept.add(chunk);
    if (timeline.kept.size > KEPT) {
        const [oldest] = timeline.kept;
        timeline.kept.delete(oldest);
        oldest.steps = null;
    }
    return chunk.steps;
}

// Reads all lanes, once. Returns a promise.
export function loadTimes() {
    if (!timeline.ready) {
        timeline.ready = readTimes();
        $('busy').textContent = 'Reading the time line\u2026';
        $('busy').hidden = false;
        work.busy = timeline.ready
            .catch((error) => say(`The time line in this file is damaged: ${error.message}.`))
            .then(() => {
                $('busy').hidden = true;
            });
    }
    return timeline.ready;
}

const NEVER_CALLED = { has: () => true };       // a sample is no call

async function readTimes() {
    const facts = JSON.parse(
        new TextDecoder().decode(blocks(await inflate(bytesOf($('dprof-times').textContent)))()),
    );
    if (facts.format !== 1) throw new Error(`format ${facts.format} of times is not known here`);
    for (const [k, { chunks, hz, end, tail, start = 0, ...rest }] of facts.lanes.entries()) {
        const lane = {
            ...rest,
            hz,
            end,
            tail,
            from: start / 1e9,
            deepest: 0,
            goesOn: rest.sampled ? NEVER_CALLED : new Set(rest.goesOn),
            chunks: chunks.map((n, c) => ({ n, element: `dprof-times-${k}-${c}`, steps: null })),
        };
        timeline.lanes.push(lane);
        timeline.span = Math.max(timeline.span, lane.from + end / hz);
        await scan(lane);
    }
    timeline.view = [0, timeline.span || 1];
}

// Reads a lane: the stack at the beginning of each chunk, its sums, and the overview.
async function scan(lane) {
    const { parent, n } = treeOfTime(),
        real = new Float64Array(n),
        cpu = new Float64Array(n),
        calls = new Float64Array(n),
        seen = new Uint8Array(n);
    lane.done = 0;             // ticks up to the last step; later time belongs to no sub
    const cell = Math.max(1, lane.end / CELLS), long = [], dust = [], begins = [];
    let frame = 0, now = 0, count = 0;
    const row = (depth) =>
        dust[depth]
        || (dust[depth] = {
            cover: new Float32Array(CELLS + 1),
            who: new Int32Array(CELLS + 1).fill(-1),
            most: new Float32Array(CELLS + 1),
        });
    const ended = (depth, who, from, to) => {
        if (to - from >= 2 * cell) {
            long.push({ depth, frame: who, from, to });
            return;
        }
        const { cover, who: names, most } = row(depth),
            first = (from / cell) | 0,
            last = (to / cell) | 0;
        cover[first] += first === last ? to - from : (first + 1) * cell - from;
        for (let c = first + 1; c <= last; c++) cover[c] += Math.min(to, (c + 1) * cell) - c * cell;
        if (to - from >= most[first]) {
            most[first] = to - from;
            names[first] = who;
        }
    };
    for (const chunk of lane.chunks) {
        Object.assign(chunk, { at: now, frame, begins: Float64Array.from(begins), count });
        const { code, at, cpu: own } = await unpackChunk(chunk), touched = [];
        for (let i = 0; i < chunk.n; i++) {
            if (!seen[frame]) {
                seen[frame] = 1;
                touched.push(frame);
            }
            real[frame] += at[i] - now;
            cpu[frame] += own[i];
            now = at[i];
            if (code[i] === 0) {
                ended(begins.length, frame, begins.pop(), now);
                frame = parent[frame];
            } else {
                frame += code[i];
                begins.push(now);
                if (begins.length > lane.deepest) lane.deepest = begins.length;
                if (!lane.goesOn.has(count)) calls[frame]++;
                count++;
            }
        }
        if (!seen[frame]) touched.push(frame);
        chunk.end = lane.done = now;
        chunk.has = {
            frame: Int32Array.from(touched),
            real: Float64Array.from(touched, (f) => real[f]),
            cpu: Float64Array.from(touched, (f) => cpu[f]),
            calls: Float64Array.from(touched, (f) => calls[f]),
        };
        for (const f of touched) real[f] = cpu[f] = calls[f] = seen[f] = 0;
    }
    while (begins.length) {
        ended(begins.length, frame, begins.pop(), lane.end);
        frame = parent[frame];
    }
    Object.assign(lane, { cell, long, dust });
}

const IN_TIME = ['real', 'cpu', 'calls'];       // the metrics of a range

// Returns whether a metric has values in a range. In samples and slices all metrics have: the parts
// of a frame's values in a range are those of its time.
export const isInTime = (key) => isSampled() || IN_TIME.includes(key);

export function metricInTime() {
    if (!isInTime(metric().key))
        state.metric = Math.max(0, profile.key(IN_TIME.find((key) => profile.key(key) >= 0)));
}

export const timeStep = () => state.chain.find(({ act }) => act === 'time');

export const ends = (text) => text.replace(/@.*/, '').split('-').map(Number);

const laneOf = (text) => (/@(\d+)$/.exec(text) || [0, -1])[1] * 1;

// Returns the tick itself; or, in a slice that does not say what ran when, the nearer end of the
// slice.
function atCut({ cuts = [] }, tick) {
    const cut = cuts.find(([from, to]) => tick > from && tick < to);
    return !cut ? tick : tick - cut[0] < cut[1] - tick ? cut[0] : cut[1];
}

// Adds up the values of frames within a range, for one lane or all: { real, cpu, calls }, in
// seconds and calls. A step that crosses an end of the range counts in proportion.
export async function sumOf(from, to, only = -1) {
    await loadTimes();
    const { parent, n } = treeOfTime(),
        sum = { real: new Float64Array(n), cpu: new Float64Array(n), calls: new Float64Array(n) };
    for (const lane of timeline.lanes.filter((_, k) => only < 0 || k === only)) {
        const a = atCut(lane, (from - lane.from) * lane.hz),
            b = atCut(lane, (to - lane.from) * lane.hz),
            { hz, done, end, tail } = lane;
        const rest = Math.min(end, b) - Math.max(done, a);
        if (rest > 0) {
            sum.real[0] += rest / hz;
            sum.cpu[0] += tail * rest / (end - done) / hz;
        }
        for (const chunk of lane.chunks) {
            if (chunk.end <= a || chunk.at >= b) continue;
            if (chunk.at >= a && chunk.end <= b) {
                const { frame, real, cpu, calls } = chunk.has;
                for (let k = 0; k < frame.length; k++) {
                    sum.real[frame[k]] += real[k] / hz;
                    sum.cpu[frame[k]] += cpu[k] / hz;
                    sum.calls[frame[k]] += calls[k];
                }
                continue;
            }
            const { code, at, cpu } = await unpackChunk(chunk);
            let { frame, at: now, count } = chunk;
            for (let i = 0; i < chunk.n; i++) {
                const part = Math.min(at[i], b) - Math.max(now, a);
                if (part > 0) {
                    sum.real[frame] += part / hz;
                    sum.cpu[frame] += cpu[i] * part / (at[i] - now) / hz;
                } else if (at[i] === now && now >= a && now < b) sum.cpu[frame] += cpu[i] / hz;
                now = at[i];
                if (code[i] === 0) frame = parent[frame];
                else {
                    frame += code[i];
                    if (now >= a && now < b && !lane.goesOn.has(count)) sum.calls[frame]++;
                    count++;
                }
            }
        }
    }
    return sum;
}

// Makes the tree of a range. Until the range has been added up, it returns the whole tree; then the
// page is redrawn.
export function inRange(tree, text) {
    const sum = profile.ranges.get(text);
    if (!sum) {
        if (!hasTimes()) return tree;
        const done = sumOf(...ends(text), laneOf(text)).then((made) => {
            profile.ranges.clear();
            profile.ranges.set(text, made);
            profile.chained.length = 0;
            if (timeStep()) {
                redraw.chain();
            }
        });
        work.busy = done;
        return tree;
    }
    const whole = inclusive(tree, sum.real),
        { name } = tree,
        timed = new Frames(name, tree.parent, tree.when, (m, side) => {
            const { key, hz } = profile.metrics[m];
            if (isSampled()) return partOf(tree.own(m, side), sum, key);
            return sum[key]
                ? sum[key].map((v) => v * (key === 'calls' ? 1 : hz))
                : tree.own(m, side).map(() => 0);
        }),
        called = inclusive(tree, sum.calls);
    return regroup(timed, profile.rank, (i) => (whole[i] > 0 || called[i] > 0 ? name[i] : OUT));
}

// Returns the sums of all lanes by frame: { real, cpu }, in seconds.
function wholeOf() {
    return keep(profile.kept, 'whole of times', () => {
        const { n } = treeOfTime(), all = { real: new Float64Array(n), cpu: new Float64Array(n) };
        for (const { hz, chunks } of timeline.lanes)
            for (const { has: { frame, real, cpu } } of chunks)
                for (let k = 0; k < frame.length; k++) {
                    all.real[frame[k]] += real[k] / hz;
                    all.cpu[frame[k]] += cpu[k] / hz;
                }
        return all;
    });
}

const OF_CPU = ['cpu', 'user', 'system'];

// Returns the parts of own values in a range, from the sums of samples there and in all.
function partOf(own, sum, key) {
    const time = OF_CPU.includes(key) ? 'cpu' : 'real', all = wholeOf()[time];
    return own.map((v, i) => (all[i] > 0 ? v * Math.min(1, sum[time][i] / all[i]) : 0));
}

// Returns "0.5–0.6 s of process 12" of "0.5-0.6@1".
export function rangeInWords(text) {
    const lane = timeline.lanes[laneOf(text)];
    return `${ends(text).join('\u2013')} s`
        + `${lane ? ` of process ${lane.pid || laneOf(text) + 1}` : ''}`;
}

// Returns the ranges that can be chosen by name, [text, range, lane]: lanes, and the phases of
// each.
export function partsOfTime() {
    const list = [], several = timeline.lanes.length > 1;
    timeline.lanes.forEach((lane, k) => {
        const last = lane.from + lane.end / lane.hz,
            of = several
                ? `${lane.tid ? `thread ${lane.tid} of ` : ''}${lane.pid || lane.name}`
                : '';
        if (several) list.push([`process ${of}`, [lane.from, last], k]);
        const phases = lane.marks
            .filter(([, text], i) => !i || lane.marks[i - 1][1] !== text)
            .map(([at, text]) => [text, lane.from + at / lane.hz]);
        if (phases.length > 1)
            phases.forEach(([text, at], i) =>
                list.push([
                    `${of ? `${of}: ` : ''}phase ${text} (${seconds(at)})`,
                    [at, i + 1 < phases.length ? phases[i + 1][1] : last],
                    several ? k : -1,
                ]),
            );
    });
    return list.filter(([, [from, to]]) => to > from);
}
