// What a reader does with the page: ranges, steps, callers and callees of a sub, lists, menus,
// files.
//
// DPROF_PLAYWRIGHT=FOLDER node xt/browser/explore.js [PART ...]

'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const { browser, open, ok, is, note } = require('./lib.js');
const { page: makePage } = require('./mkpage.js');
const { METRICS, f, randomTree, stacks, folded, shape } = require('./mktree.js');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dprof-xplr-'));
let files = 0;

async function show(b, profile, options) {
    const name = path.join(folder, `${++files}.html`);
    fs.writeFileSync(name, makePage(profile));
    const page = await open(b, name, options);
    await page.evaluate(() => window.dprof.ready);
    return page;
}

const frames = (page, pane = 0) => page.evaluate((p) => window.dprof.frames(p), pane);
const state = (page) => page.evaluate(() => window.dprof.state());
const text = (page, selector) =>
    page.evaluate((s) => document.querySelector(s).textContent, selector);
const at = (page, where, pane = 0) =>
    page.evaluate(([w, p]) => window.dprof.point(w, p), [where, pane]);
const drawn = async (page, keep = () => true) =>
    shape(new Map((await frames(page)).filter(keep).map((frame) => [frame.path, frame.value])));

async function quiet(page, what) {
    is([page.errors, page.requests], [[], []], `${what}: no error, no request`);
    await page.close();
}

async function reopened(page) {
    await page.evaluate(() => new Promise((done) => { setTimeout(done, 200); }));
    await page.reload();
    await page.evaluate(() => window.dprof.ready);
}

const program = () => ({
    title: 'program', metrics: METRICS, files: ['/usr/share/perl5/My/Long/Way.pm', 'app.pl'],
    places: { 'My::Long::Way::parse': [0, 12], 'main::run': [1, 3] },
    root: {
        self: 0, kids: [
            f('main::run', 50, [
                f('My::Long::Way::parse', 350,
                    [f('My::Long::Way::next', 100, [f('CORE::match', 50)])]),
                f('My::Long::Way::save', 250),
            ]),
            f('strict::import', 200),
        ],
    },
});

const sides = { view: 'graph', width: 'after', colour: 'self', negate: false, factor: [1, 1],
    normalized: '', runs: [1, 1], significant: null, moved: {}, mode: 'diff' };
const d = (name, before, after, kids = []) =>
    ({ name, self: { cpu: [before, after], calls: [before && 2, after && 4] }, kids });
const difference = (more = {}) => ({
    title: 'difference', sides: ['old.out', 'new.out'], metrics: METRICS.slice(0, 2),
    diff: { ...sides, ...more },
    root: { self: 0, kids: [d('main', 100, 100, [d('grown', 100, 300), d('same', 60, 60),
        d('shrunk', 200, 100)])] },
});

