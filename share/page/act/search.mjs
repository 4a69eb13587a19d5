// Searches subs, and chooses the kind of spans whose stacks have colours.

import { redraw } from '../base/redraw.mjs';
import { compile, tally } from '../model/matches.mjs';
import { state } from '../model/profile.mjs';
import { light } from '../model/scene.mjs';
import { remember } from './address.mjs';

export function search(text, match = state.match) {
    state.q = text;
    state.match = match;
    compile();
    tally();
    redraw.matches();
    remember();
}

export function chooseKind(kind) {
    state.kind = kind;
    light();
    tally();
    redraw.matches();
    remember();
}
