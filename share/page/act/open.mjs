// Opens and closes the views beside the graph.

import { $, button, make, say } from '../base/elements.mjs';
import { redraw } from '../base/redraw.mjs';
import { short } from '../base/words.mjs';
import { loadLines, placeIn } from '../model/lines.mjs';
import { hasTimes, profile, state } from '../model/profile.mjs';
import { openFile } from '../model/rows.mjs';
import { spanKinds } from '../model/spans.mjs';
import { panes } from '../draw/pane.mjs';
import { link, remember, sourceLink } from './address.mjs';
import { sandwich } from './chain.mjs';
import { zoomSub } from './zoom.mjs';

export function showViews() {
    $('panes').hidden = state.source;
    $('subs').hidden = state.source || !(state.table || state.texts);
    $('calls').hidden = state.source || !state.calls;
    redraw.times();
    $('sources').hidden = !state.source;
    document.body.classList.toggle('sourced', state.source);
    $('q').placeholder = state.source ? 'Search sources (regex)' : 'Search subs (regex)';
}

export function openTable(on, sub = -1) {
    const inside = $('subs').contains(document.activeElement),
        step = sub !== state.sub || state.source;
    Object.assign(state, {
        table: on, calls: false, texts: false, sub, source: false, file: -1, line: 0,
    });
    showViews();
    redraw.table();
    redraw.graph('boxes');
    remember(step);
    const here = $('subs').querySelector('.here button');
    if (inside && here) here.focus({ preventScroll: true });
}

export const openSub = (sub) => openTable(true, sub);

export function openCalls(on) {
    Object.assign(state, {
        calls: on, table: false, texts: false, sub: -1, source: false, file: -1, line: 0,
    });
    showViews();
    redraw.table();
    redraw.graph('boxes');
    remember();
    if (on && $('calls').querySelector('tr[data-frame]'))
        $('calls').querySelector('tr[data-frame]').tabIndex = 0;
}

// Opens or closes the list of spans.
export function openTexts(on) {
    if (!spanKinds().length) return;
    Object.assign(state, {
        texts: on, table: false, calls: false, sub: -1, source: false, file: -1, line: 0,
    });
    showViews();
    redraw.table();
    redraw.graph('boxes');
    remember();
}

// Puts a span in the middle of the graph, and shows its callers in the list; again: takes both
// away.
export function pickSpan(span) {
    state.sub = state.sub === span ? -1 : span;
    sandwich(state.sub);
    redraw.table();
}

export function openTimes(on) {
    if (!hasTimes()) return;
    Object.assign(state, { time: on, source: false, file: -1, line: 0 });
    showViews();
    redraw.graph('boxes');
    remember();
}

// Opens or closes the source view. isSub: the line is a sub's first statement, and the view goes to
// the sub's beginning.
export function openSource(on, file = -1, line = 0, step = true, isSub = false) {
    say('');
    openFile.isSub = isSub;
    Object.assign(state, { source: on, file: on ? file : -1, line: on ? line : 0 });
    showViews();
    if (!on) {
        redraw.table();
        redraw.graph('boxes');
    }
    remember(step);
    return redraw.source(true);
}

// Opens the source of a sub in the graph or in the table.
export async function openSourceOf(sub) {
    await loadLines();
    const place = placeIn(sub);
    if (place) openSource(true, place.file, place.line, true, true);
    else say(`${short(profile.names[sub], 120)}: the profile does not tell where it begins.`);
}

export function toGraph(sub) {
    openSource(false);
    if (sub >= 0) zoomSub(sub);
    else panes[0].canvas.focus();
}

// Makes a link that can be copied or opened in another window; in this page a click loads nothing.
export function anchor(text, file, line, options = {}, isSub = false) {
    const node = make('a', { href: link(sourceLink(file, line)), ...options }, text);
    node.onclick = (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
        event.preventDefault();
        openSource(true, file, line, true, isSub);
    };
    return node;
}

// Links a sub to its source, or, if that is unknown, to its row in the table.
export function subLink(sub, options = {}) {
    const place = placeIn(sub),
        text = short(profile.names[sub]),
        title = short(profile.names[sub], 1000);
    if (place)
        return anchor(text, place.file, place.line, { title, className: 'sub', ...options }, true);
    return button(text, () => openSub(sub), {
        title: `${title}: in the table`,
        className: 'sub',
        ...options,
    });
}
