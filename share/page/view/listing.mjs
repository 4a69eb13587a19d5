// Shows one file, with the costs of its lines beside them.
//
// All rows of a file have the same height, so only the visible ones are in the document.

import { $, button, make } from '../base/elements.mjs';
import { grouped, percent, plural, short } from '../base/words.mjs';
import { perlParts } from '../data/perl.mjs';
import { costAt, fileName, linesHave } from '../model/lines.mjs';
import { matches } from '../model/matches.mjs';
import { amount } from '../model/numbers.mjs';
import { metric, profile, real, state } from '../model/profile.mjs';
import { costOf, makeRows, openFile, subAt } from '../model/rows.mjs';
import { allSubs } from '../model/subs.mjs';
import { display, heat } from '../draw/colours.mjs';
import { remember } from '../act/address.mjs';
import { anchor, openSub, subLink, toGraph } from '../act/open.mjs';
import { visible } from './found.mjs';

export const ROW = 19;                // CSS pixels
export const LONG = 2000;             // characters of a line that are shown at first
const MOST_HITS = 1000;               // of the search, in a line

// Returns the gutter of two sides: the values of both, and their changes.
function gutterOfTwo(line, a, b, sign) {
    const exact = linesHave(1) && linesHave(0),
        key = exact ? 'self' : 'count',
        show = (v) => (exact ? amount(v) : grouped(v)),
        of = (cost, which) => (cost ? cost[which] : 0);
    const cell = (name, text, way = 0) =>
        make('span', { className: `c-${name}${way > 0 ? ' up' : way < 0 ? ' down' : ''}` }, text);
    const change = (which, form) => {
        const d = of(b, which) - of(a, which);
        return profile.relative || !d ? ['', 0] : [(d > 0 ? '+' : '') + form(d), d];
    };
    const number =
        line > 0
            ? anchor(String(line), openFile.file, line, { className: 'c-line', tabIndex: -1 })
            : make('span', { className: 'c-line' }, sign);
    return make(
        'span',
        { className: 'gutter' },
        cell('count', of(a, key) ? (exact ? amount(real(of(a, key), 0)) : show(of(a, key))) : ''),
        cell('self', of(b, key) ? show(of(b, key)) : ''),
        cell('inclusive', ...change(key, show)),
        cell('share', ...change('incl', amount)),
        number,
    );
}

const oldCost = (old) =>
    old > 0 && openFile.before.costs.has(old) ? costAt(0, openFile.before.costs.get(old)) : null;

function gutter(line, cost) {
    if (openFile.before)
        return gutterOfTwo(line, oldCost(line > 0 ? openFile.before.oldOf(line) : 0), cost, '');
    const { whole, side } = openFile,
        share = cost ? cost.self / whole : 0,
        all = cost ? cost.incl / whole : 0,
        cell = (name, text, hot = 0) => make('span', { className: `c-${name} h${hot}` }, text);
    const number =
        line > 0
            ? anchor(String(line), openFile.file, line, { className: 'c-line', tabIndex: -1 })
            : make('span', { className: 'c-line' });
    const exact = linesHave(side);
    return make(
        'span',
        { className: 'gutter' },
        cell('count', cost && cost.count ? grouped(cost.count) : ''),
        cell('self', cost && exact && cost.self ? amount(cost.self) : '', heat(share)),
        cell('inclusive', cost && cost.incl ? amount(cost.incl) : '', heat(all)),
        cell('share', cost && exact && cost.self ? percent(share) : '', heat(share)),
        number,
    );
}

// Returns the coloured parts of a line of the file that is open.
function partsOf(line) {
    if (!openFile.syntax || openFile.syntax.lines !== openFile.lines)
        openFile.syntax = { lines: openFile.lines, parts: perlParts(openFile.lines) };
    return openFile.syntax.parts[line - 1] || [];
}

