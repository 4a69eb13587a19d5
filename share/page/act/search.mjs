// Searches subs.

import { redraw } from '../base/redraw.mjs';
import { compile, tally } from '../model/matches.mjs';
import { state } from '../model/profile.mjs';
import { remember } from './address.mjs';

export function search(text, match = state.match) {
    state.q = text;
    state.match = match;
    compile();
    tally();
    redraw.matches();
    remember();
}
