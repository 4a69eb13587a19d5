// What dprofflame draws, in a browser: recorded here from one of the example programs, in every
// form. page.js tests pages of its own encoder; this tests the renderer's.

'use strict';

const { browser, open, ok, is } = require('./lib.js');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const top = path.join(__dirname, '..', '..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dprof-real-'));
const libs = ['-I' + path.join(top, 'blib', 'lib'), '-I' + path.join(top, 'blib', 'arch')];
const perl = (args, env = {}) => execFileSync('perl', [...libs, ...args],
    { cwd: folder, env: { ...process.env, PERL_HASH_SEED: '0', PERL_PERTURB_KEYS: '0', ...env } });
const flame = (...args) => perl([path.join(top, 'bin', 'dprofflame'), ...args]);

// Difficult names, and one that is the beginning of another.
const NAMES = ['</script><script>document.title = "hurt"</script>', '<img src=x onerror=alert(1)>',
    '"quoted\' & <b>', '\u202eright-to-left \u05d0\u05d1', 'x'.repeat(10000), 'a', 'a:b', 'a b',
    '__proto__', 'constructor'];

async function shown(b, file, frames) {
    const page = await open(b, file);
    await page.evaluate(() => window.dprof.ready);
    const drawn = await page.evaluate(() => window.dprof.frames().length);
    ok(drawn >= frames, `${path.basename(file)}: ${drawn} frames`);
    is([page.errors, page.requests], [[], []], '... no error, no request');
    return page;
}

browser(async (b) => {
    fs.writeFileSync(path.join(folder, 'old.pl'),
        'sub f { g() for 1 .. 5 } sub g { my $x = join ",", 1 .. 50 } sub gone { g() } '
        + 'f(), gone() for 1 .. 20;\n');
    fs.writeFileSync(path.join(folder, 'new.pl'),
        'sub f { g() for 1 .. 9 } sub g { my $x = join ",", 1 .. 50 } sub fresh { g() } '
        + 'f(), fresh() for 1 .. 20;\n');
    perl(['-d:DProf=tree,out=old.out', 'old.pl']);
    perl(['-d:DProf=tree,out=new.out', 'new.pl']);
    const at = (name) => path.join(folder, name);

    flame('-m', 'ops', 'new.out', '-o', 'one.html');
    const one = await shown(b, at('one.html'), 4);
    is((await one.evaluate(() => window.dprof.frames().map((f) => f.path))).sort(),
        ['', 'main::f', 'main::f;main::g', 'main::fresh', 'main::fresh;main::g'], '... these');
    await one.evaluate(() => window.dprof.zoom('main::f'));
    ok(/#.*at=main%3A%3Af/.test(one.url()), '... a link by path');

    for (const view of ['graph', 'pair', 'triple']) {
        flame('--diff', '-m', 'ops', '--view', view, '--width', 'union', 'old.out', 'new.out',
            '-o', `${view}.html`);
        const page = await shown(b, at(`${view}.html`), 6 - (view !== 'graph'));
        const frames = await page.evaluate(() => window.dprof.frames());
        if (view === 'graph') {
            const by = Object.fromEntries(frames.map((f) => [f.path, f]));
            is([by['main::gone'].gone, by['main::fresh'].fresh, by['main::f;main::g'].level > 0,
                by['main::gone;main::g'].level < 0], [true, true, true, true],
                '... gone, new, more, less');
        }
    }
    flame('-m', 'calls,ops', 'new.out', '-o', 'pair-metric.html');
    const counters = await shown(b, at('pair-metric.html'), 4);
    ok(!/before|after/i.test(await counters.evaluate(() => document.body.innerText)),
        '... no before and after of two counters');

    fs.writeFileSync(at('hurt.folded'),
        NAMES.map((name, i) => `${name.replace(/;/g, '%3B')};leaf ${i + 1}\n`).join(''));
    flame('hurt.folded', '-o', 'hurt.html');
    const hurt = await shown(b, at('hurt.html'), NAMES.length * 2 + 1);
    ok(await hurt.title() !== 'hurt', '... and no name is run');
    flame('hurt.folded', '-o', 'hurt.svg');
    const svg = await open(b, at('hurt.svg'));
    is(await svg.evaluate(() => document.querySelectorAll('.f').length), NAMES.length * 2 + 1,
        'hurt.svg: all frames are drawn');
    is([svg.errors, svg.requests], [[], []], '... no error, no request');

    flame('--diff', '-m', 'ops', '--width', 'union', 'old.out', 'new.out', '-o', 'two.svg');
    const two = await open(b, at('two.svg'));
    const label = (name) => two.evaluate((n) => [...document.querySelectorAll('.f')]
        .filter((g) => g.querySelector('title').textContent.startsWith(n + ' ('))
        .map((g) => [g.getAttribute('class'), (g.querySelector('text') || {}).textContent]), name);
    ok((await label('main::gone')).every(([c]) => /gone/.test(c)),
        'two.svg: a gone frame is marked');
    const before = await label('main::g');
    ok(before.some(([c, text]) => /up/.test(c) && text.startsWith('\u25b2')),
        '... a sign of growth');
    await two.locator('.f.up').first().click();
    const zoomed = await label('main::g');
    ok(zoomed.some(([c, text]) => /up/.test(c) && (text || '').startsWith('\u25b2')),
        '... zoomed, too');
    is([two.errors, two.requests], [[], []], '... no error, no request');
    fs.rmSync(folder, { recursive: true });
});
