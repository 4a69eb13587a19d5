'use strict';

// A second profile, dropped onto the page or chosen: the page becomes the difference of its own profile and that one. Nothing of the
// file is run or read as HTML, and nothing leaves the page.

const comparing = { ready: Promise.resolve() };    // kept when each file that was given is compared or refused

// Returns the hue of a name's package, as dp_palette_oklch_hue() does.
function hueOf(name, kept) {
    const [body] = /^.[^[]*/s.exec(name) || [''], [, of] = /^(.+)::/s.exec(body) || /^(.+)(?:[./]|:(?!$))/s.exec(body) || ['', body];
    return keep(kept, of, () => {
        let h = 0xcbf29ce484222325n;
        for (const byte of new TextEncoder().encode(of)) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n);
        for (const by of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n]) h = BigInt.asUintN(64, (h ^ h >> 33n) * by);
        const hue = Number((h ^ h >> 33n) % 360n), low = 0.496, high = 0.904;
        const [r, g, b] = [hue + 120, hue, hue + 240].map((turned) => {
            const at = turned % 360, v = at < 60 ? low + (high - low) * at / 60 : at < 180 ? high : at < 240 ? low + (high - low) * (240 - at) / 60 : low;
            return ((Math.floor(v * 255 + 0.5) / 255 + 0.055) / 1.055) ** 2.4;
        });
        const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b), m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
        const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
        const turn = Math.atan2(0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s, 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s);
        return Math.floor((turn * 180 / Math.PI + 360.5) % 360);
    });
}

// ---- pages ----

const unzip = (bytes) => inflate(bytes).catch(() => { throw new Error('it cannot be unpacked'); });

async function readPage(bytes) {
    const text = new TextDecoder().decode(bytes), mark = 'id="dprof-data">', at = text.indexOf(mark) + mark.length;
    if (at < mark.length) throw new Error('it is a page, but none that dprofflame has made');
    try {
        const other = decode(await unzip(bytesOf(text.slice(at, text.indexOf('<', at))))), { facts: { names, sides, metrics }, tree } = other;
        const texts = (list) => Array.isArray(list) && list.every((one) => typeof one === 'string');
        if (!texts(names) || !texts(sides) || !Array.isArray(metrics) || !tree.name.every((k) => k >= 0 && k < names.length)) throw new Error('its facts do not fit');
        return other;
    } catch (error) {
        throw new Error(`the profile in it is damaged: ${error.message}`);
    }
}

async function readProfile(file) {
    let bytes = new Uint8Array(await file.arrayBuffer().catch(() => { throw new Error('it cannot be read'); }));
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await unzip(bytes);
    return /^(?:\xef\xbb\xbf)?\s*<!doctype html/i.test(String.fromCharCode(...bytes.subarray(0, 64))) ? readPage(bytes) : readFolded(bytes);
}

// ---- the difference ----

// Returns ticks per unit of which both numbers of ticks are whole multiples, if there are any within reason.
function finer(a, b) {
    const part = (x, y) => (y ? part(y, x % y) : x), all = Number.isInteger(a) && Number.isInteger(b) ? a / part(a, b) * b : Infinity;
    return all <= 1e12 ? all : Math.max(a, b);
}

