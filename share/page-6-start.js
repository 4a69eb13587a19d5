'use strict';

// Legends, dialogs, colours of the theme, print, and the start.

function swatch(colour) {
    const node = make('span', { className: 'swatch' });
    node.style.background = colour;
    return node;
}

function drawKinds() {
    if ($('kinds').dataset.theme === ink.t) return;
    $('kinds').dataset.theme = ink.t;
    const used = new Set(P.facts.kinds), hue = P.facts.hues.find((h, i) => P.facts.kinds[i] === 0) || 30;
    $('kinds').replaceChildren(...KINDS.map(([text], kind) => {
        if (!used.has(kind) || kind === 6) return null;
        const mark = swatch(kindColour(kind, hue, ink.t));
        if (kind === 4) mark.style.backgroundImage = `repeating-linear-gradient(135deg, transparent 0 3px, ${ink.t === 'dark' ? 'rgba(255,255,255,.3)' : 'rgba(0,0,0,.22)'} 3px 5px)`;
        if (kind === 5) mark.style.border = `1.5px solid ${ink.begin}`;
        return make('span', { className: 'key' }, mark, text);
    }).filter(Boolean), make('span', { className: 'key' }, P.facts.fills ? 'colours as asked for' : 'hue: by package'));
}

// What the colours of a difference mean.
function drawScale() {
    const { diff, facts: { sides } } = P, kind = S.layout === 'graph' && S.width === 'change' ? 'change' : S.reversed ? 'total' : S.colour;
    const state = [ink.t, kind, S.uncertain, S.metric, S.merged, S.reversed, S.layout, S.width].join();
    if ($('scale').dataset.state === state) return;
    $('scale').dataset.state = state;
    const most = kind === 'change' ? 0 : largest(kind), words = [];
    const steps = [-24, -16, -9, -4, -1, 0, 1, 4, 9, 16, 24].map((level) => swatch(diffColour(level, ink.t)));
    const end = (sign) => (kind === 'change' ? (sign < 0 ? 'all less' : 'all more') : P.relative ? '' : signed(sign * most));
    const less = P.relative ? `${sides[0]} has the larger share` : 'less', moreText = P.relative ? `${sides[1]} has the larger share` : 'more';
    if (!P.relative) words.push(`before: ${sides[0]}`, `after: ${sides[1]}`);
    if (diff.runs && Math.max(...diff.runs) > 1) words.push(`means of ${diff.runs[0]} and ${diff.runs[1]} runs`);
    if (diff.normalized) words.push(diff.normalized);
    if (diff.negate && S.width === 'before' && S.layout === 'graph') words.push('coloured by what will happen');
    const left = make('span', { className: 'down' }, `\u25bc ${less} ${end(-1)}`.trim()), right = make('span', { className: 'up' }, `${end(1)} ${moreText} \u25b2`.trim());
    const gap = make('span', { className: 'swatch' });
    gap.style.visibility = 'hidden';
    $('scale').replaceChildren(left, gap, ...steps, right);

    const ghost = swatch('transparent'), fresh = swatch('transparent');
    ghost.style.border = `1.5px dashed ${ink.t === 'dark' ? '#93b8ff' : '#1b3f8b'}`;
    fresh.style.border = '1px solid var(--line)';
    fresh.style.borderLeft = '4px solid #8f0d0d';
    const key = (mark, text) => make('span', { className: 'key' }, mark, text);
    const list = P.relative ? [] : [key(ghost, 'gone (not drawn in the width \u201cafter\u201d)'), key(fresh, '+ new')];
    if (P.certain) list.push(make('span', { className: 'key' }, S.uncertain ? 'what may be chance is coloured, too' : 'white: no change, or one that may be chance'));
    $('kinds').replaceChildren(...words.map((text) => make('bdi', { className: 'key' }, text)), ...list);
    $('uncertain').hidden = !P.certain;
}

function dialog(title, rows, after = []) {
    const node = $('dialog'), close = make('button', { type: 'button', autofocus: true }, 'Close');
    close.addEventListener('click', () => node.close());
    node.replaceChildren(make('h2', { id: 'dialog-title' }, title),
        make('dl', {}, ...rows.flatMap(([term, text]) => [make('dt', {}, term), make('dd', {}, text)])), ...after, close);
    node.showModal();
}

function help() {
    dialog('Keys', KEYS.filter(([key]) => P.diff || !/^[vw]$/.test(key)).map(([keys, text]) => [make('span', {}, ...keys.split(/(, | or )/).map((part, i) => (i % 2 ? part : make('kbd', {}, part)))), text]));
}

function info() {
    const { facts } = P, most = [['Frames', grouped(P.tree.n)], ['Subs', grouped(P.names.length)]];
    if (P.diff && !P.relative) most.unshift(['Before', facts.sides[0]], ['After', facts.sides[1]]);
    else most.unshift(['Profile', facts.sides.join(', ')]);
    dialog(facts.title, [...most, ...(facts.notes || []), ['Made by', `Devel::DProf ${facts.version}`]]);
}

function dye(to) {
    theme = to;
    document.documentElement.dataset.theme = to;
    if (V) refresh('paint');
}

// Typing waits a moment, so that a word is searched once; Enter does not wait.
let typing = 0;

function typed() {
    clearTimeout(typing);
    typing = 0;
    if ($('q').value !== S.q) search($('q').value);
}

