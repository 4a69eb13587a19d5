// Zooms, and changes the style of the graph.

import { say } from '../base/elements.mjs';
import { redraw } from '../base/redraw.mjs';
import { short } from '../base/words.mjs';
import { canReverse, isUpward, profile, state } from '../model/profile.mjs';
import { scene } from '../model/scene.mjs';
import { display } from '../draw/colours.mjs';
import { cursor, panes } from '../draw/pane.mjs';
import { remember } from './address.mjs';
import { sandwich, sayTooLarge, soon } from './chain.mjs';
import { go, point, speak } from './cursor.mjs';

// Zooms to a frame, as a step in the browser's history. In a sandwich, the frame's sub moves to the
// middle.
export function zoom(frame) {
    say('');
    if (scene.split) {
        sandwich(scene.tree.name[frame]);
        return;
    }
    state.path = scene.tree.path(frame);
    state.range = null;
    cursor.frame = scene.focus = frame;
    redraw.graph(state.reversed ? 'view' : 'boxes');
    for (const pane of panes) pane.reveal(scene.focus, 3);
    speak(scene.focus, 'Zoomed to ');
    remember(true);
}

// Shows a part of the frame zoomed to, or of the one at the path: [from, to], between 0 and 1.
export function chooseRange([from, to], push, path = null) {
    const least = 1e-9,
        a = Math.max(0, Math.min(from, 1 - least)),
        b = Math.min(1, Math.max(to, a + least));
    if (path && path.length !== state.path.length) {
        state.path = path;
        scene.focus = scene.tree.follow(path).frame;
    }
    state.range = b - a > 0.999 ? null : [a, b];
    say('');
    redraw.graph(isUpward() ? 'view' : 'boxes');
    clearTimeout(cursor.late);
    if (push) remember(true);
    // Browsers limit the changes of the address in a time, so this one waits.
    else cursor.late = setTimeout(remember, 150);
}

// Returns the part of the frame zoomed to that ends at a pixel of a pane.
export function partAt(pane, px) {
    const [from, to] = state.range || [0, 1];
    return (
        from
        + (to - from)
            * Math.min(1, px / (state.range || state.common ? pane.view : pane.full || pane.view))
    );
}

// Zooms by a factor around a place of the visible part. `move` moves the part, by a share of its
// width.
export function scaleBy(factor, around = 0.5, move = 0) {
    if (scene.split) return;
    const [from, to] = state.range || [0, 1],
        size = Math.min(1, (to - from) * factor),
        at = from + (to - from) * around;
    const begin = Math.max(0, Math.min(1 - size, at - size * around + move * (to - from)));
    if (size !== to - from || begin !== from) chooseRange([begin, begin + size], false);
}

// Handles a click or a tap. A finger's first tap shows the details of a frame, and the second one
// zooms. With a mouse, the details are already visible.
export function press(frame, event) {
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

export function zoomSub(sub) {
    const { tree } = scene, { weights } = panes[0];
    let best = -1;
    for (let i = 0; i < tree.n; i++)
        if (tree.name[i] === sub && weights[i] > 0 && (best < 0 || weights[i] > weights[best]))
            best = i;
    if (best >= 0) zoom(best);
    else say(`${short(profile.names[sub], 120)} has no width in this view.`);
}

const LONG_WORDS = {
    merged: 'Merging recursion\u2026',
    reversed: 'Collecting callers\u2026',
    metric: 'Adding up\u2026',
    order: 'Sorting\u2026',
};

// Changes a toggle or a choice. The zoom stays if it is still valid.
export function turn(key, value) {
    say('');
    if (key === 'reversed') {
        if (value && !canReverse()) {
            sayTooLarge();
            return;
        }
        state.path = [];
        state.centre = -1;
        cursor.frame = -1;
    }
    if (
        key === 'layout'
        || key === 'order'
        || key === 'reversed'
        || key === 'merged'
        || key === 'width'
    )
        state.range = null;
    if (key === 'merged' && value)
        state.path = state.path.filter((name, i) => name !== state.path[i - 1]);
    state[key] = value;
    const from =
            {
                layout: 'panes',
                order: 'widths',
                width: 'widths',
                icicle: 'boxes',
                common: 'boxes',
                colour: 'paint',
                uncertain: 'paint',
            }[key] || 'view',
        word = LONG_WORDS[key];
    const act = () => {
        redraw.graph(from);
        if (key === 'icicle')
            for (const pane of panes) pane.scroll.scrollTop = value ? 0 : pane.height;
        if (key === 'metric') {
            redraw.table();
            redraw.source();
        }
        remember();
    };
    if (word) soon(word, act);
    else act();
}

export function dye(to) {
    display.theme = document.documentElement.dataset.theme = to;
    if (scene.tree) redraw.graph('paint');
}