// Returns the beginning of a line as nodes, in colours. What was searched is marked; a match that
// is longer than a part is marked in pieces.
function coloured(text, line) {
    if (!openFile.lines || line < 1) return visible(text, matches.mark);
    const hits = [...(matches.mark ? text.matchAll(matches.mark) : [])]
        .filter(([found]) => found)
        .map((found) => [found.index, found.index + found[0].length]);
    const edges = new Set([0, text.length]);
    for (const [from, to] of [...partsOf(line), ...hits.slice(0, MOST_HITS)])
        for (const edge of [from, to]) if (edge < text.length) edges.add(edge);
    const list = [...edges].sort((a, b) => a - b), nodes = [];
    const parts = partsOf(line);
    let part = 0, hit = 0;
    for (let k = 0; k + 1 < list.length; k++) {
        const [from, to] = [list[k], list[k + 1]];
        while (part < parts.length && parts[part][1] <= from) part++;
        while (hit < hits.length && hits[hit][1] <= from) hit++;
        const inPart = part < parts.length && parts[part][0] <= from,
            inHit = hit < hits.length && hit < MOST_HITS && hits[hit][0] <= from,
            plain = visible(text.slice(from, to)),
            marked = inHit ? [make('mark', {}, ...plain)] : plain;
        nodes.push(
            ...(inPart ? [make('span', { className: `s-${parts[part][2]}` }, ...marked)] : marked),
        );
    }
    return nodes;
}

// Returns "3 calls, 12 ms".
const costOfCalls = (calls, value) =>
    (calls ? plural(calls, 'call') : '')
    + (value && metric().key !== 'calls' ? `, ${amount(value)}` : '');

