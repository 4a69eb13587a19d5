// What the browser tests share: a chromium, and TAP.
//
// playwright-core is looked for in DPROF_PLAYWRIGHT (a folder that holds node_modules), then as
// node does. A test is: const { browser, ok, is, done } = require('./lib.js').

'use strict';

const path = require('path');

let count = 0, failed = 0;

function ok(condition, name) {
    count++;
    if (!condition) failed++;
    const told = String(name).replace(/[#\r\n]/g, ' ');
    console.log(`${condition ? 'ok' : 'not ok'} ${count} - ${told}`);
    return !!condition;
}

function note(text) {
    for (const line of String(text).split('\n')) console.log('# ' + line);
}

function is(got, expected, name) {
    const same = JSON.stringify(got) === JSON.stringify(expected);
    ok(same, name);
    const told = (value) => {
        const text = String(JSON.stringify(value));
        return text.length > 400 ? text.slice(0, 400) + ' ...' : text;
    };
    if (!same) note(`     got: ${told(got)}\nexpected: ${told(expected)}`);
    return same;
}

function done() {
    console.log(`1..${count}`);
    if (failed) note(`${failed} of ${count} failed`);
    process.exitCode = failed ? 1 : 0;
}

function playwright() {
    const folder = process.env.DPROF_PLAYWRIGHT;
    const name = 'playwright-core';
    return require(folder ? path.join(path.resolve(folder), 'node_modules', name) : name);
}

// Calls body(browser) with a headless chromium, then ends it and the TAP.
async function browser(body) {
    const b = await playwright().chromium.launch({
        executablePath: process.env.DPROF_CHROMIUM || '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
    });
    try {
        await body(b);
    } catch (error) {
        ok(false, 'an exception');
        note(error.stack || error);
    }
    await b.close();
    done();
}

// Opens a page that collects its errors and every request beyond its own file: both must stay
// empty.
async function open(b, file, options = {}) {
    const page = await b.newPage({ viewport: { width: 1280, height: 800 }, ...options });
    page.errors = [];
    page.requests = [];
    page.on('pageerror', (error) => page.errors.push(String(error)));
    page.on('console', (message) => {
        if (message.type() === 'error') page.errors.push(message.text());
    });
    page.on('request', (request) => {
        if (!/^(?:file|data|blob):/.test(request.url())) page.requests.push(request.url());
    });
    await page.goto('file://' + path.resolve(file) + (options.hash || ''));
    return page;
}

module.exports = { browser, open, ok, is, note, done };
