// Describes the frame under the pointer in words.

import { $, make } from '../base/elements.mjs';
import { redraw } from '../base/redraw.mjs';
import { growth, percent, plural, ratio, short } from '../base/words.mjs';
import { COUNT, amount, signed } from '../model/numbers.mjs';
import { isSpan, placeOf, profile, real, sideName, state } from '../model/profile.mjs';
import { isGone, isNew, nameOf, points, scene } from '../model/scene.mjs';
import { KINDS } from '../draw/colours.mjs';
import { cursor, marks, panes } from '../draw/pane.mjs';

// Returns the facts about a frame: rows of cells, with a label first.
export function known(i) {
    const whole = scene.all.map((list) => list[0]), zoomed = scene.focus || scene.split;
    const row = (kind) => {
        const [a, b] = scene[kind].map((list) => list[i]);
        if (!profile.diff)
            return [
                kind,
                amount(a),
                percent(a / whole[0]),
                zoomed ? percent(a / scene.total[0][scene.focus]) : '',
            ];
        const part = kind === 'self' ? Math.abs(b - a) : scene.changed[i];
        return [
            kind,
            amount(real(a, 0)),
            amount(b),
            profile.relative ? points(i, kind) : signed(b - a),
            profile.relative
                ? `${percent(a / whole[0])} \u2192 ${percent(b / whole[1])}`
                : growth(a, b),
            ratio(a, b),
            percent(scene.changed[0] && part / scene.changed[0]),
        ];
    };
    const rows = [row('total')];
    if (!state.reversed && !(scene.split && i >= scene.split)) rows.push(row('self'));
    if (scene.calls && !profile.relative) {
        const [a, b] = scene.calls.map((list) => list[i]);
        rows.push(
            profile.diff
                ? [
                      'calls',
                      amount(a, COUNT),
                      amount(b, COUNT),
                      signed(b - a, COUNT),
                      growth(a, b),
                      ratio(a, b),
                      '',
                  ]
                : ['calls', amount(a, COUNT)],
        );
    }
    return rows;
}

function remarks(i) {
    const name = scene.tree.name[i],
        kind = profile.facts.kinds[name],
        list = [kind ? (KINDS[kind] || KINDS[0])[0] : '', placeOf(name)];
    if (profile.diff) {
        const parts = (top) =>
            scene.total
                .map((total, side) => `${percent(total[i] / total[top])} of ${sideName(side)}`)
                .join(' \u2192 ');
        const { moved = {} } = profile.diff;
        list.push(parts(0), scene.focus ? `of the zoomed frame ${parts(scene.focus)}` : '');
        if (isNew(i))
            list.push(
                profile.relative
                    ? `only in ${profile.facts.sides[1]}`
                    : 'new: not called here before',
            );
        if (isGone(i))
            list.push(
                profile.relative
                    ? `only in ${profile.facts.sides[0]}`
                    : 'gone: not called here after',
            );
        if (moved[name]) list.push(`moved: was at ${moved[name]}`);
        if (profile.certain && !profile.certain.self[name] && !profile.certain.total[name])
            list.push('uncertain');
    }
    return list.filter(Boolean).join(' \u00b7 ');
}

// Returns the same facts in one line.
export function inWords(i) {
    return [...known(i).map(([label, a, b, c, d, e]) => {
        if (profile.diff) return `${label} ${a} \u2192 ${b}, ${c}${d ? ` (${d})` : ''} ${e}`;
        const part = c ? `, ${c} of ${scene.split ? 'the sub' : 'zoomed'}` : '';
        return `${label} ${a}${b ? ` (${b}${part})` : ''}`;
    }), remarks(i)].filter(Boolean).join(' \u00b7 ');
}

export function speak(frame, before = '') {
    const { tree, split } = scene, up = state.reversed || (split && frame >= split);
    const near = plural(tree.kids(frame).length, up ? 'caller' : 'callee');
    $('spoken').textContent = `${before}${short(nameOf(frame), 200)}. ${inWords(frame)}. Level `
        + `${tree.depth[frame]}, ${near}.`;
}

// Shows the frame under the mouse.
export function point(frame, event) {
    const tip = $('tip');
    if (frame !== cursor.hover) {
        cursor.hover = frame;
        marks();
        redraw.details();
        tip.hidden = frame < 0;
    }
    if (frame < 0) return;
    const heads = profile.diff
        ? [
              '',
              sideName(0),
              sideName(1),
              'difference',
              profile.relative ? 'shares' : '',
              'ratio',
              'of all change',
          ]
        : [
              '',
              '',
              scene.focus || scene.split ? 'of all' : '',
              scene.split ? 'of the sub' : scene.focus ? 'of zoomed' : '',
          ];
    const line = (tag, cells) => make('tr', {}, ...cells.map((cell) => make(tag, {}, cell)));
    tip.replaceChildren(
        make('div', { className: 'name' },
            short(nameOf(frame), isSpan(scene.tree.name[frame]) ? 3000 : 1000)),
        make('table', {}, line('th', heads), ...known(frame).map((cells) => line('td', cells))),
        make('p', {}, remarks(frame)),
    );
    const { clientX: x, clientY: y } = event, w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - w - 8)) + 'px';
    tip.style.top = (y + 18 + h > innerHeight ? Math.max(8, y - h - 12) : y + 18) + 'px';
}

export function go(frame) {
    cursor.frame = frame;
    cursor.keys = true;
    for (const pane of panes) if (pane.box(frame)) pane.reveal(frame, 1);
    marks();
    redraw.details();
    speak(frame);
    for (const row of $('calls').querySelectorAll('tr[data-frame]'))
        row.classList.toggle('here', +row.dataset.frame === frame);
}
