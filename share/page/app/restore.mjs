// Restores the state that a link has.

import { $, make, say } from '../base/elements.mjs';
import { redraw } from '../base/redraw.mjs';
import { short } from '../base/words.mjs';
import { compile } from '../model/matches.mjs';
import {
    begin, canReverse, exchanged, hasLines, hasTimes, profile, state, subNamed,
} from '../model/profile.mjs';
import { lineCosts } from '../model/lines.mjs';
import { scene } from '../model/scene.mjs';
import { spanKinds } from '../model/spans.mjs';
import { STEPS, chainOf } from '../model/steps.mjs';
import { metricInTime, timeStep } from '../model/times.mjs';
import { ink } from '../draw/colours.mjs';
import { cursor, marks, panes } from '../draw/pane.mjs';
import { CHOICES, link, plain, remember, unpack } from '../act/address.mjs';
import { showViews } from '../act/open.mjs';
import { details } from '../view/details.mjs';
import { findInSources } from '../view/find.mjs';
import { drawSource } from '../view/source.mjs';
import { refresh } from './graph.mjs';

// Restores the state of the link. Without `all`, as after a step back, search and toggles do not
// change.
export function restore(all) {
    const given = new Map(location.hash.slice(1).split('&').map((part) => part.split(/=(.*)/s)));
    const number = subNamed;
    const path = given.has('at') ? given.get('at').split(';').map(unpack) : [],
        sub = unpack(given.get('sub') || '');
    say(sub && number(sub) < 0 ? `The sub ${short(sub, 120)} is not in this profile.` : '');
    if (all && profile.diff && (given.get('sides') === 'swapped') !== profile.isSwapped)
        exchangeSides();
    if (all) {
        Object.assign(state, profile.initial);
        if (given.has('q')) state.q = plain(given.get('q'));
        state.match = given.get('case') === '1';
        const kind = plain(given.get('kind') || '');
        state.kind = spanKinds().includes(kind) ? kind : '';
        state.uncertain = given.get('uncertain') === '1';
        state.common = given.get('scale') === 'common';
        if (profile.key(plain(given.get('metric') || '')) >= 0)
            state.metric = profile.key(plain(given.get('metric')));
        for (const key of CHOICES)
            if ([...$(key).options].some((option) => option.value === given.get(key)))
                state[key] = given.get(key);
        if (given.has('view'))
            for (const key of ['icicle', 'reversed', 'merged'])
                state[key] = given.get('view').split(',').includes(key);
        state.reversed = state.reversed && canReverse();
        $('q').value = state.q;
        compile();
    }
    const steps = given.has('steps')
        ? given
              .get('steps')
              .split(';')
              .map((step) => /^(\w+):(.*)$/s.exec(step))
              .filter((step) => step && Object.hasOwn(STEPS, step[1]))
              .map(([, act, text]) => ({ act, text: unpack(text) }))
        : [];
    const lost = chainOf(steps), centre = given.has('around') ? unpack(given.get('around')) : '';
    if (timeStep()) metricInTime();
    if (lost)
        say(
            `The ${STEPS[lost.act].noun} ${short(lost.text, 120)} is not in this profile: a step `
            + 'of the link is left out.',
        );
    state.centre = centre && canReverse() ? number(centre) : -1;
    if (centre && number(centre) < 0) say(`The sub ${short(centre, 120)} is not in this profile.`);
    const range = /^([\d.e-]+?)\.\.([\d.e-]+)$/.exec(given.get('range') || ''),
        [from, to] = range ? [+range[1], +range[2]] : [0, 1];
    state.range = range && from >= 0 && to > from && to <= 1 ? [from, to] : null;
    state.path = state.centre >= 0 ? [] : path.map(number);
    state.lost = path[state.path.indexOf(-1)];
    state.sub = sub ? number(sub) : -1;
    state.texts = given.get('texts') === '1' && spanKinds().length > 0;
    state.table = !state.texts && (given.get('table') === '1' || state.sub >= 0);
    state.calls = given.get('calls') === '1' && !state.table && !state.texts;
    state.time = given.has('timeline') && hasTimes();
    if (state.time) state.heat = given.get('timeline') === 'heat';
    state.source =
        hasLines() && (given.has('src') || (profile.initial.source && given.get('graph') !== '1'));
    const [, file, line] = /^(.*?)(?::(\d+))?$/s.exec(given.get('src') || '');
    Object.assign(state, { file: -1, line: state.source ? +(line || 0) : 0 });
    if (state.source && file) state.lostFile = unpack(file);
    showViews();
    redraw.table();
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

// Makes the second side the first one. What was computed of the sides is forgotten.
function exchangeSides() {
    begin(exchanged(profile), profile.has);
    scene.tree = lineCosts.files = null;
    ink.theme = '';
    furnish();
}

// Shows the page as it was at the start. Back returns to what it was.
export function resetAll() {
    const count = (history.state && history.state.dprof) || 0;
    try {
        history.replaceState({ dprof: count, all: true }, '', location.href);
        history.pushState({ dprof: count + 1, all: true }, '', location.href.replace(/#.*/s, ''));
    } catch (error) {
        location.hash = '';
    }
    restore(true);
}

// Exchanges the sides on show, and keeps all that was chosen.
export function swapSides() {
    const hash = link();
    history.replaceState(
        history.state, '',
        location.href.replace(/#.*/s, '')
            + (profile.isSwapped
                ? hash.replace(/[#&]sides=swapped/, '').replace(/^&/, '#')
                : `${hash || '#'}${hash ? '&' : ''}sides=swapped`),
    );
    restore(true);
}

// Fills in what the profile says outside of its graph.
export function furnish() {
    $('subtitle').textContent = profile.facts.subtitle || '';
    $('metric').replaceChildren(
        ...profile.metrics.map((m, i) => make('option', { value: i }, m.label)),
    );
    $('metric').hidden = profile.metrics.length < 2;
    $('diff').hidden = !profile.diff;
    $('source-view').hidden = !hasLines();
    $('times').hidden = !hasTimes();
    $('spans').hidden = $('kind').hidden = !spanKinds().length;
    $('kind').replaceChildren(
        make('option', { value: '' }, 'all spans'),
        ...spanKinds().map((kind) => make('option', { value: kind }, short(kind, 40))),
    );
    if (profile.relative) {
        const [before, after] = profile.facts.sides,
            words = { before, after, union: 'the larger', change: 'difference' };
        for (const option of $('width').options) option.textContent = words[option.value];
    }
    $('compare').hidden = !!profile.diff;
}
