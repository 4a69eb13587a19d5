// Makes the difference of the page's profile and another one.

import { bytesOf, inflate } from '../base/bytes.mjs';
import { keep, sum } from '../base/lists.mjs';
import { decode } from '../data/decode.mjs';
import { readFolded } from '../data/folded.mjs';
import { hueOf } from '../data/hue.mjs';
import { PART, SPAN_KIND, isLane, ranks, regroup } from '../data/tree.mjs';
import { hasLines, metric, profile } from './profile.mjs';

const unzip = (bytes) => inflate(bytes).catch(() => { throw new Error('it cannot be unpacked'); });

async function readPage(bytes) {
    const text = new TextDecoder().decode(bytes),
        mark = 'id="dprof-data">',
        at = text.indexOf(mark) + mark.length;
    if (at < mark.length) throw new Error('it is a page, but none that dprofflame has made');
    try {
        const other = decode(await unzip(bytesOf(text.slice(at, text.indexOf('<', at))))),
            {
                facts: { names, sides, metrics },
                tree,
            } = other;
        const texts = (list) => Array.isArray(list) && list.every((one) => typeof one === 'string');
        if (
            !texts(names)
            || !texts(sides)
            || !Array.isArray(metrics)
            || !tree.name.every((k) => k >= 0 && k < names.length)
        )
            throw new Error('its facts do not fit');
        return other;
    } catch (error) {
        throw new Error(`the profile in it is damaged: ${error.message}`);
    }
}

export async function readProfile(file) {
    let bytes = new Uint8Array(
        await file.arrayBuffer().catch(() => {
            throw new Error('it cannot be read');
        }),
    );
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await unzip(bytes);
    return /^(?:\xef\xbb\xbf)?\s*<!doctype html/i.test(
        String.fromCharCode(...bytes.subarray(0, 64)),
    )
        ? readPage(bytes)
        : readFolded(bytes, metric());
}

// Returns ticks per unit that are a multiple of both numbers of ticks, if there is one of
// reasonable size.
function finer(a, b) {
    const part = (x, y) => (y ? part(y, x % y) : x),
        all = Number.isInteger(a) && Number.isInteger(b) ? (a / part(a, b)) * b : Infinity;
    return all <= 1e12 ? all : Math.max(a, b);
}

// Names of folded stacks that are spans, as Format.pod says.
const SPAN = /^(?:sql|http|template|command|file|regex|cache):/;

