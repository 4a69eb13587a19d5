// The choice of processes and phases in the page: of random trees against a plain model, and of
// what dprofflame writes against dproffold.
//
// DPROF_PLAYWRIGHT=FOLDER node xt/browser/parts.js

'use strict';

const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { browser, open, ok, is } = require('./lib.js');
const { page: makePage } = require('./mkpage.js');
const { METRICS, f, randomTree, stacks, shape } = require('./mktree.js');

const top = path.join(__dirname, '..', '..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dprof-part-'));
const libs = ['lib', 'arch'].map((name) => '-I' + path.join(top, 'blib', name));
const perl = (...args) => execFileSync('perl', [...libs, ...args], { cwd: folder }).toString();
const tool = (name, ...args) => perl(path.join(top, 'bin', name), ...args);

async function show(b, file, hash = '') {
    const page = await open(b, file, { hash });
    await page.evaluate(() => window.dprof.ready);
    return page;
}

async function choose(page, id, label) {
    const options = await page.$$eval(`#${id} option`, (list) => list.map((o) => o.textContent));
    const index = options.findIndex((text) => text === label || text.startsWith(`${label} (`));
    ok(index >= 0, `${id} ${label}: there is such a choice`);
    await page.selectOption(`#${id}`, { index });
    await page.evaluate(() => window.dprof.settled());
}

const drawn = async (page) => shape(new Map((await page.evaluate(() => window.dprof.frames()))
    .map((frame) => [frame.path, frame.value])));
const text = (page, id) => page.evaluate((name) => document.getElementById(name).textContent, id);
const hash = (page) => page.evaluate(() => location.hash);
const exported = async (page) => lines(await page.evaluate(() => window.dprof.folded()));
const lines = (out) => out.trim().split('\n').sort();

async function quiet(page, what) {
    is([page.errors, page.requests], [[], []], `${what}: no error, no request`);
    await page.close();
}

// ---- random trees ----

const PARTS = ['11 worker.pl', '12 worker.pl', '13 other.pl'], PHASES = ['(phase x)', '(phase y)'];

function lanes(seed) {
    const phases = (k) =>
        PHASES.map((name, j) => ({ ...randomTree(seed * 100 + k * 10 + j), name }));
    return { self: 0, kids: PARTS.map((name, k) => f(name, 5 + k, phases(k))) };
}

// Returns the stacks of the part and phase, which may be '', without their frames, as the page
// exports them: in microseconds.
function chosen(root, part, phase) {
    const of = (list, name) => list.filter((kid) => !name || kid.name === name), sums = new Map();
    const add = (stack, value) => {
        const line = stack.join(';') || '(program)';
        if (value) sums.set(line, (sums.get(line) || 0) + value * 1000);
    };
    for (const one of of(root.kids, part)) {
        if (!phase) add([], one.self.cpu);
        for (const two of of(one.kids, phase)) stacks(two).forEach(([stack, v]) => add(stack, v));
    }
    return [...sums].map(([line, value]) => `${line} ${value}`).sort();
}

async function random(b) {
    for (let seed = 1; seed <= 4; seed++) {
        const root = lanes(seed), file = path.join(folder, `random${seed}.html`);
        fs.writeFileSync(file, makePage({ title: 'lanes', metrics: METRICS, parts: PARTS, root }));
        const page = await show(b, file);
        is(await exported(page), chosen(root, '', ''), `${seed}: all of them are one tree`);
        for (const part of [...PARTS, '']) {
            await choose(page, 'process', part || 'all processes');
            for (const phase of [...PHASES, '']) {
                await choose(page, 'phase', phase ? phase.slice(1, -1) : 'all phases');
                is(await exported(page), chosen(root, part, phase), `${seed}: ${part} ${phase}`);
            }
        }
        await quiet(page, seed);
    }
}

// ---- order of time, steps, links ----

