'use strict';

// The time line: what ran when, of traces. Times here are seconds since the first process began.
//
// A lane (a file) has chunks of steps, each packed for itself: 65,536 beginnings and ends of calls. All are read once, when the time
// line is opened: for what is seen of all of it (cells of time, and the calls longer than these), and for each chunk what its frames
// have, so that a range is the sum of whole chunks and a look into the two at its ends. Chunks are unpacked again when somebody looks
// closer, and the last ones are kept.

const CELLS = 4096;            // in which all of a lane is seen
const EXACT = 2500000;         // steps that are drawn one by one
const KEPT = 64;               // chunks that stay unpacked
const TIME_ROW = 16, TIME_HEAD = 18, RULER = 34;    // CSS pixels

let TL = null;
const hasTimes = () => !!$('dprof-times') && !(P && P.facts.isDropped);

async function unpackChunk(lane, chunk) {
    if (chunk.steps) {
        TL.kept.delete(chunk);
        TL.kept.add(chunk);
        return chunk.steps;
    }
    const take = blocks(await inflate(bytesOf($(chunk.element).textContent))), n = chunk.n;
    const code = varints(take(), new Int32Array(n)), at = varints(take(), new Float64Array(n)), cpu = varints(take(), new Float64Array(n));
    let now = chunk.at;
    for (let i = 0; i < n; i++) {
        const real = at[i], more = cpu[i];
        cpu[i] = real + (more % 2 ? -(more + 1) / 2 : more / 2);
        at[i] = now += real;
    }
    chunk.steps = { code, at, cpu };
    TL.kept.add(chunk);
    if (TL.kept.size > KEPT) {
        const [oldest] = TL.kept;
        TL.kept.delete(oldest);
        oldest.steps = null;
    }
    return chunk.steps;
}

// Reads all lanes, once. Returns a promise.
function loadTimes() {
    if (!TL) {
        TL = { lanes: [], kept: new Set(), span: 0, view: null, boxes: [], ready: null };
        TL.ready = readTimes();
        $('busy').textContent = 'Reading the time line\u2026';
        $('busy').hidden = false;
        C.busy = TL.ready.catch((error) => say(`The time line in this file is damaged: ${error.message}.`)).then(() => { $('busy').hidden = true; });
    }
    return TL.ready;
}

async function readTimes() {
    const facts = JSON.parse(new TextDecoder().decode(blocks(await inflate(bytesOf($('dprof-times').textContent)))()));
    if (facts.format !== 1) throw new Error(`format ${facts.format} of times is not known here`);
    for (const [k, { chunks, hz, end, tail, start = 0, ...rest }] of facts.lanes.entries()) {
        const lane = { ...rest, hz, end, tail, from: start / 1e9, deepest: 0, goesOn: new Set(rest.goesOn), chunks: chunks.map((n, c) => ({ n, element: `dprof-times-${k}-${c}`, steps: null })) };
        TL.lanes.push(lane);
        TL.span = Math.max(TL.span, lane.from + end / hz);
        await scan(lane);
    }
    TL.view = [0, TL.span || 1];
}

// Walks through a lane: what each chunk begins with and has, and how all of it looks.
async function scan(lane) {
    const { parent } = P.tree, n = P.tree.n, real = new Float64Array(n), cpu = new Float64Array(n), calls = new Float64Array(n), seen = new Uint8Array(n);
    lane.done = 0;             // ticks up to the last step: what follows is of no sub
    const cell = Math.max(1, lane.end / CELLS), long = [], dust = [], begins = [];
    let frame = 0, now = 0, count = 0;
    const row = (depth) => dust[depth] || (dust[depth] = { cover: new Float32Array(CELLS + 1), who: new Int32Array(CELLS + 1).fill(-1), most: new Float32Array(CELLS + 1) });
    const ended = (depth, who, from, to) => {
        if (to - from >= 2 * cell) {
            long.push({ depth, frame: who, from, to });
            return;
        }
        const { cover, who: names, most } = row(depth), first = from / cell | 0, last = to / cell | 0;
        cover[first] += first === last ? to - from : (first + 1) * cell - from;
        for (let c = first + 1; c <= last; c++) cover[c] += Math.min(to, (c + 1) * cell) - c * cell;
        if (to - from >= most[first]) {
            most[first] = to - from;
            names[first] = who;
        }
    };
    for (const chunk of lane.chunks) {
        Object.assign(chunk, { at: now, frame, begins: Float64Array.from(begins), count });
        const { code, at, cpu: own } = await unpackChunk(lane, chunk), touched = [];
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
        chunk.has = { frame: Int32Array.from(touched), real: Float64Array.from(touched, (f) => real[f]), cpu: Float64Array.from(touched, (f) => cpu[f]), calls: Float64Array.from(touched, (f) => calls[f]) };
        for (const f of touched) real[f] = cpu[f] = calls[f] = seen[f] = 0;
    }
    while (begins.length) {
        ended(begins.length, frame, begins.pop(), lane.end);
        frame = parent[frame];
    }
    Object.assign(lane, { cell, long, dust });
}

