// Connects panes with the mouse, and redraws after a change.

import { chooses, wheels } from '../base/drags.mjs';
import { $, say } from '../base/elements.mjs';
import { redraw } from '../base/redraw.mjs';
import { short } from '../base/words.mjs';
import { matches, tally } from '../model/matches.mjs';
import { profile, state } from '../model/profile.mjs';
import { makeView, nameOf, scene } from '../model/scene.mjs';
import { colours, display, ink } from '../draw/colours.mjs';
import { Pane, cursor, marks, panes } from '../draw/pane.mjs';
import { point } from '../act/cursor.mjs';
import { chooseRange, partAt, press, scaleBy } from '../act/zoom.mjs';
import { drawCalls } from '../view/calls.mjs';
import { details } from '../view/details.mjs';
import { findInSources } from '../view/find.mjs';
import { drawHot } from '../view/hot.mjs';
import { openMenu } from '../view/menu.mjs';
import { paintTimes } from '../view/paint-times.mjs';
import { drawSource } from '../view/source.mjs';
import { narrow, toolbar } from '../view/toolbar.mjs';

function makePanes() {
    const kinds =
            !profile.diff || state.layout === 'graph'
                ? [null]
                : ['before', 'after', 'change'].slice(0, state.layout === 'pair' ? 2 : 3),
        [a, b] = profile.facts.sides;
    const titles = profile.relative
        ? [a, b, 'Difference of shares']
        : [
              `Before: ${a} \u2014 coloured by what will happen`,
              `After: ${b} \u2014 coloured by what did happen`,
              'Difference \u2014 as wide as what changed',
          ];
    const choose = (range) => chooseRange(range, true, []);
    watch.disconnect();
    panes.splice(
        0,
        panes.length,
        ...kinds.map((kind, i) => new Pane(kind, kind ? titles[i] : '', choose)),
    );
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
        chooses(pane.canvas, pane.chosen, {
            begins: () => !scene.split,
            moves: () => point(-1),
            ends: (from, to) =>
                chooseRange(
                    [from, to].map((px) => partAt(pane, px)),
                    true,
                ),
        });
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
    if (
        scene.tree
        && panes.some(
            (pane) =>
                pane.view !== pane.scroll.clientWidth || pane.seen !== pane.scroll.clientHeight,
        )
    )
        refresh('boxes');
});

// Redraws everything that depends on a change, from the given step on.
export function refresh(from) {
    const step = ['panes', 'view', 'widths', 'boxes', 'paint'].indexOf(from);
    if (scene.tree && step <= 3) point(-1);
    if (step <= 0) makePanes();
    if (step <= 1) {
        const path = scene.tree && cursor.frame >= 0 ? scene.tree.path(cursor.frame) : null;
        makeView(Math.max(300, $('panes').clientWidth));
        if (scene.steps < state.path.length) {
            say(
                `${$('notice').textContent} The path goes no further than `
                + `${short(nameOf(scene.focus), 120)}: `
                + `${short(state.lost || profile.names[state.path[scene.steps]], 120)} is not `
                + 'called there in this profile.',
            );
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
    if (ink.theme !== (display.printing ? 'light' : display.theme)) colours();
    panes.forEach((pane) => {
        pane.paint();
        if (pane.map) pane.map.paint();
    });
    marks();
    toolbar();
    details();
    drawCalls();
    drawHot();
    // The time line does not depend on the zoom of the graph.
    if (step <= 1 || step === 4) paintTimes();
}

redraw.graph = refresh;
redraw.matches = () => {
    panes.forEach((pane) => pane.paint());
    paintTimes();
    toolbar();
    redraw.table();
    findInSources();
    drawSource();
};
