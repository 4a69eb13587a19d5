'use strict';

// The costs of lines of source, and the sources. They are read on first use.
//
// A line that has a cost is a number, in order of file and line; those of file f of a side are from[f] .. from[f + 1] - 1. A call
// is a number, too; those of line i are first[i] .. first[i + 1] - 1. Sources are unpacked one by one, when one is opened or searched.

let lineCosts = null;

const hasLines = () => !!$('dprof-lines') && !profile.facts.isDropped;      // a dropped profile has none

const sums = (list) => {
    const to = new Int32Array(list.length + 1);
    for (let i = 0; i < list.length; i++) to[i + 1] = to[i] + list[i];
    return to;
};

function readSide(take, nFiles) {
    const from = sums(varints(take(), new Int32Array(nFiles))), n = from[nFiles];
    const line = varints(take(), new Int32Array(n)), count = varints(take(), new Float64Array(n)), first = sums(varints(take(), new Int32Array(n)));
    for (let f = 0; f < nFiles; f++) for (let i = from[f] + 1; i < from[f + 1]; i++) line[i] += line[i - 1];
    // Values are read when a metric is first shown.
    const lazy = (size) => {
        const bytes = take();
        let list = null;
        return () => list || (list = varints(bytes, new Float64Array(size)));
    };
    const values = profile.metrics.map(() => ({ self: lazy(n), incl: lazy(n) })), calls = first[n];
    const name = varints(take(), new Int32Array(calls)), times = varints(take(), new Float64Array(calls));
    profile.metrics.forEach((_, m) => { values[m].call = lazy(calls); });
    const file = new Int32Array(n);
    for (let f = 0; f < nFiles; f++) file.fill(f, from[f], from[f + 1]);
    return { n, from, file, line, count, first, name, times, values, lineOf: null, to: null };
}

async function loadLines() {
    if (lineCosts || !hasLines()) return;
    const take = blocks(await inflate(bytesOf($('dprof-lines').textContent))), facts = JSON.parse(new TextDecoder().decode(take()));
    if (facts.format !== 1) throw new Error(`format ${facts.format} of lines is not known here`);
    const files = facts.files.map((name, index) => ({ index, name, source: [], subs: [], texts: [] }));
    facts.sources.forEach(([side, file, state], n) => { files[file].source[side] = { state, element: `dprof-source-${n}` }; });
    const sides = profile.facts.sides.map(() => readSide(take, files.length)), number = new Map(files.map(({ name, index }) => [name, index]));
    lineCosts = { files, sides, detail: facts.detail, number, kept: new Map() };
    (profile.facts.places || []).forEach((place, sub) => {
        const file = place ? number.get(profile.facts.files[place[0]]) : undefined;
        if (file !== undefined && subs(profile.tree).used[sub]) files[file].subs.push({ sub, line: place[1] });
    });
    for (const { subs: list } of files) list.sort((a, b) => a.line - b.line || profile.rank[a.sub] - profile.rank[b.sub]);
}

// Returns the factor of a side's values, as for the tree's.
function scaleOf(side, index = state.metric) {
    const of = profile.diff && (profile.diff.factors ? profile.diff.factors[index] : profile.diff.factor);
    return (of && of[side]) || 1;
}

// Counts of several runs are divided, to give their means.
const runsOf = (side) => (profile.diff && profile.diff.runs && profile.diff.runs[side]) || 1;

// Whether statements have values of this metric, which add up to the total. Those of a process or phase are not known.
const linesHave = (side, m = metric()) => placedTree() === profile.tree && m.key !== 'calls' && (lineCosts.detail[side] === 2 || (lineCosts.detail[side] === 1 && m.unit !== 's'));
const wholeOf = (side) => keep(placedTree().kept, `whole ${state.metric} ${side}`, () => sum(values(placedTree(), state.metric)[side]));

// Returns what a line costs on a side: { count, self, incl } and its number i, or null.
function costAt(side, i) {
    const of = lineCosts.sides[side], { self, incl } = of.values[state.metric], by = scaleOf(side);
    return { i, count: of.count[i] / runsOf(side), self: self()[i] * by, incl: incl()[i] * by };
}

// Returns numbers by line of a file; lines without cost have none.
function linesOf(file, side) {
    if (placedTree() !== profile.tree) return new Map();
    const { from, line } = lineCosts.sides[side], list = new Map();
    for (let i = from[file]; i < from[file + 1]; i++) list.set(line[i], i);
    return list;
}

// Returns the calls from a line, the longest first: { sub, calls, value }.
function callsFrom(side, i) {
    const { first, name, times, values: all } = lineCosts.sides[side], value = all[state.metric].call(), by = scaleOf(side), list = [];
    for (let c = first[i]; c < first[i + 1]; c++) list.push({ sub: name[c], calls: times[c] / runsOf(side), value: value[c] * by });
    return list.sort((a, b) => b.value - a.value || b.calls - a.calls || profile.rank[a.sub] - profile.rank[b.sub]);
}