async function ranges(b) {
    const page = await show(b, program());
    const box = await page.evaluate(() => {
        const { left, top, width } = document.querySelector('.sheet > canvas')
            .getBoundingClientRect();
        return { left, top, width };
    });
    const drag = async (from, to) => {
        await page.mouse.move(box.left + from * box.width, box.top + 40);
        await page.mouse.down();
        await page.mouse.move(box.left + (from + to) / 2 * box.width, box.top + 45);
        await page.mouse.move(box.left + to * box.width, box.top + 50);
        ok(await page.$eval('.chosen', (node) => !node.hidden), 'the range is marked');
        await page.mouse.up();
    };
    await drag(0.05, 0.3);
    let { range } = await state(page);
    ok(Math.abs(range[0] - 0.05) < 0.002 && Math.abs(range[1] - 0.3) < 0.002,
        'a drag over a part of the graph shows that part');
    const list = await frames(page);
    const parse = list.find((frame) => frame.path === 'main::run;My::Long::Way::parse');
    ok(parse.x === 0 && Math.abs(parse.w - box.width) < 1, '... and what reaches out is cut');
    ok(list.every((frame) => frame.x >= 0 && frame.x + frame.w <= box.width + 0.01),
        '... nothing is drawn beside');
    ok(!list.some((frame) => /import|save/.test(frame.path))
        && /3 frames beside this part/.test(await text(page, '#narrow')),
    '... what is beside is told');
    ok(await page.$eval('.map .window', (node) => !node.hidden), 'the map shows where that is');
    is((await state(page)).path, [], 'a drag is no click');
    await reopened(page);
    ok(Math.abs((await state(page)).range[0] - range[0]) < 1e-6, 'the range is in the link');
    await page.mouse.move(box.left + 100, box.top + 60);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    const closer = (await state(page)).range;
    ok(closer[1] - closer[0] < 0.2 && closer[0] >= range[0] && closer[1] <= range[1] + 1e-9,
        'Ctrl and the wheel zoom, around the mouse');
    await page.keyboard.down('Shift');
    await page.mouse.wheel(0, 200);
    await page.keyboard.up('Shift');
    ok((await state(page)).range[0] > closer[0], 'Shift and the wheel move');
    await page.keyboard.press('0');
    is((await state(page)).range, null, '0 shows everything');
    const map = await page.$eval('.map', (node) => {
        const { left, top, width, height } = node.getBoundingClientRect();
        return { left, top: top + height / 2, width };
    });
    const dragMap = async (from, to) => {
        await page.mouse.move(map.left + map.width * from, map.top);
        await page.mouse.down();
        await page.mouse.move(map.left + map.width * (from + to) / 2, map.top);
        await page.mouse.move(map.left + map.width * to, map.top);
        await page.mouse.up();
    };
    await dragMap(0.5, 0.75);
    ({ range } = await state(page));
    ok(Math.abs(range[0] - 0.5) < 0.002 && Math.abs(range[1] - 0.75) < 0.002,
        'a drag in the map chooses a part');
    await dragMap(0.6, 0.4);
    ({ range } = await state(page));
    ok(Math.abs(range[0] - 0.3) < 0.003 && Math.abs(range[1] - 0.55) < 0.003,
        'a drag of its window moves it');
    await page.click('#reset');
    await page.focus('.sheet > canvas');
    await page.keyboard.press('+');
    await page.keyboard.press('Shift+ArrowRight');
    ({ range } = await state(page));
    is(range.map((v) => v.toFixed(3)), ['0.375', '0.875'], 'keys zoom and move');
    await page.keyboard.press('-');
    is((await state(page)).range, null, '... and back');
    await quiet(page, 'ranges');

    // 200,000 callees of one frame: each can be seen.
    const kids = Array.from({ length: 200000 }, (_, k) => f('k' + String(k).padStart(6, '0'), 1));
    const wide = await show(b, { title: 'wide', metrics: METRICS, root: { self: 0, kids } });
    await wide.evaluate(() => chooseRange([0.5, 0.50005], true));
    const seen = await frames(wide);
    is([seen.length, seen[1].path, seen[10].path], [11, 'k100000', 'k100009'],
        'a range reaches frames too narrow for any zoom');
    await quiet(wide, '200,000 callees');
}

async function steps(b) {
    const same = { only: 0, hide: 0, fold: 0, both: 0 };
    for (let seed = 1; seed <= 8; seed++) {
        const root = randomTree(seed * 6563, ['X::a', 'X::b', 'Y::c', 'd']);
        const page = await show(b, { title: 'random', metrics: METRICS, root },
            { viewport: { width: 3000, height: 800 } });
        const list = stacks(root);
        const check = async (name, chosen, change = (s) => s) => {
            const wanted = shape(folded(list.filter(([s]) => chosen(s)), change));
            const got = await drawn(page);
            if (JSON.stringify(got) === JSON.stringify(wanted)) same[name]++;
            else note(name + JSON.stringify([got, wanted]).slice(0, 900));
        };
        const step = (act, what) => page.evaluate(([p, q]) => doStep(p, q), [act, what]);
        const isX = (name) => /^X::/.test(name || '');
        const fold = (stack) => stack.filter((name, k) => !(isX(name) && isX(stack[k - 1])));
        await step('only', 'X::b');
        await check('only', (s) => s.includes('X::b'));
        await step('hide', 'Y::c');
        await check('both', (s) => s.includes('X::b') && !s.includes('Y::c'));
        await page.evaluate(() => undoStep(0));
        await check('hide', (s) => !s.includes('Y::c'));
        await page.evaluate(() => undoStep());
        await step('fold', 'X');
        await check('fold', () => true, fold);
        await page.close();
    }
    is(same, { only: 8, hide: 8, fold: 8, both: 8 },
        'steps with 8 random trees, as a plain way takes them');

    const page = await show(b, program());
    await page.mouse.move(...Object.values(await at(page, 'main::run;My::Long::Way::parse')));
    await page.keyboard.press('f');
    is(await page.$$eval('#chips .chip', (list) => list.map((chip) => chip.textContent)),
        ['only My::Long::Way::parse \u00d7'], 'a step is a chip');
    ok(/left: 500\.0 ms \(50\.0 %\)/.test(await text(page, '#chips')), 'what is left is told');
    ok(/^500\.0 ms/.test(await text(page, '#whole')), '... and is the whole now');
    await page.keyboard.press('t');
    is((await page.$$eval('#subs tbody .left', (list) => list.map((cell) => cell.textContent))),
        ['My::Long::Way::parse', 'My::Long::Way::next', 'CORE::match', '(program)', 'main::run'],
        'the table is of what is left');
    await page.keyboard.press('t');
    await page.evaluate(() => doStep('hide', 'CORE::match'));
    await reopened(page);
    is((await state(page)).chain, [{ act: 'only', text: 'My::Long::Way::parse' },
        { act: 'hide', text: 'CORE::match' }], 'the chain is in the link');
    is((await frames(page))[0].value, 450, '... and its values');
    await page.click('.chip');
    is((await frames(page))[0].value, 950, 'a click on a chip takes its step away');
    await page.keyboard.press('y');
    is((await state(page)).chain, [], 'y takes the last one away');
    await page.keyboard.press('Backspace');
    await page.waitForFunction(() => window.dprof.state().chain.length === 1);
    ok(true, 'a step is a step of the history');
    await quiet(page, 'steps');
}