function wire() {
    const on = (id, type, act) => $(id).addEventListener(type, act);
    on('q', 'input', () => {
        clearTimeout(typing);
        typing = setTimeout(typed, 90);
    });
    on('case', 'click', () => search($('q').value, !S.match));
    on('next', 'click', () => { typed(); step(1); });
    on('prev', 'click', () => { typed(); step(-1); });
    on('reset', 'click', () => zoom(0));
    for (const id of ['icicle', 'reversed', 'merged', 'uncertain']) on(id, 'click', () => turn(id, !S[id]));
    for (const id of ['order', 'layout', 'width', 'colour']) on(id, 'change', () => turn(id, $(id).value));
    on('metric', 'change', () => turn('metric', +$('metric').value));
    on('table', 'click', () => openTable(!S.table));
    on('dark', 'click', () => dye(theme === 'dark' ? 'light' : 'dark'));
    on('info', 'click', info);
    on('help', 'click', help);
    document.addEventListener('keydown', keydown);
    addEventListener('popstate', (event) => restore(!event.state));

    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', () => dye(dark.matches ? 'dark' : 'light'));
    const print = (now) => {
        if (printing === now) return;
        printing = now;
        refresh('boxes');
    };
    addEventListener('beforeprint', () => print(true));
    addEventListener('afterprint', () => print(false));
    matchMedia('print').addEventListener('change', (event) => print(event.matches));
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => refresh('boxes'));
}

// To the state of the link: all of it, or only where it leads (a step back leaves the search as it is).
function restore(all) {
    readLink(all);
    if (all) $('q').value = S.q;
    drawTable();
    refresh(all || S.reversed ? 'panes' : 'view');
    C.cursor = V.focus || -1;
    for (const pane of panes) pane.reveal(V.focus, 3);
    marks();
    details();
    remember();
}

async function start() {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    dye(dark ? 'dark' : 'light');
    if (typeof DecompressionStream !== 'function') {
        $('panes').replaceChildren(make('p', { className: 'plain' }, 'This browser is too old to unpack the profile: it needs DecompressionStream (Chrome 80, Firefox 113, Safari 16.4 or later).'));
        return;
    }
    try {
        begin(decode(await inflate(bytesOf($('dprof-data').textContent))));
    } catch (error) {
        $('panes').replaceChildren(make('p', { className: 'plain' }, `The profile in this file is damaged: ${error.message}.`));
        throw error;
    }
    $('subtitle').textContent = P.facts.subtitle || '';
    $('metric').replaceChildren(...P.metrics.map((m, i) => make('option', { value: i }, m.label)));
    $('metric-label').hidden = P.metrics.length < 2;
    $('diff').hidden = !P.diff;
    if (P.relative) {
        const words = { before: P.facts.sides[0], after: P.facts.sides[1], union: 'the larger', change: 'difference' };
        for (const option of $('width').options) option.textContent = words[option.value];
    }
    wire();
    const steps = (history.state && history.state.dprof) || 0;
    try {
        history.replaceState({ dprof: steps }, '');
    } catch (error) {
        // As in remember().
    }
    restore(true);
    for (const pane of panes) if (!S.icicle) pane.scroll.scrollTop = pane.height;
}

// For tests and for the curious, in the console:
//   ready            a promise, kept when the first picture is drawn
//   frames(pane)     what is drawn: { path, name, x, w, row, value, before, after, level, gone, fresh, above }, x and w in CSS pixels
//   point(path)      the middle of a frame's box on the screen, { x, y }, by names from the root's kid on
//   state()          the state that the link holds, with names in place of numbers
//   narrow(pane)     { frames, weight } too narrow to draw
//   found()          { frames, subs, shares, error }
window.dprof = {
    ready: null,
    frames(index = 0) {
        const pane = panes[index], { boxes } = pane, list = [];
        for (let k = 0; k < boxes.count; k++) {
            const i = boxes.frame[k];
            list.push({
                path: V.tree.path(i).map((name) => P.names[name]).join(';'), name: nameOf(i), x: boxes.x[k], w: boxes.w[k], row: boxes.row[k],
                value: V.total[last()][i], before: V.total[0][i], after: V.total[last()][i], above: k < pane.above,
                level: P.diff ? levelOf(shade(i, pane.width)) : 0, gone: !!isGone(i), fresh: !!isNew(i),
            });
        }
        return list;
    },
    point(path, index = 0) {
        const pane = panes[index], numbers = path ? path.split(';').map((name) => P.names.indexOf(name)) : [];
        const { frame, steps } = V.tree.follow(numbers), box = pane.box(frame), area = pane.canvas.getBoundingClientRect();
        return steps < numbers.length || !box ? null : { x: area.left + box.x + box.w / 2, y: area.top + box.y - pane.scroll.scrollTop + pane.row / 2 };
    },
    state: () => ({ ...S, path: S.path.map((name) => P.names[name]), metric: metric().key, sub: P.names[S.sub] || '', cursor: C.cursor >= 0 ? nameOf(C.cursor) : '', theme }),
    narrow: (index = 0) => ({ frames: panes[index].narrow, weight: panes[index].narrowWeight }),
    found: () => ({ frames: F.frames, subs: F.subs, shares: F.shares, error: F.error, at: F.at }),
    zoom: (path) => zoom(V.tree.follow(path ? path.split(';').map((name) => P.names.indexOf(name)) : []).frame),
    search: (text) => search(text),
};
window.dprof.ready = start();
