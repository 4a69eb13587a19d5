// Paints the heat map: a row for each sub, a column for each stretch of time.

import { keep } from '../base/lists.mjs';
import { short } from '../base/words.mjs';
import { columnsOf, heatOf } from '../model/heat.mjs';
import { matches } from '../model/matches.mjs';
import { seconds } from '../model/numbers.mjs';
import { metric, profile, state } from '../model/profile.mjs';
import { stacksOfKind } from '../model/spans.mjs';
import { timeline, treeOfTime } from '../model/times.mjs';
import { LEVELS, ink } from '../draw/colours.mjs';

const ROW = 32, TEXT = 16;     // CSS pixels of a row, and of its text

// The map that is drawn, and the one that is computed.
export const heatMap = { shown: null, key: '', busy: null };

// Elapsed time is counted if the metric is that, otherwise CPU time.
const isCpu = () => metric().key !== 'real';

// Has the map of this view computed, and calls `done` when it is.
export function wantHeat(done) {
    const columns = columnsOf(timeline.view, timeline.wide),
        key = [columns.from, columns.n, columns.step, isCpu()].join(' ');
    if (key === heatMap.key) return;
    heatMap.key = key;
    timeline.settled = heatOf(columns, isCpu(), () => key !== heatMap.key).then((made) => {
        if (!made) return;
        heatMap.shown = made;
        done();
    });
}

export const heatHeight = () => (heatMap.shown ? heatMap.shown.rows.length * ROW + 4 : 0);

const levelOf = (cell) =>
    cell > 0 ? Math.max(1, Math.round((cell / heatMap.shown.most) * LEVELS)) : 0;

// Marks the names that stacks with spans of the chosen kind have; null: no kind is chosen.
function namesOfKind() {
    const tree = treeOfTime(), lit = stacksOfKind(tree);
    return lit && keep(tree.kept, `names with ${state.kind}`, () => {
        const names = new Uint8Array(profile.names.length);
        for (let i = 0; i < tree.n; i++) if (lit[i]) names[tree.name[i]] = 1;
        return names;
    });
}

function paintRow(c, row, y) {
    const { columns } = heatMap.shown,
        [t0, t1] = timeline.view,
        scale = timeline.wide / (t1 - t0),
        lit = namesOfKind(),
        dim = lit && !lit[row.sub],
        hit = !dim && matches.names && matches.names[row.sub] === 1;
    c.globalAlpha = dim || (matches.names && !hit) ? 0.4 : 1;
    c.fillStyle = ink.text;
    c.font = `${hit ? 'bold ' : ''}12px system-ui, sans-serif`;
    const total = seconds(row.total), wide = c.measureText(total).width;
    c.fillText(total, timeline.wide - wide - 6, y + TEXT / 2);
    c.fillText(short(profile.names[row.sub], 160), 6, y + TEXT / 2, timeline.wide - wide - 24);
    c.fillStyle = ink.dust;
    c.fillRect(0, y + ROW - 3, timeline.wide, 1);
    for (let k = 0; k < columns.n; k++) {
        const level = levelOf(row.cells[k]);
        if (!level) continue;
        const x = (columns.from + k * columns.step - t0) * scale, w = columns.step * scale;
        c.fillStyle = ink.levels[LEVELS + level];
        c.fillRect(x, y + TEXT, w > 4 ? w - 1 : w, ROW - TEXT - 3);
    }
    c.globalAlpha = 1;
}

// Paints the visible rows on a cleared canvas. Returns their number.
export function paintHeat(c, top) {
    const { shown } = heatMap;
    if (!shown) return 0;
    let drawn = 0;
    shown.rows.forEach((row, k) => {
        const y = k * ROW - top;
        if (y > timeline.high || y < -ROW) return;
        paintRow(c, row, y);
        drawn++;
    });
    return drawn;
}

export const heatInWords = () =>
    heatMap.shown && heatMap.shown.rows.length
        ? `Columns of ${seconds(heatMap.shown.columns.step)}; the darkest has `
          + `${seconds(heatMap.shown.most)} of ${isCpu() ? 'CPU' : 'elapsed'} time of one sub`
        : 'Nothing used any time here';

// Returns the cell at a point of the canvas: { sub, from, to, value }, or null.
export function cellAt(x, y) {
    const { shown } = heatMap;
    if (!shown) return null;
    const row = shown.rows[Math.floor((y + timeline.scroll.scrollTop) / ROW)],
        [t0, t1] = timeline.view,
        k = Math.floor((t0 + ((t1 - t0) * x) / timeline.wide - shown.columns.from)
            / shown.columns.step);
    if (!row || k < 0 || k >= shown.columns.n) return null;
    const from = shown.columns.from + k * shown.columns.step;
    return { sub: row.sub, from, to: from + shown.columns.step, value: row.cells[k] };
}
