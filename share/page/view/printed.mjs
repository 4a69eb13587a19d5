// Says on paper which part of the profile a print shows.

import { $ } from '../base/elements.mjs';
import { percent, short } from '../base/words.mjs';
import { lineCosts } from '../model/lines.mjs';
import { metric, profile, state } from '../model/profile.mjs';
import { scene } from '../model/scene.mjs';
import { STEPS } from '../model/steps.mjs';

function views() {
    if (state.source)
        return [
            state.file >= 0
                ? `source of ${lineCosts.files[state.file].name}`
                  + (state.line > 0 ? `, around line ${state.line}` : '')
                : 'sources',
        ];
    const style = [
        state.icicle && 'icicle', state.reversed && 'callers',
        state.merged && 'recursion merged', profile.diff && `width: ${state.width}`,
    ].filter(Boolean);
    return [
        `flame graph${style.length ? ` (${style.join(', ')})` : ''}`,
        state.time && (state.heat ? 'heat map of time' : 'time line'),
        state.table && 'table of subs',
        state.texts && 'table of spans',
        state.calls && 'call tree',
    ].filter(Boolean);
}

function part() {
    if (state.source) return [];
    const path = state.path.map((name) => short(profile.names[name], 200)).join(' \u203a '),
        range = state.range && state.range.map(percent).join(' to ');
    return [
        state.centre >= 0 && `around ${short(profile.names[state.centre], 200)}`,
        path && `zoomed to ${path}`,
        range && `from ${range} of its width`,
        !path && !range && !scene.split && !state.chain.length && 'the whole profile',
    ].filter(Boolean);
}

export function fillPrinted() {
    const steps = state.chain.map(({ act, text }) => `${STEPS[act].word} ${STEPS[act].told(text)}`),
        search = state.q && `search: ${state.q}${state.match ? ' (case matters)' : ''}`;
    const kind = state.kind && `stacks with ${state.kind}`;
    $('printed').textContent =
        `Shown: ${[views().join(', '), metric().label, ...part(), ...steps, kind, search]
            .filter(Boolean).join(' \u00b7 ')}`;
}
