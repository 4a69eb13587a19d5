'use strict';

// The source view: navigation, and one file with the costs of its lines beside them.
//
// All rows of a file are as high, so only those that can be seen are in the document. A row is { kind, line, ... }: a line, a call
// from it, a sub that begins there, who calls that, or lines that are folded.

const ROW = 19, LONG = 2000, FEW = 5, CHEAP = 0.005;
const openFile = {
    file: -1, lines: null, rows: [], at: new Map(), fold: 'all', notes: true, opened: new Set(), shut: new Set(), more: new Set(), wide: new Set(),
    sort: 'self', down: true, turn: 0, ready: Promise.resolve(),
};

const fileName = (file) => lineCosts.files[file].name || '(place not known)';
const heat = (share) => (share >= 0.1 ? 5 : share >= 0.03 ? 4 : share >= 0.01 ? 3 : share >= 0.003 ? 2 : share >= 0.0005 ? 1 : 0);

// ---- navigation ----

const sourceLink = (file, line) => `${pack(lineCosts.files[file].name)}${line > 0 ? ':' + line : ''}`;

// Makes a link that can be copied or opened elsewhere; here it is followed without loading
// anything.
function anchor(text, file, line, options = {}, isSub = false) {
    const node = make('a', { href: link(sourceLink(file, line)), ...options }, text);
    node.onclick = (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
        event.preventDefault();
        openSource(true, file, line, true, isSub);
    };
    return node;
}

// Links a sub to its source, or, if that is unknown, to its row in the table.
function subLink(sub, options = {}) {
    const place = placeIn(sub), text = short(profile.names[sub]), title = short(profile.names[sub], 1000);
    if (place) return anchor(text, place.file, place.line, { title, className: 'sub', ...options }, true);
    return button(text, () => openSub(sub), { title: `${title}: in the table`, className: 'sub', ...options });
}

function placeIn(sub) {
    const place = lineCosts && profile.facts.places && profile.facts.places[sub], file = place ? lineCosts.number.get(profile.facts.files[place[0]]) : undefined;
    return file === undefined ? null : { file, line: place[1] };
}

// isSub: the line is a sub's first statement, and the view goes to its beginning.
function openSource(on, file = -1, line = 0, step = true, isSub = false) {
    say('');
    openFile.isSub = isSub;
    Object.assign(state, { source: on, file: on ? file : -1, line: on ? line : 0 });
    showViews();
    if (!on) {
        drawTable();
        refresh('boxes');
    }
    remember(step);
    return drawSource(true);
}

// Opens the source of a sub: of the one in the graph, or in the table.
async function openSourceOf(sub) {
    await loadLines();
    const place = placeIn(sub);
    if (place) openSource(true, place.file, place.line, true, true);
    else say(`${short(profile.names[sub], 120)}: the profile does not tell where it begins.`);
}

function showViews() {
    $('panes').hidden = state.source;
    $('subs').hidden = state.source || !state.table;
    $('calls').hidden = state.source || !state.calls;
    drawTimes();
    $('sources').hidden = !state.source;
    document.body.classList.toggle('sourced', state.source);
    $('q').placeholder = state.source ? 'Search sources (regex)' : 'Search subs (regex)';
}

// Draws what S says. `move`: also scrolls to its line.
function drawSource(move) {
    const turn = ++openFile.turn;
    const draw = async () => {
        if (!state.source) return;
        await loadLines();
        if (turn !== openFile.turn) return;
        if (state.lostFile !== undefined) {
            state.file = lineCosts.number.get(state.lostFile) ?? -1;
            if (state.file < 0 && state.lostFile !== '') say(`The file ${short(state.lostFile, 120)} is not in this profile.`);
            delete state.lostFile;
        }
        // A file that only the first side has is shown as it was there.
        const side = state.file >= 0 && !isOn(state.file, last()) && isOn(state.file, 0) ? 0 : last();
        const lines = state.file < 0 ? null : await textOf(state.file, side), before = state.file >= 0 && profile.diff && side ? await beforeOf(state.file) : null;
        if (turn !== openFile.turn) return;
        if (state.file < 0) drawOverview();
        else drawFile(lines, move, side, before);
        if (placedTree() !== profile.tree && lineCosts.detail.some(Boolean)) say('What lines cost is known of all processes and phases together: the sources show what subs cost.');
        toolbar();
        if (move) remember();
    };
    openFile.ready = draw().catch((error) => {
        say(`The lines in this file are damaged: ${error.message}.`);
        throw error;
    });
    return openFile.ready;
}

