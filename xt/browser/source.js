// The source view in a browser, of programs that are recorded here. What it shows is read back and
// compared with what dprofreport says of the same lines; links, Back, keys, search, folding; odd
// and hostile sources; a program of 500 modules. Times are printed, never judged.

'use strict';

const { browser, open, ok, is, note } = require('./lib.js');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const top = path.join(__dirname, '..', '..'), folder = fs.mkdtempSync(path.join(os.tmpdir(),
    'dprof-source-'));
const libs = ['-I' + path.join(top, 'blib', 'lib'), '-I' + path.join(top, 'blib', 'arch')];
const perl = (args, env = {}) => execFileSync('perl', [...libs, ...args], { cwd: folder,
    maxBuffer: 1 << 30, env: { ...process.env, PERL_HASH_SEED: '0', PERL_PERTURB_KEYS: '0',
    ...env } });
const tool = (name, ...args) => perl([path.join(top, 'bin', name), ...args]);
const at = (name) => path.join(folder, name);
const write = (name, text) => {
    fs.mkdirSync(path.dirname(at(name)), { recursive: true });
    fs.writeFileSync(at(name), text);
};
const record = (out, options, ...args) => perl([`-d:DProf=tree,${options},out=${out}`, ...args],
    { PERL_DPROF_CLOCK: 'counting' });

// The program of t/69-source.t, with a module, comments, a far line and a manual.
const MAIN = perl(['-I' + path.join(top, 't', 'lib'), '-MSourceProgram', '-e',
    'print SourceProgram::TEXT']).toString()
    .replace('use strict;\n', "use strict;\nuse lib '.';\nuse Other;\n")
    .replace('sub deep {\n', '\n# A comment about deep.\nsub deep\n{\n    # what it takes\n')
    .replace('deep(4);\n', () => 'deep(4) + Other::twice($sum);\nOther::twice($_) for 1 .. 7;\n')
    + Array.from({ length: 60 }, (_, i) => `# filler ${i}\n`).join('')
    + `sub never { return 'needle in main' }

=head1 MANUAL

needle in the manual

=cut
`;
const OTHER = `package Other;
use strict;
sub twice {
    my ($n) = @_;
    my @list = map { $_ * 2 } 1 .. 20;
    return scalar(@list) + $n;   # needle in Other
}
1;
`;

async function show(b, name, options) {
    const page = await open(b, at(name), options);
    page.setDefaultTimeout(10000);
    await page.evaluate(() => window.dprof.ready);
    return page;
}

async function quiet(page, what) {
    is([page.errors, page.requests], [[], []], `${what}: no error, no request`);
    await page.close();
}

const settled = (page) => page.evaluate(async () => {
    await window.dprof.settled();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
});
const text = (page, selector) => page.evaluate((s) => [...document.querySelectorAll(s)]
    .map((node) => node.textContent), selector);
const state = (page) => page.evaluate(() => window.dprof.state());
const hash = (page) => page.evaluate(() => location.hash);

// Clicks at the first link with a text. Scrolling draws the rows anew, so it has to be over before.
async function follow(page, selector, hasText) {
    const found = page.locator(selector, { hasText }).first();
    await found.scrollIntoViewIfNeeded();
    await settled(page);
    await found.click();
    await settled(page);
}

async function go(page, file, line = 0) {
    await page.evaluate(([f, l]) => window.dprof.source(f, l), [file, line]);
    await settled(page);
}

// Returns what the gutters show: { line: [count, self, inclusive, share, code] }, of the lines that
// are drawn.
const gutters = (page) => page.evaluate(() =>
    Object.fromEntries([...document.querySelectorAll('.r-line')].map((row) => [row.dataset.line,
    ['.c-count', '.c-self', '.c-inclusive', '.c-share', '.code']
        .map((s) => row.querySelector(s).textContent)])));

