// The first page of the source view: files, subs and lines.

import { $, button, make } from '../base/elements.mjs';
import { sum } from '../base/lists.mjs';
import { grouped, percent, plural, short } from '../base/words.mjs';
import {
    fileName, fileTotals, hottest, lineCosts, linesHave, stateOf, textOf, wholeOf,
} from '../model/lines.mjs';
import { matches } from '../model/matches.mjs';
import { amount, signed } from '../model/numbers.mjs';
import { filePairs, isOn } from '../model/pairs.mjs';
import { last, metric, profile, real, sideName } from '../model/profile.mjs';
import { allSubs, heaviest } from '../model/subs.mjs';
import { heat } from '../draw/colours.mjs';
import { anchor, openTable, subLink } from '../act/open.mjs';
import { foundLines, sourceMatches, visible } from './found.mjs';
import { changeCell } from './table.mjs';

const fileOrder = { sort: 'self', down: true, sorted: false };
const FILE_COLUMNS = [
    ['name', 'File'],
    ['self', 'Self'],
    ['part', '%'],
    ['count', 'Statements'],
    ['calls', 'Calls'],
    ['subs', 'Subs'],
];

const TWO_COLUMNS = () => [
    ['name', 'File'],
    ['was', sideName(0)],
    ['self', sideName(1)],
    ['change', 'Difference'],
    ['count', 'Statements'],
];

// Returns the rows of the list, with totals.
function fileRows(side) {
    if (profile.diff)
        return filePairs().filter(
            ({ file, self, was }) => lineCosts.files[file].name || self || was,
        );
    return fileTotals(side)
        .map((total, file) => ({ ...total, file }))
        .filter(({ file, self, count, subs }) =>
            lineCosts.files[file].name === '' ? self || count : subs || isOn(file, side));
}

export function drawOverview() {
    const side = last(),
        list = fileRows(side),
        whole = wholeOf(side),
        node = $('sources'),
        had = node.querySelector('.files');
    const top = had ? had.scrollTop : 0,
        detail = lineCosts.detail[side],
        name = ({ file }) => lineCosts.files[file].name;
    const test = matches.test,
        shown = test
            ? list.filter((row) => test(name(row)) || sourceMatches.byFile.has(row.file))
            : list,
        way = fileOrder.down ? -1 : 1,
        key =
            fileOrder.sort === 'part'
                ? 'self'
                : profile.diff
                    && !profile.relative
                    && fileOrder.sort === 'self'
                    && !fileOrder.sorted
                  ? 'change'
                  : fileOrder.sort;
    const value = (row) => (key === 'change' ? Math.abs(row.change) : row[key]);
    shown.sort(
        (a, b) =>
            (key === 'name' ? 0 : (value(a) - value(b)) * way)
            || (name(a) < name(b) ? -1 : 1) * (key === 'name' ? way : 1),
    );
    const head = (profile.diff ? TWO_COLUMNS() : FILE_COLUMNS).map(([id, label]) => {
        const on = id === (key === 'change' ? key : fileOrder.sort);
        const act = () => {
            Object.assign(fileOrder, {
                sort: id,
                sorted: true,
                down: on ? !fileOrder.down : id !== 'name',
            });
            drawOverview();
            node.querySelector(`[data-key=${id}]`).focus();
        };
        return make(
            'th',
            {
                scope: 'col',
                className: id === 'name' ? 'left' : `of-${id}`,
                ...(on && { 'aria-sort': fileOrder.down ? 'descending' : 'ascending' }),
            },
            button(label + (on ? (fileOrder.down ? ' \u25be' : ' \u25b4') : ''), act, {
                'data-key': id,
            }),
        );
    });
    const row = ({ file: f, self, was, change, count, calls, subs: n }) => {
        const state = stateOf(f), share = self / whole;
        return make(
            'tr',
            {},
            make(
                'td',
                { className: 'left' },
                make(
                    'div',
                    { className: 'path' },
                    anchor(make('bdi', {}, short(fileName(f))), f, 0, {
                        title: short(fileName(f), 1000),
                    }),
                    /^(?:changed|gone|kept out|newer)$/.test(state)
                        ? make('span', { className: 'state' }, state)
                        : '',
                    sourceMatches.byFile.has(f)
                        ? make(
                              'span',
                              { className: 'soft' },
                              plural(sourceMatches.byFile.get(f), 'line'),
                          )
                        : '',
                ),
            ),
            ...(profile.diff
                ? [
                      make('td', {}, was ? amount(real(was, 0)) : ''),
                      make('td', {}, self ? amount(self) : ''),
                      changeCell(change, change ? signed(change) : ''),
                      make('td', { className: 'of-count' }, detail && count ? grouped(count) : ''),
                  ]
                : [
                      make('td', {}, self ? amount(self) : ''),
                      make('td', { className: `h${heat(share)}` }, self ? percent(share) : ''),
                      make('td', { className: 'of-count' }, detail && count ? grouped(count) : ''),
                      make('td', { className: 'of-calls' }, calls ? grouped(calls) : ''),
                      make('td', { className: 'of-subs' }, n ? grouped(n) : ''),
                  ]),
        );
    };
    const files = make(
        'div',
        { className: 'files', tabIndex: -1 },
        make(
            'h2',
            {},
            test
                ? `Files: ${grouped(shown.length)} of ${grouped(list.length)}`
                : `Files: ${grouped(list.length)}`,
        ),
        make(
            'table',
            {},
            make('thead', {}, make('tr', {}, ...head)),
            make('tbody', {}, ...shown.map(row)),
        ),
    );
    node.replaceChildren(
        make('p', { className: 'sum' }, inAll(side)),
        make(
            'div',
            { className: 'overview' },
            files,
            make('div', { className: 'tops' }, ...foundLines(), ...topSubs(), ...topLines(side)),
        ),
    );
    files.scrollTop = top;
}

