'use strict';

// The search over all sources.

const R = { q: null, list: [], byFile: new Map(), files: 0, at: -1, turn: 0, busy: false, ready: Promise.resolve() };   // list: { file, line }
const MOST_FOUND = 20000;

// Searches the sources one by one, those that cost most first. A later search replaces an earlier
// one.
function findInSources() {
    const q = `${S.match} ${S.q}`, { test } = F;
    if (!S.source || !hasLines() || q === R.q) return R.ready;
    const turn = ++R.turn;
    Object.assign(R, { q, list: [], byFile: new Map(), files: 0, at: -1, busy: !!test });
    const look = async () => {
        await loadLines();
        const totals = fileTotals(last()), order = L.files.map(({ index }) => index).sort((a, b) => totals[b].self - totals[a].self || a - b);
        let since = performance.now();
        for (const file of test ? order : []) {
            const lines = await textOf(file), before = R.list.length;
            if (turn !== R.turn) return;
            if (!lines) continue;
            for (let i = 0; i < lines.length && R.list.length < MOST_FOUND; i++) if (test(lines[i])) R.list.push({ file, line: i + 1 });
            if (R.list.length > before) R.byFile.set(file, R.list.length - before);
            R.files = R.byFile.size;
            if (performance.now() - since < 30) continue;
            await new Promise((done) => { setTimeout(done); });
            if (turn !== R.turn) return;
            since = performance.now();
            found();
        }
        R.busy = false;
        if (S.source && S.file < 0) drawOverview();
        toolbar();
    };
    R.ready = look();
    return R.ready;
}

function foundInSources() {
    if (!F.test) return '';
    const where = R.at >= 0 ? `${grouped(R.at + 1)} of ` : '', n = R.list.length;
    return `${where}${n >= MOST_FOUND ? 'more than ' : ''}${plural(n, 'line')} in ${plural(R.files, 'file')}${R.busy ? ' \u2026' : ''}`;
}

// Goes to the next line that matches, in this file or the next one.
function stepSource(by) {
    const { list } = R, n = list.length;
    if (!n) return;
    if (R.at < 0 || list[R.at].file !== S.file || list[R.at].line !== S.line) {
        // The search starts from the present line.
        const inFile = list.findIndex(({ file, line }) => file === S.file && (by > 0 ? line > S.line : line >= S.line)), end = list.map(({ file }) => file).lastIndexOf(S.file);
        R.at = inFile >= 0 ? (inFile - (by > 0 ? 1 : 0)) : end >= 0 ? end : by > 0 ? -1 : 0;
    }
    R.at = (R.at + by + n) % n;
    const { file, line } = list[R.at];
    if (file === S.file) toLine(line);
    else openSource(true, file, line, true);
    found();
}

// Lists what was found, by file, for the overview.
function foundLines() {
    if (!F.test || !R.list.length) return [];
    const most = 100, rows = R.list.slice(0, most).map(({ file, line }) => {
        const code = make('code', {});
        textOf(file).then((lines) => { code.append(...visible(lines[line - 1].trim().slice(0, 200), F.mark)); });
        return make('tr', {}, make('td', { className: 'left' }, anchor(short(`${L.files[file].name.replace(/^.*\//s, '')}:${line}`, 60), file, line, { title: `${fileName(file)}:${line}` }), ' ', code));
    });
    return [make('h2', {}, `Lines that match: ${foundInSources()}`), make('table', { className: 'hits' }, make('tbody', {}, ...rows)),
        R.list.length > most ? make('p', { className: 'soft' }, `The first ${most}; n goes through all of them.`) : ''];
}
