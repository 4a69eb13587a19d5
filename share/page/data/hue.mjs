// Computes the hue of a package.

import { keep } from '../base/lists.mjs';

// Returns the hue of a name's package, as dp_palette_oklch_hue() does.
export function hueOf(name, kept) {
    const [body] = /^.[^[]*/s.exec(name) || [''],
        [, of] = /^(.+)::/s.exec(body) || /^(.+)(?:[./]|:(?!$))/s.exec(body) || ['', body];
    return keep(kept, of, () => {
        let h = 0xcbf29ce484222325n;
        for (const byte of new TextEncoder().encode(of))
            h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n);
        for (const by of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n])
            h = BigInt.asUintN(64, (h ^ (h >> 33n)) * by);
        const hue = Number((h ^ h >> 33n) % 360n), low = 0.496, high = 0.904;
        const [r, g, b] = [hue + 120, hue, hue + 240].map((turned) => {
            const at = turned % 360,
                v =
                    at < 60
                        ? low + ((high - low) * at) / 60
                        : at < 180
                          ? high
                          : at < 240
                            ? low + ((high - low) * (240 - at)) / 60
                            : low;
            return ((Math.floor(v * 255 + 0.5) / 255 + 0.055) / 1.055) ** 2.4;
        });
        const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b),
            m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
        const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
        const turn = Math.atan2(
            0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
            1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
        );
        return Math.floor((turn * 180 / Math.PI + 360.5) % 360);
    });
}
