// Prints what npm's speedscope shows of each profile of a file, for speedscope.t and chrome.t.
// `node speedscope.js FILE PICTURE` prints JSON: { shown: [{ name, rows: [[name, total, self], ...]
// }, ...], errors }. A file of another format is one profile without a name. PICTURE is a picture
// of the last profile, in order of time.

'use strict';

const fs = require('fs');
const http = require('http');
const path = require('path');

const release = path.join(path.dirname(require.resolve('speedscope/package.json')),
    'dist', 'release');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css',
    '.json': 'application/json', '.wasm': 'application/wasm' };

// The page, and beside it the file.
function serve(file) {
    return http.createServer((request, response) => {
        const name = path.basename(new URL(request.url, 'http://x/').pathname);
        const from = name === 'profile.json' ? file : path.join(release, name);
        fs.readFile(from, (error, bytes) => {
            response.writeHead(error ? 404 : 200,
                { 'Content-Type': types[path.extname(name)] || 'application/octet-stream' });
            response.end(error ? '' : bytes);
        });
    });
}

// The rows of the table of subs, which has its head in another one; undefined while there is none.
function rowsOfPage() {
    const rows = [...document.querySelectorAll('table tr')].map((tr) =>
        [...tr.querySelectorAll('td')].map((td) => td.textContent));
    const subs = rows.filter((cells) => cells.length === 3 && cells[0].endsWith(')'));
    return subs.length ? subs.map(([total, self, name]) => [name, total, self]) : undefined;
}

async function look(file, picture) {
    const { chromium } = require('playwright-core');
    const server = serve(file);
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
    const base = `http://127.0.0.1:${server.address().port}/`;
    const profiles = JSON.parse(fs.readFileSync(file, 'utf8')).profiles || [{ name: '' }];
    const names = profiles.map((p) => p.name);
    const browser = await chromium.launch({
        executablePath: process.env.DPROF_CHROMIUM || '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu'],
    });
    const page = await browser.newPage({ viewport: { width: 1000, height: 2000 } });
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(`${base}index.html#profileURL=${encodeURIComponent(base + 'profile.json')}`);
    const shown = [];
    await page.waitForFunction(() => /Time Order/.test(document.body.innerText)
        && !document.querySelector('progress'));
    for (const [k, name] of names.entries()) {
        const title = names.length > 1 ? `${name} (${k + 1}/${names.length})` : name;
        await page.waitForFunction((t) => document.body.innerText.includes(t), title);
        await page.keyboard.press('3');
        await page.waitForFunction(rowsOfPage);
        shown.push({ name, rows: await page.evaluate(rowsOfPage) });
        await page.keyboard.press('1');
        if (k + 1 < names.length) await page.keyboard.press('n');
    }
    await page.setViewportSize({ width: 900, height: 300 });
    await page.evaluate(() => new Promise((drawn) =>
        requestAnimationFrame(() => requestAnimationFrame(drawn))));
    await page.screenshot({ path: picture });
    console.log(JSON.stringify({ shown, errors }));
    await browser.close();
    server.close();
}

look(...process.argv.slice(2));
