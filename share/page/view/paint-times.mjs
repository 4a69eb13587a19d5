// Paints the time line.

import { grouped, short } from '../base/words.mjs';
import { matches } from '../model/matches.mjs';
import { seconds } from '../model/numbers.mjs';
import { profile, state } from '../model/profile.mjs';
import { stacksOfKind } from '../model/spans.mjs';
import {
    CELLS, KEPT, ends, timeStep, timeline, treeOfTime, unpackChunk,
} from '../model/times.mjs';
import { ink } from '../draw/colours.mjs';
import { FONT, label } from '../draw/label.mjs';
import { MAP_HIGH } from '../draw/map.mjs';
import { heatHeight, heatInWords, paintHeat, wantHeat } from './paint-heat.mjs';

const EXACT = 2500000;         // the most steps that are drawn one by one

const TIME_ROW = 16;
const TIME_HEAD = 18;
const RULER = 34;    // CSS pixels

const laneHeight = (lane) => TIME_HEAD + (lane.deepest + 1) * TIME_ROW;

function sized(canvas, wide, high) {
    const dpr = devicePixelRatio || 1, c = canvas.getContext('2d');
    if (canvas.width !== Math.round(wide * dpr) || canvas.height !== Math.round(high * dpr)) {
        Object.assign(canvas, { width: Math.round(wide * dpr), height: Math.round(high * dpr) });
        Object.assign(canvas.style, { width: wide + 'px', height: high + 'px' });
    }
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    c.fillStyle = ink.back;
    c.fillRect(0, 0, wide, high);
    Object.assign(c, { textBaseline: 'middle', font: FONT, direction: 'ltr' });
    return c;
}

// Paints the overview at once, and again when the visible chunks are unpacked.
export function paintTimes() {
    if (!timeline.canvas || !state.time || state.source || !ink.theme) return;
    timeline.wide = timeline.scroll.clientWidth;
    timeline.high = timeline.scroll.clientHeight;
    if (!(timeline.wide > 0 && timeline.high > 0)) return;
    const all = timeline.lanes.reduce((h, lane) => h + laneHeight(lane), 0),
        turn = (timeline.turn = (timeline.turn || 0) + 1);
    if (state.heat) wantHeat(paintTimes);
    timeline.sheet.style.height =
        Math.max(state.heat ? heatHeight() : all, timeline.high) + 'px';
    paintMap();
    paintRuler();
    if (state.heat) {
        paintRows();
        return;
    }
    const wanted = [];
    let steps = 0;
    for (const lane of timeline.lanes) {
        lane.shown = lane.chunks.filter((chunk) => onView(lane, chunk.at, chunk.end));
        steps += lane.shown.reduce((n, chunk) => n + chunk.n, 0);
        wanted.push(...lane.shown.filter((chunk) => !chunk.steps).map((chunk) => [lane, chunk]));
    }
    // Visible chunks are kept longest.
    for (const lane of timeline.lanes)
        for (const chunk of lane.shown)
            if (chunk.steps && timeline.kept.delete(chunk)) timeline.kept.add(chunk);
    timeline.exact =
        steps <= EXACT && timeline.lanes.reduce((n, lane) => n + lane.shown.length, 0) <= KEPT;
    if (timeline.exact && wanted.length) {
        paintLanes(false);
        timeline.settled = (async () => {
            for (const [lane, chunk] of wanted) {
                await unpackChunk(chunk);
                if (turn !== timeline.turn) return;
            }
            paintLanes(timeline.lanes.every((lane) => lane.shown.every((chunk) => chunk.steps)));
        })();
    } else paintLanes(timeline.exact);
}

const onView = (lane, from, to) =>
    lane.from + to / lane.hz >= timeline.view[0] && lane.from + from / lane.hz <= timeline.view[1];

// Returns a depth's cover: for each pixel, the part that calls too short to be drawn cover, and the
// last of their frames.
const coverOf = (covers, depth) =>
    covers[depth]
    || (covers[depth] = {
        w: new Float32Array(timeline.wide + 2),
        who: new Int32Array(timeline.wide + 2),
    });

// Returns the colours of a frame: those of the search, or of its kind; or grey, if it is in no
// stack with spans of the chosen kind.
function lookOf(frame, name) {
    const lit = stacksOfKind(treeOfTime());
    if (lit && !lit[frame]) return { fill: ink.dust, text: ink.text, alpha: 1 };
    const hit = matches.names && matches.names[name] === 1;
    return hit
        ? { fill: ink.mark, text: ink.markText, alpha: 1 }
        : {
              fill: ink.fill[name],
              text: ink.on[name],
              alpha: matches.names ? 0.4 : 1,
              texture: ink.textures[profile.facts.kinds[name]],
          };
}