// ---- one file ----

// Returns what is wrong with the source, in words.
function trouble(state, lines) {
    const words = {
        changed: 'The file has changed since it was recorded, so that its text is left out: only lines with a cost are shown, by number.',
        gone: 'The source was not found when this page was made: only lines with a cost are shown. --symfs DIR tells where sources are.',
        'kept out': 'The source was left out when this page was made, as nothing shows that the profile was made of it: only lines with a cost are shown. --source-dir DIR includes what is below DIR.',
        generated: 'This code was generated: it has no file.', 'left out': 'The page was made without sources.',
        newer: 'The file was written to after the recording began: costs may stand beside other lines.',
    };
    return words[state] || (lines ? '' : 'There is no text of this file.');
}

// Returns where subs begin and end: [{ sub, line, end }] in order of lines.
function rangesOf(file, lines) {
    const list = lineCosts.files[file].subs.map(({ sub, line }) => ({ sub, statement: line, line: beginOf(lines, sub, line) })).sort((a, b) => a.line - b.line || profile.rank[a.sub] - profile.rank[b.sub]);
    list.forEach((range, i) => {
        const next = list.slice(i + 1).find(({ line, sub }) => line > range.line && !/__ANON__/.test(profile.names[sub]));
        range.end = lines ? endOf(lines, range.line, next ? next.line : lines.length + 1) : range.line;
    });
    return list;
}

function drawFile(lines, move, side, before) {
    const file = state.file, node = $('sources');
    if (openFile.file !== file) {
        for (const set of [openFile.opened, openFile.shut, openFile.more, openFile.wide]) set.clear();
        openFile.rows = [];
    }
    Object.assign(openFile, { file, lines, before, costs: linesOf(file, side), ranges: rangesOf(file, lines), side, whole: wholeOf(side) });
    const named = openFile.isSub && openFile.ranges.find(({ statement }) => statement === state.line);
    if (named) state.line = named.line;
    openFile.isSub = false;
    const total = fileTotals(side)[file], bad = [trouble(stateOf(file, side), lines), before && before.file >= 0 && before.guessed ? `Lines are paired by number, as the source of ${sideName(0)} is not here.` : '',
        profile.diff && !side ? `Only ${sideName(0)} has this file.` : ''].filter(Boolean).join(' ');
    const pick = make('select', { 'aria-label': 'Subs of this file' }, make('option', { value: '' }, plural(openFile.ranges.length, 'sub')),
        ...openFile.ranges.map(({ sub, line }) => make('option', { value: line }, `${short(profile.names[sub], 60)}  ${amount(allSubs().total[side][sub])}`)));
    pick.onchange = () => { if (pick.value) openSource(true, file, +pick.value); };
    const fold = make('select', { id: 'fold', 'aria-label': 'Folding', title: 'What is folded (z)' },
        ...[['all', 'all lines'], ['cheap', 'fold cheap lines'], ['subs', 'fold subs']].map(([value, text]) => make('option', { value }, text)));
    fold.value = openFile.fold;
    fold.onchange = () => foldBy(fold.value);
    const notes = button('Calls', () => showNotes(!openFile.notes), { id: 'notes', 'aria-pressed': String(openFile.notes), title: 'Calls and callers (x)' });
    const sheet = make('div', { className: 'sheet' }), scroll = make('div', { className: 'lines', id: 'lines', tabIndex: 0, role: 'application', 'aria-label': `Source of ${short(fileName(file), 200)}. Arrow keys move between lines, ? lists the keys.` }, sheet);
    scroll.onscroll = () => {
        cancelAnimationFrame(openFile.due);
        openFile.due = requestAnimationFrame(() => { if (openFile.from !== firstRow()) drawRows(); });
    };
    const words = before ? [profile.facts.sides[0], profile.facts.sides[1], 'Change', 'Inclusive', 'Line'] : ['Count', 'Self', 'Inclusive', 'Share', 'Line'];
    const head = ['count', 'self', 'inclusive', 'share', 'line'].map((name, k) => make('span', { className: `c-${name}`, title: words[k] }, before && k < 2 ? sideName(k) : words[k]));
    const facts = [total.self ? `self ${amount(total.self)} (${percent(total.self / openFile.whole)})` : '', lineCosts.detail[side] && total.count ? plural(total.count, 'statement') : '',
        total.calls ? plural(total.calls, 'call') : ''].filter(Boolean).join(' \u00b7 ');
    node.classList.toggle('two', !!before);
    node.classList.toggle('bare', !before && !lineCosts.detail[side]);
    node.replaceChildren(make('div', { className: 'bar filebar' }, button('\u2190 Files', () => openSource(true), { title: 'All files (0)' }),
        make('h2', {}, make('bdi', {}, fileName(file))), make('span', { className: 'soft facts' }, facts), make('span', { className: 'space' }), pick, fold, notes,
        button('Hottest', () => toHot(1), { title: 'The next one of the lines that cost most (h)' })),
    bad ? make('p', { className: 'bad' }, bad) : '', make('div', { className: 'row heads' }, make('span', { className: 'gutter' }, ...head)), scroll);
    Object.assign(openFile, { scroll, sheet });
    const chars = lines ? lines.reduce((most, line) => Math.max(most, Math.min(LONG, line.length + 7 * (line.split('\t').length - 1))), 0) : 0;
    sheet.style.minWidth = `${Math.max(40, chars) + 8}ch`;
    makeRows();
    if (move && state.line > 0) reveal(state.line);
    else if (move) scroll.scrollTop = 0;
    drawRows();
    if (move) scroll.focus({ preventScroll: true });
}

