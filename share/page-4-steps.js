'use strict';

// What is left of the profile, step by step; one sub between its callers and callees; long work, which is said before it begins.

// What takes long on a large profile is said, and painted, before it begins.
const MANY = 150000;           // frames
const work = { busy: null };  // a promise, kept when what takes long is done

function soon(text, act) {
    if (profile.tree.n < MANY) {
        act();
        return;
    }
    $('busy').textContent = text;
    $('busy').hidden = false;
    work.busy = new Promise((done) => {
        requestAnimationFrame(() => setTimeout(() => {
            try {
                act();
            } finally {
                $('busy').hidden = true;
                done();
            }
        }));
    });
}

// Puts a sub in the middle, with its callers above and what it calls below; -1: the whole graph again.
function sandwich(sub) {
    if (sub >= 0 && !canReverse()) {
        say(`Callers are drawn for up to ${grouped(REVERSE_LIMIT)} frames; this profile has ${grouped(profile.tree.n)}. The table shows each sub's callers.`);
        return;
    }
    Object.assign(state, { centre: sub, path: [], range: null });
    cursor.frame = -1;
    soon('Collecting callers\u2026', () => {
        refresh('view');
        for (const pane of panes) pane.scroll.scrollTop = scene.split ? pane.y(0) - pane.seen / 2 : pane.height;
        if (scene.split) speak(0, 'Callers and callees of ');
        remember(true);
    });
}

// Of the frame that was chosen, or else of the sub that costs most.
function sandwichHere() {
    const frame = cursor.frame > 0 ? cursor.frame : scene.focus, [hottest] = hotSubs(1);
    if (frame > 0) sandwich(scene.tree.name[frame]);
    else if (hottest !== undefined) sandwich(hottest);
}

// Adds a step to the chain, or takes one away.
function doStep(act, text) {
    state.chain = [...state.chain, { act, text }];
    rechain();
}

// Makes those steps of a link the chain that fit this profile. Returns the first of the others, or undefined.
function chainOf(steps) {
    state.chain = steps.filter(({ act, text }, k) => STEPS[act].fits(text, steps.slice(0, k)));
    return steps.find((step) => !state.chain.includes(step));
}

function undoStep(k = state.chain.length - 1) {
    state.chain = state.chain.filter((_, i) => i !== k);
    rechain();
}

function rechain() {
    say('');
    state.range = null;
    soon('Adding up what is left\u2026', () => {
        drawChain();
        remember(true);
    });
}

// Draws all that the chain decides on.
function drawChain() {
    refresh('view');
    drawTable();
    drawSource();
    if (!scene.all.some((list) => list[0] > 0)) say('Nothing is left: take a step of the chain back.');
}

// Returns main of (main), and a process as it is.
const partInWords = (text) => short(text.replace(/^\((.*)\)$/s, '$1'), 60);

// Makes a process or a phase a step of the chain, before those that say what is left out; -1: all of them.
function choosePart(act, name) {
    const others = state.chain.filter((step) => step.act !== act), step = name < 0 ? [] : [{ act, text: profile.names[name] }];
    state.chain = act === 'process' ? [...step, ...others] : [...others.filter((other) => other.act === 'process'), ...step, ...others.filter((other) => other.act !== 'process')];
    rechain();
}

// Fills the choices of processes and of phases, the longest first, without those that have nothing.
function furnishParts() {
    profile.furnished = state.metric;
    for (const [act, kind] of Object.entries(LANES)) {
        const names = profile.whole ? [...profile.names.keys()].filter((i) => profile.facts.kinds[i] === kind) : [], all = act === 'process' ? 'all processes' : 'all phases';
        $(act).hidden = names.length < 2;
        if (names.length < 2) continue;
        const total = byName(profile.whole, [inclusive(profile.whole, profile.whole.own(state.metric, last()))], true)[0], whole = sum(profile.whole.own(state.metric, last()));
        const step = state.chain.find((one) => one.act === act), some = names.filter((i) => total[i] > 0 || (step && step.text === profile.names[i]));
        some.sort((a, b) => total[b] - total[a] || profile.rank[a] - profile.rank[b]);
        $(act).replaceChildren(make('option', { value: -1 }, all), ...some.map((i) => make('option', { value: i }, `${partInWords(profile.names[i])} (${percent(whole ? total[i] / whole : 0)})`)));
    }
}

// Shows the chain as chips: a click takes a step away.
function chips() {
    const list = state.chain.map(({ act, text }, k) => {
        const { word } = STEPS[act], told = STEPS[act].told(text);
        return button(make('span', {}, `${word} `, make('bdi', {}, told), ' \u00d7'), () => undoStep(k), { className: 'chip', title: `Take back: ${word} ${told}` });
    });
    const centre = state.centre >= 0 ? [button(make('span', {}, 'around ', make('bdi', {}, short(profile.names[state.centre], 60)), ' \u00d7'), () => sandwich(-1), { className: 'chip', title: 'Back to the whole graph (b)' })] : [];
    const all = [...list, ...centre];
    $('chips').hidden = !all.length;
    $('chips').replaceChildren(...all, all.length ? make('span', { className: 'soft' }, whatIsLeft()) : '');
}

// Returns what the chain leaves of the whole.
function whatIsLeft() {
    if (!state.chain.length) return '';
    const whole = keep(profile.tree.kept, 'whole ' + state.metric, () => shown(profile.tree).map(sum));
    return `left: ${scene.all.map((list, side) => `${amount(real(list[0], side))} (${percent(list[0] / whole[side])})`).join(profile.relative ? ', ' : ' \u2192 ')}`;
}