async function sandwich(b) {
    let right = 0;
    for (let seed = 1; seed <= 8; seed++) {
        const root = randomTree(seed * 3571);
        const page = await show(b, { title: 'random', metrics: METRICS, root },
            { viewport: { width: 3000, height: 900 } });
        const list = stacks(root).filter(([s]) => s.includes('a'));
        await page.evaluate(() => sandwich(profile.names.indexOf('a')));
        const down = folded(list, (s) => s.slice(s.indexOf('a') + 1));
        const up = folded(list, (s) => s.slice(0, s.indexOf('a') + 1).reverse());
        up.delete('');
        up.delete('a');
        const isUp = (frame) => frame.row < 0;
        const got = [await drawn(page, (frame) => !isUp(frame)), await drawn(page, isUp)];
        if (JSON.stringify(got) === JSON.stringify([shape(down), shape(up)])) right++;
        else note(JSON.stringify([got, shape(down), shape(up)]).slice(0, 1200));
        await page.close();
    }
    is(right, 8, 'callers and callees in 8 random trees, as a plain way makes them');

    const page = await show(b, program());
    const point = await at(page, 'main::run;My::Long::Way::parse');
    await page.mouse.click(point.x, point.y, { button: 'right' });
    ok(await page.$eval('#menu', (menu) => !menu.hidden), 'a right click opens a menu');
    await page.click('#menu button:has-text("callers and callees")');
    is((await state(page)).centre, 'My::Long::Way::parse', '... which leads to the sandwich');
    const rows = (await frames(page)).map((frame) => [frame.path, frame.row, frame.value]);
    is(rows, [['', 0, 500], ['My::Long::Way::next', 1, 150],
        ['My::Long::Way::next;CORE::match', 2, 50],
        ['My::Long::Way::parse;main::run', -1, 500]], 'callers are above, callees below');
    const [middle, above, below] =
        await page.evaluate(() => [0, -1, 1].map((row) => panes[0].y(row)));
    ok(above < middle && middle < below, '... on the screen, too');
    await page.focus('.sheet > canvas');
    const went = [];
    for (const key of ['Up', 'Down', 'Down', 'Down', 'Up', 'Up']) {
        await page.keyboard.press('Arrow' + key);
        went.push((await state(page)).cursor);
    }
    is(went, ['main::run', 'My::Long::Way::parse', 'My::Long::Way::next', 'CORE::match',
        'My::Long::Way::next', 'My::Long::Way::parse'], 'arrow keys go through both halves');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    is((await state(page)).centre, 'My::Long::Way::next', 'a zoom puts another sub in the middle');
    await reopened(page);
    is((await state(page)).centre, 'My::Long::Way::next', 'the sandwich is in the link');
    ok(/around My::Long::Way::next/.test(await text(page, '#chips')), '... and a chip');
    await page.keyboard.press('b');
    is([(await state(page)).centre, (await frames(page)).length], ['', 7],
        'b shows the graph again');
    await quiet(page, 'sandwich');

    const two = await show(b, difference());
    await two.evaluate(() => sandwich(profile.names.indexOf('grown')));
    const tip = await two.evaluate(() => inWords(0));
    ok(/total 100\.0 ms \u2192 300\.0 ms, \+200\.0 ms/.test(tip), 'a difference has sandwiches');
    await quiet(two, 'sandwich of a difference');
}

