// A second profile that is dropped onto the page: what is accepted, the difference, refusals.
//
// DPROF_PLAYWRIGHT=FOLDER node xt/browser/compare.js [PART ...]; times are printed, never judged.

'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const zlib = require('zlib');
const { browser, open, ok, is, note } = require('./lib.js');
const { page: makePage, html, encode, pack, Column } = require('./mkpage.js');
const { CPU, METRICS, f, randomTree, stacks, folded } = require('./mktree.js');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dprof-comp-'));
let files = 0;

async function show(b, profile, options) {
    const name = path.join(folder, `${++files}.html`);
    fs.writeFileSync(name, typeof profile === 'string' ? profile : makePage(profile));
    const page = await open(b, name, options);
    await page.evaluate(() => window.dprof.ready);
    return page;
}

// Chooses a file, and waits until it is compared or refused. Returns what the page says.
async function give(page, name, content) {
    await page.setInputFiles('#other',
        { name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });
    return page.evaluate(async () => {
        await comparing.ready;
        return document.querySelector('#notice').textContent;
    });
}

const state = (page) => page.evaluate(() => window.dprof.state());
const text = (page, selector) =>
    page.evaluate((s) => document.querySelector(s).textContent, selector);

async function quiet(page, what) {
    is([page.errors, page.requests], [[], []], `${what}: no error, no request`);
    await page.close();
}

// Returns what the page has: path -> inclusive values of both sides, in units of the metric. No
// path is there twice, and siblings are in order of name.
const had = (page) => page.evaluate(() => {
    const list = [], { tree } = scene, { hz } = metric();
    for (let i = 0; i < tree.n; i++) {
        const where = tree.path(i).map((name) => profile.names[name]).join(';');
        const kids = tree.kids(i).map((kid) => profile.names[tree.name[kid]]);
        if (kids.some((name, k) => k && !(kids[k - 1] < name))) list.push(['order', kids]);
        list.push([where, ...scene.total.map((total) => Math.round(total[i] / hz * 1e9) / 1e9)]);
    }
    return list.sort(([a], [c]) => (a < c ? -1 : a > c ? 1 : 0));
});

// Computes the same in a plain way, of two lists of stacks.
function model(before, after, by = 1) {
    const sides = [before, after].map((list) => folded(list, (stack) => stack));
    const paths = [...new Set(sides.flatMap((side) => [...side.keys()]))].sort();
    const value = (side, where) => Math.round((side.get(where) || 0) * by * 1e9) / 1e9;
    return paths.map((where) => [where, ...sides.map((side) => value(side, where))]);
}

const lines = (list, by = 1000) => list.map(([stack, value]) =>
    `${stack.join(';') || '(program)'} ${value * by}\n`).join('');
const random = (seed, names) => ({ title: 'random', metrics: METRICS,
    root: randomTree(seed * 7919, names) });

async function trees(b) {
    const same = { folded: 0, reversed: 0, page: 0, gzip: 0 }, seeds = 6;
    for (let seed = 1; seed <= seeds; seed++) {
        const names = seed % 2 ? [...'abcd'] : ['__proto__', 'constructor', 'a::b', '</script>'];
        const one = random(seed, names), two = random(seed + 100, names);
        const [before, after] = [one, two].map(({ root }) => stacks(root));
        const whole = lines(after);
        // Each stack stands twice, in any order, in lines that end as those of Windows.
        const halves = after.flatMap(([stack, value]) =>
            [[stack, value / 4], [stack, value * 3 / 4]]);
        const ways = {
            folded: whole, reversed: lines(halves.reverse()).replace(/\n/g, '\r\n').trim(),
            page: makePage(two), gzip: zlib.gzipSync(seed % 2 ? whole : makePage(two)),
        };
        const expected = JSON.stringify(model(before, after, 1e-3));
        for (const [way, content] of Object.entries(ways)) {
            const page = await show(b, one);
            const said = await give(page, way, content);
            const got = JSON.stringify(await had(page));
            if (got === expected && said === '' && !page.errors.length) same[way]++;
            else note(`${way} ${seed}: ${said} ${page.errors}\n${got}\n${expected}`.slice(0, 3000));
            await page.close();
        }
    }
    is(same, { folded: seeds, reversed: seeds, page: seeds, gzip: seeds },
        'both trees are one by the names of their paths');
}

