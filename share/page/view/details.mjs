// Shows the details of a frame below the graph.

import { $, button, make } from '../base/elements.mjs';
import { redraw } from '../base/redraw.mjs';
import { short } from '../base/words.mjs';
import { hasLines, placeOf } from '../model/profile.mjs';
import { nameOf, scene } from '../model/scene.mjs';
import { cursor } from '../draw/pane.mjs';
import { inWords } from '../act/cursor.mjs';
import { openSourceOf } from '../act/open.mjs';
import { firstSight } from './hot.mjs';

export function details() {
    const frame = cursor.hover >= 0 ? cursor.hover : cursor.frame >= 0 ? cursor.frame : scene.focus;
    if (frame === 0 && cursor.hover < 0 && !cursor.keys && !scene.split)
        $('details').replaceChildren(
            ...firstSight(),
            make(
                'span',
                { className: 'soft hint' },
                'click: zoom; right-click: more; /: search; ?: all keys',
            ),
        );
    else {
        const sub = scene.tree.name[frame],
            to =
                hasLines() && placeOf(sub)
                    ? button('Source', () => openSourceOf(sub), {
                          className: 'link',
                          title: `${placeOf(sub)} (l)`,
                      })
                    : '';
        $('details').replaceChildren(
            make('bdi', { className: 'name' }, short(nameOf(frame))),
            ' ',
            to,
            ' ',
            inWords(frame),
        );
    }
}

redraw.details = details;