const redraw = (keepLine = state.line) => {
    const before = openFile.at.get(keepLine), y = before === undefined ? 0 : before * ROW - openFile.scroll.scrollTop;
    makeRows();
    if (before !== undefined && openFile.at.has(keepLine)) openFile.scroll.scrollTop = openFile.at.get(keepLine) * ROW - y;
    drawRows();
};

function foldBy(way) {
    openFile.fold = way;
    openFile.opened.clear();
    openFile.shut.clear();
    $('fold').value = way;
    redraw();
}

function showNotes(on) {
    openFile.notes = on;
    $('notes').setAttribute('aria-pressed', String(on));
    redraw();
}

const costOf = (line) => (openFile.costs.has(line) ? costAt(openFile.side, openFile.costs.get(line)) : null);

// Returns which lines a way of folding hides: a list of one flag for each.
function hidden(count) {
    const flags = new Uint8Array(count + 2), hide = (from, to, on) => flags.fill(on, from, to + 1), warm = openFile.whole * CHEAP;
    if (openFile.fold === 'cheap') {
        hide(1, count, 1);
        for (const [line, i] of openFile.costs) {
            const { self, incl } = costAt(openFile.side, i);
            if (Math.max(self, incl) >= warm) hide(Math.max(1, line - 1), Math.min(count, line + 1), 0);
        }
        for (const { sub, line } of openFile.ranges) if (allSubs().total[openFile.side][sub] >= warm) flags[line] = 0;
    } else if (openFile.fold === 'subs') {
        for (const { sub, line, end } of openFile.ranges) if (end > line && !/__ANON__|BEGIN/.test(profile.names[sub])) hide(line + 1, end, 1);
    }
    for (const { line, end } of openFile.ranges) if (openFile.shut.has(line)) hide(line + 1, end, 1);
    return flags;
}

