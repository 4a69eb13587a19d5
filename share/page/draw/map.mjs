// Draws the whole graph in small, above the graph, and marks the visible part. A drag in it moves
// that part, or chooses another one.

import { drags } from '../base/drags.mjs';
import { make } from '../base/elements.mjs';
import { profile, state } from '../model/profile.mjs';
import { isGrey, scene, shade } from '../model/scene.mjs';
import { LEVELS, display, ink, levelOf } from './colours.mjs';

export const MAP_HIGH = 36;           // CSS pixels

export class Minimap {
    constructor(pane, choose) {
        this.pane = pane;
        this.canvas = make('canvas', { className: 'small' });
        this.frame = make('div', { className: 'window', hidden: true });
        this.node = make(
            'div',
            {
                className: 'map',
                title: 'All of the graph: drag to choose a part of it',
                'aria-hidden': 'true',
            },
            this.canvas,
            this.frame,
        );
        drags(this.node, {
            begins: (x) => {
                const [from, to] = this.part();
                this.moved =
                    from > 0 || to < 1
                        ? x / this.wide >= from && x / this.wide <= to
                            ? [from, to]
                            : null
                        : null;
                return true;
            },
            moves: (from, to) =>
                this.place(
                    this.moved
                        ? this.shifted(from, to)
                        : [Math.min(from, to) / this.wide, Math.max(from, to) / this.wide],
                ),
            ends: (from, to) =>
                choose(
                    this.moved
                        ? this.shifted(from, to)
                        : [Math.min(from, to) / this.wide, Math.max(from, to) / this.wide],
                ),
        });
    }

    shifted(from, to) {
        const [a, b] = this.moved, by = Math.max(-a, Math.min(1 - b, (to - from) / this.wide));
        return [a + by, b + by];
    }

    // Returns the visible part of the whole.
    part() {
        const { x, weights } = this.pane,
            { focus } = scene,
            all = weights[0] || 1,
            [from, to] = state.range || [0, 1];
        return [(x[focus] + from * weights[focus]) / all, (x[focus] + to * weights[focus]) / all];
    }

    place([from, to]) {
        this.frame.hidden = !(from > 0 || to < 1);
        Object.assign(this.frame.style, {
            left: from * this.wide + 'px',
            width: Math.max(3, (to - from) * this.wide) + 'px',
        });
    }

    paint() {
        // With a zoom, the tree of callers is built only for that zoom, so there is no whole.
        this.node.hidden =
            scene.split > 0 || display.printing || (state.reversed && state.path.length > 0);
        if (this.node.hidden) return;
        this.wide = this.node.clientWidth;
        if (!(this.wide > 0)) return;
        const key = [
            ink.theme,
            this.wide,
            state.icicle,
            state.order,
            state.width,
            state.colour,
            state.measure,
            state.uncertain,
            state.kind,
            devicePixelRatio,
        ].join();
        if (this.of !== scene.tree || this.weights !== this.pane.weights || this.key !== key) {
            Object.assign(this, { of: scene.tree, weights: this.pane.weights, key });
            this.draw();
        }
        this.place(this.part());
    }

    draw() {
        const {
                canvas,
                wide,
                pane: { x, weights, width },
            } = this,
            { n, end, depth, name } = scene.tree,
            dpr = devicePixelRatio || 1,
            c = canvas.getContext('2d');
        Object.assign(canvas, {
            width: Math.round(wide * dpr),
            height: Math.round(MAP_HIGH * dpr),
        });
        c.setTransform(dpr, 0, 0, dpr, 0, 0);
        c.fillStyle = ink.back;
        c.fillRect(0, 0, wide, MAP_HIGH);
        const scale = weights[0] > 0 ? wide / weights[0] : 0,
            row = Math.min(6, MAP_HIGH / (scene.deepest + 1));
        for (let i = 0; i < n;) {
            const w = weights[i] * scale;
            if (w < 1) {
                i = end[i];
                continue;
            }
            c.fillStyle = profile.diff
                ? ink.levels[levelOf(shade(i, width)) + LEVELS]
                : isGrey(i)
                  ? ink.dust
                  : ink.fill[name[i]];
            c.fillRect(
                x[i] * scale,
                state.icicle ? depth[i] * row : MAP_HIGH - (depth[i] + 1) * row,
                w > 3 ? w - 0.5 : w,
                row > 2 ? row - 0.5 : row,
            );
            i++;
        }
    }
}
