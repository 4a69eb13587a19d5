// Shows the table of spans by kind: statements of SQL, requests, templates; and callers of one.

import { $, button, make } from '../base/elements.mjs';
import { keep, sum } from '../base/lists.mjs';
import { redraw } from '../base/redraw.mjs';
import { grouped, percent, plural, short } from '../base/words.mjs';
import { matches } from '../model/matches.mjs';
import { COUNT, amount, seconds } from '../model/numbers.mjs';
import {
    last, partsOf, placeOf, profile, real, spanKind, state,
} from '../model/profile.mjs';
import { callersOf, inclusiveOf, statementLines } from '../model/spans.mjs';
import { chained } from '../model/steps.mjs';
import { byName, subs } from '../model/subs.mjs';
import { pickSpan } from '../act/open.mjs';
import { cellsOf, drawTable, headCells, nameCell, tableColumns } from './table.mjs';

const PAGE = 200;
const MOST_LINES = 20;

const textOrder = { sort: 'total', down: true, shown: PAGE };

// Returns the columns, as tableColumns() does. Rows and longest calls are known of the whole
// profile, and not of what steps leave of it.
function textColumns() {
    const { rows = {}, longest = {} } = (!state.chain.length && profile.facts.spans) || {},
        of = (given) => (span) => given[span] ?? -1,
        all = tableColumns(),
        like = (word) => all.filter(({ key }) => key.startsWith(word)),
        columns = [
            { ...all[0], label: 'Text' },
            ...like('total'),
            ...like('self').filter(({ key }) => key !== 'selfpart'),
            ...like('calls'),
            ...like('each').map((column) => ({ ...column, label: 'Mean' })),
        ];
    if (Object.keys(longest).length)
        columns.push({
            key: 'longest', label: 'Longest', value: of(longest),
            show: (v) => (v < 0 ? '' : seconds(v)),
        });
    if (Object.keys(rows).length)
        columns.push({
            key: 'rows', label: 'Rows', value: of(rows), show: (v) => (v < 0 ? '' : grouped(v)),
        });
    if (profile.names.some((_, name) => spanKind(name) && placeOf(name)))
        columns.push(...like('place'));
    return columns;
}

// Returns the spans of the search and of the chosen kind by kind, [kind, spans]. Differences are
// sorted by size, whatever their sign.
function sortedTexts({ key, value, change }) {
    const { used, total } = subs(),
        isText = key === 'name' || key === 'place',
        way = textOrder.down !== isText ? -1 : 1,
        size = (span) => (change && textOrder.down ? Math.abs(value(span)) : value(span)),
        byKind = new Map();
    for (let span = 0; span < profile.names.length; span++) {
        const kind = spanKind(span);
        if (!kind || !used[span] || (state.kind && kind !== state.kind)) continue;
        if (matches.names && !matches.names[span]) continue;
        keep(byKind, kind, () => []).push(span);
    }
    const most = ([, list]) => sum(list.map((span) => total[last()][span]));
    return [...byKind]
        .sort((a, b) => most(b) - most(a))
        .map(([kind, list]) => [
            kind,
            list.sort(
                (a, b) => (size(a) - size(b)) * way || profile.rank[a] - profile.rank[b],
            ),
        ]);
}

// Returns "5 texts, 36 calls, 12 ms (34.2 %)" of all spans of a kind. A span within a span of its
// kind counts once.
function inAll(kind, spans) {
    const tree = chained(),
        wanted = new Set(spans),
        total = inclusiveOf(tree),
        sums = byName(tree, total, true, (i) => wanted.has(tree.name[i]), () => spans[0]),
        { calls } = subs(),
        counts = calls && calls.map((list) => sum(spans.map((span) => list[span])));
    const values = sums.map((list, side) => amount(real(list[spans[0]], side))),
        parts = sums.map((list, side) => percent(list[spans[0]] / (total[side][0] || 1)));
    return [
        plural(spans.length, 'text'),
        calls
            ? counts.map((n) => grouped(n)).join(' \u2192 ')
                + ` call${counts[last()] === 1 ? '' : 's'}`
            : '',
        `${values.join(' \u2192 ')} (${parts.join(' \u2192 ')})`,
    ].filter(Boolean).join(', ');
}

// Returns the row of a caller of the span that is picked.
function callerRow({ sub, calls, total }, wide) {
    const times = calls
        ? `${calls.map((v) => amount(v, COUNT)).join(' \u2192 ')} `
            + `call${calls[last()] === 1 ? '' : 's'}`
        : '';
    const value = total.map((v, side) => amount(real(v, side))).join(' \u2192 ');
    return make(
        'tr',
        { className: 'caller' },
        nameCell(sub),
        make('td', { colSpan: wide - 1 },
            [times, value, placeOf(sub)].filter(Boolean).join(' \u00b7 ')),
    );
}

function textRow(span, columns) {
    const picked = span === state.sub,
        [, text] = partsOf(span),
        act = button(make('bdi', {}, short(text)), () => {
            pickSpan(span);
            const again = $('subs').querySelector(`[data-span="${span}"]`);
            if (again) again.focus({ preventScroll: true });
        }, { title: short(text, 2500), 'data-span': span, 'aria-expanded': String(picked) });
    return [
        make(
            'tr',
            { className: picked ? 'here' : '' },
            make('td', { className: 'left' }, act),
            ...cellsOf(span, columns.slice(1)),
        ),
        ...(picked ? callersOf(span).slice(0, PAGE).map((row) => callerRow(row, columns.length))
            : []),
    ];
}

function drawTexts() {
    const node = $('subs'), was = node.querySelector('.list'), top = was ? was.scrollTop : 0;
    node.hidden = state.source;
    if (node.hidden) return;
    const columns = textColumns(),
        by = columns.find(({ key }) => key === textOrder.sort) || columns[1],
        kinds = sortedTexts(by),
        n = sum(kinds.map(([, list]) => list.length));
    const again = (change, focus) => {
        Object.assign(textOrder, change);
        drawTexts();
        if (node.querySelector(focus)) node.querySelector(focus).focus();
    };
    const bodies = kinds.map(([kind, list]) =>
        make(
            'tbody',
            {},
            make('tr', { className: 'kind' }, make('th', {
                scope: 'rowgroup', className: 'left', colSpan: columns.length,
            }, make('bdi', {}, short(kind, 60)), make('span', { className: 'soft' },
                ` ${inAll(kind, list)}`))),
            ...list.slice(0, textOrder.shown).flatMap((span) => textRow(span, columns)),
        ),
    );
    const longest = Math.max(0, ...kinds.map(([, list]) => list.length));
    node.replaceChildren(make(
        'div',
        { className: 'list texts', tabIndex: -1 },
        make('div', { className: 'more' }, `${plural(n, 'text')}`
            + `${matches.names ? ', matching' : ''}`, ...statementLines()
                .slice(0, MOST_LINES).map((line) => make('div', { className: 'soft' }, line))),
        make('table', {},
            make('thead', {}, make('tr', {}, ...headCells(columns, textOrder, by, again))),
            ...bodies),
        longest > textOrder.shown
            ? make('div', { className: 'more' }, button('Show more', () =>
                again({ shown: textOrder.shown + PAGE }, '#more'), { id: 'more' }))
            : '',
    ));
    node.firstChild.scrollTop = top;
}

redraw.table = () => {
    $('subs').setAttribute('aria-label', state.texts ? 'Details' : 'Subs');
    if (state.texts) drawTexts();
    else drawTable();
};
