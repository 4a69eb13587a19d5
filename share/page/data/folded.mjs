// Reads folded stacks from the bytes of a file.

import { sum } from '../base/lists.mjs';
import { visibly } from '../base/words.mjs';

// Numbers things, from 1 up: a new thing gets the next number. same(number, a, b) returns whether
// that is the number of a and b.
class Numbers {
    constructor(same) {
        Object.assign(this, { same, hashes: [0], slots: new Int32Array(1 << 12) });
    }

    find(hash, a, b) {
        const { hashes, slots, same } = this, mask = slots.length - 1;
        let at = (hash ^ hash >>> 15) & mask;
        for (; slots[at] !== 0; at = (at + 1) & mask)
            if (hashes[slots[at]] === hash && same(slots[at], a, b)) return slots[at];
        slots[at] = hashes.push(hash) - 1;
        if (hashes.length * 2 > slots.length) this.grow();
        return hashes.length - 1;
    }

    grow() {
        const slots = this.slots = new Int32Array(this.slots.length * 2), mask = slots.length - 1;
        for (let k = 1; k < this.hashes.length; k++) {
            let at = (this.hashes[k] ^ this.hashes[k] >>> 15) & mask;
            while (slots[at] !== 0) at = (at + 1) & mask;
            slots[at] = k;
        }
    }
}

const isBlank = (byte) => byte === 32 || byte === 9 || byte === 13;

// Returns the beginning of the word before `to`, or of the blanks before `to`.
function backOver(bytes, from, to, blanks) {
    while (to > from && isBlank(bytes[to - 1]) === blanks) to--;
    return to;
}

const textIn = (bytes, from, to) =>
    to - from > 40 ? '' : String.fromCharCode(...bytes.subarray(from, to));

// Returns a decimal number, or NaN if the bytes are none.
function countIn(bytes, from, to) {
    let value = 0, i = from;
    for (; i < to && i < from + 15 && bytes[i] >= 48 && bytes[i] <= 57; i++)
        value = value * 10 + bytes[i] - 48;
    return i === to && i > from
        ? value
        : +(/^\d+\.?\d*$/.exec(textIn(bytes, from, to)) || [NaN])[0];
}

// Returns a name as the page shows it. In folded text, `;`, `#`, `%`, control bytes and some blanks
// are written as %XX.
function nameIn(bytes) {
    let text;
    try {
        text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (error) {
        text = Array.from(bytes, (byte) =>
            byte < 128 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`,
        ).join('');
    }
    text = text.replace(/%([01][\da-f]|7f|3b|23|25|20(?=$|[-+]?[\d.]+$))/gi, (_, hex) =>
        String.fromCharCode(parseInt(hex, 16)),
    );
    return visibly(/^ +$/.test(text) ? '(blank)' : text.replace(/(.)_\[[kwij]\]$/s, '$1'));
}

// Reads folded stacks. Their counts are those of a metric, or microseconds if the metric is a time.
// It reads bytes, since a text of a million stacks may be longer than the longest string. Frames of
// the tree are in the order of their first stack.
export function readFolded(bytes, { key, unit }) {
    const wrong = 'it is neither folded stacks nor a page of dprofflame',
        from = [0],
        to = [0],
        name = [0],
        parent = [-1],
        own = [0];
    const known = new Numbers((k, a, b) => {
        if (to[k] - from[k] !== b - a) return false;
        for (let i = a, j = from[k]; i < b; i++, j++) if (bytes[i] !== bytes[j]) return false;
        return true;
    });
    const nodes = new Numbers((k, a, b) => parent[k] === a && name[k] === b);
    if (bytes.subarray(0, 4096).includes(0)) throw new Error(wrong);
    // The frames of the last stack: their ends in the line, and their numbers.
    const ends = [], path = [];
    let decimals = 0, stacks = 0, pairs = 0, was = 0, wasLast = 0, depth = 0;
    for (
        let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0,
            line = 1,
            stop;
        at < bytes.length;
        at = stop + 1, line++
    ) {
        stop = bytes.indexOf(10, at);
        if (stop < 0) stop = bytes.length;
        const end = backOver(bytes, at, stop, true);
        if (end === at || (bytes[at] === 35 && (end === at + 1 || isBlank(bytes[at + 1]))))
            continue;
        const word = backOver(bytes, at, end, false),
            last = backOver(bytes, at, word, true),
            count = countIn(bytes, word, end);
        if (last === at || Number.isNaN(count))
            throw new Error(stacks ? `line ${line} has no stack with a count at its end` : wrong);
        if (
            pairs === stacks++
            && !Number.isNaN(countIn(bytes, backOver(bytes, at, last, false), last))
        )
            pairs++;
        if (!Number.isInteger(count))
            decimals = Math.max(decimals, /\.(\d*?)0*$/.exec(textIn(bytes, word, end))[1].length);
        // The frames at the beginning that the last stack shares are known already; in sorted text
        // these are most of the frames.
        const most = Math.min(last - at, wasLast - was);
        let same = 0;
        while (same < most && bytes[at + same] === bytes[was + same]) same++;
        if (
            same === most
            && (same === last - at || bytes[at + same] === 59)
            && (same === wasLast - was || bytes[was + same] === 59)
        )
            same++;
        while (depth > 0 && ends[depth - 1] >= same) depth--;
        let node = depth ? path[depth - 1] : 0;
        for (
            let begin = at + (depth ? ends[depth - 1] + 1 : 0), i = begin, hash = 7;
            i <= last;
            i++
        ) {
            if (i < last && bytes[i] !== 59) {
                hash = Math.imul(hash ^ bytes[i], 0x01000193);
                continue;
            }
            if (i > begin) {
                const sub = known.find(hash, begin, i),
                    kid = nodes.find(
                        Math.imul(node, 0x9e3779b1) ^ Math.imul(sub, 0x85ebca6b),
                        node,
                        sub,
                    );
                if (sub === from.length) {
                    from.push(begin);
                    to.push(i);
                }
                if (kid === own.length) {
                    parent.push(node);
                    name.push(sub);
                    own.push(0);
                }
                path[depth] = node = kid;
                ends[depth++] = i - at;
            }
            begin = i + 1;
            hash = 7;
        }
        own[node] += count;
        was = at;
        wasLast = last;
    }
    if (!stacks) throw new Error('it has no stacks');
    if (pairs === stacks)
        throw new Error('its lines have two counts, so that it has two sides itself');
    // Ticks are so fine that all counts are whole numbers of ticks, if their sum still fits.
    const total = sum(own);
    let places = Math.min(decimals, unit === 's' ? 6 : 9);
    while (places > 0 && total * 10 ** places > Number.MAX_SAFE_INTEGER) places--;
    const scale = 10 ** places, ticks = Float64Array.from(own, (v) => Math.round(v * scale));
    const names = from.map((at, k) => (k ? nameIn(bytes.subarray(at, to[k])) : '(program)'));
    return {
        facts: {
            names,
            sides: [''],
            metrics: [{ key, unit, hz: (unit === 's' ? 1e6 : 1) * scale }],
            notes: [['Profile', 'folded stacks']],
        },
        tree: { n: own.length, name, parent, when: null, own: () => ticks },
    };
}
