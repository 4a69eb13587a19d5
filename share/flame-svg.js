// Zoom, search, keys and links of a flame graph. The picture is complete without this script. Names
// of frames may be any text, so they are only compared and shown.
(function () {
    'use strict';

    const svg = document.currentScript.closest('svg');
    // A picture may use keys and the address only if it is a document of its own, and not if it is
    // pasted into a page.
    const alone = document.documentElement === svg;
    const [details, matched, unzoom, find, caseless, frames, uncertain] =
        ['details', 'matched', 'unzoom', 'search', 'ignorecase', 'frames', 'uncertain'].map((id) => svg.querySelector('#' + id));
    const data = svg.dataset, total = +data.total || 1, xpad = +data.xpad, letter = data.fontsize * data.fontwidth;
    const width = svg.viewBox.baseVal.width, room = width - 2 * xpad;
    const PLAIN = 0, PARENT = 1, HIDDEN = 2;

    // Frames are numbers, read once. left and wide are a rect's current values, in pixels.
    const groups = [...frames.querySelectorAll('.f')], count = groups.length;
    const [x, w, y, left, wide, depth] = [1, 2, 3, 4, 5, 6].map(() => new Float64Array(count));
    const shown = new Uint8Array(count), hit = new Uint8Array(count), all = [...hit.keys()];
    const index = new Map(), rects = [], names = [], rows = new Map();
    groups.forEach((g, i) => {
        index.set(g, i);
        rects[i] = g.querySelector('rect');
        x[i] = g.dataset.x;
        w[i] = g.dataset.w;
        y[i] = rects[i].getAttribute('y');
        left[i] = xpad + x[i] / total * room;
        wide[i] = w[i] / total * room;
        rows.set(y[i], (rows.get(y[i]) || 0) + w[i]);
    });

    // The root's row is the fuller one of the outermost two. If both are full, the line of details
    // decides, which is on the root's side.
    const ys = [...rows.keys()].sort((a, b) => a - b), last = ys.length - 1;
    const more = rows.get(ys[0]) - rows.get(ys[last]);
    const rootOnTop = Math.abs(more) > total * 1e-9 ? more > 0 : details.getAttribute('y') < ys[0];
    ys.forEach((at, row) => rows.set(at, rootOnTop ? row : last - row));
    y.forEach((at, i) => { depth[i] = rows.get(at); });

    // drop is the distance of letters from a frame's top.
    const sample = frames.querySelector('.f text');
    const drop = sample ? sample.getAttribute('y') - sample.parentNode.querySelector('rect').getAttribute('y') : 11;

    let zoomed = -1, term = '', pattern = '', ignoreCase = false, cursor = -1, over = -1;
    const outline = create('rect', frames.parentNode, frames.nextSibling);

    function create(what, parent, before) {
        return parent.insertBefore(document.createElementNS(svg.namespaceURI, what), before);
    }

    function set(element, key, value) {
        element.setAttribute(key, typeof value === 'number' ? Math.round(value * 1000) / 1000 : value);
    }

    function full(i) { return groups[i].querySelector('title').textContent; }

    // Returns a frame's name. A title is NAME (NUMBERS), and names may contain parentheses. If a
    // user has given another title, an attribute has the name.
    function name(i) {
        return names[i] = names[i] || groups[i].dataset.name || full(i).replace(/^([^]*) \([^]*$/, '$1');
    }

    // Returns the tolerance for places, which rounding may make unequal.
    function slack(i) { return Math.min(total * 1e-9, w[i] * 1e-3); }

    function inside(i, j) {
        const end = x[j] + w[j], e = slack(j);
        return x[i] >= x[j] - e && x[i] + w[i] <= end + e && x[i] < end - e;
    }

    // Returns the best frame that fits. A loop over 25,000 frames is fast enough, but building an
    // index at load would not be.
    function best(fits, better) {
        let found = -1;
        for (const i of all) if (fits(i) && (found < 0 || better && better(i, found))) found = i;
        return found;
    }

    function parent(i) { return best((j) => depth[j] === depth[i] - 1 && inside(i, j)); }

    // -- Drawing. Nothing is measured: layout would take longer than everything else.

    // As many characters as fit, two of them dots if not all do; none if not three fit. East Asia's are two wide.
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

    // Returns a name without its package, the part after the last :: outside of a place's brackets,
    // or a span without its kind.
    function lastPart(text, isSpan) {
        if (isSpan) return text.slice(text.indexOf(':') + 1);
        const bracket = text.indexOf('['), end = bracket > 0 ? bracket : text.length, at = text.lastIndexOf('::', end - 2);
        return end > 2 && at > 0 && at + 2 < text.length ? text.slice(at + 2) : text;
    }

    // Returns a frame's label. Growth and reduction have a sign; uncertain changes have one only if
    // they are shown.
    function label(i, pixels) {
        const c = groups[i].classList, told = !c.contains('unsure') || svg.classList.contains('all');
        const sign = told && (c.contains('up') ? '\u25b2 ' : c.contains('down') ? '\u25bc ' : '');
        const whole = name(i), room = pixels - (sign ? 2 * letter : 0), all = fit(whole, room);
        const text = all === whole ? all : fit(lastPart(whole, c.contains('span')), room);
        return text && sign ? sign + text : text;
    }

    function place(i, l, d) {
        if (left[i] === l && wide[i] === d) return;
        if (wide[i] >= 3 !== d >= 3) rects[i].classList.toggle('wide', d >= 3);
        left[i] = l;
        wide[i] = d;
        const rect = rects[i], text = d < 3 * letter ? '' : label(i, d - 6);
        set(rect, 'x', l);
        set(rect, 'width', d);
        let line = rect.parentNode.querySelector('text');
        if (!line) {
            if (!text) return;
            line = create('text', rect.parentNode, rect.nextSibling);
            set(line, 'y', y[i] + drop);
        }
        set(line, 'x', l + 3);
        if (line.textContent !== text) line.textContent = text;
    }

    // Classifies a frame for a zoom: part of the zoomed frame, a caller of it, or neither.
    function part(i, to) {
        if (to < 0 || i === to || depth[i] > depth[to] && inside(i, to)) return PLAIN;
        return depth[i] < depth[to] && inside(to, i) ? PARENT : HIDDEN;
    }

    // Zooms to a frame. Returns whether anything changed. The root's whole width is no zoom.
    // Attributes are written only if they change and are visible.
    function zoom(to) {
        if (to >= 0 && (!(w[to] > 0) || depth[to] === 0 && w[to] >= total - slack(to))) to = -1;
        if (to === zoomed) return false;
        zoomed = to;
        unzoom.classList.toggle('hide', to < 0);
        const from = to < 0 ? 0 : x[to], scale = room / (to < 0 ? total : w[to]);
        for (const i of all) {
            const now = part(i, to), was = shown[i];
            if (now !== was) {
                groups[i].classList.toggle('hide', now === HIDDEN);
                groups[i].classList.toggle('parent', now === PARENT);
                shown[i] = now;
            }
            if (now === PARENT) place(i, xpad, room);
            else if (now === PLAIN) place(i, xpad + (x[i] - from) * scale, w[i] * scale);
        }
        tally();
        point(shown[cursor] === HIDDEN ? to : cursor, over);
        return true;
    }

    // -- Lines of text.

    function percent(width) {
        const p = 100 * width / (zoomed < 0 ? total : w[zoomed]);
        return (p > 0 && p < 0.05 ? '< 0.1' : p.toFixed(1)) + ' %';
    }

    // Shows the details of a frame. A long name is cut, but not the numbers after it. A name that
    // runs from right to left is isolated, so that it does not reverse the rest of the line.
    function tell(i) {
        over = i;
        if (i < 0) i = cursor;
        let text = ' ';
        if (i >= 0) {
            const head = data.nametype ? data.nametype + ' ' : '';
            const tail = full(i).slice(name(i).length) +
                (zoomed >= 0 && i !== zoomed && shown[i] === PLAIN ? ', ' + percent(w[i]) + ' of the zoomed frame' : '');
            const taken = (head + tail + matched.textContent).length + 2;
            text = fit(name(i), Math.max(room / letter - taken, 8) * letter);
            text = head + (/[^\0-\u058f]/.test(text) ? '\u2068' + text + '\u2069' : text) + tail;
        }
        details.textContent = text;
    }

    function say(text, bad = false) {
        matched.textContent = text;
        matched.classList.toggle('bad', bad);
    }

    // Counts the matches. Frames are nested or disjoint, so a sweep from the left, wider frames
    // first, counts no time twice. Callers of the zoomed frame do not count, as otherwise
    // everything might match.
    function tally() {
        if (!pattern) return say(' ');
        let sum = 0, end = -Infinity;
        all.filter((i) => hit[i] && shown[i] === PLAIN).sort((a, b) => x[a] - x[b] || w[b] - w[a]).forEach((i) => {
            if (x[i] + w[i] <= end + slack(i)) return;
            sum += w[i];
            end = x[i] + w[i];
        });
        say('Matched: ' + percent(sum));
    }

    // -- Search.

    // Searches. Returns whether the text is a regular expression; if not, says so, and keeps the
    // previous one.
    function seek(text, anyCase) {
        let next;
        try {
            next = text && new RegExp(text, anyCase ? 'i' : '');
        } catch (error) {
            say(fit('Not a regular expression: ' + error.message.replace(/^.*: /, ''), room / 2), true);
            return false;
        }
        [term, pattern, ignoreCase] = [text, next, anyCase];
        for (const i of all) {
            const now = next && next.test(name(i)) ? 1 : 0;
            if (now !== hit[i]) groups[i].classList.toggle('match', !!now);
            hit[i] = now;
        }
        find.textContent = text ? 'Reset search' : 'Search';
        caseless.classList.toggle('on', anyCase);
        set(caseless, 'aria-pressed', anyCase);
        tally();
        return true;
    }

    function search(text) {
        const before = term, good = seek(String(text), ignoreCase);
        if (term !== before) visit();
        return good;
    }

    function ask() {
        const text = window.prompt('Frames whose names match this regular expression:', term);
        if (typeof text === 'string') search(text);
    }

    // -- Links: #at=NAME;NAME;...&q=REGEX&ic=1. In another recording of the program, a path of
    // names is still valid, but pixels are not.

    // Separators in names are encoded twice: programs that handle links may decode once.
    function encode(text) { return encodeURIComponent(text.replace(/[%;]/g, (c) => encodeURIComponent(c))); }

    function decode(text) {
        try { return decodeURIComponent(text); } catch (error) { return text; }
    }

    // Records the state in the address. The frame's number is kept as well, because in a chart by
    // time many frames have the same path.
    function visit() {
        if (!alone) return;
        const parts = [], path = [];
        try {
            for (let i = zoomed; i >= 0; i = parent(i)) path.unshift(encode(name(i)));
            if (path.length) parts.push('at=' + path.join(';'));
            if (term || data.search) parts.push('q=' + encodeURIComponent(term));
            if (ignoreCase) parts.push('ic=1');
            // With an empty hash, the query would decide.
            const hash = parts.join('&') || location.search && 'at=';
            history.pushState({ frame: zoomed }, '', location.href.replace(/#.*/, '') + (hash && '#' + hash));
        } catch (error) { /* The address must not change, or a name has half a surrogate. */ }
    }

    // Follows a path as far as it exists. If several frames have that path, it takes the hinted
    // one, or the first.
    function follow(path, hint) {
        let found = -1, level = null;
        path.every((wanted, d) => {
            const above = level;
            level = all.filter((i) => depth[i] === d && (!above || above.some((j) => inside(i, j))) && name(i) === wanted);
            if (level.length) found = level.indexOf(hint) < 0 ? level[0] : hint;
            return level.length;
        });
        return found;
    }

    function restore() {
        const given = new Map();
        const words = alone ? location.hash || location.search : '';
        words.slice(1).replace(/([^&=]+)=([^&]*)/g, (pair, key, value) => given.set(key, decode(value)));
        zoom(given.get('at') ? follow(given.get('at').split(';').map(decode), history.state ? history.state.frame : -1) : -1);
        const text = given.has('q') ? given.get('q') : data.search || '', anyCase = given.get('ic') === '1';
        if (text !== term || anyCase !== ignoreCase) seek(text, anyCase);
    }

    // -- Clicks, the pointer, keys.

    // Marks the frame of the keyboard by an outline, instead of a focus for each of 25,000 frames.
    function point(i, hover = -1) {
        cursor = i;
        outline.classList.toggle('hide', i < 0);
        if (i >= 0) {
            for (const key of ['x', 'y', 'width', 'height']) set(outline, key, rects[i].getAttribute(key));
        }
        tell(hover);
    }

    // Moves the outline. Up and down are directions on the screen: away from the root to the widest
    // child, towards the root to the parent.
    function step(key) {
        const c = cursor, by = key === 'ArrowLeft' ? -1 : 1, seen = (i, d) => depth[i] === d && shown[i] !== HIDDEN;
        let to = -1;
        if (c < 0 || key === 'Home') to = zoomed >= 0 ? zoomed : best((i) => seen(i, 0));
        else if (/t$/.test(key)) to = best((i) => seen(i, depth[c]) && (x[i] - x[c]) * by > 0, (i, j) => (x[i] - x[j]) * by < 0);
        else if ((key === 'ArrowDown') !== rootOnTop) to = parent(c);
        else to = best((i) => seen(i, depth[c] + 1) && inside(i, c), (i, j) => w[i] > w[j]);
        if (to < 0) return;
        point(to);
        outline.scrollIntoView({ block: 'nearest' });
    }

    function go(to) {
        if (zoom(to)) visit();
    }

    const actions = new Map([
        [unzoom, () => go(-1)],
        [find, () => (term ? search('') : ask())],
        [caseless, () => { seek(term, !ignoreCase); visit(); }],
    ]);
    if (uncertain) actions.set(uncertain, () => {
        uncertain.classList.toggle('on', svg.classList.toggle('all'));
        groups.forEach((g, i) => {
            const line = g.classList.contains('unsure') && g.querySelector('text');
            if (line) line.textContent = label(i, wide[i] - 6);
        });
    });

    const withCtrl = (event) => event.ctrlKey || event.metaKey;

    function press(event) {
        const { key, target } = event, ctrl = withCtrl(event), act = actions.get(target);
        if (event.altKey || ctrl && event.shiftKey) return;
        if (ctrl ? /^f$/i.test(key) : key === '/') ask();
        else if (ctrl && /^i$/i.test(key)) actions.get(caseless)();
        else if (ctrl) return;
        else if (act && /^(Enter| )$/.test(key)) act();
        else if (key === 'Enter' && cursor >= 0 && target.localName !== 'a') go(cursor);
        else if (key === 'Escape') go(-1);
        else if (/^(Arrow.*|Home)$/.test(key)) step(key);
        else return;
        event.preventDefault();
    }

    svg.addEventListener('click', (event) => {
        const { target } = event, act = actions.get(target), i = index.get(target.closest('.f'));
        if (act) act();
        if (i === undefined || target.closest('a') && !withCtrl(event)) return;
        event.preventDefault();
        point(-1, i);
        go(i);
    });
    svg.addEventListener('mouseover', (event) => {
        const i = index.get(event.target.closest('.f'));
        tell(i === undefined ? -1 : i);
    });
    svg.addEventListener('mouseleave', () => tell(-1));
    svg.addEventListener('focus', () => { if (cursor < 0 && svg.matches(':focus-visible')) step('Home'); });
    (alone ? window : svg).addEventListener('keydown', press);
    if (alone) window.addEventListener('popstate', restore);
    window.dprofSearch = search;

    // From here on, the script is active. Controls get room for longer words.

    set(outline, 'id', 'cursor');
    set(outline, 'class', 'hide');
    svg.classList.add('live');
    set(caseless, 'aria-label', 'ignore case');
    for (const line of [details, matched]) set(line, 'aria-live', 'polite');
    for (const stop of [svg, ...actions.keys()]) {
        set(stop, 'tabindex', 0);
        set(stop, 'role', stop === svg ? 'application' : 'button');
    }
    for (const text of [matched, caseless, find]) set(text, 'x', width - xpad - (text === find ? 3 * letter : 0));
    restore();
}());
