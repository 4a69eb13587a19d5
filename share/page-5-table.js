'use strict';

// The table of subs, and one sub's callers and callees.

const T = { sort: 'self', down: true, shown: 200 };
const PAGE = 200;

// Columns that this profile has: [key, label, value of a sub, text].
function tableColumns() {
    const table = subs(), list = [['name', 'Sub', null]], m = metric(), plainNumber = { unit: '' };
    const of = (own, side) => (sub) => own[side][sub];
    if (!P.diff) {
        const whole = sum(table.self[0]);
        if (table.calls) list.push(['calls', 'Calls', of(table.calls, 0), (v) => amount(v, plainNumber)]);
        list.push(['self', 'Self', of(table.self, 0), (v) => amount(v, m)], ['selfpart', 'Self %', of(table.self, 0), (v) => percent(whole ? v / whole : 0)]);
        list.push(['total', 'Inclusive', of(table.total, 0), (v) => amount(v, m)], ['totalpart', 'Incl. %', of(table.total, 0), (v) => percent(whole ? v / whole : 0)]);
        if (table.ops) list.push(['ops', 'Ops', of(table.ops, 0), (v) => amount(v, plainNumber)]);
    } else {
        const three = (key, word, own, show, scaledBy) => {
            const value = (side) => (sub) => (scaledBy && side === 0 ? real(own[0][sub], 0) : own[side][sub]);
            list.push([key + '0', `${word} ${sideName(0)}`, value(0), show], [key + '1', `${word} ${sideName(1)}`, value(1), show]);
            const wholes = own.map(sum);
            if (P.relative && scaledBy) {
                list.push([key, `${word} difference`, (sub) => own[1][sub] / (sum(table.self[1]) || 1) - own[0][sub] / (sum(table.self[0]) || 1),
                    (v) => `${v > 0 ? '+' : ''}${(v * 100).toFixed(2)} points`, true]);
            } else if (wholes) list.push([key, `${word} difference`, (sub) => own[1][sub] - own[0][sub], (v) => (show === count ? signed(v, plainNumber) : signed(v, m)), true]);
        };
        const count = (v) => amount(v, plainNumber), show = (v) => amount(v, m);
        three('self', 'Self', table.self, show, true);
        three('total', 'Incl.', table.total, show, true);
        if (table.calls) three('calls', 'Calls', table.calls, count);
        if (table.ops) three('ops', 'Ops', table.ops, count);
    }
    if (P.facts.places && P.facts.places.some(Boolean)) list.push(['place', 'Source', null]);
    return list;
}

function sortedSubs(columns) {
    const { frames } = subs(), list = [];
    for (let sub = 0; sub < P.names.length; sub++) if (frames[sub] > 0 && (!F.names || F.names[sub] === 1)) list.push(sub);
    const [key, , value, , change] = columns.find(([k]) => k === T.sort) || columns[1], way = T.down ? -1 : 1;
    const files = new Map();
    if (key === 'place') P.facts.files.slice().sort().forEach((file, i) => files.set(file, i));
    const place = (sub) => (P.facts.places[sub] ? files.get(P.facts.files[P.facts.places[sub][0]]) * 1e7 + P.facts.places[sub][1] : Infinity);
    const of = key === 'name' ? (sub) => P.rank[sub] : key === 'place' ? place : value;
    // Differences: the largest first, whichever way they go.
    const keys = new Float64Array(P.names.length);
    for (const sub of list) keys[sub] = change && T.down ? Math.abs(of(sub)) : of(sub);
    const ways = key === 'name' || key === 'place' ? -way : way;
    return list.sort((a, b) => (keys[a] === keys[b] ? P.rank[a] - P.rank[b] : (keys[a] - keys[b]) * ways));
}

function nameButton(sub, act = () => openSub(sub)) {
    const button = make('button', { type: 'button', title: short(P.names[sub], 1000) }, short(P.names[sub]));
    button.addEventListener('click', act);
    return button;
}