// Returns "12 ms user+system time, 1,234 statements and 56 calls in 7 files".
function inAll(side) {
    const totals = fileTotals(side),
        of = (key) => sum(totals.map((total) => total[key])),
        detail = lineCosts.detail[side];
    // Sampled profiles have neither of these counts.
    const counts = [
        detail && of('count') ? plural(of('count'), 'statement') : '',
        allSubs().calls ? plural(of('calls'), 'call') + ' of subs' : '',
    ].filter(Boolean);
    const where = `${counts.length ? ': ' : ''}${counts.join(' and ')} in `
        + `${plural(lineCosts.files.filter(({ name }) => name !== '').length, 'file')}`;
    const before = profile.diff ? `${amount(real(wholeOf(0), 0))} \u2192 ` : '';
    const label = metric().unit === 's' ? metric().label : '';
    const lines = [
        'Lines have no costs of their own: record with lines to see them.',
        'Lines have counts, and no times: recorded with lines=count.',
        '',
    ][detail || 0];
    return `${before}${amount(wholeOf(side))} ${label}${where}. ${lines}`;
}

function topSubs() {
    const table = allSubs(),
        side = last(),
        whole = wholeOf(side),
        list = heaviest(table, (sub) => !(matches.names && !matches.names[sub]));
    const rows = list
        .slice(0, 20)
        .map((sub) =>
            make(
                'tr',
                {},
                make('td', { className: 'left' }, subLink(sub)),
                ...(profile.diff
                    ? [
                          make('td', {}, amount(real(table.self[0][sub], 0))),
                          make('td', {}, amount(table.self[1][sub])),
                          profile.relative
                              ? make('td')
                              : changeCell(
                                    table.self[1][sub] - table.self[0][sub],
                                    signed(table.self[1][sub] - table.self[0][sub]),
                                ),
                      ]
                    : [
                          make('td', {}, table.calls ? grouped(table.calls[side][sub]) : ''),
                          make(
                              'td',
                              { className: `h${heat(table.self[side][sub] / whole)}` },
                              amount(table.self[side][sub]),
                          ),
                          make('td', {}, amount(table.total[side][sub])),
                      ]),
            ),
        );
    return [
        make(
            'h2',
            {},
            profile.diff && !profile.relative ? 'Subs, by difference of self ' : 'Subs, by self ',
            button(`All ${grouped(list.length)}`, () => openTable(true)),
        ),
        make(
            'table',
            {},
            make(
                'thead',
                {},
                make(
                    'tr',
                    {},
                    ...(profile.diff
                        ? ['Sub', sideName(0), sideName(1), 'Difference']
                        : ['Sub', 'Calls', 'Self', 'Inclusive']
                    ).map((text) =>
                        make('th', { scope: 'col', className: text === 'Sub' ? 'left' : '' }, text),
                    ),
                ),
            ),
            make('tbody', {}, ...rows),
        ),
    ];
}

function topLines(side) {
    if (!linesHave(side) || profile.diff) return [];
    const whole = wholeOf(side),
        list = hottest(side, 20),
        rows = list.map(({ file, line, self, count }) => {
            const code = make('code', {}),
                place = `${lineCosts.files[file].name.replace(/^.*\//s, '')}:${line}`;
            textOf(file).then((lines) => {
                if (lines) code.append(...visible((lines[line - 1] || '').trim().slice(0, 200)));
            });
            return make(
                'tr',
                {},
                make(
                    'td',
                    { className: 'left' },
                    anchor(short(place, 60), file, line, { title: `${fileName(file)}:${line}` }),
                    ' ',
                    code,
                ),
                make('td', {}, count ? grouped(count) : ''),
                make('td', { className: `h${heat(self / whole)}` }, amount(self)),
            );
        });
    return [
        make('h2', {}, 'Lines, by self'),
        make(
            'table',
            {},
            make(
                'thead',
                {},
                make(
                    'tr',
                    {},
                    ...['Line', 'Count', 'Self'].map((text) =>
                        make(
                            'th',
                            { scope: 'col', className: text === 'Line' ? 'left' : '' },
                            text,
                        ),
                    ),
                ),
            ),
            make('tbody', {}, ...rows),
        ),
    ];
}
