// Handles the mouse and the keys of the time line.

import { chooses, drags, wheels } from '../base/drags.mjs';
import { $, make } from '../base/elements.mjs';
import { redraw } from '../base/redraw.mjs';
import { percent, short } from '../base/words.mjs';
import { seconds } from '../model/numbers.mjs';
import { isSampled, isSpan, isUpward, placeOf, profile, state } from '../model/profile.mjs';
import { scene } from '../model/scene.mjs';
import { isLane } from '../data/tree.mjs';
import { wholeColumns } from '../model/heat.mjs';
import { ends, loadTimes, partsOfTime, timeStep, timeline, treeOfTime } from '../model/times.mjs';
import { remember } from '../act/address.mjs';
import { chooseTime } from '../act/chain.mjs';
import { go } from '../act/cursor.mjs';
import { cellAt, heatMap } from './paint-heat.mjs';
import { boxAt, paintTimes } from './paint-times.mjs';

function drawTimes() {
    const node = $('time');
    node.hidden = !state.time || state.source;
    if (node.hidden) return;
    if (!timeline.view) {
        if (!timeline.ready) loadTimes().then(() => { if (state.time) drawTimes(); }, () => {});
        return;
    }
    if (!timeline.canvas) makeTimes(node);
    timeline.rows.value = state.heat ? 'heat' : 'calls';
    paintTimes();
}

function makeTimes(node) {
    Object.assign(timeline, {
        small: make('canvas', { className: 'small' }),
        frame: make('div', { className: 'window', hidden: true }),
        ruler: make('canvas', { className: 'ruler', title: 'Drag: moves' }),
        canvas: make('canvas', {
            tabIndex: 0,
            role: 'application',
            'aria-roledescription': 'time line',
            'aria-describedby': 'details',
        }),
        chosen: make('div', { className: 'chosen', hidden: true }),
        picked: make('div', { className: 'chosen picked', hidden: true }),
    });
    timeline.map = make(
        'div',
        { className: 'map', 'aria-hidden': 'true' },
        timeline.small,
        timeline.frame,
    );
    timeline.sheet = make(
        'div',
        { className: 'sheet' },
        timeline.canvas,
        timeline.picked,
        timeline.chosen,
    );
    timeline.scroll = make('div', { className: 'scroll', tabIndex: -1 }, timeline.sheet);
    const parts = partsOfTime().slice(0, 500);
    timeline.part = make(
        'select',
        {
            id: 'part',
            'aria-label': 'Processes, threads and phases',
            hidden: !parts.length,
            onchange: () => {
                const part = parts[timeline.part.value - 1];
                chooseTime(part ? part[1] : null, part ? part[2] : -1);
            },
        },
        make('option', { value: 0 }, 'all processes and phases'),
        ...parts.map(([text], i) => make('option', { value: i + 1 }, short(text, 80))),
    );
    timeline.rows = make(
        'select',
        {
            id: 'rows',
            'aria-label': 'What the time line shows',
            onchange: () => {
                state.heat = timeline.rows.value === 'heat';
                timeline.scroll.scrollTop = 0;
                paintTimes();
                remember();
            },
        },
        make('option', { value: 'heat' }, 'heat map of subs'),
        make('option', { value: 'calls' }, isSampled() ? 'stacks' : 'calls'),
    );
    timeline.told = make('span', { id: 'columns' });
    node.replaceChildren(
        timeline.map,
        timeline.ruler,
        make('div', { className: 'choices' }, timeline.told, timeline.part, timeline.rows),
        timeline.scroll,
    );
    const { canvas } = timeline,
        at = (px) =>
            timeline.view[0] + ((timeline.view[1] - timeline.view[0]) * px) / timeline.wide;
    let held = null;
    chooses(canvas, timeline.chosen, {
        begins: () => true,
        moves: () => pointTime(null),
        ends: (from, to) => chooseColumns([at(from), at(to)]),
    });
    drags(timeline.ruler, {
        begins: () => (held = timeline.view),
        moves: (from, to) => look(held, (from - to) / timeline.wide),
        ends: () => {
            held = null;
        },
    });
    drags(timeline.map, {
        begins: (x) => {
            const t = (x / timeline.wide) * timeline.span;
            held =
                t >= timeline.view[0]
                && t <= timeline.view[1]
                && timeline.view[1] - timeline.view[0] < timeline.span
                    ? timeline.view
                    : null;
            return true;
        },
        moves: (from, to) =>
            held
                ? look(held, (((to - from) / timeline.wide) * timeline.span) / (held[1] - held[0]))
                : lookAt(
                      [from, to]
                          .sort((a, b) => a - b)
                          .map((px) => (px / timeline.wide) * timeline.span),
                  ),
        ends: () => {
            held = null;
        },
    });
    Object.assign(canvas, {
        onmousemove: (event) => pointTime(event.buttons ? null : event),
        onmouseleave: () => pointTime(null),
        onkeydown: timeKey,
        onclick: (event) => {
            const cell = cellOf(event);
            if (cell) chooseTime([cell.from, cell.to]);
            if (state.heat) return;
            const box = isUpward() ? null : boxAt(event),
                frame = box ? scene.tree.follow(pathOf(box.frame)).frame : -1;
            if (frame > 0) go(frame);
        },
        ondblclick: (event) => {
            const box = state.heat ? null : boxAt(event);
            if (box) lookAt([box.from, box.to]);
            else lookAt([0, timeline.span]);
        },
    });
    wheels(node, canvas, {
        takes: () => true,
        zoom: (factor, part) => {
            pointTime(null);
            zoomTime(factor, part);
        },
        move: (part) => look(timeline.view, part),
    });
    timeline.scroll.addEventListener('scroll', () => paintTimes());
    new ResizeObserver(() => paintTimes()).observe(timeline.scroll);
}

