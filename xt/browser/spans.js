// Spans in the page: texture, the filter by kind, the table of texts beside dprofreport's, the time
// line, how many statements are equal.
//
// DPROF_PLAYWRIGHT=FOLDER node xt/browser/spans.js

'use strict';

const { browser, open, ok, is } = require('./lib.js');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { page: makePage } = require('./mkpage.js');
const { METRICS, f } = require('./mktree.js');

const top = path.join(__dirname, '..', '..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dprof-spans-'));
const libs = ['-I' + path.join(top, 'blib', 'lib'), '-I' + path.join(top, 'blib', 'arch')];
const run = (...args) => execFileSync('perl', [...libs, ...args],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
const tool = (name, ...args) => run(path.join(top, 'bin', name), ...args);
const at = (name) => path.join(folder, name);

const MAKER = 'SELECT name FROM makers WHERE id = ?',
    LIST = `SELECT ${'a_long_column, '.repeat(60)}b::int FROM items -- <b>&"\n`;

// A library that calls statements, and a program with two pages, one of which has a loop.
function record() {
    fs.writeFileSync(at('DBI.pm'), `package DBI::st;
use Devel::DProf::Control 'span';
sub work { my $x = 0; $x += $_ for 1 .. $_[0]; $x }
sub execute { my $n = $_[1]; return span('sql', $_[0], sub { work($n) }) }
1;
`);
    fs.writeFileSync(at('shop.pl'), `use lib '.';
package Shop;
use DBI;
use Devel::DProf::Control 'span';
my $list = "${LIST.replace(/["$@\\]/g, '\\$&').replace(/\n/g, '\\n')}";
sub maker { return DBI::st::execute('${MAKER}', 5) }
sub list { DBI::st::execute($list, 200); maker() for 1 .. 12;
    return span('template', 'list.tt', sub { DBI::st::work(50) }) }
sub item { DBI::st::execute($list, 20); return maker() }
package main;
for my $turn (1 .. 2) {
    Devel::DProf::Control::mark('GET /list');
    Shop::list();
    Devel::DProf::Control::mark('GET /item');
    Shop::item();
}
`);
    const by = (out, options) => run(`-d:DProf=out=${out},clock=counting${options}`, 'shop.pl');
    by('tree.out', ',tree');
    by('trace.out', '');
    for (const name of ['tree', 'trace'])
        tool('dprofflame', '-m', 'real', '-o', `${name}.html`, `${name}.out`);
}

const SAME_HUE = { title: 'one hue', metrics: METRICS, root: { self: 0, kids: [
    f('job:a', 300), f('main::b', 300), f('main::__ANON__', 300)] }, hues: [200, 200, 200, 200] };

async function page(b, name, hash = '', options = {}) {
    const made = await open(b, at(name), { hash, ...options });
    await made.evaluate(async () => {
        await window.dprof.ready;
        await window.dprof.settled();
        await window.dprof.settled();
    });
    return made;
}

async function quiet(made, what) {
    is([made.errors, made.requests], [[], []], `${what}: no error, no request`);
    await made.close();
}

const text = (made, where) => made.$eval(where, (node) => node.textContent);

// Returns the different colours of a frame's box on the canvas, without those of its label.
const coloursOf = (made, where) => made.evaluate((at) => {
    const { canvas, scroll, row } = panes[0], dpr = devicePixelRatio || 1;
    const frame = scene.tree.follow(at.split(';').map(subNamed)).frame, box = panes[0].box(frame);
    const { data } = canvas.getContext('2d').getImageData((box.x + box.w * 0.6) * dpr,
        (box.y - scroll.scrollTop + 2) * dpr, Math.min(40, box.w * 0.3) * dpr, (row - 5) * dpr);
    const colours = new Set();
    for (let k = 0; k < data.length; k += 4) colours.add(data.slice(k, k + 3).join());
    return [...colours];
}, where);
const dust = (made) => made.evaluate(() => {
    const hex = rgb(ink.dust);
    return [[1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)).join()];
});

// ---- texture ----