function drawTable() {
    const node = $('subs');
    node.hidden = !S.table;
    if (!S.table) return;
    const columns = tableColumns(), list = sortedSubs(columns), all = subs().frames.reduce((n, v) => n + (v > 0 ? 1 : 0), 0);
    if (!columns.some(([key]) => key === T.sort)) T.sort = 'self';
    const head = make('tr', {}, ...columns.map(([key, text]) => {
        const on = T.sort === key, down = key === 'name' || key === 'place' ? !T.down : T.down;
        const button = make('button', { type: 'button' }, text, on ? (down ? ' \u25be' : ' \u25b4') : '');
        button.dataset.key = key;
        button.addEventListener('click', () => {
            T.down = T.sort === key ? !T.down : true;
            T.sort = key;
            T.shown = PAGE;
            drawTable();
            node.querySelector(`th button[data-key="${key}"]`).focus();
        });
        const th = make('th', { scope: 'col', className: key === 'name' || key === 'place' ? 'left' : '' }, button);
        if (on) th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        return th;
    }));
    const rows = list.slice(0, T.shown).map((sub) => make('tr', { className: sub === S.sub ? 'here' : '' }, ...columns.map(([key, , value, show, change]) => {
        if (key === 'name') return make('td', { className: 'left' }, nameButton(sub));
        if (key === 'place') return make('td', { className: 'place', title: placeOf(sub) }, placeOf(sub));
        const v = value(sub);
        return make('td', { className: change && v ? (v > 0 ? 'up' : 'down') : '' }, show(v));
    })));
    const more = make('div', { className: 'more' }, `${grouped(Math.min(T.shown, list.length))} of ${grouped(list.length)} subs${F.names ? ` that match, ${grouped(all)} in all` : ''}`);
    if (list.length > T.shown) {
        const button = make('button', { type: 'button', id: 'more' }, `Show ${grouped(Math.min(PAGE, list.length - T.shown))} more`);
        button.addEventListener('click', () => {
            T.shown += PAGE;
            drawTable();
            if ($('more')) $('more').focus();
        });
        more.append(button);
    }
    const filter = make('input', { type: 'search', id: 'filter', value: S.q, placeholder: 'Filter subs (regex)' });
    filter.setAttribute('aria-label', 'Filter subs: the same search as above');
    filter.addEventListener('input', () => {
        $('q').value = filter.value;
        search(filter.value);
        $('filter').focus();
        $('filter').setSelectionRange($('filter').value.length, $('filter').value.length);
    });
    const was = node.querySelector('.list'), scroll = was ? was.scrollTop : 0;
    const box = make('div', { className: 'list', tabIndex: -1 }, make('div', { className: 'more' }, filter, more.firstChild.cloneNode()),
        make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows)), more);
    node.replaceChildren(box, ...(S.sub >= 0 ? [nearTo(S.sub)] : []));
    box.scrollTop = scroll;
}

function nearTo(sub) {
    const { callers, callees } = around(sub), table = subs(), m = metric(), calls = P.key('calls') >= 0;
    const values = (list) => list.map((v, side) => amount(real(v, side), m)).join(' \u2192 ');
    const part = (title, rows, none) => [make('h3', {}, title), rows.length ? make('table', {}, make('tbody', {}, ...rows.slice(0, PAGE).map((row) => {
        const cells = [make('td', { className: 'left' }, nameButton(row.sub)), make('td', {}, values(row.total))];
        if (P.diff && !P.relative) {
            const d = row.total[1] - row.total[0];
            cells.push(make('td', { className: d > 0 ? 'up' : d < 0 ? 'down' : '' }, d ? signed(d, m) : '\u00b1 0'));
        }
        if (calls) cells.push(make('td', { className: 'soft' }, `${row.calls.map((v) => amount(v, { unit: '' })).join(' \u2192 ')} call${row.calls[last()] === 1 ? '' : 's'}`));
        return make('tr', {}, ...cells);
    }))) : make('div', { className: 'soft' }, none), rows.length > PAGE ? make('div', { className: 'more' }, `and ${grouped(rows.length - PAGE)} more`) : ''];
    const act = (text, run) => {
        const button = make('button', { type: 'button' }, text);
        button.addEventListener('click', run);
        return button;
    };
    const node = make('div', { className: 'near' }, make('h2', { className: 'name' }, short(P.names[sub], 500)),
        make('div', { className: 'soft' }, [`self ${values(table.self.map((own) => own[sub]))}`, `inclusive ${values(table.total.map((own) => own[sub]))}`, placeOf(sub)].filter(Boolean).join(' \u00b7 ')),
        make('div', { className: 'acts' },
            act('Search in graph', () => {
                $('q').value = exactly(P.names[sub]);
                search(exactly(P.names[sub]), true);
            }),
            act('Zoom to widest', () => zoomSub(sub)), act('Close', () => openSub(-1))),
        ...part('Callers', callers, 'none'), ...part('Callees', callees, 'none'));
    return node;
}

const exactly = (name) => '^' + name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') + '$';

function zoomSub(sub) {
    const { tree } = V, [pane] = panes;
    let best = -1;
    for (let i = 0; i < tree.n; i++) if (tree.name[i] === sub && (best < 0 || pane.weights[i] > pane.weights[best])) best = i;
    if (best >= 0 && pane.weights[best] > 0) zoom(best);
    else say(`${short(P.names[sub], 120)} has no width in this view.`);
}

function openTable(on) {
    S.table = on;
    if (!on) S.sub = -1;
    drawTable();
    refresh('boxes');
    remember();
}

function openSub(sub) {
    const active = document.activeElement, inside = $('subs').contains(active);
    S.sub = sub;
    S.table = true;
    drawTable();
    refresh('boxes');
    remember(true);
    const here = $('subs').querySelector('.here button');
    if (inside && here) here.focus({ preventScroll: true });
}
