// A picture of a page: node mkpicture.js PAGE.html HASH OUT.png [WIDTH HEIGHT].
// doc/source.png is one of examples/logreport.pl, recorded with lines; doc/spans.png is one of
// examples/shop.pl, recorded with detail=sql, with its phase `all customers`, and with details.

'use strict';

const { browser, open, ok } = require('./lib.js');
const [page, hash, out, width = '900', height = '420'] = process.argv.slice(2);

browser(async (b) => {
    const shown = await open(b, page, { hash, viewport: { width: +width, height: +height } });
    await shown.evaluate(() => window.dprof.ready);
    await shown.evaluate(() => document.activeElement.blur());
    await shown.screenshot({ path: out });
    ok(!shown.errors.length, out);
});
