// For pprof.t: prints JSON.
// node pprof.js decode FILE        what npm's pprof-format reads: of each sub, what it has itself
// node pprof.js look URL PICTURE   the text of a page in chromium, and a picture of it

'use strict';

const fs = require('fs');
const zlib = require('zlib');

function decode(file) {
    const { Profile } = require('pprof-format');
    const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(file)));
    const text = (n) => profile.stringTable.strings[Number(n)];
    const byId = (list) => new Map(list.map((one) => [String(one.id), one]));
    const [locations, functions] = [byId(profile.location), byId(profile.function)];
    const self = {};
    for (const sample of profile.sample) {
        const leaf = locations.get(String(sample.locationId[0]));
        const name = text(functions.get(String(leaf.line[0].functionId)).name);
        const to = self[name] = self[name] || sample.value.map(() => 0n);
        sample.value.forEach((value, k) => { to[k] += BigInt(value); });
    }
    for (const name of Object.keys(self)) self[name] = self[name].map(String);
    const types = profile.sampleType.map((type) => text(type.type) + '/' + text(type.unit));
    const again = Profile.decode(profile.encode());
    const same = again.sample.length === profile.sample.length;
    console.log(JSON.stringify({ types, self, again: same }));
}

async function look(url, picture) {
    const { chromium } = require('playwright-core');
    const browser = await chromium.launch({
        executablePath: process.env.DPROF_CHROMIUM || '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu'],
    });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(url);
    await page.waitForLoadState('load');
    const text = await page.evaluate(() => document.body.innerText);
    const titles = await page.evaluate(() =>
        [...document.querySelectorAll('title, [title]')].map((e) => e.title || e.textContent));
    await page.screenshot({ path: picture });
    console.log(JSON.stringify({ text, titles, errors }));
    await browser.close();
}

const [what, ...args] = process.argv.slice(2);
(what === 'decode' ? decode : look)(...args);