async function lists(b) {
    const page = await show(b, program());
    const first = await text(page, '#details');
    ok(/^Hottest: My::Long::Way::parse 35\.0 % self \(Way\.pm:12\)My::Long::Way::save 25\.0 % self/
        .test(first), 'the hottest subs are told at first sight, with their places');
    await page.keyboard.press('a');
    const rows = () => page.$$eval('#calls tbody tr', (list) => list.map((row) =>
        [+row.getAttribute('aria-level'), ...[...row.cells].map((cell) => cell.textContent)]));
    is((await rows()).map((row) => row.slice(0, 3)), [[1, '\u25be(program)', '1.000 s'],
        [2, '\u25bemain::run', '800.0 ms'], [3, '\u25beMy::Long::Way::parse', '500.0 ms'],
        [4, '\u25beMy::Long::Way::next', '150.0 ms'], [5, 'CORE::match', '50.00 ms'],
        [3, 'My::Long::Way::save', '250.0 ms'], [2, 'strict::import', '200.0 ms']],
    'the call tree is open along the way where the time goes, heaviest first');
    is((await rows())[2].slice(2), ['500.0 ms', '50.0 %', '350.0 ms', '1'], 'a row has its values');
    await page.focus('#calls tr[data-frame]');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowLeft']) await page.keyboard.press(key);
    is((await rows()).length, 5, 'an arrow key closes a frame');
    is((await state(page)).cursor, 'My::Long::Way::parse', '... and goes through the graph');
    await page.keyboard.press('ArrowRight');
    is((await rows()).length, 7, '... and opens it');
    await page.keyboard.press('Enter');
    is((await state(page)).path, ['main::run', 'My::Long::Way::parse'], 'Enter zooms');
    is((await rows())[0][1], '\u25beMy::Long::Way::parse', 'the list begins at the zoom');
    await reopened(page);
    ok((await state(page)).calls, 'the list is in the link');
    await quiet(page, 'lists');

    const two = await show(b, difference());
    await two.keyboard.press('a');
    is((await two.$$eval('#calls tbody tr', (list) => list.map((row) => row.textContent)))[2],
        'grown100.0 ms300.0 ms+200.0 ms', 'two sides have their values and the difference');
    ok(/^Changed most: grown \+200\.0 ms/.test(await text(two, '#details')),
        'what changed most is told at first sight');
    await quiet(two, 'lists of a difference');

    const large = await show(b, program(), { viewport: { width: 2560, height: 1300 } });
    is(await large.$eval('#hot', (node) => [node.hidden, node.querySelectorAll('tr').length]),
        [false, 6], 'on a wide screen the hottest subs are beside the graph');
    await quiet(large, 'a wide screen');
}

