// Draws panes. A pane is a canvas that shows the tree of the scene with the widths of one kind. A
// difference has up to three panes.

import { make } from '../base/elements.mjs';
import { short } from '../base/words.mjs';
import { positions } from '../data/tree.mjs';
import { matches } from '../model/matches.mjs';
import { signed } from '../model/numbers.mjs';
import { profile, state } from '../model/profile.mjs';
import {
    isGone, isGrey, isNew, kindOf, nameOf, points, scene, shade,
} from '../model/scene.mjs';
import { LEVELS, display, ink, levelOf } from './colours.mjs';
import { FONT, label, widthOf } from './label.mjs';
import { Minimap } from './map.mjs';

export class Pane {
    // choose(range) is called if a part of the whole is chosen in the small map.
    constructor(kind, title, choose) {
        this.title = title || profile.facts.title;
        // The kind of widths: before, after or change; null: that of state.width.
        this.kind = kind;
        this.canvas = make('canvas', {
            tabIndex: 0,
            role: 'application',
            'aria-roledescription': 'flame graph',
            'aria-describedby': 'details',
        });
        this.hover = make('div', { className: 'mark hover', hidden: true });
        this.cursor = make('div', { className: 'mark cursor', hidden: true });
        this.chosen = make('div', { className: 'chosen', hidden: true });
        this.sheet = make(
            'div',
            { className: 'sheet' },
            this.canvas,
            this.hover,
            this.cursor,
            this.chosen,
        );
        this.scroll = make('div', { className: 'scroll', tabIndex: -1 }, this.sheet);
        this.map = kind ? null : new Minimap(this, choose);
        this.node = make(
            'section',
            { className: 'pane' },
            make('h2', { hidden: !kind }, title),
            this.map ? this.map.node : '',
            this.scroll,
        );
        this.height = 0;
        this.context = this.canvas.getContext('2d');
        this.scroll.addEventListener('scroll', () => {
            cancelAnimationFrame(this.due);
            this.due = requestAnimationFrame(() => this.paint());
        });
    }

    get width() {
        return this.kind || state.width;
    }

    // Computes the widths and places of all frames.
    measure() {
        this.weights = scene.weights(this.width);
        this.x = positions(scene.tree, this.weights, state.order);
        // solid[i] is the number of frames with a width among the first i, for the count of those
        // in a skipped subtree.
        this.solid = new Int32Array(scene.tree.n + 1);
        for (let i = 0; i < scene.tree.n; i++)
            this.solid[i + 1] = this.solid[i] + (this.weights[i] > 0 ? 1 : 0);
    }

