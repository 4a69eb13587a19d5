'use strict';

// The graph under the hand: panes, zoom, search, mouse, keys, and the link that holds the state.

let panes = [];
const C = { cursor: -1, hover: -1, index: 0 };      // frames of V.tree; index: which pane has the keyboard
const sideName = (side) => (P.relative ? P.facts.sides[side] : side === last() ? 'after' : 'before');

function makePanes() {
    const kinds = !P.diff || S.layout === 'graph' ? [null] : S.layout === 'pair' ? ['before', 'after'] : ['before', 'after', 'change'];
    panes.forEach((pane) => watch.unobserve(pane.scroll));
    panes = kinds.map((kind) => new Pane(kind, kind && kind !== 'change' ? 'half' : ''));
    $('panes').className = P.diff ? S.layout : 'graph';
    $('panes').replaceChildren(...panes.map((pane) => pane.node));
    panes.forEach((pane, index) => {
        const { canvas } = pane;
        canvas.addEventListener('mousemove', (event) => point(pane.at(event), event));
        canvas.addEventListener('mouseleave', () => point(-1));
        canvas.addEventListener('click', (event) => {
            const frame = pane.at(event);
            if (frame >= 0) zoom(frame);
        });
        canvas.addEventListener('focus', () => {
            C.index = index;
            if (C.cursor < 0) C.cursor = V.focus;
            marks();
        });
        canvas.addEventListener('blur', marks);
        watch.observe(pane.scroll);
    });
    if (C.index >= panes.length) C.index = 0;
}

const watch = new ResizeObserver(() => {
    if (V && panes.some((pane) => pane.view !== pane.scroll.clientWidth || pane.seen !== pane.scroll.clientHeight)) refresh('boxes');
});

// Does again what depends on a change, from the given step on.
const STEPS = ['panes', 'view', 'widths', 'boxes', 'paint'];

function refresh(from) {
    const step = STEPS.indexOf(from);
    if (step <= 0) makePanes();
    if (step <= 1) {
        const path = V && C.cursor >= 0 ? V.tree.path(C.cursor) : null;
        makeView(Math.max(300, $('panes').clientWidth));
        if (V.steps < S.path.length) {
            const lost = S.lost || P.names[S.path[V.steps]];
            say(`This path goes no further than ${short(nameOf(V.focus), 120)}: ${short(lost, 120)} is not called there in this profile.`);
            S.path = S.path.slice(0, V.steps);
        }
        S.lost = null;
        C.hover = -1;
        C.cursor = path ? V.tree.follow(path).frame : -1;
        tally();
    }
    if (step <= 2) {
        panes.forEach((pane) => pane.measure());
        F.list = null;
    }
    if (step <= 3) {
        titles();
        panes.forEach((pane) => {
            pane.collect();
            pane.seen = pane.scroll.clientHeight;
        });
        narrow();
    }
    if (!ink || ink.t !== (printing ? 'light' : theme)) colours();
    panes.forEach((pane) => pane.paint());
    marks();
    toolbar();
    details();
}

function titles() {
    panes.forEach((pane) => {
        const { kind } = pane, [a, b] = P.facts.sides;
        pane.title.hidden = !kind;
        pane.title.textContent = P.relative
            ? { before: a, after: b, change: `Difference of shares, ${b} \u2212 ${a}` }[kind] || ''
            : { before: `Before: ${a} \u2014 coloured by what will happen`, after: `After: ${b} \u2014 coloured by what did happen`,
                change: 'Difference \u2014 as wide as what changed' }[kind] || '';
    });
}

function narrow() {
    const parts = [];
    const [pane] = panes, whole = pane.weights[V.focus];
    if (pane.narrow) {
        const what = S.reversed ? 'calling frame' : 'frame';
        parts.push(`${grouped(pane.narrow)} ${what}${pane.narrow === 1 ? '' : 's'}, ${percent(whole > 0 ? pane.narrowWeight / whole : 0)}, too narrow to draw here; zoom in to see them`);
    }
    if (pane.still && P.diff) parts.push(`${grouped(pane.still)} without ${{ before: 'a width before', after: 'a width after', change: 'a change' }[pane.width] || 'a width'} not drawn`);
    else if (pane.still) parts.push(`${grouped(pane.still)} without any value not drawn`);
    $('narrow').textContent = parts.join(' \u00b7 ');
}

function say(text) {
    $('notice').hidden = !text;
    $('notice').textContent = text;
}

