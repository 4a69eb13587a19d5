// The flame graph's page in a browser: what it draws, says and keeps in its links.
//
// DPROF_PLAYWRIGHT=FOLDER node xt/browser/page.js; pages are made by mkpage.js. Times are printed,
// never judged.

'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const { browser, open, ok, is, note } = require('./lib.js');
const { page: makePage, html, synthetic } = require('./mkpage.js');
const { METRICS, f, randomTree, stacks, folded, shape } = require('./mktree.js');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dprof-page-'));
const share = path.join(__dirname, '..', '..', 'share');
let files = 0;

function file(text) {
    const name = path.join(folder, `${++files}.html`);
    fs.writeFileSync(name, text);
    return name;
}


// 1000 ticks of 1 ms: 0 + (50 + 350 + 100) + 300 + 200.
const simple = () => ({
    title: 'simple', metrics: METRICS, files: ['lib/My.pm', 'app.pl'],
    places: { 'My::parse': [0, 12], main: [1, 3] },
    notes: [['Recorded', 'on a Tuesday']],
    root: {
        self: 0, kids: [
            f('main::run', 50, [f('My::parse', 350, [f('CORE::match', 100, [], 7)], 3),
                f('My::save', 300, [], 2)]),
            f('strict::import', 200),
        ],
    },
});

const DIFF = { view: 'graph', width: 'after', colour: 'self', negate: false, factor: [1, 1],
    normalized: '', runs: [1, 1], significant: null, moved: {}, mode: 'diff' };
const d = (name, before, after, kids = []) =>
    ({ name, self: { cpu: [before, after], calls: [before && 2, after && 4] }, kids });
const difference = (options = {}, more = {}) => ({
    title: 'difference', sides: ['old.out', 'new.out'], metrics: METRICS.slice(0, 2),
    diff: { ...DIFF, ...options }, ...more,
    root: {
        self: 0, kids: [d('main', 100, 100, [
            d('grown', 100, 300, [d('leaf', 50, 50)]), d('shrunk', 200, 100),
            d('gone', 80, 0, [d('gonekid', 20, 0)]), d('fresh', 0, 90), d('same', 60, 60),
        ])],
    },
});

const frames = (page, pane = 0) => page.evaluate((p) => window.dprof.frames(p), pane);
const state = (page) => page.evaluate(() => window.dprof.state());
const text = (page, selector) =>
    page.evaluate((s) => document.querySelector(s).textContent, selector);
const paths = (list) => list.map((frame) => frame.path);
const by = (list, wanted) => list.find((frame) => frame.path === wanted) || {};

async function show(b, profile, options) {
    const page = await open(b, file(typeof profile === 'string' ? profile : makePage(profile)),
        options);
    await page.evaluate(() => window.dprof.ready);
    return page;
}

async function mouse(page, where, click = false, pane = 0) {
    const at = await page.evaluate(([w, p]) => window.dprof.point(w, p), [where, pane]);
    await page.mouse.move(at.x, at.y);
    if (click) await page.mouse.click(at.x, at.y);
}