export function lookAt([from, to]) {
    const size = Math.min(timeline.span, Math.max(to - from, 1e-7)),
        begin = Math.max(0, Math.min(timeline.span - size, from));
    timeline.view = [begin, begin + size];
    paintTimes();
}

// Moves a view by a part of its width.
const look = ([from, to], by) => lookAt([from + by * (to - from), to + by * (to - from)]);

function zoomTime(factor, around = 0.5) {
    const [from, to] = timeline.view,
        size = Math.min(timeline.span, (to - from) * factor),
        at = from + (to - from) * around;
    lookAt([at - size * around, at - size * around + size]);
}

// Selects a range, of whole columns in a heat map.
function chooseColumns(range) {
    chooseTime(
        state.heat && heatMap.shown ? wholeColumns(heatMap.shown.columns, range) : range,
    );
}

// Selects one column more or less, from the first visible one on.
function extend(by) {
    if (!heatMap.shown) return;
    const { from, step } = heatMap.shown.columns,
        picked = timeStep(),
        [begin, end] = picked ? ends(picked.text) : [from, from],
        next = Math.min(timeline.span + step, end + by * step);
    chooseTime(next > begin + step / 2 ? [begin, next] : null);
}

// Returns the names from the root's kid to a frame, without processes and phases.
const pathOf = (frame) =>
    treeOfTime().path(frame).filter((name) => !isLane(profile.facts.kinds[name]));

function cellOf(event) {
    if (!state.heat) return null;
    const area = timeline.canvas.getBoundingClientRect();
    return cellAt(event.clientX - area.left, event.clientY - area.top);
}

function timeKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const chooses = event.shiftKey && state.heat && /^Arrow/.test(event.key),
        key = chooses ? `Shift${event.key}` : event.key;
    const acts = {
        ShiftArrowLeft: () => extend(-1),
        ShiftArrowRight: () => extend(1),
        '+': () => zoomTime(0.5),
        '=': () => zoomTime(0.5),
        '-': () => zoomTime(2),
        ArrowLeft: () => look(timeline.view, -0.25),
        ArrowRight: () => look(timeline.view, 0.25),
        0: () => lookAt([0, timeline.span]),
        Home: () => lookAt([0, timeline.span]),
    };
    if (!acts[key]) return;
    acts[key]();
    event.preventDefault();
    event.stopPropagation();
}

function pointTime(event) {
    const tip = $('tip'),
        box = event && !state.heat ? boxAt(event) : null,
        cell = event && cellOf(event);
    tip.hidden = !box && !cell;
    if (tip.hidden) return;
    const sub = cell ? cell.sub : treeOfTime().name[box.frame], place = placeOf(sub);
    const told = cell
        ? `${seconds(cell.value)} in ${seconds(cell.to - cell.from)}, from ${seconds(cell.from)} on`
        : `${seconds(box.to - box.from)} elapsed (`
            + `${percent((box.to - box.from) / (box.lane.end / box.lane.hz))} of the process), `
            + `from ${seconds(box.from)} on`;
    tip.replaceChildren(
        make('div', { className: 'name' }, short(profile.names[sub], isSpan(sub) ? 3000 : 1000)),
        make('p', {}, told + (place ? ` \u00b7 ${place}` : '')),
    );
    tip.style.left =
        Math.max(8, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)) + 'px';
    tip.style.top =
        (event.clientY + 18 + tip.offsetHeight > innerHeight
            ? Math.max(8, event.clientY - tip.offsetHeight - 12)
            : event.clientY + 18) + 'px';
}

redraw.times = drawTimes;
