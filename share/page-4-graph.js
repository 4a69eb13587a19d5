'use strict';

// Interaction with the graph: panes, zoom, search, mouse.

let panes = [];
const C = { cursor: -1, hover: -1, index: 0, keys: false };    // frames; the pane with the keyboard; is it used

function makePanes() {
    const kinds = !P.diff || S.layout === 'graph' ? [null] : ['before', 'after', 'change'].slice(0, S.layout === 'pair' ? 2 : 3), [a, b] = P.facts.sides;
    const titles = P.relative ? [a, b, 'Difference of shares']
        : [`Before: ${a} \u2014 coloured by what will happen`, `After: ${b} \u2014 coloured by what did happen`, 'Difference \u2014 as wide as what changed'];
    watch.disconnect();
    panes = kinds.map((kind, i) => new Pane(kind, kind ? titles[i] : ''));
    $('panes').className = P.diff ? S.layout : 'graph';
    $('panes').replaceChildren(...panes.map((pane) => pane.node));
    C.index = 0;
    panes.forEach((pane, index) => {
        Object.assign(pane.canvas, {
            onmousemove: (event) => point(event.buttons ? -1 : pane.at(event), event),
            onmouseleave: () => point(-1),
            onmousedown: () => { C.keys = false; },
            onclick: (event) => press(pane.at(event), event),
            oncontextmenu: (event) => {
                if (pane.at(event) < 0) return;
                event.preventDefault();
                openMenu(pane.at(event), event.clientX, event.clientY);
            },
            onfocus: () => { C.index = index; },
        });
        chooses(pane.canvas, pane.chosen, { begins: () => !V.split, moves: () => point(-1), ends: (from, to) => chooseRange([from, to].map((px) => partAt(pane, px)), true) });
        wheels(pane.canvas, pane.canvas, {
            takes: (zooms) => !V.split && (zooms || !!S.range),
            zoom: (factor, at) => {
                point(-1);
                scaleBy(factor, at);
            },
            move: (by) => scaleBy(1, 0.5, by),
        });
        watch.observe(pane.scroll);
    });
}

const watch = new ResizeObserver(() => {
    if (V && panes.some((pane) => pane.view !== pane.scroll.clientWidth || pane.seen !== pane.scroll.clientHeight)) refresh('boxes');
});

// Repeats what depends on a change, from the given step on.
function refresh(from) {
    const step = ['panes', 'view', 'widths', 'boxes', 'paint'].indexOf(from);
    if (V && step <= 3) point(-1);
    if (step <= 0) makePanes();
    if (step <= 1) {
        const path = V && C.cursor >= 0 ? V.tree.path(C.cursor) : null;
        makeView(Math.max(300, $('panes').clientWidth));
        if (V.steps < S.path.length) {
            say(`${$('notice').textContent} The path goes no further than ${short(nameOf(V.focus), 120)}: ${short(S.lost || P.names[S.path[V.steps]], 120)} is not called there in this profile.`);
            S.path = S.path.slice(0, V.steps);
        }
        S.lost = '';
        C.cursor = path ? V.tree.follow(path).frame : -1;
        tally();
    }
    if (step <= 2) {
        panes.forEach((pane) => pane.measure());
        F.list = null;
    }
    if (step <= 3) {
        panes.forEach((pane) => pane.collect());
        narrow();
    }
    if (!ink || ink.t !== (printing ? 'light' : theme)) colours();
    panes.forEach((pane) => {
        pane.paint();
        if (pane.map) pane.map.paint();
    });
    marks();
    toolbar();
    details();
    drawCalls();
    drawHot();
    // What runs when looks the same, however the graph is zoomed.
    if (step <= 1 || step === 4) paintTimes();
}

// Says what is not drawn.
function narrow() {
    const [pane] = panes, share = V.split || (S.reversed && P.diff) ? '' : `, ${percent(pane.narrowWeight / pane.weights[V.focus])},`, parts = [];
    if (pane.narrow) parts.push(`${plural(pane.narrow, 'frame')}${share} too narrow to draw here; zoom in${V.split ? '' : ', or drag over a part,'} to see them`);
    if (pane.beside) parts.push(`${plural(pane.beside, 'frame')} beside this part`);
    const why = P.diff ? { before: ' before', after: ' after', change: ' of change', union: '' }[pane.width] : '';
    if (pane.still) parts.push(`${plural(pane.still, 'frame')} without any value${P.relative ? '' : why} not drawn`);
    $('narrow').textContent = parts.join(' \u00b7 ');
}

function say(text) {
    $('notice').hidden = !text;
    $('notice').textContent = text;
}

