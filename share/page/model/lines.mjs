// The costs of lines of source, and the sources. They are read on first use.
//
// Lines with a cost are numbered in order of file and line; those of file f of a side are from[f]
// .. from[f + 1] - 1. Calls are numbered, too; those of line i are first[i] .. first[i + 1] - 1. A
// source is unpacked when it is opened or searched.

import { blocks, bytesOf, inflate, varints } from '../base/bytes.mjs';
import { $ } from '../base/elements.mjs';
import { keep, sum } from '../base/lists.mjs';
import { hasLines, last, metric, profile, runsOf, scaleOf, state, values } from './profile.mjs';
import { placedTree } from './steps.mjs';
import { allSubs, subs } from './subs.mjs';

export const lineCosts = { files: null, sides: null, detail: null, number: null, kept: null };

const sums = (list) => {
    const to = new Int32Array(list.length + 1);
    for (let i = 0; i < list.length; i++) to[i + 1] = to[i] + list[i];
    return to;
};

function readSide(take, nFiles) {
    const from = sums(varints(take(), new Int32Array(nFiles))), n = from[nFiles];
    const line = varints(take(), new Int32Array(n)),
        count = varints(take(), new Float64Array(n)),
        first = sums(varints(take(), new Int32Array(n)));
    for (let f = 0; f < nFiles; f++)
        for (let i = from[f] + 1; i < from[f + 1]; i++) line[i] += line[i - 1];
    // Values are read when a metric is first shown.
    const lazy = (size) => {
        const bytes = take();
        let list = null;
        return () => list || (list = varints(bytes, new Float64Array(size)));
    };
    const values = profile.metrics.map(() => ({ self: lazy(n), incl: lazy(n) })), calls = first[n];
    const name = varints(take(), new Int32Array(calls)),
        times = varints(take(), new Float64Array(calls));
    profile.metrics.forEach((_, m) => { values[m].call = lazy(calls); });
    const file = new Int32Array(n);
    for (let f = 0; f < nFiles; f++) file.fill(f, from[f], from[f + 1]);
    return { n, from, file, line, count, first, name, times, values, lineOf: null, to: null };
}

export async function loadLines() {
    if (lineCosts.files || !hasLines()) return;
    readLines(await inflate(bytesOf($('dprof-lines').textContent)));
}

export function readLines(bytes) {
    const take = blocks(bytes), facts = JSON.parse(new TextDecoder().decode(take()));
    if (facts.format !== 1) throw new Error(`format ${facts.format} of lines is not known here`);
    const files = facts.files.map((name, index) => ({
        index,
        name,
        source: [],
        subs: [],
        oldSubs: [],                       // of the first side of a difference
        texts: [],
    }));
    facts.sources.forEach(([side, file, state], n) => {
        const at = profile.isSwapped ? 1 - side : side;
        files[file].source[at] = { state, element: `dprof-source-${n}` };
    });
    const sides = profile.facts.sides.map(() => readSide(take, files.length)),
        { detail } = facts,
        number = new Map(files.map(({ name, index }) => [name, index]));
    if (profile.isSwapped) {
        sides.reverse();
        detail.reverse();
    }
    Object.assign(lineCosts, { files, sides, detail, number, kept: new Map() });
    placeSubs();
}

// Gives each sub to the file where it begins, on each side. Files that have no lines, and '' for
// subs without a place, are added.
function placeSubs() {
    const { files, number } = lineCosts,
        { facts, names, rank } = profile,
        { used } = subs(profile.tree),
        { places = [], old = {} } = facts;
    const fileOf = (place) => {
        const name = place ? facts.files[place[0]] : '';
        const index = keep(number, name, () => files.length);
        if (index === files.length)
            files.push({ index, name, source: [], subs: [], oldSubs: [], texts: [] });
        return files[index];
    };
    for (let sub = 0; sub < names.length; sub++) {
        if (!used[sub]) continue;
        const place = places[sub], before = old[sub] || place;
        fileOf(place).subs.push({ sub, line: place ? place[1] : 0 });
        if (profile.diff) fileOf(before).oldSubs.push({ sub, line: before ? before[1] : 0 });
    }
    for (const { subs: list } of files)
        list.sort((a, b) => a.line - b.line || rank[a.sub] - rank[b.sub]);
}

// Returns the subs that begin in a file on a side. Subs that only the other side has are among
// them.
export const subsIn = (file, side) =>
    lineCosts.files[file][profile.diff && side === 0 ? 'oldSubs' : 'subs'];

