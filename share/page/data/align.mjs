// Finds the lines that two texts share.

import { keep } from '../base/lists.mjs';

// Returns for each line of b its number in a (from 1 up), or 0 if it was inserted. Lines that are
// unique in both are anchors (patience diff, Bram Cohen). Between anchors, the longest common
// subsequence is used, unless the texts are too long for the search.
export function alignLines(a, b) {
    const words = new Map(),
        number = (text) => keep(words, text.trim(), () => words.size),
        x = Int32Array.from(a, number),
        y = Int32Array.from(b, number);
    const to = new Int32Array(b.length), jobs = [[0, x.length, 0, y.length]];
    while (jobs.length) {
        let [a0, a1, b0, b1] = jobs.pop();
        for (; a0 < a1 && b0 < b1 && x[a0] === y[b0]; a0++, b0++) to[b0] = a0 + 1;
        for (; a0 < a1 && b0 < b1 && x[a1 - 1] === y[b1 - 1]; a1--, b1--) to[b1 - 1] = a1;
        if (a0 === a1 || b0 === b1) continue;
        const anchors = increasing(once(x, a0, a1), once(y, b0, b1));
        if (!anchors.length) {
            if ((a1 - a0) * (b1 - b0) <= 4e6) longest(x, a0, a1, y, b0, b1, to);
            continue;
        }
        for (const [i, j] of [...anchors, [a1, b1]]) {
            jobs.push([a0, i, b0, j]);
            if (i < a1) to[j] = i + 1;
            [a0, b0] = [i + 1, j + 1];
        }
    }
    return to;
}

// Returns words that occur once in a range: word -> place.
function once(x, from, to) {
    const at = new Map();
    for (let i = from; i < to; i++) at.set(x[i], at.has(x[i]) ? -1 : i);
    return at;
}

// Returns pairs of places of words that are unique in both: the longest list in the same order.
function increasing(one, other) {
    const pairs = [...one]
        .filter(([word, i]) => i >= 0 && other.get(word) >= 0)
        .map(([word, i]) => [i, other.get(word)])
        .sort((p, q) => p[0] - q[0]);
    const tops = [], before = [];
    pairs.forEach(([, j], k) => {
        let low = 0, high = tops.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (pairs[tops[middle]][1] < j) low = middle + 1;
            else high = middle;
        }
        before[k] = low ? tops[low - 1] : -1;
        tops[low] = k;
    });
    const list = [];
    for (let k = tops.length ? tops[tops.length - 1] : -1; k >= 0; k = before[k])
        list.push(pairs[k]);
    return list.reverse();
}

function longest(x, a0, a1, y, b0, b1, to) {
    const n = a1 - a0, m = b1 - b0, wide = m + 1, most = new Uint16Array((n + 1) * wide);
    for (let i = n - 1; i >= 0; i--) {
        for (let j = m - 1; j >= 0; j--)
            most[i * wide + j] =
                x[a0 + i] === y[b0 + j]
                    ? most[(i + 1) * wide + j + 1] + 1
                    : Math.max(most[(i + 1) * wide + j], most[i * wide + j + 1]);
    }
    for (let i = 0, j = 0; i < n && j < m;) {
        if (x[a0 + i] === y[b0 + j]) to[b0 + j++] = a0 + ++i;
        else if (most[(i + 1) * wide + j] >= most[i * wide + j + 1]) i++;
        else j++;
    }
}
