// Draws the toolbar, the chips of the chain's steps, and the legends.

import { $, button, make } from '../base/elements.mjs';
import { keep, sum } from '../base/lists.mjs';
import { grouped, growth, percent, plural, short } from '../base/words.mjs';
import { SPAN_KIND, inclusive } from '../data/tree.mjs';
import { matches } from '../model/matches.mjs';
import { amount, signed } from '../model/numbers.mjs';
import {
    isUpward, last, metric, profile, real, shown, sideName, state,
} from '../model/profile.mjs';
import { NEUTRAL, kindOf, largest, scene } from '../model/scene.mjs';
import { allStatements } from '../model/spans.mjs';
import { LANES, STEPS, lane, partInWords } from '../model/steps.mjs';
import { byName } from '../model/subs.mjs';
import { isInTime, timeStep } from '../model/times.mjs';
import {
    KINDS, LEVELS, diffColour, display, ink, isInLegend, swatchOf,
} from '../draw/colours.mjs';
import { panes } from '../draw/pane.mjs';
import { link } from '../act/address.mjs';
import { sandwich, undoStep } from '../act/chain.mjs';
import { foundInSources, sourceMatches } from './found.mjs';

export function toolbar() {
    const pressed = (id, on) => $(id).setAttribute('aria-pressed', String(!!on)),
        timed = !!scene.tree.when;
    for (const id of ['icicle', 'reversed', 'merged', 'source']) pressed(id, state[id]);
    pressed('uncertain', !state.uncertain);
    pressed('table', state.table && !state.source);
    pressed('spans', state.texts && !state.source);
    pressed('list', state.calls && !state.source);
    pressed('times', state.time && !state.source);
    pressed('case', state.match);
    pressed('dark', display.theme === 'dark');
    $('reset').disabled = link() === '';
    $('icicle').disabled = $('order').disabled = scene.split > 0;
    pressed('sandwich', state.centre >= 0);
    pressed('common', state.common);
    $('common').hidden = !profile.diff || state.layout === 'graph' || profile.relative;
    chips();
    if (profile.furnished !== state.metric) furnishParts();
    $('kind').value = state.kind;
    for (const act of Object.keys(LANES)) {
        const step = state.chain.find((one) => one.act === act);
        $(act).value = step ? lane(act, step.text) : -1;
    }
    $('order').lastElementChild.disabled = !timed;
    $('order').value = state.order === 'time' && !timed ? 'name' : state.order;
    $('metric').value = state.metric;
    for (const option of $('metric').options)
        option.disabled = !!timeStep() && !isInTime(profile.metrics[option.value].key);
    if (document.activeElement !== $('q') && $('q').value !== state.q) $('q').value = state.q;
    found();
    const totals = scene.all.map(
        (list, side) => `${profile.diff ? sideName(side) + ' ' : ''}${amount(real(list[0], side))}`,
    );
    const change =
        profile.diff && !profile.relative
            ? growth(...scene.all.map((list, side) => real(list[0], side)))
            : '';
    $('whole').textContent =
        `${totals.join(profile.relative ? ', ' : ' \u2192 ')}${change && ` (${change})`} `
        + `${metric().unit === 's' ? metric().label : ''} \u00b7 ${plural(scene.base.n, 'frame')}`
        + `${allStatements() && ` \u00b7 ${allStatements()}`}`;
    if (!profile.diff) {
        drawKinds();
        return;
    }
    const isOfChange = state.layout === 'graph' && state.width === 'change';
    $('layout').value = state.layout;
    $('width').value = state.width;
    $('width').disabled = state.layout !== 'graph';
    $('colour').value = isOfChange ? 'total' : kindOf();
    $('colour').disabled = isUpward() || isOfChange;
    $('measure').value = isOfChange ? 'relative' : state.measure;
    $('measure').disabled = isOfChange || profile.relative;
    $('swap').hidden = profile.relative;
    pressed('swap', profile.isSwapped);
    drawScale(isOfChange ? 'change' : kindOf());
}