    // Collects the boxes of this zoom and range. A subtree narrower than a pixel is skipped as a
    // whole.
    collect() {
        const { weights, x, scroll } = this,
            { end, depth, parent } = scene.tree,
            focus = scene.focus,
            line = [];
        // Boxes are columns, too, so that a zoom makes no object for each box.
        const [boxes, dust] = ['boxes', 'dust'].map(
            (key) => (this[key] = { frame: [], x: [], w: [], row: [] }),
        );
        const add = (to, i, left, w) => {
            to.frame.push(i);
            to.x.push(left);
            to.w.push(w);
            to.row.push(depth[i]);
        };
        // The height of rows depends on the room, within limits.
        const rows = scene.deepest - scene.highest + 2;
        this.row = matchMedia('(pointer: coarse)').matches
            ? 26
            : Math.max(19, Math.min(25, Math.floor(scroll.clientHeight / rows)));
        this.view = display.printing ? 1040 : scroll.clientWidth;
        this.narrow = scene.narrow;
        this.narrowWeight = scene.lost
            ? scene.lost[focus] + (scene.split ? scene.lost[scene.split] : 0)
            : 0;
        // still counts frames without any width, and beside those outside of the range.
        this.still = this.beside = 0;
        const whole = state.common
            ? Math.max(...panes.map((pane) => pane.weights[focus]))
            : weights[focus];
        const [from, to] = state.range || [0, 1],
            view = this.view,
            full = whole > 0 ? Math.min(view, (view * weights[focus]) / whole) : view;
        const scale = (this.scale = whole > 0 ? view / whole / (to - from) : 0),
            least = 1 / Math.min(2, devicePixelRatio || 1);
        this.origin = from * whole;
        this.full = state.range ? view : full;
        for (let i = parent[focus]; i >= 0; i = parent[i]) line.push(i);
        for (const i of line.reverse()) add(boxes, i, 0, this.full);
        this.above = line.length;
        let deep = depth[focus], high = 0;
        add(boxes, focus, 0, this.full);
        const sweep = (root) => {
            for (let i = root + 1; i < end[root];) {
                const w = weights[i] * scale,
                    left = (x[i] - x[root] - this.origin) * scale,
                    held = this.solid[end[i]] - this.solid[i];
                if (left >= view || (left + w <= 0 && w > 0)) {
                    this.beside += held;
                    this.still += end[i] - i - held;
                    i = end[i];
                    continue;
                }
                if (w >= least) {
                    add(boxes, i, Math.max(0, left), Math.min(view, left + w) - Math.max(0, left));
                    deep = Math.max(deep, depth[i]);
                    high = Math.min(high, depth[i]);
                    this.narrowWeight += scene.lost ? scene.lost[i] : 0;
                    i++;
                    continue;
                }
                this.narrow += held;
                this.still += end[i] - i - held;
                this.narrowWeight += weights[i];
                if (w > 0 && left >= 0) add(dust, i, left, w);
                i = end[i];
            }
        };
        sweep(focus);
        if (scene.split && scene.split < scene.tree.n) sweep(scene.split);
        const more = dust.frame.length ? 1 : 0;
        this.over = scene.split ? -high + more : 0;        // rows above the first one, of callers
        this.rows = deep + 1 + more + this.over;
        // A flame is anchored at the bottom, which stays in place if the height of the sheet or of
        // the pane changes.
        const below = this.height - this.scroll.scrollTop - (this.seen || 0);
        this.seen = this.scroll.clientHeight;
        this.height = display.printing
            ? this.rows * this.row
            : Math.max(this.rows * this.row, this.seen);
        this.sheet.style.height = this.height + 'px';
        if (!state.icicle && !scene.split)
            this.scroll.scrollTop = this.height - this.seen - Math.max(0, below);
        const what = scene.split
            ? `Callers and callees of ${short(nameOf(0), 99)}`
            : `Flame graph, ${this.title}, zoomed to ${short(nameOf(focus), 99)}`;
        this.canvas.setAttribute('aria-label', `${what}. Arrow keys move, ? lists the keys.`);
    }

    // Returns the height of a row. In a sandwich, callers are above the sub and callees below, so
    // the sub is in the middle if there is room.
    y(row) {
        if (scene.split)
            return (
                (row + this.over) * this.row
                + (display.printing
                    ? 0
                    : Math.floor(Math.max(0, this.height - this.rows * this.row) / 2))
            );
        return state.icicle ? row * this.row : this.height - (row + 1) * this.row;
    }

    // Returns the row at a height of the sheet.
    rowAt(y) {
        if (scene.split) return Math.floor((y - this.y(0)) / this.row);
        return Math.floor((state.icicle ? y : this.height - y) / this.row);
    }

    // Brings a frame's row into view.
    reveal(frame, spare = 0) {
        const y = this.y(scene.tree.depth[frame]), { scroll } = this, margin = spare * this.row;
        if (y - margin < scroll.scrollTop) scroll.scrollTop = y - margin;
        else if (y + this.row + margin > scroll.scrollTop + scroll.clientHeight)
            scroll.scrollTop = y + this.row + margin - scroll.clientHeight;
    }

