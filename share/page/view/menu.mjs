// Menus.

import { $, button, make } from '../base/elements.mjs';
import { short } from '../base/words.mjs';
import { hasLines, packageOfSub, placeOf, profile } from '../model/profile.mjs';
import { nameOf, scene } from '../model/scene.mjs';
import { cursor, marks, panes } from '../draw/pane.mjs';
import { doStep, sandwich } from '../act/chain.mjs';
import { point } from '../act/cursor.mjs';
import { openSourceOf, openSub } from '../act/open.mjs';
import { zoom } from '../act/zoom.mjs';
import { details } from './details.mjs';

// Opens a menu at a place of the window. An item is [text, key or '', action], or null for a
// separator.
export function showMenu(items, x, y, back) {
    const menu = $('menu'), close = () => {
        menu.hidden = true;
        menu.replaceChildren();
        if (back) back.focus({ preventScroll: true });
    };
    menu.replaceChildren(...items.map((item) => {
        if (!item) return make('hr', {});
        const [text, key, act] = item;
        return button(make('span', {}, text), () => {
            close();
            act();
        }, { role: 'menuitem', tabIndex: -1, disabled: !act, ...(key && { 'data-key': key }) });
    }));
    for (const item of menu.querySelectorAll('[data-key]'))
        item.append(make('kbd', {}, item.dataset.key));
    menu.hidden = false;
    menu.style.left = Math.max(4, Math.min(x, innerWidth - menu.offsetWidth - 4)) + 'px';
    menu.style.top = Math.max(4, Math.min(y, innerHeight - menu.offsetHeight - 4)) + 'px';
    const list = [...menu.querySelectorAll('button:enabled')];
    menu.onkeydown = (event) => {
        const at = list.indexOf(document.activeElement), { key } = event;
        event.stopPropagation();
        if (key === 'Escape' || key === 'Tab') close();
        else if (key === 'ArrowDown' || key === 'ArrowUp')
            list[(at + (key === 'ArrowDown' ? 1 : -1) + list.length) % list.length].focus();
        else return;
        event.preventDefault();
    };
    menu.onfocusout = (event) => { if (!menu.contains(event.relatedTarget)) menu.hidden = true; };
    list[0].focus({ preventScroll: true });
}

export function openMenu(frame, x, y) {
    const sub = scene.tree.name[frame],
        text = profile.names[sub],
        of = packageOfSub(sub),
        root = !scene.split && frame === 0,
        named = (act) => (root ? null : act);
    point(-1);
    cursor.frame = frame;
    marks();
    details();
    showMenu(
        [
            ['Zoom to this frame', 'Enter', () => zoom(frame)],
            ['Only stacks with this sub', 'f', named(() => doStep('only', text))],
            ['Without stacks with this sub', 'e', named(() => doStep('hide', text))],
            [
                of ? `Fold package ${short(of, 60)}` : 'Fold its package',
                'k',
                of ? () => doStep('fold', of) : null,
            ],
            ['Its callers and callees', 'b', named(() => sandwich(sub))],
            null,
            ['In the table', 's', () => openSub(sub)],
            ['Source', 'l', hasLines() && placeOf(sub) ? () => openSourceOf(sub) : null],
            null,
            ['Copy name', '', () => copy(text)],
            ['Copy stack', '', () => copy(stackOf(frame))],
            ['Copy link to this view', '', () => copy(location.href)],
        ],
        x,
        y,
        panes[cursor.pane].canvas,
    );
}

// Returns the stack of a frame in the form of folded text, callers first.
export function stackOf(frame) {
    const { parent, name } = scene.tree, list = [], up = scene.split && frame >= scene.split;
    for (let i = frame; i >= 0; i = parent[i])
        if (i > 0 || scene.split) list.push(profile.names[name[i]]);
    return (up ? list : list.reverse()).join(';') || nameOf(0);
}

async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
    } catch (error) {
        const area = make('textarea', { value: text });
        document.body.append(area);
        area.select();
        document.execCommand('copy');
        area.remove();
    }
    $('spoken').textContent = 'Copied.';
}

export function menuHere() {
    const pane = panes[cursor.pane],
        box = pane.box(cursor.frame),
        area = pane.canvas.getBoundingClientRect();
    if (box)
        openMenu(
            cursor.frame,
            area.left + box.x + Math.min(40, box.w),
            area.top + box.y - pane.scroll.scrollTop + pane.row,
        );
}
