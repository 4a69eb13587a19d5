'use strict';

// What the page holds: base64 -> zlib -> JSON and columns -> trees of frames.
//
// A frame is a number: its place in preorder. A tree is a few typed arrays, no object per frame, and the frames below
// frame i are i+1 .. end[i]-1: skipping a subtree is one assignment. All text comes from the program that was profiled: it
// is data, shown with textContent or on a canvas, never read as HTML or run.

function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const raw = atob(base64.trim());
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Decodes unsigned LEB128 numbers of `bytes` into `into`, from index `at` on. It multiplies, since
// shifts lose what is over 2^31.
function varints(bytes, into, at = 0) {
    let from = 0;
    for (let i = at; i < into.length; i++) {
        let b = bytes[from++];
        if (b < 128) {
            into[i] = b;
            continue;
        }
        let value = b & 127, scale = 128;
        do {
            b = bytes[from++];
            value += (b & 127) * scale;
            scale *= 128;
        } while (b >= 128);
        into[i] = value;
    }
    if (from > bytes.length) throw new Error('a column ends too early');
    return into;
}

// A tree: parent[0] is -1. `load(metric, side)` returns the frames' own values in ticks.
class Frames {
    constructor(name, parent, when, load) {
        const n = name.length, depth = new Int32Array(n), end = new Int32Array(n);
        for (let i = 1; i < n; i++) depth[i] = depth[parent[i]] + 1;
        for (let i = n - 1; i >= 0; i--) {
            if (end[i] === 0) end[i] = i + 1;
            if (i > 0 && end[parent[i]] < end[i]) end[parent[i]] = end[i];
        }
        Object.assign(this, { n, name, parent, when, depth, end, load, kept: new Map() });
    }

    own(metric, side) {
        const key = metric + '/' + side;
        if (!this.kept.has(key)) this.kept.set(key, this.load(metric, side));
        return this.kept.get(key);
    }

    // Returns the kids of a frame, in order of name.
    kids(i) {
        const list = [];
        for (let k = i + 1; k < this.end[i]; k = this.end[k]) list.push(k);
        return list;
    }

    // Returns the names from the root's kid down to the frame.
    path(i) {
        const list = [];
        for (; i > 0; i = this.parent[i]) list.push(this.name[i]);
        return list.reverse();
    }

    // Returns the frame that a list of names leads to, or the last one that exists on the way.
    follow(path) {
        let at = 0, steps = 0;
        for (const name of path) {
            let k = at + 1;
            while (k < this.end[at] && this.name[k] !== name) k = this.end[k];
            if (k >= this.end[at]) break;
            at = k;
            steps++;
        }
        return { frame: at, steps };
    }
}

// Blocks of a page begin with JSON, and go on with columns.
function blocks(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    let at = 0;
    return () => {
        const size = view.getUint32(at, true), from = at + 4;
        at = from + size;
        if (at > bytes.length) throw new Error('the data end too early');
        return bytes.subarray(from, at);
    };
}

function decode(bytes) {
    const take = blocks(bytes);
    const facts = JSON.parse(new TextDecoder().decode(take()));
    if (facts.format !== 1) throw new Error(`format ${facts.format} is not known here`);
    const n = facts.frames;
    if (!(n > 0 && n <= bytes.length)) throw new Error('the data end too early');       // a frame takes some bytes
    const up = varints(take(), new Int32Array(n), 1), name = varints(take(), new Int32Array(n)), order = take();
    const parent = new Int32Array(n).fill(-1), stack = [0];
    for (let i = 1, depth = 0; i < n; i++) {
        depth += 1 - up[i];
        if (!(depth > 0)) throw new Error(`frame ${i} has no parent`);
        parent[i] = stack[depth - 1];
        stack[depth] = i;
    }
    // Columns of values are read on first use: most of them are never needed.
    const columns = facts.metrics.map(() => facts.sides.map(take));
    const load = (metric, side) => varints(columns[metric][side], new Float64Array(n));
    const when = order.length ? varints(order, new Int32Array(n), 1) : null;
    return withoutParts(facts, new Frames(name, parent, when, load));
}

