// A program that the pusher of Pyroscope profiles and sends: node push.js ADDRESS
'use strict';

const Pyroscope = require('@pyroscope/nodejs').default;

function work(ms) {
    const end = process.cpuUsage().user + ms * 1000;
    let x = 0;
    while (process.cpuUsage().user < end) {
        for (let i = 0; i < 10000; i++) x += Math.sqrt(i);
    }
    return x;
}

async function main() {
    Pyroscope.init({
        serverAddress: process.argv[2], appName: 'shop.web', tags: { region: 'eu' },
        basicAuthUser: 'me', basicAuthPassword: 'secret', tenantID: 'team-a',
        wall: { collectCpuTime: true, samplingIntervalMicros: 1000 },
    });
    Pyroscope.startWallProfiling();
    work(200);
    await Pyroscope.stopWallProfiling();
}

main();
