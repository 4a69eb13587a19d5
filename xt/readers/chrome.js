// For chrome.t: prints the table of subs that speedscope shows of a file's first track, as JSON:
// { sub: [self, total] as it prints them }.
// node chrome.js SPEEDSCOPE FILE: the folder of npm's package, and a file of dprofexport

'use strict';

const fs = require('fs');
const http = require('http');
const path = require('path');
const { chromium } = require('playwright-core');

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css',
    '.wasm': 'application/wasm', '.woff2': 'font/woff2' };

// Serves speedscope, and the file as /profile.json.
function serve(folder, file) {
    const server = http.createServer((request, response) => {
        const name = decodeURIComponent(request.url.replace(/[?#].*/, ''));
        const from = name === '/profile.json' ? file
            : path.join(folder, 'dist/release', name === '/' ? 'index.html' : path.normalize(name));
        fs.readFile(from, (error, bytes) => {
            response.writeHead(error ? 404 : 200,
                { 'Content-Type': TYPES[path.extname(from)] || 'application/json' });
            response.end(error ? '' : bytes);
        });
    });
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

async function main(folder, file) {
    const server = await serve(folder, file);
    const browser = await chromium.launch({
        executablePath: process.env.DPROF_CHROMIUM || '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu'],
    });
    const page = await browser.newPage({ viewport: { width: 1600, height: 8000 } });
    const at = `http://127.0.0.1:${server.address().port}/`;
    await page.goto(`${at}#profileURL=${encodeURIComponent(at + 'profile.json')}`);
    await page.waitForFunction(() => /Time Order/.test(document.body.innerText)
        && !document.querySelector('progress'));
    await page.keyboard.press('3');
    await page.waitForFunction(() => document.querySelectorAll('table tr td').length > 0);
    const rows = await page.evaluate(() =>
        [...document.querySelectorAll('table tr')].map((row) =>
            [...row.querySelectorAll('td')].map((cell) => cell.innerText.trim()))
            .filter((cells) => cells.length >= 3 && /%/.test(cells[0])));
    console.log(JSON.stringify(Object.fromEntries(
        rows.map(([total, self, name]) => [name, [self, total]]))));
    await browser.close();
    server.close();
}

main(...process.argv.slice(2));