// Zoom, with a step in the browser's history.
function zoom(frame) {
    say('');
    S.path = V.tree.path(frame);
    C.cursor = frame;
    refresh(S.reversed ? 'view' : rezoom(frame));
    for (const pane of panes) pane.reveal(V.focus, 3);
    C.cursor = V.focus;
    marks();
    speak(V.focus, 'Zoomed to ');
    remember(true);
}

function rezoom(frame) {
    V.focus = frame;
    return 'boxes';
}

function back() {
    if (history.state && history.state.dprof > 0) history.back();
    else if (S.path.length) zoom(V.tree.parent[V.focus]);
}

// Toggles that change the tree keep the zoom where that has a meaning.
function turn(key, value) {
    say('');
    if (key === 'reversed') {
        if (value && !canReverse()) {
            say(`Callers can be drawn for profiles of up to ${grouped(REVERSE_LIMIT)} frames; this one has ${grouped(P.tree.n)}. Filter it when the graph is made, or use the table: it shows each sub's callers.`);
            return;
        }
        S.path = [];
        C.cursor = -1;
    }
    if (key === 'merged' && value) S.path = S.path.filter((name, i) => name !== S.path[i - 1]);
    S[key] = value;
    const from = { layout: 'panes', order: 'widths', width: 'widths', icicle: 'boxes', colour: 'paint', uncertain: 'paint' }[key] || 'view';
    refresh(from);
    if (key === 'icicle') for (const pane of panes) pane.scroll.scrollTop = value ? 0 : pane.height;
    if (key === 'metric') drawTable();
    remember();
}

function toolbar() {
    const press = (id, on) => $(id).setAttribute('aria-pressed', String(!!on));
    for (const id of ['icicle', 'reversed', 'merged', 'table', 'uncertain']) press(id, S[id]);
    press('case', S.match);
    press('dark', theme === 'dark');
    $('reset').disabled = S.path.length === 0;
    const time = $('order').querySelector('[value="time"]');
    time.disabled = !V.tree.when;
    $('order').value = S.order === 'time' && !V.tree.when ? 'name' : S.order;
    $('metric').value = S.metric;
    if (document.activeElement !== $('q') && $('q').value !== S.q) $('q').value = S.q;
    found();
    const total = V.base.values.total.map((list, side) => `${P.diff ? sideName(side) + ' ' : ''}${amount(real(list[0], side))}`);
    $('whole').textContent = `${total.join(' \u2192 ')} ${metric().unit === 's' || !metric().unit ? metric().label : ''} \u00b7 ${grouped(P.tree.n)} frames`;
    if (P.diff) {
        $('layout').value = S.layout;
        $('width').value = S.width;
        $('width').disabled = S.layout !== 'graph';
        $('colour').value = S.reversed || (S.layout === 'graph' && S.width === 'change') ? 'total' : S.colour;
        $('colour').disabled = S.reversed || (S.layout === 'graph' && S.width === 'change');
        drawScale();
    } else drawKinds();
}

// Of two counters, side 0 was scaled to be compared: its own number again.
const real = (value, side) => (P.relative && side === 0 ? value / balance(S.metric) : value);

function found() {
    const node = $('found'), bad = !!F.error;
    node.classList.toggle('bad', bad);
    $('q').setAttribute('aria-invalid', String(bad));
    $('prev').disabled = $('next').disabled = !F.names || !F.frames;
    let text = '';
    if (bad) text = F.error;
    else if (F.names && !F.frames) text = 'no match';
    else if (F.names) {
        const where = F.at >= 0 ? `${grouped(F.at + 1)} of ${grouped(F.list.length)} \u00b7 ` : '';
        text = `${where}${F.shares.map(percent).join(' \u2192 ')} in ${grouped(F.frames)} frame${F.frames === 1 ? '' : 's'}, ${grouped(F.subs)} sub${F.subs === 1 ? '' : 's'}`;
    }
    if (node.textContent !== text) node.textContent = node.title = text;
}

function search(text, match = S.match) {
    S.q = text;
    S.match = match;
    compile();
    tally();
    panes.forEach((pane) => pane.paint());
    toolbar();
    drawTable();
    remember();
}

// To a match: in place where it can be seen, else zoomed as little as makes it visible.
function step(by) {
    if (!F.names || !F.frames) return;
    const [pane] = panes, list = matches(pane.x, pane.weights);
    if (!list.length) return;
    if (F.at < 0) F.at = by > 0 ? -1 : list.length;
    const at = F.at = (F.at + by + list.length) % list.length, frame = list[at], box = pane.box(frame);
    if ((!box || box.w < 8) && !S.reversed) {
        const line = [frame], { parent } = V.tree;
        while (line[0] > 0) line.unshift(parent[line[0]]);
        const least = Math.max(pane.weights[frame] * pane.view / 60, 0);
        zoom(line.find((i) => pane.weights[i] <= least) ?? frame);
        F.at = at;
    }
    go(frame);
    found();
}