const program = () => ({
    title: 'A profile', subtitle: 'times of it', sides: ['first.out'], metrics: METRICS,
    files: ['My.pm', 'app.pl'], places: { 'My::parse': [0, 12], 'main::run': [1, 3] },
    notes: [['Profile', 'first.out'], ['Recorded', 'on a Tuesday']],
    root: {
        self: 0, kids: [f('main::run', 50, [f('My::parse', 350, [f('CORE::match', 100)]),
            f('My::save', 300)]), f('strict::import', 200)],
    },
});

async function texts(b) {
    const units = { cpu: 's', count: '' };
    for (const [key, unit] of Object.entries(units)) {
        const metrics = [{ key, label: key, unit, hz: unit ? 128 : 1 }];
        const kids = [{ name: 'b', self: { [key]: 32 } }];
        const page = await show(b, { title: 'x', metrics,
            root: { self: 0, kids: [{ name: 'a', self: { [key]: 64 }, kids }] } });
        const given = '\ufeff# a comment\n#\n\n  \t\na;b\t1.5\na;;b 0.25 \r\n#name 1\n'
            + '(program);a 7.\na b;c d 3\n(program) 10\nq%3Br;100%;%41;x%0a;y%20;z 0000012.50000\n'
            + 'a;b 1';
        is(await give(page, 'some.folded', given), '', `folded text, ${unit || 'counts'}`);
        const by = unit ? 1e-6 : 1, was = unit ? 1 / 128 : 1;
        is(await had(page), model([[['a'], 64 * was], [['a', 'b'], 32 * was]],
            [[['a', 'b'], 2.75 * by], [['#name'], by], [['a'], 7 * by], [['a b', 'c d'], 3 * by],
                [[], 10 * by], [['q;r', '100%', '%41', 'x\\x0a', 'y ', 'z'], 12.5 * by]]),
        '... has comments, fractions, blanks, codes; empty frames are none');
        ok(await page.evaluate(() =>
            scene.total.flat().every((list) => list.every(Number.isInteger))),
            '... all values are whole ticks');
        ok(/ after 36\.(?:25 \u00b5s|3 )/.test(await text(page, '#whole')),
            '... and the page tells the sum');
        await quiet(page, 'folded text');
    }
    const page = await show(b, program());
    const raw = Buffer.concat([Buffer.from('a\x1b;caf\u00e9\u202e;'), Buffer.from([0xff, 0x41]),
        Buffer.from(';sys_read_[k] 5\n')]);
    await give(page, 'raw', raw);
    is(await page.evaluate(() => profile.names.slice(-4)),
        ['a\\x1b', 'caf\u00e9\\x{202e}', '\\xffA', 'sys_read'], 'names stand as C writes them');
    await quiet(page, 'bytes of any kind');
}