// ---- ranges ----

const IN_TIME = ['real', 'cpu', 'calls'];       // what is known of a range

function metricInTime() {
    if (!IN_TIME.includes(metric().key)) S.metric = Math.max(0, P.key(IN_TIME.find((key) => P.key(key) >= 0)));
}

const timeStep = () => S.chain.find(({ act }) => act === 'time');
const ends = (text) => text.replace(/@.*/, '').split('-').map(Number);
const laneOf = (text) => (/@(\d+)$/.exec(text) || [0, -1])[1] * 1;

// Adds up what frames have within a range, of one lane or of all: { real, cpu, calls }, in seconds and calls. A step that reaches over
// an end counts by its part.
async function sumOf(from, to, only = -1) {
    await loadTimes();
    const n = P.tree.n, { parent } = P.tree, sum = { real: new Float64Array(n), cpu: new Float64Array(n), calls: new Float64Array(n) };
    for (const lane of TL.lanes.filter((_, k) => only < 0 || k === only)) {
        const a = (from - lane.from) * lane.hz, b = (to - lane.from) * lane.hz, { hz, done, end, tail } = lane;
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
            const { code, at, cpu } = await unpackChunk(lane, chunk);
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

// Makes the tree of a range. Until the range has been added up, that is the whole tree, and is drawn again afterwards.
function inRange(tree, _, text) {
    const sum = P.ranges.get(text);
    if (!sum) {
        if (!hasTimes()) return tree;
        const done = sumOf(...ends(text), laneOf(text)).then((made) => {
            P.ranges.clear();
            P.ranges.set(text, made);
            P.chained.length = 0;
            if (timeStep()) {
                F.list = null;
                refresh('view');
                drawTable();
                if (!V.all.some((list) => list[0] > 0)) say('Nothing is left: take a step of the chain back.');
                remember(false);
            }
            drawSource();
        });
        C.busy = done;
        return tree;
    }
    const whole = inclusive(tree, sum.real), { name } = tree, timed = new Frames(name, tree.parent, tree.when, (m, side) => {
        const { key, hz } = P.metrics[m];
        return sum[key] ? sum[key].map((v) => v * (key === 'calls' ? 1 : hz)) : tree.own(m, side).map(() => 0);
    }), called = inclusive(tree, sum.calls);
    return regroup(timed, P.rank, (i) => (whole[i] > 0 || called[i] > 0 ? name[i] : OUT));
}

// Makes a range the first step of the chain, or takes it away.
function chooseTime(range, lane = -1) {
    const rest = S.chain.filter(({ act }) => act !== 'time');
    if (range) {
        const digits = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(range[1] - range[0]))));
        rest.unshift({ act: 'time', text: range.map((v) => v.toFixed(digits)).join('-') + (lane < 0 ? '' : `@${lane}`) });
        metricInTime();
    }
    S.chain = rest;
    rechain();
    drawSource();
    paintTimes();
}