// Returns facts and tree of the difference of the page's profile and another one. Frames with the
// same path of names become one.
export function unite(other, title) {
    const { facts, tree: a, metrics: mine } = profile,
        { facts: theirs, tree: b } = other,
        [first] = facts.sides,
        hadLines = hasLines();
    if (theirs.sides.length !== 1) throw new Error('it has two sides itself');
    const both = mine
        .map((m, at) => ({
            m,
            at,
            to: theirs.metrics.findIndex(
                (o) =>
                    o
                    && o.key === m.key
                    && o.unit === m.unit
                    && Number.isFinite(o.hz)
                    && o.hz > 0
                    && o.hz < 1e16,
            ),
        }))
        .filter(({ to }) => to >= 0);
    if (!both.length) throw new Error('it has no metric that this page has');
    if (!both.every(({ to }) => sum(b.own(to, 0)) <= Number.MAX_SAFE_INTEGER))
        throw new Error('its counts add up to more than fits');
    // Tables show calls and ops unchanged, whatever a tick is.
    const metrics = both.map(({ m, to }) => ({
        ...m,
        hz: /^(?:calls|ops)$/.test(m.key) ? m.hz : finer(m.hz, theirs.metrics[to].hz),
    }));

    const names = [...facts.names],
        number = new Map(),
        kinds = [...facts.kinds],
        hues = [...facts.hues],
        files = [...(facts.files || [])],
        places = names.map((_, k) => (facts.places || [])[k] || 0);
    names.forEach((text, k) => {
        if (!isLane(kinds[k])) number.set(text, number.get(text) ?? k);
    });
    const paths = new Map(files.map((path, k) => [path, k])),
        kept = new Map(),
        at = (list, k) => (Array.isArray(list) ? list[k] : undefined),
        renamed = theirs.names.map((text, k) =>
            isLane(at(theirs.kinds, k))
                ? 0
                : keep(number, text, () => {
                      const kind = at(theirs.kinds, k) ?? (SPAN.test(text) ? SPAN_KIND : 0),
                          hue = at(theirs.hues, k),
                          [file, line] = [].concat(at(theirs.places, k)),
                          path = at(theirs.files, file);
                      kinds.push(
                          Number.isInteger(kind) && kind >= 0 && kind <= SPAN_KIND ? kind : 0,
                      );
                      hues.push(
                          Number.isFinite(hue)
                              ? hue
                              : hueOf(kind === SPAN_KIND ? text.replace(/:.*/s, '') : text, kept),
                      );
                      places.push(
                          typeof path === 'string' && Number.isInteger(line)
                              ? [keep(paths, path, () => files.push(path) - 1), line]
                              : 0,
                      );
                      return names.push(text) - 1;
                  }),
        );

    // The frames of both are put below one root, one tree after the other, and regroup() merges
    // them.
    const n = a.n + b.n - 1,
        name = new Int32Array(n),
        parent = new Int32Array(n),
        when = a.when && new Int32Array(n),
        shift = a.n - 1;
    name.set(a.name);
    parent.set(a.parent);
    if (when) when.set(a.when);
    for (let i = 1; i < b.n; i++) {
        name[shift + i] = renamed[b.name[i]];
        parent[shift + i] = b.parent[i] && b.parent[i] + shift;
        // New frames come last.
        if (when) when[shift + i] = shift + (b.when ? b.when[i] : 0);
    }
    const own = (m, side) => {
        const list = new Float64Array(n),
            of = side ? b.own(both[m].to, 0) : a.own(both[m].at, 0),
            by = metrics[m].hz / (side ? theirs.metrics[both[m].to] : mine[both[m].at]).hz;
        const ticks = by === 1 ? of : of.map((v) => Math.round(v * by));
        list.set(side ? ticks.subarray(1) : ticks, side ? a.n : 0);
        list[0] = ticks[0];
        return list;
    };
    const tree = regroup({ n, name, parent, when, own }, ranks(names), (i, above) =>
        above === 0 && name[i] === name[0] ? PART : name[i],
    );

    const listed = (notes, label) =>
        (Array.isArray(notes) ? notes : [])
            .filter(Array.isArray)
            .map(([term, text]) => [term === 'Profile' ? label : `${term}`, `${text}`]);
    const notes = [
        ...listed(facts.notes, 'Baseline'),
        ['Other side', title],
        ...listed(theirs.notes, 'Its profile'),
        ['Compared', `in this page: loading the page again shows ${first} alone`],
    ];
    if (both.length < mine.length)
        notes.push([
            'Metrics',
            `${metrics.map((m) => m.label).join(', ')}: the other side has no more of them`,
        ]);
    if (hadLines)
        notes.push([
            'Source',
            `not shown: the page has sources and costs of lines of ${first} alone`,
        ]);
    const diff = {
        view: 'graph',
        width: 'after',
        colour: 'self',
        negate: false,
        factor: [1, 1],
        factors: metrics.map(() => [1, 1]),
        moved: {},
        significant: null,
        mode: 'diff',
        runs: [1, 1],
        normalized: '',
    };
    return {
        tree,
        facts: {
            ...facts,
            title: `${first} \u2192 ${title}`,
            subtitle: '',
            frames: tree.n,
            sides: [first, title],
            metrics,
            names,
            kinds,
            hues,
            fills: null,
            spans: null,
            files,
            places,
            options: { ...facts.options, metric: metric().key },
            notes,
            diff,
            isDropped: true,
        },
    };
}