async function pages(b) {
    const page = await show(b, program());
    const other = { title: 'B', sides: ['second.out'], subtitle: 'other times',
        metrics: [{ key: 'real', label: 'real time', unit: 's', hz: 10 },
            { key: 'calls', label: 'calls', unit: 'calls', hz: 1 },
            { ...CPU, hz: 1e6 }, { key: 'ops', label: 'ops', unit: 'x', hz: 1 }],
        files: ['Other.pm', 'My.pm'],
        notes: [['Profile', 'second.out'], ['Recorded', 'on a Friday']],
        places: { 'My::parse': [1, 99], 'My::fresh': [0, 5], 'New::sub': [1, 6] },
        hues: [10, 20, 30, 40, 50, 60], kinds: [6, 0, 0, 3, 2, 1],
        root: { self: { real: 1, cpu: 5000 }, kids: [{ name: 'main::run',
            self: { cpu: 100000, calls: 3 },
            kids: [{ name: 'My::parse', self: { cpu: 250500, calls: 7 } },
                { name: 'CORE::x', self: {} }, { name: 'My::fresh', self: { cpu: 1 } },
                { name: 'New::sub', self: {} }] }] } };
    is(await give(page, 'b.html', makePage(other)), '', 'a page');
    is(await page.evaluate(() => [profile.metrics, profile.facts.sides, document.title,
        $('title').textContent,
        $('subtitle').textContent]), [[{ ...CPU, hz: 1e6 }, METRICS[1]], ['first.out', 'b.html'],
        ...Array(2).fill('first.out \u2192 b.html'), ''],
    'metrics that both have, in ticks of both; the title has both names');
    is(await page.evaluate(() => ['My::parse', 'CORE::x', 'My::fresh', 'New::sub'].map((name) => {
        const k = profile.names.indexOf(name), { kinds, hues, places, files } = profile.facts;
        return [kinds[k], hues[k], places[k] && [files[places[k][0]], places[k][1]]];
    })).then((list) => list.map(([kind, , place], k) => [k ? kind : 0, place])),
    [[0, ['My.pm', 12]], [0, 0], [3, ['Other.pm', 5]], [1, ['My.pm', 6]]],
    'kinds and places are the page\u2019s, or else those of the other one');
    is(await page.evaluate(() => profile.facts.files), ['My.pm', 'app.pl', 'Other.pm'],
        'files of both stand once');
    const drawn = await page.evaluate(() => window.dprof.frames()
        .map(({ path: p, before, value, fresh }) => [p, before, value, fresh]));
    is(drawn.filter(([p]) => /parse$|fresh$|^$/.test(p)), [['', 1e6, 355501, false],
        ['main::run;My::parse', 450000, 250500, false]],
    'before and after');
    await page.selectOption('#metric', { label: 'calls' });
    is((await had(page)).find(([p]) => p === 'main::run;My::parse'), ['main::run;My::parse', 2, 7],
        'another metric');
    await page.click('#info');
    const about = await text(page, '#dialog');
    ok(/Baselinefirst\.out/.test(about) && /Other sideb\.html/.test(about)
        && /Its profilesecond\.out/.test(about) && /Recordedon a Tuesday/.test(about)
        && /Recordedon a Friday/.test(about)
        && /loading the page again shows first\.out/.test(about)
        && /Metricsuser\+system time, calls/.test(about), 'Info tells of both');
    await page.keyboard.press('Escape');
    await quiet(page, 'a page');

    const hues = await show(b, { ...program(), fills: { main: '#123456' } });
    await give(hues, 'x', 'My::A::f;My::B::g;foo.bar;main;__ANON__[/x/y.pm:12] 1\n');
    is(await hues.evaluate(() => [profile.facts.hues.slice(-5), profile.facts.kinds.slice(-5),
        profile.facts.fills]),
        [[269, 321, 0, 307, 335], [0, 0, 0, 0, 0], null], 'hues are those that C would give');
    await quiet(hues, 'hues');

    // The order by time stays that of the page; what is new comes last.
    const at = (name, when, kids = []) => ({ name, self: 100, when, kids });
    const timed = await show(b, { title: 'timed', options: { order: 'time' },
        root: { self: 0, kids: [at('a', 2), at('b', 1), at('c', 0)] } });
    await give(timed, 'x', 'aa 100000\nc 100000\nb 100000\na 100000\n0 100000\n');
    const order = await timed.evaluate(() => window.dprof.frames().slice(1)
        .sort((p, q) => p.x - q.x).map((frame) => frame.path));
    is(order, ['c', 'b', 'a', '0', 'aa'], 'by time: as in the page, what is new comes last');
    await quiet(timed, 'by time');
}

// Makes a page with an empty source view.
function withLines(profile) {
    const empty = () => new Column().done();
    const data = pack({ format: 1, files: [], sources: [], detail: [2] },
        Array.from({ length: 15 }, empty)).toString('base64');
    const mark = '<script type="application/octet-stream"';
    return makePage(profile).replace(mark, `${mark} id="dprof-lines">${data}</script>${mark}`);
}

