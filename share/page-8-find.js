'use strict';

// The search over all sources.

const sourceMatches = { q: null, list: [], byFile: new Map(), files: 0, at: -1, turn: 0, busy: false, ready: Promise.resolve() };   // list: { file, line }
const MOST_FOUND = 20000;

// Searches the sources one by one, those that cost most first. A later search replaces an earlier
// one.
function findInSources() {
    const q = `${state.match} ${state.q}`, { test } = matches;
    if (!state.source || !hasLines() || q === sourceMatches.q) return sourceMatches.ready;
    const turn = ++sourceMatches.turn;
    Object.assign(sourceMatches, { q, list: [], byFile: new Map(), files: 0, at: -1, busy: !!test });
    const look = async () => {
        await loadLines();
        const totals = fileTotals(last()), order = lineCosts.files.map(({ index }) => index).sort((a, b) => totals[b].self - totals[a].self || a - b);
        let since = performance.now();
        for (const file of test ? order : []) {
            const lines = await textOf(file), before = sourceMatches.list.length;
            if (turn !== sourceMatches.turn) return;
            if (!lines) continue;
            for (let i = 0; i < lines.length && sourceMatches.list.length < MOST_FOUND; i++) if (test(lines[i])) sourceMatches.list.push({ file, line: i + 1 });
            if (sourceMatches.list.length > before) sourceMatches.byFile.set(file, sourceMatches.list.length - before);
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

function foundInSources() {
    if (!matches.test) return '';
    const where = sourceMatches.at >= 0 ? `${grouped(sourceMatches.at + 1)} of ` : '', n = sourceMatches.list.length;
    return `${where}${n >= MOST_FOUND ? 'more than ' : ''}${plural(n, 'line')} in ${plural(sourceMatches.files, 'file')}${sourceMatches.busy ? ' \u2026' : ''}`;
}

// Goes to the next line that matches, in this file or the next one.
function stepSource(by) {
    const { list } = sourceMatches, n = list.length;
    if (!n) return;
    if (sourceMatches.at < 0 || list[sourceMatches.at].file !== state.file || list[sourceMatches.at].line !== state.line) {
        // The search starts from the present line.
        const inFile = list.findIndex(({ file, line }) => file === state.file && (by > 0 ? line > state.line : line >= state.line)), end = list.map(({ file }) => file).lastIndexOf(state.file);
        sourceMatches.at = inFile >= 0 ? (inFile - (by > 0 ? 1 : 0)) : end >= 0 ? end : by > 0 ? -1 : 0;
    }
    sourceMatches.at = (sourceMatches.at + by + n) % n;
    const { file, line } = list[sourceMatches.at];
    if (file === state.file) toLine(line);
    else openSource(true, file, line, true);
    found();
}

// Lists what was found, by file, for the overview.
function foundLines() {
    if (!matches.test || !sourceMatches.list.length) return [];
    const most = 100, rows = sourceMatches.list.slice(0, most).map(({ file, line }) => {
        const code = make('code', {});
        textOf(file).then((lines) => { code.append(...visible(lines[line - 1].trim().slice(0, 200), matches.mark)); });
        return make('tr', {}, make('td', { className: 'left' }, anchor(short(`${lineCosts.files[file].name.replace(/^.*\//s, '')}:${line}`, 60), file, line, { title: `${fileName(file)}:${line}` }), ' ', code));
    });
    return [make('h2', {}, `Lines that match: ${foundInSources()}`), make('table', { className: 'hits' }, make('tbody', {}, ...rows)),
        sourceMatches.list.length > most ? make('p', { className: 'soft' }, `The first ${most}; n goes through all of them.`) : ''];
}