function makeRows() {
    const { lines, costs, ranges } = openFile, rows = openFile.rows = [], count = lines ? lines.length : 0, beginning = new Map();
    // BEGIN blocks are called by perl itself: their costs are beside their lines.
    for (const range of ranges) if (profile.facts.kinds[range.sub] !== 5) keep(beginning, range.line, () => []).push(range);
    const known = [...new Set([...costs.keys(), ...beginning.keys()])].sort((a, b) => a - b), flags = lines ? hidden(count) : null;
    openFile.at = new Map();
    openFile.calls = new Map();
    const one = (line) => {
        for (const range of beginning.get(line) || []) rows.push({ kind: 'sub', line, ...range });
        if (openFile.notes) for (const range of beginning.get(line) || []) callerRows(rows, line, range.sub);
        openFile.at.set(line, rows.length);
        rows.push({ kind: 'line', line });
        if (openFile.notes && costs.has(line)) callRows(rows, line);
    };
    // Lines of the first side that are gone are shown where they were.
    const { before } = openFile;
    const least = openFile.fold === 'cheap' && !openFile.shut.size ? 3 : 1;
    let next = 1, open = 0;
    const gone = (until) => {
        for (; next < until; next++) {
            rows.push({ kind: 'gone', line: next });
            if (openFile.notes && before.costs.has(next)) for (const call of callsOfBoth(before.costs.get(next))) rows.push({ kind: 'call', line: 0, call });
        }
    };
    const ahead = before && before.to ? Array.from(before.to) : [];
    for (let k = count - 1; k >= 0 && before && before.to; k--) ahead[k] = ahead[k] || (k + 1 < count ? ahead[k + 1] : before.lines.length + 1);
    // These are costs whose line is unknown, and those after the end of a text that has changed.
    for (const line of lines ? known.filter((at) => at < 1) : known) one(line);
    for (let line = 1; line <= count; line++) {
        if (before && before.to) {
            gone(ahead[line - 1]);
            if (before.to[line - 1]) next = before.to[line - 1] + 1;
        }
        let to = line;
        while (line >= open && to <= count && flags[to] && (to === line || !openFile.opened.has(to))) to++;
        if (to - line < least || openFile.opened.has(line)) {
            open = Math.max(open, to);
            one(line);
            continue;
        }
        rows.push({ kind: 'fold', line, to: to - 1 });
        for (let k = line; k < to; k++) {
            openFile.at.set(k, rows.length - 1);
            if (before && before.to && before.to[k - 1]) next = before.to[k - 1] + 1;
        }
        line = to - 1;
    }
    if (before && before.to) gone(before.lines.length + 1);
    for (const line of lines ? known.filter((at) => at > count) : []) one(line);
    openFile.sheet.style.height = rows.length * ROW + 'px';
}

// Shows the first few of so many rows, and how many more there are.
function some(rows, count, key, row) {
    const all = openFile.more.has(key), most = all || count <= FEW + 1 ? count : FEW;
    for (let i = 0; i < most; i++) rows.push(row(i));
    if (most < count) rows.push({ ...row(0), kind: 'more', key, n: count - most });
}

// The calls are looked up when they are drawn.
function callRows(rows, line) {
    const { first } = lineCosts.sides[openFile.side], i = openFile.costs.get(line), before = openFile.before && openFile.before.costs.get(openFile.before.oldOf(line));
    const list = () => keep(openFile.calls, line, () => (openFile.before ? callsOfBoth(before, i) : callsFrom(openFile.side, i)));
    const n = openFile.before ? list().length : first[i + 1] - first[i];
    if (n) some(rows, n, `calls ${line}`, (k) => ({ kind: 'call', line, get call() { return list()[k]; } }));
}

function callsOfBoth(before, now) {
    const none = { calls: 0, value: 0 }, list = new Map((now === undefined ? [] : callsFrom(1, now)).map((call) => [call.sub, { ...call, was: none }]));
    for (const was of before === undefined ? [] : callsFrom(0, before)) keep(list, was.sub, () => ({ ...none, sub: was.sub })).was = was;
    return [...list.values()].sort((a, b) => Math.abs(b.value - b.was.value) - Math.abs(a.value - a.was.value) || b.calls - a.calls || profile.rank[a.sub] - profile.rank[b.sub]);
}

function callerRows(rows, line, sub) {
    const list = callsOf(openFile.side, sub), by = list.length ? null : neighbours();
    const add = (kind, key, of) => some(rows, of.length, `${key} ${sub}`, (k) => ({ kind, line, call: of[k] }));
    if (list.length) add('caller', 'callers', list);
    else {
        add('caller', 'callers', by.callers.get(sub) || []);
        add('call', 'callees', by.callees.get(sub) || []);
    }
}

function reveal(line) {
    const { scroll } = openFile;
    let row = openFile.at.get(line);
    if (row === undefined) return;
    if (openFile.rows[row].kind === 'fold') {
        openFile.opened.add(openFile.rows[row].line);
        makeRows();
        row = openFile.at.get(line);
    }
    // A sub's callers are above its first line.
    let first = row;
    while (first > 0 && openFile.rows[first - 1].line === line && row - first < 8) first--;
    const y = first * ROW, tall = scroll.clientHeight || 600;
    if (y < scroll.scrollTop + ROW || row * ROW + 2 * ROW > scroll.scrollTop + tall) scroll.scrollTop = Math.max(0, y - Math.min(tall / 4, 8 * ROW));
}

// ---- rows ----

const ODD = /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

