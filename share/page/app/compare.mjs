// Compares with a second profile, dropped onto the page or chosen: the page becomes the difference
// of its own profile and that one. No part of the file is executed or read as HTML, and no data
// leave the page.

import { $, say } from '../base/elements.mjs';
import { work } from '../base/redraw.mjs';
import { short, visibly } from '../base/words.mjs';
import { lineCosts } from '../model/lines.mjs';
import { begin, profile, state } from '../model/profile.mjs';
import { scene } from '../model/scene.mjs';
import { readProfile, unite } from '../model/unite.mjs';
import { ink } from '../draw/colours.mjs';
import { cursor } from '../draw/pane.mjs';
import { MANY } from '../act/chain.mjs';
import { point } from '../act/cursor.mjs';
import { sourceMatches } from '../view/found.mjs';
import { sourceView } from '../view/source.mjs';
import { furnish, restore } from './restore.mjs';

// `ready` is resolved when each given file has been compared or refused.
export const comparing = { ready: Promise.resolve() };

// Starts again with the difference as the profile of the page.
function adopt(united) {
    point(-1);
    Object.assign(state, profile.initial);
    scene.tree = lineCosts.files = null;
    ink.theme = '';
    Object.assign(cursor, { frame: -1, hover: -1, keys: false });
    $('menu').hidden = true;
    begin(united, { lines: false, times: false });
    $('title').textContent = document.title = profile.facts.title;
    try {
        history.replaceState({ dprof: 0 }, '', location.href.replace(/#.*/s, ''));
    } catch (error) {
        location.hash = '';
    }
    furnish();
    restore(true);
    $('spoken').textContent = `Compared: ${profile.facts.title}`;
}

async function compareWith(list) {
    const [file] = list, name = visibly(short(file.name, 120));
    let united;
    if (file.size > 1e6 || profile.tree.n >= MANY) {
        $('busy').textContent = `Comparing with ${name}\u2026`;
        $('busy').hidden = false;
        await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
    }
    try {
        if (list.length > 1)
            throw new Error(`there are ${list.length} files, and one is compared at a time`);
        if (profile.diff)
            throw new Error(
                'this page has two sides already'
                + (profile.facts.isDropped ? '; load it again for another comparison' : ''),
            );
        united = unite(await readProfile(file), name);
        // Pending work of the source view is cancelled first.
        sourceView.turn++;
        sourceMatches.turn++;
        await Promise.allSettled([sourceView.ready, sourceMatches.ready, work.busy]);
        adopt(united);
    } catch (error) {
        if (united) throw error;
        const why = error instanceof TypeError ? 'its facts do not fit' : error.message;
        say(`${name} is not compared: ${why.replace(/\.$/, '')}.`);
    } finally {
        $('busy').hidden = true;
    }
}

// Compares files one after the other.
export function compare(files) {
    const list = [...files];
    if (list.length)
        comparing.ready = comparing.ready.catch(() => {}).then(() => compareWith(list));
}

export function wireCompare() {
    const has = (event) => !!event.dataTransfer && [...event.dataTransfer.types].includes('Files'),
        over = (event) => {
            if (!has(event)) return;
            event.preventDefault();
            event.dataTransfer.dropEffect = 'copy';
            $('drop').hidden = false;
        };
    $('compare').onclick = () => $('other').click();
    $('other').onchange = () => {
        compare($('other').files);
        $('other').value = '';
    };
    addEventListener('dragenter', over);
    addEventListener('dragover', over);
    addEventListener('dragleave', (event) => {
        if (!event.relatedTarget) $('drop').hidden = true;
    });
    addEventListener('drop', (event) => {
        $('drop').hidden = true;
        if (!has(event)) return;
        event.preventDefault();
        compare(event.dataTransfer.files);
    });
}