// Returns what can be chosen by name: [text, range, lane], of lanes, and of the phases of each.
function partsOfTime() {
    const list = [], several = TL.lanes.length > 1;
    TL.lanes.forEach((lane, k) => {
        const last = lane.from + lane.end / lane.hz, of = several ? `${lane.tid ? `thread ${lane.tid} of ` : ''}${lane.pid || lane.name}` : '';
        if (several) list.push([`process ${of}`, [lane.from, last], k]);
        const phases = lane.marks.filter(([, text], i) => !i || lane.marks[i - 1][1] !== text).map(([at, text]) => [text, lane.from + at / lane.hz]);
        if (phases.length > 1) phases.forEach(([text, at], i) => list.push([`${of ? `${of}: ` : ''}phase ${text} (${seconds(at)})`, [at, i + 1 < phases.length ? phases[i + 1][1] : last], several ? k : -1]));
    });
    return list.filter(([, [from, to]]) => to > from);
}

// ---- drawing ----

const laneHeight = (lane) => TIME_HEAD + (lane.deepest + 1) * TIME_ROW;
const seconds = (v) => amount(v, { unit: 's', hz: 1 });

function drawTimes() {
    const node = $('time');
    node.hidden = !S.time || S.source;
    if (node.hidden) return;
    if (!TL || !TL.view) {
        if (!TL) loadTimes().then(() => { if (S.time) drawTimes(); }, () => {});
        return;
    }
    if (!TL.canvas) makeTimes(node);
    paintTimes();
}

function makeTimes(node) {
    Object.assign(TL, { small: make('canvas', { className: 'small' }), frame: make('div', { className: 'window', hidden: true }), ruler: make('canvas', { className: 'ruler', title: 'Drag: moves' }),
        canvas: make('canvas', { tabIndex: 0, role: 'application', 'aria-roledescription': 'time line', 'aria-describedby': 'details' }), chosen: make('div', { className: 'chosen', hidden: true }), picked: make('div', { className: 'chosen picked', hidden: true }) });
    TL.map = make('div', { className: 'map', 'aria-hidden': 'true' }, TL.small, TL.frame);
    TL.sheet = make('div', { className: 'sheet' }, TL.canvas, TL.picked, TL.chosen);
    TL.scroll = make('div', { className: 'scroll', tabIndex: -1 }, TL.sheet);
    const parts = partsOfTime().slice(0, 500);
    TL.part = make('select', { id: 'part', 'aria-label': 'Processes, threads and phases', hidden: !parts.length, onchange: () => {
        const part = parts[TL.part.value - 1];
        chooseTime(part ? part[1] : null, part ? part[2] : -1);
    } }, make('option', { value: 0 }, 'all processes and phases'), ...parts.map(([text], i) => make('option', { value: i + 1 }, short(text, 80))));
    node.replaceChildren(TL.map, TL.ruler, TL.part, TL.scroll);
    const { canvas } = TL, at = (px) => TL.view[0] + (TL.view[1] - TL.view[0]) * px / TL.wide;
    let held = null;
    drags(canvas, {
        begins: () => true,
        moves: (from, to) => {
            pointTime(null);
            TL.chosen.hidden = false;
            Object.assign(TL.chosen.style, { left: Math.min(from, to) + 'px', width: Math.abs(to - from) + 'px' });
        },
        ends: (from, to) => {
            TL.chosen.hidden = true;
            chooseTime([at(Math.min(from, to)), at(Math.max(from, to))]);
        },
    });
    drags(TL.ruler, { begins: () => (held = TL.view), moves: (from, to) => look(held, (from - to) / TL.wide), ends: () => { held = null; } });
    drags(TL.map, {
        begins: (x) => {
            const t = x / TL.wide * TL.span;
            held = t >= TL.view[0] && t <= TL.view[1] && TL.view[1] - TL.view[0] < TL.span ? TL.view : null;
            return true;
        },
        moves: (from, to) => (held ? look(held, (to - from) / TL.wide * TL.span / (held[1] - held[0])) : lookAt([from, to].sort((a, b) => a - b).map((px) => px / TL.wide * TL.span))),
        ends: () => { held = null; },
    });
    Object.assign(canvas, { onmousemove: (event) => pointTime(event.buttons ? null : event), onmouseleave: () => pointTime(null), onkeydown: timeKey,
        onclick: (event) => {
            const box = isUpward() ? null : boxAt(event), frame = box ? V.tree.follow(P.tree.path(box.frame)).frame : -1;
            if (frame > 0) go(frame);
        },
        ondblclick: (event) => {
            const box = boxAt(event);
            if (box) lookAt([box.from, box.to]);
            else lookAt([0, TL.span]);
        } });
    node.addEventListener('wheel', (event) => {
        const { ctrlKey, metaKey, shiftKey, deltaX, deltaY } = event, side = shiftKey ? deltaX || deltaY : deltaX, unit = event.deltaMode === 1 ? 16 : 1;
        if (!ctrlKey && !metaKey && Math.abs(side) <= (shiftKey ? 0 : Math.abs(deltaY))) return;
        event.preventDefault();
        pointTime(null);
        if (ctrlKey || metaKey) zoomTime(Math.exp(Math.max(-60, Math.min(60, deltaY * unit)) * 0.008), (event.clientX - canvas.getBoundingClientRect().left) / TL.wide);
        else look(TL.view, side * unit / TL.wide);
    }, { passive: false });
    TL.scroll.addEventListener('scroll', () => paintTimes());
    new ResizeObserver(() => paintTimes()).observe(TL.scroll);
}