function go(frame) {
    C.cursor = frame;
    for (const pane of panes) if (pane.box(frame)) pane.reveal(frame, 1);
    marks();
    details();
    speak(frame);
}

function marks() {
    const held = panes.some((pane) => document.activeElement === pane.canvas) || F.at >= 0;
    for (const pane of panes) {
        pane.mark('hover', C.hover);
        pane.mark('cursor', held ? C.cursor : -1);
    }
}

// What is known of a frame: rows of (label, cells).
function known(i) {
    const rows = [], add = (labelText, list) => {
        const whole = V.total.map((total) => total[0]), here = V.total.map((total) => total[V.focus]);
        if (!P.diff) {
            rows.push([labelText, amount(list[0][i]), percent(list[0][i] / whole[0]), V.focus ? percent(list[0][i] / here[0]) : null]);
            return;
        }
        const [a, b] = list.map((own) => own[i]);
        const changed = V.changed[0] > 0 ? (list === V.own ? Math.abs(b - a) : V.changed[i]) / V.changed[0] : 0;
        rows.push([labelText, amount(real(a, 0)), amount(b), P.relative ? points(i, list === V.own ? 'self' : 'total') : signed(b - a),
            P.relative ? `${percent(a / whole[0])} \u2192 ${percent(b / whole[1])}` : growth(a, b), ratio(a, b), percent(changed)]);
    };
    add(S.reversed ? 'as callers' : 'total', V.total);
    add(S.reversed ? 'outermost' : 'self', V.own);
    if (V.calls) {
        const [a, b] = V.calls.map((list) => list[i]), m = { unit: '' };
        if (!P.diff) rows.push(['calls', amount(a, m)]);
        else rows.push(['calls', amount(a, m), amount(b, m), signed(b - a, m), growth(a, b), ratio(a, b)]);
    }
    return rows;
}

function remarks(i) {
    const list = [], name = V.tree.name[i], kind = P.facts.kinds[name], place = placeOf(name);
    if (kind && KINDS[kind]) list.push(KINDS[kind][0]);
    if (place) list.push(place);
    if (P.diff) {
        const whole = V.total.map((t) => t[0]);
        if (!P.relative) list.push(`${percent(V.total[0][i] / whole[0])} of before \u2192 ${percent(V.total[1][i] / whole[1])} of after`);
        if (V.focus) list.push(V.total.map((t, s) => `${percent(t[i] / t[V.focus])} of the zoomed frame ${sideName(s)}`).join(', '));
        if (isNew(i)) list.push(P.relative ? `only in ${P.facts.sides[1]}` : 'new: not called here before');
        if (isGone(i)) list.push(P.relative ? `only in ${P.facts.sides[0]}` : 'gone: not called here after');
        if (P.moved.has(name)) list.push(`moved: was at ${P.moved.get(name)}`);
        if (P.certain && !(P.certain.self[name] || P.certain.total[name])) list.push('uncertain: may be chance');
    }
    return list;
}

function point(frame, event) {
    const tip = $('tip');
    if (frame !== C.hover) {
        C.hover = frame;
        marks();
        details();
        tip.hidden = frame < 0;
        if (frame >= 0) {
            const heads = P.diff ? ['', sideName(0), sideName(1), 'difference', P.relative ? 'shares' : '', 'ratio', 'of all change']
                : V.focus ? ['', '', 'of all', 'of zoomed'] : null;
            const rows = known(frame).map((cells) => make('tr', {}, ...cells.map((cell) => (cell === null ? null : make('td', {}, cell)))));
            if (heads) rows.unshift(make('tr', {}, ...heads.map((head) => make('th', { scope: 'col' }, head))));
            tip.replaceChildren(make('div', { className: 'name' }, short(nameOf(frame), 1000)), make('table', {}, ...rows),
                ...[remarks(frame).join(' \u00b7 ')].filter(Boolean).map((text) => make('p', {}, text)));
        }
    }
    if (frame < 0) return;
    const { clientX: x, clientY: y } = event, w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - w - 8)) + 'px';
    tip.style.top = (y + 18 + h > innerHeight ? Math.max(8, y - h - 12) : y + 18) + 'px';
}