// Returns text in which control characters and those that turn its direction are visible and have
// no effect. What `mark` matches is marked.
function visible(text, mark) {
    const plainly = (part) => {
        const nodes = [];
        let from = 0;
        for (const found of part.matchAll(ODD)) {
            const code = found[0].charCodeAt(0), shown = code < 256 ? '\\x' + code.toString(16).padStart(2, '0') : 'U+' + code.toString(16).toUpperCase().padStart(4, '0');
            nodes.push(part.slice(from, found.index), make('span', { className: 'odd' }, shown));
            from = found.index + 1;
        }
        return [...nodes, part.slice(from)];
    };
    if (!mark) return plainly(text);
    const nodes = [];
    let from = 0;
    for (const found of text.matchAll(mark)) {
        if (!found[0]) continue;
        nodes.push(...plainly(text.slice(from, found.index)), make('mark', {}, ...plainly(found[0])));
        from = found.index + found[0].length;
        if (nodes.length > 2000) break;
    }
    return [...nodes, ...plainly(text.slice(from))];
}

// Returns the gutter of two sides: what both have, and what has changed.
function gutterOfTwo(line, a, b, sign) {
    const exact = linesHave(1) && linesHave(0), key = exact ? 'self' : 'count', show = (v) => (exact ? amount(v) : grouped(v)), of = (cost, which) => (cost ? cost[which] : 0);
    const cell = (name, text, way = 0) => make('span', { className: `c-${name}${way > 0 ? ' up' : way < 0 ? ' down' : ''}` }, text);
    const change = (which, form) => {
        const d = of(b, which) - of(a, which);
        return profile.relative || !d ? ['', 0] : [(d > 0 ? '+' : '') + form(d), d];
    };
    const number = line > 0 ? anchor(String(line), openFile.file, line, { className: 'c-line', tabIndex: -1 }) : make('span', { className: 'c-line' }, sign);
    return make('span', { className: 'gutter' }, cell('count', of(a, key) ? (exact ? amount(real(of(a, key), 0)) : show(of(a, key))) : ''), cell('self', of(b, key) ? show(of(b, key)) : ''),
        cell('inclusive', ...change(key, show)), cell('share', ...change('incl', amount)), number);
}

const oldCost = (old) => (old > 0 && openFile.before.costs.has(old) ? costAt(0, openFile.before.costs.get(old)) : null);

function gutter(line, cost) {
    if (openFile.before) return gutterOfTwo(line, oldCost(line > 0 ? openFile.before.oldOf(line) : 0), cost, '');
    const { whole, side } = openFile, share = cost ? cost.self / whole : 0, all = cost ? cost.incl / whole : 0, cell = (name, text, hot = 0) => make('span', { className: `c-${name} h${hot}` }, text);
    const number = line > 0 ? anchor(String(line), openFile.file, line, { className: 'c-line', tabIndex: -1 }) : make('span', { className: 'c-line' });
    const exact = linesHave(side);
    return make('span', { className: 'gutter' }, cell('count', cost && cost.count ? grouped(cost.count) : ''), cell('self', cost && exact && cost.self ? amount(cost.self) : '', heat(share)),
        cell('inclusive', cost && cost.incl ? amount(cost.incl) : '', heat(all)), cell('share', cost && exact && cost.self ? percent(share) : '', heat(share)), number);
}

// Finds comments and manuals, which are drawn softer, and the end of the program's text.
function softness() {
    if (openFile.soft && openFile.soft.lines === openFile.lines) return openFile.soft.flags;
    const { lines } = openFile, flags = new Uint8Array(lines.length + 1);
    let pod = false, ended = false;
    lines.forEach((text, i) => {
        if (/^=[a-zA-Z]/.test(text)) pod = true;
        flags[i + 1] = pod || ended || /^\s*#/.test(text) ? 1 : 0;
        if (/^=cut\b/.test(text)) pod = false;
        if (!pod && /^__(?:END|DATA)__\s*$/.test(text)) ended = true;
    });
    openFile.soft = { lines, flags };
    return flags;
}

