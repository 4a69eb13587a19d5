// What tests of the page draw, and how a plain way would compute it.

'use strict';

const CPU = { key: 'cpu', label: 'user+system time', unit: 's', hz: 1000 };
const METRICS = [CPU, { key: 'calls', label: 'calls', unit: 'calls', hz: 1 },
    { key: 'ops', label: 'ops', unit: 'ops', hz: 1 }];
const f = (name, cpu, kids = [], calls = 1, ops = 10) =>
    ({ name, self: { cpu, calls, ops }, kids });

// Makes random trees, and computes in a plain way what they are reversed or with recursion merged.
function randomTree(seed, list = [...'abcd']) {
    let s = seed;
    const random = (n) => {
        s = (Math.imul(s, 1103515245) + 12345) >>> 0;
        return (s >>> 10) % n;
    };
    const grow = (depth) => {
        const names = list.filter(() => random(5) < (depth < 5 ? 2 : 0));
        return names.map((name) => f(name, random(4) ? random(50) : 0, grow(depth + 1)));
    };
    return { self: 3,
        kids: grow(0).concat(f('z', 7, [f('z', 9, [f('z', 4, [f('a', 11)]), f('a', 2)])])) };
}

function stacks(tree) {
    const list = [];
    const walk = (frame, above) => {
        list.push([above, frame.self.cpu ?? frame.self]);
        for (const kid of frame.kids || []) walk(kid, [...above, kid.name]);
    };
    walk(tree, []);
    return list;
}

// Returns path -> inclusive value, of stacks changed by `change`.
function folded(list, change) {
    const sums = new Map();
    for (const [stack, value] of list) {
        const changed = change(stack);
        for (let k = 0; k <= changed.length; k++) {
            const key = changed.slice(0, k).join(';');
            sums.set(key, (sums.get(key) || 0) + value);
        }
    }
    return sums;
}

const shape = (sums) => [...sums].filter(([, value]) => value > 0)
    .sort(([a], [c]) => (a < c ? -1 : a > c ? 1 : 0));

module.exports = { CPU, METRICS, f, randomTree, stacks, folded, shape };
