'use strict';

// Interaction with the graph: panes, zoom, search, mouse.

let panes = [];
const cursor = { frame: -1, hover: -1, pane: 0, keys: false };    // frames; the pane with the keyboard; is it used

function makePanes() {
    const kinds = !profile.diff || state.layout === 'graph' ? [null] : ['before', 'after', 'change'].slice(0, state.layout === 'pair' ? 2 : 3), [a, b] = profile.facts.sides;
    const titles = profile.relative ? [a, b, 'Difference of shares']
        : [`Before: ${a} \u2014 coloured by what will happen`, `After: ${b} \u2014 coloured by what did happen`, 'Difference \u2014 as wide as what changed'];
    watch.disconnect();
    panes = kinds.map((kind, i) => new Pane(kind, kind ? titles[i] : ''));
    $('panes').className = profile.diff ? state.layout : 'graph';
    $('panes').replaceChildren(...panes.map((pane) => pane.node));
    cursor.pane = 0;
    panes.forEach((pane, index) => {
        Object.assign(pane.canvas, {
            onmousemove: (event) => point(event.buttons ? -1 : pane.at(event), event),
            onmouseleave: () => point(-1),
            onmousedown: () => { cursor.keys = false; },
            onclick: (event) => press(pane.at(event), event),
            oncontextmenu: (event) => {
                if (pane.at(event) < 0) return;
                event.preventDefault();
                openMenu(pane.at(event), event.clientX, event.clientY);
            },
            onfocus: () => { cursor.pane = index; },
        });
        chooses(pane.canvas, pane.chosen, { begins: () => !scene.split, moves: () => point(-1), ends: (from, to) => chooseRange([from, to].map((px) => partAt(pane, px)), true) });
        wheels(pane.canvas, pane.canvas, {
            takes: (zooms) => !scene.split && (zooms || !!state.range),
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
    if (scene && panes.some((pane) => pane.view !== pane.scroll.clientWidth || pane.seen !== pane.scroll.clientHeight)) refresh('boxes');
});

// Repeats what depends on a change, from the given step on.
function refresh(from) {
    const step = ['panes', 'view', 'widths', 'boxes', 'paint'].indexOf(from);
    if (scene && step <= 3) point(-1);
    if (step <= 0) makePanes();
    if (step <= 1) {
        const path = scene && cursor.frame >= 0 ? scene.tree.path(cursor.frame) : null;
        makeView(Math.max(300, $('panes').clientWidth));
        if (scene.steps < state.path.length) {
            say(`${$('notice').textContent} The path goes no further than ${short(nameOf(scene.focus), 120)}: ${short(state.lost || profile.names[state.path[scene.steps]], 120)} is not called there in this profile.`);
            state.path = state.path.slice(0, scene.steps);
        }
        state.lost = '';
        cursor.frame = path ? scene.tree.follow(path).frame : -1;
        tally();
    }
    if (step <= 2) {
        panes.forEach((pane) => pane.measure());
        matches.list = null;
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
    const [pane] = panes, share = scene.split || (state.reversed && profile.diff) ? '' : `, ${percent(pane.narrowWeight / pane.weights[scene.focus])},`, parts = [];
    if (pane.narrow) parts.push(`${plural(pane.narrow, 'frame')}${share} too narrow to draw here; zoom in${scene.split ? '' : ', or drag over a part,'} to see them`);
    if (pane.beside) parts.push(`${plural(pane.beside, 'frame')} beside this part`);
    const why = profile.diff ? { before: ' before', after: ' after', change: ' of change', union: '' }[pane.width] : '';
    if (pane.still) parts.push(`${plural(pane.still, 'frame')} without any value${profile.relative ? '' : why} not drawn`);
    $('narrow').textContent = parts.join(' \u00b7 ');
}

function say(text) {
    $('notice').hidden = !text;
    $('notice').textContent = text;
}

// Zooms, with a step in the browser's history. In a sandwich another sub becomes the one in the middle.
function zoom(frame) {
    say('');
    if (scene.split) {
        sandwich(scene.tree.name[frame]);
        return;
    }
    state.path = scene.tree.path(frame);
    state.range = null;
    cursor.frame = scene.focus = frame;
    refresh(state.reversed ? 'view' : 'boxes');
    for (const pane of panes) pane.reveal(scene.focus, 3);
    speak(scene.focus, 'Zoomed to ');
    remember(true);
}

// Shows a part of the frame zoomed to, or of the one at the path: [from, to], between 0 and 1.
function chooseRange([from, to], push, path = null) {
    const least = 1e-9, a = Math.max(0, Math.min(from, 1 - least)), b = Math.min(1, Math.max(to, a + least));
    if (path && path.length !== state.path.length) {
        state.path = path;
        scene.focus = scene.tree.follow(path).frame;
    }
    state.range = b - a > 0.999 ? null : [a, b];
    say('');
    refresh(isUpward() ? 'view' : 'boxes');
    clearTimeout(cursor.late);
    if (push) remember(true);
    else cursor.late = setTimeout(remember, 150);     // a browser takes so many changes of its address, and no more
}

// Returns the part of the frame zoomed to that ends at a pixel of a pane.
function partAt(pane, px) {
    const [from, to] = state.range || [0, 1];
    return from + (to - from) * Math.min(1, px / (state.range || state.common ? pane.view : pane.full || pane.view));
}

// Zooms by a factor, around a place of what is shown; by 1 and more than nothing, moves.
function scaleBy(factor, around = 0.5, move = 0) {
    if (scene.split) return;
    const [from, to] = state.range || [0, 1], size = Math.min(1, (to - from) * factor), at = from + (to - from) * around;
    const begin = Math.max(0, Math.min(1 - size, at - size * around + move * (to - from)));
    if (size !== to - from || begin !== from) chooseRange([begin, begin + size], false);
}

// A finger's first tap tells what a frame is; the second one zooms. A mouse has told already.
function press(frame, event) {
    const told = event.pointerType !== 'touch' || cursor.frame === frame;
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
    if (state.source) {
        openSource(true);
        return;
    }
    if (state.time && timeline && timeline.canvas) lookAt([0, timeline.span]);
    if (state.centre >= 0) sandwich(-1);
    else zoom(0);
}

function back() {
    if (history.state && history.state.dprof > 0) history.back();
    else if (state.source) openSource(true);
    else if (state.range) chooseRange([0, 1], true);
    else if (state.centre >= 0) sandwich(-1);
    else if (state.path.length) zoom(scene.tree.parent[scene.focus]);
}

// Changes a toggle or a choice. The zoom stays where it has a meaning.
function turn(key, value) {
    say('');
    if (key === 'reversed') {
        if (value && !canReverse()) {
            say(`Callers are drawn for up to ${grouped(REVERSE_LIMIT)} frames; this profile has ${grouped(profile.tree.n)}. The table shows each sub's callers.`);
            return;
        }
        state.path = [];
        state.centre = -1;
        cursor.frame = -1;
    }
    if (key === 'layout' || key === 'order' || key === 'reversed' || key === 'merged' || key === 'width') state.range = null;
    if (key === 'merged' && value) state.path = state.path.filter((name, i) => name !== state.path[i - 1]);
    state[key] = value;
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
    const pressed = (id, on) => $(id).setAttribute('aria-pressed', String(!!on)), timed = !!scene.tree.when;
    for (const id of ['icicle', 'reversed', 'merged', 'uncertain', 'source']) pressed(id, state[id]);
    pressed('table', state.table && !state.source);
    pressed('list', state.calls && !state.source);
    pressed('times', state.time && !state.source);
    pressed('case', state.match);
    pressed('dark', theme === 'dark');
    $('reset').disabled = state.path.length === 0 && !state.range && state.centre < 0;
    $('icicle').disabled = $('order').disabled = scene.split > 0;
    pressed('sandwich', state.centre >= 0);
    pressed('common', state.common);
    $('common').hidden = !profile.diff || state.layout === 'graph' || profile.relative;
    chips();
    if (profile.furnished !== state.metric) furnishParts();
    for (const act of Object.keys(LANES)) {
        const step = state.chain.find((one) => one.act === act);
        $(act).value = step ? lane(act, step.text) : -1;
    }
    $('order').lastElementChild.disabled = !timed;
    $('order').value = state.order === 'time' && !timed ? 'name' : state.order;
    $('metric').value = state.metric;
    for (const option of $('metric').options) option.disabled = !!timeStep() && !IN_TIME.includes(profile.metrics[option.value].key);
    if (document.activeElement !== $('q') && $('q').value !== state.q) $('q').value = state.q;
    found();
    const totals = scene.all.map((list, side) => `${profile.diff ? sideName(side) + ' ' : ''}${amount(real(list[0], side))}`);
    $('whole').textContent = `${totals.join(profile.relative ? ', ' : ' \u2192 ')} ${metric().unit === 's' ? metric().label : ''} \u00b7 ${plural(scene.base.n, 'frame')}`;
    if (!profile.diff) {
        drawKinds();
        return;
    }
    const change = state.layout === 'graph' && state.width === 'change';
    $('layout').value = state.layout;
    $('width').value = state.width;
    $('width').disabled = state.layout !== 'graph';
    $('colour').value = change ? 'total' : kindOf();
    $('colour').disabled = isUpward() || change;
    drawScale(change ? 'change' : kindOf());
}

function found() {
    const node = $('found');
    node.classList.toggle('bad', !!matches.error);
    $('q').setAttribute('aria-invalid', String(!!matches.error));
    $('prev').disabled = $('next').disabled = state.source ? !sourceMatches.list.length : !matches.names || !matches.frames;
    const where = matches.at >= 0 ? `${grouped(matches.at + 1)} of ${grouped(matches.list.length)} \u00b7 ` : '';
    const text = matches.error || (state.source ? foundInSources() : !matches.names ? '' : !matches.frames ? 'no match'
        : `${where}${matches.shares.map(percent).join(' \u2192 ')} in ${plural(matches.frames, 'frame')}`);
    if (node.textContent !== text) node.textContent = node.title = text;
}

function search(text, match = state.match) {
    state.q = text;
    state.match = match;
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
    if (state.source) {
        stepSource(by);
        return;
    }
    if (!matches.names || !matches.frames) return;
    const { name, parent, depth } = scene.tree, [{ x }] = panes, wide = (i) => panes.find((pane) => pane.weights[i] > 0);
    if (!matches.list) {
        matches.list = [];
        for (let i = 0; i < scene.tree.n; i++) if (matches.names[name[i]] === 1 && wide(i)) matches.list.push(i);
        if (state.order !== 'name') matches.list.sort((a, b) => x[a] - x[b] || depth[a] - depth[b]);
    }
    const count = matches.list.length, at = count ? ((matches.at < 0 && by < 0 ? 0 : matches.at) + by + count) % count : -1;
    if (at < 0) return;
    matches.at = at;
    const frame = matches.list[at], pane = wide(frame), box = pane.box(frame);
    if ((!box || box.w < 8) && !isUpward()) {
        const line = [frame];
        while (line[0] > 0) line.unshift(parent[line[0]]);
        zoom(line.find((i) => pane.weights[i] <= pane.weights[frame] * pane.view / 60) ?? frame);
    }
    go(frame);
    found();
}

function go(frame) {
    cursor.frame = frame;
    cursor.keys = true;
    for (const pane of panes) if (pane.box(frame)) pane.reveal(frame, 1);
    marks();
    details();
    speak(frame);
    for (const row of $('calls').querySelectorAll('tr[data-frame]')) row.classList.toggle('here', +row.dataset.frame === frame);
}

function marks() {
    for (const pane of panes) {
        pane.mark('hover', cursor.hover);
        pane.mark('cursor', cursor.keys ? cursor.frame : -1);
    }
}

// Returns what is known of a frame: rows of cells, the first of which is a label.
function known(i) {
    const whole = scene.all.map((list) => list[0]), zoomed = scene.focus || scene.split;
    const row = (kind) => {
        const [a, b] = scene[kind].map((list) => list[i]);
        if (!profile.diff) return [kind, amount(a), percent(a / whole[0]), zoomed ? percent(a / scene.total[0][scene.focus]) : ''];
        const part = kind === 'self' ? Math.abs(b - a) : scene.changed[i];
        return [kind, amount(real(a, 0)), amount(b), profile.relative ? points(i, kind) : signed(b - a),
            profile.relative ? `${percent(a / whole[0])} \u2192 ${percent(b / whole[1])}` : growth(a, b), ratio(a, b), percent(scene.changed[0] && part / scene.changed[0])];
    };
    const rows = [row('total')];
    if (!state.reversed && !(scene.split && i >= scene.split)) rows.push(row('self'));
    if (scene.calls && !profile.relative) {
        const [a, b] = scene.calls.map((list) => list[i]);
        rows.push(profile.diff ? ['calls', amount(a, COUNT), amount(b, COUNT), signed(b - a, COUNT), growth(a, b), ratio(a, b), ''] : ['calls', amount(a, COUNT)]);
    }
    return rows;
}

function remarks(i) {
    const name = scene.tree.name[i], kind = profile.facts.kinds[name], list = [kind ? (KINDS[kind] || KINDS[0])[0] : '', placeOf(name)];
    if (profile.diff) {
        const parts = (top) => scene.total.map((total, side) => `${percent(total[i] / total[top])} of ${sideName(side)}`).join(' \u2192 ');
        const { moved = {} } = profile.diff;
        list.push(parts(0), scene.focus ? `of the zoomed frame ${parts(scene.focus)}` : '');
        if (isNew(i)) list.push(profile.relative ? `only in ${profile.facts.sides[1]}` : 'new: not called here before');
        if (isGone(i)) list.push(profile.relative ? `only in ${profile.facts.sides[0]}` : 'gone: not called here after');
        if (moved[name]) list.push(`moved: was at ${moved[name]}`);
        if (profile.certain && !profile.certain.self[name] && !profile.certain.total[name]) list.push('uncertain');
    }
    return list.filter(Boolean).join(' \u00b7 ');
}

// Shows the frame under the mouse.
function point(frame, event) {
    const tip = $('tip');
    if (frame !== cursor.hover) {
        cursor.hover = frame;
        marks();
        details();
        tip.hidden = frame < 0;
    }
    if (frame < 0) return;
    const heads = profile.diff ? ['', sideName(0), sideName(1), 'difference', profile.relative ? 'shares' : '', 'ratio', 'of all change']
        : ['', '', scene.focus || scene.split ? 'of all' : '', scene.split ? 'of the sub' : scene.focus ? 'of zoomed' : ''];
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
        if (profile.diff) return `${label} ${a} \u2192 ${b}, ${c}${d ? ` (${d})` : ''} ${e}`;
        return `${label} ${a}${b ? ` (${b}${c ? `, ${c} of ${scene.split ? 'the sub' : 'zoomed'}` : ''})` : ''}`;
    }), remarks(i)].filter(Boolean).join(' \u00b7 ');
}

function details() {
    const frame = cursor.hover >= 0 ? cursor.hover : cursor.frame >= 0 ? cursor.frame : scene.focus;
    if (frame === 0 && cursor.hover < 0 && !cursor.keys && !scene.split) $('details').replaceChildren(...firstSight(), make('span', { className: 'soft hint' }, 'Click a frame to zoom, right-click for more, / to search, ? for all keys'));
    else {
        const sub = scene.tree.name[frame], to = hasLines() && placeOf(sub) ? button('Source', () => openSourceOf(sub), { className: 'link', title: `${placeOf(sub)} (l)` }) : '';
        $('details').replaceChildren(make('bdi', { className: 'name' }, short(nameOf(frame))), ' ', to, ' ', inWords(frame));
    }
}

function speak(frame, before = '') {
    $('spoken').textContent = `${before}${short(nameOf(frame), 200)}. ${inWords(frame)}. Level ${scene.tree.depth[frame]}, ${plural(scene.tree.kids(frame).length, state.reversed || (scene.split && frame >= scene.split) ? 'caller' : 'callee')}.`;
}
