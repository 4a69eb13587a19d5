// Shows the source view: a file, or the overview of all files.

import { $, button, make, say } from '../base/elements.mjs';
import { redraw } from '../base/redraw.mjs';
import { percent, plural, short } from '../base/words.mjs';
import {
    callsFrom, fileName, fileTotals, lineCosts, linesOf, loadLines, placeIn, stateOf, textOf,
    wholeOf,
} from '../model/lines.mjs';
import { amount } from '../model/numbers.mjs';
import { beforeOf, isOn } from '../model/pairs.mjs';
import { last, profile, sideName, state } from '../model/profile.mjs';
import { openFile, rangesOf } from '../model/rows.mjs';
import { placedTree } from '../model/steps.mjs';
import { allSubs } from '../model/subs.mjs';
import { remember } from '../act/address.mjs';
import { openSource, openSub } from '../act/open.mjs';
import { drawOverview } from './files.mjs';
import {
    LONG, ROW, drawRows, firstRow, foldBy, layRows, reveal, showNotes, toHot, toLine,
} from './listing.mjs';
import { toolbar } from './toolbar.mjs';

// `ready` is a promise, resolved when the view is drawn; a later `turn` replaces an earlier one.
export const sourceView = { turn: 0, ready: Promise.resolve() };

// Draws the file of the state, or the overview. `move`: also scrolls to the state's line.
export function drawSource(move) {
    const turn = ++sourceView.turn;
    const draw = async () => {
        if (!state.source) return;
        await loadLines();
        if (turn !== sourceView.turn) return;
        if (state.lostFile !== undefined) {
            state.file = lineCosts.number.get(state.lostFile) ?? -1;
            if (state.file < 0 && state.lostFile !== '')
                say(`The file ${short(state.lostFile, 120)} is not in this profile.`);
            delete state.lostFile;
        }
        // A file that only the first side has is shown with that side's text.
        const side =
            state.file >= 0 && !isOn(state.file, last()) && isOn(state.file, 0) ? 0 : last();
        const lines = state.file < 0 ? null : await textOf(state.file, side),
            before = state.file >= 0 && profile.diff && side ? await beforeOf(state.file) : null;
        if (turn !== sourceView.turn) return;
        if (state.file < 0) drawOverview();
        else drawFile(lines, move, side, before);
        if (placedTree() !== profile.tree && lineCosts.detail.some(Boolean))
            say(
                'What lines cost is known of all processes and phases together: the sources show '
                + 'what subs cost.',
            );
        toolbar();
        if (move) remember();
    };
    sourceView.ready = draw().catch((error) => {
        say(`The lines in this file are damaged: ${error.message}.`);
        throw error;
    });
    return sourceView.ready;
}

// Returns a message about the source, if its text is missing or has changed.
function trouble(state, lines) {
    const words = {
        changed:
            'The file has changed since it was recorded, so that its text is left out: only lines '
            + 'with a cost are shown, by number.',
        gone: 'The source was not found when this page was made: only lines with a cost are shown. '
            + '--symfs DIR tells where sources are.',
        'kept out':
            'The source was left out when this page was made, as nothing shows that the profile '
            + 'was made of it: only lines with a cost are shown. --source-dir DIR includes what is '
            + 'below DIR.',
        generated: 'This code was generated: it has no file.',
        'left out': 'The page was made without sources.',
        newer: 'The file was written to after the recording began: costs may stand beside other '
            + 'lines.',
    };
    return words[state] || (lines ? '' : 'There is no text of this file.');
}