const DRAW = {
    line({ line }) {
        const text = openFile.lines && line > 0 ? (openFile.lines[line - 1] ?? '') : '',
            range = openFile.ranges.find(
                (r) => r.line === line && r.end > r.line && profile.facts.kinds[r.sub] !== 5,
            ),
            all = openFile.wide.has(line);
        const code = make(
            'span',
            { className: 'code' },
            ...coloured(all ? text : text.slice(0, LONG), line),
        );
        if (text.length > LONG && !all) {
            code.append(button(`\u2026 ${grouped(text.length - LONG)} characters more`, () => {
                openFile.wide.add(line);
                drawRows();
            }, { className: 'link' }));
        }
        const below = openFile.rows[openFile.at.get(line + 1)],
            shut = !!below && below.kind === 'fold';
        const fold = range
            ? button(shut ? '\u25b8' : '\u25be', () => foldSub(range, !shut), {
                  className: 'fold',
                  'aria-expanded': String(!shut),
                  'aria-label': `Fold ${short(profile.names[range.sub], 99)}`,
                  tabIndex: -1,
              })
            : '';
        const fresh = openFile.before && openFile.before.to && !openFile.before.to[line - 1];
        return [
            gutter(line, costOf(line)),
            make('span', { className: `twist${fresh ? ' up' : ''}` }, fold || (fresh ? '+' : '')),
            code,
        ];
    },
    gone({ line }) {
        return [
            gutterOfTwo(0, oldCost(line), null, `(${line})`),
            make('span', { className: 'twist down' }, '\u2212'),
            make(
                'span',
                { className: 'code' },
                ...visible(openFile.before.lines[line - 1].slice(0, LONG)),
            ),
        ];
    },
    call({ line, call: { sub, calls, value, was } }) {
        if (was) {
            const both = (a, b, show) => (a === b ? show(b) : `${show(a)} \u2192 ${show(b)}`);
            return [
                ...note('\u2192', line),
                subLink(sub),
                make(
                    'span',
                    { className: 'told' },
                    `${both(was.calls, calls, grouped)} call`
                    + `${calls === 1 && was.calls === 1 ? '' : 's'}`,
                ),
                make(
                    'span',
                    {
                        className: 'told '
                            + `${value > was.value ? 'up' : value < was.value ? 'down' : ''}`,
                    },
                    value || was.value ? both(was.value, value, amount) : '',
                ),
            ];
        }
        const times = calls ? plural(calls, 'call') : '',
            spent = value && metric().key !== 'calls' ? `spent ${amount(value)}` : '',
            isMean = value && calls > 1 && metric().unit === 's';
        const before = [spent, times && `${spent ? 'making ' : ''}${times}`].filter(Boolean);
        return [
            ...note('\u2192', line),
            `${before.join(' ')}${times ? ' to ' : ' in '}`,
            subLink(sub),
            isMean ? `, avg ${amount(value / calls)}` : '',
        ];
    },
    caller({ line: here, call: { file, line, sub, calls, value } }) {
        const inside = file === openFile.file ? subAt(line) : -1,
            place =
                sub !== undefined
                    ? ''
                    : file === openFile.file
                      ? `line ${line}`
                      : `${short(fileName(file).replace(/^.*\//s, ''), 60)}:${line}`;
        const from =
            sub !== undefined
                ? subLink(sub)
                : line > 0
                  ? anchor(place, file, line, { title: `${fileName(file)}:${line}` })
                  : make('span', {}, fileName(file));
        if (inside >= 0) from.append(` in ${short(profile.names[inside], 200)}`);
        return [
            ...note('\u2190', here),
            'called from ',
            from,
            make(
                'span',
                { className: 'told' },
                costOfCalls(calls, value),
            ),
        ];
    },
    sub({ line, sub }) {
        const table = allSubs(),
            { side } = openFile,
            both = (lists, show) =>
                openFile.before
                    ? [
                          ...new Set(
                              lists.map((list, k) =>
                                  show(k || show === grouped ? list[sub] : real(list[sub], 0)),
                              ),
                          ),
                      ].join(' \u2192 ')
                    : show(lists[side][sub]);
        const words = [
            table.calls
                ? `${both(table.calls, grouped)} call`
                    + `${!openFile.before && table.calls[side][sub] === 1 ? '' : 's'}`
                : '',
            `self ${both(table.self, amount)}`,
            `inclusive ${both(table.total, amount)}`
            + `${openFile.before ? '' : ` (${percent(table.total[side][sub] / openFile.whole)})`}`,
        ];
        return [
            ...note('', line),
            make('bdi', { className: 'name' }, short(profile.names[sub], 200)),
            make('span', { className: 'told' }, words.filter(Boolean).join(', ')),
            button('Graph', () => toGraph(sub), {
                className: 'link',
                title: 'Zooms to its widest frame (g)',
            }),
            button('Table', () => openSub(sub), {
                className: 'link',
                title: 'Its callers and callees (s)',
            }),
        ];
    },
    more({ line, n, key }) {
        return [...note('', line), button(`and ${grouped(n)} more`, () => {
            openFile.more.add(key);
            relist();
        }, { className: 'link' })];
    },
    fold({ line, to }) {
        let self = 0, count = 0;
        for (let k = line; k <= to; k++) {
            const cost = costOf(k);
            if (!cost) continue;
            self += cost.self;
            count += cost.count;
        }
        const cost = count || self ? { count, self, incl: 0 } : null;
        return [
            gutter(0, cost),
            make('span', { className: 'twist' }),
            button(
                `\u22ef ${plural(to - line + 1, 'line')}`,
                () => {
                    openFile.opened.add(line);
                    for (const range of openFile.ranges)
                        if (range.line + 1 === line) openFile.shut.delete(range.line);
                    relist(line - 1);
                },
                { className: 'link', 'aria-expanded': 'false' },
            ),
        ];
    },
};

// Returns the gutter of a note, and the indentation of its line.
const note = (sign, line) => {
    const room =
        openFile.lines && line > 0 ? /^\s{0,40}/.exec(openFile.lines[line - 1] || '')[0] : '';
    return [
        make('span', { className: 'gutter note' }, make('span', {}, sign)),
        make('span', { className: 'twist' }),
        make('span', {}, room),
    ];
};

function foldSub({ line }, shut) {
    if (shut) openFile.shut.add(line);
    else {
        openFile.shut.delete(line);
        openFile.opened.add(line + 1);
    }
    if (shut) openFile.opened.delete(line + 1);
    relist(line);
}

export const firstRow = () =>
    display.printing ? 0 : Math.max(0, Math.floor(openFile.scroll.scrollTop / ROW / 8) * 8 - 8);

