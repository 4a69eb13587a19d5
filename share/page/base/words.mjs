// Texts and numbers for people. All text comes from the profiled program, so it is shown with
// textContent or on a canvas, and is never read as HTML or executed.

// Numbers for people.
export const grouped = (v, digits = 0) =>
    v
        .toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits })
        .replace('-', '\u2212');

export const plural = (n, word) => `${grouped(n)} ${word}${n === 1 ? '' : 's'}`;

export function percent(part) {
    const v = part * 100, a = Math.abs(v);
    return Number.isFinite(v)
        ? (a === 0 ? '0' : a < 0.01 ? '<0.01' : v.toFixed(a < 10 ? 2 : 1)) + ' %'
        : '';
}

export function growth(before, after) {
    const p = (after - before) / before * 100;
    return before === 0
        ? ''
        : `${p > 0 ? '+' : ''}${grouped(p, p !== 0 && Math.abs(p) < 10 ? 1 : 0)} %`;
}

export function ratio(before, after) {
    if (before === after) return '\u00d71';
    if (before === 0) return 'new';
    return after === 0
        ? 'gone'
        : '\u00d7' + (after / before).toFixed(after / before >= 100 ? 0 : 2);
}

export const inPoints = (part) => `${part > 0 ? '+' : ''}${grouped(part * 100, 2)} points`;

export const short = (text, most = 300) =>
    text.length > most ? text.slice(0, most) + '\u2026' : text;

// Returns the package of a name: My::Mod of My::Mod::sub.
export const packageOf = (text) => (/^(.+)::/s.exec(text) || ['', ''])[1];

// Returns __ANON__[File.pm:12] of __ANON__[/usr/lib/My/File.pm:12].
export const withoutFolder = (text) => text.replace(/\[[^[\]]*\/([^/[\]]+)\]/, '[$1]');

// Returns a text of the file as C shows names: invisible characters, and those that change the
// direction of writing, are replaced by their numbers.
export const visibly = (text) =>
    text.replace(/[\x00-\x1f\x7f]|[\x80-\x9f\u2028-\u202e\u2066-\u2069]/g, (c) => {
        const hex = c.charCodeAt(0).toString(16).padStart(2, '0');
        return c < '\x80' ? `\\x${hex}` : `\\x{${hex}}`;
    });

// Control characters, characters that change the direction of a text, and invisible ones.
export const ODD = new RegExp(
    '[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e'
    + '\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]',
    'g',
);