async function textures(b) {
    fs.writeFileSync(at('hue.html'), makePage(SAME_HUE));
    for (const colorScheme of ['light', 'dark']) {
        for (const hash of ['', '#view=icicle', '#view=reversed']) {
            const made = await page(b, 'hue.html', hash, { colorScheme });
            const [span, sub, anonymous] = await Promise.all(
                ['job:a', 'main::b', 'main::__ANON__'].map((name) => coloursOf(made, name)));
            ok(span.length > 1 && anonymous.length > 2 && sub.length === 1,
                `${colorScheme}${hash}: spans and anonymous subs have a texture, other subs none: `
                + [span, anonymous, sub].map((list) => list.length));
            await quiet(made, `${colorScheme}${hash}`);
        }
        const around = await page(b, 'hue.html', '#around=job:a', { colorScheme });
        ok((await coloursOf(around, '')).length > 1, `${colorScheme}: so it is in a sandwich`);
        await quiet(around, 'a sandwich');
    }
    const forced = await page(b, 'hue.html', '', { forcedColors: 'active' });
    const swatches = await forced.$$eval('#kinds .key', (list) => Object.fromEntries(list
        .filter((key) => key.querySelector('.swatch')).map((key) => [key.textContent,
            getComputedStyle(key.querySelector('.swatch')).backgroundImage
                .split('repeating').length - 1])));
    is(swatches, { 'Perl sub': 0, anonymous: 1, span: 2 },
        'the legend has the textures, with forced colours, too');
    ok((await coloursOf(forced, 'job:a')).length > 1, '... and so has the canvas');
    const svg = await forced.evaluate(() => window.dprof.picture());
    is(svg.match(/fill="url\(#kind\d\)"/g), ['fill="url(#kind9)"', 'fill="url(#kind4)"'],
        'a picture that the page saves has them');
    await quiet(forced, 'forced colours');
}

// ---- the filter ----

async function filters(b) {
    const made = await page(b, 'tree.html');
    is(await made.$$eval('#kind option', (list) => list.map((o) => o.textContent)),
        ['all spans', 'sql', 'template'], 'the kinds of the page can be chosen');
    await made.selectOption('#kind', 'template');
    is(await made.evaluate(() => location.hash), '#kind=template', 'the kind is in the link');
    const [grey] = [await dust(made)];
    is(await coloursOf(made, 'Shop::item'), grey, 'a frame without such a span is grey');
    ok(JSON.stringify(await coloursOf(made, 'Shop::list')) !== JSON.stringify(grey),
        'a frame that leads to one is not');
    ok(/^template: [\d.]+ % in 1 frame$/.test(await text(made, '#found')),
        `their share is told: ${await text(made, '#found')}`);
    await made.evaluate(() => window.dprof.search('^Shop::(?:list|item)'));
    ok(/in 1 frame$/.test(await text(made, '#found')),
        `a search finds what is not grey: ${await text(made, '#found')}`);
    await made.evaluate(() => { document.querySelector('#next').click(); });
    is(await made.evaluate(() => window.dprof.state().cursor), 'Shop::list', '... and steps there');
    await made.emulateMedia({ media: 'print' });
    await made.waitForFunction(() => display.printing);
    ok((await text(made, '#printed')).includes('stacks with template'), 'a print says the kind');
    await made.emulateMedia({ media: 'screen' });
    await made.waitForFunction(() => !display.printing);
    await made.click('#list');
    is(await made.$$eval('#calls tr.grey .bare', (list) =>
        list.map((node) => node.textContent).includes('item')), true,
        'the call tree has it in grey');
    await made.click('#reset');
    is([await made.inputValue('#kind'), await text(made, '#found')], ['', ''],
        'Reset takes the kind away');
    await quiet(made, 'the filter');
    const link = await page(b, 'tree.html', '#kind=sql&view=reversed');
    is(await link.inputValue('#kind'), 'sql', 'a link has the kind');
    await quiet(link, 'a link');
    const plain = await page(b, 'tree.html', '#kind=none&texts=1');
    is([await plain.inputValue('#kind'), await plain.isVisible('.texts')], ['', true],
        'a kind of a link that is not there is left out');
    await quiet(plain, 'a wrong link');
    fs.writeFileSync(at('plain.html'), makePage({ title: 'no spans', metrics: METRICS,
        root: { self: 1, kids: [f('main::a', 5)] } }));
    const without = await page(b, 'plain.html', '#texts=1&kind=sql');
    await without.keyboard.press('S');
    is([await without.isVisible('#kind'), await without.isVisible('#spans'),
        await without.isVisible('#subs')], [false, false, false],
        'a page without spans has neither the choice nor the table');
    await quiet(without, 'a page without spans');
}