// Returns facts and tree of the difference of the page's profile and another one: trees are one tree by the names of their paths.
function unite(other, title) {
    const { facts, tree: a, metrics: mine } = profile, { facts: theirs, tree: b } = other, [first] = facts.sides, hadLines = hasLines();
    if (theirs.sides.length !== 1) throw new Error('it has two sides itself');
    const both = mine.map((m, at) => ({ m, at, to: theirs.metrics.findIndex((o) => o && o.key === m.key && o.unit === m.unit && Number.isFinite(o.hz) && o.hz > 0 && o.hz < 1e16) })).filter(({ to }) => to >= 0);
    if (!both.length) throw new Error('it has no metric that this page has');
    if (!both.every(({ to }) => sum(b.own(to, 0)) <= Number.MAX_SAFE_INTEGER)) throw new Error('its counts add up to more than fits');
    // Tables show calls and ops as they are, whatever a tick is.
    const metrics = both.map(({ m, to }) => ({ ...m, hz: /^(?:calls|ops)$/.test(m.key) ? m.hz : finer(m.hz, theirs.metrics[to].hz) }));

    const names = [...facts.names], number = new Map(), kinds = [...facts.kinds], hues = [...facts.hues], files = [...(facts.files || [])], places = names.map((_, k) => (facts.places || [])[k] || 0);
    names.forEach((text, k) => { if (!(kinds[k] >= PHASE_KIND)) number.set(text, number.get(text) ?? k); });
    const paths = new Map(files.map((path, k) => [path, k])), kept = new Map(), at = (list, k) => (Array.isArray(list) ? list[k] : undefined), renamed = theirs.names.map((text, k) => at(theirs.kinds, k) >= PHASE_KIND ? 0 : keep(number, text, () => {
        const kind = at(theirs.kinds, k), hue = at(theirs.hues, k), [file, line] = [].concat(at(theirs.places, k)), path = at(theirs.files, file);
        kinds.push(KINDS[kind] && Number.isInteger(kind) ? kind : 0);
        hues.push(Number.isFinite(hue) ? hue : hueOf(text, kept));
        places.push(typeof path === 'string' && Number.isInteger(line) ? [keep(paths, path, () => files.push(path) - 1), line] : 0);
        return names.push(text) - 1;
    }));

    // The frames of both stand one behind the other, below one root, for regroup() to merge.
    const n = a.n + b.n - 1, name = new Int32Array(n), parent = new Int32Array(n), when = a.when && new Int32Array(n), shift = a.n - 1;
    name.set(a.name);
    parent.set(a.parent);
    if (when) when.set(a.when);
    for (let i = 1; i < b.n; i++) {
        name[shift + i] = renamed[b.name[i]];
        parent[shift + i] = b.parent[i] && b.parent[i] + shift;
        if (when) when[shift + i] = shift + (b.when ? b.when[i] : 0);       // what is new comes last
    }
    const own = (m, side) => {
        const list = new Float64Array(n), of = side ? b.own(both[m].to, 0) : a.own(both[m].at, 0), by = metrics[m].hz / (side ? theirs.metrics[both[m].to] : mine[both[m].at]).hz;
        const ticks = by === 1 ? of : of.map((v) => Math.round(v * by));
        list.set(side ? ticks.subarray(1) : ticks, side ? a.n : 0);
        list[0] = ticks[0];
        return list;
    };
    const tree = regroup({ n, name, parent, when, own }, ranks(names), (i, above) => (above === 0 && name[i] === name[0] ? PART : name[i]));

    const listed = (notes, label) => (Array.isArray(notes) ? notes : []).filter(Array.isArray).map(([term, text]) => [term === 'Profile' ? label : `${term}`, `${text}`]);
    const notes = [...listed(facts.notes, 'Baseline'), ['Other side', title], ...listed(theirs.notes, 'Its profile'), ['Compared', `in this page: loading the page again shows ${first} alone`]];
    if (both.length < mine.length) notes.push(['Metrics', `${metrics.map((m) => m.label).join(', ')}: the other side has no more of them`]);
    if (hadLines) notes.push(['Source', `not shown: the page has sources and costs of lines of ${first} alone`]);
    const diff = { view: 'graph', width: 'after', colour: 'self', negate: false, factor: [1, 1], factors: metrics.map(() => [1, 1]), moved: {}, significant: null, mode: 'diff', runs: [1, 1], normalized: '' };
    return { tree, facts: { ...facts, title: `${first} \u2192 ${title}`, subtitle: '', frames: tree.n, sides: [first, title], metrics, names, kinds, hues, fills: null, files, places, options: { ...facts.options, metric: metric().key }, notes, diff, isDropped: true } };
}

// Begins anew, with the difference.
function adopt(united) {
    point(-1);
    Object.assign(state, profile.initial);
    scene = ink = lineCosts = null;
    Object.assign(cursor, { frame: -1, hover: -1, keys: false });
    $('menu').hidden = true;
    begin(united);
    $('title').textContent = document.title = profile.facts.title;
    try {
        history.replaceState({ dprof: 0 }, '', location.href.replace(/#.*/s, ''));
    } catch (error) {
        location.hash = '';
    }
    furnish();
    restore(true);
    $('spoken').textContent = `Compared: ${profile.facts.title}`;
}

async function compareWith(list) {
    const [file] = list, name = visibly(short(file.name, 120));
    let united;
    if (file.size > 1e6 || profile.tree.n >= MANY) {
        $('busy').textContent = `Comparing with ${name}\u2026`;
        $('busy').hidden = false;
        await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
    }
    try {
        if (list.length > 1) throw new Error(`there are ${list.length} files, and one is compared at a time`);
        if (profile.diff) throw new Error(`this page has two sides already${profile.facts.isDropped ? '; load it again for another comparison' : ''}`);
        united = unite(await readProfile(file), name);
        // What goes on in the source view ends first.
        openFile.turn++;
        sourceMatches.turn++;
        await Promise.allSettled([openFile.ready, sourceMatches.ready, work.busy]);
        adopt(united);
    } catch (error) {
        if (united) throw error;
        say(`${name} is not compared: ${error instanceof TypeError ? 'its facts do not fit' : error.message.replace(/\.$/, '')}.`);
    } finally {
        $('busy').hidden = true;
    }
}

// One file comes after the other.
function compare(files) {
    const list = [...files];
    if (list.length) comparing.ready = comparing.ready.catch(() => {}).then(() => compareWith(list));
}

function wireCompare() {
    const has = (event) => !!event.dataTransfer && [...event.dataTransfer.types].includes('Files'), over = (event) => {
        if (!has(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
        $('drop').hidden = false;
    };
    $('compare').onclick = () => $('other').click();
    $('other').onchange = () => {
        compare($('other').files);
        $('other').value = '';
    };
    addEventListener('dragenter', over);
    addEventListener('dragover', over);
    addEventListener('dragleave', (event) => { if (!event.relatedTarget) $('drop').hidden = true; });
    addEventListener('drop', (event) => {
        $('drop').hidden = true;
        if (!has(event)) return;
        event.preventDefault();
        compare(event.dataTransfer.files);
    });
}
