// Shows the table of subs, and one sub's callers and callees.

import { $, button, make } from '../base/elements.mjs';
import { keep, sum } from '../base/lists.mjs';
import {
    grouped, inPoints, percent, plural, short, withoutFolder,
} from '../base/words.mjs';
import { ranks } from '../data/tree.mjs';
import { callsOf, lineCosts, loadLines } from '../model/lines.mjs';
import { matches } from '../model/matches.mjs';
import { COUNT, amount, signed } from '../model/numbers.mjs';
import {
    hasLines, isSpan, last, metric, partsOf, placeOf, profile, real, sideName, state,
} from '../model/profile.mjs';
import { chained } from '../model/steps.mjs';
import { around, subs } from '../model/subs.mjs';
import { openSourceOf, openSub } from '../act/open.mjs';
import { search } from '../act/search.mjs';
import { zoomSub } from '../act/zoom.mjs';

const PAGE = 200;

export const tableOrder = { sort: 'self', down: true, shown: PAGE };

const isText = (key) => key === 'name' || key === 'place';

// Returns the columns that this profile has: { key, label, value of a sub, text of a value, change
// }.
export function tableColumns() {
    const table = subs(),
        list = [{ key: 'name', label: 'Sub', value: (sub) => profile.rank[sub], show: null }];
    const whole = table.self.map(sum),
        add = (key, label, value, show, change, timed) =>
            list.push({ key, label, value, show, change, timed });
    for (const [key, label] of [
        ['self', 'Self'],
        ['total', 'Inclusive'],
        ['calls', 'Calls'],
        ['ops', 'Ops'],
    ]) {
        const own = table[key],
            timed = key === 'self' || key === 'total',
            unit = timed ? metric() : COUNT,
            show = (v) => amount(v, unit);
        if (!own) continue;
        if (!profile.diff) {
            add(key, label, (sub) => own[0][sub], show, false, timed);
            if (timed)
                add(
                    key + 'part',
                    '%',
                    (sub) => own[0][sub],
                    (v) => percent(v / whole[0]),
                );
            continue;
        }
        own.forEach((values, side) =>
            add(
                key + side,
                `${label} ${sideName(side)}`,
                (sub) => (timed ? real(values[sub], side) : values[sub]),
                show,
                false,
                timed,
            ),
        );
        const share = profile.relative && timed;
        add(
            key,
            `${label} difference`,
            (sub) => own[1][sub] - own[0][sub],
            (v) => (share ? inPoints(v / (whole[1] || 1)) : signed(v, unit)),
            true,
            timed,
        );
    }
    if (table.calls && !profile.diff) {
        const [total] = table.total, [calls] = table.calls;
        const each = (sub) => (calls[sub] ? total[sub] / calls[sub] : 0);
        add('each', 'Per call', each, (v) => (v ? amount(v) : ''), false, true);
    }
    const { places, files } = profile.facts;
    if (places && places.some(Boolean)) {
        const order = ranks(files);
        add(
            'place',
            'Source',
            (sub) => (places[sub] ? order[places[sub][0]] * 1e7 + places[sub][1] : Infinity),
            null,
        );
    }
    return list;
}

// Returns sorted subs. Differences are sorted by size, whatever their sign.
export function sortedSubs({ key, value, change }) {
    const { used } = subs(),
        list = [],
        keys = new Float64Array(profile.names.length),
        way = tableOrder.down !== isText(key) ? -1 : 1;
    for (let sub = 0; sub < keys.length; sub++) {
        if (used[sub] === 0 || (matches.names && matches.names[sub] === 0)) continue;
        keys[sub] = change && tableOrder.down ? Math.abs(value(sub)) : value(sub);
        list.push(sub);
    }
    return list.sort((a, b) =>
        keys[a] === keys[b] ? profile.rank[a] - profile.rank[b] : (keys[a] - keys[b]) * way,
    );
}

// Makes a name whose package is cut first, from its beginning, because the end distinguishes subs.
export function named(sub) {
    const [of, text] = partsOf(sub),
        rest = short(isSpan(sub) ? text : withoutFolder(text));
    return make(
        'span',
        { className: 'cut' },
        of ? make('span', { className: 'pkg' }, make('bdi', {}, short(of))) : '',
        make('bdi', { className: 'bare' }, rest),
    );
}