// Returns where a sub is called from, the longest first: { file, line, calls, value }.
function callsOf(side, sub) {
    if (placedTree() !== profile.tree) return [];
    const of = lineCosts.sides[side], { first, name, times, file, line, n } = of, value = of.values[state.metric].call(), by = scaleOf(side);
    if (!of.to) {
        of.lineOf = new Int32Array(name.length);
        of.to = new Map();
        for (let i = 0; i < n; i++) {
            for (let c = first[i]; c < first[i + 1]; c++) {
                of.lineOf[c] = i;
                keep(of.to, name[c], () => []).push(c);
            }
        }
    }
    return (of.to.get(sub) || []).map((c) => ({ file: file[of.lineOf[c]], line: line[of.lineOf[c]], calls: times[c] / runsOf(side), value: value[c] * by }))
        .sort((a, b) => b.value - a.value || b.calls - a.calls || a.file - b.file || a.line - b.line);
}

// Returns totals of each file on a side: { self, count, calls, subs, lines }. Where statements have
// no values, those of the subs count.
function fileTotals(side) {
    return keep(placedTree().kept, `files ${state.metric} ${side}`, () => {
        const of = lineCosts.sides[side], table = allSubs(), exact = linesHave(side);
        return lineCosts.files.map(({ index, subs: list }) => {
            const total = { self: 0, count: 0, calls: 0, subs: list.length };
            const self = exact && of.values[state.metric].self();
            for (let i = of.from[index]; i < of.from[index + 1] && placedTree() === profile.tree; i++) {
                total.count += of.count[i] / runsOf(side);
                if (exact) total.self += self[i];
            }
            total.self *= scaleOf(side);
            for (const { sub } of list) {
                if (table.calls) total.calls += table.calls[side][sub];
                if (!exact) total.self += table.self[side][sub];
            }
            return total;
        });
    });
}

// Returns the lines with the largest costs of their own, in all files: { file, line, self, count }.
function hottest(side, most) {
    return keep(lineCosts.kept, `hot ${state.metric} ${side} ${most}`, () => {
        const of = lineCosts.sides[side], self = of.values[state.metric].self(), order = [];
        for (let i = 0; i < of.n; i++) if (self[i] > 0 && of.line[i] > 0) order.push(i);
        order.sort((a, b) => self[b] - self[a] || a - b);
        return order.slice(0, most).map((i) => ({ file: of.file[i], line: of.line[i], ...costAt(side, i) }));
    });
}

// Returns who calls a sub and whom it calls, by sub, for profiles without lines of calls.
function neighbours() {
    const tree = placedTree();
    return keep(tree.kept, `neighbours ${state.metric}`, () => {
        const { name, parent, end, n } = tree, total = inclusive(tree, values(tree, state.metric)[last()]), known = profile.key('calls');
        const calls = known < 0 ? null : values(tree, known)[last()], pairs = new Map(), of = { callers: new Map(), callees: new Map() };
        for (let i = 1; i < n; i++) {
            const from = name[parent[i]], key = from * profile.names.length + name[i], pair = keep(pairs, key, () => ({ from, to: name[i], calls: 0, value: 0, until: 0 }));
            if (calls) pair.calls += calls[i];
            if (i < pair.until) continue;
            pair.until = end[i];
            pair.value += total[i];
        }
        const list = [...pairs.values()].sort((a, b) => b.value - a.value || b.calls - a.calls || profile.rank[a.from] - profile.rank[b.from] || profile.rank[a.to] - profile.rank[b.to]);
        for (const { from, to, calls: times, value } of list) {
            keep(of.callers, to, () => []).push({ sub: from, calls: times, value });
            keep(of.callees, from, () => []).push({ sub: to, calls: times, value });
        }
        return of;
    });
}

const stateOf = (file, side = last()) => (lineCosts.files[file].source[side] || (profile.relative && lineCosts.files[file].source[0]) || {}).state || 'left out';

// Returns the lines of a source, or null if the page has no text of it. Lines end with a newline,
// as for perl.
async function textOf(file, side = last()) {
    const { source, texts } = lineCosts.files[file], from = source[side] || (profile.relative && source[0]), node = from && $(from.element);
    if (texts[side] === undefined) {
        texts[side] = node && (async () => {
            const lines = new TextDecoder().decode(await inflate(bytesOf(node.textContent))).split('\n');
            if (lines[lines.length - 1] === '') lines.pop();
            return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
        })();
    }
    return (await texts[side]) || null;
}

// Returns where a sub begins, in the text: its first statement is known, the line with its name is
// above.
function beginOf(lines, sub, line) {
    const word = /(\w+)$/.exec(profile.names[sub].replace(/\[.*$/s, '')), nameless = word && /^__ANON__|^BEGIN/.test(word[1]);
    if (!lines || !word) return line;
    const head = nameless ? /\bsub\s*(?:\([^)]*\)\s*)?\{|\bBEGIN\b|\buse\b/ : new RegExp(`(?:^|[;{}])\\s*(?:(?:my|our|state)\\s+)?sub\\s+(?:\\w+(?:::|'))*${word[1]}\\b`);
    for (let at = line; at > 0 && at > line - (nameless ? 2 : 200); at--) if (head.test(lines[at - 1] || '')) return at;
    return line;
}

// Returns its end: the next line with a brace that is no further to the right than its beginning.
function endOf(lines, begin, next) {
    const indent = (text) => /^\s*/.exec(text.replace(/\t/g, '        '))[0].length, least = indent(lines[begin - 1] || '');
    if (/\}\s*;?\s*(?:#.*)?$/.test(lines[begin - 1] || '')) return begin;
    for (let at = begin + 1; at <= lines.length && at < next; at++) if (/^\s*\}/.test(lines[at - 1]) && indent(lines[at - 1]) <= least) return at;
    return begin;
}
