// Links to a view of the page.

import { lineCosts } from '../model/lines.mjs';
import { metric, profile, state } from '../model/profile.mjs';

// Encodes a name for a link. A link has names, not places on the screen, so that it leads to the
// same frame in another recording of the program. ';' separates names, so a ';' in a name is
// encoded twice. So is '%', to distinguish the two.
const pack = (name) =>
    encodeURIComponent(name.replace(/[%;]/g, (c) => (c === ';' ? '%3B' : '%25')));

export function plain(text) {
    try {
        return decodeURIComponent(text);
    } catch (error) {
        return text;
    }
}

export const unpack = (text) =>
    plain(text).replace(/%(3B|25)/gi, (_, hex) => (hex === '25' ? '%' : ';'));

const viewsOf = (state) =>
    ['icicle', 'reversed', 'merged'].filter((key) => state[key]).join() || 'flame';

export const CHOICES = ['order', 'layout', 'width', 'colour', 'measure'];

export const sourceLink = (file, line) =>
    `${pack(lineCosts.files[file].name)}${line > 0 ? ':' + line : ''}`;

export function link(
    source = state.source ? (state.file >= 0 ? sourceLink(state.file, state.line) : '') : null,
) {
    const parts = [],
        old = profile.initial,
        add = (key, on, value) => {
            if (on) parts.push(`${key}=${value}`);
        };
    add('at', state.path.length, state.path.map((name) => pack(profile.names[name])).join(';'));
    add('q', state.q !== old.q, encodeURIComponent(state.q));
    add('case', state.match, 1);
    add('kind', state.kind, encodeURIComponent(state.kind));
    add('metric', state.metric !== old.metric, encodeURIComponent(metric().key));
    for (const key of CHOICES) add(key, state[key] !== old[key], state[key]);
    add('view', viewsOf(state) !== viewsOf(old), viewsOf(state));
    add('uncertain', state.uncertain, 1);
    add('table', state.table, 1);
    add('texts', state.texts, 1);
    if (state.sub >= 0) add('sub', 1, pack(profile.names[state.sub]));
    add('src', source || (source === '' && !old.source), source);
    add('graph', source === null && old.source, 1);
    add('range', state.range, state.range && state.range.map((v) => +v.toPrecision(10)).join('..'));
    add(
        'steps',
        state.chain.length,
        state.chain.map(({ act, text }) => `${act}:${pack(text)}`).join(';'),
    );
    add('around', state.centre >= 0, pack(profile.names[state.centre] || ''));
    add('calls', state.calls, 1);
    add('timeline', state.time, state.heat ? 'heat' : 1);
    add('scale', state.common, 'common');
    add('sides', profile.isSwapped, 'swapped');
    return parts.length ? '#' + parts.join('&') : '';
}

// Records the state in the address. Only zooms and subs are steps of the history; other changes
// replace the current step.
export function remember(push) {
    const hash = link(),
        count = (history.state && history.state.dprof) || 0,
        url = location.href.replace(/#.*/s, '') + hash;
    try {
        if (!push) history.replaceState({ dprof: count }, '', url);
        else if (hash !== location.hash) history.pushState({ dprof: count + 1 }, '', url);
    } catch (error) {
        // If the history must not be changed, everything except Back works.
    }
}