const PHASE_KIND = 7, PART_KIND = 8;

// Frames of processes, threads and phases are for the choice among these: the tree on show has none. `whole`: the tree with them, or null.
function withoutParts(facts, whole) {
    const list = (given) => (Array.isArray(given) ? given : []), parts = list(facts.parts);
    if (!parts.length && !list(facts.kinds).includes(PHASE_KIND)) return { facts, tree: whole, whole: null };
    const names = [...facts.names, ...parts], kinds = [...facts.kinds, ...parts.map(() => PART_KIND)];
    const hues = [...facts.hues, ...parts.map(() => 0)], fills = facts.fills && [...facts.fills, ...parts.map(() => '#888888')];
    return { facts: { ...facts, names, kinds, hues, fills }, tree: within(whole, kinds, ranks(names), []), whole };
}

// Makes the tree of what ran in one process, thread or phase, or in one phase of one of the others. `only`: their names.
function within(whole, kinds, rank, only) {
    const { name, parent } = whole, wanted = new Set(only), chosen = new Set(only.map((k) => kinds[k])), missing = new Uint8Array(whole.n);
    missing[0] = chosen.size;
    for (let i = 1; i < whole.n; i++) missing[i] = Math.max(0, missing[parent[i]] - (chosen.has(kinds[name[i]]) && wanted.has(name[i]) ? 1 : 0));
    const place = (i) => {
        const kind = kinds[name[i]];
        if (kind !== PHASE_KIND && kind !== PART_KIND) return missing[i] ? OUT : name[i];
        return chosen.has(kind) && !wanted.has(name[i]) ? OUT : PART;
    };
    return regroup(whole, rank, (i) => (i ? place(i) : ROOT), missing.map((n) => (n ? 0 : 1)), whole.name[0], true);
}

// Adds up own values -> values with all that is below.
function inclusive(tree, own) {
    const sum = own.slice(), parent = tree.parent;
    for (let i = tree.n - 1; i > 0; i--) sum[parent[i]] += sum[i];
    return sum;
}

// Maps names -> places in the order of names.
function ranks(names) {
    const order = names.map((_, i) => i).sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
    const rank = new Int32Array(names.length);
    order.forEach((name, i) => { rank[name] = i; });
    return rank;
}

const PART = -1, OUT = -2, ROOT = -3;