const DRAW = {
    line({ line }) {
        const text = openFile.lines && line > 0 ? openFile.lines[line - 1] ?? '' : '', range = openFile.ranges.find((r) => r.line === line && r.end > r.line && profile.facts.kinds[r.sub] !== 5), all = openFile.wide.has(line);
        const code = make('span', { className: `code${openFile.lines && softness()[line] ? ' soft' : ''}` }, ...visible(all ? text : text.slice(0, LONG), matches.mark));
        if (text.length > LONG && !all) {
            code.append(button(`\u2026 ${grouped(text.length - LONG)} characters more`, () => {
                openFile.wide.add(line);
                drawRows();
            }, { className: 'link' }));
        }
        const below = openFile.rows[openFile.at.get(line + 1)], shut = !!below && below.kind === 'fold';
        const fold = range ? button(shut ? '\u25b8' : '\u25be', () => foldSub(range, !shut), { className: 'fold', 'aria-expanded': String(!shut), 'aria-label': `Fold ${short(profile.names[range.sub], 99)}`, tabIndex: -1 }) : '';
        const fresh = openFile.before && openFile.before.to && !openFile.before.to[line - 1];
        return [gutter(line, costOf(line)), make('span', { className: `twist${fresh ? ' up' : ''}` }, fold || (fresh ? '+' : '')), code];
    },
    gone({ line }) {
        return [gutterOfTwo(0, oldCost(line), null, `(${line})`), make('span', { className: 'twist down' }, '\u2212'), make('span', { className: 'code' }, ...visible(openFile.before.lines[line - 1].slice(0, LONG)))];
    },
    call({ line, call: { sub, calls, value, was } }) {
        if (was) {
            const both = (a, b, show) => (a === b ? show(b) : `${show(a)} \u2192 ${show(b)}`);
            return [...note('\u2192', line), subLink(sub), make('span', { className: 'told' }, `${both(was.calls, calls, grouped)} call${calls === 1 && was.calls === 1 ? '' : 's'}`),
                make('span', { className: `told ${value > was.value ? 'up' : value < was.value ? 'down' : ''}` }, value || was.value ? both(was.value, value, amount) : '')];
        }
        return [...note('\u2192', line), subLink(sub), make('span', { className: 'told' }, `${calls ? plural(calls, 'call') : ''}${value && metric().key !== 'calls' ? `, ${amount(value)}` : ''}${
            value && calls > 1 && metric().unit === 's' ? `, ${amount(value / calls)} each` : ''}`)];
    },
    caller({ line: here, call: { file, line, sub, calls, value } }) {
        const inside = file === openFile.file ? subAt(line) : -1, place = sub !== undefined ? '' : file === openFile.file ? `line ${line}` : `${short(fileName(file).replace(/^.*\//s, ''), 60)}:${line}`;
        const from = sub !== undefined ? subLink(sub) : line > 0 ? anchor(place, file, line, { title: `${fileName(file)}:${line}` }) : make('span', {}, fileName(file));
        if (inside >= 0) from.append(` in ${short(profile.names[inside], 200)}`);
        return [...note('\u2190', here), 'called from ', from, make('span', { className: 'told' }, `${calls ? plural(calls, 'call') : ''}${value && metric().key !== 'calls' ? `, ${amount(value)}` : ''}`)];
    },
    sub({ line, sub }) {
        const table = allSubs(), { side } = openFile, both = (lists, show) => (openFile.before ? [...new Set(lists.map((list, k) => show(k || show === grouped ? list[sub] : real(list[sub], 0))))].join(' \u2192 ') : show(lists[side][sub]));
        const words = [table.calls ? `${both(table.calls, grouped)} call${!openFile.before && table.calls[side][sub] === 1 ? '' : 's'}` : '', `self ${both(table.self, amount)}`,
            `inclusive ${both(table.total, amount)}${openFile.before ? '' : ` (${percent(table.total[side][sub] / openFile.whole)})`}`];
        return [...note('', line), make('bdi', { className: 'name' }, short(profile.names[sub], 200)), make('span', { className: 'told' }, words.filter(Boolean).join(', ')),
            button('Graph', () => toGraph(sub), { className: 'link', title: 'Zooms to its widest frame (g)' }), button('Table', () => openSub(sub), { className: 'link', title: 'Its callers and callees (s)' })];
    },
    more({ line, n, key }) {
        return [...note('', line), button(`and ${grouped(n)} more`, () => {
            openFile.more.add(key);
            redraw();
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
        return [gutter(0, cost), make('span', { className: 'twist' }), button(`\u22ef ${plural(to - line + 1, 'line')}`, () => {
            openFile.opened.add(line);
            for (const range of openFile.ranges) if (range.line + 1 === line) openFile.shut.delete(range.line);
            redraw(line - 1);
        }, { className: 'link', 'aria-expanded': 'false' })];
    },
};
// Returns the gutter of a note, and as much room as the line that it belongs to has at its
// beginning.
const note = (sign, line) => {
    const room = openFile.lines && line > 0 ? /^\s{0,40}/.exec(openFile.lines[line - 1] || '')[0] : '';
    return [make('span', { className: 'gutter note' }, make('span', {}, sign)), make('span', { className: 'twist' }), make('span', {}, room)];
};

function foldSub({ line }, shut) {
    if (shut) openFile.shut.add(line);
    else {
        openFile.shut.delete(line);
        openFile.opened.add(line + 1);
    }
    if (shut) openFile.opened.delete(line + 1);
    redraw(line);
}

const firstRow = () => (printing ? 0 : Math.max(0, Math.floor(openFile.scroll.scrollTop / ROW / 8) * 8 - 8));

// Draws the visible rows, and a few more on both sides.
function drawRows() {
    const { scroll, sheet, rows } = openFile;
    if (!scroll || !scroll.isConnected) return;
    const tall = scroll.clientHeight || 600, from = openFile.from = firstRow(), to = printing ? Math.min(rows.length, 30000) : Math.min(rows.length, from + Math.ceil(tall / ROW) + 24);
    const list = [];
    for (let k = from; k < to; k++) {
        const row = rows[k], here = row.kind === 'line' && row.line === state.line;
        list.push(make('div', { className: `row r-${row.kind}${here ? ' here' : ''}`, 'data-row': k, ...(row.kind === 'line' && { 'data-line': row.line }), ...(here && { 'aria-current': 'true' }) }, ...DRAW[row.kind](row)));
    }
    const focus = document.activeElement && sheet.contains(document.activeElement);
    sheet.replaceChildren(make('div', { className: 'drawn' }, ...list));
    sheet.firstChild.style.top = from * ROW + 'px';
    if (focus) scroll.focus({ preventScroll: true });
}

// ---- movement ----

function toLine(line, step = false) {
    state.line = line;
    reveal(line);
    drawRows();
    remember(step);
    speakLine(line);
}

function speakLine(line) {
    const cost = costOf(line), words = cost ? [cost.count ? plural(cost.count, 'time') : '', cost.self ? `self ${amount(cost.self)}` : '', cost.incl ? `inclusive ${amount(cost.incl)}` : ''].filter(Boolean).join(', ') : 'no cost';
    $('spoken').textContent = `Line ${line}. ${words}. ${openFile.lines ? short(openFile.lines[line - 1] || '', 200) : ''}`;
}

// Goes to the lines of the file that cost most, one after the other.
function toHot(by) {
    if (state.file < 0) return;
    const all = [...openFile.costs].filter(([line]) => line > 0).map(([line, i]) => ({ line, ...costAt(openFile.side, i) })), key = all.some(({ self }) => self > 0) ? 'self' : 'incl';
    const list = all.filter((cost) => cost[key] > 0).sort((a, b) => b[key] - a[key] || a.line - b.line);
    if (!list.length) return;
    const at = openFile.hot === state.line ? list.findIndex(({ line }) => line === state.line) : by > 0 ? -1 : 0;
    openFile.hot = list[(at + by + list.length) % list.length].line;
    toLine(openFile.hot);
}

// Returns the sub in whose text a line is: the innermost.
function subAt(line) {
    const around = state.file < 0 ? [] : openFile.ranges.filter((range) => range.line <= line && line <= Math.max(range.end, range.line));
    return around.length ? around[around.length - 1].sub : -1;
}

function toGraph(sub) {
    openSource(false);
    if (sub >= 0) zoomSub(sub);
    else panes[0].canvas.focus();
}

function sourceKey(key) {
    if (state.file < 0) return false;
    const lines = [...openFile.at.keys()], by = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (by) {
        const row = openFile.at.get(state.line), first = Math.ceil(openFile.scroll.scrollTop / ROW);
        let k = row === undefined ? first - 1 : row;
        do k += row === undefined ? 1 : by; while (k >= 0 && k < openFile.rows.length && openFile.rows[k].kind !== 'line');
        if (openFile.rows[k]) toLine(openFile.rows[k].line);
        return lines.length > 0;
    }
    if (key === 'Enter') {
        const cost = openFile.costs.get(state.line), [call] = cost === undefined ? [] : callsFrom(openFile.side, cost), place = call && placeIn(call.sub);
        if (place) openSource(true, place.file, place.line, true, true);
        else if (call) openSub(call.sub);
        return true;
    }
    return false;
}