// ---- the table ----

// Returns the rows of the table by text.
const rowsOf = (made) => made.$$eval('#subs tbody tr:not(.kind, .caller)', (list) =>
    list.map((row) =>
        [...row.cells].map((cell) => (cell.querySelector('button') || cell).textContent)));

async function tables(b) {
    const made = await page(b, 'tree.html'),
        firsts = (list) => list.map(([name]) => name.slice(0, 12));
    await made.keyboard.press('S');
    is([await made.getAttribute('#spans', 'aria-pressed'), await made.isVisible('.texts')],
        ['true', true], 'S opens the table');
    const heads = await made.$$eval('#subs thead th', (list) => list.map((th) => th.textContent));
    is(heads, ['Text', 'Inclusive \u25be', '%', 'Self', 'Calls', 'Mean', 'Longest'],
        'the table has columns');
    is(await made.$$eval('#subs .kind bdi', (list) => list.map((node) => node.textContent)),
        ['sql', 'template'], 'kinds follow each other by inclusive time');
    // The same numbers as dprofreport's.
    const report = JSON.parse(tool('dprofreport', '-s', 'span', '--format', 'json', 'tree.out'));
    const wanted = await made.evaluate((rows) => rows.map((row) => [short(row.text),
        seconds(row.incl), percent(row.incl / (scene.all[0][0] / metric().hz)), seconds(row.self),
        `${row.calls}`, seconds(row.mean), seconds(row.longest)]), report.spans);
    const got = await rowsOf(made);
    is(firsts(got), firsts(wanted), 'the texts are those of dprofreport -s span, in its order');
    is(got.map((row) => row.slice(1)), wanted.map((row) => row.slice(1)), '... and so are numbers');
    is(await made.evaluate((list) => list.map(({ kind, text }) => {
        const callers = callersOf(subNamed(`${kind}:${text}`));
        return [profile.names[callers[0].sub], callers.length];
    }), report.spans.map(({ kind, text }) => ({ kind, text: text.replace(/\n/, '\\x0a') }))),
    report.spans.map(({ caller, callers }) => [caller, callers]), '... and callers');

    await made.click('#subs [data-key=calls]');
    is((await rowsOf(made))[0][0], MAKER, 'a head sorts the table within kinds');
    is(await made.evaluate(() => document.activeElement.dataset.key), 'calls',
        '... and the focus stays');
    await made.click(`#subs button[title="${MAKER}"]`);
    const state = () => made.evaluate(() => window.dprof.state());
    is([(await state()).centre, (await state()).sub], [`sql:${MAKER}`, `sql:${MAKER}`],
        'a click puts the span in the middle of a sandwich');
    is(await made.$$eval('#subs .caller', (list) =>
        list.map((row) => row.textContent.replace(/ \u00b7.*/, ''))),
    ['Shop::maker26 calls'],
    '... and lists its callers, of no library');
    is(await made.evaluate(() => [document.activeElement.title,
        document.activeElement.getAttribute('aria-expanded')]), [MAKER, 'true'],
        '... and the focus stays');
    const hash = await made.evaluate(() => location.hash);
    await made.keyboard.press('Enter');
    is([(await state()).centre, await made.$$eval('#subs .caller', (list) => list.length)], ['', 0],
        'a second time, it is closed');
    await made.evaluate(() => window.dprof.search('makers'));
    is((await rowsOf(made)).map(([name]) => name), [MAKER], 'a search filters the table');
    await made.selectOption('#kind', 'template');
    is(await rowsOf(made), [], '... with the kind');
    await made.evaluate(() => window.dprof.search(''));
    is((await rowsOf(made)).map(([name]) => name), ['list.tt'], 'a kind filters the table');
    await made.keyboard.press('t');
    is([(await state()).table, (await state()).texts], [true, false],
        'the table of subs takes its place');
    await quiet(made, 'the table');

    const link = await page(b, 'tree.html', hash);
    is(await link.$$eval('#subs .caller', (list) => list.length), 1, 'a link opens all of it');
    is(await link.$eval('#subs .left button', (node) => node.querySelector('b')), null,
        'texts are texts');
    await quiet(link, 'a link of the table');
    const phone = await page(b, 'tree.html', hash, { viewport: { width: 400, height: 800 } });
    ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        'at 400 pixels the page is no wider');
    ok(await phone.evaluate(() => {
        const box = document.querySelector('.texts .here button').getBoundingClientRect();
        return box.left >= 0 && box.right <= innerWidth;
    }), '... and the text is on the screen');
    await quiet(phone, 'a phone');
    tool('dprofflame', '-f', '--diff', '-m', 'real', '-o', 'diff.html', 'tree.out', 'trace.out');
    const diff = await page(b, 'diff.html', '#texts=1');
    is((await rowsOf(diff)).length, 3, 'a difference has the table, too');
    await diff.click(`#subs button[title="${MAKER}"]`);
    ok(/26 \u2192 26 calls/.test(await text(diff, '#subs .caller')),
        '... with callers of both sides');
    await quiet(diff, 'a difference');
}