async function looks(b) {
    // What did not change is near the background, what did change stands out; text can be read.
    // WCAG 2.2, contrast ratio.
    const luminance = (c) => c.map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((s, v, k) => s + v * [0.2126, 0.7152, 0.0722][k], 0);
    const contrast = (p, q) => {
        const [a, z] = [luminance(p), luminance(q)].sort((m, n) => n - m);
        return (a + 0.05) / (z + 0.05);
    };
    const numbers = (hex) => hex.match(/\w\w/g).map((v) => parseInt(v, 16));
    for (const colorScheme of ['dark', 'light']) {
        const page = await show(b, difference(), { colorScheme });
        const colours = await page.evaluate(() => [ink.back, ...[24, 28, 48, 0]
            .map((level) => ink.levels[level])].map(rgb));
        const [back, ...levels] = colours.map(numbers);
        const [none, little, more, less] = levels.map((level) => contrast(level, back));
        note(`${colorScheme}: contrast of no change ${none.toFixed(2)}, little ${
            little.toFixed(2)}, most ${more.toFixed(2)} and ${less.toFixed(2)}`);
        ok(none < little && little < more && none < less && none < 1.6 && more > 4.5 && less > 4.5,
            `${colorScheme}: the greater a change, the more it stands out`);
        const texts = await page.evaluate(() =>
            ink.levels.map((level, k) => [rgb(level), ink.onLevel[k]]));
        const least = Math.min(...texts.map((pair) => contrast(...pair.map(numbers))));
        ok(least > 3.5, `${colorScheme}: text on every level is readable, ${least.toFixed(1)}`);
        await page.selectOption('#layout', 'triple');
        const tops = await page.evaluate(() =>
            panes.map((pane) => pane.scroll.scrollTop + pane.seen - pane.height));
        ok(tops.every((v) => Math.abs(v) < 1), 'the choice triple shows its panes at the root');
        await page.selectOption('#layout', 'pair');
        const before = (await frames(page, 0))[0].w;
        await page.click('#common');
        const [one, other] = [(await frames(page, 0))[0].w, (await frames(page, 1))[0].w];
        ok(Math.abs(one / other - 460 / 560) < 0.001 && other === before,
            'both sides at one scale');
        is(await page.evaluate(() => panes.map((pane) => partAt(pane, pane.view / 2))), [0.5, 0.5],
            '... for ranges, too');
        await quiet(page, `${colorScheme} difference`);
    }
    const grow = (k) => d(`deep${k}`, 5, 6, k < 60 ? [grow(k + 1)] : []);
    const triple = await show(b, { ...difference(), root: { self: 0, kids: [grow(0)] } });
    await triple.selectOption('#layout', 'triple');
    ok(await triple.evaluate(() => panes.every((pane) => pane.height > pane.seen
        && Math.abs(pane.scroll.scrollTop + pane.seen - pane.height) < 1)),
    'panes that are higher than the screen are at the root, too');
    await quiet(triple, 'triple');

    const phone = await show(b, program(),
        { viewport: { width: 400, height: 800 }, hasTouch: true });
    const chrome = await phone.$$eval('header, footer', (list) => list.map((n) => n.offsetHeight));
    note(`phone: ${chrome} of 800 pixels beside the graph`);
    ok(chrome[0] + chrome[1] < 200, 'on a phone three quarters of the height are the graph');
    const point = await at(phone, 'main::run;My::Long::Way::parse');
    await phone.touchscreen.tap(point.x, point.y);
    is([(await state(phone)).path, (await state(phone)).cursor], [[], 'My::Long::Way::parse'],
        'a tap tells');
    ok(/350\.0 ms/.test(await text(phone, '#details')), '... the values, too');
    await phone.touchscreen.tap(point.x, point.y);
    is((await state(phone)).path, ['main::run', 'My::Long::Way::parse'], 'a second tap zooms');
    await phone.evaluate(() => openTable(true));
    is(await phone.$eval('#subs tbody .left', (node) => getComputedStyle(node).position), 'sticky',
        'the column of subs stays');
    await quiet(phone, 'a phone');

    const long = 'My::Very::Long::Package::Name::That::Goes::On::And::On::For::Ever::And::A::Day';
    const table = await show(b, { ...program(), root: { self: 0,
        kids: [f(`${long}::the_end`, 90), f(`${long}::the_other`, 80)] } },
    { viewport: { width: 900, height: 700 } });
    await table.keyboard.press('t');
    const bare = await table.$$eval('#subs tbody .bare', (list) => list.map((node) =>
        [node.textContent, node.scrollWidth <= node.clientWidth + 1,
            node.getBoundingClientRect().right
                <= node.closest('td').getBoundingClientRect().right]));
    is(bare.slice(0, 2), [['the_end', true, true], ['the_other', true, true]],
        'where there is no room the package gives way, not the sub');
    const placed = await show(b, program());
    await placed.keyboard.press('t');
    is(await placed.$$eval('#subs tbody .place', (list) =>
        list.map((node) => node.textContent).filter(Boolean)), ['Way.pm:12', 'app.pl:3'],
    'a place is file and line');
    await placed.close();
    await quiet(table, 'names');

    const paper = await show(b, difference());
    await paper.emulateMedia({ media: 'print' });
    await paper.waitForFunction(() => display.printing);
    ok(await paper.evaluate(() => [...document.styleSheets[0].cssRules].some((rule) =>
        /swatch/.test(rule.selectorText) && /color-adjust: exact/.test(rule.cssText))),
    'swatches are printed');
    is(await paper.evaluate(() => ['.hint', '.map'].map((part) =>
        getComputedStyle(document.querySelector(part)).display)), ['none', 'none'],
    'hints and the map are not');
    await quiet(paper, 'paper');
}

