// What is left of the profile, step by step.

import { packageOf, short } from '../base/words.mjs';
import { PART_KIND, PHASE_KIND, fold, onlyWith, within, without } from '../data/tree.mjs';
import { hasTimes, profile, state, subNamed } from './profile.mjs';
import { inRange, rangeInWords } from './times.mjs';

// A step that chooses a process or a phase: it comes before all others.
const stepOfPart = (noun) => ({
    word: noun,
    noun,
    told: (text) => partInWords(text),
    make: (_, text, k) => chosenParts(k),
    fits: (text, before) =>
        profile.whole
        && lane(noun, text) >= 0
        && before.every(({ act }) => LANES[act] && act !== noun),
});

const stepOfSub = (word, make) => ({
    word,
    noun: 'sub',
    told: (text) => short(text, 60),
    make,
    fits: (text) => subNamed(text) >= 0,
});

// What may be done to a tree before it is shown, step by step. make: returns the tree after the
// step; word, told: what a chip says of the step and of its text; noun: what the text names; fits:
// can the step of a link be done, after those before? What ran where and when comes first.
export const STEPS = {
    process: stepOfPart('process'),
    phase: stepOfPart('phase'),
    only: stepOfSub('only', (tree, text) => onlyWith(tree, subNamed(text), profile.rank)),
    hide: stepOfSub('without', (tree, text) => without(tree, subNamed(text), profile.rank)),
    time: {
        word: 'time',
        noun: 'range of time',
        told: (text) => rangeInWords(text),
        make: (tree, text) => inRange(tree, text),
        fits: (text, before) =>
            !before.length && hasTimes() && /^[\d.]+-[\d.]+(?:@\d+)?$/.test(text),
    },
    fold: {
        word: 'folded:',
        noun: 'package',
        told: (text) => short(text, 60),
        fits: () => true,
        make: (tree, text) =>
            fold(
                tree,
                Uint8Array.from(profile.names, (name) => (packageOf(name) === text ? 1 : 0)),
                profile.rank,
            ),
    },
};

// Steps, and the kinds of names that they choose among.
export const LANES = { process: PART_KIND, phase: PHASE_KIND };

// Makes the tree of the process and the phase that the chain chooses up to its k-th step.
function chosenParts(k) {
    return within(
        profile.whole,
        profile.facts.kinds,
        profile.rank,
        state.chain.slice(0, k + 1).map(({ act, text }) => lane(act, text)),
    );
}

// Returns the number of a process' or phase's name, or -1.
export const lane = (act, text) =>
    profile.names.findIndex((name, i) => name === text && profile.facts.kinds[i] === LANES[act]);

// Returns main of (main), and a process as it is.
export const partInWords = (text) => short(text.replace(/^\((.*)\)$/s, '$1'), 60);

// Makes those steps of a link the chain that fit this profile. Returns the first of the others, or
// undefined.
export function chainOf(steps) {
    state.chain = steps.filter(({ act, text }, k) => STEPS[act].fits(text, steps.slice(0, k)));
    return steps.find((step) => !state.chain.includes(step));
}

// Returns the tree of what ran in the range, process and phase that were chosen: the steps that
// sources follow, too.
export function placedTree() {
    const n = state.chain.findIndex(({ act }) => act !== 'time' && !LANES[act]);
    const steps = n < 0 ? state.chain.length : n;
    return steps && chained() ? profile.chained[steps - 1].tree : profile.tree;
}

// Returns the tree of which table, lists and graph are: that of the profile, after the steps of the
// chain. Trees of earlier steps are kept, for undo.
export function chained() {
    let tree = profile.tree;
    state.chain.forEach(({ act, text }, k) => {
        const key = `${act} ${text}`, old = profile.chained[k];
        if (!old || old.key !== key) {
            profile.chained.length = k;
            profile.chained.push({ key, tree: STEPS[act].make(tree, text, k) });
        }
        ({ tree } = profile.chained[k]);
    });
    return tree;
}