// Draws covers with the density of their calls.
function paintCovers(c, covers, head) {
    const { name } = treeOfTime();
    for (const [depth, cover] of covers.entries()) {
        for (let p = 0; cover && p <= timeline.wide; p++) {
            if (!(cover.w[p] > 0.02)) continue;
            const look = lookOf(cover.who[p], name[cover.who[p]]);
            c.globalAlpha = Math.min(1, 0.25 + cover.w[p]) * look.alpha;
            c.fillStyle = look.fill;
            c.fillRect(p, head + (depth - 1) * TIME_ROW, 1, TIME_ROW - 1);
        }
    }
}

// Marks the range that is a step of the chain, if there is one.
function showPicked(scale) {
    const step = timeStep();
    if (!step) timeline.part.value = 0;
    timeline.picked.hidden = !step;
    if (step) {
        const [from, to] = ends(step.text).map((t) => (t - timeline.view[0]) * scale);
        Object.assign(timeline.picked.style, {
            left: Math.max(0, from) + 'px',
            width: Math.max(1, Math.min(timeline.wide, to) - Math.max(0, from)) + 'px',
        });
        timeline.picked.hidden = to < 0 || from > timeline.wide;
    }
}

// Paints the heat map.
function paintRows() {
    const c = sized(timeline.canvas, timeline.wide, timeline.high), [t0, t1] = timeline.view;
    timeline.boxes = [];
    timeline.drawn = paintHeat(c, timeline.scroll.scrollTop);
    timeline.told.textContent = heatInWords();
    showPicked(timeline.wide / (t1 - t0));
    timeline.canvas.setAttribute(
        'aria-label',
        `Heat map of time by subs, from ${seconds(t0)} to ${seconds(t1)}. ${heatInWords()}. `
        + 'Drag, or Shift and arrow keys, select a range; plus, minus and arrow keys zoom and '
        + 'move.',
    );
}

function paintLanes(exact) {
    const c = sized(timeline.canvas, timeline.wide, timeline.high),
        top = timeline.scroll.scrollTop,
        [t0, t1] = timeline.view,
        scale = timeline.wide / (t1 - t0),
        { name } = treeOfTime(),
        { boxes } = Object.assign(timeline, { boxes: [] });
    let y = -top, drawn = 0;
    for (const lane of timeline.lanes) {
        const height = laneHeight(lane),
            covers = [],
            px = (tick) => (lane.from + tick / lane.hz - t0) * scale,
            head = y + TIME_HEAD;
        const box = (depth, frame, from, to) => {
            const left = px(from),
                right = px(to),
                w = right - left,
                at = head + (depth - 1) * TIME_ROW;
            if (right < 0 || left > timeline.wide || at > timeline.high || at < -TIME_ROW) return;
            if (w < 0.7) {
                const cover = coverOf(covers, depth), p = Math.max(0, left | 0);
                cover.w[p] += w;
                cover.who[p] = frame;
                return;
            }
            const x = Math.max(0, left),
                seen = Math.min(timeline.wide, right) - x,
                own = name[frame],
                look = lookOf(frame, own),
                inner = seen > 3 ? seen - 0.6 : seen;
            c.globalAlpha = look.alpha;
            c.fillStyle = look.fill;
            c.fillRect(x, at, inner, TIME_ROW - 1);
            if (look.texture && seen > 4) {
                c.fillStyle = look.texture;
                c.fillRect(x, at, inner, TIME_ROW - 1);
            }
            boxes.push({
                x,
                w: seen,
                y: at,
                frame,
                from: lane.from + from / lane.hz,
                to: lane.from + to / lane.hz,
                lane,
                depth,
            });
            drawn++;
            if (seen < 28) return;
            c.fillStyle = look.text;
            c.fillText(label(c, own, seen - 6), x + 3, at + TIME_ROW / 2);
        };
        if (y < timeline.high && y + height > 0) {
            if (exact) calls(lane, box);
            else coarse(lane, box, covers, px);
            paintCovers(c, covers, head);
            c.globalAlpha = 1;
            c.fillStyle = ink.ghostText;
            c.fillText(
                short(
                    `${lane.name}${lane.pid ? ` \u00b7 process ${lane.pid}` : ''}`
                    + `${lane.tid ? ` \u00b7 thread ${lane.tid}` : ''}`,
                    120,
                ),
                6,
                y + TIME_HEAD / 2,
            );
        }
        y += height;
    }
    timeline.drawn = drawn;
    timeline.told.textContent = '';
    showPicked(scale);
    timeline.canvas.setAttribute(
        'aria-label',
        `Time line from ${seconds(t0)} to ${seconds(t1)}. Drag or the table select a range; plus, `
        + 'minus and arrow keys zoom and move.',
    );
}