// The same in one line.
function line(i) {
    return known(i).map(([text, ...cells]) => {
        if (!P.diff) return `${text} ${cells[0]}${cells[1] ? ` (${cells[1]}${cells[2] ? `, ${cells[2]} of zoomed` : ''})` : ''}`;
        return `${text} ${cells[0]} \u2192 ${cells[1]}, ${cells[2]}${cells[3] ? ` (${cells[3]})` : ''} ${cells[4]}`;
    }).concat(remarks(i)).join(' \u00b7 ');
}

function details() {
    const frame = C.hover >= 0 ? C.hover : C.cursor >= 0 ? C.cursor : V.focus, node = $('details');
    if (frame === 0 && C.hover < 0 && C.cursor < 0) {
        node.replaceChildren(make('span', { className: 'hint' }, 'Click a frame to zoom, / to search, ? for all keys'));
        return;
    }
    node.replaceChildren(make('bdi', { className: 'name' }, short(nameOf(frame))), ' ', line(frame));
}

function speak(frame, before = '') {
    const { depth } = V.tree, kids = V.tree.kids(frame).length;
    $('spoken').textContent = `${before}${short(nameOf(frame), 200)}. ${line(frame)}. Level ${depth[frame]}, ${S.reversed ? 'callers' : 'calls'}: ${kids}.`;
}

// Arrow keys: up and down as drawn, left and right among siblings, then among the frames of that level.
function arrow(key) {
    const pane = panes[C.index], { tree } = V, { boxes } = pane;
    const from = C.cursor >= 0 && pane.box(C.cursor) ? C.cursor : V.focus;
    let to = from;
    if ((key === 'ArrowUp') === S.icicle && (key === 'ArrowUp' || key === 'ArrowDown')) to = Math.max(0, tree.parent[from]);
    else if (key === 'ArrowUp' || key === 'ArrowDown') {
        // The widest kid: the way most time went. Above the zoom there is one way only.
        if (from < V.focus) {
            to = V.focus;
            while (tree.parent[to] !== from) to = tree.parent[to];
        } else for (const kid of tree.kids(from)) if (pane.weights[kid] > 0 && (to === from || pane.weights[kid] > pane.weights[to])) to = kid;
    } else {
        let best = Infinity;
        const here = pane.box(from), way = key === 'ArrowRight' ? 1 : -1;
        for (let k = 0; k < boxes.count; k++) {
            const gap = (boxes.x[k] - here.x) * way;
            if (boxes.row[k] === tree.depth[from] && boxes.frame[k] !== from && gap > 0 && gap < best) {
                best = gap;
                to = boxes.frame[k];
            }
        }
    }
    go(to);
}

const KEYS = [
    ['/ or Ctrl+F', 'search'], ['Enter, n', 'next match'], ['Shift+Enter, p', 'previous match'], ['c', 'match case'],
    ['\u2191 \u2193 \u2190 \u2192', 'move between frames'], ['Enter', 'zoom to the frame'], ['Backspace, Esc, u', 'back'], ['0, Home', 'show everything'],
    ['i', 'icicle or flame'], ['r', 'callers'], ['m', 'merge recursion'], ['o', 'next order'], ['t', 'table of subs'], ['s', 'the frame\u2019s sub in the table'],
    ['v', 'next view of a difference'], ['w', 'next width of a difference'], ['d', 'dark or light'], ['?', 'this help'],
];

function keydown(event) {
    const { key, target } = event, input = /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    if (document.querySelector('dialog[open]') || event.altKey || !V) return;
    if ((event.ctrlKey || event.metaKey) && key === 'f' && target !== $('q')) {
        event.preventDefault();
        $('q').focus();
        $('q').select();
        return;
    }
    if (event.ctrlKey || event.metaKey) return;
    if (target === $('q')) {
        if (key === 'Enter') {
            event.preventDefault();
            typed();
            step(event.shiftKey ? -1 : 1);
        } else if (key === 'Escape') {
            event.preventDefault();
            panes[C.index].canvas.focus();
        }
        return;
    }
    if (input) return;
    const free = target === document.body || target.tagName === 'CANVAS' || target.classList.contains('scroll');
    const cycle = (id) => {
        const list = [...$(id).options].filter((o) => !o.disabled).map((o) => o.value);
        turn(id, list[(list.indexOf(S[id]) + 1) % list.length]);
    };
    const act = {
        '/': () => { $('q').focus(); $('q').select(); },
        n: () => step(1), p: () => step(-1), N: () => step(-1), c: () => search(S.q, !S.match),
        Backspace: back, Escape: back, u: back, 0: () => zoom(0), Home: () => zoom(0),
        i: () => turn('icicle', !S.icicle), r: () => turn('reversed', !S.reversed), m: () => turn('merged', !S.merged),
        o: () => cycle('order'), t: () => openTable(!S.table), s: () => openSub(V.tree.name[C.cursor >= 0 ? C.cursor : V.focus]),
        d: () => dye(theme === 'dark' ? 'light' : 'dark'), '?': help,
        v: P.diff && (() => cycle('layout')), w: P.diff && S.layout === 'graph' && (() => cycle('width')),
    }[key];
    const move = /^Arrow/.test(key) ? () => arrow(key) : key === 'Enter' ? () => zoom(C.cursor >= 0 ? C.cursor : V.focus) : null;
    if (act || (free && move)) {
        event.preventDefault();
        (act || move)();
    }
}

