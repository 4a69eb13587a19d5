// Spans, frames that are no subs: kinds, callers, and how many statements of SQL are equal, or
// differ between two sides.

import { keep } from '../base/lists.mjs';
import { grouped, plural, short } from '../base/words.mjs';
import { OUT, PART, PART_KIND, PHASE_KIND, inStacks, inclusive, regroup } from '../data/tree.mjs';
import {
    isSpan, last, partsOf, profile, runsOf, shown, spanKind, state, values,
} from './profile.mjs';
import { chained, lane, partInWords } from './steps.mjs';

// Returns the kinds of spans that the profile has.
export const spanKinds = () =>
    keep(profile.kept, 'kinds of spans', () =>
        [...new Set(profile.names.map((_, name) => spanKind(name)))].filter(Boolean).sort(),
    );

// Marks the spans of the chosen kind, by name; null: no kind is chosen.
export const wantedSpans = () =>
    state.kind
        ? keep(profile.kept, `spans ${state.kind}`, () =>
              Uint8Array.from(profile.names, (_, name) => (spanKind(name) === state.kind ? 1 : 0)),
          )
        : null;

// Marks the frames of stacks with spans of the chosen kind; null: no kind is chosen.
export const stacksOfKind = (tree) =>
    state.kind
        ? keep(tree.kept, `stacks with ${state.kind}`, () => inStacks(tree, wantedSpans()))
        : null;

// ---- callers ----

// Is the sub between a program and a span, as dp_library_has() in src/view/dp_library.c says? A
// page of folded stacks that were dropped knows of spans only.
const isLibrary = (name) =>
    isSpan(name) || (profile.facts.spans || { library: '' }).library[name] === '1';

// Returns the inclusive values of frames, by side.
export const inclusiveOf = (tree) =>
    keep(tree.kept, `inclusive ${state.metric}`, () =>
        shown(tree).map((list) => inclusive(tree, list)),
    );

// Returns the callers of a span outside of libraries: rows of { sub, calls, total }, the latter by
// side, those with the most time first. Without such a caller, sub is the program.
export function callersOf(span) {
    const tree = chained(),
        { name, parent, end } = tree,
        known = profile.key('calls'),
        calls = known < 0 ? null : values(tree, known),
        all = inclusiveOf(tree),
        rows = new Map();
    let until = 0;
    for (let i = 1; i < tree.n; i++) {
        if (name[i] !== span) continue;
        let up = parent[i];
        while (up > 0 && isLibrary(name[up])) up = parent[up];
        const row = keep(rows, name[up], () => ({
            sub: name[up],
            calls: calls && calls.map(() => 0),
            total: all.map(() => 0),
        }));
        all.forEach((list, side) => {
            if (calls) row.calls[side] += calls[side][i];
            if (i >= until) row.total[side] += list[i];
        });
        until = Math.max(until, end[i]);
    }
    return [...rows.values()].sort(
        (a, b) =>
            Math.max(...b.total) - Math.max(...a.total)
            || (calls ? Math.max(...b.calls) - Math.max(...a.calls) : 0)
            || profile.rank[a.sub] - profile.rank[b.sub],
    );
}

// ---- equal statements ----

const MANY = 10;               // more equal statements than that are probably those of a loop

const stepOf = (act) => state.chain.find((step) => step.act === act);

// Returns how often a phase began on a side, in the chosen process or in all; '': any phase.
function timesOf(phase, side = 0) {
    const { begun = [], sides = [] } = profile.facts.spans || {}, { parts = [] } = profile.facts,
        process = stepOf('process'),
        of = begun.filter((_, k) =>
            (sides[k] || 0) === side && (!process || parts[k] === process.text));
    return of
        .flatMap((list) => (phase ? [list[phase] || 0] : Object.values(list)))
        .reduce((a, b) => a + b, 0);
}

// Returns the tree with its phases, of the chosen process or of all; null: it has none.
function phasedTree() {
    const { whole, facts: { kinds }, rank } = profile, process = stepOf('process');
    if (!whole || !kinds.includes(PHASE_KIND) || state.chain.some(({ act }) => act !== 'process'))
        return null;
    const only = process ? lane('process', process.text) : -1;
    return keep(whole.kept, `phases ${only}`, () =>
        regroup(whole, rank, (i, at) => {
            const name = whole.name[i];
            if (at < 0 || (kinds[name] === PART_KIND && only >= 0 && only !== name)) return OUT;
            return kinds[name] === PART_KIND ? PART : name;
        }),
    );
}

// Hands over the frames of statements of SQL: the frame, its name, and its phase or ''.
function eachStatement(tree, what) {
    const of = new Int32Array(tree.n), { names, facts: { kinds } } = profile, at = stepOf('phase');
    for (let i = 0; i < tree.n; i++) {
        const name = tree.name[i];
        of[i] = kinds[name] === PHASE_KIND ? name : i ? of[tree.parent[i]] : -1;
        if (spanKind(name) === 'sql') what(i, name, of[i] >= 0 ? names[of[i]] : at ? at.text : '');
    }
}

