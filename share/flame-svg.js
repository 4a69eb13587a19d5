// What a flame graph does when touched: zoom, search, keys, links. The picture is whole without it.
// Names of frames are anybody's text: they are compared, and become text nodes, and nothing else.
(function () {
    'use strict';

    const script = document.currentScript;
    const svg = script && script.closest('svg') || document.getElementById('dprof');
    // A picture that is its own document owns keys and address; one pasted into a page asks for the focus first.
    const alone = document.documentElement === svg;
    const id = (name) => svg.querySelector('#' + name);
    const number = (name, otherwise) => parseFloat(svg.getAttribute('data-' + name)) || otherwise;
    const [title, details, matched, unzoom, find, caseless, frames] =
        ['title', 'details', 'matched', 'unzoom', 'search', 'ignorecase', 'frames'].map(id);
    const total = number('total', 1), xpad = number('xpad', 0), fontsize = number('fontsize', 12);
    const letter = fontsize * number('fontwidth', 0.59);
    const width = parseFloat(svg.getAttribute('viewBox').split(/[\s,]+/)[2]), room = width - 2 * xpad;
    const nametype = svg.getAttribute('data-nametype') || '', preset = svg.getAttribute('data-search') || '';

    // ---- Frames: numbers in arrays, read once. left and wide are what a frame's rect says now, in pixels.

    const PLAIN = 0, PARENT = 1, HIDDEN = 2;
    const groups = Array.from(frames.getElementsByClassName('f')), count = groups.length;
    const index = new Map(), rects = [], texts = [], names = [], rowOf = new Map();
    const x = new Float64Array(count), w = new Float64Array(count), y = new Float64Array(count);
    const left = new Float64Array(count), wide = new Float64Array(count);
    const shown = new Uint8Array(count), hit = new Uint8Array(count), depth = new Int32Array(count);

    groups.forEach((g, i) => {
        index.set(g, i);
        rects[i] = g.querySelector('rect');
        x[i] = +g.getAttribute('data-x');
        w[i] = +g.getAttribute('data-w');
        y[i] = +rects[i].getAttribute('y');
        left[i] = xpad + x[i] / total * room;
        wide[i] = w[i] / total * room;
        rowOf.set(y[i], (rowOf.get(y[i]) || 0) + w[i]);
    });

    // The root's row is the fuller one of the outermost two. Both are full where no sub has time of its own: then the
    // line of details tells, which is at the frames' far end, beyond the root.
    const ys = Array.from(rowOf.keys()).sort((a, b) => a - b), last = ys.length - 1;
    const more = count ? rowOf.get(ys[0]) - rowOf.get(ys[last]) : 0;
    const rootOnTop = Math.abs(more) > total * 1e-9 ? more > 0 : count > 0 && +details.getAttribute('y') < ys[0];
    ys.forEach((at, row) => rowOf.set(at, rootOnTop ? row : last - row));
    for (let i = 0; i < count; i++) depth[i] = rowOf.get(y[i]);

    // Letters sit as far below a frame's upper edge as the renderer put them.
    const sample = frames.querySelector('.f text');
    const drop = sample ? sample.getAttribute('y') - sample.parentNode.querySelector('rect').getAttribute('y') : fontsize;

    let zoomed = -1, term = '', pattern = null, ignoreCase = false, cursor = -1, over = -1, outline = null;
    let rowsMade = null;

    function full(i) { return groups[i].querySelector('title').textContent; }

    // A title is NAME (NUMBERS), and names may hold parentheses.
    function name(i) {
        if (names[i] === undefined) {
            const text = full(i), end = text.lastIndexOf(' (');
            names[i] = end < 0 ? text : text.slice(0, end);
        }
        return names[i];
    }

    // Each depth's frames from left to right: made when first asked for, as drawing needs none of it.
    function rows() {
        if (!rowsMade) {
            rowsMade = ys.map(() => []);
            for (let i = 0; i < count; i++) rowsMade[depth[i]].push(i);
            for (const row of rowsMade) row.sort((a, b) => x[a] - x[b] || a - b);
        }
        return rowsMade;
    }

    // Places are sums that may have been rounded: how much two that are the same may differ.
    function slack(span) { return Math.min(total * 1e-9, span * 1e-3); }

    function inside(i, j) {
        const e = slack(w[j]);
        return x[i] >= x[j] - e && x[i] + w[i] <= x[j] + w[j] + e && x[i] < x[j] + w[j] - e;
    }

    // The first place in a row at or right of a point.
    function lower(row, point) {
        let a = 0, b = row.length;
        while (a < b) {
            const m = a + b >> 1;
            if (x[row[m]] < point) a = m + 1; else b = m;
        }
        return a;
    }

    function children(i) {
        const row = rows()[depth[i] + 1] || [], found = [];
        for (let k = lower(row, x[i] - slack(w[i])); k < row.length && inside(row[k], i); k++) found.push(row[k]);
        return found;
    }

    function parent(i) {
        if (!depth[i]) return -1;
        const row = rows()[depth[i] - 1];
        for (let k = Math.min(lower(row, x[i] + slack(w[i])), row.length - 1); k >= 0; k--) {
            if (inside(i, row[k])) return row[k];
            if (x[row[k]] + w[row[k]] < x[i]) break;
        }
        return -1;
    }

    // ---- Drawing. Nothing is measured: a layout of 20,000 letters would take longer than all the rest.

    const twoWide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

    // As many characters as fit, the last two for dots if not all do; none if fewer than three fit.
    function fit(text, pixels) {
        const most = Math.floor(pixels / letter);
        if (most < 3) return '';
        if (text.length <= most && !/[^\0-\u10ff]/.test(text)) return text;
        const all = Array.from(text), cells = all.map((c) => c.length > 1 || twoWide.test(c) ? 2 : 1);
        let used = cells.reduce((sum, n) => sum + n, 0);
        if (used <= most) return text;
        let n = all.length;
        while (n && used > most - 2) used -= cells[--n];
        return all.slice(0, n).join('') + '..';
    }

    function label(i) {
        if (texts[i] === undefined) texts[i] = rects[i].parentNode.querySelector('text');
        const text = wide[i] - 6 < 3 * letter ? '' : fit(name(i), wide[i] - 6);
        if (!texts[i]) {
            if (!text) return;
            texts[i] = document.createElementNS(svg.namespaceURI, 'text');
            texts[i].setAttribute('y', y[i] + drop);
            rects[i].parentNode.insertBefore(texts[i], rects[i].nextSibling);
        }
        if (text) texts[i].setAttribute('x', pixels(left[i] + 3));
        if (texts[i].textContent !== text) texts[i].textContent = text;
    }

    function pixels(v) { return Math.round(v * 1000) / 1000; }

    function place(i, l, d) {
        if (left[i] === l && wide[i] === d) return;
        left[i] = l;
        wide[i] = d;
        rects[i].setAttribute('x', pixels(l));
        rects[i].setAttribute('width', pixels(d));
        label(i);
    }

    // What a frame is when another fills the width: its own, one that leads to it, or neither.
    function part(i, to) {
        if (to < 0 || i === to) return PLAIN;
        if (depth[i] < depth[to]) return inside(to, i) ? PARENT : HIDDEN;
        return depth[i] > depth[to] && inside(i, to) ? PLAIN : HIDDEN;
    }

    // Attributes are written where they change, and not at all where nothing is seen of it.
    function draw(to) {
        const from = to < 0 ? 0 : x[to], scale = room / (to < 0 ? total : w[to]);
        for (let i = 0; i < count; i++) {
            const now = part(i, to), was = shown[i];
            if (now !== was) {
                if (was === HIDDEN || now === HIDDEN) groups[i].classList.toggle('hide', now === HIDDEN);
                if (was === PARENT || now === PARENT) groups[i].classList.toggle('parent', now === PARENT);
                shown[i] = now;
            }
            if (now === PARENT) place(i, xpad, room);
            else if (now === PLAIN) place(i, xpad + (x[i] - from) * scale, w[i] * scale);
        }
        zoomed = to;
        unzoom.classList.toggle('hide', to < 0);
        if (cursor >= 0) point(shown[cursor] === HIDDEN ? zoomed : cursor);
        tally();
        tell(over);
    }

    // The whole width again is no zoom, so that its link and its reset are those of the whole.
    function zoom(to) {
        if (to >= 0 && !(w[to] > 0)) return;
        if (to >= 0 && depth[to] === 0 && w[to] >= total - slack(total)) to = -1;
        if (to === zoomed) return;
        draw(to);
        visit();
    }

    // ---- Lines of text.

    function percent(part, whole) {
        const p = 100 * part / whole;
        return (p > 0 && p < 0.05 ? '< 0.1' : p.toFixed(1)) + '\u00a0%';
    }

    // A name that runs from right to left, or pretends to, is kept from turning what follows it around.
    function isolate(text) {
        return /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ?
            '\u2068' + text + '\u2069' : text;
    }

    // A long name is cut, not the numbers after it, nor what was matched.
    function tell(i) {
        over = i;
        if (i < 0) i = cursor;
        let text = ' ';
        if (i >= 0) {
            const head = nametype ? nametype + ' ' : '', inZoom = zoomed >= 0 && i !== zoomed && shown[i] === PLAIN;
            const tail = full(i).slice(name(i).length) + (inZoom ? ', ' + percent(w[i], w[zoomed]) + ' of the zoomed frame' : '');
            const taken = head.length + tail.length + (matched.textContent.trim() ? matched.textContent.length + 2 : 0);
            text = head + isolate(fit(name(i), Math.max(room - taken * letter, 8 * letter))) + tail;
        }
        if (details.textContent !== text) details.textContent = text;
    }

    function say(text, bad) {
        matched.textContent = text;
        matched.classList.toggle('bad', !!bad);
    }

    // Frames lie in each other or apart, so a sweep from the left, the wider first, counts no time twice.
    // What leads to the zoomed frame is coloured, too, but would make it all matched.
    function tally() {
        if (!pattern) return say(' ');
        const found = [], whole = zoomed < 0 ? total : w[zoomed];
        for (let i = 0; i < count; i++) if (hit[i] && shown[i] === PLAIN) found.push(i);
        found.sort((a, b) => x[a] - x[b] || w[b] - w[a]);
        let sum = 0, end = -Infinity;
        for (const i of found) {
            if (x[i] + w[i] <= end + slack(w[i])) continue;
            sum += w[i];
            end = x[i] + w[i];
        }
        say('Matched: ' + percent(sum, whole));
    }

    // ---- Search.

    // Returns whether the text is a regular expression; if not, that is said, and the one before stays.
    function seek(text) {
        let next = null;
        try {
            if (text) next = new RegExp(text, ignoreCase ? 'i' : '');
        } catch (error) {
            say(fit('Not a regular expression: ' + String(error.message).replace(/^.*: /, ''), room / 2), true);
            return false;
        }
        term = text;
        pattern = next;
        for (let i = 0; i < count; i++) {
            const now = next !== null && next.test(name(i)) ? 1 : 0;
            if (now !== hit[i]) groups[i].classList.toggle('match', !!now);
            hit[i] = now;
        }
        find.textContent = text ? 'Reset search' : 'Search';
        tally();
        return true;
    }

    function search(text) {
        text = String(text);
        const same = text === term;
        if (!seek(text)) return false;
        if (!same) visit();
        return true;
    }

    function ask() {
        let text = null;
        try {
            text = window.prompt('Frames whose names match this regular expression:', term);
        } catch (error) { /* A sandbox without dialogs: nothing was asked. */ }
        if (text !== null) search(text);
    }

    function setCase(on) {
        ignoreCase = on;
        caseless.classList.toggle('on', on);
        caseless.setAttribute('aria-pressed', String(on));
        seek(term);
    }

    // ---- Links: #at=NAME;NAME;...&q=REGEX&ic=1. A path of names outlives a profile taken anew, pixels do not.

    // What separates names is encoded in them, once more than the rest: programs that take links apart decode once.
    const encode = (text) => encodeURIComponent(text.replace(/[%;]/g, (c) => encodeURIComponent(c)));

    function decode(text) {
        try { return decodeURIComponent(text); } catch (error) { return text; }
    }

    function path(i) {
        const found = [];
        for (; i >= 0; i = parent(i)) found.unshift(name(i));
        return found;
    }

    function link() {
        const parts = [];
        if (zoomed >= 0) parts.push('at=' + path(zoomed).map(encode).join(';'));
        if (term || preset) parts.push('q=' + encodeURIComponent(term));
        if (ignoreCase) parts.push('ic=1');
        return parts.join('&') || (location.search ? 'at=' : '');
    }

    // The frame's number goes along: in a chart by time one path may be that of many frames.
    function visit(how) {
        if (!alone) return;
        try {
            const hash = link();
            history[how || 'pushState']({ frame: zoomed }, '', location.href.replace(/#.*/, '') + (hash && '#' + hash));
        } catch (error) { /* An address that cannot change, as of data: URLs in some browsers; or half a surrogate. */ }
    }

    // As far as the path goes: of all frames with that path the hinted one, or else the first.
    function follow(wanted, hint) {
        let found = -1, level = count ? rows()[0] : [];
        for (let d = 0; d < wanted.length; d++) {
            level = level.filter((i) => name(i) === wanted[d]);
            if (!level.length) break;
            found = level.indexOf(hint) < 0 ? level[0] : hint;
            level = d + 1 < wanted.length ? [].concat(...level.map(children)) : level;
        }
        return found;
    }

    function restore() {
        const given = new Map();
        if (alone) {
            for (const pair of (location.hash.slice(1) || location.search.slice(1)).split('&')) {
                const at = pair.indexOf('=');
                if (at > 0) given.set(pair.slice(0, at), decode(pair.slice(at + 1)));
            }
        }
        let hint = -1, to = -1;
        try { hint = history.state.frame; } catch (error) { /* No state, or none to be read here. */ }
        if (given.get('at')) to = follow(given.get('at').split(';').map(decode), hint);
        if (to >= 0 && (!(w[to] > 0) || depth[to] === 0 && w[to] >= total - slack(total))) to = -1;
        if (to !== zoomed) draw(to);
        const on = given.get('ic') === '1', text = given.has('q') ? given.get('q') : preset;
        if (on !== ignoreCase) setCase(on);
        if (text !== term) seek(text);
    }

    // ---- Hands: clicks, the pointer, keys.

    // The keyboard's place is one outline that moves; 25,000 frames to tab through would be nobody's help.
    function point(i) {
        cursor = i;
        if (!outline) {
            outline = document.createElementNS(svg.namespaceURI, 'rect');
            outline.id = 'cursor';
            frames.parentNode.insertBefore(outline, frames.nextSibling);
        }
        outline.classList.toggle('hide', i < 0);
        if (i >= 0) {
            outline.setAttribute('x', pixels(left[i]));
            outline.setAttribute('width', pixels(wide[i]));
            outline.setAttribute('y', y[i]);
            outline.setAttribute('height', rects[i].getAttribute('height'));
        }
        tell(-1);
    }

    const root = () => zoomed >= 0 || !count ? zoomed : rows()[0][0];

    // Up and down as on the screen: away from the root to the widest child, towards it to the parent.
    function step(key) {
        let to = -1;
        if (cursor < 0 || key === 'Home') {
            to = root();
        } else if (key === 'ArrowLeft' || key === 'ArrowRight') {
            const row = rows()[depth[cursor]], by = key === 'ArrowLeft' ? -1 : 1;
            let k = row.indexOf(cursor) + by;
            while (k >= 0 && k < row.length && shown[row[k]] === HIDDEN) k += by;
            to = k >= 0 && k < row.length ? row[k] : -1;
        } else if ((key === 'ArrowDown') !== rootOnTop) {
            to = parent(cursor);
        } else {
            for (const i of children(cursor)) if (shown[i] !== HIDDEN && (to < 0 || w[i] > w[to])) to = i;
        }
        if (to < 0) return;
        point(to);
        outline.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }

    const actions = new Map([
        [unzoom, () => zoom(-1)],
        [find, () => { if (term) search(''); else ask(); }],
        [caseless, () => { setCase(!ignoreCase); visit('replaceState'); }],
    ]);

    function key(event) {
        const pressed = event.key.length > 1 ? event.key : event.key.toLowerCase();
        const at = event.target instanceof Element ? event.target : svg, control = at.closest('.control');
        if (event.altKey || event.defaultPrevented) return;
        if (event.ctrlKey || event.metaKey) {
            if (event.shiftKey) return;
            if (pressed === 'f') ask();
            else if (pressed === 'i') actions.get(caseless)();
            else return;
        } else if (control && (pressed === 'Enter' || pressed === ' ')) {
            actions.get(control)();
        } else if (pressed === '/') {
            ask();
        } else if (pressed === 'Escape') {
            if (zoomed >= 0) zoom(-1); else if (cursor >= 0) point(-1);
        } else if (pressed === 'Enter' && cursor >= 0 && !at.closest('a')) {
            zoom(cursor);
        } else if (/^Arrow|^Home$/.test(pressed)) {
            step(pressed);
        } else {
            return;
        }
        event.preventDefault();
    }

    svg.addEventListener('click', (event) => {
        const control = event.target.closest('.control'), g = event.target.closest('.f');
        if (control) return actions.get(control)();
        if (!g || !index.has(g)) return;
        if (event.target.closest('a')) {
            if (!event.ctrlKey && !event.metaKey) return;
            event.preventDefault();
        }
        if (cursor >= 0) point(-1);
        zoom(index.get(g));
    });
    svg.addEventListener('mouseover', (event) => {
        const g = event.target.closest('.f'), i = g && index.has(g) ? index.get(g) : -1;
        if (i !== over) tell(i);
    });
    svg.addEventListener('mouseleave', () => tell(-1));
    svg.addEventListener('focus', () => { if (cursor < 0 && svg.matches(':focus-visible')) point(root()); });
    (alone ? window : svg).addEventListener('keydown', key);
    if (alone) window.addEventListener('popstate', restore);
    window.dprofSearch = search;

    // ---- It lives. Room is made for the longer words of the controls.

    svg.classList.add('live');
    svg.setAttribute('tabindex', '0');
    svg.setAttribute('role', 'application');
    details.setAttribute('aria-live', 'polite');
    matched.setAttribute('aria-live', 'polite');
    for (const control of actions.keys()) {
        control.setAttribute('role', 'button');
        control.setAttribute('tabindex', '0');
    }
    matched.setAttribute('x', width - xpad);
    caseless.setAttribute('x', width - xpad);
    find.setAttribute('x', width - xpad - 3 * letter);
    caseless.setAttribute('aria-label', 'ignore case');
    restore();
}());
