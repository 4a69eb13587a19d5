// What the page needs for everybody: contrast, rings of the focus, forced colours, prints, searches
// that stay, and no violation that axe-core finds.
//
// axe-core is looked for in DPROF_AXE (a folder that holds node_modules), then beside
// playwright-core; without it, its part is skipped.

'use strict';

const { browser, open, ok, is, note } = require('./lib.js');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const top = path.join(__dirname, '..', '..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dprof-access-'));
const libs = ['-I' + path.join(top, 'blib', 'lib'), '-I' + path.join(top, 'blib', 'arch')];
const run = (...args) => execFileSync('perl', [...libs, ...args],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
const flame = (...args) => run(path.join(top, 'bin', 'dprofflame'), ...args);
const at = (name) => path.join(folder, name);

function axeSource() {
    for (const place of [process.env.DPROF_AXE, process.env.DPROF_PLAYWRIGHT]) {
        const file = place
            && path.join(path.resolve(place), 'node_modules', 'axe-core', 'axe.min.js');
        if (file && fs.existsSync(file)) return fs.readFileSync(file, 'utf8');
    }
    return null;
}

// A trace, samples, and two sides, of the same program.
function makePages() {
    fs.writeFileSync(at('p.pl'), `use Devel::DProf::Control;
package Shop::Cart;
sub price { my $n = shift; my $sum = 0; $sum += $_ * 2 for 1 .. $n; $sum }
sub total { my $all = 0; $all += price($_) for 1 .. 40; $all }
package main;
sub run { Shop::Cart::total() for 1 .. 20; my $anonymous = sub { join ',', sort @_ };
    $anonymous->(1 .. 50) for 1 .. 20 }
BEGIN { my $x = 1 }
sub store { Devel::DProf::Control::span('sql', 'SELECT a FROM b WHERE c = ?', sub { $_[0] }) }
store() for 1 .. 12;
run();
`);
    const record = (out, options) => run(`-d:DProf=out=${out},${options}`, at('p.pl'));
    record('trace.out', 'clock=counting');
    record('lines.out', 'tree,lines,clock=counting');
    record('samples.out', 'sample=10000,clock=counting:5000');
    record('other.out', 'tree,clock=counting:700');
    flame('-o', 'trace.html', 'trace.out');
    flame('-o', 'lines.html', 'lines.out');
    flame('-o', 'samples.html', 'samples.out');
    flame('-f', '--diff', '-o', 'diff.html', 'lines.out', 'other.out');
}

const VIEWS = [
    ['trace.html', ''], ['trace.html', '#timeline=1'], ['trace.html', '#timeline=heat'],
    ['trace.html', '#table=1'], ['trace.html', '#calls=1'],
    ['trace.html', '#sub=Shop::Cart::price'],
    ['trace.html', '#view=reversed,icicle&q=price'], ['trace.html', '#around=Shop::Cart::price'],
    ['trace.html', '#steps=hide:Shop::Cart::price'], ['trace.html', '#q=('],
    ['lines.html', '#texts=1'], ['trace.html', '#timeline=1&kind=sql'],
    ['trace.html', '#texts=1&sub=sql:SELECT%20a%20FROM%20b%20WHERE%20c%20%3D%20%3F'],
    ['samples.html', '#timeline=heat'], ['lines.html', '#src='], ['diff.html', ''],
    ['diff.html', '#layout=triple'], ['diff.html', '#table=1&measure=relative'],
    ['diff.html', '#texts=1'],
];
const THEMES = ['light', 'dark'];

async function page(b, name, hash, options = {}) {
    const made = await open(b, at(name), { hash, ...options });
    await made.evaluate(async () => {
        await window.dprof.ready;
        await window.dprof.settled();
        await window.dprof.settled();
    });
    return made;
}

async function close(made, what) {
    is([made.errors, made.requests], [[], []], `${what}: no error, no request`);
    await made.close();
}

const FIRST_FILE = async () => {
    await loadLines();
    await window.dprof.source(lineCosts.files.find(({ name }) => /p\.pl$/.test(name)).name, 2);
};

// ---- axe ----

async function axe(b) {
    const source = axeSource();
    if (!source) {
        ok(true, 'skip: axe-core is neither in DPROF_AXE nor beside playwright-core');
        return;
    }
    const check = async (made, what) => {
        await made.addScriptTag({ content: source }).catch(() => made.evaluate(source));
        const found = await made.evaluate(async () =>
            (await window.axe.run(document, { resultTypes: ['violations'] })).violations
                .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(' ')}`));
        is(found, [], `${what}: axe-core finds no violation`);
    };
    for (const colorScheme of THEMES)
        for (const [file, hash] of VIEWS)
            for (const width of [1280, 400]) {
                const made = await page(b, file, hash,
                    { colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
                const what = `${file}${hash}, ${colorScheme}, ${width}`;
                await check(made, what);
                if (file === 'lines.html' && width === 1280) {
                    await made.evaluate(FIRST_FILE);
                    await made.evaluate(() => window.dprof.settled());
                    await check(made, `${what}, a file`);
                }
                if (!hash && width === 1280) {
                    await made.evaluate(() => document.getElementById('help').click());
                    await check(made, `${what}, the keys`);
                }
                await made.close();
            }
}

// ---- canvases ----

// Contrast as WCAG 2.2 has it.
const CONTRAST = `(() => {
    const part = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const bright = (colour) => {
        const hex = rgb(colour), [r, g, b] = [1, 3, 5].map((k) =>
            part(parseInt(hex.slice(k, k + 2), 16) / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    window.contrast = (a, b) => {
        const [x, y] = [bright(a), bright(b)].sort((m, n) => n - m);
        return (x + 0.05) / (y + 0.05);
    };
})()`;

async function canvases(b) {
    for (const colorScheme of THEMES) {
        const made = await page(b, 'trace.html', '', { colorScheme });
        await made.evaluate(CONTRAST);
        const worst = await made.evaluate(() => {
            const of = {};
            for (const [kind] of KINDS.entries())
                for (let hue = 0; hue < 360; hue += 5) {
                    const c = contrast(ink.text, kindColour(kind, hue));
                    of[kind] = Math.min(of[kind] || 99, c);
                }
            return {
                frames: Math.min(...Object.values(of)),
                match: contrast(ink.markText, ink.mark),
                changes: Math.min(...ink.levels.map((colour, k) =>
                    contrast(ink.onLevel[k], colour))),
                notes: contrast(ink.ghostText, ink.back),
                rows: contrast(ink.text, ink.back),
                darkest: contrast(ink.levels[2 * LEVELS], ink.back),
                begin: contrast(ink.begin, ink.back),
                ring: contrast(getComputedStyle(document.documentElement)
                    .getPropertyValue('--ring').trim(), ink.back),
            };
        });
        for (const [what, least] of Object.entries({ frames: 4.5, match: 3, changes: 4.5,
            notes: 4.5, rows: 4.5, darkest: 3, begin: 3, ring: 3 }))
            ok(worst[what] >= least, `${colorScheme}: ${what} on canvases have a contrast of `
                + `${least}: ${worst[what].toFixed(2)}`);
        await made.close();
    }
}

// ---- the focus ----

// Lists what can have the focus and whose outline another element cuts off.
const CUT = () => {
    const cut = [];
    const all = document.querySelectorAll('button, select, input, a[href], [tabindex="0"]');
    for (const node of all) {
        if (!node.checkVisibility() || node.disabled) continue;
        node.focus({ preventScroll: false, focusVisible: true });
        if (document.activeElement !== node) continue;
        const style = getComputedStyle(node), box = node.getBoundingClientRect();
        if (style.outlineStyle === 'none' || !box.width) continue;
        const reach = parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth);
        for (let up = node.parentElement; up && up !== document.body; up = up.parentElement) {
            const around = getComputedStyle(up), area = up.getBoundingClientRect();
            if (around.overflowX === 'visible' && around.overflowY === 'visible') continue;
            const inner = { left: area.left + up.clientLeft, top: area.top + up.clientTop };
            inner.right = inner.left + up.clientWidth;
            inner.bottom = inner.top + up.clientHeight;
            // What is scrolled out of view, or wider than its cell, is not cut by its outline.
            const off = [box.left - reach < inner.left - 0.5 && box.left >= inner.left - 0.5,
                box.right + reach > inner.right + 0.5 && box.right <= inner.right + 0.5,
                box.top - reach < inner.top - 0.5 && box.top >= inner.top - 0.5,
                box.bottom + reach > inner.bottom + 0.5 && box.bottom <= inner.bottom + 0.5];
            if (off.some((is) => is)) {
                cut.push(`${node.tagName}#${node.id}.${node.className} in `
                    + `${up.tagName}#${up.id}.${up.className}`);
                break;
            }
        }
    }
    return [...new Set(cut)];
};

async function rings(b) {
    for (const width of [1280, 400])
        for (const [file, hash] of VIEWS) {
            const made = await page(b, file, hash, { viewport: { width, height: 800 } });
            if (file === 'lines.html') await made.evaluate(FIRST_FILE);
            await made.evaluate(() => window.dprof.settled());
            await made.keyboard.press('Tab');
            is(await made.evaluate(CUT), [],
                `${file}${hash}, ${width}: no ring of the focus is cut`);
            await made.close();
        }
    for (const width of [1280, 400]) {
        const viewport = { width, height: 800 };
        const made = await page(b, 'trace.html', '#q=%28%3F%3Ca', { viewport });
        ok(await made.$eval('#found', (node) => node.textContent.length > 20
            && node.scrollWidth <= node.clientWidth + 1
            && node.scrollHeight <= node.clientHeight + 1),
            `${width}: the reason why a regex is wrong is there as a whole`);
        await made.evaluate(() => document.getElementById('help').click());
        ok(await made.evaluate(() => {
            const dialog = document.getElementById('dialog'), area = dialog.getBoundingClientRect();
            return dialog.scrollWidth <= dialog.clientWidth + 1
                && [...dialog.querySelectorAll('kbd')].every((kbd) => {
                    const box = kbd.getBoundingClientRect();
                    return box.left >= area.left && box.right <= area.right
                        && kbd.scrollWidth <= kbd.clientWidth + 1;
                });
        }), `${width}: no box of a key is cut`);
        const gaps = await made.$$eval('#dialog kbd', (list) => list.map((kbd) =>
            kbd.getBoundingClientRect()).filter((box, k, all) => k
                && all[k - 1].bottom > box.top + 0.5 && all[k - 1].top < box.top - 0.5).length);
        is(gaps, 0, `${width}: boxes of keys do not lie upon each other`);
        await made.close();
    }
}

// ---- forced colours ----

async function forced(b) {
    for (const [file, hash] of [['trace.html', ''], ['diff.html', ''], ['lines.html', '#src=']]) {
        const made = await page(b, file, hash, { forcedColors: 'active' });
        if (file === 'lines.html') await made.evaluate(FIRST_FILE);
        await made.evaluate(() => window.dprof.settled());
        const colours = await made.$$eval('.swatch, .h3, .h4, .h5', (list) => list
            .filter((node) => node.checkVisibility())
            .map((node) => getComputedStyle(node).backgroundColor));
        ok(new Set(colours).size > 1, `${file}${hash}: forced colours keep the colours that mean `
            + `something: ${new Set(colours).size}`);
        ok(await made.evaluate(() => [...document.querySelectorAll('.mark, .window, .chosen')]
            .every((node) => /solid/.test(getComputedStyle(node).outlineStyle
                + getComputedStyle(node).borderStyle))),
            `${file}${hash}: ... and marks have a line`);
        await made.close();
    }
}

// ---- printing ----

async function printing(b) {
    const told = async (made) => {
        await made.emulateMedia({ media: 'print' });
        await made.waitForFunction(() => display.printing);
        const text = await made.$eval('#printed', (node) =>
            (node.checkVisibility() ? node.textContent : ''));
        await made.emulateMedia({ media: 'screen' });
        await made.waitForFunction(() => !display.printing);
        return text;
    };
    const made = await page(b, 'trace.html', '');
    ok(await made.$eval('#printed', (node) => !node.checkVisibility()),
        'what is printed is not on the screen');
    const all = await told(made);
    ok(/^Shown: flame graph/.test(all) && /whole/.test(all), `a print says what it shows: ${all}`);
    await made.evaluate(() => window.dprof.zoom('main::run;Shop::Cart::total'));
    await made.evaluate(() => {
        window.dprof.search('price');
        doStep('hide', 'Shop::Cart::price');
        turn('icicle', true);
    });
    const part = await told(made);
    for (const word of ['icicle', 'Shop::Cart::total', 'without Shop::Cart::price',
        'search: price'])
        ok(part.includes(word), `a print says ${word}: ${part}`);
    await made.evaluate(() => { undoStep(0); turn('reversed', true); openTable(true); });
    ok(/callers.*table of subs/.test(await told(made)), 'a print says which views it has');
    await close(made, 'printing');
    const source = await page(b, 'lines.html', '#src=');
    await source.evaluate(FIRST_FILE);
    await source.evaluate(() => window.dprof.settled());
    ok(/source of .*p\.pl/.test(await told(source)), 'a print of a source says its file');
    await close(source, 'printing a source');
}

// ---- a search ----

async function searches(b) {
    const made = await page(b, 'trace.html', '');
    const click = async (where) => {
        const { x, y } = await made.evaluate((p) => window.dprof.point(p), where);
        await made.mouse.click(x, y);
    };
    const state = () => made.evaluate(() => [window.dprof.state().q,
        document.getElementById('q').value]);
    await made.fill('#q', 'price');
    await click('main::run');
    is(await state(), ['price', 'price'], 'a click right behind a search does not lose it');
    await made.waitForTimeout(200);
    is(await state(), ['price', 'price'], '... and it stays');
    await made.fill('#q', 'tot');
    await made.click('#table');
    is(await state(), ['tot', 'tot'], 'a click on a button does not lose it');
    await made.fill('#q', 'cart');
    await made.click('#list');
    await made.click('#icicle');
    await made.evaluate(() => history.back());
    await made.waitForTimeout(100);
    is((await state())[1], 'cart', 'Back does not lose it');
    await close(made, 'searches');
}

browser(async (b) => {
    makePages();
    await searches(b);
    await printing(b);
    await forced(b);
    await canvases(b);
    await rings(b);
    await axe(b);
    fs.rmSync(folder, { recursive: true, force: true });
    note('the page for everybody');
});