// A link: names, not places on the screen, so that it holds for the same program profiled again. A ';' of a name is
// encoded twice, as ';' stands between names; and so is '%', to tell the two apart.
const wellFormed = (text) => text.replace(/[\ud800-\udfff]/gu, '\ufffd');
const pack = (name) => encodeURIComponent(wellFormed(name).replace(/[%;]/g, (c) => (c === ';' ? '%3B' : '%25')));
const unpack = (text) => plain(text).replace(/%(3B|25)/gi, (_, hex) => (hex === '25' ? '%' : ';'));

function plain(text) {
    try {
        return decodeURIComponent(text);
    } catch (error) {
        return text;
    }
}

function link() {
    const parts = [], old = P.initial, views = (s) => ['icicle', 'reversed', 'merged'].filter((key) => s[key]).join() || 'flame';
    const add = (key, value) => parts.push(`${key}=${value}`);
    if (S.path.length) add('at', S.path.map((name) => pack(P.names[name])).join(';'));
    if (S.q !== old.q) add('q', encodeURIComponent(wellFormed(S.q)));
    if (S.match !== old.match) add('case', +S.match);
    if (S.metric !== old.metric) add('metric', encodeURIComponent(metric().key));
    if (S.order !== old.order) add('order', S.order);
    if (views(S) !== views(old)) add('view', views(S));
    for (const key of ['layout', 'width', 'colour']) if (S[key] !== old[key]) add(key, S[key]);
    if (S.uncertain) add('uncertain', 1);
    if (S.table) add('table', 1);
    if (S.sub >= 0) add('sub', pack(P.names[S.sub]));
    return parts.length ? '#' + parts.join('&') : '#';
}

// Only zooms are steps of the history; the rest changes the present one.
function remember(push = false) {
    const hash = link(), count = (history.state && history.state.dprof) || 0;
    try {
        if (!push) history.replaceState({ dprof: count }, '', hash);
        else if (hash !== (location.hash || '#')) history.pushState({ dprof: count + 1 }, '', hash);
    } catch (error) {
        // A browser that allows no history here: everything but Back works.
    }
}

function readLink(all) {
    const given = new Map(location.hash.slice(1).split('&').filter(Boolean).map((part) => {
        const at = part.indexOf('=');
        return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    }));
    P.index = P.index || new Map(P.names.map((name, i) => [wellFormed(name), i]));
    const number = (text) => P.index.get(text) ?? -1;
    const path = given.has('at') ? given.get('at').split(';').map(unpack) : [];
    if (all) {
        Object.assign(S, P.initial);
        const one = (key, allowed) => { if (allowed.includes(given.get(key))) S[key] = given.get(key); };
        if (given.has('q')) S.q = plain(given.get('q'));
        if (given.has('case')) S.match = given.get('case') === '1';
        if (given.has('metric') && P.key(plain(given.get('metric'))) >= 0) S.metric = P.key(plain(given.get('metric')));
        one('order', ['name', 'weight', 'time']);
        if (P.diff) {
            one('layout', ['graph', 'pair', 'triple']);
            one('width', ['after', 'before', 'union', 'change']);
            one('colour', ['self', 'total']);
        }
        if (given.has('view')) {
            const views = given.get('view').split(',');
            for (const key of ['icicle', 'reversed', 'merged']) S[key] = views.includes(key) && (key !== 'reversed' || canReverse());
        }
        S.uncertain = given.get('uncertain') === '1';
        compile();
    }
    S.path = path.map(number);
    const lost = S.path.indexOf(-1);
    S.lost = lost >= 0 ? path[lost] : null;
    const sub = given.has('sub') ? unpack(given.get('sub')) : '';
    S.sub = sub ? number(sub) : -1;
    S.table = given.get('table') === '1' || S.sub >= 0;
    say(sub && S.sub < 0 ? `The sub ${short(sub, 120)} is not in this profile.` : '');
}
