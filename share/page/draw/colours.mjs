// The colours of frames, of differences and of themes.

import { make } from '../base/elements.mjs';
import { keep } from '../base/lists.mjs';
import { SPAN_KIND } from '../data/tree.mjs';
import { profile } from '../model/profile.mjs';

export const display = { theme: 'light', printing: false };

export const ink = { theme: '' };      // the colours of a theme, and its name

export const LEVELS = 24;             // of a difference, each way

// Kinds of subs, with lightness and chroma in the light and the dark theme. The hue is the
// package's. In oklch, text is equally readable on every hue.
export const KINDS = [
    ['Perl sub', 0.83, 0.115, 0.47, 0.105],
    ['core module', 0.91, 0.045, 0.37, 0.04],
    ['XS', 0.74, 0.1, 0.52, 0.11],
    ['builtin', 0.87, 0, 0.42, 0],
    ['anonymous', 0.87, 0.085, 0.42, 0.08],
    ['BEGIN time', 0.86, 0.065, 0.44, 0.075],
    ['program', 0.93, 0.008, 0.33, 0.01],
    ['phase', 0.83, 0.115, 0.47, 0.105],
    ['process', 0.83, 0.115, 0.47, 0.105],
    ['span', 0.85, 0.16, 0.45, 0.14],
];

// Is the kind in the legend?
export const isInLegend = (kind) => kind < 6 || kind === SPAN_KIND;

// Returns the background of a kind's swatch in the legend.
export const swatchOf = (kind, hue) =>
    ((TEXTURES[kind] || {}).strokes || [])
        .map(([from, to]) => {
            const wide = TEXTURES[kind].wide + (TEXTURES[kind].wide > 1 ? 1 : 0);
            return `repeating-linear-gradient(${from > to ? 135 : 45}deg, transparent 0 3px, `
                + `${ink.stripe} 3px ${3 + wide}px), `;
        })
        .join('') + kindColour(kind, hue);

export function kindColour(kind, hue) {
    const [, light, lightChroma, dark, darkChroma] = KINDS[kind] || KINDS[0],
        h = kind === 5 ? 305 : hue;
    return ink.dark ? `oklch(${dark} ${darkChroma} ${h})` : `oklch(${light} ${lightChroma} ${h})`;
}

// Blue - neutral - red, linear; the more, the further from the background: darker on white, lighter
// on black.
export function diffColour(level) {
    const neutral = ink.dark ? 0.29 : 0.985, part = Math.abs(level) / LEVELS, red = level > 0;
    if (level === 0) return `oklch(${neutral} 0 0)`;
    const most = ink.dark ? (red ? 0.7 : 0.72) : red ? 0.5 : 0.45,
        chroma = ink.dark ? (red ? 0.19 : 0.15) : red ? 0.205 : 0.19;
    return `oklch(${neutral + (most - neutral) * part} ${chroma * Math.min(1, part * 1.25)} `
        + `${red ? 27 : 260})`;
}

export function colours() {
    const theme = display.printing ? 'light' : display.theme,
        dark = theme === 'dark',
        {
            facts: { kinds, hues, fills },
            names,
        } = profile;
    Object.assign(ink, {
        theme,
        dark,
        ...(dark
            ? {
                  back: '#15171c',
                  text: '#f4f5f8',
                  dust: '#3a3f4a',
                  line: '#565c68',
                  ghost: '#93b8ff',
                  ghostText: '#dfe6f5',
                  stripe: '#ffffff28',
                  mark: 'oklch(0.7 0.22 320)',
                  markText: '#16081c',
                  begin: 'oklch(0.72 0.17 305)',
                  fresh: '#ffd9d4',
              }
            : {
                  back: '#ffffff',
                  text: '#16181d',
                  dust: '#dfe2e8',
                  line: '#d3d7de',
                  ghost: '#1b3f8b',
                  ghostText: '#16181d',
                  stripe: '#0000001e',
                  mark: 'oklch(0.62 0.25 320)',
                  markText: '#ffffff',
                  begin: 'oklch(0.55 0.2 305)',
                  fresh: '#6b0000',
              }),
    });
    ink.textures = TEXTURES.map((kind) => kind && texture(kind));
    ink.levels = Array.from({ length: 2 * LEVELS + 1 }, (_, k) => diffColour(k - LEVELS));
    ink.onLevel = ink.levels.map((colour) =>
        luminance(rgb(colour)) > 0.179 ? '#000000' : '#ffffff',
    );
    ink.fill = names.map((_, i) => (fills && fills[i]) || kindColour(kinds[i], hues[i]));
    // On colours that the user has chosen, the text is black or white, whichever contrasts more.
    ink.on = names.map((_, i) => {
        if (!fills || !fills[i]) return ink.text;
        const [r, g, b] = [1, 3, 5].map((k) => parseInt(fills[i].slice(k, k + 2), 16));
        return r * 0.299 + g * 0.587 + b * 0.114 > 140 ? '#16181d' : '#ffffff';
    });
}

const rgbs = new Map();

// Returns a colour as #rrggbb, because SVG viewers do not know oklch.
export function rgb(colour) {
    return keep(rgbs, colour, () => {
        const c = make('canvas', { width: 1, height: 1 }).getContext('2d', {
            willReadFrequently: true,
        });
        c.fillStyle = colour;
        c.fillRect(0, 0, 1, 1);
        return (
            '#'
            + [...c.getImageData(0, 0, 1, 1).data]
                .slice(0, 3)
                .map((v) => v.toString(16).padStart(2, '0'))
                .join('')
        );
    });
}

// Returns the relative luminance (WCAG 2.2). Black and white contrast equally with 0.179.
function luminance(hex) {
    const part = (k) => {
        const v = parseInt(hex.slice(k, k + 2), 16) / 255;
        return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

export const levelOf = (part) =>
    part === 0 ? 0 : Math.sign(part) * Math.max(1, Math.round(Math.abs(part) * LEVELS));

// Textures by kind, which tell kinds apart without colours: the width of strokes in pixels, and the
// ends of a stroke, [from, to], on a tile of 8 by 8 pixels. Anonymous subs have stripes, spans a
// grid.
export const TEXTURES = [];
const RISING = [9, -1], FALLING = [-1, 9];
TEXTURES[4] = { wide: 2, strokes: [RISING] };
TEXTURES[SPAN_KIND] = { wide: 1, strokes: [RISING, FALLING] };

// Returns the strokes of a texture as a path of SVG, in a tile of 8 by 8 pixels.
export const texturePath = ({ strokes }) =>
    strokes
        .flatMap(([from, to]) => [-8, 0, 8].map((x) => `M${x - 1} ${from}L${x + 9} ${to}`))
        .join('');

function texture(kind) {
    const tile = make('canvas', { width: 8, height: 8 }), c = tile.getContext('2d');
    Object.assign(c, { strokeStyle: ink.stripe, lineWidth: kind.wide });
    c.stroke(new Path2D(texturePath(kind)));
    return c.createPattern(tile, 'repeat');
}

export const heat = (share) =>
    share >= 0.1
        ? 5
        : share >= 0.03
          ? 4
          : share >= 0.01
            ? 3
            : share >= 0.003
              ? 2
              : share >= 0.0005
                ? 1
                : 0;