// Zooms, with a step in the browser's history. In a sandwich another sub becomes the one in the middle.
function zoom(frame) {
    say('');
    if (V.split) {
        sandwich(V.tree.name[frame]);
        return;
    }
    S.path = V.tree.path(frame);
    S.range = null;
    C.cursor = V.focus = frame;
    refresh(S.reversed ? 'view' : 'boxes');
    for (const pane of panes) pane.reveal(V.focus, 3);
    speak(V.focus, 'Zoomed to ');
    remember(true);
}

// Shows a part of the frame zoomed to, or of the one at the path: [from, to], between 0 and 1.
function chooseRange([from, to], push, path = null) {
    const least = 1e-9, a = Math.max(0, Math.min(from, 1 - least)), b = Math.min(1, Math.max(to, a + least));
    if (path && path.length !== S.path.length) {
        S.path = path;
        V.focus = V.tree.follow(path).frame;
    }
    S.range = b - a > 0.999 ? null : [a, b];
    say('');
    refresh(isUpward() ? 'view' : 'boxes');
    clearTimeout(C.late);
    if (push) remember(true);
    else C.late = setTimeout(remember, 150);     // a browser takes so many changes of its address, and no more
}

// Returns the part of the frame zoomed to that ends at a pixel of a pane.
function partAt(pane, px) {
    const [from, to] = S.range || [0, 1];
    return from + (to - from) * Math.min(1, px / (S.range || S.common ? pane.view : pane.full || pane.view));
}

// Zooms by a factor, around a place of what is shown; by 1 and more than nothing, moves.
function scaleBy(factor, around = 0.5, move = 0) {
    if (V.split) return;
    const [from, to] = S.range || [0, 1], size = Math.min(1, (to - from) * factor), at = from + (to - from) * around;
    const begin = Math.max(0, Math.min(1 - size, at - size * around + move * (to - from)));
    if (size !== to - from || begin !== from) chooseRange([begin, begin + size], false);
}

// A finger's first tap tells what a frame is; the second one zooms. A mouse has told already.
function press(frame, event) {
    const told = event.pointerType !== 'touch' || C.cursor === frame;
    if (frame < 0) return;
    if (told) {
        point(-1);
        zoom(frame);
        return;
    }
    go(frame);
    point(frame, event);
}

function showAll() {
    if (S.source) {
        openSource(true);
        return;
    }
    if (S.time && TL && TL.canvas) lookAt([0, TL.span]);
    if (S.centre >= 0) sandwich(-1);
    else zoom(0);
}

function back() {
    if (history.state && history.state.dprof > 0) history.back();
    else if (S.source) openSource(true);
    else if (S.range) chooseRange([0, 1], true);
    else if (S.centre >= 0) sandwich(-1);
    else if (S.path.length) zoom(V.tree.parent[V.focus]);
}

// Changes a toggle or a choice. The zoom stays where it has a meaning.
function turn(key, value) {
    say('');
    if (key === 'reversed') {
        if (value && !canReverse()) {
            say(`Callers are drawn for up to ${grouped(REVERSE_LIMIT)} frames; this profile has ${grouped(P.tree.n)}. The table shows each sub's callers.`);
            return;
        }
        S.path = [];
        S.centre = -1;
        C.cursor = -1;
    }
    if (key === 'layout' || key === 'order' || key === 'reversed' || key === 'merged' || key === 'width') S.range = null;
    if (key === 'merged' && value) S.path = S.path.filter((name, i) => name !== S.path[i - 1]);
    S[key] = value;
    const from = { layout: 'panes', order: 'widths', width: 'widths', icicle: 'boxes', common: 'boxes', colour: 'paint', uncertain: 'paint' }[key] || 'view', word = LONG_WORDS[key];
    const act = () => {
        refresh(from);
        if (key === 'icicle') for (const pane of panes) pane.scroll.scrollTop = value ? 0 : pane.height;
        if (key === 'metric') {
            drawTable();
            drawSource();
        }
        remember();
    };
    if (word) soon(word, act);
    else act();
}

const LONG_WORDS = { merged: 'Merging recursion\u2026', reversed: 'Collecting callers\u2026', metric: 'Adding up\u2026', order: 'Sorting\u2026' };

