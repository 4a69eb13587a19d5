// The flame graph's script in a browser, against a naive model of what it must show.
//
// Pictures are laid out here from trees of plain objects, { name, self, kids, href }, in the form
// the renderer writes. A file of the renderer's own is tried besides: node xt/browser/svg.js FILE,
// or in DPROF_SVG.

'use strict';

const fs = require('fs'), os = require('os'), path = require('path');
const { browser, open, ok, is, note, done } = require('./lib.js');

const share = path.join(__dirname, '..', '..', 'share');
const script = fs.readFileSync(path.join(share, 'flame-svg.js'), 'utf8');
const style = fs.readFileSync(path.join(share, 'flame-svg.css'), 'utf8');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dprof-svg-'));
const shots = process.env.DPROF_SHOTS;

// ---- Pictures, and what they must show.

const XPAD = 10, SIZE = 12, LETTER = SIZE * 0.59, HEIGHT = 16;
const xml = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// Frames in the order of a walk: { name, x, w, depth, up, href, title }.
function layout(tree, total) {
    const frames = [];
    const walk = (node, x, depth, up) => {
        const frame = { name: node.name, x, w: 0, depth, up, href: node.href };
        frames.push(frame);
        let at = x;
        for (const kid of node.kids || []) at += walk(kid, at, depth + 1, frame).w;
        frame.w = at - x + (node.self || 0);
        return frame;
    };
    walk(tree, 0, 0, null);
    const all = total || frames[0].w;
    frames[0].w = all;
    for (const f of frames)
        f.title = `${f.name} (${(f.w / 1000).toFixed(3)} s, ${(100 * f.w / all).toFixed(1)} %)`;
    return frames;
}

function label(name, px) {
    const most = Math.floor((px - 6) / LETTER), all = Array.from(name);
    if (most < 3) return '';
    if (all.length <= most) return name;
    // This is the name without its package, which ends at the last :: outside of brackets.
    const parts = name.replace(/(.)\[[^]*$/, '$1').match(/^[^]+::/);
    const rest = parts && parts[0].length > 2 ? name.slice(parts[0].length) : '';
    const short = Array.from(rest || name);
    return short.length <= most ? short.join('') : short.slice(0, most - 2).join('') + '..';
}

function picture(frames, o = {}) {
    const width = o.width || 1200, room = width - 2 * XPAD, total = frames[0].w;
    const deepest = frames.reduce((d, f) => Math.max(d, f.depth), 0);
    const top = o.icicle ? 60 : 40;
    const height = top + (deepest + 1) * HEIGHT + 40;
    const below = o.icicle ? 48 : height - 17;
    const draw = (f) => {
        const x = XPAD + f.x / total * room, w = f.w / total * room;
        const y = top + (o.icicle ? f.depth : deepest - f.depth) * HEIGHT, text = label(f.name, w);
        const hue = 190 + Array.from(f.name).reduce((n, c) => (n * 7 + c.charCodeAt(0)) % 60, 0);
        const g = `<g class="f" data-x="${f.x}" data-w="${f.w}"><title>${xml(f.title)}</title>` +
            `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${w.toFixed(1)}" height="15" ` +
            `fill="rgb(${hue},${hue - 70},60)"/>` +
            (text ? `<text x="${(x + 3).toFixed(1)}" y="${y + 11}">${xml(text)}</text>` : '') +
            '</g>';
        return f.href ? `<a xlink:href="${xml(f.href)}" target="_top">${g}</a>` : g;
    };
    const css = style.replace(/\{\{FONT\}\}/g, 'Verdana').replace(/\{\{FONTSIZE\}\}/g, SIZE);
    return (o.inline ? '' : '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n') +
`<svg version="1.1" id="dprof" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"
     xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
     data-xpad="${XPAD}" data-fontsize="${SIZE}" data-fontwidth="0.59" data-total="${total}"
     data-unit="s" data-nametype="Function:" data-search="${xml(o.search || '')}"
     role="img" aria-label="Flame Graph">
<style>${css}</style>
<defs><linearGradient id="background" y1="0" y2="1" x1="0" x2="0">
<stop class="bg1" offset="5%"/><stop class="bg2" offset="95%"/></linearGradient></defs>
<rect class="background" x="0" y="0" width="${width}" height="${height}" fill="url(#background)"/>
<text id="title" class="title" x="${width / 2}" y="24">Flame Graph</text>
<text id="details" class="line" x="${XPAD}" y="${below}"> </text>
<text id="hidden" class="quiet" x="${XPAD}" y="${height - 3}">1,204 frames, 0.8 % not drawn</text>
<text id="unzoom" class="control hide" x="${XPAD}" y="24">Reset zoom</text>
<text id="search" class="control" x="${width - 110}" y="24">Search</text>
<text id="ignorecase" class="control" x="${width - 26}" y="24">ic</text>
<text id="matched" class="line" x="${width - 110}" y="${below}"> </text>
<g id="frames">
${frames.map(draw).join('\n')}
</g>
<script>${o.inline ? script : `<![CDATA[\n${script}]]>`}</script></svg>
`;
}

let files = 0;
function write(text, suffix = 'svg') {
    const file = path.join(folder, `${++files}.${suffix}`);
    fs.writeFileSync(file, text);
    return file;
}

// The same list from a renderer's file: read as text, parents found by looking at every frame.
function parse(text) {
    const plain = (t) => t.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex, dec, word) =>
        word ? { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }[word]
            : String.fromCodePoint(hex ? parseInt(hex, 16) : dec));
    const frames = [];
    const pattern = new RegExp([
        /<g\b[^>]*?\bdata-x="([^"]*)" data-w="([^"]*)"[^>]*>/, /<title>([^<]*)<\/title>/,
        /<rect\b[^>]*?\by="([^"]*)"/,
    ].map((part) => part.source).join('.*?'), 'gs');
    for (let m; (m = pattern.exec(text));) {
        const title = plain(m[3]);
        frames.push({ x: +m[1], w: +m[2], y: +m[4], title,
            name: title.slice(0, title.lastIndexOf(' (')) });
    }
    const ys = [...new Set(frames.map((f) => f.y))].sort((a, b) => a - b);
    const sum = (y) => frames.reduce((n, f) => n + (f.y === y ? f.w : 0), 0);
    if (sum(ys[0]) < sum(ys[ys.length - 1])) ys.reverse();
    const byDepth = ys.map(() => []);
    for (const f of frames) byDepth[f.depth = ys.indexOf(f.y)].push(f);
    for (const f of frames) {
        const holds = (p) => p.x <= f.x && p.x + p.w >= f.x + f.w;
        f.up = f.depth ? byDepth[f.depth - 1].find(holds) || null : null;
    }
    return frames;
}