// "1,234.5 µs" -> seconds.
const seconds = (shown) => {
    const [, number, unit] = /^([\d,.]+) (\S+)$/.exec(shown) || [];
    return number === undefined ? 0 : parseFloat(number.replace(/,/g, '')) * { s: 1, ms: 1e-3,
        '\u00b5s': 1e-6, ns: 1e-9 }[unit];
};
const near = (a, b) => Math.abs(a - b) <= 0.002 * Math.max(Math.abs(a), Math.abs(b)) + 1e-9;

async function values(b) {
    const rows = JSON.parse(tool('dprofreport', '--format', 'json', '-s', 'srcline', '-n',
        '--show-total-period', '-m', 'real', 'main.out').toString()).rows;
    const model = new Map(rows.map((row) => [row.srcline, row]));
    const page = await show(b, 'main.html');
    is((await state(page)).source, true, 'dprofhtml opens with the source');
    const files = await text(page, '.files td.left a');
    ok(files.some((name) => /main\.pl$/.test(name)) && files.some((name) =>
        /Other\.pm$/.test(name)), 'the files are listed');
    const sums = new Map();
    for (const [place, row] of model) {
        const file = place.replace(/:\d+$/, '');
        sums.set(file, [(sums.get(file) || [0, 0])[0] + row.self, (sums.get(file) || [0, 0])[1]
            + row.calls]);
    }
    const listed = await page.evaluate(() => [...document.querySelectorAll('.files tbody tr')]
        .map((tr) => [tr.querySelector('a').textContent, ...[...tr.querySelectorAll('td')]
        .slice(1, 4).map((td) => td.textContent)]));
    const wrong = listed.filter(([name, self, , count]) => sums.has(name) && !(near(seconds(self),
        sums.get(name)[0]) && +count.replace(/,/g, '') === sums.get(name)[1]));
    is(wrong, [], 'files have the sums of their lines, as in dprofreport');
    const selfs = listed.map(([, self]) => seconds(self));
    is(selfs, [...selfs].sort((a, c) => c - a), 'files are sorted by self');
    await page.click('.files [data-key=name]');
    const names = await text(page, '.files td.left a');
    is(names, [...names].sort(), 'a click on a heading sorts');

    // Two clicks lead from the first view to a line of a file, and to a sub's callers.
    await page.locator('.files td.left a', { hasText: 'main.pl' }).first().click();
    await settled(page);
    const shown = await gutters(page), main = MAIN.split('\n');
    ok(Object.keys(shown).length > 20, 'a click on a file opens it');
    is(Object.entries(shown).filter(([line, cells]) => cells[4] !== main[line - 1]).map(([line]) =>
        line), [], 'the file is shown with its text');
    const bad = Object.entries(shown).filter(([line, [count, self, incl]]) => {
        const row = model.get(`main.pl:${line}`);
        return row ? !(+count.replace(/,/g, '') === row.calls && near(seconds(self), row.self)
            && near(seconds(incl), row.children)) : count + self !== '';
    });
    is(bad, [], 'each line has its costs, as in dprofreport');
    const total = rows.reduce((all, row) => all + row.self, 0), [, , , share] = shown[5];
    ok(Math.abs(parseFloat(share) - 100 * model.get('main.pl:5').self / total) < 0.06,
        'the share of a line is of the total');
    const notes = await page.evaluate(() => window.dprof.rows().filter((row) =>
        row.kind !== 'line'));
    const of = (line, kind) => notes.filter((row) => row.line === line && row.kind === kind);
    is(of(15, 'call').map((row) => row.name).sort(), ['main::deep', 'main::leaf'],
        'calls are below their line');
    is([of(10, 'sub').map((row) => row.name), of(4, 'sub').map((row) => row.name)], [['main::deep'],
        ['main::leaf']], 'subs are above the line with their name');
    is(of(4, 'caller').length, 2, 'subs have the lines that call them');
    const told = await page.evaluate(() => [...document.querySelectorAll('.r-call')].map((row) =>
        row.textContent));
    ok(told.some((line) => /spent .* making 7 calls to Other::twice, avg /.test(line)),
        'a call has its number and time');

    is(await page.$$eval('.forge', (list) => list.length), 0, 'without --source-url, no forge');
    tool('dprofhtml', '--source-url', 'https://forge.example/r/{file}#L{line}', '-o', 'forge.html',
        'main.out');
    const forge = await show(b, 'forge.html');
    await go(forge, 'Other.pm', 4);
    is(await forge.$eval('.forge', (node) => [node.href, node.rel]),
        ['https://forge.example/r/Other.pm#L4', 'noopener noreferrer'],
        '--source-url links a file to its forge');
    await quiet(forge, 'a forge');

    // Links and Back work.
    await follow(page, '.r-call a', 'Other::twice');
    is([(await state(page)).file, (await state(page)).line], ['Other.pm', 3],
        'a call leads to the sub');
    is(await hash(page), '#src=Other.pm:3', 'the address has file and line');
    ok((await text(page, '.here .code'))[0].startsWith('sub twice'), 'the line is marked');
    await follow(page, '.r-caller a', 'main.pl:22');
    is(await hash(page), '#src=main.pl:22', 'a caller leads back');
    await page.goBack();
    await settled(page);
    is([(await state(page)).file, (await state(page)).line], ['Other.pm', 3],
        'Back returns to the call');
    await page.goBack();
    await settled(page);
    is([(await state(page)).file], ['main.pl'], 'Back again returns to the file');
    await page.goBack();
    await settled(page);
    is([(await state(page)).source, (await state(page)).file, await text(page, '.files h2')
        .then((list) => list.length)], [true, '', 1], 'Back at last returns to the files');
    const linked = await show(b, 'main.html', { hash: '#src=Other.pm:5' });
    is([(await state(linked)).file, (await state(linked)).line,
        (await text(linked, '.here .code'))[0].trim()], ['Other.pm', 5,
        'my @list = map { $_ * 2 } 1 .. 20;'], 'an address leads to its line');
    await linked.close();
    const lost = await show(b, 'main.html', { hash: '#src=nothing.pl:5' });
    ok(/nothing\.pl is not in this profile/.test((await text(lost, '#notice'))[0]),
        'an address of a missing file is told');
    await quiet(lost, 'a link that leads nowhere');

    // Keys lead to the graph and the table, and back.
    await go(page, 'main.pl', 14);
    await page.keyboard.press('g');
    is([(await state(page)).source, (await state(page)).path[(await state(page)).path.length - 1]],
        [false, 'main::deep'], 'g: the graph of the line\'s sub');
    ok(/graph=1/.test(await hash(page)), '... has an address');
    await page.keyboard.press('l');
    await settled(page);
    is([(await state(page)).source, (await state(page)).line], [true, 10],
        'l goes back to the source of the frame');
    await page.keyboard.press('s');
    is([(await state(page)).source, (await state(page)).sub], [false, 'main::deep'],
        's shows the table');
    await page.click('#subs tr.here td.place button');
    await settled(page);
    is([(await state(page)).file, (await state(page)).line], ['main.pl', 10],
        'the place in the table leads back');
    await quiet(page, 'values');
}