// ---- equal statements ----

async function statements(b) {
    const made = await page(b, 'tree.html', '#texts=1');
    const whole = () => text(made, '#whole'), told = (of) =>
        of.$$eval('#subs .more .soft', (list) => list.map((node) => node.textContent));
    const phases = ['GET /list: 2 times 13 SQL statements, 12 of them equal (N+1?)',
        'GET /item: 2 times 2 SQL statements'];
    ok(/\u00b7 30 SQL statements, 12 equal in phase GET \/list \(N\+1\?\)$/.test(await whole()),
        `the page says how many statements there are: ${await whole()}`);
    is(await told(made), phases, 'the table says it of each phase');
    const option = async (name) => (await made.$$eval('#phase option', (list) =>
        list.map((o) => [o.textContent, o.value]))).find(([word]) => word.startsWith(name))[1];
    await made.selectOption('#phase', await option('GET /list'));
    ok(/\u00b7 2 times 13 SQL statements, 12 of them equal \(N\+1\?\)$/.test(await whole()),
        `a phase has its own: ${await whole()}`);
    await made.selectOption('#phase', await option('GET /item'));
    ok(/\u00b7 2 times 2 SQL statements$/.test(await whole()), '... each of them');
    await quiet(made, 'phases');
    // In the time line of a trace, a phase is chosen each time that it ran.
    const trace = await page(b, 'trace.html', '#timeline=1');
    ok(/\u00b7 30 SQL statements, 12 equal in phase GET \/list \(N\+1\?\)$/
        .test(await text(trace, '#whole')), 'a trace says the same, without a choice of phases');
    await trace.keyboard.press('S');
    is(await told(trace), phases, '... and so does its table');
    const part = await trace.$$eval('#part option', (list) => list.find((o) =>
        /phase GET \/list/.test(o.textContent)).value);
    await trace.selectOption('#part', part);
    await trace.evaluate(() => window.dprof.settled());
    ok(/\u00b7 13 SQL statements, 12 of them equal \(N\+1\?\)$/.test(await text(trace, '#whole')),
        `one request has its own: ${await text(trace, '#whole')}`);
    await quiet(trace, 'a request');
    // Two programs, the second with more calls in its loop, another statement, and without a third.
    const program = fs.readFileSync(at('shop.pl'), 'utf8');
    fs.writeFileSync(at('old.pl'), program.replace('1 .. 12', '1 .. 2')
        .replace('sub item {', "sub item { DBI::st::execute('DELETE FROM old', 5);"));
    fs.writeFileSync(at('new.pl'), program
        .replace('sub item {', "sub item { DBI::st::execute('INSERT INTO log', 5);"));
    for (const name of ['old', 'new'])
        run(`-d:DProf=out=${name}.out,clock=counting,tree`, `${name}.pl`);
    tool('dprofflame', '-f', '--diff', '-m', 'real', '-o', 'two.html', 'old.out', 'new.out');
    const two = await page(b, 'two.html', '#texts=1');
    ok(/\u00b7 SQL statements: 1 repeated now \(N\+1\?\), 1 new, 1 gone$/
        .test(await text(two, '#whole')), `a difference says it: ${await text(two, '#whole')}`);
    is(await told(two), [`repeated now (N+1?): ${MAKER} (2 \u2192 12 by one path)`,
        'new: INSERT INTO log (0 \u2192 1 by one path)',
        'gone: DELETE FROM old (1 \u2192 0 by one path)'], '... and which they are');
    await quiet(two, 'a difference of statements');
}

