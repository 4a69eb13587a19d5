'use strict';

// Links, legends, dialogs, themes, print, and the start.

// A link has names, not places on the screen, so that it leads to the same frame of the same
// program profiled again. ';' separates names, so that one in a name is encoded twice; so is '%',
// to tell the two apart.
const pack = (name) => encodeURIComponent(name.replace(/[%;]/g, (c) => (c === ';' ? '%3B' : '%25')));
const unpack = (text) => plain(text).replace(/%(3B|25)/gi, (_, hex) => (hex === '25' ? '%' : ';'));
const viewsOf = (state) => ['icicle', 'reversed', 'merged'].filter((key) => state[key]).join() || 'flame';
const CHOICES = ['order', 'layout', 'width', 'colour'];

function plain(text) {
    try {
        return decodeURIComponent(text);
    } catch (error) {
        return text;
    }
}

function link(source = state.source ? (state.file >= 0 ? sourceLink(state.file, state.line) : '') : null) {
    const parts = [], old = profile.initial, add = (key, on, value) => { if (on) parts.push(`${key}=${value}`); };
    add('at', state.path.length, state.path.map((name) => pack(profile.names[name])).join(';'));
    add('q', state.q !== old.q, encodeURIComponent(state.q));
    add('case', state.match, 1);
    add('metric', state.metric !== old.metric, encodeURIComponent(metric().key));
    for (const key of CHOICES) add(key, state[key] !== old[key], state[key]);
    add('view', viewsOf(state) !== viewsOf(old), viewsOf(state));
    add('uncertain', state.uncertain, 1);
    add('table', state.table, 1);
    if (state.sub >= 0) add('sub', 1, pack(profile.names[state.sub]));
    add('src', source || (source === '' && !old.source), source);
    add('graph', source === null && old.source, 1);
    add('range', state.range, state.range && state.range.map((v) => +v.toPrecision(10)).join('..'));
    add('steps', state.chain.length, state.chain.map(({ act, text }) => `${act}:${pack(text)}`).join(';'));
    add('around', state.centre >= 0, pack(profile.names[state.centre] || ''));
    add('calls', state.calls, 1);
    add('timeline', state.time, 1);
    add('scale', state.common, 'common');
    return parts.length ? '#' + parts.join('&') : '';
}