// Fills the menus of processes and of phases, the longest first, without empty ones.
function furnishParts() {
    profile.furnished = state.metric;
    for (const [act, kind] of Object.entries(LANES)) {
        const names = profile.whole
                ? [...profile.names.keys()].filter((i) => profile.facts.kinds[i] === kind)
                : [],
            all = act === 'process' ? 'all processes' : 'all phases';
        $(act).hidden = names.length < 2;
        if (names.length < 2) continue;
        const total = byName(
                profile.whole,
                [inclusive(profile.whole, profile.whole.own(state.metric, last()))],
                true,
            )[0],
            whole = sum(profile.whole.own(state.metric, last()));
        const step = state.chain.find((one) => one.act === act),
            some = names.filter((i) => total[i] > 0 || (step && step.text === profile.names[i]));
        some.sort((a, b) => total[b] - total[a] || profile.rank[a] - profile.rank[b]);
        $(act).replaceChildren(
            make('option', { value: -1 }, all),
            ...some.map((i) =>
                make(
                    'option',
                    { value: i },
                    `${partInWords(profile.names[i])} (${percent(whole ? total[i] / whole : 0)})`,
                ),
            ),
        );
    }
}

// Shows the chain as chips. A click on a chip removes its step.
function chips() {
    const list = state.chain.map(({ act, text }, k) => {
        const { word } = STEPS[act], told = STEPS[act].told(text);
        return button(
            make('span', {}, `${word} `, make('bdi', {}, told), ' \u00d7'),
            () => undoStep(k),
            { className: 'chip', title: `Take back: ${word} ${told}` },
        );
    });
    const centre =
        state.centre >= 0
            ? [
                  button(
                      make(
                          'span',
                          {},
                          'around ',
                          make('bdi', {}, short(profile.names[state.centre], 60)),
                          ' \u00d7',
                      ),
                      () => sandwich(-1),
                      { className: 'chip', title: 'Back to the whole graph (b)' },
                  ),
              ]
            : [];
    const all = [...list, ...centre];
    $('chips').hidden = !all.length;
    $('chips').replaceChildren(
        ...all,
        all.length ? make('span', { className: 'soft' }, whatIsLeft()) : '',
    );
}

// Returns a text about the part of the whole that the chain leaves.
function whatIsLeft() {
    if (!state.chain.length) return '';
    const whole = keep(profile.tree.kept, 'whole ' + state.metric, () =>
        shown(profile.tree).map(sum),
    );
    const left = scene.all.map(
        (list, side) => `${amount(real(list[0], side))} (${percent(list[0] / whole[side])})`,
    );
    return `left: ${left.join(profile.relative ? ', ' : ' \u2192 ')}`;
}

function swatch(style) {
    const node = make('span', { className: 'swatch' });
    Object.assign(node.style, style);
    return node;
}

const legend = (...inside) => make('bdi', { className: 'key' }, ...inside);

// Returns what a box is, and its width. A graph of callers has other boxes, which its button names.
function whatBoxesAre() {
    if (isUpward() || scene.split) return '';
    const where = state.icicle ? 'above' : 'below';
    const what = metric().unit === 's' ? 'time' : metric().label;
    return `box: a sub, called from the box ${where} it; width: its ${what} with all that it calls`;
}

function drawKinds() {
    const { kinds, hues, fills } = profile.facts,
        used = new Set(kinds),
        hue = hues.find((_, i) => kinds[i] === 0) || 30,
        spanHue = hues[kinds.indexOf(SPAN_KIND)];
    const marks = KINDS
        .map(
            ([text], kind) =>
                isInLegend(kind)
                && used.has(kind)
                && legend(
                    swatch({
                        background: swatchOf(kind, kind === SPAN_KIND ? spanHue : hue),
                        border: kind === 5 ? `1.5px solid ${ink.begin}` : '',
                    }),
                    text,
                ),
        )
        .filter(Boolean);
    $('kinds').replaceChildren(
        ...marks,
        legend(fills ? 'colours as asked for' : 'hue: by package'),
        legend(whatBoxesAre()),
    );
}