    paint() {
        const { canvas, context: c, boxes, row, view, width } = this,
            tall = display.printing ? Math.min(this.height, 12000) : this.scroll.clientHeight;
        const dpr = display.printing ? 2 : devicePixelRatio || 1,
            top = display.printing ? 0 : this.scroll.scrollTop,
            seen = [];
        if (!(view > 0 && tall > 0)) return;
        const wide = Math.round(view * dpr), high = Math.round(tall * dpr);
        if (canvas.width !== wide || canvas.height !== high) {
            Object.assign(canvas, { width: wide, height: high });
            Object.assign(canvas.style, { width: view + 'px', height: tall + 'px' });
        }
        c.setTransform(dpr, 0, 0, dpr, 0, 0);
        c.globalAlpha = 1;
        c.fillStyle = ink.back;
        c.fillRect(0, 0, view, tall);
        Object.assign(c, { textBaseline: 'middle', direction: 'ltr', font: FONT });
        this.paintDust(c, top, tall);
        for (let k = 0; k < boxes.frame.length; k++) {
            const y = this.y(boxes.row[k]) - top,
                i = boxes.frame[k],
                w = boxes.w[k],
                own = scene.tree.name[i];
            if (y <= -row || y >= tall) continue;
            const grey = isGrey(i),
                hit = !grey && matches.names && matches.names[own] === 1,
                dim = grey || (matches.names && !hit),
                alpha = k < this.above ? 0.45 : 1;
            const box = {
                i,
                own,
                x: boxes.x[k],
                y,
                w: w > 3 ? w - 1 : w * 0.8,
                h: row - 1,
                hit,
                dim,
                grey,
                alpha,
                level: profile.diff ? levelOf(shade(i, width)) : 0,
            };
            seen.push(box);
            c.globalAlpha = alpha * (isGone(i) ? 0.55 : 1)
                * (!dim ? 1 : profile.diff ? 0.3 : grey ? 1 : 0.5);
            c.fillStyle = profile.diff
                ? ink.levels[box.level + LEVELS]
                : grey
                  ? ink.dust
                  : hit
                    ? ink.mark
                    : ink.fill[own];
            c.fillRect(box.x, y, box.w, box.h);
            if (profile.diff) this.paintDiff(c, box);
            else if (!hit && !grey && w > 4) this.paintKind(c, box);
        }
        for (const box of seen) {
            c.globalAlpha = (box.alpha < 1 ? 0.7 : 1) * (box.dim ? 0.6 : 1);
            if (profile.diff && box.w > 11) this.labelDiff(c, box);
            else if (!profile.diff && box.w > 25) {
                c.fillStyle = box.hit ? ink.markText : box.grey ? ink.text : ink.on[box.own];
                c.fillText(label(c, box.own, box.w - 8), box.x + 4, box.y + row / 2);
            }
        }
    }

    // Draws a grey trace for frames that are too narrow to draw but together fill half a pixel.
    paintDust(c, top, tall) {
        const { dust, row } = this, columns = Math.ceil(this.view), rows = new Map();
        for (let k = 0; k < dust.frame.length; k++) {
            const y = this.y(dust.row[k]) - top;
            if (y <= -row || y >= tall) continue;
            let cover = rows.get(dust.row[k]);
            if (!cover) rows.set(dust.row[k], cover = new Float32Array(columns + 1));
            cover[dust.x[k] | 0] += dust.w[k];
        }
        c.fillStyle = ink.dust;
        for (const [at, cover] of rows) {
            const y = this.y(at) - top;
            for (let p = 0; p < columns; p++) {
                if (cover[p] < 0.4) continue;
                let to = p + 1;
                while (to < columns && cover[to] >= 0.4) to++;
                c.fillRect(p, y, to - p, row - 1);
                p = to;
            }
        }
    }

    paintKind(c, { own, x, y, w, h }) {
        const kind = profile.facts.kinds[own];
        if (ink.textures[kind]) {
            c.fillStyle = ink.textures[kind];
            c.fillRect(x, y, w, h);
        } else if (kind === 5) this.outline(c, ink.begin, x, y, w, h);
    }

    outline(c, colour, x, y, w, h, line = 1) {
        c.strokeStyle = colour;
        c.lineWidth = line;
        c.strokeRect(x + line / 2, y + line / 2, Math.max(0.5, w - line), h - line);
    }

