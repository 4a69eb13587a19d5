// Handles drags and wheels over a canvas.

// Calls back while the main button is held: begins(x, event) returns whether the drag is accepted,
// moves(from, to) is called after some pixels, and ends(from, to) if the pointer has moved. x is in
// CSS pixels of the node. A finger scrolls instead.
export function drags(node, { begins, moves, ends }) {
    let from = null, moving = false;
    const at = (event) =>
        Math.max(0, Math.min(node.clientWidth, event.clientX - node.getBoundingClientRect().left));
    node.addEventListener('pointerdown', (event) => {
        if (event.button !== 0 || event.pointerType === 'touch' || !begins(at(event), event))
            return;
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

// Lets a drag over a canvas choose a part of it. `mark` shows the part during the drag. ends(from,
// to) gets pixels, the smaller one first.
export function chooses(canvas, mark, { begins, moves, ends }) {
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

// Handles the wheel: with Ctrl (a pinch, on touch pads) it zooms, with Shift or sideways it moves,
// otherwise it scrolls. takes(zooms) returns whether the canvas handles it; zoom(factor, part)
// zooms around a part of the canvas' width; move(part) moves by a part of it.
export function wheels(node, canvas, { takes, zoom: scale, move }) {
    node.addEventListener('wheel', (event) => {
        const { ctrlKey, metaKey, shiftKey, deltaX, deltaY } = event,
            unit = event.deltaMode === 1 ? 16 : 1,
            side = (shiftKey ? deltaX || deltaY : deltaX) * unit,
            zooms = ctrlKey || metaKey;
        if (!takes(zooms) || (!zooms && Math.abs(side) <= (shiftKey ? 0 : Math.abs(deltaY) * unit)))
            return;
        event.preventDefault();
        const { left, width } = canvas.getBoundingClientRect();
        if (zooms)
            scale(
                Math.exp(Math.max(-60, Math.min(60, deltaY * unit)) * 0.008),
                (event.clientX - left) / width,
            );
        else move(side / width);
    }, { passive: false });
}
