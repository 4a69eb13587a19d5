'use strict';

// The whole graph in small, above the graph: what of it is on show; a drag in it moves that, or chooses another part.

const MAP_HIGH = 36;           // CSS pixels

class Minimap {
    constructor(pane) {
        this.pane = pane;
        this.canvas = make('canvas', { className: 'small' });
        this.frame = make('div', { className: 'window', hidden: true });
        this.node = make('div', { className: 'map', title: 'All of the graph: drag to choose a part of it', 'aria-hidden': 'true' }, this.canvas, this.frame);
        drags(this.node, {
            begins: (x) => {
                const [from, to] = this.part();
                this.moved = from > 0 || to < 1 ? (x / this.wide >= from && x / this.wide <= to ? [from, to] : null) : null;
                return true;
            },
            moves: (from, to) => this.place(this.moved ? this.shifted(from, to) : [Math.min(from, to) / this.wide, Math.max(from, to) / this.wide]),
            ends: (from, to) => chooseRange(this.moved ? this.shifted(from, to) : [Math.min(from, to) / this.wide, Math.max(from, to) / this.wide], true, []),
        });
    }

    shifted(from, to) {
        const [a, b] = this.moved, by = Math.max(-a, Math.min(1 - b, (to - from) / this.wide));
        return [a + by, b + by];
    }

    // Returns which part of the whole is on show.
    part() {
        const { x, weights } = this.pane, { focus } = scene, all = weights[0] || 1, [from, to] = state.range || [0, 1];
        return [(x[focus] + from * weights[focus]) / all, (x[focus] + to * weights[focus]) / all];
    }

    place([from, to]) {
        this.frame.hidden = !(from > 0 || to < 1);
        Object.assign(this.frame.style, { left: from * this.wide + 'px', width: Math.max(3, (to - from) * this.wide) + 'px' });
    }

    paint() {
        // Zoomed callers are made for the zoom alone.
        this.node.hidden = scene.split > 0 || printing || (state.reversed && state.path.length > 0);
        if (this.node.hidden) return;
        this.wide = this.node.clientWidth;
        if (!(this.wide > 0)) return;
        const key = [ink.t, this.wide, state.icicle, state.order, state.width, state.colour, state.uncertain, devicePixelRatio].join();
        if (this.of !== scene.tree || this.weights !== this.pane.weights || this.key !== key) {
            Object.assign(this, { of: scene.tree, weights: this.pane.weights, key });
            this.draw();
        }
        this.place(this.part());
    }

    draw() {
        const { canvas, wide, pane: { x, weights, width } } = this, { n, end, depth, name } = scene.tree, dpr = devicePixelRatio || 1, c = canvas.getContext('2d');
        Object.assign(canvas, { width: Math.round(wide * dpr), height: Math.round(MAP_HIGH * dpr) });
        c.setTransform(dpr, 0, 0, dpr, 0, 0);
        c.fillStyle = ink.back;
        c.fillRect(0, 0, wide, MAP_HIGH);
        const scale = weights[0] > 0 ? wide / weights[0] : 0, row = Math.min(6, MAP_HIGH / (scene.deepest + 1));
        for (let i = 0; i < n;) {
            const w = weights[i] * scale;
            if (w < 1) {
                i = end[i];
                continue;
            }
            c.fillStyle = profile.diff ? ink.levels[levelOf(shade(i, width)) + LEVELS] : ink.fill[name[i]];
            c.fillRect(x[i] * scale, state.icicle ? depth[i] * row : MAP_HIGH - (depth[i] + 1) * row, w > 3 ? w - 0.5 : w, row > 2 ? row - 0.5 : row);
            i++;
        }
    }
}

// Calls back while the main button is held: begins(x, event) says whether it is taken, moves(from, to) after some pixels, ends(from,
// to) if it moved; x in CSS pixels of the node. A finger scrolls instead.
function drags(node, { begins, moves, ends }) {
    let from = null, moving = false;
    const at = (event) => Math.max(0, Math.min(node.clientWidth, event.clientX - node.getBoundingClientRect().left));
    node.addEventListener('pointerdown', (event) => {
        if (event.button !== 0 || event.pointerType === 'touch' || !begins(at(event), event)) return;
        from = at(event);
        moving = false;
    });
    node.addEventListener('pointermove', (event) => {
        if (from === null) return;
        if (!(event.buttons & 1)) {
            from = null;
            return;
        }
        if (!moving && Math.abs(at(event) - from) < 5) return;
        if (!moving) node.setPointerCapture(event.pointerId);
        moving = true;
        moves(from, at(event), event);
    });
    node.addEventListener('pointerup', (event) => {
        if (from !== null && moving) ends(from, at(event), event);
        from = null;
    });
    node.addEventListener('pointercancel', () => { from = null; });
    // The click that follows is part of the drag.
    node.addEventListener('click', (event) => {
        if (moving) event.stopImmediatePropagation();
        moving = false;
    }, { capture: true });
}

// Lets a drag over a canvas choose a part of it: `mark` shows it meanwhile. ends(from, to): pixels, the smaller one first.
function chooses(canvas, mark, { begins, moves, ends }) {
    const part = (from, to) => [Math.min(from, to), Math.max(from, to)];
    drags(canvas, {
        begins,
        moves: (...at) => {
            const [from, to] = part(...at);
            moves();
            mark.hidden = false;
            Object.assign(mark.style, { left: from + 'px', width: to - from + 'px' });
        },
        ends: (from, to) => {
            mark.hidden = true;
            ends(...part(from, to));
        },
    });
    canvas.addEventListener('pointercancel', () => { mark.hidden = true; });
}

// Ctrl and the wheel (a pinch, on touch pads) zoom, Shift and the wheel move; the wheel alone scrolls. takes(zooms) says whether there is
// anything to do; zoom(factor, part): around a part of the canvas' width; move(part).
function wheels(node, canvas, { takes, zoom: scale, move }) {
    node.addEventListener('wheel', (event) => {
        const { ctrlKey, metaKey, shiftKey, deltaX, deltaY } = event, unit = event.deltaMode === 1 ? 16 : 1, side = (shiftKey ? deltaX || deltaY : deltaX) * unit, zooms = ctrlKey || metaKey;
        if (!takes(zooms) || (!zooms && Math.abs(side) <= (shiftKey ? 0 : Math.abs(deltaY) * unit))) return;
        event.preventDefault();
        const { left, width } = canvas.getBoundingClientRect();
        if (zooms) scale(Math.exp(Math.max(-60, Math.min(60, deltaY * unit)) * 0.008), (event.clientX - left) / width);
        else move(side / width);
    }, { passive: false });
}
