// The heat map of time, of made-up trees of samples and slices, against a plain model: cells,
// ranges and what is selected by mouse and keys.

'use strict';

const { browser, open, ok, is, note } = require('./lib.js');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const top = path.join(__dirname, '..', '..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dprof-heat-'));
const libs = ['-I' + path.join(top, 'blib', 'lib'), '-I' + path.join(top, 'blib', 'arch')];
const flame = (...args) => execFileSync('perl', [...libs, path.join(top, 'bin', 'dprofflame'),
    ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
const at = (name) => path.join(folder, name);
const HZ = 10000000, UNIT = 25000;

const SUBS = ['My::a', 'My::b', 'My::c'];
const NODES = [['My::a'], ['My::a', 'My::b'], ['My::b'], ['My::c'], ['My::c', 'My::a']];

const header = (pid, slice, start) =>
    `#fOrTyTwO\n$hz=${HZ};\n$XS_VERSION='DProf 20261120.00';\n`
    + "$over_utime=0; $over_stime=0; $over_rtime=0; $over_tests=10000;\n"
    + `$dprof_format='tree 1'; $dprof_run='1.2.3'; $dprof_pid=${pid}; $dprof_tid=0;\n`
    + `$dprof_start=${start}; $dprof_script='made-up.pl';\n`
    + (slice ? `$dprof_slice=${slice};\n` : '');

// Writes a tree: real and CPU ticks of each node, and its stretches in units, or none. Returns own
// times as { names, from, to, cpu } in seconds since `start`.
function tree(file, head, values, stretches) {
    const sub = (name) => SUBS.indexOf(name) + 1, own = [];
    const lines = values.map(([real, cpu], k) => {
        let before = 0;
        const list = stretches ? stretches[k] : [],
            units = list.reduce((sum, [from, to]) => sum + to - from, 0);
        for (const [from, to] of list)
            own.push({ names: NODES[k], from: from * UNIT / HZ, to: to * UNIT / HZ,
                cpu: cpu * (to - from) / units / HZ });
        const when = list.map(([from, to]) => {
            const gap = from - before;
            before = to;
            return `${gap}+${to - from}`;
        });
        const key = when.length ? ` when=${when.join(',')}` : '';
        const id = sub(NODES[k].at(-1)), calls = stretches ? 0 : 7;
        return `= ${NODES[k].length} ${id} ${calls} ${cpu} 0 ${real} 0 0${key}`;
    });
    const sums = [0, 1].map((k) => values.reduce((sum, v) => sum + v[k], 0));
    const sampled = stretches ? "$dprof_unit='s'; $dprof_when=1;\n" : '';
    fs.writeFileSync(at(file), `${head}$rrun_utime=${sums[1]}; $rrun_stime=0; `
        + `$rrun_rtime=${sums[0]};\n${sampled}\nPART3\n`
        + SUBS.map((name, k) => `& ${k + 1} My ${name.slice(4)} made-up.pl:${k + 1}\n`).join('')
        + `= 0 0 0 0 0 0 0 0${stretches ? ` unit=${UNIT}` : ''}\n${lines.join('\n')}\n`);
    return own;
}

// A random tree of samples, of so many stretches one behind the other.
function samples(file, head, seed, n) {
    let s = seed, now = 0;
    const random = (most) => {
        s = (Math.imul(s, 1103515245) + 12345) >>> 0;
        return (s >>> 10) % most;
    };
    const stretches = NODES.map(() => []);
    for (let i = 0; i < n; i++) {
        const list = stretches[random(NODES.length)], from = now, to = now + 1 + random(9);
        if (list.length && list.at(-1)[1] === from) list.at(-1)[1] = to;
        else list.push([from, to]);
        now = to;
    }
    const values = stretches.map((list) => {
        const real = list.reduce((sum, [from, to]) => sum + to - from, 0) * UNIT;
        return [real, Math.floor(real * (random(100) / 100))];
    });
    return { own: tree(file, head, values, stretches), values, span: now * UNIT / HZ };
}

// Sub -> cells, as a plain way adds them up.
function cells(own, { from, step, n }, cpu) {
    const rows = new Map();
    for (const one of own) {
        const name = one.names.at(-1), length = one.to - one.from;
        if (!rows.has(name)) rows.set(name, new Array(n).fill(0));
        for (let k = 0; k < n; k++) {
            const begin = from + k * step,
                part = Math.min(one.to, begin + step) - Math.max(one.from, begin);
            if (part > 0) rows.get(name)[k] += cpu ? one.cpu * part / length : part;
        }
    }
    return rows;
}

async function page(b, name, hash) {
    const made = await open(b, at(name), { hash });
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

const map = (made) => made.evaluate(() => ({
    columns: heatMap.shown.columns,
    most: heatMap.shown.most,
    rows: heatMap.shown.rows.map(({ sub, total, cells: list }) =>
        [profile.names[sub], total, [...list]]),
}));

function differs({ columns, rows, most }, own, cpu) {
    const wanted = cells(own, columns, cpu);
    let largest = 0;
    for (const [name, total, list] of rows) {
        const row = wanted.get(name) || new Array(columns.n).fill(0);
        largest = Math.max(largest, ...row);
        if (Math.abs(total - row.reduce((a, v) => a + v, 0)) > 1e-6) return `${name}: ${total}`;
        const k = list.findIndex((v, i) => Math.abs(v - row[i]) > 1e-6);
        if (k >= 0) return `${name}, column ${k}: ${list[k]} for ${row[k]}`;
        wanted.delete(name);
    }
    if (Math.abs(largest - most) > 1e-6) return `the darkest has ${most} for ${largest}`;
    const rest = [...wanted].filter(([, row]) => row.some((v) => v > 1e-6));
    return rest.length ? `no row of ${rest[0][0]}` : '';
}

async function models(b) {
    for (const [seed, n] of [[1, 40], [2, 700], [3, 40000]]) {
        const { own, span } = samples('s.tree', header(7, 0, 1000.5), seed * 977, n);
        flame('-o', 's.html', 's.tree');
        for (const metric of ['cpu', 'real']) {
            const made = await page(b, 's.html', `#timeline=heat&metric=${metric}`);
            for (const [from, to] of [[0, span], [span * 0.31, span * 0.72],
                [span * 0.5, span * 0.501]]) {
                await made.evaluate(async ([a, z]) => {
                    lookAt([a, z]);
                    await timeline.settled;
                }, [from, to]);
                const wrong = differs(await map(made), own, metric === 'cpu');
                ok(!wrong, `${n} samples, ${metric}, ${from.toFixed(3)}-${to.toFixed(3)}: the cells`
                    + ` are those of a plain way ${wrong}`);
            }
            await quiet(made, `${n} samples, ${metric}`);
        }
    }
}

// What is selected has the parts of each frame's values.
async function ranges(b) {
    const { own, values, span } = samples('r.tree', header(7, 0, 1000.5), 4711, 900);
    flame('-o', 'r.html', 'r.tree');
    const made = await page(b, 'r.html');
    await made.keyboard.press('T');
    await made.evaluate(() => window.dprof.settled());
    await made.waitForFunction(() => timeline.canvas && heatMap.shown);
    ok(await made.evaluate(() => window.dprof.state().heat),
        'the time line of samples opens with the heat map');
    const { columns } = await map(made);
    const box = await (await made.$('#time .sheet > canvas')).boundingBox();
    const x = (second) => box.x + second / span * box.width;
    const settle = async () => {
        await made.evaluate(() => window.dprof.settled());
        await made.evaluate(() => window.dprof.settled());
    };
    const chosen = async () => {
        const [step] = (await made.evaluate(() => window.dprof.state())).chain;
        return step ? step.text.split('-').map(Number) : null;
    };
    await made.mouse.move(x(columns.step * 10.5), box.y + 60);
    await made.mouse.down();
    await made.mouse.move(x(columns.step * 15), box.y + 60);
    await made.mouse.move(x(columns.step * 20.5), box.y + 60);
    await made.mouse.up();
    await settle();
    const [from, to] = await chosen();
    is([from, to].map((t) => Math.round(t / columns.step)), [10, 21],
        'a drag selects whole columns');
    const wanted = new Map();
    for (const one of own) {
        const part = Math.min(one.to, to) - Math.max(one.from, from), key = one.names.join(';');
        const k = NODES.indexOf(one.names), all = own.filter(({ names }) => names === one.names)
            .reduce((sum, { from: a, to: z }) => sum + z - a, 0);
        if (part > 0) wanted.set(key, (wanted.get(key) || 0) + values[k][1] * part / all);
    }
    const frames = await made.evaluate(() => window.dprof.frames());
    const sum = [...wanted.values()].reduce((a, v) => a + v, 0);
    ok(Math.abs(frames[0].value - sum) < 2, `the graph is that of the range: ${frames[0].value} of `
        + sum);
    const c = frames.find(({ path: p }) => p === 'My::c');
    ok(c && Math.abs(c.value - (wanted.get('My::c') || 0) - (wanted.get('My::c;My::a') || 0)) < 2,
        '... for each frame');
    ok(await made.$$eval('#metric option', (list) => list.every(({ disabled }) => !disabled)),
        'all metrics have values in a range of samples');
    ok(await made.$eval('#time .picked', (node) => !node.hidden), 'the range is marked');

    // A cell
    const { y } = await (await made.$('#time .sheet > canvas')).boundingBox();
    await made.mouse.move(x(columns.step * 30.5), y + 25);
    ok(/ in .*, from /.test(await made.$eval('#tip', (node) => node.textContent)),
        'the tip has what a cell has');
    await made.mouse.click(x(columns.step * 30.5), y + 25);
    await settle();
    is((await chosen()).map((t) => Math.round(t / columns.step)), [30, 31],
        'a click selects the column');

    // Keys
    await made.focus('#time .sheet > canvas');
    await made.keyboard.press('Shift+ArrowRight');
    await settle();
    is((await chosen()).map((t) => Math.round(t / columns.step)), [30, 32],
        'Shift and the right arrow key take one column more');
    await made.keyboard.press('Shift+ArrowLeft');
    await made.keyboard.press('Shift+ArrowLeft');
    await settle();
    is(await chosen(), null, '... and the left one less, down to none');

    // The other view, and links
    await made.selectOption('#rows', 'calls');
    await made.evaluate(() => window.dprof.settled());
    ok(await made.evaluate(() => timeline.boxes.length > 0 && /timeline=1/.test(location.hash)),
        'the stacks are drawn in order of time, and the address says so');
    const hash = await made.evaluate(() => location.hash);
    const again = await page(b, 'r.html', hash);
    ok(await again.evaluate(() => !window.dprof.state().heat && timeline.boxes.length > 0),
        'a link leads to the same view');
    await quiet(again, 'the link');
    await quiet(made, 'ranges');
}

// Slices of two processes: some say what ran when, and those of calls do not.
async function slices(b) {
    const files = [], own = [];
    let start = 0;
    for (let k = 0; k < 5; k++) {
        const made = samples(`p7-${k}.tree`, header(7, k + 1, 1000.5 + start), 31 + k, 60);
        for (const one of made.own)
            own.push({ ...one, from: one.from + start, to: one.to + start });
        start += made.span;
        files.unshift(`p7-${k}.tree`);
    }
    for (let k = 0; k < 3; k++) {
        const values = NODES.map((_, i) => [(i + 1) * 10 * UNIT, (i + 1) * (k + 1) * UNIT]),
            span = 150 * UNIT / HZ;
        tree(`p8-${k}.tree`, header(8, k + 1, 1000.5 + k * span), values, null);
        values.forEach(([real, cpu], i) => own.push({ names: NODES[i], from: k * span,
            to: (k + 1) * span, cpu: cpu / HZ, real: real / HZ }));
        files.push(`p8-${k}.tree`);
    }
    flame('-f', '-o', 'sl.html', ...files);
    const made = await page(b, 'sl.html', '#timeline=heat&metric=cpu');
    is(await made.evaluate(() => timeline.lanes.map(({ pid }) => pid)), [7, 8],
        'the slices of a process are one lane');
    const wrong = differs(await map(made), own, true);
    ok(!wrong, `the cells of slices are those of a plain way ${wrong}`);
    const whole = await made.evaluate(async (z) => {
        const sum = await sumOf(z * 1.2, z * 1.9, 1);
        return sum.cpu.reduce((a, v) => a + v, 0);
    }, 150 * UNIT / HZ);
    ok(Math.abs(whole - 30 * UNIT / HZ) < 1e-6,
        `a range takes a slice that does not say what ran when as a whole: ${whole}`);
    await made.evaluate(async (z) => {
        chooseTime([z * 1.2, z * 1.9]);
        await window.dprof.settled();
        choosePart('process', profile.names.findIndex((name) => /^8 /.test(name)));
        await window.dprof.settled();
    }, 150 * UNIT / HZ);
    const [{ value }] = await made.evaluate(() => window.dprof.frames());
    ok(Math.abs(value - 30 * UNIT) < 2, `a process has its own part of a range: ${value}`);
    const again = await page(b, 'sl.html', await made.evaluate(() => location.hash));
    is((await again.evaluate(() => window.dprof.frames()))[0].value, value,
        '... and so has the link to it');
    await quiet(again, 'the link to a process');
    await quiet(made, 'slices');
}

browser(async (b) => {
    await models(b);
    await ranges(b);
    await slices(b);
    fs.rmSync(folder, { recursive: true, force: true });
    note('the heat map');
});