// ---- the time line ----

async function times(b) {
    const made = await page(b, 'trace.html', '#timeline=1');
    const boxes = () => made.evaluate(() => timeline.boxes.map(({ x, y, w, frame }) =>
        ({ x, y, w, name: profile.names[treeOfTime().name[frame]] })));
    const isSpan = ({ name }) => /^(?:sql|template):/.test(name);
    is((await boxes()).filter(isSpan).length, 32, 'the time line draws each span');
    // All of the time line is wide enough for one of them.
    await made.evaluate(() => {
        const { from, to } = timeline.boxes.find(({ frame }) =>
            profile.names[treeOfTime().name[frame]].startsWith('sql:SELECT a_long'));
        lookAt([from, to]);
    });
    await made.evaluate(() => window.dprof.settled());
    const [wide] = (await boxes()).filter(isSpan).sort((a, c) => c.w - a.w);
    const drawn = await made.evaluate(() => {
        const seen = [], real = timeline.canvas.getContext('2d').fillText;
        CanvasRenderingContext2D.prototype.fillText = function say(...args) {
            seen.push(args[0]);
            return real.apply(this, args);
        };
        paintTimes();
        CanvasRenderingContext2D.prototype.fillText = real;
        return seen;
    });
    ok(drawn.some((word) => /^SELECT a_long/.test(word)), 'a wide bar has its text');
    const area = await (await made.$('#time .sheet canvas')).boundingBox();
    await made.mouse.move(area.x + wide.x + wide.w / 2, area.y + wide.y + 6);
    const tip = await text(made, '#tip .name');
    ok(tip.startsWith('sql:SELECT a_long') && tip.includes('b::int FROM items -- <b>&"'),
        `the tooltip has the whole text: ${tip.length}`);
    const hue = await made.evaluate(({ x, y, w }) => {
        const dpr = devicePixelRatio, colours = new Set();
        const { data } = timeline.canvas.getContext('2d').getImageData((x + w * 0.7) * dpr,
            (y + 2) * dpr, Math.min(30, w * 0.25) * dpr, 11 * dpr);
        for (let k = 0; k < data.length; k += 4) colours.add(data.slice(k, k + 3).join());
        return colours.size;
    }, wide);
    ok(hue > 1, 'its bar has a texture');
    await made.selectOption('#kind', 'template');
    const colour = await made.evaluate(({ x, y, w }) => [...timeline.canvas.getContext('2d')
        .getImageData((x + w * 0.9) * devicePixelRatio, (y + 2) * devicePixelRatio, 1, 1).data
        .slice(0, 3)].join(), wide);
    is([colour], await dust(made), 'a kind makes the bars of other stacks grey');
    await quiet(made, 'the time line');
}

browser(async (b) => {
    record();
    await textures(b);
    await filters(b);
    await tables(b);
    await statements(b);
    await times(b);
    fs.rmSync(folder, { recursive: true, force: true });
});