async function steps(b) {
    const timed = (name, when, self, kids = []) => ({ ...f(name, self, kids), when });
    const root = { self: 0, kids: [
        { ...f('1 a.pl', 0, [timed('late', 5, 10), timed('first', 1, 10)]), when: 0 },
        { ...f('2 a.pl', 0, [timed('early', 2, 10, [timed('deep', 3, 20)])]), when: 4 },
    ] };
    // Ranks are among all frames here: the model of the encoder ranks siblings.
    const file = path.join(folder, 'steps.html');
    fs.writeFileSync(file, makePage({ title: 'steps', metrics: METRICS,
        parts: ['1 a.pl', '2 a.pl'], root }));
    const page = await show(b, file);
    is(await page.$eval('#phase', (node) => node.hidden), true, 'no phases: no choice of them');
    await page.evaluate(() => window.dprof.zoom('early'));
    await choose(page, 'process', '2 a.pl');
    is([await text(page, 'chips'), await hash(page)],
        ['process 2 a.pl \u00d7left: 30.00 ms (60.0 %)', '#at=early&steps=process:2%20a.pl'],
        'a chip says what is left; the zoom stays; the link has it');
    await page.reload();
    await page.evaluate(() => window.dprof.ready);
    is([await drawn(page), await page.$eval('#process', (node) => node.selectedOptions[0].text)],
        [[['', 30], ['early', 30], ['early;deep', 20]], '2 a.pl (60.0 %)'], 'so it opens again');
    await page.click('.chip');
    await page.evaluate(() => window.dprof.settled());
    is(await page.$eval('#process', (node) => node.value), '-1',
        'a click on the chip takes it back');
    await quiet(page, 'steps');
    for (const [link, told] of [
        ['time:0-1', 'The range of time 0-1 is not in this profile'],
        ['process:9%20b.pl', 'The process 9 b.pl is not in this profile'],
        ['phase:main', 'The phase main is not in this profile'],
        ['only:early;process:1%20a.pl', 'The process 1 a.pl is not in this profile'],
    ]) {
        const other = await show(b, file, `#steps=${link}`);
        ok((await text(other, 'notice')).startsWith(told), `${link}: the notice says so`);
        await quiet(other, link);
    }
}

// ---- what the tools write ----

const PROGRAM = `use Devel::DProf::Control qw(mark);
sub leaf { my $x = 0; $x += $_ for 1 .. $_[0]; $x }
sub load { leaf(2000) for 1 .. 20 }
sub work { leaf(500) for 1 .. $_[0] }
mark('load'); load(); mark('work'); work(5);
if (my $pid = fork) { waitpid $pid, 0 } else { mark('child'); work(50); load() }
`;

async function real(b) {
    const at = (name) => path.join(folder, name);
    fs.writeFileSync(at('p.pl'), PROGRAM);
    perl('-d:DProf=tree', 'p.pl');
    tool('dprofflame', '--processes', '-m', 'ops', '-o', 'all.html', 'tmon.out');
    const page = await show(b, at('all.html'));
    const fold = (...args) =>
        lines(tool('dproffold', '-m', 'ops', '--processes', ...args, 'tmon.out'));
    is(await exported(page), fold(), 'all processes and phases: what dproffold writes');
    const pids = fs.readdirSync(folder).map((name) => /^tmon\.out\.(\d+)$/.exec(name))
        .filter(Boolean).map((found) => found[1]);
    is(pids.length, 1, 'there is a child');
    const names = await page.$$eval('#process option', (list) => list.map((o) => o.textContent));
    is(names.length, 3, 'two processes, and all');
    for (const name of names.slice(1)) {
        const [label] = name.split(' ('), [pid] = label.split(' ');
        await choose(page, 'process', label);
        is(await exported(page), fold('--pid', pid), `process ${label}: what --pid writes`);
    }
    await choose(page, 'process', 'all processes');
    await choose(page, 'phase', 'child');
    const child = (await exported(page)).map((line) => line.replace(/ \d+$/, ''));
    is(child.filter((stack) => stack.includes('main::')).sort(),
        ['main::load', 'main::load;main::leaf', 'main::work', 'main::work;main::leaf'],
        'the phase of the child');
    await choose(page, 'phase', 'load');
    is((await exported(page)).some((line) => line.includes('work')), false, 'another phase');
    await quiet(page, 'real');

    fs.writeFileSync(at('q.pl'), 'sub f { 1 } f() for 1 .. 9;\n');
    perl('-d:DProf=tree,out=q.out', 'q.pl');
    tool('dprofflame', '-m', 'ops', '-o', 'q.html', 'q.out');
    const plain = await show(b, at('q.html'));
    is(await plain.$$eval('#process, #phase', (list) => list.map((node) => node.hidden)),
        [true, true], 'one process without marks: no choice');
    await quiet(plain, 'plain');
}

// ---- names that others have, too ----