// Returns what the picture must show when zoomed to a frame, by walking up from each.
function expected(frames, to, width = 1200) {
    const room = width - 2 * XPAD, leads = new Set();
    for (let f = to.up; f; f = f.up) leads.add(f);
    const want = frames.map((f) => {
        if (leads.has(f)) return { x: XPAD, w: room, parent: true, text: label(f.name, room) };
        let up = f;
        while (up && up !== to) up = up.up;
        if (!up) return null;
        const w = f.w / to.w * room;
        return { x: XPAD + (f.x - to.x) / to.w * room, w, parent: false, text: label(f.name, w) };
    });
    want.scale = Math.max(...frames.map((f) => (f.up ? 0 : f.w))) / to.w;
    return want;
}

const shown = (page) => page.evaluate(() => Array.from(document.querySelectorAll('.f'), (g) => {
    const rect = g.querySelector('rect'), text = g.querySelector('text');
    return g.classList.contains('hide') ? null : {
        x: +rect.getAttribute('x'), w: +rect.getAttribute('width'),
        parent: g.classList.contains('parent'), text: text ? text.textContent : '',
        tx: text && text.textContent ? +text.getAttribute('x') : null,
    };
}));

// Compares labels letter by letter; places to a hundredth of a pixel, but to tenths where the
// file's own may still stand.
function differences(got, want) {
    const bad = [], close = want.scale === 1 ? 0.06 : 0.01;
    want.forEach((e, i) => {
        const g = got[i];
        if (!e || !g) {
            if (e !== g) bad.push(`${i}: ${JSON.stringify(g)}, not ${JSON.stringify(e)}`);
        } else if (Math.abs(g.x - e.x) > close || Math.abs(g.w - e.w) > close ||
            g.parent !== e.parent || g.text !== e.text ||
            (g.text && Math.abs(g.tx - g.x - 3) > 0.11)) {
            bad.push(`${i}: ${JSON.stringify(g)}, not ${JSON.stringify(e)}`);
        }
    });
    return bad.slice(0, 5).join('\n');
}

// Deterministic trees: the n-th frame has up to four kids, widths of all sizes, some names twice
// among siblings.
function random(seed) {
    let state = seed;
    return (n) => {
        state = (state * 1103515245 + 12345) % 2147483648;
        return Math.floor(state / 65536) % n;
    };
}

function grow(pick, depth, left) {
    const module = ['main', 'App::Web', 'JSON::PP', 'x', 'ab'][pick(5)];
    const name = module + '::' + 'abcdefghijklmnop'.slice(0, pick(16));
    const node = { name, self: pick(4) ? pick(900) : 0, kids: [] };
    for (let n = depth > 0 ? pick(5) : 0; n > 0 && left.n > 0; n--) {
        left.n--;
        node.kids.push(grow(pick, depth - 1, left));
    }
    if (!node.kids.length && !node.self) node.self = 1;
    return node;
}