async function keys(b) {
    const page = await show(b, 'main.html');
    await go(page, 'main.pl', 5);
    const press = async (key) => {
        await page.keyboard.press(key);
        await settled(page);
        return (await state(page)).line;
    };
    is([await press('ArrowDown'), await press('ArrowDown'), await press('ArrowUp')], [6, 7, 6],
        'arrow keys go from line to line');
    const hot = await press('h'), order = await page.evaluate(() =>
        [...document.querySelectorAll('.r-line')].map((row) => [+row.dataset.line,
        row.querySelector('.c-self').textContent]));
    const most = order.map(([line, self]) => [line, seconds(self)]).sort((a, c) => c[1] - a[1])[0];
    ok(most[1] <= seconds((order.find(([line]) => line === hot) || [0, '0 s'])[1]) * 1.001,
        'h goes to the line that costs most');
    ok(await press('h') !== hot && await press('H') === hot, 'h and H go on and back');
    await page.click('.r-line[data-line="21"] .code');
    await go(page, 'main.pl', 15);
    const [first] = await page.evaluate(() => window.dprof.rows().filter((row) =>
        row.kind === 'call' && row.line === 15).map((row) => row.name));
    await press('Enter');
    is((await state(page)).line, { 'main::deep': 10, 'main::leaf': 4 }[first],
        'Enter follows the first call');
    await press('Backspace');
    is((await state(page)).line, 15, 'Backspace goes back');

    const kinds = () => page.evaluate(() => window.dprof.rows().map((row) => row.kind));
    const count = async (kind) => (await kinds()).filter((k) => k === kind).length;
    const lines = await count('line');
    is(lines, MAIN.split('\n').length - 1, 'all lines have a row');
    await press('x');
    is([await count('call'), await count('caller')], [0, 0], 'x hides calls');
    await press('x');
    await press('z');
    ok(await count('fold') > 0 && await count('line') < lines, 'z folds cheap lines');
    ok((await text(page, '.r-fold button')).some((words) => /\d+ lines$/.test(words)),
        'a fold tells the number of its lines');
    const folds = await count('fold');
    await page.click('.r-fold button >> nth=-1');
    is([await count('fold'), (await text(page, '.r-line .code')).some((code) =>
        /filler/.test(code))], [folds - 1, true], 'a click opens a fold');
    await press('z');
    is((await page.evaluate(() => window.dprof.rows().filter((row) => row.kind === 'fold')
        .map((row) => row.line))).slice(0, 2), [5, 11], 'z again folds subs');
    await press('z');
    is([await count('fold'), await count('line')], [0, lines], 'a third z folds nothing');
    await page.click('.r-line[data-line="10"] .fold');
    is(await page.evaluate(() => window.dprof.rows().filter((row) => row.kind === 'fold')
        .map((row) => row.line)), [11], 'a click folds one sub alone');
    await page.click('.r-line[data-line="10"] .fold');
    is(await count('fold'), 0, 'a click opens it again');
    await press('0');
    is((await state(page)).file, '', '0 shows all files');
    await press('?');
    ok(/the next of the lines that cost most/.test((await text(page, '#dialog'))[0]),
        'a panel has the keys');
    await page.keyboard.press('Escape');
    await quiet(page, 'keys');
}