// Makes another tree of a tree's frames. place(i, at) says where frame i goes, whose caller went to the new frame `at` (below 0: it
// was left out): the name that it has below `at`, PART of `at` itself, OUT of the tree, or ROOT: it is part of the new root.
// What has one name below one frame is one frame. `counts`, if given, tells which frames' own values count. `root`: its name. With
// `earliest`, a frame's time is that of the earliest that it is made of: for a tree whose times are comparable.
function regroup(tree, rank, place, counts = null, root = tree.name[0], earliest = false) {
    const { n, parent } = tree, to = new Int32Array(n), newName = new Int32Array(n), newParent = new Int32Array(n), first = new Int32Array(n);
    // Frames are found by (parent, name), with open addressing.
    let size = 1;
    while (size < 2 * n) size *= 2;
    const slots = new Int32Array(size);
    let count = 1;
    newName[0] = root;
    newParent[0] = -1;
    for (let i = 0; i < n; i++) {
        const at = i ? to[parent[i]] : 0, own = i ? place(i, at, newName) : place(i, at, newName) === OUT ? OUT : ROOT;
        if (own < 0) {
            to[i] = own === PART ? at : own === OUT ? -1 : 0;
            continue;
        }
        let slot = (Math.imul(at, 0x9e3779b1) ^ Math.imul(own, 0x85ebca6b)) & (size - 1);
        while (slots[slot] !== 0 && (newParent[slots[slot]] !== at || newName[slots[slot]] !== own)) slot = (slot + 1) & (size - 1);
        if (slots[slot] === 0) {
            slots[slot] = count;
            newName[count] = own;
            newParent[count] = at;
            first[count++] = i;
        }
        to[i] = slots[slot];
        if (earliest && tree.when && tree.when[i] < tree.when[first[to[i]]]) first[to[i]] = i;
    }

    // Back into preorder: sizes of subtrees, then each frame's distance from its parent, siblings being met in order of name.
    const sizes = new Int32Array(count).fill(1), into = new Int32Array(count), next = new Int32Array(count).fill(1);
    for (let i = count - 1; i > 0; i--) sizes[newParent[i]] += sizes[i];
    const starts = new Int32Array(rank.length + 1), byName = new Int32Array(count);
    for (let i = 1; i < count; i++) starts[rank[newName[i]] + 1]++;
    for (let r = 0; r < rank.length; r++) starts[r + 1] += starts[r];
    for (let i = 1; i < count; i++) byName[starts[rank[newName[i]]]++] = i;
    for (const i of byName.subarray(0, count - 1)) {
        into[i] = next[newParent[i]];
        next[newParent[i]] += sizes[i];
    }
    const outName = new Int32Array(count), outParent = new Int32Array(count).fill(-1), when = tree.when && new Int32Array(count);
    for (let i = 0; i < count; i++) {
        if (i) outParent[into[i] += into[newParent[i]]] = into[newParent[i]];
        outName[into[i]] = newName[i];
        if (when) when[into[i]] = tree.when[first[i]];
    }
    return new Frames(outName, outParent, when, (metric, side) => {
        const own = tree.own(metric, side), sums = new Float64Array(count);
        for (let i = 0; i < n; i++) if (to[i] >= 0 && (!counts || counts[i])) sums[into[to[i]]] += own[i];
        return sums;
    });
}

// Makes the tree in which a frame called directly by itself is merged with its caller. What both
// call is merged as well, all the way down.
function mergeRecursion(tree, rank) {
    const { n, name, parent } = tree;
    for (let i = 1; i < n; i++) if (name[i] === name[parent[i]]) return regroup(tree, rank, (k, at, names) => (name[k] === names[at] ? PART : name[k]));
    return tree;
}

// Tells which frames are of the sub, or below one of these; with `outermost`, these alone.
function below(tree, sub, outermost = false) {
    const { n, name, end } = tree, flags = new Uint8Array(n);
    for (let i = 0; i < n;) {
        if (name[i] !== sub) {
            i++;
            continue;
        }
        flags.fill(1, i, outermost ? i + 1 : end[i]);
        i = end[i];
    }
    return flags;
}

// Makes the tree of the stacks that a sub is in.
function onlyWith(tree, sub, rank) {
    const { n, name, parent } = tree, counts = below(tree, sub), leads = counts.slice();
    for (let i = n - 1; i > 0; i--) if (leads[i]) leads[parent[i]] = 1;
    return regroup(tree, rank, (i) => (leads[i] ? name[i] : OUT), counts);
}

// Makes the tree of the stacks that a sub is not in.
function without(tree, sub, rank) {
    const gone = below(tree, sub);
    return regroup(tree, rank, (i) => (gone[i] ? OUT : tree.name[i]));
}

// Makes the tree in which what a group's subs call of the same group is part of them: what is left of the group is how it is entered.
// inGroup: by name.
function fold(tree, inGroup, rank) {
    const { name } = tree;
    return regroup(tree, rank, (i, at, names) => (inGroup[name[i]] && inGroup[names[at]] ? PART : name[i]));
}

// Makes the tree of what a sub calls, wherever it is called; the sub is the root.
function calleesOf(tree, sub, rank) {
    const counts = below(tree, sub), first = below(tree, sub, true);
    return regroup(tree, rank, (i) => (first[i] ? ROOT : counts[i] ? tree.name[i] : OUT), counts, sub);
}

// Makes the tree of callers: the subs that spend the time are the root's kids, their callers the
// kids of those, and so on.
//
// All of such a tree may be frames times depth: only what is wide enough to see is built, for one zoom at a time: the path
// `focus`, and below it what has at least the part `share` of its weight.
// `weigh` are the own values by which it is decided, of the frames `all`; `columns` are lists of own values, summed for each new frame.
const REVERSE_LIMIT = 5000000;

