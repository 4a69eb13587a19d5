// Adds and removes steps of the chain, and announces long work before it begins.

import { $, say } from '../base/elements.mjs';
import { redraw, work } from '../base/redraw.mjs';
import { grouped } from '../base/words.mjs';
import { REVERSE_LIMIT } from '../data/callers.mjs';
import { canReverse, profile, state } from '../model/profile.mjs';
import { scene } from '../model/scene.mjs';
import { metricInTime } from '../model/times.mjs';
import { cursor, panes } from '../draw/pane.mjs';
import { remember } from './address.mjs';
import { speak } from './cursor.mjs';

// From so many frames on, long work is announced, and the notice painted, before it begins.
export const MANY = 150000;           // frames

export function soon(text, act) {
    if (profile.tree.n < MANY) {
        act();
        return;
    }
    $('busy').textContent = text;
    $('busy').hidden = false;
    work.busy = new Promise((done) => {
        requestAnimationFrame(() => setTimeout(() => {
            try {
                act();
            } finally {
                $('busy').hidden = true;
                done();
            }
        }));
    });
}

// Shows why callers are not drawn.
export function sayTooLarge() {
    say(
        `Callers are drawn for up to ${grouped(REVERSE_LIMIT)} frames; this profile has `
        + `${grouped(profile.tree.n)}. The table shows each sub's callers.`,
    );
}

// Puts a sub in the middle, with its callers above and its callees below; -1 shows the whole graph
// again.
export function sandwich(sub) {
    if (sub >= 0 && !canReverse()) {
        sayTooLarge();
        return;
    }
    Object.assign(state, { centre: sub, path: [], range: null });
    cursor.frame = -1;
    soon('Collecting callers\u2026', () => {
        redraw.graph('view');
        for (const pane of panes)
            pane.scroll.scrollTop = scene.split ? pane.y(0) - pane.seen / 2 : pane.height;
        if (scene.split) speak(0, 'Callers and callees of ');
        remember(true);
    });
}

// Adds a step to the chain, or takes one away.
export function doStep(act, text) {
    state.chain = [...state.chain, { act, text }];
    rechain();
}

export function undoStep(k = state.chain.length - 1) {
    state.chain = state.chain.filter((_, i) => i !== k);
    rechain();
}

function rechain() {
    say('');
    state.range = null;
    soon('Adding up what is left\u2026', () => {
        drawChain();
        remember(true);
    });
}

// Redraws everything that depends on the chain.
function drawChain() {
    redraw.graph('view');
    redraw.table();
    redraw.source();
    if (!scene.all.some((list) => list[0] > 0))
        say('Nothing is left: take a step of the chain back.');
}

// Makes a process or a phase a step of the chain, before the steps that leave out subs; -1 selects
// all processes or phases again.
export function choosePart(act, name) {
    const others = state.chain.filter((step) => step.act !== act),
        step = name < 0 ? [] : [{ act, text: profile.names[name] }];
    state.chain =
        act === 'process'
            ? [...step, ...others]
            : [
                  ...others.filter((other) => other.act === 'process'),
                  ...step,
                  ...others.filter((other) => other.act !== 'process'),
              ];
    rechain();
}

// Makes a range the first step of the chain, or removes it.
export function chooseTime(range, lane = -1) {
    const rest = state.chain.filter(({ act }) => act !== 'time');
    if (range) {
        const digits = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(range[1] - range[0]))));
        rest.unshift({
            act: 'time',
            text: range.map((v) => v.toFixed(digits)).join('-') + (lane < 0 ? '' : `@${lane}`),
        });
        metricInTime();
    }
    state.chain = rest;
    rechain();
}

redraw.chain = () => {
    drawChain();
    remember(false);
};