async function searches(b) {
    const page = await show(b, 'main.html');
    await page.fill('#q', 'needle');
    await page.keyboard.press('Enter');
    await settled(page);
    ok(/3 lines in 2 files/.test((await text(page, '#found'))[0]),
        'a search goes through all sources');
    await page.evaluate(() => window.dprof.source('', 0));
    const found = async () => [(await state(page)).file, (await state(page)).line], seen = [];
    for (const key of ['n', 'n', 'n', 'p']) {
        await page.evaluate(() => document.activeElement.blur());
        await page.keyboard.press(key);
        await settled(page);
        seen.push((await found()).join(':'));
    }
    is(new Set(seen.slice(0, 3)).size, 3, 'n goes from match to match, and from file to file');
    is(seen[3], seen[1], 'p goes back');
    ok((await text(page, 'mark')).includes('needle'), 'matches are marked');
    ok(/of 3 lines/.test((await text(page, '#found'))[0]), 'the number of the match is shown');
    await page.fill('#q', '^\\s*#.*DEEP');
    await page.waitForTimeout(150);
    await settled(page);
    is((await text(page, '#found'))[0], '1 line in 1 file',
        'a search takes a regular expression, by line');
    await page.click('#case');
    await settled(page);
    is((await text(page, '#found'))[0], '0 lines in 0 files', 'case matters with the toggle');
    await page.fill('#q', '(');
    await page.waitForTimeout(150);
    ok(/Not a usable regex/.test((await text(page, '#found'))[0]),
        'a bad regular expression is told');
    await quiet(page, 'search');
    const linked = await show(b, 'main.html', { hash: '#q=needle' });
    await settled(linked);
    is((await text(linked, '.hits a')).length, 3,
        'an address keeps the search: the lines are listed');
    await linked.click('.hits a >> nth=0');
    await settled(linked);
    ok((await text(linked, '.here mark')).length === 1, 'a listed line leads to its place');
    await quiet(linked, 'a search by address');
}