function toolbar() {
    const pressed = (id, on) => $(id).setAttribute('aria-pressed', String(!!on)), timed = !!V.tree.when;
    for (const id of ['icicle', 'reversed', 'merged', 'uncertain', 'source']) pressed(id, S[id]);
    pressed('table', S.table && !S.source);
    pressed('list', S.calls && !S.source);
    pressed('times', S.time && !S.source);
    pressed('case', S.match);
    pressed('dark', theme === 'dark');
    $('reset').disabled = S.path.length === 0 && !S.range && S.centre < 0;
    $('icicle').disabled = $('order').disabled = V.split > 0;
    pressed('sandwich', S.centre >= 0);
    pressed('common', S.common);
    $('common').hidden = !P.diff || S.layout === 'graph' || P.relative;
    chips();
    if (P.furnished !== S.metric) furnishParts();
    for (const act of Object.keys(LANES)) {
        const step = S.chain.find((one) => one.act === act);
        $(act).value = step ? lane(act, step.text) : -1;
    }
    $('order').lastElementChild.disabled = !timed;
    $('order').value = S.order === 'time' && !timed ? 'name' : S.order;
    $('metric').value = S.metric;
    for (const option of $('metric').options) option.disabled = !!timeStep() && !IN_TIME.includes(P.metrics[option.value].key);
    if (document.activeElement !== $('q') && $('q').value !== S.q) $('q').value = S.q;
    found();
    const totals = V.all.map((list, side) => `${P.diff ? sideName(side) + ' ' : ''}${amount(real(list[0], side))}`);
    $('whole').textContent = `${totals.join(P.relative ? ', ' : ' \u2192 ')} ${metric().unit === 's' ? metric().label : ''} \u00b7 ${plural(V.base.n, 'frame')}`;
    if (!P.diff) {
        drawKinds();
        return;
    }
    const change = S.layout === 'graph' && S.width === 'change';
    $('layout').value = S.layout;
    $('width').value = S.width;
    $('width').disabled = S.layout !== 'graph';
    $('colour').value = change ? 'total' : kindOf();
    $('colour').disabled = isUpward() || change;
    drawScale(change ? 'change' : kindOf());
}

function found() {
    const node = $('found');
    node.classList.toggle('bad', !!F.error);
    $('q').setAttribute('aria-invalid', String(!!F.error));
    $('prev').disabled = $('next').disabled = S.source ? !R.list.length : !F.names || !F.frames;
    const where = F.at >= 0 ? `${grouped(F.at + 1)} of ${grouped(F.list.length)} \u00b7 ` : '';
    const text = F.error || (S.source ? foundInSources() : !F.names ? '' : !F.frames ? 'no match'
        : `${where}${F.shares.map(percent).join(' \u2192 ')} in ${plural(F.frames, 'frame')}`);
    if (node.textContent !== text) node.textContent = node.title = text;
}

function search(text, match = S.match) {
    S.q = text;
    S.match = match;
    compile();
    tally();
    panes.forEach((pane) => pane.paint());
    paintTimes();
    toolbar();
    drawTable();
    findInSources();
    drawSource();
    remember();
}

// Goes to a match, in drawn order: in place if it is visible, else zoomed as little as makes it
// visible.
function step(by) {
    if (S.source) {
        stepSource(by);
        return;
    }
    if (!F.names || !F.frames) return;
    const { name, parent, depth } = V.tree, [{ x }] = panes, wide = (i) => panes.find((pane) => pane.weights[i] > 0);
    if (!F.list) {
        F.list = [];
        for (let i = 0; i < V.tree.n; i++) if (F.names[name[i]] === 1 && wide(i)) F.list.push(i);
        if (S.order !== 'name') F.list.sort((a, b) => x[a] - x[b] || depth[a] - depth[b]);
    }
    const count = F.list.length, at = count ? ((F.at < 0 && by < 0 ? 0 : F.at) + by + count) % count : -1;
    if (at < 0) return;
    F.at = at;
    const frame = F.list[at], pane = wide(frame), box = pane.box(frame);
    if ((!box || box.w < 8) && !isUpward()) {
        const line = [frame];
        while (line[0] > 0) line.unshift(parent[line[0]]);
        zoom(line.find((i) => pane.weights[i] <= pane.weights[frame] * pane.view / 60) ?? frame);
    }
    go(frame);
    found();
}

function go(frame) {
    C.cursor = frame;
    C.keys = true;
    for (const pane of panes) if (pane.box(frame)) pane.reveal(frame, 1);
    marks();
    details();
    speak(frame);
    for (const row of $('calls').querySelectorAll('tr[data-frame]')) row.classList.toggle('here', +row.dataset.frame === frame);
}

function marks() {
    for (const pane of panes) {
        pane.mark('hover', C.hover);
        pane.mark('cursor', C.keys ? C.cursor : -1);
    }
}