const frame = (page, i) => page.locator('.f').nth(i);
const click = (page, i, o = {}) => page.evaluate(([n, init]) => {
    const event = new MouseEvent('click', { bubbles: true, cancelable: true, ...init });
    return document.querySelectorAll('.f')[n].querySelector('rect').dispatchEvent(event);
}, [i, o]);
const text = (page, id) => page.evaluate((name) => document.getElementById(name).textContent, id);
const visible = (page, id) =>
    page.evaluate((name) => getComputedStyle(document.getElementById(name)).display !== 'none', id);
const matches = (page) => page.evaluate(() =>
    Array.from(document.querySelectorAll('.f.match title'),
        (t) => t.textContent.replace(/ \([^(]*$/, '')));
const search = (page, re) => page.evaluate((t) => window.dprofSearch(t), re);
const hash = (page) => page.evaluate(() => location.hash);
const quiet = (page, what) =>
    is([page.errors, page.requests], [[], []], `${what}: no errors, no requests`);
const shot = (page, name) => shots && page.screenshot({ path: path.join(shots, name + '.png') });
const set = (frames) => new Map(frames.map((f, i) => [f.name, i]));

const shop = () => layout({ name: 'main::run', kids: [
    { name: 'Shop::order', self: 100, kids: [
        { name: 'Shop::price', self: 150, kids: [
            { name: 'Shop::tax', self: 50, kids: [{ name: 'Shop::price', self: 100 }] },
        ] },
        { name: 'JSON::PP::encode (really)', self: 200 }] },
    { name: 'shop::stock', self: 250, kids: [{ name: 'f', self: 10 }, { name: 'ff', self: 40 }] },
    { name: 'main::a_rather_long_name_that_never_fits', self: 40 }], self: 60 });

// ---- Tests.

async function zooms(b) {
    for (const icicle of [false, true]) {
        for (const seed of [1, 5, 11]) {
            const frames = layout(grow(random(seed), 9, { n: 70 }));
            const kind = icicle ? 'an icicle' : 'a flame graph';
            const page = await open(b, write(picture(frames, { icicle })));
            is(differences(await shown(page), expected(frames, frames[0])), '',
                `${kind} of ${frames.length} frames as drawn, its labels by the script's rule`);
            const bad = [], back = [];
            for (let i = 0; i < frames.length; i++) {
                await click(page, i);
                bad.push(differences(await shown(page), expected(frames, frames[i])));
                if (i % 5) continue;
                await page.keyboard.press('Escape');
                back.push(differences(await shown(page), expected(frames, frames[0])));
            }
            is(bad.filter(Boolean).join('\n'), '',
                `${kind}: zoomed to every frame, from one to the next`);
            is(back.filter(Boolean).join('\n'), '', `${kind}: zoomed and back`);
            quiet(page, kind);
            await page.close();
        }
    }
    // Every row is full: only the line of details tells which end is the root's.
    for (const icicle of [false, true]) {
        const leaf = { name: 'd', self: 7 };
        const chain = { name: 'a', kids: [{ name: 'b', kids: [{ name: 'c', kids: [leaf] }] }] };
        const frames = layout(chain);
        const page = await open(b, write(picture(frames, { icicle })));
        await click(page, 2);
        is(differences(await shown(page), expected(frames, frames[2])), '',
            'a chain of calls, root ' + (icicle ? 'on top' : 'at the bottom'));
        await page.close();
    }
    // The fractions do not add up exactly.
    const leaves = (i) =>
        Array.from({ length: 3 }, (_, j) => ({ name: `l${i}.${j}`, self: 0.1 + 0.7 * j }));
    const kids = Array.from({ length: 30 }, (_, i) => ({ name: 'k' + i, kids: leaves(i) }));
    const frames = layout({ name: 'root', kids });
    const page = await open(b, write(picture(frames)));
    const bad = [];
    for (let i = 1; i < frames.length; i++) {
        await click(page, i);
        bad.push(differences(await shown(page), expected(frames, frames[i])));
    }
    is(bad.filter(Boolean).join('\n'), '', 'widths of fractions are right');
    await page.close();
}

async function controls(b) {
    const frames = shop(), at = set(frames), file = write(picture(frames));
    const page = await open(b, file);
    await shot(page, 'plain');
    ok(await visible(page, 'search') && await visible(page, 'ignorecase')
        && !await visible(page, 'unzoom'), 'controls are seen, Reset zoom is not');
    await frame(page, at.get('Shop::order')).locator('rect').click();
    ok(await visible(page, 'unzoom'), 'Reset zoom is seen when zoomed');
    await shot(page, 'zoomed');
    const faded = await page.evaluate(() =>
        getComputedStyle(document.querySelector('.f.parent rect')).opacity);
    is(faded < 1, true, 'callers of the zoomed frame are faded');
    await page.locator('#unzoom').click();
    ok(!await visible(page, 'unzoom'), 'Reset zoom is gone when clicked');
    is(differences(await shown(page), expected(frames, frames[0])), '',
        'Reset zoom shows everything');

    await frame(page, at.get('JSON::PP::encode (really)')).hover();
    is(await text(page, 'details'), 'Function: JSON::PP::encode (really) (0.200 s, 20.0 %)',
        'the pointer on a frame shows its details');
    await click(page, at.get('Shop::order'));
    await frame(page, at.get('JSON::PP::encode (really)')).hover();
    is(await text(page, 'details'),
        'Function: JSON::PP::encode (really) (0.200 s, 20.0 %), 33.3 % of the zoomed frame',
        'when zoomed, the share of the zoomed frame is shown');
    await frame(page, 0).hover();
    is(await text(page, 'details'), 'Function: main::run (1.000 s, 100.0 %)',
        '... but not for its callers');
    await page.mouse.move(600, 700);
    is((await text(page, 'details')).trim(), '', 'the pointer elsewhere shows no details');
    quiet(page, 'controls');
    await page.close();
}

async function searches(b) {
    const frames = shop(), at = set(frames), page = await open(b, write(picture(frames)));
    const found = async (re, names, share, what) => {
        is(await search(page, re), true, `${re} is taken`);
        is([await matches(page), (await text(page, 'matched')).trim()],
            [names, share && 'Matched: ' + share], what);
    };
    await found('^f$', ['f'], '1.0 %', 'anchors');
    await found('f', ['f', 'ff', 'main::a_rather_long_name_that_never_fits'], '9.0 %',
        'a search is not anchored');
    await found('Shop::(price|tax)', ['Shop::price', 'Shop::tax', 'Shop::price'], '30.0 %',
        'nested matches count once');
    await found('1.000|samples| s,|%', [], '0.0 %', 'numbers of the title are no part of the name');
    await found('\\(really\\)$', ['JSON::PP::encode (really)'], '20.0 %',
        'parentheses of the name are part of it');
    await found('^shop', ['shop::stock'], '30.0 %', 'case matters');
    await page.locator('#ignorecase').click();
    is([await matches(page), await text(page, 'matched')],
        [['Shop::order', 'Shop::price', 'Shop::tax', 'Shop::price', 'shop::stock'],
            'Matched: 90.0 %'], '... but not after a click on ic');
    await page.keyboard.press('Control+i');
    is(await matches(page), ['shop::stock'], '... and again after Ctrl+I');
    is(await search(page, '(price'), false, 'a bad regular expression is refused');
    ok(/^Not a regular expression: .*[a-z]{5}/.test(await text(page, 'matched')),
        'is told in words: ' + await text(page, 'matched'));
    is(await matches(page), ['shop::stock'], 'the last good search stays');
    await found('price', ['Shop::price', 'Shop::price'], '30.0 %', 'the next one counts again');
    await click(page, at.get('Shop::tax'));
    is(await text(page, 'matched'), 'Matched: 66.7 %',
        'when zoomed, the share is of the zoomed frame, without its callers');
    await shot(page, 'searched');
    await page.keyboard.press('Escape');
    is(await text(page, 'matched'), 'Matched: 30.0 %', 'after a reset the share is of all');
    const fill = await page.evaluate(() =>
        getComputedStyle(document.querySelector('.match rect')).fill.match(/\d+/g).map(Number));
    ok(fill[0] > 200 && fill[1] < 130 && fill[2] > 200, 'magenta: ' + fill);
    is(await text(page, 'search'), 'Reset search', 'Search has become Reset search');
    const box = await page.evaluate(() => ['search', 'ignorecase', 'matched'].map((i) => {
        const r = document.getElementById(i).getBoundingClientRect();
        return [r.left, r.right];
    }));
    ok(box[0][1] < box[1][0] && box[1][1] <= 1200 && box[2][1] <= 1200,
        'and nothing covers or leaves: ' + box.map((r) => r.map(Math.round).join('-')).join(' '));
    await page.locator('#search').click();
    is([await matches(page), (await text(page, 'matched')).trim(), await text(page, 'search')],
        [[], '', 'Search'], 'Reset search resets');

    const asked = [], answers = ['tax', null, 'price', 'x(', ''];
    page.on('dialog', (d) => {
        asked.push(d.defaultValue());
        const a = answers.shift();
        return a === null ? d.dismiss() : d.accept(a);
    });
    await page.locator('#search').click();
    is(await matches(page), ['Shop::tax'], 'a click on Search asks');
    await page.keyboard.press('Control+f');
    is(await matches(page), ['Shop::tax'], 'Ctrl+F does, too, and no answer changes nothing');
    await page.keyboard.press('/');
    is(await matches(page), ['Shop::price', 'Shop::price'], '/ does, too');
    await page.keyboard.press('/');
    is(await matches(page), ['Shop::price', 'Shop::price'], 'a wrong one');
    await page.keyboard.press('/');
    is([await matches(page), asked], [[], ['', 'tax', 'tax', 'price', 'price']],
        'an empty one; the last good one was offered');
    quiet(page, 'search');
    await page.close();

    const given = await open(b, write(picture(frames, { search: 'a"b|^f+$' })));
    is(await matches(given), ['f', 'ff'], 'a search given by the file');
    await search(given, '');
    await given.reload();
    is(await matches(given), [], 'stays reset');
    await given.close();
}

async function keys(b) {
    for (const icicle of [false, true]) {
        const frames = shop(), page = await open(b, write(picture(frames, { icicle })));
        const deeper = icicle ? 'ArrowDown' : 'ArrowUp', nearer = icicle ? 'ArrowUp' : 'ArrowDown';
        const press = async (...list) => {
            for (const k of list) await page.keyboard.press(k);
            return (await text(page, 'details')).replace(/^Function: | \([^(]*$/g, '');
        };
        is(await page.evaluate(() => document.querySelectorAll('[tabindex]').length), 4,
            'Tab has four stops');
        is(await press('Tab'), 'main::run', 'Tab: the root');
        is(await press(deeper), 'Shop::order', 'to the widest child');
        is(await press('ArrowRight'), 'shop::stock', 'an arrow goes to the right');
        is(await press('ArrowRight', 'ArrowRight', 'ArrowRight'),
            'main::a_rather_long_name_that_never_fits', '... no farther than the last');
        is(await press('ArrowLeft', 'ArrowLeft', deeper, deeper), 'Shop::tax',
            'arrows go to the left and away from the root');
        const [cursor, rect] = await page.evaluate(() => {
            const tax = Array.from(document.querySelectorAll('.f'))
                .find((g) => /tax/.test(g.textContent));
            return [document.querySelector('#cursor'), tax.querySelector('rect')].map((e) => {
                const r = e.getBoundingClientRect();
                return [r.x, r.y, r.width, r.height].map((v) => Math.round(v * 10) / 10);
            });
        });
        ok(cursor.every((v, i) => Math.abs(v - rect[i]) < 0.2), `its outline: ${cursor}`);
        const stroke = await page.evaluate(() =>
            getComputedStyle(document.querySelector('#cursor')).stroke);
        ok(stroke !== 'none', 'the outline is visible');
        await shot(page, 'keys' + (icicle ? '-icicle' : ''));
        await press('Enter');
        is(differences(await shown(page), expected(frames, frames[3])), '', 'Enter zooms');
        is(await press('ArrowRight', 'ArrowLeft'), 'Shop::tax', 'arrows skip hidden frames');
        is(await press(nearer, nearer), 'Shop::order', 'arrows go towards the root');
        is(await press('Home'), 'Shop::tax', 'Home: the zoomed one');
        await press('Escape');
        is(differences(await shown(page), expected(frames, frames[0])), '', 'Escape resets');
        await press('Tab', 'Tab');
        is(await page.evaluate(() => document.activeElement.id), 'ignorecase',
            'Tab goes on to the controls');
        await press('Enter');
        const isOn = await page.evaluate(() =>
            document.querySelector('#ignorecase').classList.contains('on'));
        ok(isOn, 'Enter works the controls');
        quiet(page, 'keys');
        await page.close();
    }
}

async function links(b) {
    const hard = 'a;b%3B&c=d #e (x) \u00e4\u20ac';
    const tree = { name: 'main', kids: [
        { name: hard, self: 1, kids: [
            { name: '100% of ;', self: 5, kids: [{ name: 'leaf', self: 5 }] },
        ] },
        { name: 'other', self: 9 },
    ] };
    const frames = layout(tree), file = write(picture(frames)), page = await open(b, file);
    const as = async (p, i, what) =>
        is(differences(await shown(p), expected(frames, frames[i])), '', what);
    await click(page, 1);
    await click(page, 2);
    await search(page, 'LEA[f]|;');
    await page.keyboard.press('Control+i');
    const link = await hash(page);
    is(link, '#at=' + ['main', 'a%253Bb%25253B%26c%3Dd%20%23e%20(x)%20%C3%A4%E2%82%AC',
        '100%2525%20of%20%253B'].join(';') + '&q=LEA%5Bf%5D%7C%3B&ic=1',
            'the link has path, search and case');
    const other = await open(b, file, { hash: link });
    await as(other, 2, 'opened elsewhere: the zoom');
    is([await matches(other), await text(other, 'search')],
        [[hard, '100% of ;', 'leaf'], 'Reset search'], 'a link opened elsewhere has the search');
    ok(await other.evaluate(() => document.querySelector('#ignorecase').classList.contains('on')),
        '... and the case');
    await other.close();
    await page.reload();
    await as(page, 2, 'reloaded');
    await page.goBack();
    is(await matches(page), ['100% of ;', hard].reverse(), 'Back: case matters again');
    await page.goBack();
    await as(page, 2, 'Back: still zoomed');
    is(await matches(page), [], 'Back goes to before the search');
    await page.goBack();
    await as(page, 1, 'Back: the zoom before');
    await page.goBack();
    await as(page, 0, 'Back: none');
    is(await hash(page), '', 'Back to no zoom has no hash');
    await page.goForward();
    await as(page, 1, 'Forward');
    await click(page, 0);
    is(await hash(page), '', 'zoomed to the root is not zoomed');
    quiet(page, 'links');
    await page.close();

    for (const [given, i, what] of [
        ['#at=main;' + encodeURIComponent('other') + ';gone;too', 3 + 1, 'a path that ends early'],
        ['#at=gone', 0, 'a path of nothing'],
        ['#at=main%3Bother', 4, 'a path whose semicolons were encoded'],
        ['#at=%zz;%&q=%&ic=7&&=&x', 0, 'nonsense'],
        ['#somewhere', 0, 'a place'],
        ['?at=main;other&q=o', 4, 'a query'],
        ['#at=;;;&q=(', 0, 'nothing, and no regular expression'],
    ]) {
        const p = await open(b, file, { hash: given });
        await as(p, i, what);
        quiet(p, what);
        await p.close();
    }

    // By time, one path occurs again and again: the link finds the first, Back the one that was
    // left.
    const calls = [1, 2, 3].map((n) =>
        ({ name: 'a', kids: [{ name: n === 2 ? 'c' : 'b', self: n }] }));
    const chart = layout({ name: 'main', kids: calls });
    const p = await open(b, write(picture(chart)));
    await click(p, 6);
    await click(p, 4);
    is(await hash(p), '#at=main;a;c', 'a path only the second of three has');
    await p.reload();
    is(differences(await shown(p), expected(chart, chart[4])), '', 'such a path is found there');
    await p.goBack();
    is(differences(await shown(p), expected(chart, chart[6])), '',
        'Back to the third, though the first has the same path');
    await p.close();
}

async function hostile(b) {
    const names = ['</script><script>window.bad = 1</script>',
        '<img src=x onerror="window.bad = 1">', '"\'`&amp;&lt;${1}', ']]>', '\\x1b[31mred',
        '__proto__', 'constructor',
        '\u202eevil\u2066', '\u05e9\u05dc\u05d5\u05dd::\u05e2\u05d5\u05dc\u05dd',
        '\u65e5\u672c\u8a9e\u306e\u540d\u524d', 'e\u0301\u{1f600}\u{1f600}', ' (', '( (', ' ',
        '{{FONT}}', 'x'.repeat(5000), 'javascript:window.bad=1'];
    const kids = names.map((name, i) => ({ name, self: 10 + i, kids: [{ name, self: 5 }] }));
    const frames = layout({ name: 'root', kids });
    const page = await open(b, write(picture(frames)));
    for (let i = 1; i < frames.length; i += 2) {
        await click(page, i);
        await page.evaluate((n) => document.querySelectorAll('.f')[n].querySelector('rect')
            .dispatchEvent(new MouseEvent('mouseover', { bubbles: true })), i + 1);
        const said = (await text(page, 'details')).replace(/[\u2068\u2069]/g, '');
        const name = frames[i].name;
        ok(said.startsWith('Function: ' + (name.length > 100 ? name.slice(0, 50) : name))
            && /of the zoomed frame$/.test(said), `told of ${name.slice(0, 40)}`);
        const escaped = (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0');
        const re = name.replace(/[^A-Za-z0-9]/gu, (c) => (c.length > 1 ? c : escaped(c)));
        await search(page, `^${re}$`);
        is((await matches(page)).length, 2, 'the search finds the name');
        const link = await hash(page);
        await page.reload();
        is(await hash(page), link, 'its link');
        const isThere = await page.evaluate((n) =>
            !document.querySelectorAll('.f')[n].classList.contains('hide')
            && document.querySelectorAll('.f.parent').length === 1, i);
        ok(isThere, 'the link leads to it');
    }
    is(await page.evaluate(() => [window.bad, document.querySelectorAll('script, img').length]),
        [undefined, 1].map((v) => v === undefined ? null : v), 'names ran nothing');
    await click(page, 0);
    await shot(page, 'hostile');
    quiet(page, 'hostile names');
    await page.close();
}

async function anchors(b) {
    const target = write('<p>there</p>', 'html');
    const frames = layout({ name: 'main', kids: [
        { name: 'linked', self: 5, href: 'file://' + target }, { name: 'plain', self: 5 },
    ] });
    const page = await open(b, write(picture(frames)));
    await frame(page, 1).locator('rect').click({ modifiers: ['Control'] });
    is(differences(await shown(page), expected(frames, frames[1])), '',
        'Ctrl and a click on a link zooms');
    await page.keyboard.press('Escape');
    await Promise.all([page.waitForURL('file://' + target),
        frame(page, 1).locator('rect').click()]);
    ok(page.url().endsWith(target), 'a click follows the link');
    quiet(page, 'links of frames');
    await page.close();

    // In flamegraph.pl's own form the link is inside the frame.
    const inside = picture(frames).replace(/(<a [^>]*>)(<g [^>]*>)(.*?)<\/g><\/a>/,
        '$2$1$3</a></g>');
    const p = await open(b, write(inside));
    await frame(p, 1).locator('rect').click({ modifiers: ['Control'] });
    is(differences(await shown(p), expected(frames, frames[1])), '',
        'a link inside its frame works');
    await p.close();
}

async function places(b) {
    const frames = shop(), svg = write(picture(frames));
    const still = await b.newContext({ javaScriptEnabled: false });
    const bare = await still.newPage();
    await bare.goto('file://' + svg);
    await shot(bare, 'no-script');
    const parts = ['#title', '#hidden', '#search', '#ignorecase', '#unzoom', '.f >> nth=3'];
    is(await Promise.all(parts.map((what) => bare.locator(what).isVisible())),
        [true, true, false, false, false, true],
        'without script the picture is whole, and no controls');
    const name = path.basename(svg);
    const data = Buffer.from(picture(frames)).toString('base64');
    const page = await open(b, write(`<!DOCTYPE html><img id="i" src="${name}">
        <object id="o" type="image/svg+xml" data="${name}"></object>
        <object id="d" type="image/svg+xml" data="data:image/svg+xml;base64,${data}"></object>
        <iframe sandbox="allow-scripts" src="${name}"></iframe>`, 'html'));
    is(page.frames().length, 4, 'a picture, two objects, a sandbox');
    for (const f of page.frames().slice(1)) {
        is(await f.evaluate(() => {
            document.querySelectorAll('.f')[1].querySelector('rect')
                .dispatchEvent(new MouseEvent('click', { bubbles: true }));
            window.dprofSearch('f');
            document.documentElement.dispatchEvent(new KeyboardEvent('keydown',
                { key: '/', bubbles: true }));
            return [document.querySelectorAll('.f.hide').length,
                document.querySelectorAll('.f.match').length];
        }), [4, 3], 'pictures in a page zoom and search');
    }
    is(await page.evaluate(() => document.getElementById('i').naturalWidth), 1200,
        'an img shows the picture');
    page.errors = page.errors.filter((e) => !/Ignored call to 'prompt\(\)'|sandbox/.test(e));
    quiet(page, 'in a page');
    await page.close();
    await still.close();

    // Pasted into a page, it leaves the page's keys and address alone.
    const inline = await open(b, write(
        '<!DOCTYPE html><meta charset="utf-8"><p>text <input id="in"></p>'
        + picture(frames, { inline: true }), 'html'));
    let dialogs = 0;
    inline.on('dialog', (d) => { dialogs++; return d.dismiss(); });
    await inline.locator('#in').focus();
    await inline.keyboard.type('/a');
    is([dialogs, await inline.locator('#in').inputValue()], [0, '/a'],
        'pasted into a page: keys are the page\'s');
    await frame(inline, 1).locator('rect').click();
    is(differences(await shown(inline), expected(frames, frames[1])), '',
        'pasted into a page, the picture zooms');
    is(await hash(inline), '', '... and leaves the address alone');
    await inline.keyboard.press('/');
    is(dialogs, 1, '... and gets the keys after a click');
    quiet(inline, 'pasted');
    await inline.close();

    for (const scheme of ['light', 'dark']) {
        const p = await open(b, svg, { colorScheme: scheme });
        await search(p, 'tax');
        await click(p, 2);
        await shot(p, scheme);
        const parts = ['.bg1', '.title', '#search', '#matched', '.f text', '.f:not(.match) rect'];
        const look = await p.evaluate((list) => list.map((s) => {
            const style = getComputedStyle(document.querySelector(s));
            const colour = s === '.bg1' ? style.stopColor : style.fill;
            return colour.match(/\d+/g).slice(0, 3).map(Number);
        }), parts);
        const light = look.map((c) => (c[0] * 0.3 + c[1] * 0.59 + c[2] * 0.11 > 128 ? 1 : 0));
        is(light.slice(0, 4), scheme === 'dark' ? [0, 1, 1, 1] : [1, 0, 0, 0],
            `${scheme}: background, title, control, line`);
        is([look[4], light[5]], [[0, 0, 0], 1], `${scheme}: frames and their labels as ever`);
        await p.emulateMedia({ media: 'print' });
        is([await visible(p, 'search'), await visible(p, 'title'), await visible(p, 'matched')],
            [false, true, true], 'printed without controls');
        await p.close();
    }
}

async function speed(b) {
    const pick = random(3), nodes = [];
    const root = { name: 'main', kids: [], self: 0 };
    nodes.push([root, 0]);
    while (nodes.length < 16000) {
        const [up, depth] = nodes[Math.max(0, nodes.length - 1 - pick(60))];
        if (depth > 50) { up.self = 1; nodes.push([root, 0]); continue; }
        const name = `Some::Package${pick(200)}::method_${pick(999)}`;
        const node = { name, self: 20 + pick(300), kids: [] };
        up.kids.push(node);
        nodes.push([node, depth + 1]);
    }
    const frames = layout(root), began = Date.now();
    const page = await open(b, write(picture(frames)));
    const load = Date.now() - began;
    const times = await page.evaluate(async () => {
        const painted = () =>
            new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
        const all = Array.from(document.querySelectorAll('.f'));
        const total = +document.documentElement.dataset.total;
        const half = all.filter((g) => +g.dataset.w < total / 2)
            .sort((p, q) => q.dataset.w - p.dataset.w)[0];
        const timed = async (what) => {
            await painted();
            const t = performance.now();
            what();
            const script = performance.now() - t;
            await painted();
            return `${Math.round(script)} ms + painting = ${Math.round(performance.now() - t)} ms`;
        };
        const press = (e) => e.dispatchEvent(new MouseEvent('click', { bubbles: true }));
        const zoom = (g) => press(g.querySelector('rect'));
        const reset = () => press(document.getElementById('unzoom'));
        return {
            zoom: await timed(() => zoom(half)),
            reset: await timed(reset),
            'zoom near the root': await timed(() => zoom(all[1])),
            'reset again': await timed(reset),
            search: await timed(() => window.dprofSearch('method_1')),
            'search again': await timed(() => window.dprofSearch('Package1.*7$')),
        };
    });
    note(`${frames.length} frames: loaded in ${load} ms`);
    for (const what of Object.keys(times)) note(`${what}: ${times[what]}`);
    let widest = 1;
    frames.forEach((f, i) => {
        if (f.depth && f.w < frames[0].w / 2 && (widest === 1 || f.w > frames[widest].w))
            widest = i;
    });
    await search(page, '');
    await click(page, widest);
    is(differences(await shown(page), expected(frames, frames[widest])), '',
        `${frames.length} frames, zoomed`);
    await shot(page, 'many');
    quiet(page, 'many frames');
    await page.close();
}

// Tries a renderer's own file: the same model, on what the file has.
async function given(b, file) {
    const frames = parse(fs.readFileSync(file, 'utf8')), page = await open(b, file);
    ok(frames.length > 0, `${path.basename(file)}: ${frames.length} frames`);
    const width = +await page.evaluate(() => document.documentElement.getAttribute('width'));
    const root = frames.find((f) => !f.up);
    is(await page.evaluate(() => document.querySelectorAll('.f').length), frames.length,
        'the browser has as many frames');
    is(differences(await shown(page), expected(frames, root, width)), '',
        'as drawn, its labels by the script\'s rule');
    await shot(page, 'given');
    const bad = [], every = Math.ceil(frames.length / 50);
    for (let i = 0; i < frames.length; i += every) {
        if (!(frames[i].w > 0)) continue;
        await click(page, i);
        bad.push(differences(await shown(page), expected(frames, frames[i], width)));
    }
    is(bad.filter(Boolean).slice(0, 3).join('\n'), '', 'zooms to many frames are right');
    const last = frames[frames.length - 1], before = await hash(page);
    await search(page, '^' + last.name.replace(/[^\w]/g, '\\$&') + '$');
    is((await matches(page)).length, frames.filter((f) => f.name === last.name).length,
        'a search finds the frames');
    await page.reload();
    is((await hash(page)).replace(/&?q=.*/, ''), before, 'a reload keeps the zoom');
    await page.keyboard.press('Escape');
    is(differences(await shown(page), expected(frames, root, width)), '',
        'a reset shows everything');
    quiet(page, file);
    await page.close();
}

async function all(b) {
    ok(Buffer.byteLength(script) < 17000, `the script's size: ${Buffer.byteLength(script)} bytes`);
    const unwanted = [
        ']]>', '\\b(?:innerHTML|outerHTML|insertAdjacentHTML|eval|Function\\(|getBBox'
        + '|getComputedTextLength)\\b', 'https?:',
    ].join('|');
    is([script, style].map((t) => t.match(new RegExp(unwanted, 'g'))), [null, null],
        'no end of CDATA, no markup from strings, nothing measured, no addresses');
    is(style.match(/[<&]/g), null, 'the style is XML as it stands');
    for (const part of [zooms, controls, searches, keys, links, hostile, anchors, places, speed]) {
        note(part.name);
        await part(b);
    }
    const named = process.env.DPROF_SVG ? [process.env.DPROF_SVG] : [];
    for (const file of [...process.argv.slice(2), ...named]) await given(b, file);
}

process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
browser(all);