async function anew(b) {
    const page = await show(b, program(), { viewport: { width: 1950, height: 800 } });
    await page.evaluate(() => {
        window.dprof.zoom('main::run;My::parse');
        window.dprof.search('parse');
        turn('merged', true);
        turn('order', 'weight');
        doStep('hide', 'My::save');
        chooseRange([0.2, 0.4], true);
        openTable(true, 2);
        dye('dark');
    });
    await page.evaluate(() => sandwich(profile.names.indexOf('My::parse')));
    await page.evaluate(() => { turn('metric', 1); });
    await page.evaluate(() => new Promise((done) => { setTimeout(done, 300); }));
    ok((await page.evaluate(() => location.hash)).length > 20, 'the link has a lot');
    is(await give(page, 'b.folded', 'main::run;My::parse 9\nmain::run;fresh 3\n'), '', 'a drop');
    const { theme, ...now } = await state(page);
    is(now, { path: [], range: null, chain: [], centre: '', q: '', match: false, kind: '',
        metric: 'calls', order: 'name', icicle: false, reversed: false, merged: false,
        table: false, calls: false, time: false, heat: false, sub: '', texts: false,
        source: false, file: '', line: 0, layout: 'graph', width: 'after', colour: 'self',
        measure: 'absolute', uncertain: false, common: false, lost: '', cursor: '(program)' },
    'all begins anew');
    is([theme, await page.evaluate(() => [location.hash, $('q').value, $('chips').hidden,
        $('diff').hidden, $('compare').hidden])], ['dark', ['', '', true, false, true]],
    '... link and toolbar as well; the theme stays');
    ok(/fresh/.test(await text(page, '#hot')), 'the hottest subs are those of the difference');
    is(await text(page, '#whole'), 'before 5 calls \u2192 after 12 calls (+140 %)  \u00b7 7 frames',
        'calls of both');
    is(await give(page, 'c.folded', 'a 1\n'), 'c.folded is not compared: this page has two sides '
        + 'already; load it again for another comparison.', 'a third side is refused');
    const views = await page.evaluate(() => {
        const seen = [];
        for (const layout of ['pair', 'triple', 'graph']) turn('layout', layout);
        for (const width of ['before', 'union', 'change', 'after']) {
            turn('width', width);
            seen.push(window.dprof.frames().length);
        }
        for (const key of ['reversed', 'merged', 'icicle']) {
            turn(key, true);
            turn(key, false);
        }
        sandwich(profile.names.indexOf('My::parse'));
        sandwich(-1);
        openTable(true);
        openCalls(true);
        openCalls(false);
        window.dprof.search('fresh');
        return [seen, window.dprof.folded().split('\n')[0], window.dprof.found().frames];
    });
    is(views, [[6, 7, 7, 4], 'main::run 1 0', 1], 'every view is one of a difference');
    await page.evaluate(() => window.dprof.zoom('main::run;My::parse'));
    await page.goBack();
    is((await state(page)).path, [], 'Back undoes a zoom');
    await page.reload();
    await page.evaluate(() => window.dprof.ready);
    is(await page.evaluate(() => [profile.facts.sides, document.title]),
        [['first.out'], 'A profile'],
        'a page that is loaded again is what it was');
    await quiet(page, 'anew');

    for (const start of ['graph', 'source']) {
        const lined = await show(b, withLines({ ...program(), options: { start } }));
        if (start === 'source') await lined.evaluate(() => window.dprof.settled());
        is(await lined.evaluate(() => [hasLines(), state.source]), [true, start === 'source'],
            `a page with sources, that begins with the ${start}`);
        await give(lined, 'b', 'main::run 5\n');
        is(await lined.evaluate(() => [hasLines(), state.source, $('source-view').hidden,
            $('panes').hidden, $('sources').hidden]), [false, false, true, false, true],
        '... has none in a difference');
        await lined.keyboard.press('l');
        await lined.click('#info');
        ok(/Sourcenot shown: .* first\.out alone/.test(await text(lined, '#dialog')),
            '... and says so');
        await quiet(lined, 'sources');
    }
}

