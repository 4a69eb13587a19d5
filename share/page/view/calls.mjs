// Shows the graph as a list: frames with their values, and their kids below them on demand.

import { $, button, make } from '../base/elements.mjs';
import { grouped, short } from '../base/words.mjs';
import { last, profile, sideName, state } from '../model/profile.mjs';
import { isGrey, nameOf, scene } from '../model/scene.mjs';
import { cursor, marks } from '../draw/pane.mjs';
import { go, known } from '../act/cursor.mjs';
import { zoom } from '../act/zoom.mjs';
import { changeCell, named } from './table.mjs';

const CALLS_PAGE = 50;         // kids that are shown at first

// The drawn list. For its frames: open, a set; shown, the number of kids.
const callList = { version: -1, focus: -1 };

// Opens the path on which most of the time is spent.
function openHottest(from) {
    const value = scene.total[last()], whole = value[from];
    for (let i = from, deep = 0; deep < 40 && value[i] > whole * 0.1; deep++) {
        callList.open.add(i);
        const [best] = scene.tree.kids(i).sort((a, b) => value[b] - value[a]);
        if (best === undefined) break;
        i = best;
    }
}

export function drawCalls(again = false) {
    const node = $('calls'),
        isSame = callList.version === scene.version && callList.focus === scene.focus;
    node.hidden = !state.calls || state.source;
    if (node.hidden || (isSame && !again)) return;
    if (!isSame) {
        Object.assign(callList, {
            open: new Set(),
            shown: new Map(),
            version: scene.version,
            focus: scene.focus,
        });
        openHottest(scene.focus);
    }
    const top = node.scrollTop,
        rows = [],
        value = scene.total[last()],
        weigh = profile.diff ? scene.weights('union') : value,
        hasSelf = !state.reversed && !scene.split;
    const add = (i, level) => {
        const kids = scene.tree.end[i] > i + 1,
            open = kids && callList.open.has(i),
            cells = known(i),
            [total] = cells,
            self = hasSelf && cells[1];
        const twist = kids
            ? button(open ? '\u25be' : '\u25b8', () => toggle(i), {
                  className: 'fold',
                  tabIndex: -1,
                  'aria-hidden': 'true',
              })
            : make('span', { className: 'fold' });
        const row = make(
            'tr',
            {
                tabIndex: -1,
                'aria-level': level + 1,
                ...(kids && { 'aria-expanded': String(open) }),
                className: `${i === cursor.frame ? 'here' : ''}${isGrey(i) ? ' grey' : ''}`,
            },
            make(
                'td',
                { className: 'left' },
                make(
                    'div',
                    { className: 'call' },
                    twist,
                    button(named(scene.tree.name[i]), () => zoom(i), {
                        title: short(nameOf(i), 1000),
                    }),
                ),
            ),
            ...(profile.diff
                ? [
                      make('td', {}, total[1]),
                      make('td', {}, total[2]),
                      changeCell(scene.total[1][i] - scene.total[0][i], total[3]),
                  ]
                : [
                      make('td', {}, total[1]),
                      make('td', {}, total[2]),
                      make('td', {}, self ? self[1] : ''),
                      make('td', {}, scene.calls ? grouped(scene.calls[0][i]) : ''),
                  ]),
        );
        row.dataset.frame = i;
        row.querySelector('.call').style.paddingLeft = Math.min(level, 40) * 14 + 'px';
        row.onmouseenter = () => {
            cursor.hover = i;
            marks();
        };
        row.onmouseleave = () => {
            cursor.hover = -1;
            marks();
        };
        rows.push(row);
        if (!open) return;
        const list = scene.tree
                .kids(i)
                .filter((kid) => weigh[kid] > 0)
                .sort(
                    (a, b) =>
                        weigh[b] - weigh[a]
                        || profile.rank[scene.tree.name[a]] - profile.rank[scene.tree.name[b]],
                ),
            most = callList.shown.get(i) || CALLS_PAGE;
        for (const kid of list.slice(0, most)) add(kid, level + 1);
        if (list.length > most) {
            const more = button(`${grouped(list.length - most)} more`, () => {
                callList.shown.set(i, most * 4);
                drawCalls(true);
            });
            rows.push(make('tr', {}, make('td', { className: 'left', colSpan: 5 }, more)));
        }
    };
    add(scene.focus, 0);
    const heads = profile.diff
        ? ['Frame', sideName(0), sideName(1), 'Difference']
        : ['Frame', 'Inclusive', '%', hasSelf ? 'Self' : '', scene.calls ? 'Calls' : ''];
    node.replaceChildren(
        make(
            'table',
            { role: 'treegrid', 'aria-label': 'Call tree' },
            make(
                'thead',
                {},
                make(
                    'tr',
                    {},
                    ...heads.map((text, k) =>
                        make('th', { scope: 'col', className: k ? '' : 'left' }, text),
                    ),
                ),
            ),
            make('tbody', {}, ...rows),
        ),
    );
    node.scrollTop = top;
}

function toggle(i, focus = false) {
    if (callList.open.has(i)) callList.open.delete(i);
    else callList.open.add(i);
    drawCalls(true);
    const row = focus && $('calls').querySelector(`[data-frame="${i}"]`);
    if (row) row.focus();
}

// Handles arrow keys as any tree does: up and down move among rows, right opens, left closes or
// goes to the caller.
export function callsKey(event) {
    const rows = [...$('calls').querySelectorAll('tr[data-frame]')],
        row = event.target.closest('tr[data-frame]'),
        at = rows.indexOf(row),
        i = row ? +row.dataset.frame : -1,
        { key } = event;
    const to = (next) => {
        if (!next) return;
        next.focus();
        go(+next.dataset.frame);
    };
    if (key === 'ArrowDown') to(rows[at + 1]);
    else if (key === 'ArrowUp') to(rows[Math.max(0, at - 1)]);
    else if (row && key === 'ArrowRight') {
        if (scene.tree.end[i] === i + 1) return;
        if (callList.open.has(i)) to(rows[at + 1]);
        else toggle(i, true);
    } else if (row && key === 'ArrowLeft') {
        if (callList.open.has(i)) toggle(i, true);
        else to(rows.find((other) => +other.dataset.frame === scene.tree.parent[i]));
    } else if (row && key === 'Enter') zoom(i);
    else return;
    event.preventDefault();
    event.stopPropagation();
}