// Draws the calls of the visible chunks.
function calls(lane, box) {
    const { parent } = treeOfTime(), { shown } = lane;
    if (!shown.length) return;
    let { frame } = shown[0];
    const begins = [...shown[0].begins];
    for (const { n, steps: { code, at } } of shown) {
        for (let i = 0; i < n; i++) {
            if (code[i]) {
                frame += code[i];
                begins.push(at[i]);
            } else {
                box(begins.length, frame, begins.pop(), at[i]);
                frame = parent[frame];
            }
        }
    }
    for (; begins.length; frame = parent[frame]) box(begins.length, frame, begins.pop(), lane.end);
}

// Draws the overview: long calls one by one, and the others by cells.
function coarse(lane, box, covers, px) {
    for (const { depth, frame, from, to } of lane.long) box(depth, frame, from, to);
    const wide = px(lane.cell) - px(0);
    for (const [depth, row] of lane.dust.entries()) {
        if (!row) continue;
        const cover = coverOf(covers, depth);
        for (let k = 0; k <= CELLS; k++) {
            if (!row.cover[k]) continue;
            const left = px(k * lane.cell), share = row.cover[k] / lane.cell;
            for (let p = Math.max(0, left | 0); p < Math.min(timeline.wide, left + wide); p++) {
                cover.w[p] += Math.min(1, left + wide - p, wide) * share;
                if (row.who[k] >= 0) cover.who[p] = row.who[k];
            }
        }
    }
}

function paintMap() {
    const c = sized(timeline.small, timeline.wide, MAP_HIGH),
        deepest = Math.max(1, ...timeline.lanes.map(({ deepest: d }) => d)),
        row = Math.max(0.5, MAP_HIGH / timeline.lanes.length / deepest),
        scale = timeline.wide / timeline.span;
    timeline.lanes.forEach((lane, k) => {
        const top = k * MAP_HIGH / timeline.lanes.length;
        for (const { depth, frame, from, to } of lane.long) {
            c.fillStyle = lookOf(frame, treeOfTime().name[frame]).fill;
            c.fillRect(
                (lane.from + from / lane.hz) * scale,
                top + (depth - 1) * row,
                Math.max(0.5, ((to - from) / lane.hz) * scale),
                row,
            );
        }
    });
    const [from, to] = timeline.view.map((t) => t * scale);
    timeline.frame.hidden = to - from >= timeline.wide - 0.5;
    Object.assign(timeline.frame.style, {
        left: from + 'px',
        width: Math.max(3, to - from) + 'px',
    });
}

function paintRuler() {
    const c = sized(timeline.ruler, timeline.wide, RULER),
        [t0, t1] = timeline.view,
        scale = timeline.wide / (t1 - t0),
        rough = ((t1 - t0) * 110) / timeline.wide,
        power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough),
        digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    c.fillStyle = ink.ghostText;
    for (let k = Math.ceil(t0 / step); k * step <= t1; k++) {
        c.fillRect((k * step - t0) * scale, 13, 1, 5);
        c.fillText(
            step < 1e-4
                ? `${grouped(k * step * 1e6, Math.max(0, digits - 6))} \u00b5s`
                : step < 0.1
                  ? `${grouped(k * step * 1e3, Math.max(0, digits - 3))} ms`
                  : `${(k * step).toFixed(digits)} s`,
            (k * step - t0) * scale + 4,
            8,
        );
    }
    // Phases, marks of Devel::DProf::Control, and processes that begin.
    let free = 0;
    const marks = timeline.lanes
        .flatMap((lane, k) => [
            ...(k && lane.from > 0 ? [[lane.from, `fork ${lane.pid || ''}`]] : []),
            ...lane.marks.map(([at, text]) => [lane.from + at / lane.hz, text]),
        ])
        .sort((a, b) => a[0] - b[0]);
    for (const [at, text] of marks) {
        const x = (at - t0) * scale;
        if (x < -1 || x > timeline.wide) continue;
        c.fillStyle = ink.begin;
        c.fillRect(x, 0, 1.5, RULER);
        if (x < free) continue;
        c.fillText(short(text, 30), x + 3, 26);
        free = x + 6 + c.measureText(short(text, 30)).width;
    }
}

export function boxAt(event) {
    const area = timeline.canvas.getBoundingClientRect(),
        x = event.clientX - area.left,
        y = event.clientY - area.top;
    return (
        timeline.boxes.find(
            (box) =>
                x >= box.x && x < box.x + Math.max(1, box.w) && y >= box.y && y < box.y + TIME_ROW,
        ) || null
    );
}
