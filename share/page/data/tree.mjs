// Trees of frames, and the trees derived from them.
//
// A frame is a number: its place in preorder. A tree is a few typed arrays, without an object per
// frame. The frames below frame i are i+1 .. end[i]-1, so skipping a subtree is one assignment.

export const PHASE_KIND = 7;
export const PART_KIND = 8;
export const SPAN_KIND = 9;

// Is the name that of a phase or a process, and of no frame?
export const isLane = (kind) => kind === PHASE_KIND || kind === PART_KIND;

// A tree: parent[0] is -1. `load(metric, side)` returns the frames' own values in ticks.
export class Frames {
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

// Adds up own values to values with all frames below.
export function inclusive(tree, own) {
    const sum = own.slice(), parent = tree.parent;
    for (let i = tree.n - 1; i > 0; i--) sum[parent[i]] += sum[i];
    return sum;
}

// Maps names -> places in the order of names.
export function ranks(names) {
    const order = names
        .map((_, i) => i)
        .sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
    const rank = new Int32Array(names.length);
    order.forEach((name, i) => { rank[name] = i; });
    return rank;
}

export const PART = -1;
export const OUT = -2;
const ROOT = -3;

// Makes another tree from a tree's frames. place(i, at) returns the new place of frame i; its
// caller has become the new frame `at` (below 0: it was left out). The result is the frame's name
// below `at`; PART, which merges it into `at`; OUT, which leaves it out; or ROOT, which merges it
// into the new root. Frames with the same name below the same frame become one. `counts`, if given,
// marks the frames whose own values count. `root` is the name of the new root. With `earliest`, a
// merged frame gets the time of its earliest part, for a tree whose times are comparable.
export function regroup(tree, rank, place, counts = null, root = tree.name[0], earliest = false) {
    const { n, parent } = tree,
        to = new Int32Array(n),
        newName = new Int32Array(n),
        newParent = new Int32Array(n),
        first = new Int32Array(n);
    // Frames are found by (parent, name), with open addressing.
    let size = 1;
    while (size < 2 * n) size *= 2;
    const slots = new Int32Array(size);
    let count = 1;
    newName[0] = root;
    newParent[0] = -1;
    for (let i = 0; i < n; i++) {
        const at = i ? to[parent[i]] : 0,
            own = i ? place(i, at, newName) : place(i, at, newName) === OUT ? OUT : ROOT;
        if (own < 0) {
            to[i] = own === PART ? at : own === OUT ? -1 : 0;
            continue;
        }
        let slot = (Math.imul(at, 0x9e3779b1) ^ Math.imul(own, 0x85ebca6b)) & (size - 1);
        while (slots[slot] !== 0 && (newParent[slots[slot]] !== at || newName[slots[slot]] !== own))
            slot = (slot + 1) & (size - 1);
        if (slots[slot] === 0) {
            slots[slot] = count;
            newName[count] = own;
            newParent[count] = at;
            first[count++] = i;
        }
        to[i] = slots[slot];
        if (earliest && tree.when && tree.when[i] < tree.when[first[to[i]]]) first[to[i]] = i;
    }

    // The frames are put into preorder: by the sizes of subtrees, and then by each frame's distance
    // from its parent, with siblings in order of name.
    const sizes = new Int32Array(count).fill(1),
        into = new Int32Array(count),
        next = new Int32Array(count).fill(1);
    for (let i = count - 1; i > 0; i--) sizes[newParent[i]] += sizes[i];
    const starts = new Int32Array(rank.length + 1), byName = new Int32Array(count);
    for (let i = 1; i < count; i++) starts[rank[newName[i]] + 1]++;
    for (let r = 0; r < rank.length; r++) starts[r + 1] += starts[r];
    for (let i = 1; i < count; i++) byName[starts[rank[newName[i]]]++] = i;
    for (const i of byName.subarray(0, count - 1)) {
        into[i] = next[newParent[i]];
        next[newParent[i]] += sizes[i];
    }
    const outName = new Int32Array(count),
        outParent = new Int32Array(count).fill(-1),
        when = tree.when && new Int32Array(count);
    for (let i = 0; i < count; i++) {
        if (i) outParent[into[i] += into[newParent[i]]] = into[newParent[i]];
        outName[into[i]] = newName[i];
        if (when) when[into[i]] = tree.when[first[i]];
    }
    return new Frames(outName, outParent, when, (metric, side) => {
        const own = tree.own(metric, side), sums = new Float64Array(count);
        for (let i = 0; i < n; i++)
            if (to[i] >= 0 && (!counts || counts[i])) sums[into[to[i]]] += own[i];
        return sums;
    });
}

// Makes the tree of one process, thread or phase, or of one phase of a process or thread. `only`:
// their names.
export function within(whole, kinds, rank, only) {
    const { name, parent } = whole,
        wanted = new Set(only),
        chosen = new Set(only.map((k) => kinds[k])),
        missing = new Uint8Array(whole.n);
    missing[0] = chosen.size;
    for (let i = 1; i < whole.n; i++)
        missing[i] = Math.max(
            0,
            missing[parent[i]] - (chosen.has(kinds[name[i]]) && wanted.has(name[i]) ? 1 : 0),
        );
    const place = (i) => {
        const kind = kinds[name[i]];
        if (!isLane(kind)) return missing[i] ? OUT : name[i];
        return chosen.has(kind) && !wanted.has(name[i]) ? OUT : PART;
    };
    return regroup(
        whole,
        rank,
        (i) => (i ? place(i) : ROOT),
        missing.map((n) => (n ? 0 : 1)),
        whole.name[0],
        true,
    );
}

// Makes the tree in which a frame that a frame of the same sub calls directly is merged with that
// caller. Their callees are merged as well, all the way down.
export function mergeRecursion(tree, rank) {
    const { n, name, parent } = tree;
    for (let i = 1; i < n; i++)
        if (name[i] === name[parent[i]])
            return regroup(tree, rank, (k, at, names) => (name[k] === names[at] ? PART : name[k]));
    return tree;
}

// Marks the frames of the sub and those below; with `outermost`, only the outermost ones of the
// sub.
export function below(tree, sub, outermost = false) {
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

// Marks the frames of all stacks that contain one of the wanted names. wanted: by name.
export function inStacks(tree, wanted) {
    const { n, name, parent } = tree, flags = new Uint8Array(n);
    for (let i = 0; i < n; i++)
        if (wanted[name[i]] || (parent[i] >= 0 && flags[parent[i]])) flags[i] = 1;
    for (let i = n - 1; i > 0; i--) if (flags[i] && parent[i] >= 0) flags[parent[i]] = 1;
    return flags;
}

// Makes the tree of the stacks that contain a sub.
export function onlyWith(tree, sub, rank) {
    const { n, name, parent } = tree, counts = below(tree, sub), leads = counts.slice();
    for (let i = n - 1; i > 0; i--) if (leads[i]) leads[parent[i]] = 1;
    return regroup(tree, rank, (i) => (leads[i] ? name[i] : OUT), counts);
}

// Makes the tree of the stacks that do not contain a sub.
export function without(tree, sub, rank) {
    const gone = below(tree, sub);
    return regroup(tree, rank, (i) => (gone[i] ? OUT : tree.name[i]));
}

// Makes the tree in which calls within a group of subs are merged into their callers, so that only
// the entries into the group are left. inGroup: by name.
export function fold(tree, inGroup, rank) {
    const { name } = tree;
    return regroup(tree, rank, (i, at, names) =>
        inGroup[name[i]] && inGroup[names[at]] ? PART : name[i],
    );
}

// Makes the tree of a sub's callees, from all its calls; the sub is the root.
export function calleesOf(tree, sub, rank) {
    const counts = below(tree, sub), first = below(tree, sub, true);
    return regroup(
        tree,
        rank,
        (i) => (first[i] ? ROOT : counts[i] ? tree.name[i] : OUT),
        counts,
        sub,
    );
}

// Returns the position of each frame's left end, in the unit of its weights: kids come from the
// left in the chosen order, and a frame's own weight is at the right.
export function positions(tree, weights, order) {
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
    const before =
        order === 'time'
            ? (a, b) => when[a] - when[b] || a - b
            : (a, b) => weights[b] - weights[a] || a - b;
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
