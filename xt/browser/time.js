// The time line, of made-up traces, against a plain model: calls and when they ran, ranges, lanes.
// node xt/browser/time.js large: a trace of ten million marks, and times.

'use strict';

const { browser, open, ok, is, note } = require('./lib.js');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const top = path.join(__dirname, '..', '..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dprof-tmln-'));
const libs = ['-I' + path.join(top, 'blib', 'lib'), '-I' + path.join(top, 'blib', 'arch')];
const flame = (...args) => execFileSync('perl', [...libs, path.join(top, 'bin', 'dprofflame'),
    ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
const at = (name) => path.join(folder, name);
const HZ = 10000000;

// Writes a random trace, and returns its calls as { names, from, to } and its own times as
// { names, from, to, cpu }, in ticks.
function trace(file, seed, most, variables = '') {
    let s = seed, now = 0;
    const random = (n) => {
        s = (Math.imul(s, 1103515245) + 12345) >>> 0;
        return (s >>> 10) % n;
    };
    const lines = [], calls = [], own = [], stack = [], defined = new Set();
    const pass = () => {
        const real = random(5) ? 1 + random(2000) : 0, cpu = random(3) ? real : random(real + 1);
        if (real || cpu) lines.push(`@ ${cpu} 0 ${real}`);
        own.push({ names: stack.map((c) => c.name), from: now, to: now + real, cpu });
        now += real;
    };
    for (let k = 0; k < most || stack.length; k++) {
        pass();
        if (stack.length && (k >= most || random(2) || stack.length > 12)) {
            const { name, number, from } = stack[stack.length - 1];
            lines.push(`- ${number}`);
            calls.push({ names: stack.map((c) => c.name), from, to: now });
            stack.pop();
            if (!name) throw new Error('a call without a name');
        } else {
            const n = 1 + random(6), name = `My::s${n}`, number = n.toString(16);
            if (!defined.has(n)) lines.push(`& ${number} My s${n}`);
            defined.add(n);
            lines.push(`+ ${number}`);
            stack.push({ name, number, from: now });
        }
    }
    fs.writeFileSync(at(file), `#fOrTyTwO\n$hz=${HZ};\n$XS_VERSION='DProf 20261120.00';\n`
        + '# All values are given in HZ\n$over_utime=0; $over_stime=0; $over_rtime=0;\n'
        + `$over_tests=10000;\n$dprof_format='trace 1';\n${variables}`
        + `$rrun_utime=0; $rrun_stime=0; $rrun_rtime=${now};\n\nPART2\n`
        + lines.join('\n') + '\n');
    return { calls, own, end: now };
}

// Returns path -> [real, cpu, calls] within a range of ticks, as a plain way computes it.
function within({ calls, own }, from, to) {
    const sums = new Map();
    const add = (names, k, v) => {
        const key = names.join(';');
        if (!sums.has(key)) sums.set(key, [0, 0, 0]);
        sums.get(key)[k] += v;
    };
    for (const { names, from: a, to: z, cpu } of own) {
        const part = Math.min(z, to) - Math.max(a, from);
        if (part > 0) {
            add(names, 0, part);
            add(names, 1, cpu * part / (z - a));
        }
    }
    for (const { names, from: a } of calls) if (a >= from && a < to) add(names, 2, 1);
    return sums;
}

async function page(b, name, hash = '') {
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

const sumsOf = (made, from, to) => made.evaluate(async ([a, z]) => {
    const sum = await sumOf(a, z), list = [];
    for (let i = 0; i < profile.tree.n; i++) if (sum.real[i] || sum.cpu[i] || sum.calls[i])
        list.push([profile.tree.path(i).map((n) => profile.names[n]).join(';'), sum.real[i],
            sum.cpu[i],
            sum.calls[i]]);
    return list;
}, [from, to]);

function differs(got, wanted) {
    const list = new Map(got.map(([name, ...v]) => [name, v]));
    for (const [name, v] of wanted) {
        const other = list.get(name) || [0, 0, 0];
        if (Math.abs(other[0] - v[0] / HZ) > 1e-9 || Math.abs(other[1] - v[1] / HZ) > 1e-9
            || other[2] !== v[2]) return `${name}: ${other} for ${v}`;
        list.delete(name);
    }
    const rest = [...list].filter(([, v]) => Math.abs(v[0]) + Math.abs(v[1]) > 1e-9 || v[2]);
    return rest.length ? `too many: ${rest[0]}` : '';
}

async function models(b) {
    let ranges = 0, boxes = 0;
    for (let seed = 1; seed <= 4; seed++) {
        const model = trace('t.out', seed * 977, seed === 4 ? 200000 : 300);
        flame('-o', 't.html', 't.out');
        const made = await page(b, 't.html', '#timeline=1');
        const { end } = model, spans = [[0, end], [end * 0.3, end * 0.6], [end * 0.9, end],
            [end * 0.41, end * 0.410003]];
        for (const [from, to] of spans) {
            const wrong = differs(await sumsOf(made, from / HZ, to / HZ), within(model, from, to));
            if (!wrong) ranges++;
            else note(`${seed} ${from}-${to}: ${wrong}`);
        }
        // What is drawn in a short range is each call that reaches into it.
        const [from, to] = [end * 0.5, end * 0.5 + (seed === 4 ? 4000 : end * 0.1)];
        const drawn = await made.evaluate(async ([a, z]) => {
            lookAt([a, z]);
            await timeline.settled;
            timeline.scroll.style.flex = 'none';
            timeline.scroll.style.height = '900px';
            paintTimes();
            await timeline.settled;
            return [timeline.exact, timeline.boxes.map((box) => [profile.tree.path(box.frame)
                .map((n) => profile.names[n]).join(';'), Math.round(box.from * 1e7),
            Math.round(box.to * 1e7), box.x, box.w]), timeline.wide, timeline.view];
        }, [from / HZ, to / HZ]);
        const scale = drawn[2] / (drawn[3][1] - drawn[3][0]);
        const wanted = model.calls.filter((c) => (c.to - c.from) / HZ * scale >= 0.75
            && c.to / HZ > drawn[3][0] && c.from / HZ < drawn[3][1]);
        const keys = new Set(drawn[1].map(([name, a, z]) => `${name} ${a} ${z}`));
        const missing = wanted.filter((c) => !keys.has(`${c.names.join(';')} ${c.from} ${c.to}`));
        const off = drawn[1].filter(([, a, z, x, w]) => {
            const left = Math.max(0, (a / HZ - drawn[3][0]) * scale);
            const right = Math.min(drawn[2], (z / HZ - drawn[3][0]) * scale);
            return Math.abs(x - left) > 0.01 || Math.abs(w - (right - left)) > 0.01;
        });
        if (drawn[0] && wanted.length && !missing.length && !off.length) boxes++;
        else note(JSON.stringify([seed, drawn[0], wanted.length, missing.length, off.length]));
        await quiet(made, `trace ${seed}`);
    }
    is(ranges, 16, 'ranges have what a plain way adds up, over chunks as well');
    is(boxes, 4, 'each call that is wide enough is drawn where it ran');
}

async function ways(b) {
    const model = trace('w.out', 4711, 400);
    flame('-o', 'w.html', 'w.out');
    const made = await page(b, 'w.html');
    ok(await made.$eval('#times', (node) => !node.hidden), 'the page of a trace has a time line');
    ok(await made.$eval('#time', (node) => node.hidden), '... which it opens when asked to');
    await made.keyboard.press('T');
    await made.evaluate(() => window.dprof.settled());
    await made.waitForFunction(() => timeline && timeline.canvas && timeline.boxes.length);
    const area = await made.$eval('#time .sheet > canvas', (node) => {
        const { left, top: y, width } = node.getBoundingClientRect();
        return { left, top: y, width };
    });
    const drag = async (from, to, y) => {
        await made.mouse.move(area.left + from * area.width, y);
        await made.mouse.down();
        await made.mouse.move(area.left + (from + to) / 2 * area.width, y);
        await made.mouse.move(area.left + to * area.width, y);
        await made.mouse.up();
        await made.evaluate(() => window.dprof.settled());
        await made.evaluate(() => window.dprof.settled());
    };
    await drag(0.25, 0.75, area.top + 60);
    const [step] = (await made.evaluate(() => window.dprof.state())).chain;
    const [from, to] = step.text.split('-').map(Number);
    const span = model.end / HZ;
    ok(step.act === 'time' && Math.abs(from / span - 0.25) < 0.01
        && Math.abs(to / span - 0.75) < 0.01,
        'a drag chooses a range');
    const wanted = within(model, from * HZ, to * HZ), name = 'My::s1';
    const whole = [...wanted.values()].reduce((a, v) => a + v[1], 0);
    await made.evaluate(() => turn('metric', profile.key('cpu')));
    const frames = await made.evaluate(() => window.dprof.frames());
    const hz = await made.evaluate(() => metric().hz);
    ok(Math.abs(frames[0].value / hz - whole / HZ) < 1e-6, 'the graph is that of the range');
    const table = await made.evaluate(
        (sub) => subs().self[0][profile.names.indexOf(sub)] / metric().hz,
        name);
    const own = [...wanted].filter(([key]) => key.split(';').pop() === name)
        .reduce((a, [, v]) => a + v[1], 0);
    ok(Math.abs(table - own / HZ) < 1e-6, '... and so is the table');
    is(await made.$$eval('#chips .chip', (list) => list.length), 1, '... and a chip says so');
    ok(await made.$eval('#time .picked', (node) => !node.hidden), '... it is marked');
    is(await made.evaluate(() => [...$('metric').options].filter((o) => !o.disabled)
        .map((o) => profile.metrics[o.value].key).sort()), ['calls', 'cpu', 'real'],
    'metrics that a range does not have cannot be chosen');
    await made.evaluate(() => new Promise((done) => { setTimeout(done, 200); }));
    await made.reload();
    await made.evaluate(() => window.dprof.ready);
    await made.waitForFunction(() => profile.ranges.size === 1 && timeline.canvas);
    const again = await made.evaluate(() => [window.dprof.frames()[0].value, state.time]);
    ok(Math.abs(again[0] / hz - whole / HZ) < 1e-6 && again[1], '... and in the link');
    await made.click('.chip');
    is((await made.evaluate(() => window.dprof.state())).chain, [], 'the chip takes it away');
    const view = () => made.evaluate(() => timeline.view.map((v) => v / timeline.span));
    await made.mouse.move(area.left + area.width / 2, area.top + 60);
    await made.keyboard.down('Control');
    await made.mouse.wheel(0, -300);
    await made.keyboard.up('Control');
    const near = await view();
    ok(near[1] - near[0] < 0.7 && near[0] < 0.5 && near[1] > 0.5, 'Ctrl and the wheel zoom');
    await made.focus('#time .sheet > canvas');
    await made.keyboard.press('ArrowRight');
    ok((await view())[0] > near[0], 'an arrow key moves');
    const ruler = await made.$eval('#time .ruler', (node) => node.getBoundingClientRect().top + 10);
    const before = await view();
    await drag(0.5, 0.7, ruler);
    ok((await view())[0] < before[0], 'a drag of the ruler moves');
    await made.keyboard.press('0');
    is(await view(), [0, 1], '0 shows all of it');
    const box = await made.evaluate(() =>
        timeline.boxes.find((one) => one.depth === 1 && one.w > 30));
    await made.mouse.move(area.left + box.x + box.w / 2, area.top + box.y + 5);
    ok(/My::s\d/.test(await made.$eval('#tip', (node) => node.textContent)),
        'a call tells of itself');
    await made.mouse.dblclick(area.left + box.x + box.w / 2, area.top + box.y + 5);
    const closer = await made.evaluate(() => timeline.view);
    ok(Math.abs(closer[0] - box.from) < 1e-6 && Math.abs(closer[1] - box.to) < 1e-6,
        'a double click zooms to it');
    await quiet(made, 'ways');
}

// More chunks than are kept: those in view are, whichever way it moves.
async function kept(b) {
    trace('k.out', 99, 200000);
    flame('-o', 'k.html', 'k.out');
    const made = await page(b, 'k.html', '#timeline=1');
    const count = await made.evaluate(async () => {
        // Chunks of one lane, many times over.
        const [lane] = timeline.lanes, { chunks } = lane, length = lane.end;
        const copies = Math.ceil(100 / chunks.length);
        lane.chunks = Array.from({ length: copies }, (_, k) => chunks.map((chunk) => ({ ...chunk,
            steps: null, at: chunk.at + k * length, end: chunk.end + k * length,
            begins: chunk.begins.map((from) => from + k * length) }))).flat();
        timeline.kept.clear();
        lane.end *= copies;
        timeline.span *= copies;
        for (const part of [0.9, 0.7, 0.5, 0.45, 0.42, 0.3, 0.1, 0.6]) {
            lookAt([timeline.span * part, timeline.span * (part + 0.08)]);
            await timeline.settled;
        }
        return [lane.chunks.length, timeline.kept.size, timeline.boxes.length > 0];
    });
    ok(count[0] >= 100 && count[1] <= 64 && count[2], 'a hundred chunks: the last ones are kept');
    await quiet(made, 'kept');
}

async function several(b) {
    const names = (pid, start) => `$dprof_pid=${pid};\n$dprof_start='${start}';\n`;
    const parent = trace('p.out', 31, 500, names(100, '1700000000.000000000'));
    const child = trace('p.out.101', 41, 300, names(101, '1700000000.010000000'));
    flame('-o', 'p.html', 'p.out', 'p.out.101');
    const made = await page(b, 'p.html', '#timeline=1');
    is(await made.evaluate(() => timeline.lanes.map((lane) => [lane.pid, lane.from])),
        [[100, 0], [101, 0.01]], 'processes are lanes, which begin when they did');
    const sum = within(child, 0, child.end), all = within(parent, 0, parent.end);
    for (const [name, v] of sum) {
        const old = all.get(name) || [0, 0, 0];
        all.set(name, old.map((x, k) => x + v[k]));
    }
    is(differs(await sumsOf(made, 0, 1e9), all), '', 'a range is that of all lanes');
    await made.waitForSelector('#part');
    const parts = await made.$$eval('#part option', (list) => list.map((o) => o.textContent));
    is(parts.slice(0, 3), ['all processes and phases', 'process 100', 'process 101'],
        'processes can be chosen');
    await made.selectOption('#part', '2');
    await made.evaluate(() => window.dprof.settled());
    await made.evaluate(() => window.dprof.settled());
    const of = [...sum.values()].reduce((a, v) => a + v[1], 0);
    const left = await made.evaluate(() => scene.all[0][0] / metric().hz);
    ok(Math.abs(left - of / HZ) < 1e-4, 'the graph is that of the process');
    ok(/of process 101/.test(await made.$eval('#chips', (node) => node.textContent)),
        '... and the chip says so');
    await quiet(made, 'processes');

    fs.writeFileSync(at('f.folded'), 'a;b 3\n');
    for (const [what, ...args] of [['folded stacks', 'f.folded'],
        ['a part', '--time', '0%-50%', 'w.out'], ['two sides', '--diff', 'w.out', 'p.out'],
        ['--no-timeline', '--no-timeline', 'w.out']]) {
        flame('-o', 'n.html', ...args);
        const none = await page(b, 'n.html', '#timeline=1');
        ok(await none.$eval('#times', (node) => node.hidden)
            && await none.$eval('#time', (node) => node.hidden), `${what}: no time line`);
        await quiet(none, what);
    }
}

// Ten million marks: what it takes to write and to open them. Times are printed, never judged.
async function large(b) {
    const gen = at('gen-marks');
    execFileSync(process.env.CC || 'cc',
        ['-O2', '-o', gen, path.join(top, 'bench', 'gen-marks.c')]);
    const out = fs.openSync(at('large.out'), 'w');
    execFileSync(gen, ['10000000'], { stdio: ['ignore', out, 'inherit'] });
    fs.closeSync(out);
    const begun = Date.now();
    flame('-o', 'large.html', 'large.out');
    const written = Date.now() - begun, { size } = fs.statSync(at('large.html'));
    const made = await open(b, at('large.html'));
    await made.evaluate(() => window.dprof.ready);
    const times = await made.evaluate(async () => {
        const list = { page: performance.now() }, time = async (name, act) => {
            const from = performance.now();
            act();
            await window.dprof.settled();
            list[name] = performance.now() - from;
        };
        await time('all', () => openTimes(true));
        await time('tenth', () => lookAt([timeline.span * 0.3, timeline.span * 0.4]));
        await time('close', () => lookAt([timeline.span * 0.3, timeline.span * 0.3001]));
        await time('range', () => chooseTime([timeline.span * 0.1, timeline.span * 0.77]));
        return list;
    });
    const marks = await made.evaluate(() =>
        timeline.lanes[0].chunks.reduce((sum, c) => sum + c.n, 0));
    is(marks, 10000000, 'no mark is left out');
    note(`10 million marks: ${written} ms to write, ${size} bytes; ms in the browser: ${
        JSON.stringify(times, (_, v) => (typeof v === 'number' ? Math.round(v) : v))}`);
    await quiet(made, 'large');
}

browser(async (b) => {
    for (const part of [models, ways, kept, several, large]) {
        const only = process.argv.slice(2);
        if (only.length ? only.includes(part.name) : part !== large) await part(b);
    }
}).then(() => fs.rmSync(folder, { recursive: true }));