function lookAt([from, to]) {
    const size = Math.min(TL.span, Math.max(to - from, 1e-7)), begin = Math.max(0, Math.min(TL.span - size, from));
    TL.view = [begin, begin + size];
    paintTimes();
}

// Moves a view by a part of its width.
const look = ([from, to], by) => lookAt([from + by * (to - from), to + by * (to - from)]);

function zoomTime(factor, around = 0.5) {
    const [from, to] = TL.view, size = Math.min(TL.span, (to - from) * factor), at = from + (to - from) * around;
    lookAt([at - size * around, at - size * around + size]);
}

function timeKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event, acts = { '+': () => zoomTime(0.5), '=': () => zoomTime(0.5), '-': () => zoomTime(2), ArrowLeft: () => look(TL.view, -0.25), ArrowRight: () => look(TL.view, 0.25), 0: () => lookAt([0, TL.span]), Home: () => lookAt([0, TL.span]) };
    if (!acts[key]) return;
    acts[key]();
    event.preventDefault();
    event.stopPropagation();
}

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

// Paints what is known at once, and again when the chunks in view are unpacked.
function paintTimes() {
    if (!TL || !TL.canvas || !S.time || S.source || !ink) return;
    TL.wide = TL.scroll.clientWidth;
    TL.high = TL.scroll.clientHeight;
    if (!(TL.wide > 0 && TL.high > 0)) return;
    const all = TL.lanes.reduce((h, lane) => h + laneHeight(lane), 0), turn = TL.turn = (TL.turn || 0) + 1;
    TL.sheet.style.height = Math.max(all, TL.high) + 'px';
    paintMap();
    paintRuler();
    const wanted = [];
    let steps = 0;
    for (const lane of TL.lanes) {
        lane.shown = lane.chunks.filter((chunk) => onView(lane, chunk.at, chunk.end));
        steps += lane.shown.reduce((n, chunk) => n + chunk.n, 0);
        wanted.push(...lane.shown.filter((chunk) => !chunk.steps).map((chunk) => [lane, chunk]));
    }
    // What is in view is kept longest.
    for (const lane of TL.lanes) for (const chunk of lane.shown) if (chunk.steps && TL.kept.delete(chunk)) TL.kept.add(chunk);
    TL.exact = steps <= EXACT && TL.lanes.reduce((n, lane) => n + lane.shown.length, 0) <= KEPT;
    if (TL.exact && wanted.length) {
        paintLanes(false);
        TL.settled = (async () => {
            for (const [lane, chunk] of wanted) {
                await unpackChunk(lane, chunk);
                if (turn !== TL.turn) return;
            }
            paintLanes(TL.lanes.every((lane) => lane.shown.every((chunk) => chunk.steps)));
        })();
    } else paintLanes(TL.exact);
}

const onView = (lane, from, to) => lane.from + to / lane.hz >= TL.view[0] && lane.from + from / lane.hz <= TL.view[1];