// Returns what is known of a frame: rows of cells, the first of which is a label.
function known(i) {
    const whole = V.all.map((list) => list[0]), zoomed = V.focus || V.split;
    const row = (kind) => {
        const [a, b] = V[kind].map((list) => list[i]);
        if (!P.diff) return [kind, amount(a), percent(a / whole[0]), zoomed ? percent(a / V.total[0][V.focus]) : ''];
        const part = kind === 'self' ? Math.abs(b - a) : V.changed[i];
        return [kind, amount(real(a, 0)), amount(b), P.relative ? points(i, kind) : signed(b - a),
            P.relative ? `${percent(a / whole[0])} \u2192 ${percent(b / whole[1])}` : growth(a, b), ratio(a, b), percent(V.changed[0] && part / V.changed[0])];
    };
    const rows = [row('total')];
    if (!S.reversed && !(V.split && i >= V.split)) rows.push(row('self'));
    if (V.calls && !P.relative) {
        const [a, b] = V.calls.map((list) => list[i]);
        rows.push(P.diff ? ['calls', amount(a, COUNT), amount(b, COUNT), signed(b - a, COUNT), growth(a, b), ratio(a, b), ''] : ['calls', amount(a, COUNT)]);
    }
    return rows;
}

function remarks(i) {
    const name = V.tree.name[i], kind = P.facts.kinds[name], list = [kind ? (KINDS[kind] || KINDS[0])[0] : '', placeOf(name)];
    if (P.diff) {
        const parts = (top) => V.total.map((total, side) => `${percent(total[i] / total[top])} of ${sideName(side)}`).join(' \u2192 ');
        const { moved = {} } = P.diff;
        list.push(parts(0), V.focus ? `of the zoomed frame ${parts(V.focus)}` : '');
        if (isNew(i)) list.push(P.relative ? `only in ${P.facts.sides[1]}` : 'new: not called here before');
        if (isGone(i)) list.push(P.relative ? `only in ${P.facts.sides[0]}` : 'gone: not called here after');
        if (moved[name]) list.push(`moved: was at ${moved[name]}`);
        if (P.certain && !P.certain.self[name] && !P.certain.total[name]) list.push('uncertain');
    }
    return list.filter(Boolean).join(' \u00b7 ');
}

// Shows the frame under the mouse.
function point(frame, event) {
    const tip = $('tip');
    if (frame !== C.hover) {
        C.hover = frame;
        marks();
        details();
        tip.hidden = frame < 0;
    }
    if (frame < 0) return;
    const heads = P.diff ? ['', sideName(0), sideName(1), 'difference', P.relative ? 'shares' : '', 'ratio', 'of all change']
        : ['', '', V.focus || V.split ? 'of all' : '', V.split ? 'of the sub' : V.focus ? 'of zoomed' : ''];
    const line = (tag, cells) => make('tr', {}, ...cells.map((cell) => make(tag, {}, cell)));
    tip.replaceChildren(make('div', { className: 'name' }, short(nameOf(frame), 1000)),
        make('table', {}, line('th', heads), ...known(frame).map((cells) => line('td', cells))), make('p', {}, remarks(frame)));
    const { clientX: x, clientY: y } = event, w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - w - 8)) + 'px';
    tip.style.top = (y + 18 + h > innerHeight ? Math.max(8, y - h - 12) : y + 18) + 'px';
}

// Returns the same in one line.
function inWords(i) {
    return [...known(i).map(([label, a, b, c, d, e]) => {
        if (P.diff) return `${label} ${a} \u2192 ${b}, ${c}${d ? ` (${d})` : ''} ${e}`;
        return `${label} ${a}${b ? ` (${b}${c ? `, ${c} of ${V.split ? 'the sub' : 'zoomed'}` : ''})` : ''}`;
    }), remarks(i)].filter(Boolean).join(' \u00b7 ');
}

function details() {
    const frame = C.hover >= 0 ? C.hover : C.cursor >= 0 ? C.cursor : V.focus;
    if (frame === 0 && C.hover < 0 && !C.keys && !V.split) $('details').replaceChildren(...firstSight(), make('span', { className: 'soft hint' }, 'Click a frame to zoom, right-click for more, / to search, ? for all keys'));
    else {
        const sub = V.tree.name[frame], to = hasLines() && placeOf(sub) ? button('Source', () => openSourceOf(sub), { className: 'link', title: `${placeOf(sub)} (l)` }) : '';
        $('details').replaceChildren(make('bdi', { className: 'name' }, short(nameOf(frame))), ' ', to, ' ', inWords(frame));
    }
}

function speak(frame, before = '') {
    $('spoken').textContent = `${before}${short(nameOf(frame), 200)}. ${inWords(frame)}. Level ${V.tree.depth[frame]}, ${plural(V.tree.kids(frame).length, S.reversed || (V.split && frame >= V.split) ? 'caller' : 'callee')}.`;
}
