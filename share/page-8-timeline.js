'use strict';

// The time line: what ran when, drawn, and what a reader does with it.

const EXACT = 2500000;         // steps that are drawn one by one
const TIME_ROW = 16, TIME_HEAD = 18, RULER = 34;    // CSS pixels

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
    chooses(canvas, TL.chosen, { begins: () => true, moves: () => pointTime(null), ends: (from, to) => chooseTime([at(from), at(to)]) });
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
    wheels(node, canvas, {
        takes: () => true,
        zoom: (factor, part) => {
            pointTime(null);
            zoomTime(factor, part);
        },
        move: (part) => look(TL.view, part),
    });
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
                await unpackChunk(chunk);
                if (turn !== TL.turn) return;
            }
            paintLanes(TL.lanes.every((lane) => lane.shown.every((chunk) => chunk.steps)));
        })();
    } else paintLanes(TL.exact);
}

const onView = (lane, from, to) => lane.from + to / lane.hz >= TL.view[0] && lane.from + from / lane.hz <= TL.view[1];

// What the calls of a depth that are too short to be drawn for themselves cover of each pixel, and which frame was last there.
const coverOf = (covers, depth) => covers[depth] || (covers[depth] = { w: new Float32Array(TL.wide + 2), who: new Int32Array(TL.wide + 2) });

// Draws them as dense as they are.
function paintCovers(c, covers, head) {
    const { name } = P.tree;
    for (const [depth, cover] of covers.entries()) {
        for (let p = 0; cover && p <= TL.wide; p++) {
            if (!(cover.w[p] > 0.02)) continue;
            const own = name[cover.who[p]], hit = F.names && F.names[own] === 1;
            c.globalAlpha = Math.min(1, 0.25 + cover.w[p]) * (F.names && !hit ? 0.4 : 1);
            c.fillStyle = hit ? ink.mark : ink.fill[own];
            c.fillRect(p, head + (depth - 1) * TIME_ROW, 1, TIME_ROW - 1);
        }
    }
}

// Shows the range that is a step of the chain, or none.
function showPicked(scale) {
    const step = timeStep();
    if (!step) TL.part.value = 0;
    TL.picked.hidden = !step;
    if (step) {
        const [from, to] = ends(step.text).map((t) => (t - TL.view[0]) * scale);
        Object.assign(TL.picked.style, { left: Math.max(0, from) + 'px', width: Math.max(1, Math.min(TL.wide, to) - Math.max(0, from)) + 'px' });
        TL.picked.hidden = to < 0 || from > TL.wide;
    }
}

function paintLanes(exact) {
    const c = sized(TL.canvas, TL.wide, TL.high), top = TL.scroll.scrollTop, [t0, t1] = TL.view, scale = TL.wide / (t1 - t0), { name } = P.tree, { boxes } = Object.assign(TL, { boxes: [] });
    let y = -top, drawn = 0;
    for (const lane of TL.lanes) {
        const height = laneHeight(lane), covers = [], px = (tick) => (lane.from + tick / lane.hz - t0) * scale, head = y + TIME_HEAD;
        const box = (depth, frame, from, to) => {
            const left = px(from), right = px(to), w = right - left, at = head + (depth - 1) * TIME_ROW;
            if (right < 0 || left > TL.wide || at > TL.high || at < -TIME_ROW) return;
            if (w < 0.7) {
                const cover = coverOf(covers, depth), p = Math.max(0, left | 0);
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
            paintCovers(c, covers, head);
            c.globalAlpha = 1;
            c.fillStyle = ink.ghostText;
            c.fillText(short(`${lane.name}${lane.pid ? ` \u00b7 process ${lane.pid}` : ''}${lane.tid ? ` \u00b7 thread ${lane.tid}` : ''}`, 120), 6, y + TIME_HEAD / 2);
        }
        y += height;
    }
    TL.drawn = drawn;
    showPicked(scale);
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
        const cover = coverOf(covers, depth);
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
    refresh('boxes');
    remember();
}