    paintDiff(c, { i, x, y, w, h, hit, level }) {
        if (isGone(i) && w > 4) {
            c.globalAlpha = Math.min(1, c.globalAlpha * 1.8);
            c.setLineDash([4, 3]);
            this.outline(c, ink.ghost, x, y, w, h);
            c.setLineDash([]);
        } else if (isNew(i)) {
            c.fillStyle = ink.fresh;
            c.fillRect(x, y, Math.min(3, w), h);
        }
        if (Math.abs(level) <= 4 && w > 2 && !isGone(i)) this.outline(c, ink.line, x, y, w, h);
        c.globalAlpha = 1;
        if (hit) this.outline(c, ink.mark, x, y, w, h, 2);
    }

    // Labels a frame of a difference. Signs help people who cannot distinguish red and blue: up and
    // plus, down and minus; a plus in front marks a new frame.
    labelDiff(c, { i, x, y, w, level, dim, alpha }) {
        const fresh = isNew(i),
            kind = kindOf(this.width),
            [a, b] = scene[kind],
            middle = y + this.row / 2;
        const sign = (fresh ? '+' : '') + (level > 0 ? '\u25b2' : level < 0 ? '\u25bc' : ''),
            pad = fresh ? 6 : 4,
            after = sign ? widthOf(c, sign) + 3 : 0;
        c.fillStyle = dim || alpha < 1 || isGone(i) ? ink.ghostText : ink.onLevel[level + LEVELS];
        if (w > after + pad) c.fillText(sign, x + pad, middle);
        const at = x + pad + after,
            room = w - pad - 4 - after,
            text = room < 16 ? '' : label(c, scene.tree.name[i], room);
        c.fillText(text, at, middle);
        if (level === 0 || !text) return;
        const value = profile.relative ? points(i, kind) : signed(b[i] - a[i]),
            used = widthOf(c, text) + 10;
        if (room > used + c.measureText(value).width) c.fillText(value, at + used, middle);
    }

    // Returns the box of a frame on the sheet, or null.
    box(frame) {
        const { depth, end } = scene.tree,
            focus = scene.focus,
            y = this.y(depth[frame]),
            root = scene.split && frame >= scene.split ? scene.split : focus;
        if (frame <= root && root < end[frame]) return { x: 0, y, w: this.full };
        if (frame < root || frame >= end[root]) return null;
        const left = (this.x[frame] - this.x[root] - this.origin) * this.scale,
            right = left + this.weights[frame] * this.scale,
            x = Math.max(0, left);
        return right > x && x < this.view ? { x, y, w: Math.min(this.view, right) - x } : null;
    }

    mark(which, frame) {
        const node = this[which], box = frame >= 0 && frame < scene.tree.n ? this.box(frame) : null;
        node.hidden = !box;
        if (!box) return;
        Object.assign(node.style, {
            left: box.x + 'px',
            top: box.y + 'px',
            width: Math.max(3, box.w - 1) + 'px',
            height: this.row - 1 + 'px',
        });
    }

    // Returns the frame under the mouse, or -1.
    at(event) {
        const area = this.canvas.getBoundingClientRect(),
            px = event.clientX - area.left,
            py = event.clientY - area.top + this.scroll.scrollTop;
        const row = this.rowAt(py), { boxes } = this;
        for (let k = 0; k < boxes.frame.length; k++) {
            if (boxes.row[k] === row && px >= boxes.x[k] && px < boxes.x[k] + boxes.w[k])
                return boxes.frame[k];
        }
        return -1;
    }
}

export const panes = [];

// The frames under the keyboard's and the mouse's cursor, the pane with the keyboard, and whether
// the keyboard is in use.
export const cursor = { frame: -1, hover: -1, pane: 0, keys: false };

export function marks() {
    for (const pane of panes) {
        pane.mark('hover', cursor.hover);
        pane.mark('cursor', cursor.keys ? cursor.frame : -1);
    }
}
