// Makes a page as the renderer does, from a plain object: for the tests of the page alone.
//
// page({ root, ...JSON }) -> HTML. A frame: { name, self, kids, when }; self is a number, or for
// each metric a number or a list of one number for each side: { cpu: [3, 5], calls: [1, 1] }.
// Siblings are put in order of name. Frames with a name of `parts` stand for processes and threads.
// pack(json, columns) takes columns as they are: for large profiles.

'use strict';

const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const crypto = require('crypto');

const top = path.join(__dirname, '..', '..');
const share = path.join(top, 'share');

// A growing list of bytes of LEB128 numbers.
class Column {
    constructor() {
        this.bytes = Buffer.alloc(1 << 12);
        this.length = 0;
    }

    add(value) {
        if (this.length + 10 > this.bytes.length)
            this.bytes = Buffer.concat([this.bytes, Buffer.alloc(this.bytes.length)]);
        let v = value;
        while (v >= 128) {
            this.bytes[this.length++] = (v % 128) + 128;
            v = Math.floor(v / 128);
        }
        this.bytes[this.length++] = v;
    }

    done() {
        return this.bytes.subarray(0, this.length);
    }
}

function u32(n) {
    const b = Buffer.alloc(4);
    b.writeUInt32LE(n);
    return b;
}

function pack(json, columns) {
    const text = Buffer.from(JSON.stringify(json));
    return zlib.gzipSync(Buffer.concat([u32(text.length), text,
        ...columns.flatMap((c) => [u32(c.length), c])]), { level: 6 });
}

const escaped = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

function html(title, data) {
    const read = (name) => fs.readFileSync(path.join(share, name), 'utf8');
    const style = read('flame.css');
    const script = fs.readFileSync(path.join(top, 'src', 'picture', 'dp_page.js'), 'utf8');
    const hash = (text) => `'sha256-${crypto.createHash('sha256').update(text).digest('base64')}'`;
    const csp = `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; `
        + "base-uri 'none'; form-action 'none'";
    const parts = {
        TITLE: escaped(title), DOCUMENT: escaped(title), CSP: csp, STYLE: style, SCRIPT: script,
        DATA: data.toString('base64'), SOURCES: '', TIMES: '',
    };
    return read('flame.html').replace(/\{\{([A-Z]+)\}\}/g, (_, key) => parts[key]);
}

const CORE = new RegExp('^(?:File|Carp|Exporter|JSON::PP|Getopt|Encode|Storable|Time|Scalar|strict'
    + '|warnings|Data::Dumper)\\b');

// Returns a hue and a kind that look like the renderer's.
function hueOf(name) {
    let h = 7;
    for (const c of name.replace(/::[^:]*$/, '')) h = (h * 31 + c.codePointAt(0)) % 360;
    return h;
}

