// Lists the lines that the search has found in the sources.

import { make } from '../base/elements.mjs';
import { ODD, grouped, plural, short } from '../base/words.mjs';
import { fileName, lineCosts, textOf } from '../model/lines.mjs';
import { matches } from '../model/matches.mjs';
import { anchor } from '../act/open.mjs';

// Returns text in which control characters, and those that change its direction, are visible and
// have no effect. The matches of `mark` are marked.
export function visible(text, mark) {
    const plainly = (part) => {
        const nodes = [];
        let from = 0;
        for (const found of part.matchAll(ODD)) {
            const code = found[0].charCodeAt(0),
                shown =
                    code < 256
                        ? '\\x' + code.toString(16).padStart(2, '0')
                        : 'U+' + code.toString(16).toUpperCase().padStart(4, '0');
            nodes.push(part.slice(from, found.index), make('span', { className: 'odd' }, shown));
            from = found.index + 1;
        }
        return [...nodes, part.slice(from)];
    };
    if (!mark) return plainly(text);
    const nodes = [];
    let from = 0;
    for (const found of text.matchAll(mark)) {
        if (!found[0]) continue;
        nodes.push(
            ...plainly(text.slice(from, found.index)),
            make('mark', {}, ...plainly(found[0])),
        );
        from = found.index + found[0].length;
        if (nodes.length > 2000) break;
    }
    return [...nodes, ...plainly(text.slice(from))];
}

// The matches; list: { file, line }.
export const sourceMatches = {
    q: null,
    list: [],
    byFile: new Map(),
    files: 0,
    at: -1,
    turn: 0,
    busy: false,
    ready: Promise.resolve(),
};

export const MOST_FOUND = 20000;

export function foundInSources() {
    if (!matches.test) return '';
    const where = sourceMatches.at >= 0 ? `${grouped(sourceMatches.at + 1)} of ` : '',
        n = sourceMatches.list.length;
    return `${where}${n >= MOST_FOUND ? 'more than ' : ''}${plural(n, 'line')} in `
        + `${plural(sourceMatches.files, 'file')}${sourceMatches.busy ? ' \u2026' : ''}`;
}

// Lists the matching lines, by file, for the overview.
export function foundLines() {
    if (!matches.test || !sourceMatches.list.length) return [];
    const most = 100, rows = sourceMatches.list.slice(0, most).map(({ file, line }) => {
        const code = make('code', {});
        textOf(file).then((lines) => {
            code.append(...visible(lines[line - 1].trim().slice(0, 200), matches.mark));
        });
        return make(
            'tr',
            {},
            make(
                'td',
                { className: 'left' },
                anchor(
                    short(`${lineCosts.files[file].name.replace(/^.*\//s, '')}:${line}`, 60),
                    file,
                    line,
                    { title: `${fileName(file)}:${line}` },
                ),
                ' ',
                code,
            ),
        );
    });
    return [
        make('h2', {}, `Lines that match: ${foundInSources()}`),
        make('table', { className: 'hits' }, make('tbody', {}, ...rows)),
        sourceMatches.list.length > most
            ? make('p', { className: 'soft' }, `The first ${most}; n goes through all of them.`)
            : '',
    ];
}
