// Handles the keyboard.

import { $, button, make, say } from '../base/elements.mjs';
import { grouped } from '../base/words.mjs';
import { SPAN_KIND, isLane } from '../data/tree.mjs';
import { hasLines, packageOfSub, profile, state } from '../model/profile.mjs';
import { openFile, subAt } from '../model/rows.mjs';
import { scene } from '../model/scene.mjs';
import { timeline } from '../model/times.mjs';
import { display } from '../draw/colours.mjs';
import { cursor, panes } from '../draw/pane.mjs';
import { doStep, sandwich, undoStep } from '../act/chain.mjs';
import { go } from '../act/cursor.mjs';
import {
    openCalls, openSource, openSourceOf, openSub, openTable, openTexts, openTimes, toGraph,
} from '../act/open.mjs';
import { search } from '../act/search.mjs';
import { chooseRange, dye, scaleBy, turn, zoom } from '../act/zoom.mjs';
import { callsKey } from '../view/calls.mjs';
import { step } from '../view/find.mjs';
import { foldBy, showNotes, toHot } from '../view/listing.mjs';
import { menuHere } from '../view/menu.mjs';
import { sourceKey } from '../view/source.mjs';
import { lookAt } from '../view/timeline.mjs';

// The timer of a search: it waits for a moment after each letter, so that a word is searched once.
// Enter does not wait.
let due = 0;

export function typing() {
    clearTimeout(due);
    due = setTimeout(typed, 90);
}

export function typed() {
    clearTimeout(due);
    if ($('q').value !== state.q) search($('q').value);
}

// Moves by arrow keys: up and down on the screen, to the parent or to the widest kid; left and
// right among the frames of that level.
function arrow(key) {
    const pane = panes[cursor.pane], { parent, depth } = scene.tree, { boxes, weights } = pane;
    const from = cursor.frame >= 0 && pane.box(cursor.frame) ? cursor.frame : scene.focus,
        here = pane.box(from);
    // In a sandwich callers are above, so the sub in the middle has kids in both directions.
    const middle = scene.split && from === 0,
        up = scene.split ? from >= scene.split || (middle && key === 'ArrowUp') : !state.icicle,
        caller = middle && up ? scene.split : from;
    let to = from, best = Infinity;
    if (!middle && key === (up ? 'ArrowDown' : 'ArrowUp'))
        to = Math.max(0, scene.split && parent[from] === scene.split ? 0 : parent[from]);
    else {
        const way = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
        for (let k = 0; k < boxes.frame.length; k++) {
            const i = boxes.frame[k],
                gap = way ? (boxes.x[k] - here.x) * way : -weights[i];
            if (way ? boxes.row[k] !== depth[from] || gap <= 0 : parent[i] !== caller) continue;
            if (gap < best) {
                best = gap;
                to = i;
            }
        }
    }
    pane.canvas.focus({ preventScroll: true });
    go(to);
}

// Selects the next option of a choice.
function cycle(id) {
    const list = [...$(id).options].filter((o) => !o.disabled).map((o) => o.value);
    if (!$(id).disabled && (profile.diff || id === 'order'))
        turn(id, list[(list.indexOf($(id).value) + 1) % list.length]);
}

function toSearch() {
    $('q').focus();
    $('q').select();
}