async function hostile(b) {
    const evil = ['</script><script>window.pwned = 1</script>', '__proto__', 'constructor',
        '<img src=x onerror="window.pwned = 1">', 'toString', 'hasOwnProperty', 'x'.repeat(20000),
        '\u202egnirts', '\u05d0\u05d1'];
    const other = { title: '<b>x</b>', notes: [['<i>n</i>', '<img src=y onerror=pwned=1>']],
        root: { self: 1, kids: evil.map((name) => f(name, 10, [f('__proto__', 5)])) } };
    for (const [way, content] of [['page', makePage({ ...other, metrics: METRICS })],
        ['text', evil.map((name) => `${name};__proto__ 5000\n${name} 10000\n`).join('')]]) {
        const page = await show(b, { ...program(), root: { self: 1, kids: [f('__proto__', 3)] } });
        const name = '<img src=z onerror=pwned=1>\u202e.html';
        is(await give(page, name, content), '', `hostile names: ${way}`);
        const shown = name.replace('\u202e', '\\x{202e}');
        is(await page.evaluate(() => document.title), `first.out \u2192 ${shown}`,
            '... the file has a name that can be read');
        await page.click('#table');
        await page.click('#list');
        await page.click('#info');
        is(await page.evaluate(() => [typeof window.pwned, document.querySelectorAll('img').length,
            document.querySelectorAll('b, i, main script').length, scene.tree.kids(0).length]),
        ['undefined', 0, 0, evil.length], '... nothing is run or becomes an element');
        const both = (await had(page)).find(([p]) => p === '__proto__');
        is(both, ['__proto__', 0.003, 0.015], '... and __proto__ is a name as any');
        await quiet(page, 'hostile names');
    }

    // The scripts of a page that is dropped do not run.
    const page = await show(b, program());
    const made = makePage(program())
        .replace(/<script>/, '<script>window.pwned = 1;</script><script>');
    is(await give(page, 'x.html', made), '', 'a page with another script');
    is(await page.evaluate(() => typeof window.pwned), 'undefined', '... runs nothing');
    await quiet(page, 'scripts');
}