// Returns the statements of traces by phase. Their graph has no phases, so the page has these
// numbers. How many are equal in several processes together is unknown.
function statementsInTraces() {
    const found = new Map();
    for (const [phase, [calls, equal]] of profile.facts.spans.statements.flatMap(Object.entries)) {
        const row = keep(found, phase, () => ({ calls: 0, equal: 0 }));
        row.equal = row.calls ? NaN : equal;
        row.calls += calls;
    }
    return found;
}

// Counts the statements of SQL in each phase, or in what the chain leaves: { phase, times, calls,
// equal }, those with the most equal ones first. phase: its name, or ''; times: how often it began;
// equal: the most calls of one statement from one path of calls, NaN if that cannot be known.
export function statements() {
    const key = profile.key('calls'), phase = stepOf('phase');
    if (profile.diff || key < 0 || !spanKinds().includes('sql')) return [];
    const split = phasedTree(),
        tree = split || chained(),
        isOne = !!phase || (!!stepOf('time') && !profile.facts.options.sampled)
            || timesOf('') <= 1,
        isTraced = !split && !isOne && !state.chain.length
            && !!(profile.facts.spans || {}).statements;
    return keep(tree.kept, `statements ${isOne} ${phase && phase.text}`, () => {
        const calls = values(tree, key)[last()],
            found = isTraced ? statementsInTraces() : new Map();
        if (!isTraced)
            eachStatement(tree, (i, _, text) => {
                if (!calls[i]) return;
                const row = keep(found, text, () => ({ calls: 0, equal: 0 }));
                row.calls += calls[i];
                row.equal = Math.max(row.equal, calls[i]);
            });
        return [...found]
            .map(([text, row]) => ({
                phase: text && partInWords(text),
                times: (text && timesOf(text)) || 1,
                calls: row.calls,
                equal: split || isOne || isTraced ? row.equal : NaN,
            }))
            .sort((a, b) => b.equal / b.times - a.equal / a.times || b.calls - a.calls);
    });
}

const rounded = (v) => grouped(v, Number.isInteger(v) ? 0 : 1);

// Returns "14 SQL statements, 11 of them equal (N+1?)" of a row of statements().
export function inStatements({ times, calls, equal }) {
    const each = calls / times, most = equal / times,
        n = times > 1 ? `${grouped(times)} times ${rounded(each)}` : rounded(each);
    return `${n} SQL statement${each === 1 ? '' : 's'}`
        + (most > 1 ? `, ${rounded(most)} of them equal${most > MANY ? ' (N+1?)' : ''}` : '');
}

// What may have become of a statement, the worst first.
const FATES = ['repeated now (N+1?)', 'new', 'gone', 'no longer repeated'];

function fateOf([before, after], canRepeat) {
    if (canRepeat && after > MANY && before <= MANY) return 0;
    if (!before !== !after) return before ? 2 : 1;
    return canRepeat && before > MANY && after <= MANY ? 3 : -1;
}

// Returns the statements that differ between two sides: { name, fate, equal }. fate: its number in
// FATES; equal: by side, the most calls from one path in a phase, each time that the phase ran.
export function changedStatements() {
    const key = profile.key('calls');
    if (!profile.diff || profile.relative || key < 0 || !spanKinds().includes('sql')) return [];
    const split = phasedTree(), tree = split || chained(), sides = [0, 1],
        canRepeat = !!split || !!stepOf('phase')
            || sides.every((side) => timesOf('', side) <= runsOf(side));
    return keep(tree.kept, 'changed statements', () => {
        const calls = sides.map((side) => tree.own(key, side)), found = new Map();
        eachStatement(tree, (i, name, phase) => {
            const equal = keep(found, name, () => [0, 0]);
            for (const side of sides) {
                const times = (phase && timesOf(phase, side)) || runsOf(side);
                equal[side] = Math.max(equal[side], calls[side][i] / times);
            }
        });
        return [...found]
            .map(([name, equal]) => ({ name, fate: fateOf(equal, canRepeat), equal }))
            .filter(({ fate }) => fate >= 0)
            .sort((a, b) => a.fate - b.fate || Math.max(...b.equal) - Math.max(...a.equal)
                || profile.rank[a.name] - profile.rank[b.name]);
    });
}

// Returns what there is to say about statements, a line each: by phase, or what differs.
export function statementLines() {
    if (profile.diff)
        return changedStatements().map(({ name, fate, equal }) =>
            `${FATES[fate]}: ${short(partsOf(name)[1])} (${equal.map(rounded).join(' \u2192 ')}`
            + ' by one path)');
    const rows = statements();
    return rows.map((row) => (row.phase ? `${row.phase}: ` : '') + inStatements(row));
}

// Returns the same of all that is on show, or '' if there is nothing to say.
export function allStatements() {
    if (profile.diff) {
        const n = FATES.map(() => 0);
        for (const { fate } of changedStatements()) n[fate]++;
        const told = FATES.map((word, k) => n[k] && `${grouped(n[k])} ${word}`).filter(Boolean);
        return told.length ? `SQL statements: ${told.join(', ')}` : '';
    }
    const rows = statements();
    if (rows.length < 2) return rows.map(inStatements).join('');
    const [{ phase, times, equal }] = rows, most = equal / times;
    return plural(Math.round(rows.reduce((n, { calls }) => n + calls, 0)), 'SQL statement')
        + (most > 1
            ? `, ${rounded(most)} equal in phase ${phase}${most > MANY ? ' (N+1?)' : ''}`
            : '');
}
