// Searches all sources.

import { fileTotals, lineCosts, loadLines, textOf } from '../model/lines.mjs';
import { matches } from '../model/matches.mjs';
import { hasLines, isUpward, last, state } from '../model/profile.mjs';
import { isGrey, scene } from '../model/scene.mjs';
import { panes } from '../draw/pane.mjs';
import { go } from '../act/cursor.mjs';
import { openSource } from '../act/open.mjs';
import { zoom } from '../act/zoom.mjs';
import { drawOverview } from './files.mjs';
import { MOST_FOUND, sourceMatches } from './found.mjs';
import { toLine } from './listing.mjs';
import { found, toolbar } from './toolbar.mjs';

// Searches the sources one by one, the costliest first. A later search replaces an earlier one.
export function findInSources() {
    const q = `${state.match} ${state.q}`, { test } = matches;
    if (!state.source || !hasLines() || q === sourceMatches.q) return sourceMatches.ready;
    const turn = ++sourceMatches.turn;
    Object.assign(sourceMatches, {
        q,
        list: [],
        byFile: new Map(),
        files: 0,
        at: -1,
        busy: !!test,
    });
    const look = async () => {
        await loadLines();
        const totals = fileTotals(last()),
            order = lineCosts.files
                .map(({ index }) => index)
                .sort((a, b) => totals[b].self - totals[a].self || a - b);
        let since = performance.now();
        for (const file of test ? order : []) {
            const lines = await textOf(file), before = sourceMatches.list.length;
            if (turn !== sourceMatches.turn) return;
            if (!lines) continue;
            for (let i = 0; i < lines.length && sourceMatches.list.length < MOST_FOUND; i++)
                if (test(lines[i])) sourceMatches.list.push({ file, line: i + 1 });
            if (sourceMatches.list.length > before)
                sourceMatches.byFile.set(file, sourceMatches.list.length - before);
            sourceMatches.files = sourceMatches.byFile.size;
            if (performance.now() - since < 30) continue;
            await new Promise((done) => { setTimeout(done); });
            if (turn !== sourceMatches.turn) return;
            since = performance.now();
            found();
        }
        sourceMatches.busy = false;
        if (state.source && state.file < 0) drawOverview();
        toolbar();
    };
    sourceMatches.ready = look();
    return sourceMatches.ready;
}

// Goes to the next line that matches, in this file or the next one.
function stepSource(by) {
    const { list } = sourceMatches, n = list.length;
    if (!n) return;
    if (
        sourceMatches.at < 0
        || list[sourceMatches.at].file !== state.file
        || list[sourceMatches.at].line !== state.line
    ) {
        // The search starts from the current line.
        const inFile = list.findIndex(
                ({ file, line }) =>
                    file === state.file && (by > 0 ? line > state.line : line >= state.line),
            ),
            end = list.map(({ file }) => file).lastIndexOf(state.file);
        sourceMatches.at =
            inFile >= 0 ? inFile - (by > 0 ? 1 : 0) : end >= 0 ? end : by > 0 ? -1 : 0;
    }
    sourceMatches.at = (sourceMatches.at + by + n) % n;
    const { file, line } = list[sourceMatches.at];
    if (file === state.file) toLine(line);
    else openSource(true, file, line, true);
    found();
}

// Goes to the next match in drawn order. If it is not visible, zooms only as far as needed to show
// it.
export function step(by) {
    if (state.source) {
        stepSource(by);
        return;
    }
    if (!matches.names || !matches.frames) return;
    const { name, parent, depth } = scene.tree,
        [{ x }] = panes,
        wide = (i) => panes.find((pane) => pane.weights[i] > 0);
    if (!matches.list) {
        matches.list = [];
        for (let i = 0; i < scene.tree.n; i++)
            if (matches.names[name[i]] === 1 && !isGrey(i) && wide(i)) matches.list.push(i);
        if (state.order !== 'name') matches.list.sort((a, b) => x[a] - x[b] || depth[a] - depth[b]);
    }
    const count = matches.list.length,
        at = count ? ((matches.at < 0 && by < 0 ? 0 : matches.at) + by + count) % count : -1;
    if (at < 0) return;
    matches.at = at;
    const frame = matches.list[at], pane = wide(frame), box = pane.box(frame);
    if ((!box || box.w < 8) && !isUpward()) {
        const line = [frame];
        while (line[0] > 0) line.unshift(parent[line[0]]);
        zoom(line.find((i) => pane.weights[i] <= pane.weights[frame] * pane.view / 60) ?? frame);
    }
    go(frame);
    found();
}