async function refusals(b) {
    const page = await show(b, program());
    await page.evaluate(() => window.dprof.zoom('main::run'));
    const before = await page.evaluate(() => [location.hash, document.title,
        JSON.stringify(window.dprof.state()), JSON.stringify(window.dprof.frames())]);
    const good = encode({ ...program() }), wrapped = (data) => html('x', data);
    const facts = (change) => {
        const json = { format: 1, version: '1', title: '', sides: ['x'], metrics: [CPU], frames: 2,
            names: ['(program)', 'a'], kinds: [6, 0], hues: [0, 0], files: [], places: [0, 0],
            notes: [], diff: null, ...change };
        const bytes = (...list) => Buffer.from(list);
        return wrapped(pack(json, [bytes(0), bytes(0, change.name || 1), bytes(),
            change.values || bytes(0, 5)]));
    };
    const two = { ...program(), sides: ['a', 'b'], metrics: [CPU], diff: { mode: 'diff' } };
    const list = [
        ['empty', '', /it has no stacks/], ['comments', '# only\n\n', /it has no stacks/],
        ['words', 'Some words, and no stacks.\n', /neither folded stacks nor a page/],
        ['binary', 'a;b 1\n\0\x01', /neither folded stacks nor a page/],
        ['one', '12\n', /neither folded stacks/], ['negative', 'a -1\n', /neither folded stacks/],
        ['exponent', 'a 1\nb 1e3\n', /line 2 has no stack with a count/],
        ['infinite', 'a 1\nb inf\n', /line 2 has no stack/],
        ['none', 'a 1\n\n# x\nb\n', /line 4 has no stack/],
        ['many digits', `a 1\nb ${'9'.repeat(300000)}\n`, /line 2 has no stack/],
        ['too much', `a ${'9'.repeat(30)}\n`, /add up to more than fits/],
        ['pairs', 'a;b 1 2\na 0 3\n', /two counts, so that it has two sides itself/],
        ['gzip', zlib.gzipSync('a 1\n'.repeat(9999)).subarray(0, 40), /cannot be unpacked/],
        ['other.html', '<!DOCTYPE html>\n<p>Hello', /a page, but none that dprofflame has made/],
        ['two.html', makePage(two), /it has two sides itself/],
        ['cut.html', wrapped(good).replace(/(dprof-data">.{300}).*/s, '$1'),
            /in it is damaged: it cannot be unpacked/],
        ['base64.html', wrapped(good).replace(/dprof-data">.{99}/, '$&!'), /in it is damaged/],
        ['data.html', wrapped(zlib.gzipSync('\x05\0\0\0{"a":')), /in it is damaged/],
        ['format.html', facts({ format: 2 }), /damaged: format 2 is not known here/],
        ['names.html', facts({ names: ['a', { toString: 1 }] }), /damaged: its facts do not fit/],
        ['number.html', facts({ name: 7 }), /damaged: its facts do not fit/],
        ['metrics.html', facts({ metrics: 'cpu' }), /damaged/],
        ['values.html', facts({ values: Buffer.from([0x80, 0x80]) }), /ends too early/],
        ['huge.html', facts({ frames: 4e9 }), /damaged/],
        ['notes.html', facts({ notes: [[{ toString: 1 }, 1]] }), /its facts do not fit/],
        ['unit.html', facts({ metrics: [{ ...CPU, unit: '' }] }), /no metric that this page has/],
    ];
    for (const [name, content, why] of list) {
        const said = await give(page, name, content);
        ok(said.startsWith(`${name} is not compared: `) && why.test(said) && /[^.]\.$/.test(said),
            `refused: ${said.slice(0, 90)}`);
    }
    is(await page.evaluate(async () => {
        compare(['a', 'b'].map((name) => new File(['a 1\n'], name)));
        await comparing.ready;
        return $('notice').textContent;
    }), 'a is not compared: there are 2 files, and one is compared at a time.', 'two files');
    is(await page.evaluate(() => [location.hash, document.title,
        JSON.stringify(window.dprof.state()), JSON.stringify(window.dprof.frames())]), before,
    'nothing has changed');
    is(await give(page, 'odd.html', facts({ kinds: 7, hues: ['red'], places: { 1: [0, 0] },
        files: null, notes: 'x' })), '', 'odd facts of names do no harm');
    is(await page.evaluate(() => [profile.facts.kinds, profile.facts.places]
        .map((list) => list[profile.names
        .indexOf('a')])), [0, 0], '... they are left out');
    await quiet(page, 'refusals');

    const diff = { view: 'graph', width: 'after', colour: 'self', negate: false, factor: [1, 1],
        normalized: '', runs: [1, 1], significant: null, moved: {}, mode: 'diff' };
    const sides = await show(b, { ...two, diff });
    is(await give(sides, 'x', 'a 1\n'), 'x is not compared: this page has two sides already.',
        'a page with two sides takes no third one');
    ok(await sides.$eval('#compare', (node) => node.hidden), '... and has no button for it');
    await quiet(sides, 'two sides');
}

async function drops(b) {
    const page = await show(b, program());
    // A drag of text is none of ours.
    const drag = (list) => page.evaluate((steps) => steps.map(([type, content, from]) => {
        const data = new DataTransfer();
        if (content === 'text') data.setData('text/plain', 'a 1');
        else for (const [name, inside] of content) data.items.add(new File([inside], name));
        const event = new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true,
            relatedTarget: from ? document.body : null });
        document.querySelector('.sheet > canvas').dispatchEvent(event);
        return [event.defaultPrevented, !$('drop').hidden];
    }), list);
    is(await drag([['dragenter', 'text'], ['dragover', 'text'], ['drop', 'text']]),
        Array(3).fill([false, false]), 'text that is dragged is left alone');
    const one = [['b.folded', 'main::run 500000\nmain::run;My::parse 100000\n']];
    is(await drag([['dragenter', one], ['dragover', one], ['dragleave', one, true],
        ['dragleave', one]]), [[true, true], [true, true], [false, true], [false, false]],
    'a file that is dragged over the page shows where to drop it');
    await drag([['dragover', one]]);
    is(await page.evaluate(() => {
        const { width, height } = $('drop').getBoundingClientRect();
        const { borderTopStyle } = getComputedStyle($('drop'));
        return [width > 1200 && height > 700, borderTopStyle, $('drop').textContent];
    }), [true, 'dashed', 'Drop a profile here to compare'], '... in words, on all of the page');
    is(await drag([['drop', one]]), [[true, false]], 'the drop is taken');
    await page.evaluate(() => comparing.ready);
    is(await page.evaluate(() =>
        [document.title, scene.total.map((list) => list[0] / metric().hz)]),
        ['first.out \u2192 b.folded', [1, 0.6]], '... and compared');
    await quiet(page, 'a drop');

    const other = await show(b, program());
    const [chooser] = await Promise.all([other.waitForEvent('filechooser'),
        other.click('#compare')]);
    await chooser.setFiles({ name: 'c.txt', mimeType: 'text/plain',
        buffer: Buffer.from('a 7\n') });
    await other.evaluate(() => comparing.ready);
    is(await other.title(), 'first.out \u2192 c.txt', 'the button opens a file chooser');
    await quiet(other, 'the button');

    // Of two that come at once the second one is told that there is one.
    const twice = await show(b, program());
    await twice.evaluate(() => {
        for (const name of ['one', 'two']) compare([new File(['a 1\n'], name)]);
        return comparing.ready;
    });
    is(await twice.evaluate(() => [document.title, /^two is not/.test($('notice').textContent)]),
        ['first.out \u2192 one', true], 'one file comes after the other');
    await quiet(twice, 'two at once');
}

async function large(b) {
    const page = await show(b, program()), name = path.join(folder, 'large.folded');
    const out = fs.openSync(name, 'w'), seen = new Set(['']);
    let seed = 7, total = 0;
    const next = (most) => {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        return (seed >>> 8) % most;
    };
    for (let k = 0; k < 100; k++) {
        const rows = [];
        for (let i = 0; i < 10000; i++) {
            const stack = [], deep = 3 + next(4), count = 1 + next(1000);
            for (let d = 0; d < deep; d++)
                stack.push(`My::Package${next(3)}::sub_${d}`, `My::Long::Name::of_${d}`);
            stack.push(`Leaf::number_${next(300)}`);
            rows.push(`${stack.join(';')} ${count}`);
            total += count;
            for (; !seen.has(stack.join(';')); stack.pop()) seen.add(stack.join(';'));
        }
        fs.writeSync(out, rows.join('\n') + '\n');
    }
    fs.closeSync(out);
    for (const known of ['main::run', 'main::run;My::parse', 'main::run;My::parse;CORE::match',
        'main::run;My::save', 'strict::import']) seen.add(known);
    await page.evaluate(() => {
        window.told = [];
        new MutationObserver(() => window.told.push($('busy').hidden ? '' : $('busy').textContent))
            .observe($('busy'), { attributes: true });
    });
    const begun = Date.now();
    await page.setInputFiles('#other', name);
    const [told, frames, after] = await page.evaluate(async () => {
        await comparing.ready;
        return [window.told, profile.tree.n, scene.total[1][0]];
    });
    note(`a million stacks, ${fs.statSync(name).size} bytes, ${frames} frames: compared after `
        + `${Date.now() - begun} ms`);
    is(told, ['Comparing with large.folded\u2026', ''], 'a large file is told before it is read');
    is([frames, after], [seen.size, total], 'a million stacks are compared');
    await quiet(page, 'a million stacks');
}

browser(async (b) => {
    for (const part of [trees, texts, pages, anew, hostile, refusals, drops, large]) {
        const only = process.argv.slice(2);
        if (!only.length || only.includes(part.name)) await part(b);
    }
}).then(() => fs.rmSync(folder, { recursive: true }));
