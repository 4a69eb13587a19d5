// Shows the hottest subs beside the graph and in the line of details.

import { $, button, make } from '../base/elements.mjs';
import { short } from '../base/words.mjs';
import { amount } from '../model/numbers.mjs';
import { placeOf, profile, state } from '../model/profile.mjs';
import { chained } from '../model/steps.mjs';
import { hotSubs, inShort, subs } from '../model/subs.mjs';
import { openSub } from '../act/open.mjs';
import { changeCell, nameCell, shortPlace } from './table.mjs';

// Names the most important subs in the line of details when the page opens.
export function firstSight() {
    const table = subs(),
        three = hotSubs(3),
        head = profile.diff ? (profile.certain ? 'Significant: ' : 'Changed most: ') : 'Hottest: ';
    const nodes = three.map((sub) =>
        make(
            'span',
            { className: 'hot' },
            button(make('bdi', {}, short(profile.names[sub], 80)), () => openSub(sub), {
                className: 'link',
                title: `${short(profile.names[sub], 1000)}: in the table`,
            }),
            ` ${inShort(table, sub)}${profile.diff ? '' : ' self'}`
            + `${placeOf(sub) ? ` (${shortPlace(sub)})` : ''}`,
        ),
    );
    return nodes.length
        ? [make('span', { className: 'soft' }, head), ...nodes]
        : profile.certain
          ? [make('span', { className: 'soft' }, 'No sub differs significantly. ')]
          : [];
}

// On a wide screen, the hottest subs are beside the graph.
const WIDE = matchMedia('(min-width: 1900px)');

export function drawHot() {
    const node = $('hot'),
        isAlone = !state.source && !state.table && !state.texts && !state.calls,
        on = WIDE.matches && isAlone;
    node.hidden = !on;
    if (!on) return;
    const table = subs(), tree = chained();
    if (node.of === tree && node.metric === state.metric) return;
    Object.assign(node, { of: tree, metric: state.metric });
    const rows = hotSubs(60).map((sub) =>
        make(
            'tr',
            {},
            nameCell(sub),
            make('td', {}, profile.diff ? '' : amount(table.self[0][sub])),
            profile.diff
                ? changeCell(table.self[1][sub] - table.self[0][sub], inShort(table, sub))
                : make('td', {}, inShort(table, sub)),
        ),
    );
    node.replaceChildren(
        make(
            'h2',
            {},
            profile.diff
                ? profile.certain
                    ? 'Subs with a significant difference of self'
                    : 'Subs, by difference of self'
                : 'Subs, by self',
        ),
        make('table', {}, make('tbody', {}, ...rows)),
    );
}