const ODD = [
    'sub f { 1 } f();', '</script><script>window.pwned = 1</script>',
    '<img src=x onerror="window.pwned = 1"> &amp; &#60;',
    '\u202edlrow\u202c \u05d0\u05d1 \x1b[31m \x00', '\tone\ttwo', 'caf\u00e9 \u2603\r',
    'x'.repeat(300000), '__END__', 'last', '',
].join('\n');

async function odd(b) {
    write('odd.pl', Buffer.from('__FILE__;\n' + ODD.replace(/^.*\n/, 'sub f { 1 } f();\n__END__\n'),
        'utf8'));
    write('latin.pl', Buffer.from('sub f { 1 }\nf();   # caf\u00e9\n', 'latin1'));
    write('crlf.pl', 'sub f { 1 }\r\nf();\r\n');
    write('gone.pl', 'sub f { 1 }\nf();\n');
    write('changed.pl', 'sub f { 1 }\nf();\n');
    write('all.pl',
        `do "./$_.pl" for qw(odd latin crlf gone changed);\neval "\\n\\nsub made { 1 } made()";\n`);
    record('odd.out', 'lines', 'all.pl');
    fs.unlinkSync(at('gone.pl'));
    write('changed.pl', '# more\nsub f { 1 }\nf();\n');
    tool('dprofhtml', '-o', 'odd.html', 'odd.out');
    const page = await show(b, 'odd.html');
    const files = await page.evaluate(() => lineCosts.files.map((file) =>
        file.name));
    const name = (word) => files.find((file) => file.endsWith(word));
    await go(page, name('odd.pl'));
    const shown = await gutters(page);
    is(await page.evaluate(() => [window.pwned,
        document.querySelectorAll('.lines img, .lines script').length]), [null, 0]
        .map((v) => v ?? undefined), 'nothing of a source is run or made an element');
    const wanted = ['__FILE__;', 'sub f { 1 } f();', '__END__', ...ODD.split('\n').slice(1)];
    is(shown[4][4], wanted[3], '</script> is text');
    is(shown[5][4], wanted[4], 'entities are text');
    is(shown[6][4], 'U+202EdlrowU+202C \u05d0\u05d1 \\x1b[31m \\x00',
        'direction marks and control characters are shown as text');
    is([shown[7][4], shown[8][4]], ['\tone\ttwo', 'caf\u00e9 \u2603'], 'tabs and UTF-8 are kept');
    ok(shown[9][4].length < 3000 && /298,000 characters more/.test(shown[9][4]),
        'a long line is cut');
    await page.click('.r-line[data-line="9"] .code button');
    is((await gutters(page))[9][4].length, 300000, 'a long line is whole on demand');
    is(await page.evaluate(() => getComputedStyle(document.querySelector('.code')).direction),
        'ltr', 'lines begin at the left');
    await go(page, name('latin.pl'));
    is((await gutters(page))[2][4], 'f();   # caf\u00e9', 'Latin-1 is read');
    await go(page, name('crlf.pl'));
    is([(await gutters(page))[2][4], Object.keys(await gutters(page)).length], ['f();', 2],
        'CRLF ends lines');
    await go(page, name('gone.pl'));
    ok(/was not found/.test((await text(page, '#sources .bad'))[0]), 'a missing file is told');
    is([Object.keys(await gutters(page)), (await gutters(page))[2][0]], [['1', '2'], '1'],
        '... its lines are shown by number');
    await go(page, name('changed.pl'));
    ok(/has changed since/.test((await text(page, '#sources .bad'))[0]),
        'a changed file is told');
    is((await gutters(page))[2][4], '', '... without a text that may be another');
    const made = files.find((file) => /^\(eval/.test(file));
    await go(page, made);
    ok(/generated/.test((await text(page, '#sources .bad'))[0]),
        'code that was generated is said to be so');
    await quiet(page, 'odd sources');
}

// Compares two versions of a program.
async function two(b) {
    const changed = MAIN.replace('    my $n = shift;\n    return $n * 2;\n', '    my ($n) = @_;\n'
        + '    my @more = map { $_ + $n } 1 .. 9;\n    return $n * 2;\n').replace('# filler 3\n',
            '');
    for (const [name, source] of [['old', MAIN], ['new', changed]]) {
        write(`${name}/main.pl`, source);
        write('main.pl', source);
        record(`${name}.out`, 'lines', 'main.pl');
    }
    write('main.pl', 'another;\n');
    tool('dprofhtml', '--diff', '-m', 'real', '--symfs', 'old,new', '-o', 'two.html', 'old.out',
        'new.out');
    const page = await show(b, 'two.html');
    is((await text(page, '.files th button')).map((label) => label.replace(/ \W$/, '')),
        ['File', 'before', 'after', 'Difference', 'Statements'], 'two sides: files of both');
    await page.locator('.files td.left a', { hasText: 'main.pl' }).first().click();
    await settled(page);
    const rows = await page.evaluate(() => window.dprof.rows());
    is(rows.filter((row) => row.kind === 'gone').map((row) => row.line), [5, 27],
        'lines that are gone are shown');
    const lines = rows.filter((row) => row.kind === 'line').length;
    is(lines, changed.split('\n').length - 1, 'all lines of the second side are shown');
    is(await page.evaluate(() => [...openFile.before.to].flatMap((old, k) => (old ? [] : [k + 1]))),
        [5, 6], 'new lines are marked');
    write('align.pl', `use Devel::DProf::Profile;
sub content { local (@ARGV, $/) = @_; <> }
print join ",", @{ Devel::DProf::Profile::align_texts(map { content($_) } @ARGV) };\n`);
    const same = async (name, before, now) => {
        write('a.txt', before);
        write('b.txt', now);
        const cut = (words) => words.replace(/\n$/, '').split('\n');
        is((await page.evaluate(([x, y]) => [...alignLines(x, y)], [cut(before), cut(now)]))
            .join(), perl(['align.pl', 'a.txt', 'b.txt']).toString(), name);
    };
    await same('lines pair as in dprofdiff', MAIN, changed);
    await same('... of another program', OTHER + MAIN, MAIN.replace(/n/g, 'm') + OTHER);
    await same('... and of one with nothing in common', MAIN, 'a\nb\n');
    const first = rows.findIndex((row) => row.kind === 'gone');
    is(rows.slice(first, first + 2).map((row) => [row.kind, row.line]), [['gone', 5], ['line', 5]],
        'what is gone stands before what took its place');
    const json = (file) => new Map(JSON.parse(tool('dprofreport', '--format', 'json', '-s',
        'srcline', '-n', '--show-total-period', '-m', 'real', file).toString()).rows
        .map((row) => [row.srcline, row.self]));
    const [a, c] = [json('old.out'), json('new.out')], shown = await gutters(page);
    const wrong = Object.entries(shown).filter(([line]) => line > 6 && line < 23)
        .filter(([line, [before, after]]) => !near(seconds(before), a.get(`main.pl:${line - 1}`)
            || 0)
            || !near(seconds(after), c.get(`main.pl:${line}`) || 0));
    is(wrong, [], 'each line has the costs of both sides');
    const [, , change] = shown[7], by = c.get('main.pl:7') - a.get('main.pl:6');
    ok(near(seconds(change.replace(/^[+\u2212]/, '')), Math.abs(by)),
        'each line has the difference');
    const both = /main::leaf7 calls, self .* \u2192 /;
    ok((await text(page, '.r-sub')).some((words) => both.test(words)), 'subs have both');
    await quiet(page, 'two sides');
    tool('dprofhtml', '--diff', '-m', 'real', '--symfs', 'new', '-o', 'half.html', 'old.out',
        'new.out');
    const half = await show(b, 'half.html', { hash: '#src=main.pl' });
    ok(/paired by number/.test((await text(half, '#sources .bad'))[0]),
        'where a text is not there, that lines are paired by number is said');
    await quiet(half, 'one text of two');
    tool('dprofflame', '-m', 'calls,real', '-o', 'metrics.html', 'old.out');
    const metrics = await show(b, 'metrics.html', { hash: '#src=main.pl' });
    ok(!/before|after/.test((await text(metrics, '#sources')).join('').replace(/filler.*/s, '')),
        'two counters of one profile are no before and after');
    await quiet(metrics, 'two counters');
    write('main.pl', MAIN);
}

// Shows profiles that have less.
async function less(b) {
    record('plain.out', 'callsites=0', 'main.pl');
    record('sites.out', 'callsites=1', 'main.pl');
    record('count.out', 'lines=count', 'main.pl');
    for (const name of ['plain', 'sites', 'count']) tool('dprofhtml', '-o', `${name}.html`,
        `${name}.out`);
    const plain = await show(b, 'plain.html');
    ok(/record with lines/.test((await text(plain, '.sum'))[0]), 'a profile without lines is told');
    await go(plain, 'main.pl');
    is((await gutters(plain))[5].slice(0, 4), ['', '', '', ''], '... no costs of lines');
    const rows = await plain.evaluate(() => window.dprof.rows());
    is(rows.filter((row) => row.kind === 'sub').map((row) => row.name), ['main::leaf',
        'main::deep'], '... but of subs');
    is(rows.filter((row) => row.kind === 'caller' && row.line === 4).map((row) => row.name).sort(),
        ['(program)', 'main::deep'], '... with their callers');
    await quiet(plain, 'without lines');
    const sites = await show(b, 'sites.html', { hash: '#src=main.pl' });
    const calls = (await sites.evaluate(() => window.dprof.rows())).filter((row) =>
        row.kind === 'call' && row.line === 15);
    is(calls.map((row) => row.name).sort(), ['main::deep', 'main::leaf'],
        'callsites=1: calls by line');
    ok((await gutters(sites))[15][2] !== '' && (await gutters(sites))[15][1] === '',
        '... and what they cost');
    await quiet(sites, 'callsites');
    const count = await show(b, 'count.html', { hash: '#src=main.pl:5' });
    is((await gutters(count))[5].slice(0, 2), ['7', ''], 'lines=count: how often, and no times');
    await quiet(count, 'lines=count');
    perl(['-d:DProf=sample=100000,out=samples.out', 'main.pl'],
        { PERL_DPROF_CLOCK: 'counting:10000' });
    tool('dprofhtml', '-o', 'samples.html', 'samples.out');
    const samples = await show(b, 'samples.html');
    ok(/time in \d+ files?\./.test((await text(samples, '.sum'))[0]),
        'samples: no calls, no counts');
    await quiet(samples, 'samples');
    tool('dprofflame', '--no-source', '-o', 'none.html', 'main.out');
    const none = await show(b, 'none.html');
    is((await state(none)).source, false, 'dprofflame opens with the graph');
    await none.click('#source');
    await settled(none);
    await none.locator('.files td.left a', { hasText: 'main.pl' }).first().click();
    await settled(none);
    ok(/made without sources/.test((await text(none, '#sources .bad'))[0]),
        'a page made with --no-source says so');
    await quiet(none, '--no-source');
    write('f.folded', 'a;b 5\nc 3\n');
    tool('dprofhtml', '-o', 'folded.html', 'f.folded');
    const folded = await show(b, 'folded.html');
    is([(await state(folded)).source, await folded.isVisible('#source')], [false, false],
        'folded stacks have no source view');
    await quiet(folded, 'folded stacks');
}

async function looks(b) {
    const narrow = await show(b, 'main.html', { viewport: { width: 400, height: 700 },
        hash: '#src=main.pl:5' });
    is(await narrow.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true,
        'the page fits a phone');
    ok(await narrow.isVisible('.c-self') && !await narrow.isVisible('.lines .c-count'),
        '... with fewer columns');
    await quiet(narrow, 'a phone');
    const dark = await show(b, 'main.html', { colorScheme: 'dark', hash: '#src=main.pl:5' });
    const [back, ink] = await dark.evaluate(() => ['backgroundColor', 'color'].map((key) =>
        getComputedStyle(document.body)[key].match(/\d+/g).map(Number).reduce((a, c) => a + c)));
    ok(ink - back > 400, 'the dark theme is light on dark');
    await dark.emulateMedia({ media: 'print' });
    await dark.waitForTimeout(100);
    is(await dark.evaluate(() => document.querySelectorAll('.r-line').length),
        MAIN.split('\n').length - 1, 'all lines of the file are printed');
    await quiet(dark, 'dark and print');
}

async function large(b) {
    const use = [], call = [];
    for (let m = 1; m <= 500; m++) {
        const subs = Array.from({ length: 8 }, (_, s) => [
            `sub work_${s} {`, '    my ($n) = @_;', `    my $sum = ${m + s};`,
            `    $sum += $_ * ${s + 1} for 1 .. $n % 5 + 2;`,
            `    return $sum${s ? ` + work_${s - 1}($n)` : ''};`, '}', '',
        ].join('\n'));
        const head = `package Big::M${m};\nuse strict;\n${subs.join('')}1;\n__END__\n`;
        const lines = head.split('\n'), rest = [];
        while (lines.length + rest.length < 401) {
            const n = rest.length, word = ((m * 7919 + n * 104729) % 1e9).toString(36);
            rest.push(`line ${n} of ${m}: ${word} ${'some words about it, '.repeat(n % 3)}`);
        }
        write(`lib/Big/M${m}.pm`, lines.concat(rest).join('\n') + '\n');
        use.push(`use Big::M${m};`);
        call.push(`Big::M${m}::work_7(3);`);
    }
    write('big.pl', `${use.join('\n')}\n${call.join('\n')}\n`);
    record('big.out', 'lines', '-Ilib', 'big.pl');
    tool('dprofhtml', '-o', 'big.html', 'big.out');
    const bytes = fs.statSync(at('big.html')).size;
    ok(bytes <= 5e6, '500 modules of 400 lines: at most 5 MB');
    const page = await show(b, 'big.html'), ready = await page.evaluate(() => performance.now());
    const opened = await page.evaluate(async () => {
        const since = performance.now();
        await window.dprof.source('lib/Big/M250.pm', 300);
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        return performance.now() - since;
    });
    const rows = await page.evaluate(() => [document.querySelectorAll('.row').length,
        window.dprof.rows().length]);
    ok(rows[0] < 150 && rows[1] > 400, 'only the lines that can be seen are in the document');
    const since = Date.now();
    await page.fill('#q', 'of 499:');
    await page.keyboard.press('Enter');
    await settled(page);
    const found = await page.evaluate(() => sourceMatches.list.length);
    is((await text(page, '#found'))[0].replace(/^[\d,]+ of /, ''),
        `${found.toLocaleString('en-US')} lines in 1 file`,
        'a search covers all lines');
    const took = [ready, opened, Date.now() - since].map(Math.round);
    note(`${bytes} bytes; ready after ${took[0]} ms, a file open in ${took[1]} ms, `
        + `searched in ${took[2]} ms`);
    await quiet(page, 'a large program');
}

browser(async (b) => {
    write('main.pl', MAIN);
    write('Other.pm', OTHER);
    record('main.out', 'lines', 'main.pl');
    tool('dprofhtml', '-m', 'real', '-o', 'main.html', 'main.out');
    for (const part of [values, keys, searches, odd, two, less, looks, large]) await part(b);
    fs.rmSync(folder, { recursive: true });
});