// Draws the colour scale of a difference.
function drawScale(kind) {
    const {
            diff,
            facts: { sides },
        } = profile,
        [a, b] = sides,
        words = profile.relative ? [] : [`before: ${a}`, `after: ${b}`];
    if (diff.runs && Math.max(...diff.runs) > 1)
        words.push(`means of ${diff.runs.join(' and ')} runs`);
    words.push(
        diff.normalized || '',
        diff.negate && state.layout === 'graph' && state.width === 'before'
            ? 'coloured by what will happen'
            : '',
    );
    if (profile.certain)
        words.push(
            state.uncertain
                ? 'uncertain changes are coloured'
                : `${ink.dark ? 'grey' : 'white'}: no change, or an uncertain one`,
        );
    const parts = kind === 'change' || state.measure === 'relative',
        most = largest(kind === 'change' ? 'total' : kind);
    const [less, more] = profile.relative
        ? sides.map((side) => `${side} has the larger share`)
        : parts
          ? ['\u2212100 %', '+100 %']
          : [signed(-most), signed(most)];
    const ticks = [-4, -3, -2, -1, 0, 1, 2, 3, 4],
        tick = (k) =>
            parts || profile.relative ? `${k < 0 ? '\u2212' : '+'}${Math.abs(k) * 25} %`
                : signed((most * k) / 4);
    $('scale').replaceChildren(
        make('span', { className: 'down' }, `\u25bc ${less}`),
        make(
            'span',
            {},
            ...ticks.map((k) => {
                const box = swatch({ background: diffColour((k * LEVELS) / 4) });
                box.title = k ? tick(k) : 'no difference, or less than the least that is coloured';
                return box;
            }),
        ),
        make('span', { className: 'up' }, `${more} \u25b2`),
    );
    if (!profile.relative)
        words.unshift(
            parts
                ? 'red: more after; blue: less, in parts of the larger side'
                : `red: more after; blue: less; a step is ${tick(1).replace('+', '')}`,
            `no colour: under ${signed(most * NEUTRAL).replace('+', '')}`,
        );
    if (diff.runs && Math.max(...diff.runs) === 1 && metric().unit === 's')
        words.push('one run a side: may be chance');
    if (state.layout !== 'graph' || state.width !== 'change') words.push(whatBoxesAre());
    $('kinds').replaceChildren(
        ...words.filter(Boolean).map((text) => legend(text)),
        legend(
            swatch({ border: `1.5px dashed ${ink.ghost}` }),
            profile.relative ? `only ${a}` : 'gone (not in width \u201cafter\u201d)',
        ),
        legend(
            swatch({ border: '1px solid var(--line)', borderLeft: `4px solid ${ink.fresh}` }),
            profile.relative ? `+ only ${b}` : '+ new',
        ),
    );
    $('uncertain').hidden = !profile.certain;
}

// Reports the frames that are not drawn.
export function narrow() {
    const [pane] = panes,
        share =
            scene.split || (state.reversed && profile.diff)
                ? ''
                : `, ${percent(pane.narrowWeight / pane.weights[scene.focus])},`,
        parts = [];
    if (pane.narrow)
        parts.push(
            `${plural(pane.narrow, 'frame')}${share} too narrow to draw here; zoom in`
            + `${scene.split ? '' : ', or drag over a part,'} to see them`,
        );
    if (pane.beside) parts.push(`${plural(pane.beside, 'frame')} beside this part`);
    const why = profile.diff
        ? { before: ' before', after: ' after', change: ' of change', union: '' }[pane.width]
        : '';
    if (pane.still)
        parts.push(
            `${plural(pane.still, 'frame')} without any value${profile.relative ? '' : why} not `
            + 'drawn',
        );
    $('narrow').textContent = parts.join(' \u00b7 ');
}

export function found() {
    const node = $('found');
    node.classList.toggle('bad', !!matches.error);
    $('q').setAttribute('aria-invalid', String(!!matches.error));
    $('prev').disabled = $('next').disabled = state.source
        ? !sourceMatches.list.length
        : !matches.names || !matches.frames;
    const where =
        matches.at >= 0
            ? `${grouped(matches.at + 1)} of ${grouped(matches.list.length)} \u00b7 `
            : '';
    const text =
        matches.error
        || (state.source
            ? foundInSources()
            : !matches.names && !state.kind
              ? ''
              : !matches.frames
                ? 'no match'
                : `${matches.names ? where : `${state.kind}: `}`
                    + `${matches.shares.map(percent).join(' \u2192 ')} in `
                    + `${plural(matches.frames, 'frame')}`);
    if (node.textContent !== text) node.textContent = node.title = text;
}