// Returns a link to a file in the forge that --source-url names, or ''. The line is that on show
// when the link is followed.
function forgeLink(file) {
    const { source_url: url, source_root: root } = profile.facts.options,
        name = lineCosts.files[file].name,
        path = root && name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name;
    if (!url || !path || /^[/(]|^\.\.\//.test(path)) return '';
    const inForge = path.replace(/^\.\//, '').split('/').map(encodeURIComponent).join('/');
    const address = () =>
        url.replaceAll('{file}', () => inForge).replaceAll('{line}', Math.max(1, state.line));
    const node = make(
        'a',
        { href: address(), target: '_blank', rel: 'noopener noreferrer', className: 'forge' },
        'Forge',
    );
    node.onpointerdown = node.onfocus = () => { node.href = address(); };
    return node;
}

function drawFile(lines, move, side, before) {
    const file = state.file, node = $('sources');
    if (openFile.file !== file) {
        for (const set of [openFile.opened, openFile.shut, openFile.more, openFile.wide])
            set.clear();
        openFile.rows = [];
    }
    Object.assign(openFile, {
        file,
        lines,
        before,
        costs: linesOf(file, side),
        ranges: rangesOf(file, lines),
        side,
        whole: wholeOf(side),
    });
    const named =
        openFile.isSub && openFile.ranges.find(({ statement }) => statement === state.line);
    if (named) state.line = named.line;
    openFile.isSub = false;
    const total = fileTotals(side)[file],
        bad = [
            trouble(stateOf(file, side), lines),
            before && before.file >= 0 && before.guessed
                ? `Lines are paired by number, as the source of ${sideName(0)} is not here.`
                : '',
            profile.diff && !side ? `Only ${sideName(0)} has this file.` : '',
        ]
            .filter(Boolean)
            .join(' ');
    const pick = make(
        'select',
        { 'aria-label': 'Subs of this file' },
        make('option', { value: '' }, plural(openFile.ranges.length, 'sub')),
        ...openFile.ranges.map(({ sub, line }) =>
            make(
                'option',
                { value: line },
                `${short(profile.names[sub], 60)}  ${amount(allSubs().total[side][sub])}`,
            ),
        ),
    );
    pick.onchange = () => { if (pick.value) openSource(true, file, +pick.value); };
    const fold = make(
        'select',
        { id: 'fold', 'aria-label': 'Folding', title: 'What is folded (z)' },
        ...[
            ['all', 'all lines'],
            ['cheap', 'fold cheap lines'],
            ['subs', 'fold subs'],
        ].map(([value, text]) => make('option', { value }, text)),
    );
    fold.value = openFile.fold;
    fold.onchange = () => foldBy(fold.value);
    const notes = button('Calls', () => showNotes(!openFile.notes), {
        id: 'notes',
        'aria-pressed': String(openFile.notes),
        title: 'Calls and callers (x)',
    });
    const sheet = make('div', { className: 'sheet' }),
        scroll = make(
            'div',
            {
                className: 'lines',
                id: 'lines',
                tabIndex: 0,
                role: 'application',
                'aria-label': `Source of ${short(fileName(file), 200)}. Arrow keys move between `
                    + 'lines, ? lists the keys.',
            },
            sheet,
        );
    scroll.onscroll = () => {
        cancelAnimationFrame(openFile.due);
        openFile.due = requestAnimationFrame(() => {
            if (openFile.from !== firstRow()) drawRows();
        });
    };
    const words = before
        ? [profile.facts.sides[0], profile.facts.sides[1], 'Change', 'Inclusive', 'Line']
        : ['Count', 'Self', 'Inclusive', 'Share', 'Line'];
    const head = ['count', 'self', 'inclusive', 'share', 'line'].map((name, k) =>
        make(
            'span',
            { className: `c-${name}`, title: words[k] },
            before && k < 2 ? sideName(k) : words[k],
        ),
    );
    const facts = [
        total.self ? `self ${amount(total.self)} (${percent(total.self / openFile.whole)})` : '',
        lineCosts.detail[side] && total.count ? plural(total.count, 'statement') : '',
        total.calls ? plural(total.calls, 'call') : '',
    ]
        .filter(Boolean)
        .join(' \u00b7 ');
    node.classList.toggle('two', !!before);
    node.classList.toggle('bare', !before && !lineCosts.detail[side]);
    node.replaceChildren(
        make(
            'div',
            { className: 'bar filebar' },
            button('\u2190 Files', () => openSource(true), { title: 'All files (0)' }),
            make('h2', {}, make('bdi', {}, fileName(file))),
            make('span', { className: 'soft facts' }, facts),
            forgeLink(file),
            make('span', { className: 'space' }),
            pick,
            fold,
            notes,
            button('Hottest', () => toHot(1), {
                title: 'The next one of the lines that cost most (h)',
            }),
        ),
        bad ? make('p', { className: 'bad' }, bad) : '',
        make('div', { className: 'row heads' }, make('span', { className: 'gutter' }, ...head)),
        scroll,
    );
    Object.assign(openFile, { scroll, sheet });
    const chars = lines
        ? lines.reduce(
              (most, line) =>
                  Math.max(most, Math.min(LONG, line.length + 7 * (line.split('\t').length - 1))),
              0,
          )
        : 0;
    sheet.style.minWidth = `${Math.max(40, chars) + 8}ch`;
    layRows();
    if (move && state.line > 0) reveal(state.line);
    else if (move) scroll.scrollTop = 0;
    drawRows();
    if (move) scroll.focus({ preventScroll: true });
}

export function sourceKey(key) {
    if (state.file < 0) return false;
    const lines = [...openFile.at.keys()], by = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (by) {
        const row = openFile.at.get(state.line), first = Math.ceil(openFile.scroll.scrollTop / ROW);
        let k = row === undefined ? first - 1 : row;
        do k += row === undefined ? 1 : by;
        while (k >= 0 && k < openFile.rows.length && openFile.rows[k].kind !== 'line');
        if (openFile.rows[k]) toLine(openFile.rows[k].line);
        return lines.length > 0;
    }
    if (key === 'Enter') {
        const cost = openFile.costs.get(state.line),
            [call] = cost === undefined ? [] : callsFrom(openFile.side, cost),
            place = call && placeIn(call.sub);
        if (place) openSource(true, place.file, place.line, true, true);
        else if (call) openSub(call.sub);
        return true;
    }
    return false;
}

redraw.source = drawSource;