function kindOf(name) {
    if (name === '(program)') return 6;
    if (/^\(phase /.test(name)) return 7;
    if (/^(?:sql|http|template|command|file|regex|cache|job):/.test(name)) return 9;
    if (/__ANON__/.test(name)) return 4;
    if (/BEGIN/.test(name)) return 5;
    if (/^CORE::/.test(name)) return 3;
    if (/^(?:List::Util|POSIX|Digest::MD5|Cwd)/.test(name)) return 2;
    return CORE.test(name) ? 1 : 0;
}

function defaults(json) {
    return {
        format: 1, version: '0.1', title: 'A profile', subtitle: '', sides: ['tmon.out'],
        metrics: [{ key: 'cpu', label: 'user+system time', unit: 's', hz: 1000 }],
        kinds: json.names.map(kindOf), hues: json.names.map(hueOf), fills: null, files: [],
        places: json.names.map(() => 0),
        options: {}, notes: [], diff: null, ...json,
    };
}

const inOrder = (frame) => [...(frame.kids || [])].sort((a, b) => (a.name < b.name ? -1 : 1));

function encode({ root, ...rest }) {
    const names = [], index = new Map(), parts = rest.parts || [];
    const collect = (frame) => {
        if (!index.has(frame.name) && !parts.includes(frame.name)) {
            index.set(frame.name, names.length);
            names.push(frame.name);
        }
        for (const kid of inOrder(frame)) collect(kid);
    };
    collect({ name: '(program)', ...root });
    parts.forEach((part, k) => index.set(part, names.length + k));
    const number = (name) => index.get(name);
    const json = defaults({ ...rest, names });
    const up = new Column(), name = new Column(), when = new Column();
    const values = json.metrics.map(() => json.sides.map(() => new Column()));
    let before = 0, count = 0, timed = false;
    const visit = (frame, depth) => {
        if (count) up.add(before + 1 - depth);
        before = depth;
        count++;
        name.add(number(frame.name));
        json.metrics.forEach((m, k) => json.sides.forEach((_, side) => {
            const own = typeof frame.self === 'object' && !Array.isArray(frame.self)
                ? frame.self[m.key] : k === 0 ? frame.self : 0;
            values[k][side].add((Array.isArray(own) ? own[side] : own) || 0);
        }));
        const kids = inOrder(frame);
        const first = [...(frame.kids || [])].map((kid, i) => ({ kid, at: kid.when ?? i }))
            .sort((a, b) => a.at - b.at);
        timed = timed || kids.some((kid) => kid.when !== undefined);
        first.forEach(({ kid }, rank) => ranksOf.set(kid, rank));
        for (const kid of kids) visit(kid, depth + 1);
    };
    const ranksOf = new Map(), order = [];
    visit({ name: '(program)', ...root }, 0);
    const again = (frame) => {
        for (const kid of inOrder(frame)) {
            order.push(ranksOf.get(kid));
            again(kid);
        }
    };
    again(root);
    if (timed) for (const rank of order) when.add(rank);
    json.kinds = rest.kinds || names.map(kindOf);
    json.hues = rest.hues || names.map(hueOf);
    const asked = (given, none) =>
        (Array.isArray(given) ? given : names.map((n) => (given && given[n]) || none));
    json.places = asked(rest.places, 0);
    if (rest.fills) json.fills = asked(rest.fills, '#808080');
    if (rest.diff && rest.diff.significant) {
        const list = (given) => given.map((n) => index.get(n));
        const { self, total } = rest.diff.significant;
        json.diff = { ...rest.diff, significant: { self: list(self), total: list(total) } };
    }
    if (rest.diff && rest.diff.moved) {
        const moved = Object.entries(rest.diff.moved).map(([n, p]) => [index.get(n), p]);
        json.diff = { ...json.diff, moved: Object.fromEntries(moved) };
    }
    json.frames = count;
    return pack(json, [up.done(), name.done(), timed ? when.done() : Buffer.alloc(0),
        ...values.flat().map((c) => c.done())]);
}

const page = (profile) => html(profile.title || 'A profile', encode(profile));

// Makes a profile with about `frames` frames and the shape of a real one: depth 5 to 45, many
// narrow leaves, some wide ones. It is made of random but repeatable numbers; sides > 1: a
// difference.
function synthetic(frames, { names: nameCount = 6000, sides = 1, ...rest } = {}) {
    let seed = 12345;
    const random = () => {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        return (seed >>> 8) / 0x1000000;
    };
    const packages = ['main', 'My::App', 'My::Parser', 'My::Store', 'JSON::PP', 'Template', 'DBI',
        'File::Spec', 'List::Util', 'POSIX', 'Text::Wrap', 'CORE'];
    const names = ['(program)'];
    const verbs = ['read', 'write', 'parse', 'encode', 'decode', 'fetch', 'render', 'init', 'find',
        'walk', 'merge', 'split'];
    for (let i = 1; i < nameCount; i++) {
        const p = packages[Math.floor(random() ** 1.5 * packages.length)];
        names.push(i % 40 === 0 ? `${p}::__ANON__[lib/${p.replace(/::/g, '/')}.pm:${i}]`
            : `${p}::${verbs[i % verbs.length]}_${i}`);
    }
    const sorted = [names[0], ...names.slice(1).sort((a, b) => (a < b ? -1 : 1))];
    // Some subs are everywhere: by a random but fixed choice, not by their place in the order of
    // names.
    const popular = sorted.map((_, i) => 1 + (i * 1657) % (sorted.length - 1));
    const up = new Column(), name = new Column(), when = new Column();
    const cpu = Array.from({ length: sides }, () => new Column());
    const callsAll = Array.from({ length: sides }, () => new Column());
    let count = 0, before = 0;
    // Each frame takes a part of the frames left and hands them to its kids, a few wide and many
    // narrow.
    const jobs = [{ depth: 0, own: 0, budget: frames, rank: 0, twist: 1 }];
    while (jobs.length) {
        const { depth, own, budget, rank, twist } = jobs.pop();
        if (count) {
            up.add(before + 1 - depth);
            when.add(rank);
        }
        before = depth;
        count++;
        name.add(own);
        const v = random() < 0.45 ? 1 : Math.floor(random() ** 8 * 3000) + 1;
        cpu.forEach((column, side) => {
            if (side === 0) column.add(twist === 2 ? 0 : v);
            else if (twist === 0) column.add(0);
            else column.add(Math.floor(v * (random() < 0.3 ? 1.5 : 1) * (own % 17 === 0 ? 2 : 1)));
        });
        callsAll.forEach((column) => column.add(1 + (v & 7)));
        let left = budget - 1;
        if (left <= 0 || depth >= 45) continue;
        const kids = [];
        const many = depth < 3 ? 8 : 1 + Math.floor(random() * 3.4);
        for (let k = 0; k < many && left > 0; k++) {
            const part = k === many - 1 && depth < 44 ? left
                : Math.max(1, Math.floor(left * (0.25 + random() * 0.6)));
            const fate = random();
            kids.push({
                depth: depth + 1, own: popular[Math.floor(random() ** 2.5 * sorted.length)],
                budget: Math.min(part, left), rank: 0,
                twist: sides > 1 && fate < 0.04 ? (fate < 0.02 ? 0 : 2) : twist,
            });
            left -= part;
        }
        // Siblings differ in name and are sorted by it.
        kids.sort((a, b) => a.own - b.own);
        for (let k = 1; k < kids.length; k++)
            if (kids[k].own <= kids[k - 1].own)
                kids[k].own = Math.min(sorted.length - 1, kids[k - 1].own + 1);
        kids.forEach((kid, k) => { kid.rank = (k * 7 + 3) % kids.length; });
        if (new Set(kids.map((k) => k.rank)).size < kids.length)
            kids.forEach((kid, k) => { kid.rank = kids.length - 1 - k; });
        jobs.push(...kids.reverse());
    }
    const json = defaults({
        names: sorted, frames: count, title: `${frames} frames`,
        sides: sides === 1 ? ['tmon.out'] : ['before.out', 'after.out'],
        metrics: [
            { key: 'cpu', label: 'user+system time', unit: 's', hz: 1e6 },
            { key: 'calls', label: 'calls', unit: 'calls', hz: 1 },
        ],
        ...rest,
    });
    const data = pack(json, [up.done(), name.done(), when.done(), ...cpu.map((c) => c.done()),
        ...callsAll.map((c) => c.done())]);
    return { html: html(json.title, data), count, bytes: data.length };
}

module.exports = { page, html, encode, pack, synthetic, Column };

// As a program this prints one page that shows most features.
// node mkpage.js FRAMES [SIDES] > page.html
if (require.main === module) {
    const [frames, sides = '1'] = process.argv.slice(2);
    const diff = { view: 'graph', width: 'after', colour: 'self', negate: false, factor: [1, 1],
        normalized: '', runs: [1, 1], significant: null, moved: {}, mode: 'diff' };
    const made = synthetic(+frames || 1000, { sides: +sides, diff: +sides > 1 ? diff : null });
    process.stdout.write(made.html);
}
