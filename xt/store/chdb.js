// The engine of a new ClickHouse (chdb of npm, in this process) behind as much of its protocol as
// the store uses: node chdb.js FOLDER-OF-PACKAGES DATA. Prints its port, and ends with its input.
'use strict';
const http = require('http');
const zlib = require('zlib');
const { Session } = require(process.argv[2] + '/node_modules/chdb');

const session = new Session(process.argv[3]);

// A statement is a string to chdb, and has bytes only as escapes.
function escaped(bytes) {
    return bytes.toString('latin1').replace(/[\x80-\xff]/g,
        c => '\\x' + c.charCodeAt(0).toString(16));
}

async function answer(url, body) {
    const database = url.searchParams.get('database');
    if (database)
        await session.queryAsync('USE ' + database);
    const insert = /^INSERT INTO (\w+) \(([^)]*)\) FORMAT (\w+)$/.exec(
        url.searchParams.get('query') || '');
    if (!insert)
        return (await session.queryAsync(escaped(body), { format: 'TabSeparated' })).bytes();
    await session.insert({ table: insert[1], columns: insert[2].split(', '), values: body,
        format: insert[3] });
    return '';
}

let last = Promise.resolve();
const server = http.createServer((request, response) => {
    const parts = [];
    request.on('data', part => parts.push(part));
    request.on('end', () => {
        let body = Buffer.concat(parts);
        if (request.headers['content-encoding'] === 'gzip')
            body = zlib.gunzipSync(body);
        const url = new URL(request.url, 'http://localhost');
        last = last.then(() => answer(url, body)).then(
            bytes => response.end(bytes && Buffer.from(bytes)),
            error => {
                response.statusCode = 500;
                response.end(String(error.message));
            });
    });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
