// What a flame graph does when touched: zoom, search, keys, links. The picture is whole without it.
// Names of frames are anybody's text: they are compared and become text nodes, nothing else.
(function () {
    'use strict';

    const svg = document.currentScript && document.currentScript.closest('svg') || document.getElementById('dprof');
    // A picture that is its own document owns keys and address; one pasted into a page leaves them alone.
    const alone = document.documentElement === svg;
    const [details, matched, unzoom, find, caseless, frames] =
        ['details', 'matched', 'unzoom', 'search', 'ignorecase', 'frames'].map((id) => svg.querySelector('#' + id));
    const data = svg.dataset, total = +data.total || 1, xpad = +data.xpad, letter = data.fontsize * data.fontwidth;
    const width = +svg.getAttribute('viewBox').split(/[\s,]+/)[2], room = width - 2 * xpad;
    const preset = data.search || '';
    const PLAIN = 0, PARENT = 1, HIDDEN = 2;

    // Frames: numbers, read once. left and wide are what a rect says now, in pixels.
    const groups = Array.from(frames.getElementsByClassName('f')), count = groups.length;
    const [x, w, y, left, wide, depth] = [1, 2, 3, 4, 5, 6].map(() => new Float64Array(count));
    const shown = new Uint8Array(count), hit = new Uint8Array(count);
    const index = new Map(), rects = [], texts = [], names = [], rows = new Map();
    groups.forEach((g, i) => {
        index.set(g, i);
        rects[i] = g.querySelector('rect');
        x[i] = g.getAttribute('data-x');
        w[i] = g.getAttribute('data-w');
        y[i] = rects[i].getAttribute('y');
        left[i] = xpad + x[i] / total * room;
        wide[i] = w[i] / total * room;
        rows.set(y[i], (rows.get(y[i]) || 0) + w[i]);
    });

    // The root's row is the fuller one of the outermost two. Where both are full, no sub having time of its own,
    // the line of details tells: it is beyond the frames' far end.
    const ys = Array.from(rows.keys()).sort((a, b) => a - b), last = ys.length - 1;
    const more = rows.get(ys[0]) - rows.get(ys[last]);
    const rootOnTop = Math.abs(more) > total * 1e-9 ? more > 0 : details.getAttribute('y') < ys[0];
    ys.forEach((at, row) => rows.set(at, rootOnTop ? row : last - row));
    y.forEach((at, i) => { depth[i] = rows.get(at); });

    // Letters sit as far below a frame's upper edge as the renderer put them.
    const sample = frames.querySelector('.f text');
    const drop = sample ? sample.getAttribute('y') - sample.parentNode.querySelector('rect').getAttribute('y') : 11;

    let zoomed = -1, term = '', pattern = null, ignoreCase = false, cursor = -1, over = -1;
    const outline = create('rect', frames.parentNode, frames.nextSibling);

    function create(what, parent, before) {
        return parent.insertBefore(document.createElementNS(svg.namespaceURI, what), before);
    }

    function full(i) { return groups[i].querySelector('title').textContent; }

    // A title is NAME (NUMBERS), and names may hold parentheses.
    function name(i) {
        return names[i] === undefined ? names[i] = full(i).replace(/ \((?!.* \()[^]*$/, '') : names[i];
    }

    // Places are sums that may have been rounded: this much two that are the same may differ.
    function slack(i) { return Math.min(total * 1e-9, w[i] * 1e-3); }

    function inside(i, j) {
        const end = x[j] + w[j], e = slack(j);
        return x[i] >= x[j] - e && x[i] + w[i] <= end + e && x[i] < end - e;
    }

    // The best of all frames that fit. All are looked at: 25,000 comparisons take no time, unlike an index at load.
    function best(fits, better) {
        let found = -1;
        for (let i = 0; i < count; i++) if (fits(i) && (found < 0 || better && better(i, found))) found = i;
        return found;
    }

    function parent(i) { return best((j) => depth[j] === depth[i] - 1 && inside(i, j)); }

    // ---- Drawing. Nothing is measured: a layout of 20,000 letters takes longer than all the rest.

    // As many characters as fit, the last two for dots if not all do; none if fewer than three fit.
    // Those of East Asia and emoji are taken for two.
    function fit(text, pixels) {
        const most = Math.floor(pixels / letter);
        if (most < 3) return '';
        if (text.length <= most && !/[^\0-\u10ff]/.test(text)) return text;
        let used = 0, cut = '';
        for (const c of text) {
            used += /[\u1100-\u11ff\u2e80-\uffe6]/.test(c) ? 2 : 1;
            if (used > most) return cut + '..';
            if (used <= most - 2) cut += c;
        }
        return text;
    }

    function round(v) { return Math.round(v * 1000) / 1000; }

    function label(i) {
        const text = fit(name(i), wide[i] - 6);
        if (texts[i] === undefined) texts[i] = rects[i].parentNode.querySelector('text');
        if (!texts[i]) {
            if (!text) return;
            texts[i] = create('text', rects[i].parentNode, rects[i].nextSibling);
            texts[i].setAttribute('y', y[i] + drop);
        }
        texts[i].setAttribute('x', round(left[i] + 3));
        if (texts[i].textContent !== text) texts[i].textContent = text;
    }

    function place(i, l, d) {
        if (left[i] === l && wide[i] === d) return;
        left[i] = l;
        wide[i] = d;
        rects[i].setAttribute('x', round(l));
        rects[i].setAttribute('width', round(d));
        label(i);
    }

    // What a frame is when another fills the width: part of it, one that leads to it, or neither.
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
                groups[i].classList.toggle('hide', now === HIDDEN);
                groups[i].classList.toggle('parent', now === PARENT);
                shown[i] = now;
            }
            if (now === PARENT) place(i, xpad, room);
            else if (now === PLAIN) place(i, xpad + (x[i] - from) * scale, w[i] * scale);
        }
        zoomed = to;
        unzoom.classList.toggle('hide', to < 0);
        tally();
        point(cursor >= 0 && shown[cursor] === HIDDEN ? to : cursor, over);
    }

    // Whether there was anything to do. The whole width is no zoom; no width cannot be shown.
    function zoom(to) {
        if (to >= 0 && (!(w[to] > 0) || depth[to] === 0 && w[to] >= total - slack(to))) to = -1;
        if (to === zoomed) return false;
        draw(to);
        return true;
    }

    // ---- Lines of text.

    function percent(some, all) {
        const p = 100 * some / all;
        return (p > 0 && p < 0.05 ? '< 0.1' : p.toFixed(1)) + ' %';
    }

    // A long name is cut, not the numbers after it, nor is what was matched covered. A name that runs from right
    // to left, or pretends to, is kept from turning the rest around.
    function tell(i) {
        over = i;
        if (i < 0) i = cursor;
        let text = ' ';
        if (i >= 0) {
            const head = data.nametype ? data.nametype + ' ' : '';
            const tail = full(i).slice(name(i).length) +
                (zoomed >= 0 && shown[i] === PLAIN ? ', ' + percent(w[i], w[zoomed]) + ' of the zoomed frame' : '');
            const taken = (head + tail + matched.textContent).length + 2;
            text = fit(name(i), Math.max(room / letter - taken, 8) * letter);
            text = head + (/[^\0-\u058f]/.test(text) ? '\u2068' + text + '\u2069' : text) + tail;
        }
        if (details.textContent !== text) details.textContent = text;
    }

    function say(text, bad) {
        matched.textContent = text;
        matched.classList.toggle('bad', !!bad);
    }

    // Frames lie in each other or apart: a sweep from the left, the wider first, counts no time twice.
    // What leads to the zoomed frame is coloured, too, but would make all of it matched.
    function tally() {
        if (!pattern) return say(' ');
        let sum = 0, end = -Infinity;
        Array.from(hit.keys()).filter((i) => hit[i] && shown[i] === PLAIN).sort((a, b) => x[a] - x[b] || w[b] - w[a]).forEach((i) => {
            if (x[i] + w[i] <= end + slack(i)) return;
            sum += w[i];
            end = x[i] + w[i];
        });
        say('Matched: ' + percent(sum, zoomed < 0 ? total : w[zoomed]));
    }

    // ---- Search.

    // Whether the text is a regular expression; if not, that is said, and the one before stays.
    function seek(text, anyCase) {
        let next = null;
        try {
            if (text) next = new RegExp(text, anyCase ? 'i' : '');
        } catch (error) {
            say(fit('Not a regular expression: ' + error.message.replace(/^.*: /, ''), room / 2), true);
            return false;
        }
        [term, pattern, ignoreCase] = [text, next, anyCase];
        for (let i = 0; i < count; i++) {
            const now = next && next.test(name(i)) ? 1 : 0;
            if (now !== hit[i]) groups[i].classList.toggle('match', !!now);
            hit[i] = now;
        }
        find.textContent = text ? 'Reset search' : 'Search';
        caseless.classList.toggle('on', anyCase);
        caseless.setAttribute('aria-pressed', anyCase);
        tally();
        return true;
    }

    function search(text) {
        const before = term, good = seek(String(text), ignoreCase);
        if (term !== before) visit();
        return good;
    }

    function ask() {
        // A sandbox has no dialogs: nothing is asked then.
        const text = window.prompt('Frames whose names match this regular expression:', term);
        if (typeof text === 'string') search(text);
    }

    // ---- Links: #at=NAME;NAME;...&q=REGEX&ic=1. A path of names outlives a profile taken anew; pixels do not.

    // What separates names is encoded once more than the rest: programs that handle links decode once.
    function encode(text) { return encodeURIComponent(text.replace(/[%;]/g, (c) => encodeURIComponent(c))); }

    function decode(text) {
        try { return decodeURIComponent(text); } catch (error) { return text; }
    }

    // Notes where we are. The frame's number goes along: in a chart by time many frames have one path.
    function visit(how) {
        if (!alone) return;
        const parts = [], path = [];
        try {
            for (let i = zoomed; i >= 0; i = parent(i)) path.unshift(encode(name(i)));
            if (path.length) parts.push('at=' + path.join(';'));
            if (term || preset) parts.push('q=' + encodeURIComponent(term));
            if (ignoreCase) parts.push('ic=1');
            // An empty hash would leave the word to the query.
            const hash = parts.join('&') || location.search && 'at=';
            history[how || 'pushState']({ frame: zoomed }, '', location.href.replace(/#.*/, '') + (hash && '#' + hash));
        } catch (error) { /* An address that must not change, or half a surrogate: there is no link, then. */ }
    }

    // As far as the path goes: of all frames with that path the one hinted at, or else the first.
    function follow(path, hint) {
        let found = -1, level = null;
        path.every((wanted, d) => {
            const above = level;
            level = Array.from(depth.keys()).filter((i) => depth[i] === d && (!above || above.some((j) => inside(i, j))) && name(i) === wanted);
            if (level.length) found = level.indexOf(hint) < 0 ? level[0] : hint;
            return level.length;
        });
        return found;
    }

    function restore() {
        const given = new Map();
        if (alone) {
            (location.hash.slice(1) || location.search.slice(1)).replace(/([^&=]+)=([^&]*)/g, (all, key, value) => given.set(key, decode(value)));
        }
        zoom(given.get('at') ? follow(given.get('at').split(';').map(decode), history.state ? history.state.frame : -1) : -1);
        const text = given.has('q') ? given.get('q') : preset, anyCase = given.get('ic') === '1';
        if (text !== term || anyCase !== ignoreCase) seek(text, anyCase);
    }

    // ---- Hands: clicks, the pointer, keys.

    // The keyboard's place is one outline that moves: nobody wants to press Tab through 25,000 frames.
    function point(i, hover) {
        cursor = i;
        outline.classList.toggle('hide', i < 0);
        if (i >= 0) {
            const box = { x: round(left[i]), y: y[i], width: round(wide[i]), height: rects[i].getAttribute('height') };
            for (const key of Object.keys(box)) outline.setAttribute(key, box[key]);
        }
        tell(hover === undefined ? -1 : hover);
    }

    // Up and down as on the screen: away from the root to the widest child, towards it to the parent.
    function step(key) {
        const c = cursor, by = key === 'ArrowLeft' ? -1 : 1;
        let to;
        if (c < 0 || key === 'Home') {
            to = zoomed >= 0 ? zoomed : best((i) => depth[i] === 0);
        } else if (key === 'ArrowLeft' || key === 'ArrowRight') {
            to = best((i) => depth[i] === depth[c] && shown[i] !== HIDDEN && (x[i] - x[c]) * by > 0, (i, j) => (x[i] - x[j]) * by < 0);
        } else if ((key === 'ArrowDown') !== rootOnTop) {
            to = parent(c);
        } else {
            to = best((i) => depth[i] === depth[c] + 1 && shown[i] !== HIDDEN && inside(i, c), (i, j) => w[i] > w[j]);
        }
        if (to < 0) return;
        point(to);
        outline.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }

    function go(to) { if (zoom(to)) visit(); }

    const actions = new Map([
        [unzoom, () => go(-1)],
        [find, () => { if (term) search(''); else ask(); }],
        [caseless, () => { seek(term, !ignoreCase); visit('replaceState'); }],
    ]);

    function press(event) {
        const { key } = event, at = event.target.closest ? event.target : svg, control = at.closest('.control');
        if (event.altKey || event.defaultPrevented) return;
        if (event.ctrlKey || event.metaKey) {
            if (event.shiftKey || !/^[fi]$/i.test(key)) return;
            if (/f/i.test(key)) ask(); else actions.get(caseless)();
        } else if (control && /^(Enter| )$/.test(key)) {
            actions.get(control)();
        } else if (key === '/') {
            ask();
        } else if (key === 'Escape') {
            if (zoomed >= 0) go(-1); else point(-1);
        } else if (key === 'Enter' && cursor >= 0 && !at.closest('a')) {
            go(cursor);
        } else if (/^(Arrow.*|Home)$/.test(key)) {
            step(key);
        } else {
            return;
        }
        event.preventDefault();
    }

    svg.addEventListener('click', (event) => {
        const { target } = event, control = target.closest('.control'), i = index.get(target.closest('.f'));
        if (control) return actions.get(control)();
        if (i === undefined) return;
        if (target.closest('a')) {
            if (!event.ctrlKey && !event.metaKey) return;
            event.preventDefault();
        }
        point(-1, i);
        go(i);
    });
    svg.addEventListener('mouseover', (event) => {
        const i = index.get(event.target.closest('.f'));
        if (i !== over) tell(i === undefined ? -1 : i);
    });
    svg.addEventListener('mouseleave', () => tell(-1));
    svg.addEventListener('focus', () => { if (cursor < 0 && svg.matches(':focus-visible')) step('Home'); });
    (alone ? window : svg).addEventListener('keydown', press);
    if (alone) window.addEventListener('popstate', restore);
    window.dprofSearch = search;

    // ---- It lives. Room is made for the longer words of the controls.

    outline.id = 'cursor';
    outline.classList.add('hide');
    svg.classList.add('live');
    svg.setAttribute('tabindex', 0);
    svg.setAttribute('role', 'application');
    caseless.setAttribute('aria-label', 'ignore case');
    for (const line of [details, matched]) line.setAttribute('aria-live', 'polite');
    for (const [control] of actions) {
        control.setAttribute('role', 'button');
        control.setAttribute('tabindex', 0);
    }
    for (const text of [matched, caseless, find]) text.setAttribute('x', width - xpad - (text === find ? 3 * letter : 0));
    restore();
}());