// Only zooms and subs are steps of the history; the rest changes the present one.
function remember(push) {
    const hash = link(), count = (history.state && history.state.dprof) || 0, url = location.href.replace(/#.*/s, '') + hash;
    try {
        if (!push) history.replaceState({ dprof: count }, '', url);
        else if (hash !== location.hash) history.pushState({ dprof: count + 1 }, '', url);
    } catch (error) {
        // Where the history may not be changed, everything but Back works.
    }
}

// Restores the state of the link, or only its place: a step back leaves search and toggles
// unchanged.
function restore(all) {
    const given = new Map(location.hash.slice(1).split('&').map((part) => part.split(/=(.*)/s)));
    const number = subNamed;
    const path = given.has('at') ? given.get('at').split(';').map(unpack) : [], sub = unpack(given.get('sub') || '');
    say(sub && number(sub) < 0 ? `The sub ${short(sub, 120)} is not in this profile.` : '');
    if (all) {
        Object.assign(state, profile.initial);
        if (given.has('q')) state.q = plain(given.get('q'));
        state.match = given.get('case') === '1';
        state.uncertain = given.get('uncertain') === '1';
        state.common = given.get('scale') === 'common';
        if (profile.key(plain(given.get('metric') || '')) >= 0) state.metric = profile.key(plain(given.get('metric')));
        for (const key of CHOICES) if ([...$(key).options].some((option) => option.value === given.get(key))) state[key] = given.get(key);
        if (given.has('view')) for (const key of ['icicle', 'reversed', 'merged']) state[key] = given.get('view').split(',').includes(key);
        state.reversed = state.reversed && canReverse();
        $('q').value = state.q;
        compile();
    }
    const steps = given.has('steps') ? given.get('steps').split(';').map((step) => /^(\w+):(.*)$/s.exec(step)).filter((step) => step && Object.hasOwn(STEPS, step[1])).map(([, act, text]) => ({ act, text: unpack(text) })) : [];
    const lost = chainOf(steps), centre = given.has('around') ? unpack(given.get('around')) : '';
    if (timeStep()) metricInTime();
    if (lost) say(`The ${STEPS[lost.act].noun} ${short(lost.text, 120)} is not in this profile: a step of the link is left out.`);
    state.centre = centre && canReverse() ? number(centre) : -1;
    if (centre && number(centre) < 0) say(`The sub ${short(centre, 120)} is not in this profile.`);
    const range = /^([\d.e-]+?)\.\.([\d.e-]+)$/.exec(given.get('range') || ''), [from, to] = range ? [+range[1], +range[2]] : [0, 1];
    state.range = range && from >= 0 && to > from && to <= 1 ? [from, to] : null;
    state.path = state.centre >= 0 ? [] : path.map(number);
    state.lost = path[state.path.indexOf(-1)];
    state.sub = sub ? number(sub) : -1;
    state.table = given.get('table') === '1' || state.sub >= 0;
    state.calls = given.get('calls') === '1' && !state.table;
    state.time = given.get('timeline') === '1' && hasTimes();
    state.source = hasLines() && (given.has('src') || (profile.initial.source && given.get('graph') !== '1'));
    const [, file, line] = /^(.*?)(?::(\d+))?$/s.exec(given.get('src') || '');
    Object.assign(state, { file: -1, line: state.source ? +(line || 0) : 0 });
    if (state.source && file) state.lostFile = unpack(file);
    showViews();
    drawTable();
    refresh(all ? 'panes' : 'view');
    cursor.frame = scene.focus;
    if (all && !state.icicle) for (const pane of panes) pane.scroll.scrollTop = pane.height;
    for (const pane of panes) pane.reveal(scene.focus, 3);
    if (scene.split) for (const pane of panes) pane.scroll.scrollTop = pane.y(0) - pane.seen / 2;
    marks();
    details();
    if (!state.source) remember();
    findInSources();
    drawSource(true);
}

function swatch(style) {
    const node = make('span', { className: 'swatch' });
    Object.assign(node.style, style);
    return node;
}

const legend = (...inside) => make('bdi', { className: 'key' }, ...inside);

function drawKinds() {
    const { kinds, hues, fills } = profile.facts, used = new Set(kinds), hue = hues.find((_, i) => kinds[i] === 0) || 30;
    const marks = KINDS.slice(0, 6).map(([text], kind) => used.has(kind) && legend(swatch({
        background: kind === 4 ? `repeating-linear-gradient(135deg, transparent 0 3px, ${ink.stripe} 3px 6px) ${kindColour(kind, hue)}` : kindColour(kind, hue),
        border: kind === 5 ? `1.5px solid ${ink.begin}` : '',
    }), text)).filter(Boolean);
    $('kinds').replaceChildren(...marks, legend(fills ? 'colours as asked for' : 'hue: by package'));
}

// Draws the meaning of the colours of a difference.
function drawScale(kind) {
    const { diff, facts: { sides } } = profile, [a, b] = sides, words = profile.relative ? [] : [`before: ${a}`, `after: ${b}`];
    if (diff.runs && Math.max(...diff.runs) > 1) words.push(`means of ${diff.runs.join(' and ')} runs`);
    words.push(diff.normalized || '', diff.negate && state.layout === 'graph' && state.width === 'before' ? 'coloured by what will happen' : '');
    if (profile.certain) words.push(state.uncertain ? 'uncertain changes are coloured' : `${ink.dark ? 'grey' : 'white'}: no change, or an uncertain one`);
    const [less, more] = profile.relative ? sides.map((side) => `${side} has the larger share`)
        : kind === 'change' ? ['only less', 'only more'] : [`less ${signed(-largest(kind))}`, `${signed(largest(kind))} more`];
    $('scale').replaceChildren(make('span', { className: 'down' }, `\u25bc ${less}`),
        make('span', {}, ...[-24, -16, -9, -4, -1, 0, 1, 4, 9, 16, 24].map((level) => swatch({ background: diffColour(level) }))),
        make('span', { className: 'up' }, `${more} \u25b2`));
    $('kinds').replaceChildren(...words.filter(Boolean).map((text) => legend(text)),
        legend(swatch({ border: `1.5px dashed ${ink.ghost}` }), profile.relative ? `only ${a}` : 'gone (not in width \u201cafter\u201d)'),
        legend(swatch({ border: '1px solid var(--line)', borderLeft: `4px solid ${ink.fresh}` }), profile.relative ? `+ only ${b}` : '+ new'));
    $('uncertain').hidden = !profile.certain;
}

function dialog(title, rows) {
    const list = rows.flatMap(([term, text]) => [make('dt', {}, term), make('dd', {}, text)]);
    $('dialog').replaceChildren(make('h2', { id: 'dialog-title' }, title), make('dl', {}, ...list), button('Close', () => $('dialog').close(), { autofocus: true }));
    $('dialog').showModal();
}

function help() {
    dialog('Keys', KEYS.filter(([, text]) => text && (profile.diff || !/difference/.test(text))).map(([keys, text]) => [make('span', {}, ...keys.flatMap((key) => [make('kbd', {}, key), ' '])), text]));
}

function info() {
    const { facts } = profile;
    dialog(facts.title, [...(facts.notes || []), ['Frames', grouped(profile.tree.n)], ['Subs', grouped(profile.facts.kinds.filter((kind) => kind < PHASE_KIND).length)], ['Made by', `Devel::DProf ${facts.version}`]]);
}

function dye(to) {
    theme = document.documentElement.dataset.theme = to;
    if (scene) refresh('paint');
}

// Typing is searched after a moment, so that a word is searched once; Enter does not wait.
let typing = 0;

function typed() {
    clearTimeout(typing);
    if ($('q').value !== state.q) search($('q').value);
}

function wire() {
    const click = (id, act) => { $(id).onclick = act; };
    $('q').oninput = () => {
        clearTimeout(typing);
        typing = setTimeout(typed, 90);
    };
    click('case', () => search($('q').value, !state.match));
    click('next', () => { typed(); step(1); });
    click('prev', () => { typed(); step(-1); });
    click('reset', showAll);
    for (const id of ['icicle', 'reversed', 'merged', 'uncertain', 'common']) click(id, () => turn(id, !state[id]));
    click('sandwich', () => (state.centre >= 0 ? sandwich(-1) : sandwichHere()));
    click('times', () => openTimes(state.source || !state.time));
    click('list', () => openCalls(state.source || !state.calls));
    click('export', openExport);
    for (const id of CHOICES) $(id).onchange = () => turn(id, $(id).value);
    for (const act of Object.keys(LANES)) $(act).onchange = () => choosePart(act, +$(act).value);
    $('metric').onchange = () => turn('metric', +$('metric').value);
    click('table', () => openTable(state.source || !state.table));
    click('source', () => openSource(!state.source));
    click('dark', () => dye(theme === 'dark' ? 'light' : 'dark'));
    click('info', info);
    click('help', help);
    document.onkeydown = keydown;
    onpopstate = (event) => restore(!event.state);

    const media = (query, act) => matchMedia(query).addEventListener('change', act);
    const print = (now) => {
        if (printing === now) return;
        printing = now;
        refresh('boxes');
        drawRows();
    };
    onbeforeprint = () => print(true);
    onafterprint = () => print(false);
    media('(min-width: 1900px)', () => refresh('boxes'));
    media('print', (event) => print(event.matches));
    media('(prefers-color-scheme: dark)', (event) => dye(event.matches ? 'dark' : 'light'));
}

async function start() {
    const stop = (text) => $('panes').replaceChildren(make('p', { className: 'plain' }, text));
    dye(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    if (typeof DecompressionStream !== 'function') {
        stop('This browser is too old to unpack the profile: it needs DecompressionStream (Chrome 80, Firefox 113, Safari 16.4 or later).');
        return;
    }
    try {
        begin(decode(await inflate(bytesOf($('dprof-data').textContent))));
    } catch (error) {
        stop(`The profile in this file is damaged: ${error.message}.`);
        throw error;
    }
    furnish();
    wire();
    wireCompare();
    restore(true);
    await openFile.ready;
}

// Fills in what the profile says outside of its graph.
function furnish() {
    $('subtitle').textContent = profile.facts.subtitle || '';
    $('metric').replaceChildren(...profile.metrics.map((m, i) => make('option', { value: i }, m.label)));
    $('metric').hidden = profile.metrics.length < 2;
    $('diff').hidden = !profile.diff;
    $('source-view').hidden = !hasLines();
    $('times').hidden = !hasTimes();
    if (profile.relative) {
        const [before, after] = profile.facts.sides, words = { before, after, union: 'the larger', change: 'difference' };
        for (const option of $('width').options) option.textContent = words[option.value];
    }
    $('compare').hidden = !!profile.diff;
}

// For tests, and for the curious at the console. A path is of names from the root's kid on, joined by ';'.
//   ready            a promise, kept when the first picture is drawn
//   frames(pane)     what is drawn: { path, x, w, row, value, before, level, gone, fresh }, x and w in CSS pixels
//   point(path)      the middle of a frame's box on the screen, { x, y }
//   zoom(path), search(text), state(), narrow(), found()
//   source(file, line), settled()    to the source view; a promise, kept when it is drawn and searched
//   rows()           those of the file that is open, drawn or not
const trace = (path) => scene.tree.follow(path.split(';').map(subNamed)).frame;
window.dprof = {
    frames(index = 0) {
        const pane = panes[index], { x, w, row } = pane.boxes, [before] = scene.total, value = scene.total[last()];
        return pane.boxes.frame.map((i, k) => ({
            path: scene.tree.path(i).map((name) => profile.names[name]).join(';'), x: x[k], w: w[k], row: row[k], value: value[i], before: before[i],
            level: profile.diff ? levelOf(shade(i, pane.width)) : 0, gone: isGone(i), fresh: isNew(i),
        }));
    },
    point(path, index = 0) {
        const pane = panes[index], box = pane.box(trace(path)), area = pane.canvas.getBoundingClientRect();
        return box && { x: area.left + box.x + box.w / 2, y: area.top + box.y - pane.scroll.scrollTop + pane.row / 2 };
    },
    zoom: (path) => zoom(trace(path)),
    source: (file, line) => openSource(true, lineCosts.number.get(file) ?? -1, line),
    menu: (path) => openMenu(trace(path), 100, 100),
    folded, csv, picture,
    async settled() {
        await work.busy;
        await (timeline && timeline.settled);
        await sourceMatches.ready;
        await openFile.ready;
    },
    rows: () => openFile.rows.map(({ kind, line, sub, call, n }) => ({ kind, line, name: profile.names[sub ?? (call && call.sub)], from: call && call.file !== undefined ? lineCosts.files[call.file].name : undefined, n })),
    search,
    state: () => ({ ...state, path: state.path.map((name) => profile.names[name]), centre: profile.names[state.centre] || '', metric: metric().key, sub: profile.names[state.sub] || '', file: state.file >= 0 && lineCosts ? lineCosts.files[state.file].name : '', cursor: nameOf(Math.max(0, cursor.frame)), theme }),
    narrow: () => ({ frames: panes[0].narrow, weight: panes[0].narrowWeight, still: panes[0].still, beside: panes[0].beside }),
    found: () => ({ ...matches, names: null, list: null }),
    ready: start(),
};
