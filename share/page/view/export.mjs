// Saves the visible data as files.

import { $, make } from '../base/elements.mjs';
import { short } from '../base/words.mjs';
import { matches } from '../model/matches.mjs';
import { last, metric, placeOf, profile, real, state } from '../model/profile.mjs';
import { isGrey, nameOf, scene, shade } from '../model/scene.mjs';
import { LEVELS, TEXTURES, ink, levelOf, rgb, texturePath } from '../draw/colours.mjs';
import { FONT, label } from '../draw/label.mjs';
import { panes } from '../draw/pane.mjs';
import { inWords } from '../act/cursor.mjs';
import { showMenu } from './menu.mjs';
import { sortedSubs, tableColumns, tableOrder } from './table.mjs';

function save(name, type, text) {
    const link = make('a', {
        href: URL.createObjectURL(new Blob([text], { type })),
        download: name,
    });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function openExport() {
    const area = $('export').getBoundingClientRect(),
        name =
            short(profile.facts.sides[last()] || 'profile', 60)
                .replace(/[^\w.-]+/g, '-')
                .replace(/^-+|-+$/g, '') || 'profile';
    showMenu(
        [
            [
                'Picture of what is shown (SVG)',
                '',
                state.source ? null : () => save(`${name}.svg`, 'image/svg+xml', picture()),
            ],
            [
                'Folded stacks of what is shown',
                '',
                state.source ? null : () => save(`${name}.folded`, 'text/plain', folded()),
            ],
            ['Table of subs (CSV)', '', () => save(`${name}.csv`, 'text/csv', csv())],
        ],
        area.left,
        area.bottom + 2,
        $('export'),
    );
}

// Returns the frames below the zoomed one as folded stacks, in microseconds if the metric is a
// time. A difference has the numbers of both sides. A frame's own value is its value less its
// callees'.
export function folded() {
    const {
            tree: { end, name, parent },
            focus,
            total,
        } = scene,
        lines = [],
        timed = metric().unit === 's',
        unit = timed ? 1e6 / metric().hz : 1 / (metric().hz || 1);
    const texts = profile.names.map((text) =>
            text
                .replace(/%(?=3B|25|23|0A|0D)/gi, '%25')
                .replace(/^#/, '%23')
                .replace(/[;\r\n]/g, (c) => (c === ';' ? '%3B' : c === '\r' ? '%0D' : '%0A')),
        ),
        stack = scene.tree.path(focus).map((n) => texts[n]);
    if (scene.split) stack.push(texts[name[0]]);
    const own = total.map((list) => list.slice(focus, end[focus]));
    for (let i = focus + 1; i < end[focus]; i++)
        for (const [side, list] of own.entries()) list[parent[i] - focus] -= total[side][i];
    for (let i = focus; i < end[focus]; i++) {
        if (i > focus) {
            stack.length = scene.tree.depth[i] - (scene.split ? 0 : 1);
            if (scene.split) stack[0] = texts[name[0]];
            stack[stack.length] = texts[name[i]];
        }
        // To the nanosecond: no line is lost, and the sums are those of the page.
        const numbers = own.map((list, side) => +(real(list[i - focus], side) * unit).toFixed(3));
        if (numbers.some((v) => v > 0))
            lines.push(`${stack.join(';') || texts[name[0]]} ${numbers.join(' ')}`);
    }
    return lines.join('\n') + '\n';
}

// Returns the table of all subs that match, with plain numbers: seconds, or counts.
export function csv() {
    const columns = tableColumns().filter(({ key }) => !/part$/.test(key)),
        by = columns.find(({ key }) => key === tableOrder.sort) || columns[1];
    // A spreadsheet would take a text with such a beginning for a formula.
    const plainly = (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
    const cell = (value) =>
        /[",\r\n]/.test(value) ? `"${value.replace(/"/g, '""')}"` : String(value);
    const rows = sortedSubs(by).map((sub) =>
        columns.map(({ key, value, timed }) =>
            key === 'name'
                ? plainly(profile.names[sub])
                : key === 'place'
                  ? plainly(placeOf(sub))
                  : value(sub) / (timed ? metric().hz || 1 : 1),
        ),
    );
    const heads = columns.map(({ label, timed }) =>
        plainly(timed && metric().unit ? `${label} (${metric().unit})` : label),
    );
    return (
        [heads, ...rows]
            .map((row) => row.map((value) => cell(String(value))).join(','))
            .join('\r\n') + '\r\n'
    );
}

// Returns the textures of kinds as patterns of SVG.
const textures = () =>
    `<defs>${TEXTURES.map((texture, kind) =>
        `<pattern id="kind${kind}" width="8" height="8" patternUnits="userSpaceOnUse"><path `
        + `d="${texturePath(texture)}" stroke="${ink.dark ? '#fff' : '#000'}" `
        + `stroke-opacity="0.14" stroke-width="${texture.wide}"/></pattern>`).join('')}</defs>`;

// Returns the visible graphs, one below the other, as an SVG of the whole height.
export function picture() {
    const xml = (text) =>
            text
                .replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
                .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/gu, '\ufffd'),
        parts = [],
        wide = Math.max(...panes.map((pane) => pane.view));
    let top = 30;
    for (const pane of panes) {
        const { boxes, row, context } = pane;
        if (pane.kind)
            parts.push(`<text x="4" y="${top + 13}" fill="${ink.text}">${xml(pane.title)}</text>`);
        top += pane.kind ? 20 : 0;
        const rows = boxes.row.map((r) => pane.y(r)),
            first = rows.reduce((a, b) => Math.min(a, b), Infinity);
        context.font = FONT;
        boxes.frame.forEach((i, k) => {
            const own = scene.tree.name[i],
                x = boxes.x[k],
                w = boxes.w[k],
                y = top + rows[k] - first,
                level = profile.diff ? levelOf(shade(i, pane.width)) : 0,
                grey = isGrey(i),
                hit = !grey && matches.names && matches.names[own] === 1,
                plainly = !profile.diff && !hit && !grey;
            const fill = profile.diff
                ? ink.levels[level + LEVELS]
                : grey
                  ? ink.dust
                  : hit
                    ? ink.mark
                    : ink.fill[own];
            const text = w > 25 ? label(context, own, w - 8) : '',
                ink2 = profile.diff
                    ? ink.onLevel[level + LEVELS]
                    : hit
                      ? ink.markText
                      : grey
                        ? ink.text
                        : ink.on[own];
            const wide = (w > 3 ? w - 1 : w * 0.8).toFixed(2);
            const edge = profile.diff ? ` stroke="${rgb(ink.line)}" stroke-width="0.5"` : '';
            const box = `x="${x.toFixed(2)}" y="${y}" width="${wide}" height="${row - 1}"`,
                kind = profile.facts.kinds[own],
                over = plainly && w > 4 && TEXTURES[kind]
                    ? `<rect ${box} fill="url(#kind${kind})"/>` : '';
            const at = `x="${(x + 4).toFixed(2)}" y="${y + row / 2 + 4}"`;
            parts.push(
                `<g><title>${xml(short(nameOf(i), 500))} ${xml(inWords(i))}</title>`
                + `<rect ${box} fill="${rgb(fill)}"${edge}/>${over}`
                + (text ? `<text ${at} fill="${ink2}">${xml(text)}</text>` : '') + '</g>',
            );
        });
        top += rows.reduce((a, b) => Math.max(a, b), 0) - first + row + 10;
    }
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${top}" viewBox="0 0 `
        + `${wide} ${top}" font-family="system-ui, sans-serif" font-size="12">${textures()}`
        + `<rect width="100%" height="100%" fill="${rgb(ink.back)}"/>`
        + `<text x="4" y="19" font-size="15" fill="${ink.text}">${xml(profile.facts.title)} `
        + `${xml(profile.facts.subtitle || '')}</text>${parts.join('')}</svg>\n`
    );
}