function paintLanes(exact) {
    const c = sized(TL.canvas, TL.wide, TL.high), top = TL.scroll.scrollTop, [t0, t1] = TL.view, scale = TL.wide / (t1 - t0), { name } = P.tree, { boxes } = Object.assign(TL, { boxes: [] });
    let y = -top, drawn = 0;
    for (const lane of TL.lanes) {
        const height = laneHeight(lane), covers = [], px = (tick) => (lane.from + tick / lane.hz - t0) * scale, head = y + TIME_HEAD;
        const box = (depth, frame, from, to) => {
            const left = px(from), right = px(to), w = right - left, at = head + (depth - 1) * TIME_ROW;
            if (right < 0 || left > TL.wide || at > TL.high || at < -TIME_ROW) return;
            if (w < 0.7) {
                const cover = covers[depth] || (covers[depth] = { w: new Float32Array(TL.wide + 2), who: new Int32Array(TL.wide + 2) }), p = Math.max(0, left | 0);
                cover.w[p] += w;
                cover.who[p] = frame;
                return;
            }
            const x = Math.max(0, left), seen = Math.min(TL.wide, right) - x, own = name[frame], hit = F.names && F.names[own] === 1;
            c.globalAlpha = F.names && !hit ? 0.4 : 1;
            c.fillStyle = hit ? ink.mark : ink.fill[own];
            c.fillRect(x, at, seen > 3 ? seen - 0.6 : seen, TIME_ROW - 1);
            boxes.push({ x, w: seen, y: at, frame, from: lane.from + from / lane.hz, to: lane.from + to / lane.hz, lane, depth });
            drawn++;
            if (seen < 28) return;
            c.fillStyle = hit ? ink.markText : ink.on[own];
            c.fillText(label(c, P.names[own], seen - 6), x + 3, at + TIME_ROW / 2);
        };
        if (y < TL.high && y + height > 0) {
            if (exact) calls(lane, box);
            else coarse(lane, box, covers, px);
            // Calls too short to be drawn for themselves are as dense as they are.
            for (const [depth, cover] of covers.entries()) {
                for (let p = 0; cover && p <= TL.wide; p++) {
                    if (!(cover.w[p] > 0.02)) continue;
                    c.globalAlpha = Math.min(1, 0.25 + cover.w[p]) * (F.names && F.names[name[cover.who[p]]] === 0 ? 0.4 : 1);
                    c.fillStyle = F.names && F.names[name[cover.who[p]]] === 1 ? ink.mark : ink.fill[name[cover.who[p]]];
                    c.fillRect(p, head + (depth - 1) * TIME_ROW, 1, TIME_ROW - 1);
                }
            }
            c.globalAlpha = 1;
            c.fillStyle = ink.ghostText;
            c.fillText(short(`${lane.name}${lane.pid ? ` \u00b7 process ${lane.pid}` : ''}${lane.tid ? ` \u00b7 thread ${lane.tid}` : ''}`, 120), 6, y + TIME_HEAD / 2);
        }
        y += height;
    }
    TL.drawn = drawn;
    const step = timeStep();
    if (!step) TL.part.value = 0;
    TL.picked.hidden = !step;
    if (step) {
        const [from, to] = ends(step.text).map((t) => (t - t0) * scale);
        Object.assign(TL.picked.style, { left: Math.max(0, from) + 'px', width: Math.max(1, Math.min(TL.wide, to) - Math.max(0, from)) + 'px' });
        TL.picked.hidden = to < 0 || from > TL.wide;
    }
    TL.canvas.setAttribute('aria-label', `Time line from ${seconds(t0)} to ${seconds(t1)}. Drag or the table select a range; plus, minus and arrow keys zoom and move.`);
}