const settled = (page) => page.evaluate(() =>
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
async function quiet(page, what) {
    is([page.errors, page.requests], [[], []], `${what}: no error, no request`);
    await page.close();
}

// Returns the colour of a canvas at a frame's left edge, above the text: [r, g, b].
function colour(page, where, pane = 0) {
    return page.evaluate(([w, p]) => {
        const canvas = document.querySelectorAll('.sheet > canvas')[p];
        const area = canvas.getBoundingClientRect();
        const at = window.dprof.point(w, p);
        const k = canvas.width / area.width;
        const box = window.dprof.frames(p).find((frame) => frame.path === w);
        const x = (box.x + box.w / 2) * k;
        const y = (at.y - area.top - 7) * k;
        return [...canvas.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3);
    }, [where, pane]);
}

const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

async function basics(b) {
    const page = await show(b, simple());
    const list = await frames(page);
    const width = await page.evaluate(() => document.querySelector('.scroll').clientWidth);
    is(paths(list), ['', 'main::run', 'main::run;My::parse', 'main::run;My::parse;CORE::match',
        'main::run;My::save', 'strict::import'], 'every frame is drawn, siblings in order of name');
    is(list.map((frame) => frame.value), [1000, 800, 450, 100, 300, 200],
        'inclusive values are sums');
    ok(list.every((frame) => Math.abs(frame.w - frame.value / 1000 * width) < 0.01),
        'widths are in proportion to values');
    ok(Math.abs(by(list, 'main::run;My::save').x - 0.45 * width) < 0.01,
        'siblings are side by side');
    is(await page.title(), 'simple', 'the page has the title');
    is(await text(page, '#whole'), '1.000 s user+system time \u00b7 6 frames',
        'the page tells metric, total and frames');
    is(await page.evaluate(() => [document.querySelectorAll('[style]').length > 0,
        document.querySelectorAll('script[src],link,img').length]), [true, 0],
        'nothing is loaded from elsewhere');
    await page.click('#info');
    const about = await text(page, '#dialog');
    ok(/Recorded/.test(about) && /on a Tuesday/.test(about) && /Devel::DProf 0\.1/.test(about),
        'a panel has the facts');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    ok(/next match/.test(await text(page, '#dialog')), 'a panel has the keys');
    await page.keyboard.press('Escape');
    ok(/core module/.test(await text(page, '#kinds')) && !/XS/.test(await text(page, '#kinds')),
        'the legend has the kinds that occur');
    await quiet(page, 'a profile');

    const style = fs.readFileSync(path.join(share, 'flame.css'));
    const script = fs.readFileSync(path.join(share, '..', 'src', 'picture', 'dp_page.js'));
    const bytes = script.length + style.length;
    ok(bytes < 256 * 1024, 'script and style are under 256 KiB');
    note(`script and style: ${bytes} bytes`);
    const runs = /\binnerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/;
    ok(!runs.test(script.toString()), 'nothing is read as HTML or run');

    const two = await show(b, simple(), { deviceScaleFactor: 2 });
    is(await two.evaluate(() => {
        const c = document.querySelector('.sheet > canvas');
        return c.width / c.getBoundingClientRect().width;
    }), 2, 'a dense screen gets two pixels to a pixel');
    await two.setViewportSize({ width: 700, height: 600 });
    await settled(two);
    await settled(two);
    const resized = await frames(two);
    const room = await two.evaluate(() => document.querySelector('.scroll').clientWidth);
    ok(room <= 700 && Math.abs(resized[0].w - room) < 1, 'the graph is as wide as the window');
    await quiet(two, 'twice the pixels');
}

async function failures(b) {
    const plain = await b.newPage({ javaScriptEnabled: false });
    const name = file(makePage(simple()));
    await plain.goto('file://' + name);
    ok(/drawn by JavaScript/.test(await plain.locator('noscript').innerText()),
        'without JavaScript a sentence says so');
    await plain.close();

    const old = await b.newPage();
    await old.addInitScript(() => { delete window.DecompressionStream; });
    await old.goto('file://' + name);
    ok(/too old/.test(await text(old, '#panes')), 'without DecompressionStream a sentence says so');
    await old.close();

    const bad = await b.newPage(), zlib = require('zlib');
    await bad.goto('file://' + file(html('bad', zlib.gzipSync(Buffer.from('\x05\0\0\0{"a":')))));
    await settled(bad);
    ok(/damaged/.test(await text(bad, '#panes')), 'damaged data are told in a sentence');
    await bad.close();

    const other = await b.newPage();
    const intruded = fs.readFileSync(name, 'utf8')
        .replace("'use strict';", "'use strict'; window.intruder = 1;");
    await other.goto('file://' + file(intruded));
    is(await other.evaluate(() => [typeof window.intruder, typeof window.dprof]),
        ['undefined', 'undefined'], 'a script other than ours does not run');
    await other.close();
}

async function hostile(b) {
    const evil = ['</script><script>window.pwned = 1</script>',
        '<img src=x onerror="window.pwned = 1">', '"\'`${window.pwned = 1}', '\u202egnirts',
        '\\x1b[31mred\\x00',
        '\u05d0\u05d1\u05d2::\u05d3', 'a;b', '100%;%3B', 'x'.repeat(10000), '{{TITLE}} $& $1'];
    const page = await show(b, { title: '<b>& "quotes"</b>', subtitle: '<i>sub</i>',
        root: { self: 1, kids: evil.map((name) => f(name, 10)) }, metrics: METRICS });
    is((await frames(page)).length, evil.length + 1, 'names of any characters are drawn');
    is(await page.title(), '<b>& "quotes"</b>', 'a title is text');
    const list = await page.evaluate(() => window.dprof.frames().slice(1)
        .map((frame) => [frame.x + frame.w / 2, frame.row]));
    await page.click('#table');
    for (const [x] of list) {
        await page.mouse.move(x, (await page.evaluate(() => {
            const r = document.querySelector('.sheet > canvas').getBoundingClientRect();
            return r.bottom;
        })) - 30);
    }
    await page.evaluate((name) => window.dprof.search(name), '<img');
    const made = await page.evaluate(() =>
        [window.pwned, document.querySelectorAll('img, b, i, main script').length]);
    is(made, [null, 0].map((v) => v ?? undefined), 'no name is run or becomes an element');
    const tall = await page.evaluate(() =>
        document.querySelector('#tip').getBoundingClientRect().height);
    ok(tall < 400, 'a name of 10,000 characters has a tooltip of some lines');

    // Each name is used in a link.
    let same = 0;
    for (const name of evil) {
        await page.evaluate((n) => {
            const at = profile.names.indexOf(n);
            zoom(scene.tree.follow([at]).frame);
        }, name);
        const hash = await page.evaluate(() => location.hash);
        const again = await open(b, page.url().replace(/^file:\/\//, '').replace(/#.*/s, ''),
            { hash });
        await again.evaluate(() => window.dprof.ready);
        const got = (await state(again)).path;
        if (got.length === 1 && got[0] === name) same++;
        else note(`${name.slice(0, 40)} -> ${JSON.stringify(got).slice(0, 80)}`);
        await again.close();
    }
    is(same, evil.length, 'links lead to names of any characters');
    ok(/%253B/.test(await page.evaluate(() => {
        zoom(scene.tree.follow([profile.names.indexOf('a;b')]).frame);
        return location.hash;
    })), '; of a name is encoded twice');
    await quiet(page, 'names of any characters');
}

async function zooms(b) {
    const page = await show(b, simple()), before = await frames(page);
    await mouse(page, 'main::run;My::parse', true);
    let list = await frames(page);
    is(paths(list), ['', 'main::run', 'main::run;My::parse', 'main::run;My::parse;CORE::match'],
        'a click zooms: ancestors and what is below');
    ok(list.slice(0, 3).every((frame) => frame.w === list[0].w), 'ancestors are as wide as all');
    ok(Math.abs(by(list, 'main::run;My::parse;CORE::match').w / list[0].w - 100 / 450) < 1e-6,
        'other frames become wider');
    await mouse(page, 'main::run;My::parse;CORE::match');
    const tip = await text(page, '#tip'), details = await text(page, '#details');
    ok(/CORE::match/.test(tip) && /100\.0 ms/.test(tip) && /10\.0 %/.test(tip)
        && /22\.2 %/.test(tip) && /builtin/.test(tip),
        'tooltip: value, part of all and of the zoomed frame, kind');
    ok(/10\.0 %, 22\.2 % of zoomed/.test(details) && /calls 7/.test(details),
        'details: the same, and calls');
    await mouse(page, 'main::run;My::parse');
    ok(/lib\/My\.pm:12/.test(await text(page, '#tip'))
        && /self350\.0 ms/.test(await text(page, '#tip')), 'tooltip: self and place');
    is(await page.evaluate(() => location.hash), '#at=main%3A%3Arun;My%3A%3Aparse',
        'the link has the path');

    await mouse(page, 'main::run;My::parse;CORE::match', true);
    await page.goBack();
    await settled(page);
    is((await state(page)).path, ['main::run', 'My::parse'], 'Back undoes a zoom');
    await page.goForward();
    await settled(page);
    is((await state(page)).path, ['main::run', 'My::parse', 'CORE::match'],
        'Forward does it again');
    const pressed = async (key) => {
        await page.keyboard.press(key);
        await page.waitForTimeout(60);
        return (await state(page)).path.length;
    };
    is(await pressed('Backspace'), 2, 'Backspace goes back');
    is(await pressed('Escape'), 0, 'Escape resets the zoom');
    await page.evaluate(() => window.dprof.zoom('main::run;My::parse'));
    is(await pressed('0'), 0, '0 resets the zoom');
    await page.evaluate(() => window.dprof.zoom('main::run'));
    is(await page.isDisabled('#reset'), false, 'the button to reset is enabled when zoomed');
    await page.click('#reset');
    is(await frames(page), before, 'the button resets everything');
    is(await page.isDisabled('#reset'), true, 'the button is disabled when not zoomed');
    await quiet(page, 'zoom');
}

async function searches(b) {
    const kids = [f('f', 10, [f('g', 20, [f('f', 30, [f('F', 5)])])]), f('ff', 35)];
    const profile = { title: 'search', metrics: METRICS, root: { self: 0, kids } };
    const page = await show(b, profile);
    const look = async (q) => {
        await page.fill('#q', q);
        await page.keyboard.press('Enter');
        return page.evaluate(() => {
            const { frames, shares, error } = window.dprof.found();
            return { frames, shares, error };
        });
    };
    is(await look('^f$'), { frames: 3, shares: [0.65], error: '' },
        'anchors are those of the name; nested matches count once; case does not matter');
    await page.click('#case');
    is((await page.evaluate(() => window.dprof.found())).frames, 2, 'case matters with the toggle');
    is(await page.getAttribute('#case', 'aria-pressed'), 'true', 'the toggle tells its state');
    ok(/65\.0 %.* in 2 frames/.test(await text(page, '#found')), 'share and number beside the box');
    await page.fill('#q', '(');
    await page.waitForTimeout(200);
    const bad = await page.evaluate(() => window.dprof.found());
    ok(/Not a usable regex: Unterminated group/.test(await text(page, '#found'))
        && bad.frames === 2, 'a bad regex is told in words, the last good one stays');
    is(await page.getAttribute('#q', 'aria-invalid'), 'true', 'a bad regex marks the box');
    await look('f');
    is((await state(page)).cursor, 'f', 'Enter goes to a match');
    const visited = [];
    for (const key of ['Enter', 'Enter', 'Enter', 'Shift+Enter']) {
        await page.keyboard.press(key);
        visited.push(await page.evaluate(() => window.dprof.found().at));
    }
    is(visited, [1, 2, 0, 2], 'Enter and Shift+Enter go round');
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.keyboard.press('p');
    is(await page.evaluate(() => window.dprof.found().at), 2, 'n and p go to matches, too');
    await page.keyboard.press('Control+f');
    is(await page.evaluate(() => document.activeElement.id), 'q', 'Ctrl+F goes to the box');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    is(await page.evaluate(() => document.activeElement.id), 'q', '/ goes to the box');
    is(await page.inputValue('#q'), 'f', '/ is not typed into the box');
    await look('nothing such');
    is(await text(page, '#found'), 'no match', 'a search without a match is told');
    await quiet(page, 'search');

    // A match too narrow to see is zoomed to.
    const many = { title: 'narrow', metrics: METRICS,
        root: { self: 1e6, kids: [f('a', 10000, [f('needle', 3)]), f('b', 3e6)] } };
    const other = await show(b, many);
    is(await other.evaluate(() => window.dprof.narrow()),
        { frames: 1, weight: 3, still: 0, beside: 0 }, 'a frame too narrow is counted');
    is(await text(other, '#narrow'), '1 frame, <0.01 %, too narrow to draw here; zoom in, or drag '
        + 'over a part, to see them', 'narrow frames are told');
    await other.evaluate(() => window.dprof.search('needle'));
    await other.keyboard.press('n');
    ok((by(await frames(other), 'a;needle').w || 0) >= 8, 'next match zooms until it can be seen');
    await quiet(other, 'narrow frames');
}

async function toggles(b) {
    const same = { reversed: 0, merged: 0, both: 0 };
    for (let seed = 1; seed <= 8; seed++) {
        const root = randomTree(seed * 7919);
        const page = await show(b, { title: 'random', metrics: METRICS, root },
            { viewport: { width: 3000, height: 800 } });
        const merge = (stack) => stack.filter((name, k) => name !== stack[k - 1]);
        const list = stacks(root);
        const callers = (stack) => (stack.length ? [...stack].reverse() : ['(program)']);
        const drawn = async () =>
            shape(new Map((await frames(page)).map((frame) => [frame.path, frame.value])));
        const isDrawn = async (fold) =>
            JSON.stringify(await drawn()) === JSON.stringify(shape(folded(list, fold)));
        await page.click('#merged');
        if (await isDrawn(merge)) same.merged++;
        await page.click('#reversed');
        if (await isDrawn((s) => callers(merge(s)))) same.both++;
        await page.click('#merged');
        if (await isDrawn(callers)) same.reversed++;
        else note(JSON.stringify([await drawn(), shape(folded(list, callers))]).slice(0, 1500));
        await page.close();
    }
    is(same, { reversed: 8, merged: 8, both: 8 },
        'callers and merged recursion of 8 random trees, as a plain way makes them');

    const kids = [
        { ...f('a', 10), when: 2 }, { ...f('b', 30), when: 0 },
        { ...f('c', 20, [f('c', 5)]), when: 1 },
    ];
    const page = await show(b, { title: 'orders', metrics: METRICS, root: { self: 0, kids } });
    const order = async () => (await frames(page)).filter((frame) => frame.row === 1)
        .sort((p, q) => p.x - q.x).map((frame) => frame.path).join('');
    is(await order(), 'abc', 'siblings are ordered by name');
    await page.selectOption('#order', 'weight');
    is(await order(), 'bca', 'siblings are ordered by weight');
    await page.selectOption('#order', 'time');
    is(await order(), 'bca', 'siblings are ordered by time');
    await page.evaluate(() => turn('metric', 1));
    is([await order(), (await frames(page))[0].value], ['bca', 4],
        'another metric changes values, not the order of time');
    await page.selectOption('#order', 'weight');
    is(await order(), 'cab', 'the order by weight follows the metric');
    const y = () => page.evaluate(() => window.dprof.point('a').y - window.dprof.point('').y);
    ok(await y() < 0, 'flame: the root is at the bottom');
    await page.keyboard.press('i');
    ok(await y() > 0 && await page.getAttribute('#icicle', 'aria-pressed') === 'true',
        'icicle: the root is on top');
    await page.keyboard.press('r');
    is(await page.evaluate(() => document.querySelector('#order option[value=time]').disabled),
        true, 'callers cannot be ordered by time');
    await page.keyboard.press('m');
    const hash = await page.evaluate(() => location.hash);
    is(hash, '#metric=calls&order=weight&view=icicle,reversed,merged', 'the link has all choices');
    await quiet(page, 'toggles');

    const none = await show(b, simple());
    is(await none.evaluate(() => document.querySelector('#order option[value=time]').disabled),
        true, 'no order of time where none is known');
    await none.evaluate(() => { profile.tree.n = 1e9; turn('reversed', true); });
    ok(/up to 5,000,000 frames; this profile has 1,000,000,000/.test(await text(none, '#notice'))
        && !(await state(none)).reversed, 'too large a profile: callers are refused in words');
    await none.close();

    // In the view of callers, a zoom builds what is below it.
    const many = Array.from({ length: 300 }, (_, i) => f(`c${i}`, 1, [f('leaf', 10)]));
    const leafy = {
        title: 'leafy', metrics: METRICS, root: { self: 0, kids: many.concat(f('big', 1e5)) },
    };
    const callers = await show(b, leafy);
    await callers.keyboard.press('r');
    const narrow = await callers.evaluate(() => window.dprof.narrow().frames);
    // There are 300 callers with 10 each; what ran in c0 to c299 themselves has its place, too
    // narrow as it is.
    is(await callers.evaluate(() => [window.dprof.narrow().weight, scene.tree.n]), [3300, 303],
        'callers too narrow: all that they have, once');
    await callers.evaluate(() => window.dprof.zoom('leaf'));
    const list = await frames(callers);
    ok(narrow > 0 && list.filter((frame) => frame.row === 2).length === 300,
        'callers too narrow are built by a zoom');
    is(by(list, 'leaf;c7').value, 10, 'built callers have their values');
    await quiet(callers, 'callers');
}

async function tables(b) {
    const recursive = {
        title: 'table', metrics: METRICS, files: ['b.pl', 'a.pl'],
        places: { rec: [0, 5], helper: [1, 9] },
        root: {
            self: 0, kids: [
                f('rec', 10, [
                    f('rec', 20, [f('rec', 30, [f('helper', 5, [], 4)], 2), f('helper', 1)], 2),
                ], 2),
                f('other', 40, [f('helper', 7, [], 3)], 9, 77),
            ],
        },
    };
    const page = await show(b, recursive);
    await page.click('#table');
    const head = () => page.$$eval('#subs th',
        (list) => list.map((th) => th.textContent.replace(/ [\u25be\u25b4]$/, '')));
    const rows = () => page.$$eval('.list tbody tr',
        (list) => list.map((tr) => [...tr.cells].map((td) => td.textContent)));
    is(await head(), ['Sub', 'Self', '%', 'Inclusive', '%', 'Calls', 'Ops', 'Per call',
        'Source'],
        'the table has its columns');
    is((await rows())[0], ['rec', '60.00 ms', '53.1 %', '66.00 ms', '58.4 %', '6', '30',
        '11.00 ms', 'b.pl:5'],
        'a recursive sub counts once');
    is((await rows()).map((row) => row[0]), ['rec', 'other', 'helper', '(program)'],
        'the table begins with the largest');
    await page.click('#subs th:nth-child(4) button');
    is(await page.$$eval('#subs th', (list) => list.map((th) => th.getAttribute('aria-sort'))),
        [null, null, null, 'descending', null, null, null, null, null], 'aria-sort');
    await page.keyboard.press('Enter');
    is((await rows()).map((row) => row[0]), ['(program)', 'rec', 'other', 'helper'].reverse(),
        'the keyboard reverses the order');
    await page.click('#subs th:nth-child(1) button');
    is((await rows()).map((row) => row[0]), ['(program)', 'helper', 'other', 'rec'],
        'a click sorts by name, from a');
    await page.click('#subs th:nth-child(9) button');
    is((await rows()).map((row) => row[8]), ['a.pl:9', 'b.pl:5', '', ''],
        'a click sorts by place');
    await page.fill('#filter', '^he');
    is([(await rows()).length, await page.inputValue('#q')], [1, '^he'],
        'the filter is the search');
    is(await page.evaluate(() => document.activeElement.id), 'filter',
        'the filter keeps the focus');
    await page.fill('#filter', '');

    await page.click('text=helper');
    const near = await text(page, '.near');
    const [rec, another] = ['rec6.000 ms5 calls, 1.200 ms each',
        'other7.000 ms3 calls, 2.333 ms each'];
    const ordered = near.replace(another + rec, rec + another);
    ok(ordered.includes(`Callers${rec}${another}Callees`) && /none$/.test(near),
        'a sub has its callers and callees');
    is(await page.evaluate(() => location.hash), '#table=1&sub=helper', 'the sub is in the link');
    await page.click('.near button:has-text("rec")');
    ok(/Callers\(program\)66\.00 ms2 calls, 33\.00 ms eachrec56\.00 ms4 calls, 14\.00 ms each/
        .test(await text(page, '.near')),
        'a recursive sub is not its own caller');
    ok(/called 6 times, 11\.00 ms each/.test(await text(page, '.near')),
        '... and has a cost for each call');
    await page.click('#sandwich');
    is((await state(page)).centre, 'rec', 'the sandwich is that of the sub in the table');
    await page.click('#sandwich');
    await page.click('text=Zoom to widest');
    is((await state(page)).path, ['rec'], 'Zoom to widest leads to the graph');
    await page.click('text=Search in graph');
    is([(await state(page)).q, (await page.evaluate(() => window.dprof.found())).frames],
        ['^rec$', 3], 'and as a search');
    await page.click('text=Close');
    is(await page.$$eval('.near', (list) => list.length), 0, 'the panel is closed');
    await quiet(page, 'table');

    const long = await show(b, { title: 'long', metrics: METRICS,
        root: { self: 0, kids: Array.from({ length: 450 }, (_, i) => f(`s${i}`, i + 1)) } });
    await long.keyboard.press('t');
    const count = () => long.$$eval('.list tbody tr', (list) => list.length);
    const counts = [await count()];
    for (let k = 0; k < 2; k++) {
        await long.click('#more');
        counts.push(await count());
    }
    is(counts, [200, 400, 451], 'a long table has some hundred rows, and more on demand');
    await quiet(long, 'a long table');
}

async function keyboard(b) {
    const page = await show(b, simple()), at = async (key) => {
        await page.keyboard.press(key);
        return (await state(page)).cursor;
    };
    await page.focus('.sheet > canvas');
    is(await page.evaluate(() => {
        const c = document.activeElement;
        return [c.tabIndex, c.getAttribute('role'),
            /Flame graph/.test(c.getAttribute('aria-label'))];
    }), [0, 'application', true], 'the graph has the keyboard, a role and a name');
    const went = [];
    for (const key of ['Up', 'Up', 'Right', 'Left', 'Down', 'Right'])
        went.push(await at('Arrow' + key));
    is(went, ['main::run', 'My::parse', 'My::save', 'My::parse', 'main::run', 'strict::import'],
        'arrow keys move between frames');
    const spoken = /strict::import.*200\.0 ms \(20\.0 %\).*Level 1, 0 callees/;
    ok(spoken.test(await text(page, '#spoken')), 'the frame is described for screen readers');
    is(await page.evaluate(() => document.querySelector('#spoken').getAttribute('aria-live')),
        'polite', '... in a live region');
    is(await page.evaluate(() => {
        const m = document.querySelector('.mark.cursor');
        return m.hidden;
    }), false, 'the frame of the keyboard is marked');
    await page.keyboard.press('Enter');
    is((await state(page)).path, ['strict::import'], 'Enter zooms');
    await page.keyboard.press('u');
    await page.waitForTimeout(60);
    is((await state(page)).path, [], 'u goes back');
    await page.keyboard.press('s');
    ok((await state(page)).sub !== '', 's shows the sub in the table');
    const unnamed = await page.$$eval('button, input, select', (list) => list.filter((e) =>
        !(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).length);
    is(unnamed, 0, 'every control has a name');
    ok(await page.$$eval('#icicle, #reversed, #merged, #case, #table, #dark',
        (list) => list.every((e) => e.tagName === 'BUTTON' && e.hasAttribute('aria-pressed'))),
        'toggles are buttons that tell their state');
    await page.focus('#next');
    await page.keyboard.press('Tab');
    ok(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle) === 'solid',
        'the focus is visible');
    await quiet(page, 'keyboard');
}

async function links(b) {
    const name = file(makePage(simple())), go = async (hash) => {
        const page = await open(b, name, { hash });
        await page.evaluate(() => window.dprof.ready);
        return page;
    };
    const page = await go('#at=main::run;My::parse&q=CORE&case=1&metric=ops&order=weight'
        + '&view=icicle,merged&sub=My::parse');
    const s = await state(page);
    is([s.path, s.q, s.match, s.metric, s.order, s.icicle, s.merged, s.reversed, s.sub, s.table],
        [['main::run', 'My::parse'], 'CORE', true, 'ops', 'weight', true, true, false, 'My::parse',
            true], 'a link restores everything');
    is(await page.inputValue('#q'), 'CORE', 'a link restores the search box');
    ok((await text(page, '.near')).startsWith('My::parse'), 'a link restores the table');
    await page.evaluate(() => { location.hash = '#at=strict::import'; });
    await page.waitForTimeout(80);
    is([(await state(page)).path, (await state(page)).icicle], [['strict::import'], false],
        'a link pasted into the open page is followed');
    await quiet(page, 'links');

    const lost = await go('#at=main::run;My::gone;deeper');
    is((await state(lost)).path, ['main::run'], 'a lost path is followed as far as it goes');
    ok(/no further than main::run: My::gone/.test(await text(lost, '#notice')),
        'a lost path is told');
    await quiet(lost, 'a lost path');
    const wrong = await go('#at=%E0%A4%A&metric=none&order=up&q=%&sub=none&view=');
    ok((await state(wrong)).path.length === 0
        && /sub none is not in/.test(await text(wrong, '#notice')), 'nonsense in a link is told');
    await quiet(wrong, 'nonsense');

    const options = {
        order: 'weight', inverted: true, reverse: false, merged: true, search: 'My',
        metric: 'calls',
    };
    const made = await show(b, { ...simple(), options });
    const opened = await state(made);
    is([opened.order, opened.icicle, opened.merged, opened.q, opened.metric],
        ['weight', true, true, 'My', 'calls'],
            'the page opens with the options that it was made with');
    is(await made.evaluate(() => location.hash), '', 'the link leaves out the initial options');
    await made.keyboard.press('i');
    is(await made.evaluate(() => location.hash), '#view=merged',
        'the link has what differs from them');
    await quiet(made, 'options');
}

async function themes(b) {
    const page = await show(b, simple(), { colorScheme: 'dark' });
    const dark = await colour(page, 'main::run');
    const ground = () => page.evaluate(() =>
        getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
    ok(light(await ground()) < 60 && light(dark) < 130, 'a dark scheme gives a dark page');
    await page.emulateMedia({ colorScheme: 'light' });
    await settled(page);
    ok(light(await ground()) > 200 && light(await colour(page, 'main::run')) > 150,
        'light, at once');
    await page.keyboard.press('d');
    ok(light(await ground()) < 60 && (await state(page)).theme === 'dark', 'd changes the theme');
    await page.emulateMedia({ media: 'print' });
    await settled(page);
    const printed = await page.evaluate(() => ({
        bar: getComputedStyle(document.querySelector('.bar')).display,
        wide: document.querySelector('.sheet > canvas').getBoundingClientRect().width
            / document.body.clientWidth,
        back: getComputedStyle(document.body).backgroundColor,
    }));
    is([printed.bar, printed.wide, printed.back], ['none', 1, 'rgb(255, 255, 255)'],
        'print: no toolbar, full width, white');
    ok(light(await page.evaluate(() => {
        const c = document.querySelector('.sheet > canvas');
        const { data } = c.getContext('2d').getImageData(c.width / 2, c.height - 6, 1, 1);
        return [...data].slice(0, 3);
    })) > 150, 'print: the picture is light');
    ok((await page.pdf()).length > 5000, 'the page prints');
    await page.emulateMedia({ media: 'screen' });
    await settled(page);
    ok(light(await colour(page, 'main::run')) < 130, 'after printing the page is dark again');
    const when = (type) => page.evaluate((t) => {
        window.dispatchEvent(new Event(t));
        return document.querySelector('.sheet > canvas').width;
    }, type);
    is([await when('beforeprint'), await when('afterprint')], [2080, 1280],
        'prints from a browser that tells only by events');
    await quiet(page, 'themes');

    const asked = await show(b,
        { ...simple(), fills: { 'main::run': '#123456', 'My::parse': '#fedcba' } });
    is(await colour(asked, 'main::run'), [0x12, 0x34, 0x56], 'given colours are used');
    await quiet(asked, 'fills');

    // With a recursion of 3,000 the sheet scrolls, and the canvas stays as large as the window.
    let chain = f('deep', 1);
    for (let k = 0; k < 3000; k++) chain = f('deep', 1, [chain]);
    const deep = await show(b,
        { title: 'deep', metrics: METRICS, root: { self: 0, kids: [chain] } });
    is(await deep.evaluate(() => {
        const s = document.querySelector('.scroll'), c = document.querySelector('.sheet > canvas');
        return [s.scrollHeight > 50000, c.height < 2000, s.scrollTop > 50000];
    }), [true, true, true], 'a deep graph scrolls, from the bottom');
    await deep.keyboard.press('m');
    is((await frames(deep)).length, 2, 'merging recursion leaves one frame');
    await quiet(deep, 'deep');
}

async function differences(b) {
    const page = await show(b, difference());
    const last = (frame) => frame.path.replace(/.*;/, '');
    const sign = (list) =>
        Object.fromEntries(list.map((frame) => [last(frame), Math.sign(frame.level)]));
    const width = async (kind) => {
        await page.selectOption('#width', kind);
        return Object.fromEntries((await frames(page)).map((frame, _, [root]) =>
            [last(frame) || 'root', Math.round(frame.w / root.w * 1e4) / 1e4]));
    };
    const part = (v, of) => Math.round(v / of * 1e4) / 1e4;
    is(sign(await frames(page)),
        { '': 0, main: 0, fresh: 1, grown: 1, leaf: 0, same: 0, shrunk: -1 },
        'red for more, blue for less, by self; after leaves out what is gone');
    is(await width('after'), { root: 1, main: 1, fresh: part(90, 700), grown: part(350, 700),
        leaf: part(50, 700), same: part(60, 700), shrunk: part(100, 700) }, 'widths: after');
    is((await width('before')).gone, part(100, 610), 'widths: before, with what is gone');
    is(await width('union'), { root: 1, main: 1, fresh: part(90, 900), gone: part(100, 900),
        gonekid: part(20, 900), grown: part(350, 900), leaf: part(50, 900), same: part(60, 900),
        shrunk: part(200, 900) }, 'widths: both, the larger of each');
    const ghosts = await frames(page);
    is(ghosts.filter((frame) => frame.gone).map((frame) => frame.path),
        ['main;gone', 'main;gone;gonekid'], 'gone');
    is(ghosts.filter((frame) => frame.fresh).map((frame) => frame.path), ['main;fresh'],
        'frames that are new are marked');
    is(await width('change'), { root: 1, main: 1, fresh: part(90, 490), gone: part(100, 490),
        gonekid: part(20, 490), grown: part(200, 490), shrunk: part(100, 490) }, 'widths: change');
    const mixed = await frames(page);
    is([by(mixed, 'main;grown').level, by(mixed, 'main;gone').level, by(mixed, 'main').level],
        [24, -24, Math.round(90 / 490 * 24)], 'change: net by sum');
    is(await page.isDisabled('#colour'), true,
        'the choice of colour is disabled where there is one only');
    ok(/2 frames? without any value of change not drawn/.test(await text(page, '#narrow')),
        'what did not change is not drawn, and said');

    await page.selectOption('#width', 'union');
    const [grown, shrunk, same] = [await colour(page, 'main;grown'),
        await colour(page, 'main;shrunk'), await colour(page, 'main;same')];
    ok(grown[0] > grown[2] + 60 && shrunk[2] > shrunk[0] + 60
        && Math.max(...same) - Math.min(...same) < 8 && light(same) > 240, 'red, blue, white');
    ok(light(grown) < light(shrunk) && light(shrunk) < light(same),
        'colours are darker for larger changes');
    await page.selectOption('#colour', 'total');
    is(sign(await frames(page)).main, 1, 'colours by total count what is below');
    const tipOf = async (where) => {
        await mouse(page, where);
        return text(page, '#tip');
    };
    let tip = await tipOf('main;grown');
    ok(/total150\.0 ms350\.0 ms\+200\.0 ms\+133 %\u00d72\.33/.test(tip)
        && /self100\.0 ms300\.0 ms\+200\.0 ms\+200 %\u00d73\.00/.test(tip),
        'tooltip: before, after, difference, percent, ratio, of total and self');
    ok(/40\.8 %/.test(tip) && /calls24\+2/.test(tip), 'tooltip: share of all change, calls');
    ok(/gone: not called here after/.test(await tipOf('main;gone'))
        && /\u2212100 %gone/.test(await text(page, '#tip')), 'tooltip: gone');
    tip = await tipOf('main;fresh');
    ok(/new: not called here before/.test(tip) && /\+90\.00 msnew/.test(tip), 'tooltip: new');
    ok(/before: old\.out/.test(await text(page, '#kinds'))
        && /after: new\.out/.test(await text(page, '#kinds'))
        && /gone.*new/.test(await text(page, '#kinds')), 'legend: sides, gone, new');
    ok(/\u2212100\.0 ms|\u2212200\.0 ms/.test(await text(page, '#scale'))
        && /\+200\.0 ms/.test(await text(page, '#scale')), 'legend: the scale');
    ok(/more after; blue: less; a step is (?:25\.00|50\.00) ms/.test(await text(page, '#kinds'))
        && /no colour: under (?:1\.000|2\.000) ms/.test(await text(page, '#kinds')),
        'legend: what the colours are, and what has none');
    ok(/one run a side: may be chance/.test(await text(page, '#kinds')), 'legend: one run a side');
    ok(/called from the box below it; width: its time with all/.test(await text(page, '#kinds')),
        'legend: what a box and its width are');
    ok(/ 610\.0 ms \u2192 after 700\.0 ms \(\+15 %\) /.test(await text(page, '#whole')),
        'the totals have their change in percent');
    await page.selectOption('#measure', 'relative');
    const relative = await frames(page);
    is([by(relative, 'main;fresh').level, by(relative, 'main;gone').level], [24, -24],
        'relative: what is new or gone has the strongest colours');
    ok(/\u2212100 %.*\+100 %/.test(await text(page, '#scale')), '... and the legend says so');
    await page.selectOption('#measure', 'absolute');

    const [once] = await frames(page), chosen = await page.evaluate(() => location.hash);
    await page.click('#swap');
    const swapped = await frames(page);
    is([swapped[0].value, swapped[0].before], [once.before, once.value], 'the sides are swapped');
    ok(by(swapped, 'main;gone').fresh && by(swapped, 'main;fresh').gone
        && /before: new\.out/.test(await text(page, '#kinds')), '... and their names');
    is(await page.evaluate(() => location.hash), `${chosen}&sides=swapped`,
        '... and what was chosen is kept');
    await page.reload();
    await page.evaluate(() => window.dprof.ready);
    is((await frames(page))[0].value, once.before, '... also by a link');
    await page.click('#swap');
    is([(await frames(page))[0].value, await page.evaluate(() => location.hash)],
        [once.value, chosen], '... and back');

    await page.click('#table');
    is(await page.$$eval('#subs th',
        (list) => list.map((th) => th.textContent.replace(/ [\u25be\u25b4]$/, ''))),
        ['Sub', 'Self before', 'Self after', 'Self difference', 'Inclusive before',
            'Inclusive after', 'Inclusive difference', 'Calls before', 'Calls after',
            'Calls difference'], 'table: columns');
    const cells = await page.$eval('.list tbody tr',
        (tr) => [...tr.cells].map((td) => td.textContent));
    is(cells.slice(0, 7), ['grown', '100.0 ms', '300.0 ms', '+200.0 ms', '150.0 ms', '350.0 ms',
        '+200.0 ms'], 'table: the largest difference first');
    await page.selectOption('#colour', 'self');
    await page.keyboard.press('r');
    ok(by(await frames(page), 'gone').gone === true
        && Math.sign(by(await frames(page), 'grown').level) === 1
        && await page.isDisabled('#colour'), 'callers: the changed subs are coloured at the root');
    is(await page.evaluate(() => location.hash), '#width=union&view=reversed&table=1',
        'the link has the choices of a difference');
    await quiet(page, 'a difference');

    const scaledPage = await show(b, difference({
        factor: [2, 0.5], normalized: 'by the time of main', runs: [10, 3], width: 'union',
        moved: { same: 'old.pl:7' }, significant: { self: ['grown'], total: ['grown', 'main'] },
    }));
    is((await frames(scaledPage))[0].before, 1220, 'a factor scales the first side');
    const byMetric = await show(b, difference({ factor: [1, 1], factors: [[3, 1], [1, 1]] }));
    is((await frames(byMetric))[0].before, 1830, 'each metric may have its own factor');
    is(sign((await frames(scaledPage)).filter((frame) => frame.level)), { grown: -1 },
        'only what is certain is coloured');
    await mouse(scaledPage, 'main;same');
    ok(/moved: was at old\.pl:7/.test(await text(scaledPage, '#tip'))
        && /uncertain/.test(await text(scaledPage, '#tip')), 'tooltip: moved, uncertain');
    ok(/by the time of main/.test(await text(scaledPage, '#kinds'))
        && /means of 10 and 3 runs/.test(await text(scaledPage, '#kinds')),
        'legend: normalization and runs');
    await scaledPage.click('#uncertain');
    ok(Object.keys(sign((await frames(scaledPage)).filter((frame) => frame.level))).length > 4,
        'uncertain frames are coloured on demand');
    await quiet(scaledPage, 'factors');

    const negated = await show(b, difference({ negate: true, width: 'before' }));
    ok((await state(negated)).width === 'before' && sign(await frames(negated)).grown === 1
        && /what will happen/.test(await text(negated, '#kinds')),
        'negated: width before, red is growth still');
    await quiet(negated, 'negated');
}

async function several(b) {
    const page = await show(b, difference({ view: 'triple', colour: 'total' }));
    is(await page.$$eval('.pane h2', (list) => list.map((h) => h.textContent)),
        ['Before: old.out \u2014 coloured by what will happen',
            'After: new.out \u2014 coloured by what did happen',
            'Difference \u2014 as wide as what changed'], 'three panes');
    const widths = await Promise.all([0, 1, 2].map(async (pane) =>
        (await frames(page, pane)).filter((frame) => frame.row === 2)
            .map((frame) => frame.path.slice(5)).join()));
    is(widths, ['gone,grown,same,shrunk', 'fresh,grown,same,shrunk', 'fresh,gone,grown,shrunk'],
        'each has its own widths');
    const levels = await Promise.all([0, 1].map(async (pane) =>
        by(await frames(page, pane), 'main;grown').level));
    ok(levels[0] === levels[1] && levels[0] > 0, 'the panes share one scale of colours');
    await mouse(page, 'main;grown', false, 0);
    is(await page.$$eval('.mark.hover', (list) => list.map((m) => m.hidden)), [false, false, false],
        'the mouse over one pane marks the frame in all');
    await mouse(page, 'main;fresh', false, 1);
    is(await page.$$eval('.mark.hover', (list) => list.map((m) => m.hidden)), [true, false, false],
        '... where the frame exists');
    await mouse(page, 'main;grown', true, 2);
    is(await Promise.all([0, 1, 2].map(async (pane) => (await frames(page, pane)).length)),
        [4, 4, 3], 'a zoom in one zooms all');
    await page.evaluate(() => window.dprof.zoom('main;fresh'));
    is((await frames(page, 0)).map((frame) => frame.path), ['', 'main', 'main;fresh'],
        'a zoom may lead to a frame that a pane lacks');
    await page.keyboard.press('0');
    await page.evaluate(() => window.dprof.search('grown'));
    const hit = await Promise.all([0, 1, 2].map((pane) => page.evaluate((p) => {
        const c = document.querySelectorAll('.sheet > canvas')[p];
        const q = window.dprof.frames(p).find((x) => x.path === 'main;grown');
        const a = window.dprof.point('main;grown', p);
        const r = c.getBoundingClientRect();
        return [...c.getContext('2d').getImageData(q.x + 1, a.y - r.top, 1, 1).data];
    }, pane)));
    ok(hit.every(([red, green, blue]) => red > green + 60 && blue > green + 60),
        'a search marks matches in all panes');
    await page.selectOption('#layout', 'pair');
    is(await page.$$eval('.pane', (list) => list.length), 2, 'a pair has two panes');
    const sides = await page.$$eval('.pane', (list) => list.map((n) => n.getBoundingClientRect())
        .map((r) => [r.left, r.top]));
    ok(sides[0][1] === sides[1][1] && sides[0][0] < sides[1][0], 'a pair is side by side');
    await page.keyboard.press('v');
    await page.keyboard.press('v');
    is([(await state(page)).layout, await page.$$eval('.pane', (list) => list.length)],
        ['graph', 1], 'one pane is left at the end');
    await quiet(page, 'several views');

    const counters = {
        title: 'counters', sides: ['cycles', 'stalls'],
        metrics: [{ key: 'cycles', label: 'events', unit: '', hz: 1 }],
        diff: { ...DIFF, mode: 'pair-metric' },
        root: { self: 0, kids: [{ name: 'busy', self: { cycles: [800, 50] } },
            { name: 'waits', self: { cycles: [200, 150] } }] },
    };
    const pair = await show(b, counters), list = await frames(pair);
    is([Math.sign(by(list, 'busy').level), Math.sign(by(list, 'waits').level), by(list, '').level],
        [-1, 1, 0], 'two counters: by share, red where the second is larger');
    await mouse(pair, 'waits');
    const tip = await text(pair, '#tip');
    ok(/cyclesstalls/.test(tip) && /total200150\+55\.00 points20\.0 % \u2192 75\.0 %/.test(tip),
        'two counters have their own numbers');
    await pair.click('#table');
    await pair.selectOption('#layout', 'pair');
    const shown = await pair.evaluate(() => {
        const places = ['#whole', '#tip', '#subs', '#kinds', '#scale', '#details', '#panes',
            '#narrow'].map((s) => document.querySelector(s));
        const widths = [...document.querySelectorAll('#width option')];
        const said = (list) => list.map((e) => e.textContent).join(' ');
        return said(places) + said(widths);
    });
    ok(!/\b(?:before|after)\b/i.test(shown), 'two counters are not called before and after');
    await quiet(pair, 'two counters');
}

async function narrowScreen(b) {
    for (const profile of [simple(), difference({ view: 'triple' })]) {
        const page = await show(b, profile, { viewport: { width: 400, height: 800 } });
        is(await page.evaluate(() => document.documentElement.scrollWidth), 400,
            `${profile.title}: 400 pixels are wide enough`);
        const heights = await page.$$eval('.sheet > canvas',
            (list) => list.map((c) => c.getBoundingClientRect().height));
        ok(heights.every((h) => h > 60), 'the graphs are visible on a small screen');
        const hidden = () => page.$$eval('header :is(button, select)', (list) => list.filter((n) =>
            !n.disabled && !n.closest('[hidden]') && !n.getClientRects().length)
            .map((n) => n.id));
        ok((await hidden()).includes('sandwich'), 'what is seldom needed is behind More');
        await page.click('#unfold');
        is(await hidden(), [], '... which shows all controls');
        const outside = await page.$$eval('header :is(button, select)', (list) => list.filter((n) =>
            n.getClientRects().length && n.getBoundingClientRect().right > 400).map((n) => n.id));
        is(outside, [], '... on the screen');
        await page.click('#unfold');
        await quiet(page, 'narrow');
    }
    const wide = await show(b, { ...simple() });
    await wide.evaluate(() => { window.dprof.search('a'); });
    const bar = await wide.evaluate(() =>
        document.querySelector('.bar').getBoundingClientRect().height);
    ok(bar < 50, 'the toolbar is one line at 1280 pixels');
    await wide.click('#icicle');
    await wide.click('#reset');
    is([(await state(wide)).q, (await state(wide)).icicle, await wide.inputValue('#q'),
        await wide.isVisible('#reset'), await wide.evaluate(() => location.hash)],
    ['', false, '', false, ''], 'Reset resets search and views, too');
    await wide.goBack();
    is([(await state(wide)).q, (await state(wide)).icicle], ['a', true], '... and Back returns');
    await wide.close();
}

async function large(b, count) {
    const made = synthetic(count), page = await open(b, file(made.html));
    await page.evaluate(() => window.dprof.ready);
    const loaded = await page.evaluate(() => performance.now());
    const list = await frames(page);
    const narrow = await page.evaluate(() => window.dprof.narrow());
    is(list.length + narrow.frames + narrow.still, made.count,
        `${made.count} frames: drawn, or counted`);
    const wide = list.filter((frame) => frame.row > 2 && frame.w > 60)[0].path;
    const times = await page.evaluate(async (where) => {
        const result = {}, time = async (name, act) => {
            const runs = [];
            for (let k = 0; k < 5; k++) {
                const begun = performance.now();
                act(k);
                await work.busy;
                runs.push(performance.now() - begun);
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            }
            result[name] = runs.sort((p, q) => p - q)[2].toFixed(1);
        };
        await time('zoom', (k) => window.dprof.zoom(k % 2 ? '' : where));
        await time('search', (k) => window.dprof.search(k % 2 ? 'parse' : 'JSON::PP'));
        window.dprof.search('');
        await time('order', (k) => turn('order', k % 2 ? 'name' : 'weight'));
        await time('merge', (k) => turn('merged', k % 2 === 0));
        turn('merged', false);
        turn('order', 'name');
        await time('callers', (k) => turn('reversed', k % 2 === 0));
        turn('reversed', false);
        await time('table', (k) => openTable(k % 2 === 0));
        return result;
    }, wide);
    const { size } = fs.statSync(path.join(folder, `${files}.html`));
    note(`${made.count} frames: page ${size} bytes, data ${made.bytes}; drawn after `
        + `${loaded.toFixed(0)} ms; ms (median of 5): ${JSON.stringify(times)}`);
    await page.evaluate((where) => window.dprof.zoom(where), wide);
    const zoomed = await frames(page);
    const below = zoomed.filter((frame) => frame.path.startsWith(wide));
    ok(below.length > 1 && below[0].w > 1000 && zoomed.length > below.length,
        'a zoom shows more of what is there');
    await quiet(page, `${made.count} frames`);
}

browser(async (b) => {
    for (const part of [basics, failures, hostile, zooms, searches, toggles, tables, keyboard,
        links, themes, differences, several, narrowScreen]) {
        const only = process.argv.slice(2);
        if (!only.length || only.includes(part.name)) await part(b);
    }
    if (process.argv.length < 3 || process.argv.includes('large')) {
        for (const count of [190000, 1900000]) await large(b, count);
    }
}).then(() => fs.rmSync(folder, { recursive: true }));
