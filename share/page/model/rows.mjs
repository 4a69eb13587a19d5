// The rows of one file in the source view.
//
// A row is { kind, line, ... }: a line, a call from it, a sub that begins there, a caller of that
// sub, or folded lines.

import { keep } from '../base/lists.mjs';
import { callsFrom, callsOf, costAt, lineCosts } from './lines.mjs';
import { profile, state } from './profile.mjs';
import { allSubs, neighbours } from './subs.mjs';

const FEW = 5;                 // rows of calls that are shown at first
const CHEAP = 0.005;           // lines below this part of the whole are cheap

// The open file, its rows, and the way of folding.
export const openFile = {
    file: -1, side: 0, lines: null, before: null,      // `before`: the same file of the first side
    costs: new Map(), ranges: [], whole: 0,
    rows: [], at: new Map(), calls: new Map(),         // `at`: the row of a line
    fold: 'all', notes: true,
    opened: new Set(), shut: new Set(), more: new Set(), wide: new Set(),
};

// Returns the line where a sub begins in the text. The profile has the line of its first statement;
// the line with its name is above.
function beginOf(lines, sub, line) {
    const word = /(\w+)$/.exec(profile.names[sub].replace(/\[.*$/s, '')),
        nameless = word && /^__ANON__|^BEGIN/.test(word[1]);
    if (!lines || !word) return line;
    const head = nameless
        ? /\bsub\s*(?:\([^)]*\)\s*)?\{|\bBEGIN\b|\buse\b/
        : new RegExp(
              `(?:^|[;{}])\\s*(?:(?:my|our|state)\\s+)?sub\\s+(?:\\w+(?:::|'))*${word[1]}\\b`,
          );
    for (let at = line; at > 0 && at > line - (nameless ? 2 : 200); at--)
        if (head.test(lines[at - 1] || '')) return at;
    return line;
}

// Returns the sub's last line: the next line with a brace that is no further to the right than the
// sub's beginning.
function endOf(lines, begin, next) {
    const indent = (text) => /^\s*/.exec(text.replace(/\t/g, '        '))[0].length,
        least = indent(lines[begin - 1] || '');
    if (/\}\s*;?\s*(?:#.*)?$/.test(lines[begin - 1] || '')) return begin;
    for (let at = begin + 1; at <= lines.length && at < next; at++)
        if (/^\s*\}/.test(lines[at - 1]) && indent(lines[at - 1]) <= least) return at;
    return begin;
}

// Returns the ranges of subs, [{ sub, line, end }], in order of lines.
export function rangesOf(file, lines) {
    const list = lineCosts.files[file].subs
        .map(({ sub, line }) => ({ sub, statement: line, line: beginOf(lines, sub, line) }))
        .sort((a, b) => a.line - b.line || profile.rank[a.sub] - profile.rank[b.sub]);
    list.forEach((range, i) => {
        const next = list
            .slice(i + 1)
            .find(({ line, sub }) => line > range.line && !/__ANON__/.test(profile.names[sub]));
        range.end = lines
            ? endOf(lines, range.line, next ? next.line : lines.length + 1)
            : range.line;
    });
    return list;
}

export const costOf = (line) =>
    openFile.costs.has(line) ? costAt(openFile.side, openFile.costs.get(line)) : null;

// Returns the lines that the way of folding hides, as a list of flags.
function hidden(count) {
    const flags = new Uint8Array(count + 2),
        hide = (from, to, on) => flags.fill(on, from, to + 1),
        warm = openFile.whole * CHEAP;
    if (openFile.fold === 'cheap') {
        hide(1, count, 1);
        for (const [line, i] of openFile.costs) {
            const { self, incl } = costAt(openFile.side, i);
            if (Math.max(self, incl) >= warm)
                hide(Math.max(1, line - 1), Math.min(count, line + 1), 0);
        }
        for (const { sub, line } of openFile.ranges)
            if (allSubs().total[openFile.side][sub] >= warm) flags[line] = 0;
    } else if (openFile.fold === 'subs') {
        for (const { sub, line, end } of openFile.ranges)
            if (end > line && !/__ANON__|BEGIN/.test(profile.names[sub])) hide(line + 1, end, 1);
    }
    for (const { line, end } of openFile.ranges)
        if (openFile.shut.has(line)) hide(line + 1, end, 1);
    return flags;
}

export function makeRows() {
    const { lines, costs, ranges } = openFile,
        rows = (openFile.rows = []),
        count = lines ? lines.length : 0,
        beginning = new Map();
    // perl itself calls BEGIN blocks, so their costs are only beside their lines.
    for (const range of ranges)
        if (profile.facts.kinds[range.sub] !== 5) keep(beginning, range.line, () => []).push(range);
    const known = [...new Set([...costs.keys(), ...beginning.keys()])].sort((a, b) => a - b),
        flags = lines ? hidden(count) : null;
    openFile.at = new Map();
    openFile.calls = new Map();
    const one = (line) => {
        for (const range of beginning.get(line) || []) rows.push({ kind: 'sub', line, ...range });
        if (openFile.notes)
            for (const range of beginning.get(line) || []) callerRows(rows, line, range.sub);
        openFile.at.set(line, rows.length);
        rows.push({ kind: 'line', line });
        if (openFile.notes && costs.has(line)) callRows(rows, line);
    };
    // Lines that only the first side has are shown at their old place.
    const { before } = openFile;
    const least = openFile.fold === 'cheap' && !openFile.shut.size ? 3 : 1;
    let next = 1, open = 0;
    const gone = (until) => {
        for (; next < until; next++) {
            rows.push({ kind: 'gone', line: next });
            if (openFile.notes && before.costs.has(next))
                for (const call of callsOfBoth(before.costs.get(next)))
                    rows.push({ kind: 'call', line: 0, call });
        }
    };
    const ahead = before && before.to ? Array.from(before.to) : [];
    for (let k = count - 1; k >= 0 && before && before.to; k--)
        ahead[k] = ahead[k] || (k + 1 < count ? ahead[k + 1] : before.lines.length + 1);
    // Costs with an unknown line come first, and those after the end of a changed text come last.
    for (const line of lines ? known.filter((at) => at < 1) : known) one(line);
    for (let line = 1; line <= count; line++) {
        if (before && before.to) {
            gone(ahead[line - 1]);
            if (before.to[line - 1]) next = before.to[line - 1] + 1;
        }
        let to = line;
        while (
            line >= open
            && to <= count
            && flags[to]
            && (to === line || !openFile.opened.has(to))
        )
            to++;
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
}

// Adds the first few of so many rows, and a row with the number of the others.
function some(rows, count, key, row) {
    const all = openFile.more.has(key), most = all || count <= FEW + 1 ? count : FEW;
    for (let i = 0; i < most; i++) rows.push(row(i));
    if (most < count) rows.push({ ...row(0), kind: 'more', key, n: count - most });
}

// Adds the rows of a line's calls, which are looked up when they are drawn.
function callRows(rows, line) {
    const { first } = lineCosts.sides[openFile.side],
        i = openFile.costs.get(line),
        before = openFile.before && openFile.before.costs.get(openFile.before.oldOf(line));
    const list = () =>
        keep(openFile.calls, line, () =>
            openFile.before ? callsOfBoth(before, i) : callsFrom(openFile.side, i),
        );
    const n = openFile.before ? list().length : first[i + 1] - first[i];
    if (n)
        some(rows, n, `calls ${line}`, (k) => ({
            kind: 'call',
            line,
            get call() {
                return list()[k];
            },
        }));
}

function callsOfBoth(before, now) {
    const none = { calls: 0, value: 0 },
        list = new Map(
            (now === undefined ? [] : callsFrom(1, now)).map((call) => [
                call.sub,
                { ...call, was: none },
            ]),
        );
    for (const was of before === undefined ? [] : callsFrom(0, before))
        keep(list, was.sub, () => ({ ...none, sub: was.sub })).was = was;
    return [...list.values()].sort(
        (a, b) =>
            Math.abs(b.value - b.was.value) - Math.abs(a.value - a.was.value)
            || b.calls - a.calls
            || profile.rank[a.sub] - profile.rank[b.sub],
    );
}

function callerRows(rows, line, sub) {
    const list = callsOf(openFile.side, sub), by = list.length ? null : neighbours();
    const add = (kind, key, of) =>
        some(rows, of.length, `${key} ${sub}`, (k) => ({ kind, line, call: of[k] }));
    if (list.length) add('caller', 'callers', list);
    else {
        add('caller', 'callers', by.callers.get(sub) || []);
        add('call', 'callees', by.callees.get(sub) || []);
    }
}

// Returns the innermost sub whose text contains a line.
export function subAt(line) {
    const around =
        state.file < 0
            ? []
            : openFile.ranges.filter(
                  (range) => range.line <= line && line <= Math.max(range.end, range.line),
              );
    return around.length ? around[around.length - 1].sub : -1;
}
