'use strict';

// The keyboard.

// Moves by arrow keys: up and down as drawn, to the parent or to the widest kid; left and right
// among the frames of that level.
function arrow(key) {
    const pane = panes[C.index], { parent, depth } = V.tree, { boxes, weights } = pane;
    const from = C.cursor >= 0 && pane.box(C.cursor) ? C.cursor : V.focus, here = pane.box(from);
    // In a sandwich callers are above: the sub in the middle has kids both ways.
    const middle = V.split && from === 0, up = V.split ? from >= V.split || (middle && key === 'ArrowUp') : !S.icicle, caller = middle && up ? V.split : from;
    let to = from, best = Infinity;
    if (!middle && key === (up ? 'ArrowDown' : 'ArrowUp')) to = Math.max(0, V.split && parent[from] === V.split ? 0 : parent[from]);
    else {
        const way = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
        for (let k = 0; k < boxes.frame.length; k++) {
            const i = boxes.frame[k], gap = way ? (boxes.x[k] - here.x) * way : -weights[i];
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
    if (!$(id).disabled && (P.diff || id === 'order')) turn(id, list[(list.indexOf($(id).value) + 1) % list.length]);
}

function toSearch() {
    $('q').focus();
    $('q').select();
}

const KEYS = [
    [['/', 'Ctrl+F'], 'search', toSearch], [['n', 'Enter'], 'next match', () => step(1)], [['p', 'N', 'Shift+Enter'], 'previous match', () => step(-1)],
    [['c'], 'match case', () => search(S.q, !S.match)], [['\u2191', '\u2193', '\u2190', '\u2192'], 'move between frames'],
    [['Enter'], 'zoom to the frame'], [['Backspace', 'Escape', 'u'], 'back', back], [['0', 'Home'], 'show everything', showAll],
    [['i'], 'icicle or flame', () => turn('icicle', !S.icicle), 'graph'], [['r'], 'callers', () => turn('reversed', !S.reversed), 'graph'],
    [['m'], 'merge recursion', () => turn('merged', !S.merged), 'graph'], [['o'], 'next order', () => cycle('order'), 'graph'],
    [['+', '\u2212'], 'zoom in and out; Shift with \u2190 and \u2192 moves'], [['+', '='], '', () => scaleBy(0.5), 'graph'], [['-', '\u2212'], '', () => scaleBy(2), 'graph'],
    [['f'], 'only stacks with the frame\u2019s sub', () => here((text) => doStep('only', text)), 'graph'], [['e'], 'without stacks with it', () => here((text) => doStep('hide', text)), 'graph'],
    [['k'], 'fold its package', () => here((text) => packageOf(text) && doStep('fold', packageOf(text))), 'graph'], [['y'], 'take the last of these back', () => S.chain.length && undoStep(), 'graph'],
    [['b'], 'callers and callees of the frame\u2019s sub, or the graph again', () => (S.centre >= 0 && C.cursor <= 0 ? sandwich(-1) : here((_, sub) => sandwich(sub))), 'graph'],
    [['T'], 'time line', () => openTimes(S.source || !S.time)], [['t'], 'table of subs', () => openTable(S.source || !S.table)], [['a'], 'call tree as a list', () => openCalls(S.source || !S.calls)], [['s'], 'the frame\u2019s sub in the table', () => openSub(S.source ? subAt(S.line) : subHere())],
    [['l'], 'source: of the frame\u2019s sub, or all files', () => (S.source ? openSource(true) : hasLines() && openSourceOf(subHere()))],
    [['g'], 'graph: of the line\u2019s sub', () => S.source && toGraph(subAt(S.line))],
    [['h'], 'the next of the lines that cost most', () => toHot(1), 'source'], [['H'], 'the one before', () => toHot(-1), 'source'],
    [['z'], 'fold cheap lines, subs, nothing', () => foldBy({ all: 'cheap', cheap: 'subs', subs: 'all' }[G.fold]), 'source'],
    [['x'], 'calls and callers in the source', () => showNotes(!G.notes), 'source'],
    [['v'], 'next view of a difference', () => cycle('layout'), 'graph'], [['w'], 'next width of a difference', () => cycle('width'), 'graph'],
    [['d'], 'dark or light', () => dye(theme === 'dark' ? 'light' : 'dark')], [['?'], 'this help', help],
];

// Does something with the sub that the cursor is on.
function here(act) {
    const frame = C.hover >= 0 ? C.hover : C.cursor >= 0 ? C.cursor : V.focus, sub = V.tree.name[frame];
    if (frame > 0 || V.split) act(P.names[sub], sub);
    else say('Choose a frame first: point at it, or go there by the arrow keys.');
}

const subHere = () => V.tree.name[C.cursor >= 0 ? C.cursor : V.focus];

function menuHere() {
    const pane = panes[C.index], box = pane.box(C.cursor), area = pane.canvas.getBoundingClientRect();
    if (box) openMenu(C.cursor, area.left + box.x + Math.min(40, box.w), area.top + box.y - pane.scroll.scrollTop + pane.row);
}

function keydown(event) {
    const { key, target } = event, box = target === $('q'), control = event.ctrlKey || event.metaKey;
    const does = (act) => {
        event.preventDefault();
        act();
    };
    if (!V || event.altKey || $('dialog').open || $('menu').contains(target)) return;
    if (control && key === 'f' && !box) does(toSearch);
    else if (box && key === 'Enter') does(() => { typed(); step(event.shiftKey ? -1 : 1); });
    else if (box && key === 'Escape') does(() => (S.source ? ($('lines') || $('sources')) : panes[C.index].canvas).focus());
    if (control || /^(?:INPUT|SELECT)$/.test(target.tagName)) return;
    if ($('calls').contains(target) && /^(?:Arrow|Enter$)/.test(key) && target.tagName !== 'BUTTON') {
        callsKey(event);
        return;
    }
    const where = !S.source ? 'graph' : S.file >= 0 ? 'source' : '';
    const act = KEYS.find(([keys, , run, only]) => run && key !== 'Enter' && keys.includes(key) && (!only || only === where));
    if (act) does(act[2]);
    else if (S.source) {
        if (target === document.body || target.id === 'lines') if (/^Arrow(?:Up|Down)$|^Enter$/.test(key) && sourceKey(key)) event.preventDefault();
    }
    else if (target === document.body || target.tagName === 'CANVAS') {
        if (event.shiftKey && /^Arrow(?:Left|Right)$/.test(key)) does(() => scaleBy(1, 0.5, key === 'ArrowLeft' ? -0.25 : 0.25));
        else if (/^Arrow/.test(key)) does(() => arrow(key));
        else if ((event.key === 'ContextMenu' || (event.shiftKey && key === 'F10')) && C.cursor >= 0) does(() => menuHere());
        else if (key === 'Enter') does(() => zoom(C.cursor >= 0 ? C.cursor : V.focus));
    }
}