// Whether statements have values of this metric, which add up to the total. Those of a process or
// phase are not known.
export const linesHave = (side, m = metric()) =>
    placedTree() === profile.tree
    && m.key !== 'calls'
    && (lineCosts.detail[side] === 2 || (lineCosts.detail[side] === 1 && m.unit !== 's'));

export const wholeOf = (side) =>
    keep(placedTree().kept, `whole ${state.metric} ${side}`, () =>
        sum(values(placedTree(), state.metric)[side]),
    );

// Returns the costs of a line on a side, { count, self, incl } and its number i, or null.
export function costAt(side, i) {
    const of = lineCosts.sides[side], { self, incl } = of.values[state.metric], by = scaleOf(side);
    return { i, count: of.count[i] / runsOf(side), self: self()[i] * by, incl: incl()[i] * by };
}

// Returns numbers by line of a file; lines without cost have none.
export function linesOf(file, side) {
    if (placedTree() !== profile.tree) return new Map();
    const { from, line } = lineCosts.sides[side], list = new Map();
    for (let i = from[file]; i < from[file + 1]; i++) list.set(line[i], i);
    return list;
}

// Returns the calls from a line, the longest first: { sub, calls, value }.
export function callsFrom(side, i) {
    const { first, name, times, values: all } = lineCosts.sides[side],
        value = all[state.metric].call(),
        by = scaleOf(side),
        list = [];
    for (let c = first[i]; c < first[i + 1]; c++)
        list.push({ sub: name[c], calls: times[c] / runsOf(side), value: value[c] * by });
    return list.sort(
        (a, b) =>
            b.value - a.value || b.calls - a.calls || profile.rank[a.sub] - profile.rank[b.sub],
    );
}

// Returns the lines that call a sub, the costliest first: { file, line, calls, value }.
export function callsOf(side, sub) {
    if (placedTree() !== profile.tree) return [];
    const of = lineCosts.sides[side],
        { first, name, times, file, line, n } = of,
        value = of.values[state.metric].call(),
        by = scaleOf(side);
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
    return (of.to.get(sub) || [])
        .map((c) => ({
            file: file[of.lineOf[c]],
            line: line[of.lineOf[c]],
            calls: times[c] / runsOf(side),
            value: value[c] * by,
        }))
        .sort(
            (a, b) => b.value - a.value || b.calls - a.calls || a.file - b.file || a.line - b.line,
        );
}

// Returns totals of each file on a side: { self, count, calls, subs, lines }. Where statements have
// no values, those of the subs that begin in the file count.
export function fileTotals(side) {
    return keep(placedTree().kept, `files ${state.metric} ${side}`, () => {
        const of = lineCosts.sides[side], table = allSubs(), exact = linesHave(side);
        return lineCosts.files.map(({ index }) => {
            const list = subsIn(index, side),
                total = { self: 0, count: 0, calls: 0, subs: list.length };
            const self = exact && of.values[state.metric].self();
            for (
                let i = of.from[index];
                i < of.from[index + 1] && placedTree() === profile.tree;
                i++
            ) {
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
export function hottest(side, most) {
    return keep(lineCosts.kept, `hot ${state.metric} ${side} ${most}`, () => {
        const of = lineCosts.sides[side], self = of.values[state.metric].self(), order = [];
        for (let i = 0; i < of.n; i++) if (self[i] > 0 && of.line[i] > 0) order.push(i);
        order.sort((a, b) => self[b] - self[a] || a - b);
        return order
            .slice(0, most)
            .map((i) => ({ file: of.file[i], line: of.line[i], ...costAt(side, i) }));
    });
}

export const stateOf = (file, side = last()) =>
    (
        lineCosts.files[file].source[side]
        || (profile.relative && lineCosts.files[file].source[0])
        || {}
    ).state || 'left out';

// Returns the lines of a source, or null if the page does not have its text. Lines end with a
// newline, as in perl.
export async function textOf(file, side = last()) {
    const { source, texts } = lineCosts.files[file],
        from = source[side] || (profile.relative && source[0]),
        node = from && $(from.element);
    if (texts[side] === undefined) {
        texts[side] = node && (async () => {
            const lines = new TextDecoder()
                .decode(await inflate(bytesOf(node.textContent)))
                .split('\n');
            if (lines[lines.length - 1] === '') lines.pop();
            return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
        })();
    }
    return (await texts[side]) || null;
}

export const fileName = (file) => lineCosts.files[file].name || '(place not known)';

export function placeIn(sub) {
    const place = lineCosts.files && profile.facts.places && profile.facts.places[sub],
        file = place ? lineCosts.number.get(profile.facts.files[place[0]]) : undefined;
    return file === undefined ? null : { file, line: place[1] };
}