// Returns "File.pm:12" of "/usr/lib/My/File.pm:12".
export const shortPlace = (sub) => placeOf(sub).replace(/^.*\//s, '');

export const nameCell = (sub) =>
    make(
        'td',
        { className: 'left' },
        button(named(sub), () => openSub(sub), { title: short(profile.names[sub], 1000) }),
    );

const placeCell = (sub) =>
    make(
        'td',
        { className: 'place', title: placeOf(sub) },
        placeOf(sub) && hasLines()
            ? button(shortPlace(sub), () => openSourceOf(sub))
            : shortPlace(sub),
    );

export const changeCell = (v, text) =>
    make('td', { className: v > 0 ? 'up' : v < 0 ? 'down' : '' }, text);

// Returns the cells of a row.
export const cellsOf = (sub, columns) =>
    columns.map(({ key, value, show, change }) => {
        if (key === 'name') return nameCell(sub);
        if (key === 'place') return placeCell(sub);
        return changeCell(change ? value(sub) : 0, show(value(sub)));
    });

// Returns the heads of columns, which sort the table: again(change, selector) changes its order,
// draws it, and gives the focus to the head.
export const headCells = (columns, order, by, again) =>
    columns.map(({ key, label }) => {
        const down = order.down !== isText(key), on = key === by.key;
        const sort = button(
            label + (on ? (down ? ' \u25be' : ' \u25b4') : ''),
            () =>
                again(
                    { down: on ? !order.down : true, sort: key, shown: PAGE },
                    `[data-key=${key}]`,
                ),
            { 'data-key': key },
        );
        return make(
            'th',
            {
                scope: 'col',
                className: isText(key) ? 'left' : '',
                ...(on && { 'aria-sort': down ? 'descending' : 'ascending' }),
            },
            sort,
        );
    });

export function drawTable() {
    const node = $('subs'), was = node.querySelector('.list'), top = was ? was.scrollTop : 0;
    node.hidden = !state.table || state.source;
    if (node.hidden) return;
    const columns = tableColumns(),
        by = columns.find(({ key }) => key === tableOrder.sort) || columns[1],
        list = sortedSubs(by);
    const again = (change, focus) => {
        Object.assign(tableOrder, change);
        drawTable();
        if (node.querySelector(focus)) node.querySelector(focus).focus();
    };
    const head = headCells(columns, tableOrder, by, again);
    const rows = list.slice(0, tableOrder.shown).map((sub) =>
        make(
            'tr',
            { className: sub === state.sub ? 'here' : '' },
            ...cellsOf(sub, columns),
        ),
    );
    const filter = make('input', {
        type: 'search',
        id: 'filter',
        value: state.q,
        placeholder: 'Filter subs (regex)',
        'aria-label': 'Filter subs: the same search as above',
    });
    filter.oninput = () => {
        $('q').value = filter.value;
        search(filter.value);
        $('filter').focus();
        $('filter').setSelectionRange(1e6, 1e6);
    };
    const rest = Math.min(PAGE, list.length - tableOrder.shown);
    const box = make(
        'div',
        { className: 'list', tabIndex: -1 },
        make(
            'div',
            { className: 'more' },
            filter,
            `${grouped(Math.min(tableOrder.shown, list.length))} of ${plural(list.length, 'sub')}`
            + `${matches.names ? ', matching' : ''}`,
        ),
        make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...rows)),
        rest > 0
            ? make(
                  'div',
                  { className: 'more' },
                  button(
                      `Show ${grouped(rest)} more`,
                      () => again({ shown: tableOrder.shown + PAGE }, '#more'),
                      { id: 'more' },
                  ),
              )
            : '',
    );
    node.replaceChildren(box, state.sub >= 0 ? nearTo(state.sub) : '');
    // Where a sub is called from is among the lines.
    if (state.sub >= 0 && hasLines() && !lineCosts.files) loadLines().then(drawTable);
    box.scrollTop = top;
}

// Returns "called 12 times from 3 places in 2 files, 14.6 us each", as far as it is known.
function calledFrom(sub) {
    const { calls, total } = subs(), side = last(), n = calls ? calls[side][sub] : 0;
    if (!(n > 0)) return '';
    const from = lineCosts.files ? callsOf(side, sub) : [],
        files = new Set(from.map(({ file }) => file)).size;
    const where = from.length
        ? ` from ${plural(from.length, 'place')} in ${plural(files, 'file')}` : '';
    return `called ${plural(n, 'time')}${where}, `
        + `${amount(real(total[side][sub], side) / n)} each`;
}

function nearTo(sub) {
    const { callers, callees } = keep(chained().kept, `around ${sub} ${state.metric}`, () =>
            around(sub),
        ),
        table = subs(),
        name = profile.names[sub];
    const values = (list) => list.map((v, side) => amount(real(v, side))).join(' \u2192 ');
    const of = (sums) => values(sums.map((own) => own[sub]));
    const line = ({ sub: other, total: [a, b], total, calls }) =>
        make(
            'tr',
            {},
            nameCell(other),
            make('td', {}, values(total)),
            profile.diff && !profile.relative ? changeCell(b - a, signed(b - a)) : '',
            calls
                ? make(
                      'td',
                      { className: 'soft' },
                      `${calls.map((v) => amount(v, COUNT)).join(' \u2192 ')} call`
                      + `${calls[last()] === 1 ? '' : 's'}`
                      + (calls[last()] > 1
                          ? `, ${amount(real(total[last()], last()) / calls[last()])} each` : ''),
                  )
                : '',
        );
    const part = (title, rows) => [
        make('h3', {}, rows.length > PAGE ? `${title}: ${PAGE} of ${grouped(rows.length)}` : title),
        make('table', {}, make('tbody', {}, ...rows.slice(0, PAGE).map(line))),
        rows.length ? '' : make('div', { className: 'soft' }, 'none'),
    ];
    const exactly = '^' + name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') + '$';
    return make(
        'div',
        { className: 'near' },
        make('h2', { className: 'name' }, short(name, 500)),
        make(
            'div',
            { className: 'soft' },
            `self ${of(table.self)} \u00b7 inclusive ${of(table.total)} ${placeOf(sub)}`,
        ),
        make('div', { className: 'soft' }, calledFrom(sub)),
        make(
            'div',
            { className: 'acts' },
            button('Search in graph', () => {
                $('q').value = exactly;
                search(exactly, true);
            }),
            button('Zoom to widest', () => zoomSub(sub)),
            placeOf(sub) && hasLines() ? button('Source', () => openSourceOf(sub)) : '',
            button('Close', () => openSub(-1)),
        ),
        ...part('Callers', callers),
        ...part('Callees', callees),
    );
}
