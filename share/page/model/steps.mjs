// Applies the steps of the chain to the tree of the profile.

import { short } from '../base/words.mjs';
import { PART_KIND, PHASE_KIND, fold, onlyWith, within, without } from '../data/tree.mjs';
import { hasTimes, packageOfSub, profile, state, subNamed } from './profile.mjs';
import { inRange, rangeInWords, treeOfTime } from './times.mjs';

// Makes a kind of step that chooses a process or a phase. Such a step comes before all others.
const stepOfPart = (noun) => ({
    word: noun,
    noun,
    told: (text) => partInWords(text),
    make: (_, text, k) => placed(k),
    fits: (text, before) =>
        profile.whole
        && lane(noun, text) >= 0
        && before.every(({ act }) => act === 'time' || (LANES[act] && act !== noun)),
});

const stepOfSub = (word, make) => ({
    word,
    noun: 'sub',
    told: (text) => short(text, 60),
    make,
    fits: (text) => subNamed(text) >= 0,
});

// The kinds of steps. make returns the tree after the step; word and told are a chip's texts for
// the step and its text; noun is the kind of thing that the text names; fits returns whether a
// link's step is possible after the previous ones. Steps for process, phase and time come first.
export const STEPS = {
    process: stepOfPart('process'),
    phase: stepOfPart('phase'),
    only: stepOfSub('only', (tree, text) => onlyWith(tree, subNamed(text), profile.rank)),
    hide: stepOfSub('without', (tree, text) => without(tree, subNamed(text), profile.rank)),
    time: {
        word: 'time',
        noun: 'range of time',
        told: (text) => rangeInWords(text),
        make: (_, text, k) => placed(k),
        fits: (text, before) =>
            before.every(({ act }) => LANES[act])
            && hasTimes()
            && /^[\d.]+-[\d.]+(?:@\d+)?$/.test(text),
    },
    fold: {
        word: 'folded:',
        noun: 'package',
        told: (text) => short(text, 60),
        fits: () => true,
        make: (tree, text) =>
            fold(
                tree,
                Uint8Array.from(profile.names, (_, name) => (packageOfSub(name) === text ? 1 : 0)),
                profile.rank,
            ),
    },
};

// Steps, and the kinds of names that they select from.
export const LANES = { process: PART_KIND, phase: PHASE_KIND };

// Makes the tree of the range, process and phase that the chain chooses up to its k-th step.
function placed(k) {
    const steps = state.chain.slice(0, k + 1),
        range = steps.find(({ act }) => act === 'time'),
        tree = range ? inRange(treeOfTime(), range.text) : profile.whole;
    if (!profile.whole) return tree;
    return within(
        tree,
        profile.facts.kinds,
        profile.rank,
        steps.filter(({ act }) => LANES[act]).map(({ act, text }) => lane(act, text)),
    );
}

// Returns the number of a process' or phase's name, or -1.
export const lane = (act, text) =>
    profile.names.findIndex((name, i) => name === text && profile.facts.kinds[i] === LANES[act]);

// Returns main of (main), and the name of a process unchanged.
export const partInWords = (text) => short(text.replace(/^\((.*)\)$/s, '$1'), 60);

// Makes the chain from those steps of a link that fit this profile. Returns the first of the other
// steps, or undefined.
export function chainOf(steps) {
    state.chain = steps.filter(({ act, text }, k) => STEPS[act].fits(text, steps.slice(0, k)));
    return steps.find((step) => !state.chain.includes(step));
}

// Returns the tree after the steps for range, process and phase, which sources follow, too.
export function placedTree() {
    const n = state.chain.findIndex(({ act }) => act !== 'time' && !LANES[act]);
    const steps = n < 0 ? state.chain.length : n;
    return steps && chained() ? profile.chained[steps - 1].tree : profile.tree;
}

// Returns the tree for table, lists and graph: that of the profile after all steps of the chain.
// Trees of earlier steps are kept, for undo.
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