const weighty = (weigh) => Int32Array.from(weigh.keys()).filter((i) => weigh[i] > 0);

function reverse(tree, weigh, all, columns, focus, share, rank) {
    const { name, parent } = tree, outName = [], outParent = [], totals = columns.map(() => []);
    const weight = new Float64Array(rank.length), counts = new Int32Array(rank.length), slot = new Int32Array(rank.length);
    let narrow = 0, least = 0;
    const lost = [];             // by frame: the weight of its callers that are left out

    // A job is a future frame: the frames of the profile where its time was spent (from), and which
    // frames call it there.
    const jobs = [{ above: -1, own: name[0], level: 0, from: all, callers: all, whole: true }];
    while (jobs.length) {
        const { above, own, level, from, callers, whole } = jobs.pop(), me = outName.length, seen = [], first = level ? 1 : 0;
        // On the way to the focus there is one caller to go on with, else all that are wide enough.
        const only = level < focus.length ? focus[level] : -1;
        outName.push(own);
        outParent.push(above);
        columns.forEach((column, c) => totals[c].push(from.reduce((all, frame) => all + column[frame], 0)));
        lost.push(0);
        if (!whole) continue;
        let mine = 0;
        for (let k = 0; k < from.length; k++) {
            const frame = callers[k], other = name[frame];
            if (only >= 0 && other !== only) continue;
            const value = weigh[from[k]];
            mine += value;
            if (frame < first) continue;
            if (counts[other]++ === 0) seen.push(other);
            weight[other] += value;
        }
        if (level === focus.length) least = mine * share;
        // What is too narrow has its place above the focus, but nothing above it; elsewhere it is left out.
        const kept = seen.filter((other) => {
            const fits = only >= 0 || level === focus.length || weight[other] >= least;
            if (!fits) lost[me] += weight[other];
            return fits;
        });
        narrow += seen.length - kept.length;
        const next = kept.sort((a, b) => rank[b] - rank[a]).map((other, k) => {
            slot[other] = k + 1;
            return { above: me, own: other, level: level + 1, from: new Int32Array(counts[other]), callers: new Int32Array(counts[other]), whole: only >= 0 || weight[other] >= least };
        });
        for (const other of seen) counts[other] = weight[other] = 0;
        for (let k = 0; next.length && k < from.length; k++) {
            const frame = callers[k], other = name[frame];
            if (frame < first || slot[other] === 0) continue;
            const job = next[slot[other] - 1], where = counts[other]++;
            job.from[where] = from[k];
            job.callers[where] = parent[frame];
        }
        for (const job of next) {
            counts[job.own] = slot[job.own] = 0;
            jobs.push(job);
        }
    }
    const out = new Frames(Int32Array.from(outName), Int32Array.from(outParent), null, null);
    return { tree: out, totals: totals.map((t) => Float64Array.from(t)), narrow, lost };
}

// Returns where each frame begins, in the unit of its weights: kids from the left in the chosen
// order, own weight at the right.
function positions(tree, weights, order) {
    const { n, parent, end, when } = tree, x = new Float64Array(n);
    if (order === 'name' || (order === 'time' && !when)) {
        const next = new Float64Array(n);
        for (let i = 1; i < n; i++) {
            const p = parent[i];
            if (p < 0) continue;
            x[i] = next[i] = next[p];
            next[p] += weights[i];
        }
        return x;
    }
    const before = order === 'time' ? (a, b) => when[a] - when[b] || a - b : (a, b) => weights[b] - weights[a] || a - b;
    for (let p = 0; p < n; p++) {
        if (end[p] === p + 1) continue;
        let at = x[p];
        if (end[p + 1] === end[p]) {
            x[p + 1] = at;
            continue;
        }
        for (const k of tree.kids(p).sort(before)) {
            x[k] = at;
            at += weights[k];
        }
    }
    return x;
}
