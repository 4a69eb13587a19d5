// Makes the picture of a page, as a reader sees it who has just opened it:
//     node picture.js PAGE.html PICTURE.png
// DPROF_PLAYWRIGHT and DPROF_CHROMIUM are those of xt/browser/lib.js.

'use strict';

const { browser, open } = require('../browser/lib.js');

const [, , page, picture] = process.argv;

browser(async (b) => {
    const opened = await open(b, page, { deviceScaleFactor: 1.5 });
    await opened.waitForTimeout(500);
    await opened.screenshot({ path: picture });
});
