// Names on a canvas.

import { short, withoutFolder } from '../base/words.mjs';
import { isSpan, partsOf, profile } from '../model/profile.mjs';

export const FONT = '12px system-ui, sans-serif';

const rulers = new Map();      // text -> its width

export function widthOf(context, text) {
    let w = rulers.get(text);
    if (w === undefined) rulers.set(text, w = context.measureText(text).width);
    return w;
}

// Returns the first of these that fits: the whole name, the name without its package or kind, that
// without the folder of its file, the beginning of that.
export function label(context, name, room) {
    const text = short(profile.names[name], 400);
    if (widthOf(context, text) <= room) return text;
    const own = short(partsOf(name)[1], 400);
    if (widthOf(context, own) <= room) return own;
    const bare = isSpan(name) ? own : withoutFolder(own), w = widthOf(context, bare);
    if (w <= room) return bare;
    const fits = Math.floor(bare.length * (room - 9) / w);
    return fits < 2 ? '' : bare.slice(0, fits) + '\u2026';
}
