// Finds the subs that match the search.

import { profile, state } from './profile.mjs';
import { scene } from './scene.mjs';
import { stacksOfKind, wantedSpans } from './spans.mjs';

export const matches = { names: null, test: null, mark: null, error: '', at: -1 };

// Compiles the search, and matches each name once; frames are found by name. A bad expression keeps
// the last good one.
export function compile() {
    matches.error = '';
    if (state.q === '') {
        matches.names = matches.test = matches.mark = null;
        return;
    }
    try {
        const test = new RegExp(state.q, state.match ? '' : 'i');
        matches.test = (text) => test.test(text);
        matches.mark = new RegExp(test.source, test.flags + 'g');
        matches.names = Uint8Array.from(profile.names, (name) => (test.test(name) ? 1 : 0));
    } catch (error) {
        matches.error = `Not a usable regex: ${error.message.replace(/^.*: /s, '')}`;
    }
}

// Counts the matching frames, and computes their share, in which a match below a match counts once.
// The same stacks match with and without callers. Frames that the kind of spans makes grey do not
// match; without a search, the spans of that kind do.
export function tally() {
    matches.at = -1;
    matches.list = null;
    const wanted = matches.names || wantedSpans();
    if (!wanted) return;
    const { base: { n, name, end }, all } = scene,
        lit = stacksOfKind(scene.base),
        sums = all.map(() => 0);
    let frames = 0, until = 0;
    for (let i = 0; i < n; i++) {
        if (!wanted[name[i]] || (lit && !lit[i])) continue;
        frames++;
        if (i < until) continue;
        until = end[i];
        for (let s = 0; s < sums.length; s++) sums[s] += all[s][i];
    }
    matches.frames = frames;
    matches.shares = sums.map((v, s) => (all[s][0] > 0 ? v / all[s][0] : 0));
}