// Goes through the calls of the chunks in view.
function calls(lane, box) {
    const { parent } = P.tree, { shown } = lane;
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

// Draws long calls, and the others by cells.
function coarse(lane, box, covers, px) {
    for (const { depth, frame, from, to } of lane.long) box(depth, frame, from, to);
    const wide = px(lane.cell) - px(0);
    for (const [depth, row] of lane.dust.entries()) {
        if (!row) continue;
        const cover = covers[depth] || (covers[depth] = { w: new Float32Array(TL.wide + 2), who: new Int32Array(TL.wide + 2) });
        for (let k = 0; k <= CELLS; k++) {
            if (!row.cover[k]) continue;
            const left = px(k * lane.cell), share = row.cover[k] / lane.cell;
            for (let p = Math.max(0, left | 0); p < Math.min(TL.wide, left + wide); p++) {
                cover.w[p] += Math.min(1, left + wide - p, wide) * share;
                if (row.who[k] >= 0) cover.who[p] = row.who[k];
            }
        }
    }
}

function paintMap() {
    const c = sized(TL.small, TL.wide, MAP_HIGH), deepest = Math.max(1, ...TL.lanes.map(({ deepest: d }) => d)), row = Math.max(0.5, MAP_HIGH / TL.lanes.length / deepest), scale = TL.wide / TL.span;
    TL.lanes.forEach((lane, k) => {
        const top = k * MAP_HIGH / TL.lanes.length;
        for (const { depth, frame, from, to } of lane.long) {
            c.fillStyle = ink.fill[P.tree.name[frame]];
            c.fillRect((lane.from + from / lane.hz) * scale, top + (depth - 1) * row, Math.max(0.5, (to - from) / lane.hz * scale), row);
        }
    });
    const [from, to] = TL.view.map((t) => t * scale);
    TL.frame.hidden = to - from >= TL.wide - 0.5;
    Object.assign(TL.frame.style, { left: from + 'px', width: Math.max(3, to - from) + 'px' });
}

function paintRuler() {
    const c = sized(TL.ruler, TL.wide, RULER), [t0, t1] = TL.view, scale = TL.wide / (t1 - t0), rough = (t1 - t0) * 110 / TL.wide, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough), digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    c.fillStyle = ink.ghostText;
    for (let k = Math.ceil(t0 / step); k * step <= t1; k++) {
        c.fillRect((k * step - t0) * scale, 13, 1, 5);
        c.fillText(step < 1e-4 ? `${grouped(k * step * 1e6, Math.max(0, digits - 6))} \u00b5s` : step < 0.1 ? `${grouped(k * step * 1e3, Math.max(0, digits - 3))} ms` : `${(k * step).toFixed(digits)} s`, (k * step - t0) * scale + 4, 8);
    }
    // Phases, marks of Devel::DProf::Control, and processes that begin.
    let free = 0;
    const marks = TL.lanes.flatMap((lane, k) => [...(k && lane.from > 0 ? [[lane.from, `fork ${lane.pid || ''}`]] : []), ...lane.marks.map(([at, text]) => [lane.from + at / lane.hz, text])]).sort((a, b) => a[0] - b[0]);
    for (const [at, text] of marks) {
        const x = (at - t0) * scale;
        if (x < -1 || x > TL.wide) continue;
        c.fillStyle = ink.begin;
        c.fillRect(x, 0, 1.5, RULER);
        if (x < free) continue;
        c.fillText(short(text, 30), x + 3, 26);
        free = x + 6 + c.measureText(short(text, 30)).width;
    }
}

function boxAt(event) {
    const area = TL.canvas.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
    return TL.boxes.find((box) => x >= box.x && x < box.x + Math.max(1, box.w) && y >= box.y && y < box.y + TIME_ROW) || null;
}

function pointTime(event) {
    const tip = $('tip'), box = event && boxAt(event);
    tip.hidden = !box;
    if (!box) return;
    const { frame, from, to, lane } = box, share = (to - from) / (lane.end / lane.hz), place = placeOf(P.tree.name[frame]);
    tip.replaceChildren(make('div', { className: 'name' }, short(P.names[P.tree.name[frame]], 1000)),
        make('p', {}, `${seconds(to - from)} elapsed (${percent(share)} of the process), from ${seconds(from)} on${place ? ` \u00b7 ${place}` : ''}`));
    tip.style.left = Math.max(8, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)) + 'px';
    tip.style.top = (event.clientY + 18 + tip.offsetHeight > innerHeight ? Math.max(8, event.clientY - tip.offsetHeight - 12) : event.clientY + 18) + 'px';
}

function openTimes(on) {
    if (!hasTimes()) return;
    Object.assign(S, { time: on, source: false, file: -1, line: 0 });
    showViews();
    drawTimes();
    refresh('boxes');
    remember();
}