// Draws the visible rows, and a few more on both sides.
export function drawRows() {
    const { scroll, sheet, rows } = openFile;
    if (!scroll || !scroll.isConnected) return;
    const tall = scroll.clientHeight || 600,
        from = (openFile.from = firstRow()),
        to = display.printing
            ? Math.min(rows.length, 30000)
            : Math.min(rows.length, from + Math.ceil(tall / ROW) + 24);
    const list = [];
    for (let k = from; k < to; k++) {
        const row = rows[k], here = row.kind === 'line' && row.line === state.line;
        list.push(
            make(
                'div',
                {
                    className: `row r-${row.kind}${here ? ' here' : ''}`,
                    'data-row': k,
                    ...(row.kind === 'line' && { 'data-line': row.line }),
                    ...(here && { 'aria-current': 'true' }),
                },
                ...DRAW[row.kind](row),
            ),
        );
    }
    const focus = document.activeElement && sheet.contains(document.activeElement);
    sheet.replaceChildren(make('div', { className: 'drawn' }, ...list));
    sheet.firstChild.style.top = from * ROW + 'px';
    if (focus) scroll.focus({ preventScroll: true });
}

const relist = (keepLine = state.line) => {
    const before = openFile.at.get(keepLine),
        y = before === undefined ? 0 : before * ROW - openFile.scroll.scrollTop;
    layRows();
    if (before !== undefined && openFile.at.has(keepLine))
        openFile.scroll.scrollTop = openFile.at.get(keepLine) * ROW - y;
    drawRows();
};

export function foldBy(way) {
    openFile.fold = way;
    openFile.opened.clear();
    openFile.shut.clear();
    $('fold').value = way;
    relist();
}

export function showNotes(on) {
    openFile.notes = on;
    $('notes').setAttribute('aria-pressed', String(on));
    relist();
}

export function layRows() {
    makeRows();
    openFile.sheet.style.height = openFile.rows.length * ROW + 'px';
}

export function reveal(line) {
    const { scroll } = openFile;
    let row = openFile.at.get(line);
    if (row === undefined) return;
    if (openFile.rows[row].kind === 'fold') {
        openFile.opened.add(openFile.rows[row].line);
        layRows();
        row = openFile.at.get(line);
    }
    // A sub's callers are above its first line.
    let first = row;
    while (first > 0 && openFile.rows[first - 1].line === line && row - first < 8) first--;
    const y = first * ROW, tall = scroll.clientHeight || 600;
    if (y < scroll.scrollTop + ROW || row * ROW + 2 * ROW > scroll.scrollTop + tall)
        scroll.scrollTop = Math.max(0, y - Math.min(tall / 4, 8 * ROW));
}

export function toLine(line, step = false) {
    state.line = line;
    reveal(line);
    drawRows();
    remember(step);
    speakLine(line);
}

function speakLine(line) {
    const cost = costOf(line),
        words = cost
            ? [
                  cost.count ? plural(cost.count, 'time') : '',
                  cost.self ? `self ${amount(cost.self)}` : '',
                  cost.incl ? `inclusive ${amount(cost.incl)}` : '',
              ]
                  .filter(Boolean)
                  .join(', ')
            : 'no cost';
    $('spoken').textContent =
        `Line ${line}. ${words}. `
        + `${openFile.lines ? short(openFile.lines[line - 1] || '', 200) : ''}`;
}

// Goes to the costliest lines of the file, one after the other.
export function toHot(by) {
    if (state.file < 0) return;
    const all = [...openFile.costs]
            .filter(([line]) => line > 0)
            .map(([line, i]) => ({ line, ...costAt(openFile.side, i) })),
        key = all.some(({ self }) => self > 0) ? 'self' : 'incl';
    const list = all
        .filter((cost) => cost[key] > 0)
        .sort((a, b) => b[key] - a[key] || a.line - b.line);
    if (!list.length) return;
    const at =
        openFile.hot === state.line
            ? list.findIndex(({ line }) => line === state.line)
            : by > 0
              ? -1
              : 0;
    openFile.hot = list[(at + by + list.length) % list.length].line;
    toLine(openFile.hot);
}