function showAll() {
    if (state.source) {
        openSource(true);
        return;
    }
    if (state.time && timeline.canvas) lookAt([0, timeline.span]);
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

const KEYS = [
    [['/', 'Ctrl+F'], 'search', toSearch],
    [['n', 'Enter'], 'next match', () => step(1)],
    [['p', 'N', 'Shift+Enter'], 'previous match', () => step(-1)],
    [['c'], 'match case', () => search(state.q, !state.match)],
    [['\u2191', '\u2193', '\u2190', '\u2192'], 'move between frames'],
    [['Enter'], 'zoom to the frame'],
    [['Backspace', 'Escape', 'u'], 'back', back],
    [['0', 'Home'], 'show everything', showAll],
    [['i'], 'icicle or flame', () => turn('icicle', !state.icicle), 'graph'],
    [['r'], 'callers', () => turn('reversed', !state.reversed), 'graph'],
    [['m'], 'merge recursion', () => turn('merged', !state.merged), 'graph'],
    [['o'], 'next order', () => cycle('order'), 'graph'],
    [['+', '\u2212'], 'zoom in and out; Shift with \u2190 and \u2192 moves'],
    [['+', '='], '', () => scaleBy(0.5), 'graph'],
    [['-', '\u2212'], '', () => scaleBy(2), 'graph'],
    [
        ['f'],
        'only stacks with the frame\u2019s sub',
        () => here((text) => doStep('only', text)),
        'graph',
    ],
    [['e'], 'without stacks with it', () => here((text) => doStep('hide', text)), 'graph'],
    [
        ['k'],
        'fold its package',
        () => here((_, sub) => packageOfSub(sub) && doStep('fold', packageOfSub(sub))),
        'graph',
    ],
    [['y'], 'take the last of these back', () => state.chain.length && undoStep(), 'graph'],
    [
        ['b'],
        'callers and callees of the frame\u2019s sub, or the graph again',
        () =>
            state.centre >= 0 && cursor.frame <= 0 ? sandwich(-1) : here((_, sub) => sandwich(sub)),
        'graph',
    ],
    [['T'], 'time line', () => openTimes(state.source || !state.time)],
    [['t'], 'table of subs', () => openTable(state.source || !state.table)],
    [['S'], 'details: statements of SQL, requests, templates and other spans', () =>
        openTexts(state.source || !state.texts)],
    [['a'], 'call tree as a list', () => openCalls(state.source || !state.calls)],
    [
        ['s'],
        'the frame\u2019s sub in the table',
        () => openSub(state.source ? subAt(state.line) : subHere()),
    ],
    [
        ['l'],
        'source: of the frame\u2019s sub, or all files',
        () => (state.source ? openSource(true) : hasLines() && openSourceOf(subHere())),
    ],
    [['g'], 'graph: of the line\u2019s sub', () => state.source && toGraph(subAt(state.line))],
    [['h'], 'the next of the lines that cost most', () => toHot(1), 'source'],
    [['H'], 'the one before', () => toHot(-1), 'source'],
    [
        ['z'],
        'fold cheap lines, subs, nothing',
        () => foldBy({ all: 'cheap', cheap: 'subs', subs: 'all' }[openFile.fold]),
        'source',
    ],
    [['x'], 'calls and callers in the source', () => showNotes(!openFile.notes), 'source'],
    [['v'], 'next view of a difference', () => cycle('layout'), 'graph'],
    [['w'], 'next width of a difference', () => cycle('width'), 'graph'],
    [['d'], 'dark or light', () => dye(display.theme === 'dark' ? 'light' : 'dark')],
    [['?'], 'this help', help],
];

// Calls a function with the name of the sub under the cursor.
function here(act) {
    const frame = cursor.hover >= 0 ? cursor.hover : cursor.frame >= 0 ? cursor.frame : scene.focus,
        sub = scene.tree.name[frame];
    if (frame > 0 || scene.split) act(profile.names[sub], sub);
    else say('Choose a frame first: point at it, or go there by the arrow keys.');
}

const subHere = () => scene.tree.name[cursor.frame >= 0 ? cursor.frame : scene.focus];

// Opens the sandwich of the sub that the view on show is at: of the line in the source, of the row
// in the table, or of the frame that was chosen. Where there is none, it is the sub that costs
// most.
export function sandwichHere() {
    const frame = cursor.frame > 0 ? cursor.frame : scene.focus,
        [hottest] = hotSubs(1),
        inSource = state.source ? subAt(state.line) : -1;
    const sub = [inSource, state.sub, frame > 0 ? scene.tree.name[frame] : -1, hottest ?? -1].find(
        (one) => one >= 0,
    );
    if (state.source) openSource(false);
    if (sub !== undefined) sandwich(sub);
}

export function keydown(event) {
    const { key, target } = event,
        box = target === $('q'),
        control = event.ctrlKey || event.metaKey;
    const does = (act) => {
        event.preventDefault();
        act();
    };
    if (!scene.tree || event.altKey || $('dialog').open || $('menu').contains(target)) return;
    if (control && key === 'f' && !box) does(toSearch);
    else if (box && key === 'Enter')
        does(() => {
            typed();
            step(event.shiftKey ? -1 : 1);
        });
    else if (box && key === 'Escape')
        does(() => (state.source ? $('lines') || $('sources') : panes[cursor.pane].canvas).focus());
    if (control || /^(?:INPUT|SELECT)$/.test(target.tagName)) return;
    if (
        $('calls').contains(target)
        && /^(?:Arrow|Enter$)/.test(key)
        && target.tagName !== 'BUTTON'
    ) {
        callsKey(event);
        return;
    }
    const where = !state.source ? 'graph' : state.file >= 0 ? 'source' : '';
    const act = KEYS.find(
        ([keys, , run, only]) =>
            run && key !== 'Enter' && keys.includes(key) && (!only || only === where),
    );
    if (act) does(act[2]);
    else if (state.source) {
        if (target === document.body || target.id === 'lines')
            if (/^Arrow(?:Up|Down)$|^Enter$/.test(key) && sourceKey(key)) event.preventDefault();
    }
    else if (target === document.body || target.tagName === 'CANVAS') {
        if (event.shiftKey && /^Arrow(?:Left|Right)$/.test(key))
            does(() => scaleBy(1, 0.5, key === 'ArrowLeft' ? -0.25 : 0.25));
        else if (/^Arrow/.test(key)) does(() => arrow(key));
        else if (
            (event.key === 'ContextMenu' || (event.shiftKey && key === 'F10'))
            && cursor.frame >= 0
        )
            does(() => menuHere());
        else if (key === 'Enter') does(() => zoom(cursor.frame >= 0 ? cursor.frame : scene.focus));
    }
}

function dialog(title, rows) {
    const list = rows.flatMap(([term, text]) => [make('dt', {}, term), make('dd', {}, text)]);
    $('dialog').replaceChildren(
        make('h2', { id: 'dialog-title' }, title),
        make('dl', {}, ...list),
        button('Close', () => $('dialog').close(), { autofocus: true }),
    );
    $('dialog').showModal();
}

export function help() {
    dialog(
        'Keys',
        KEYS.filter(([, text]) => text && (profile.diff || !/difference/.test(text))).map(
            ([keys, text]) => [
                make('span', {}, ...keys.flatMap((key) => [make('kbd', {}, key), ' '])),
                text,
            ],
        ),
    );
}

export function info() {
    const { facts } = profile, count = (test) => facts.kinds.filter(test).length;
    dialog(facts.title, [
        ...(facts.notes || []),
        ['Frames', grouped(profile.tree.n)],
        ['Subs', grouped(count((kind) => !isLane(kind) && kind !== SPAN_KIND))],
        ...(count((kind) => kind === SPAN_KIND)
            ? [['Spans', grouped(count((kind) => kind === SPAN_KIND))]] : []),
        ['Made by', `Devel::DProf ${facts.version}`],
    ]);
}
