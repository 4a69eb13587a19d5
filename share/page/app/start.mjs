// Starts the page.

import { bytesOf, inflate } from '../base/bytes.mjs';
import { $, make } from '../base/elements.mjs';
import { work } from '../base/redraw.mjs';
import { decode } from '../data/decode.mjs';
import { lineCosts } from '../model/lines.mjs';
import { matches } from '../model/matches.mjs';
import { begin, last, metric, profile, state, subNamed } from '../model/profile.mjs';
import { openFile } from '../model/rows.mjs';
import { isGone, isNew, nameOf, scene, shade } from '../model/scene.mjs';
import { LANES } from '../model/steps.mjs';
import { timeline } from '../model/times.mjs';
import { display, levelOf } from '../draw/colours.mjs';
import { cursor, panes } from '../draw/pane.mjs';
import { CHOICES } from '../act/address.mjs';
import { choosePart, sandwich } from '../act/chain.mjs';
import { openCalls, openSource, openTable, openTexts, openTimes } from '../act/open.mjs';
import { chooseKind, search } from '../act/search.mjs';
import { dye, turn, zoom } from '../act/zoom.mjs';
import { csv, folded, openExport, picture } from '../view/export.mjs';
import { step } from '../view/find.mjs';
import { sourceMatches } from '../view/found.mjs';
import { drawRows } from '../view/listing.mjs';
import { openMenu } from '../view/menu.mjs';
import { fillPrinted } from '../view/printed.mjs';
import { sourceView } from '../view/source.mjs';
import { wireCompare } from './compare.mjs';
import { refresh } from './graph.mjs';
import { help, info, keydown, sandwichHere, typed, typing } from './keys.mjs';
import { furnish, resetAll, restore, swapSides } from './restore.mjs';

function wire() {
    const click = (id, act) => { $(id).onclick = act; };
    $('q').oninput = typing;
    $('q').onblur = typed;     // a click redraws the page, and must find the search
    click('case', () => search($('q').value, !state.match));
    click('next', () => { typed(); step(1); });
    click('prev', () => { typed(); step(-1); });
    click('reset', resetAll);
    for (const id of ['icicle', 'reversed', 'merged', 'uncertain', 'common'])
        click(id, () => turn(id, !state[id]));
    click('sandwich', () => (state.centre >= 0 ? sandwich(-1) : sandwichHere()));
    click('times', () => openTimes(state.source || !state.time));
    click('list', () => openCalls(state.source || !state.calls));
    click('export', openExport);
    for (const id of CHOICES) $(id).onchange = () => turn(id, $(id).value);
    for (const act of Object.keys(LANES)) $(act).onchange = () => choosePart(act, +$(act).value);
    $('metric').onchange = () => turn('metric', +$('metric').value);
    click('table', () => openTable(state.source || !state.table));
    click('spans', () => openTexts(state.source || !state.texts));
    $('kind').onchange = () => chooseKind($('kind').value);
    click('source', () => openSource(!state.source));
    click('swap', swapSides);
    click('unfold', () => {
        const open = document.querySelector('header').classList.toggle('open');
        $('unfold').setAttribute('aria-expanded', String(open));
    });
    click('dark', () => dye(display.theme === 'dark' ? 'light' : 'dark'));
    click('info', info);
    click('help', help);
    document.onkeydown = keydown;
    onpopstate = (event) => restore(!event.state || event.state.all);

    const media = (query, act) => matchMedia(query).addEventListener('change', act);
    const print = (now) => {
        if (display.printing === now) return;
        display.printing = now;
        if (now) fillPrinted();
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
        stop(
            'This browser is too old to unpack the profile: it needs DecompressionStream (Chrome '
            + '80, Firefox 113, Safari 16.4 or later).',
        );
        return;
    }
    try {
        begin(decode(await inflate(bytesOf($('dprof-data').textContent))), {
            lines: !!$('dprof-lines'),
            times: !!$('dprof-times'),
        });
    } catch (error) {
        stop(`The profile in this file is damaged: ${error.message}.`);
        throw error;
    }
    furnish();
    wire();
    wireCompare();
    restore(true);
    await sourceView.ready;
}

// An interface for tests, and for the console. A path has the names from the root's kid on, joined
// by ';'.
//   ready            a promise, resolved when the first picture is drawn
//   frames(pane)     the drawn frames: { path, x, w, row, value, before, level, gone, fresh }, with
//                    x and w in CSS pixels
//   point(path)      the middle of a frame's box on the screen, { x, y }
//   zoom(path), search(text), state(), narrow(), found()
//   source(file, line), settled()    opens the source view; a promise, resolved when it is drawn
//                                    and searched
//   rows()           all rows of the open file, drawn or not
const trace = (path) => scene.tree.follow(path.split(';').map(subNamed)).frame;

window.dprof = {
    frames(index = 0) {
        const pane = panes[index],
            { x, w, row } = pane.boxes,
            [before] = scene.total,
            value = scene.total[last()];
        return pane.boxes.frame.map((i, k) => ({
            path: scene.tree
                .path(i)
                .map((name) => profile.names[name])
                .join(';'),
            x: x[k],
            w: w[k],
            row: row[k],
            value: value[i],
            before: before[i],
            level: profile.diff ? levelOf(shade(i, pane.width)) : 0,
            gone: isGone(i),
            fresh: isNew(i),
        }));
    },
    point(path, index = 0) {
        const pane = panes[index],
            box = pane.box(trace(path)),
            area = pane.canvas.getBoundingClientRect();
        return (
            box && {
                x: area.left + box.x + box.w / 2,
                y: area.top + box.y - pane.scroll.scrollTop + pane.row / 2,
            }
        );
    },
    zoom: (path) => zoom(trace(path)),
    source: (file, line) => openSource(true, lineCosts.number.get(file) ?? -1, line),
    menu: (path) => openMenu(trace(path), 100, 100),
    folded,
    csv,
    picture,
    async settled() {
        await work.busy;
        await timeline.settled;
        await sourceMatches.ready;
        await sourceView.ready;
    },
    rows: () =>
        openFile.rows.map(({ kind, line, sub, call, n }) => ({
            kind,
            line,
            name: profile.names[sub ?? (call && call.sub)],
            from: call && call.file !== undefined ? lineCosts.files[call.file].name : undefined,
            n,
        })),
    search,
    state: () => ({
        ...state,
        path: state.path.map((name) => profile.names[name]),
        centre: profile.names[state.centre] || '',
        metric: metric().key,
        sub: profile.names[state.sub] || '',
        file: state.file >= 0 && lineCosts.files ? lineCosts.files[state.file].name : '',
        cursor: nameOf(Math.max(0, cursor.frame)),
        theme: display.theme,
    }),
    narrow: () => ({
        frames: panes[0].narrow,
        weight: panes[0].narrowWeight,
        still: panes[0].still,
        beside: panes[0].beside,
    }),
    found: () => ({ ...matches, names: null, list: null }),
    ready: start(),
};
