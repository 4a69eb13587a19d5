'use strict';

// The graph as a list that opens: frames with what they have, their kids below them on demand.

const CALLS_PAGE = 50;         // kids that are shown at first
const K = { view: null, focus: -1 };    // what is drawn; and of its frames: open, a set; shown, how many kids

// The way along which most of the time goes is open at first.
function openHottest(from) {
    const value = V.total[last()], whole = value[from];
    for (let i = from, deep = 0; deep < 40 && value[i] > whole * 0.1; deep++) {
        K.open.add(i);
        const [best] = V.tree.kids(i).sort((a, b) => value[b] - value[a]);
        if (best === undefined) break;
        i = best;
    }
}

function drawCalls(again = false) {
    const node = $('calls'), isSame = K.view === V && K.focus === V.focus;
    node.hidden = !S.calls || S.source;
    if (node.hidden || (isSame && !again)) return;
    if (!isSame) {
        Object.assign(K, { open: new Set(), shown: new Map(), view: V, focus: V.focus });
        openHottest(V.focus);
    }
    const top = node.scrollTop, rows = [], value = V.total[last()], weigh = P.diff ? V.weights('union') : value, hasSelf = !S.reversed && !V.split;
    const add = (i, level) => {
        const kids = V.tree.end[i] > i + 1, open = kids && K.open.has(i), cells = known(i), [total] = cells, self = hasSelf && cells[1];
        const twist = kids ? button(open ? '\u25be' : '\u25b8', () => toggle(i), { className: 'fold', tabIndex: -1, 'aria-hidden': 'true' }) : make('span', { className: 'fold' });
        const row = make('tr', { tabIndex: -1, 'aria-level': level + 1, ...(kids && { 'aria-expanded': String(open) }), className: i === C.cursor ? 'here' : '' },
            make('td', { className: 'left' }, make('div', { className: 'call' }, twist, button(named(V.tree.name[i]), () => zoom(i), { title: short(nameOf(i), 1000) }))),
            ...(P.diff ? [make('td', {}, total[1]), make('td', {}, total[2]), changeCell(V.total[1][i] - V.total[0][i], total[3])]
                : [make('td', {}, total[1]), make('td', {}, total[2]), make('td', {}, self ? self[1] : ''), make('td', {}, V.calls ? grouped(V.calls[0][i]) : '')]));
        row.dataset.frame = i;
        row.querySelector('.call').style.paddingLeft = Math.min(level, 40) * 14 + 'px';
        row.onmouseenter = () => {
            C.hover = i;
            marks();
        };
        row.onmouseleave = () => {
            C.hover = -1;
            marks();
        };
        rows.push(row);
        if (!open) return;
        const list = V.tree.kids(i).filter((kid) => weigh[kid] > 0).sort((a, b) => weigh[b] - weigh[a] || P.rank[V.tree.name[a]] - P.rank[V.tree.name[b]]), most = K.shown.get(i) || CALLS_PAGE;
        for (const kid of list.slice(0, most)) add(kid, level + 1);
        if (list.length > most) {
            const more = button(`${grouped(list.length - most)} more`, () => {
                K.shown.set(i, most * 4);
                drawCalls(true);
            });
            rows.push(make('tr', {}, make('td', { className: 'left', colSpan: 5 }, more)));
        }
    };
    add(V.focus, 0);
    const heads = P.diff ? ['Frame', sideName(0), sideName(1), 'Difference'] : ['Frame', 'Inclusive', '%', hasSelf ? 'Self' : '', V.calls ? 'Calls' : ''];
    node.replaceChildren(make('table', { role: 'treegrid', 'aria-label': 'Call tree' }, make('thead', {}, make('tr', {}, ...heads.map((text, k) => make('th', { scope: 'col', className: k ? '' : 'left' }, text)))),
        make('tbody', {}, ...rows)));
    node.scrollTop = top;
}

function toggle(i, focus = false) {
    if (K.open.has(i)) K.open.delete(i);
    else K.open.add(i);
    drawCalls(true);
    const row = focus && $('calls').querySelector(`[data-frame="${i}"]`);
    if (row) row.focus();
}

// Arrow keys as in any tree: up and down among rows, right opens, left closes or goes to the caller.
function callsKey(event) {
    const rows = [...$('calls').querySelectorAll('tr[data-frame]')], row = event.target.closest('tr[data-frame]'), at = rows.indexOf(row), i = row ? +row.dataset.frame : -1, { key } = event;
    const to = (next) => {
        if (!next) return;
        next.focus();
        go(+next.dataset.frame);
    };
    if (key === 'ArrowDown') to(rows[at + 1]);
    else if (key === 'ArrowUp') to(rows[Math.max(0, at - 1)]);
    else if (row && key === 'ArrowRight') {
        if (V.tree.end[i] === i + 1) return;
        if (K.open.has(i)) to(rows[at + 1]);
        else toggle(i, true);
    } else if (row && key === 'ArrowLeft') {
        if (K.open.has(i)) toggle(i, true);
        else to(rows.find((other) => +other.dataset.frame === V.tree.parent[i]));
    } else if (row && key === 'Enter') zoom(i);
    else return;
    event.preventDefault();
    event.stopPropagation();
}

function openCalls(on) {
    Object.assign(S, { calls: on, table: false, sub: -1, source: false, file: -1, line: 0 });
    showViews();
    drawTable();
    refresh('boxes');
    remember();
    if (on && $('calls').querySelector('tr[data-frame]')) $('calls').querySelector('tr[data-frame]').tabIndex = 0;
}