async function names(b) {
    const at = (name) => path.join(folder, name);
    fs.writeFileSync(at('prog.pl'), `use Devel::DProf::Control qw(mark);
sub work { my $x = 0; $x += $_ for 1 .. 50 }
mark('program'); work() for 1 .. 3; mark('zz'); work() for 1 .. 9;
`);
    perl('-d:DProf=tree,out=prog.out', 'prog.pl');
    tool('dprofflame', '-m', 'ops', '-o', 'prog.html', 'prog.out');
    const page = await show(b, at('prog.html'));
    is(await exported(page), lines(tool('dproffold', '-m', 'ops', 'prog.out')),
        'a phase that is called as the root is');
    await choose(page, 'phase', 'program');
    is((await exported(page)).filter((line) => /main::work/.test(line)).length, 1,
        '... can be chosen');
    await page.selectOption('#metric', { label: 'calls' });
    await page.evaluate(() => window.dprof.settled());
    const [told] = /\([\d.]+ %\)/.exec(await text(page, 'chips'));
    ok((await page.$eval('#phase', (node) => node.selectedOptions[0].text)).endsWith(told),
        `shares are those of the metric on show: ${told}`);
    await quiet(page, 'prog');

    for (const marks of [['prog.out', 'zz.folded'], ['zz.folded', 'prog.out']]) {
        fs.writeFileSync(at('zz.folded'), '(zz);foo 500\n(zz) 100\n');
        tool('dprofflame', '-f', '--unit', 's', '-m', 'cpu', '-o', 'zz.html', ...marks);
        const mixed = await show(b, at('zz.html'));
        const some = await exported(mixed);
        ok(some.some((line) => line.startsWith('(zz);foo ')),
            `${marks}: a frame called as a phase`);
        ok(!some.some((line) => /zz.*main::work/.test(line)), '... is none');
        await choose(mixed, 'phase', 'zz');
        ok(!(await exported(mixed)).some((line) => line.includes('foo')),
            '... which can be chosen');
        await quiet(mixed, marks);
    }

    for (const name of ['work', 'other']) fs.writeFileSync(at(name), `${name};leaf 20\n`);
    tool('dprofflame', '-o', 'files.html', 'work', 'other');
    const linked = await show(b, at('files.html'), '#at=work');
    is([await text(linked, 'notice'), (await drawn(linked)).length], ['', 3],
        'a link to a frame that is called as a file is');
    await quiet(linked, 'a link');
    const around = await show(b, at('files.html'), '#around=work');
    ok((await drawn(around)).length > 1, '... around it');
    await quiet(around, 'around');

    fs.writeFileSync(at('when.pl'), `use Devel::DProf::Control qw(mark);
sub bar { my $x = 0; $x += $_ for 1 .. 900 } sub foo { bar() }
mark('zz'); foo(); main::bar(); mark('aa'); main::bar(); foo();
`);
    perl('-d:DProf=out=when.out', 'when.pl');
    tool('dprofflame', '--no-timeline', '-m', 'calls', '-o', 'when.html', 'when.out');
    const when = await show(b, at('when.html'), '#order=time');
    const x = Object.fromEntries((await when.evaluate(() => window.dprof.frames()))
        .map((frame) => [frame.path, frame.x]));
    ok(x['main::foo'] < x['main::bar'], 'what ran first in any phase stands first');
    await quiet(when, 'time');
}

async function source(b) {
    const at = (name) => path.join(folder, name);
    perl('-d:DProf=tree,lines,out=lines.out', 'p.pl');
    tool('dprofflame', '--processes', '-m', 'ops', '-o', 'lines.html', 'lines.out');
    const page = await show(b, at('lines.html'), '#src');
    await page.evaluate(() => window.dprof.settled());
    const listed = () => page.$$eval('.files td', (list) => list.map((cell) => cell.textContent));
    const all = await listed();
    await choose(page, 'phase', 'child');
    const some = await listed();
    ok(JSON.stringify(all) !== JSON.stringify(some), 'files are those of the phase');
    ok(/^What lines cost is known of all/.test(await text(page, 'notice')), '... which is said');
    await page.evaluate(() => window.dprof.source('p.pl', 0));
    await page.evaluate(() => window.dprof.settled());
    is(await page.$$eval('.of-count',
        (list) => list.filter((cell) => /\d/.test(cell.textContent)).length), 0,
        '... and lines have no costs of other phases');
    await page.goBack();
    await page.evaluate(() => window.dprof.settled());
    await page.click('.chip');
    await page.evaluate(() => window.dprof.settled());
    is(await listed(), all, 'a step taken back is of the sources, too');
    await quiet(page, 'source');
}

browser(async (b) => {
    await random(b);
    await steps(b);
    await real(b);
    await names(b);
    await source(b);
    fs.rmSync(folder, { recursive: true, force: true });
});