async function exports_(b) {
    const page = await show(b, program());
    const got = await page.evaluate(() =>
        ['folded', 'csv', 'picture'].map((kind) => window.dprof[kind]()));
    is(got[0], 'main::run 50000\nmain::run;My::Long::Way::parse 350000\n'
        + 'main::run;My::Long::Way::parse;My::Long::Way::next 100000\n'
        + 'main::run;My::Long::Way::parse;My::Long::Way::next;CORE::match 50000\n'
        + 'main::run;My::Long::Way::save 250000\nstrict::import 200000\n',
    'folded stacks, in microseconds');
    const fine = await show(b, { ...program(),
        metrics: [{ key: 'cpu', label: 'user+system time', unit: 's', hz: 1e7 }],
        root: { self: 1, kids: [{ name: 'a', self: 3 }, { name: 'b', self: 4 }] } });
    is(await fine.evaluate(() => window.dprof.folded()), '(program) 0.1\na 0.3\nb 0.4\n',
        '... and their parts: what is short is not lost');
    await quiet(fine, 'short frames');
    is(got[1].split('\r\n').slice(0, 2), [
        'Sub,Self (s),Inclusive (s),Calls,Ops,Per call (s),Source',
        'My::Long::Way::parse,0.35,0.5,1,10,0.5,/usr/share/perl5/My/Long/Way.pm:12'],
    'a table as CSV');
    const svg = await page.evaluate((source) => {
        const made = new DOMParser().parseFromString(source, 'image/svg+xml');
        const rects = [...made.querySelectorAll('rect')];
        return [made.querySelectorAll('parsererror').length, rects.length,
            rects.every((rect) => /^#\w{6}$/.test(rect.getAttribute('fill')))];
    }, got[2]);
    is(svg, [0, 8, true], 'an SVG with each frame, in colours that every viewer knows');
    await page.evaluate(() => window.dprof.zoom('main::run;My::Long::Way::parse'));
    is((await page.evaluate(() => window.dprof.folded())).split('\n')[0],
        'main::run;My::Long::Way::parse 350000', '... of what is shown alone');
    const [download] = await Promise.all([page.waitForEvent('download'),
        page.click('#export').then(() => page.click('#menu button:has-text("Folded")'))]);
    ok(/\.folded$/.test(download.suggestedFilename()), 'a file is saved');
    await page.evaluate(() =>
        window.dprof.menu('main::run;My::Long::Way::parse;My::Long::Way::next'));
    is(await page.$$eval('#menu button', (list) => list.map((node) => node.disabled)),
        [false, false, false, false, false, false, true, false, false, false],
        'what a menu offers');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Escape');
    ok(await page.$eval('#menu', (node) => node.hidden), 'Escape closes it');
    is(await page.evaluate(() => stackOf(4)),
        'main::run;My::Long::Way::parse;My::Long::Way::next;CORE::match', 'a stack to copy');
    await quiet(page, 'files');

    const hurt = await show(b, { title: 'hurt', metrics: METRICS,
        root: { self: 0, kids: [f('=1+2', 3), f('@x', 2), f('a%3Bb', 1)] } });
    is((await hurt.evaluate(() => window.dprof.csv())).split('\r\n').slice(1, 3)
        .map((line) => line.split(',')[0]), ["'=1+2", "'@x"], 'no name is a formula');
    ok((await hurt.evaluate(() => window.dprof.folded())).includes('a%253Bb 1000'),
        'no name is taken for another one');
    await quiet(hurt, 'names in files');

    const two = await show(b, difference());
    is((await two.evaluate(() => window.dprof.folded())).split('\n').slice(0, 2),
        ['main 100000 100000', 'main;grown 100000 300000'], 'two sides have two numbers');
    await quiet(two, 'files of a difference');
}

browser(async (b) => {
    for (const part of [ranges, steps, sandwich, lists, looks, exports_]) {
        const only = process.argv.slice(2);
        if (!only.length || only.includes(part.name)) await part(b);
    }
}).then(() => fs.rmSync(folder, { recursive: true }));
