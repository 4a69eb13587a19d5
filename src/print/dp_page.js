'use strict';
const { bytesOf, inflate, varints, blocks } = (() => {
function bytesOf(base64) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
	const raw = atob(base64.trim());
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	return bytes;
}
async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}
function varints(bytes, into, at = 0) {
	let from = 0;
	for (let i = at; i < into.length; i++) {
		let b = bytes[from++];
		if (b < 128) {
			into[i] = b;
			continue;
		}
		let value = b & 127, scale = 128;
		do {
			b = bytes[from++];
			value += (b & 127) * scale;
			scale *= 128;
		} while (b >= 128);
		into[i] = value;
	}
	if (from > bytes.length) throw new Error('a column ends too early');
	return into;
}
function blocks(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset);
	let at = 0;
	return () => {
		const size = view.getUint32(at, true), from = at + 4;
		at = from + size;
		if (at > bytes.length) throw new Error('the data end too early');
		return bytes.subarray(from, at);
	};
}
return { bytesOf, inflate, varints, blocks };
})();
const { drags, chooses, wheels } = (() => {
function drags(node, { begins, moves, ends }) {
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
	node.addEventListener('click', (event) => {
		if (moving) event.stopImmediatePropagation();
		moving = false;
	}, { capture: true });
}
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
function wheels(node, canvas, { takes, zoom: scale, move }) {
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
return { drags, chooses, wheels };
})();
const { $, make, button, say } = (() => {
const $ = (id) => document.getElementById(id);
function make(tag, options = {}, ...inside) {
	const node = document.createElement(tag);
	for (const [key, value] of Object.entries(options)) {
		if (/-|^role$/.test(key)) node.setAttribute(key, value);
		else node[key] = value;
	}
	node.append(...inside.filter((part) => part !== null && part !== ''));
	return node;
}
const button = (text, onclick, options = {}) =>
	make('button', { type: 'button', onclick, ...options }, text);
function say(text) {
	$('notice').hidden = !text;
	$('notice').textContent = text;
}
return { $, make, button, say };
})();
const { sum, keep } = (() => {
const sum = (list) => list.reduce((a, b) => a + b, 0);
function keep(map, key, what) {
	if (!map.has(key)) map.set(key, what());
	return map.get(key);
}
return { sum, keep };
})();
const { redraw, work } = (() => {
const redraw = {
	chain: null,
	details: null,
	graph: null,
	matches: null,
	source: null,
	table: null,
	times: null,
};
const work = { busy: null };  // a promise, kept when what takes long is done
return { redraw, work };
})();
const { grouped, plural, percent, growth, ratio, inPoints, short, packageOf, withoutFolder, visibly, ODD } = (() => {
const grouped = (v, digits = 0) =>
	v
		.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits })
		.replace('-', '\u2212');
const plural = (n, word) => `${grouped(n)} ${word}${n === 1 ? '' : 's'}`;
function percent(part) {
	const v = part * 100, a = Math.abs(v);
	return Number.isFinite(v)
		? (a === 0 ? '0' : a < 0.01 ? '<0.01' : v.toFixed(a < 10 ? 2 : 1)) + ' %'
		: '';
}
function growth(before, after) {
	const p = (after - before) / before * 100;
	return before === 0
		? ''
		: `${p > 0 ? '+' : ''}${grouped(p, p !== 0 && Math.abs(p) < 10 ? 1 : 0)} %`;
}
function ratio(before, after) {
	if (before === after) return '\u00d71';
	if (before === 0) return 'new';
	return after === 0
		? 'gone'
		: '\u00d7' + (after / before).toFixed(after / before >= 100 ? 0 : 2);
}
const inPoints = (part) => `${part > 0 ? '+' : ''}${grouped(part * 100, 2)} points`;
const short = (text, most = 300) =>
	text.length > most ? text.slice(0, most) + '\u2026' : text;
const packageOf = (text) => (/^(.+)::/s.exec(text) || ['', ''])[1];
const withoutFolder = (text) => text.replace(/\[[^[\]]*\/([^/[\]]+)\]/, '[$1]');
const visibly = (text) =>
	text.replace(/[\x00-\x1f\x7f]|[\x80-\x9f\u2028-\u202e\u2066-\u2069]/g, (c) => {
		const hex = c.charCodeAt(0).toString(16).padStart(2, '0');
		return c < '\x80' ? `\\x${hex}` : `\\x{${hex}}`;
	});
const ODD = new RegExp(
	'[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e'
	+ '\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]',
	'g',
);
return { grouped, plural, percent, growth, ratio, inPoints, short, packageOf, withoutFolder, visibly, ODD };
})();
const { alignLines } = (() => {
function alignLines(a, b) {
	const words = new Map(),
		number = (text) => keep(words, text.trim(), () => words.size),
		x = Int32Array.from(a, number),
		y = Int32Array.from(b, number);
	const to = new Int32Array(b.length), jobs = [[0, x.length, 0, y.length]];
	while (jobs.length) {
		let [a0, a1, b0, b1] = jobs.pop();
		for (; a0 < a1 && b0 < b1 && x[a0] === y[b0]; a0++, b0++) to[b0] = a0 + 1;
		for (; a0 < a1 && b0 < b1 && x[a1 - 1] === y[b1 - 1]; a1--, b1--) to[b1 - 1] = a1;
		if (a0 === a1 || b0 === b1) continue;
		const anchors = increasing(once(x, a0, a1), once(y, b0, b1));
		if (!anchors.length) {
			if ((a1 - a0) * (b1 - b0) <= 4e6) longest(x, a0, a1, y, b0, b1, to);
			continue;
		}
		for (const [i, j] of [...anchors, [a1, b1]]) {
			jobs.push([a0, i, b0, j]);
			if (i < a1) to[j] = i + 1;
			[a0, b0] = [i + 1, j + 1];
		}
	}
	return to;
}
function once(x, from, to) {
	const at = new Map();
	for (let i = from; i < to; i++) at.set(x[i], at.has(x[i]) ? -1 : i);
	return at;
}
function increasing(one, other) {
	const pairs = [...one]
		.filter(([word, i]) => i >= 0 && other.get(word) >= 0)
		.map(([word, i]) => [i, other.get(word)])
		.sort((p, q) => p[0] - q[0]);
	const tops = [], before = [];
	pairs.forEach(([, j], k) => {
		let low = 0, high = tops.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (pairs[tops[middle]][1] < j) low = middle + 1;
			else high = middle;
		}
		before[k] = low ? tops[low - 1] : -1;
		tops[low] = k;
	});
	const list = [];
	for (let k = tops.length ? tops[tops.length - 1] : -1; k >= 0; k = before[k])
		list.push(pairs[k]);
	return list.reverse();
}
function longest(x, a0, a1, y, b0, b1, to) {
	const n = a1 - a0, m = b1 - b0, wide = m + 1, most = new Uint16Array((n + 1) * wide);
	for (let i = n - 1; i >= 0; i--) {
		for (let j = m - 1; j >= 0; j--)
			most[i * wide + j] =
				x[a0 + i] === y[b0 + j]
					? most[(i + 1) * wide + j + 1] + 1
					: Math.max(most[(i + 1) * wide + j], most[i * wide + j + 1]);
	}
	for (let i = 0, j = 0; i < n && j < m;) {
		if (x[a0 + i] === y[b0 + j]) to[b0 + j++] = a0 + ++i;
		else if (most[(i + 1) * wide + j] >= most[i * wide + j + 1]) i++;
		else j++;
	}
}
return { alignLines };
})();
const { readFolded } = (() => {
class Numbers {
	constructor(same) {
		Object.assign(this, { same, hashes: [0], slots: new Int32Array(1 << 12) });
	}
	find(hash, a, b) {
		const { hashes, slots, same } = this, mask = slots.length - 1;
		let at = (hash ^ hash >>> 15) & mask;
		for (; slots[at] !== 0; at = (at + 1) & mask)
			if (hashes[slots[at]] === hash && same(slots[at], a, b)) return slots[at];
		slots[at] = hashes.push(hash) - 1;
		if (hashes.length * 2 > slots.length) this.grow();
		return hashes.length - 1;
	}
	grow() {
		const slots = this.slots = new Int32Array(this.slots.length * 2), mask = slots.length - 1;
		for (let k = 1; k < this.hashes.length; k++) {
			let at = (this.hashes[k] ^ this.hashes[k] >>> 15) & mask;
			while (slots[at] !== 0) at = (at + 1) & mask;
			slots[at] = k;
		}
	}
}
const isBlank = (byte) => byte === 32 || byte === 9 || byte === 13;
function backOver(bytes, from, to, blanks) {
	while (to > from && isBlank(bytes[to - 1]) === blanks) to--;
	return to;
}
const textIn = (bytes, from, to) =>
	to - from > 40 ? '' : String.fromCharCode(...bytes.subarray(from, to));
function countIn(bytes, from, to) {
	let value = 0, i = from;
	for (; i < to && i < from + 15 && bytes[i] >= 48 && bytes[i] <= 57; i++)
		value = value * 10 + bytes[i] - 48;
	return i === to && i > from
		? value
		: +(/^\d+\.?\d*$/.exec(textIn(bytes, from, to)) || [NaN])[0];
}
function nameIn(bytes) {
	let text;
	try {
		text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch (error) {
		text = Array.from(bytes, (byte) =>
			byte < 128 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`,
		).join('');
	}
	text = text.replace(/%([01][\da-f]|7f|3b|23|25|20(?=$|[-+]?[\d.]+$))/gi, (_, hex) =>
		String.fromCharCode(parseInt(hex, 16)),
	);
	return visibly(/^ +$/.test(text) ? '(blank)' : text.replace(/(.)_\[[kwij]\]$/s, '$1'));
}
function readFolded(bytes, { key, unit }) {
	const wrong = 'it is neither folded stacks nor a page of dprofflame',
		from = [0],
		to = [0],
		name = [0],
		parent = [-1],
		own = [0];
	const known = new Numbers((k, a, b) => {
		if (to[k] - from[k] !== b - a) return false;
		for (let i = a, j = from[k]; i < b; i++, j++) if (bytes[i] !== bytes[j]) return false;
		return true;
	});
	const nodes = new Numbers((k, a, b) => parent[k] === a && name[k] === b);
	if (bytes.subarray(0, 4096).includes(0)) throw new Error(wrong);
	const ends = [], path = [];
	let decimals = 0, stacks = 0, pairs = 0, was = 0, wasLast = 0, depth = 0;
	for (
		let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0,
			line = 1,
			stop;
		at < bytes.length;
		at = stop + 1, line++
	) {
		stop = bytes.indexOf(10, at);
		if (stop < 0) stop = bytes.length;
		const end = backOver(bytes, at, stop, true);
		if (end === at || (bytes[at] === 35 && (end === at + 1 || isBlank(bytes[at + 1]))))
			continue;
		const word = backOver(bytes, at, end, false),
			last = backOver(bytes, at, word, true),
			count = countIn(bytes, word, end);
		if (last === at || Number.isNaN(count))
			throw new Error(stacks ? `line ${line} has no stack with a count at its end` : wrong);
		if (
			pairs === stacks++
			&& !Number.isNaN(countIn(bytes, backOver(bytes, at, last, false), last))
		)
			pairs++;
		if (!Number.isInteger(count))
			decimals = Math.max(decimals, /\.(\d*?)0*$/.exec(textIn(bytes, word, end))[1].length);
		const most = Math.min(last - at, wasLast - was);
		let same = 0;
		while (same < most && bytes[at + same] === bytes[was + same]) same++;
		if (
			same === most
			&& (same === last - at || bytes[at + same] === 59)
			&& (same === wasLast - was || bytes[was + same] === 59)
		)
			same++;
		while (depth > 0 && ends[depth - 1] >= same) depth--;
		let node = depth ? path[depth - 1] : 0;
		for (
			let begin = at + (depth ? ends[depth - 1] + 1 : 0), i = begin, hash = 7;
			i <= last;
			i++
		) {
			if (i < last && bytes[i] !== 59) {
				hash = Math.imul(hash ^ bytes[i], 0x01000193);
				continue;
			}
			if (i > begin) {
				const sub = known.find(hash, begin, i),
					kid = nodes.find(
						Math.imul(node, 0x9e3779b1) ^ Math.imul(sub, 0x85ebca6b),
						node,
						sub,
					);
				if (sub === from.length) {
					from.push(begin);
					to.push(i);
				}
				if (kid === own.length) {
					parent.push(node);
					name.push(sub);
					own.push(0);
				}
				path[depth] = node = kid;
				ends[depth++] = i - at;
			}
			begin = i + 1;
			hash = 7;
		}
		own[node] += count;
		was = at;
		wasLast = last;
	}
	if (!stacks) throw new Error('it has no stacks');
	if (pairs === stacks)
		throw new Error('its lines have two counts, so that it has two sides itself');
	const total = sum(own);
	let places = Math.min(decimals, unit === 's' ? 6 : 9);
	while (places > 0 && total * 10 ** places > Number.MAX_SAFE_INTEGER) places--;
	const scale = 10 ** places, ticks = Float64Array.from(own, (v) => Math.round(v * scale));
	const names = from.map((at, k) => (k ? nameIn(bytes.subarray(at, to[k])) : '(program)'));
	return {
		facts: {
			names,
			sides: [''],
			metrics: [{ key, unit, hz: (unit === 's' ? 1e6 : 1) * scale }],
			notes: [['Profile', 'folded stacks']],
		},
		tree: { n: own.length, name, parent, when: null, own: () => ticks },
	};
}
return { readFolded };
})();
const { hueOf } = (() => {
function hueOf(name, kept) {
	const [body] = /^.[^[]*/s.exec(name) || [''],
		[, of] = /^(.+)::/s.exec(body) || /^(.+)(?:[./]|:(?!$))/s.exec(body) || ['', body];
	return keep(kept, of, () => {
		let h = 0xcbf29ce484222325n;
		for (const byte of new TextEncoder().encode(of))
			h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n);
		for (const by of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n])
			h = BigInt.asUintN(64, (h ^ (h >> 33n)) * by);
		const hue = Number((h ^ h >> 33n) % 360n), low = 0.496, high = 0.904;
		const [r, g, b] = [hue + 120, hue, hue + 240].map((turned) => {
			const at = turned % 360,
				v =
					at < 60
						? low + ((high - low) * at) / 60
						: at < 180
						  ? high
						  : at < 240
							? low + ((high - low) * (240 - at)) / 60
							: low;
			return ((Math.floor(v * 255 + 0.5) / 255 + 0.055) / 1.055) ** 2.4;
		});
		const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b),
			m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
		const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
		const turn = Math.atan2(
			0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
			1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
		);
		return Math.floor((turn * 180 / Math.PI + 360.5) % 360);
	});
}
return { hueOf };
})();
const { PHASE_KIND, PART_KIND, Frames, inclusive, ranks, PART, OUT, regroup, within, mergeRecursion, below, onlyWith, without, fold, calleesOf, positions } = (() => {
const PHASE_KIND = 7;
const PART_KIND = 8;
class Frames {
	constructor(name, parent, when, load) {
		const n = name.length, depth = new Int32Array(n), end = new Int32Array(n);
		for (let i = 1; i < n; i++) depth[i] = depth[parent[i]] + 1;
		for (let i = n - 1; i >= 0; i--) {
			if (end[i] === 0) end[i] = i + 1;
			if (i > 0 && end[parent[i]] < end[i]) end[parent[i]] = end[i];
		}
		Object.assign(this, { n, name, parent, when, depth, end, load, kept: new Map() });
	}
	own(metric, side) {
		const key = metric + '/' + side;
		if (!this.kept.has(key)) this.kept.set(key, this.load(metric, side));
		return this.kept.get(key);
	}
	kids(i) {
		const list = [];
		for (let k = i + 1; k < this.end[i]; k = this.end[k]) list.push(k);
		return list;
	}
	path(i) {
		const list = [];
		for (; i > 0; i = this.parent[i]) list.push(this.name[i]);
		return list.reverse();
	}
	follow(path) {
		let at = 0, steps = 0;
		for (const name of path) {
			let k = at + 1;
			while (k < this.end[at] && this.name[k] !== name) k = this.end[k];
			if (k >= this.end[at]) break;
			at = k;
			steps++;
		}
		return { frame: at, steps };
	}
}
function inclusive(tree, own) {
	const sum = own.slice(), parent = tree.parent;
	for (let i = tree.n - 1; i > 0; i--) sum[parent[i]] += sum[i];
	return sum;
}
function ranks(names) {
	const order = names
		.map((_, i) => i)
		.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
	const rank = new Int32Array(names.length);
	order.forEach((name, i) => { rank[name] = i; });
	return rank;
}
const PART = -1;
const OUT = -2;
const ROOT = -3;
function regroup(tree, rank, place, counts = null, root = tree.name[0], earliest = false) {
	const { n, parent } = tree,
		to = new Int32Array(n),
		newName = new Int32Array(n),
		newParent = new Int32Array(n),
		first = new Int32Array(n);
	let size = 1;
	while (size < 2 * n) size *= 2;
	const slots = new Int32Array(size);
	let count = 1;
	newName[0] = root;
	newParent[0] = -1;
	for (let i = 0; i < n; i++) {
		const at = i ? to[parent[i]] : 0,
			own = i ? place(i, at, newName) : place(i, at, newName) === OUT ? OUT : ROOT;
		if (own < 0) {
			to[i] = own === PART ? at : own === OUT ? -1 : 0;
			continue;
		}
		let slot = (Math.imul(at, 0x9e3779b1) ^ Math.imul(own, 0x85ebca6b)) & (size - 1);
		while (slots[slot] !== 0 && (newParent[slots[slot]] !== at || newName[slots[slot]] !== own))
			slot = (slot + 1) & (size - 1);
		if (slots[slot] === 0) {
			slots[slot] = count;
			newName[count] = own;
			newParent[count] = at;
			first[count++] = i;
		}
		to[i] = slots[slot];
		if (earliest && tree.when && tree.when[i] < tree.when[first[to[i]]]) first[to[i]] = i;
	}
	const sizes = new Int32Array(count).fill(1),
		into = new Int32Array(count),
		next = new Int32Array(count).fill(1);
	for (let i = count - 1; i > 0; i--) sizes[newParent[i]] += sizes[i];
	const starts = new Int32Array(rank.length + 1), byName = new Int32Array(count);
	for (let i = 1; i < count; i++) starts[rank[newName[i]] + 1]++;
	for (let r = 0; r < rank.length; r++) starts[r + 1] += starts[r];
	for (let i = 1; i < count; i++) byName[starts[rank[newName[i]]]++] = i;
	for (const i of byName.subarray(0, count - 1)) {
		into[i] = next[newParent[i]];
		next[newParent[i]] += sizes[i];
	}
	const outName = new Int32Array(count),
		outParent = new Int32Array(count).fill(-1),
		when = tree.when && new Int32Array(count);
	for (let i = 0; i < count; i++) {
		if (i) outParent[into[i] += into[newParent[i]]] = into[newParent[i]];
		outName[into[i]] = newName[i];
		if (when) when[into[i]] = tree.when[first[i]];
	}
	return new Frames(outName, outParent, when, (metric, side) => {
		const own = tree.own(metric, side), sums = new Float64Array(count);
		for (let i = 0; i < n; i++)
			if (to[i] >= 0 && (!counts || counts[i])) sums[into[to[i]]] += own[i];
		return sums;
	});
}
function within(whole, kinds, rank, only) {
	const { name, parent } = whole,
		wanted = new Set(only),
		chosen = new Set(only.map((k) => kinds[k])),
		missing = new Uint8Array(whole.n);
	missing[0] = chosen.size;
	for (let i = 1; i < whole.n; i++)
		missing[i] = Math.max(
			0,
			missing[parent[i]] - (chosen.has(kinds[name[i]]) && wanted.has(name[i]) ? 1 : 0),
		);
	const place = (i) => {
		const kind = kinds[name[i]];
		if (kind !== PHASE_KIND && kind !== PART_KIND) return missing[i] ? OUT : name[i];
		return chosen.has(kind) && !wanted.has(name[i]) ? OUT : PART;
	};
	return regroup(
		whole,
		rank,
		(i) => (i ? place(i) : ROOT),
		missing.map((n) => (n ? 0 : 1)),
		whole.name[0],
		true,
	);
}
function mergeRecursion(tree, rank) {
	const { n, name, parent } = tree;
	for (let i = 1; i < n; i++)
		if (name[i] === name[parent[i]])
			return regroup(tree, rank, (k, at, names) => (name[k] === names[at] ? PART : name[k]));
	return tree;
}
function below(tree, sub, outermost = false) {
	const { n, name, end } = tree, flags = new Uint8Array(n);
	for (let i = 0; i < n;) {
		if (name[i] !== sub) {
			i++;
			continue;
		}
		flags.fill(1, i, outermost ? i + 1 : end[i]);
		i = end[i];
	}
	return flags;
}
function onlyWith(tree, sub, rank) {
	const { n, name, parent } = tree, counts = below(tree, sub), leads = counts.slice();
	for (let i = n - 1; i > 0; i--) if (leads[i]) leads[parent[i]] = 1;
	return regroup(tree, rank, (i) => (leads[i] ? name[i] : OUT), counts);
}
function without(tree, sub, rank) {
	const gone = below(tree, sub);
	return regroup(tree, rank, (i) => (gone[i] ? OUT : tree.name[i]));
}
function fold(tree, inGroup, rank) {
	const { name } = tree;
	return regroup(tree, rank, (i, at, names) =>
		inGroup[name[i]] && inGroup[names[at]] ? PART : name[i],
	);
}
function calleesOf(tree, sub, rank) {
	const counts = below(tree, sub), first = below(tree, sub, true);
	return regroup(
		tree,
		rank,
		(i) => (first[i] ? ROOT : counts[i] ? tree.name[i] : OUT),
		counts,
		sub,
	);
}
function positions(tree, weights, order) {
	const { n, parent, end, when } = tree, x = new Float64Array(n);
	if (order === 'name' || (order === 'time' && !when)) {
		const next = new Float64Array(n);
		for (let i = 1; i < n; i++) {
			const p = parent[i];
			if (p < 0) continue;
			x[i] = next[i] = next[p];
			next[p] += weights[i];
		}
		return x;
	}
	const before =
		order === 'time'
			? (a, b) => when[a] - when[b] || a - b
			: (a, b) => weights[b] - weights[a] || a - b;
	for (let p = 0; p < n; p++) {
		if (end[p] === p + 1) continue;
		let at = x[p];
		if (end[p + 1] === end[p]) {
			x[p + 1] = at;
			continue;
		}
		for (const k of tree.kids(p).sort(before)) {
			x[k] = at;
			at += weights[k];
		}
	}
	return x;
}
return { PHASE_KIND, PART_KIND, Frames, inclusive, ranks, PART, OUT, regroup, within, mergeRecursion, below, onlyWith, without, fold, calleesOf, positions };
})();
const { FONT, widthOf, label } = (() => {
const FONT = '12px system-ui, sans-serif';
const rulers = new Map();      // text -> its width
function widthOf(context, text) {
	let w = rulers.get(text);
	if (w === undefined) rulers.set(text, w = context.measureText(text).width);
	return w;
}
function label(context, name, room) {
	const text = short(name, 400);
	if (widthOf(context, text) <= room) return text;
	const own = text.slice(text.lastIndexOf('::') + 1).replace(/^:/, '');
	if (widthOf(context, own) <= room) return own;
	const bare = withoutFolder(own), w = widthOf(context, bare);
	if (w <= room) return bare;
	const fits = Math.floor(bare.length * (room - 9) / w);
	return fits < 2 ? '' : bare.slice(0, fits) + '\u2026';
}
return { FONT, widthOf, label };
})();
const { REVERSE_LIMIT, weighty, reverse } = (() => {
const REVERSE_LIMIT = 5000000;
const weighty = (weigh) => Int32Array.from(weigh.keys()).filter((i) => weigh[i] > 0);
function reverse(tree, weigh, all, columns, focus, share, rank) {
	const { name, parent } = tree, outName = [], outParent = [], totals = columns.map(() => []);
	const weight = new Float64Array(rank.length),
		counts = new Int32Array(rank.length),
		slot = new Int32Array(rank.length);
	let narrow = 0, least = 0;
	const lost = [];             // by frame: the weight of its callers that are left out
	const jobs = [{ above: -1, own: name[0], level: 0, from: all, callers: all, whole: true }];
	while (jobs.length) {
		const { above, own, level, from, callers, whole } = jobs.pop(),
			me = outName.length,
			seen = [],
			first = level ? 1 : 0;
		const only = level < focus.length ? focus[level] : -1;
		outName.push(own);
		outParent.push(above);
		columns.forEach((column, c) =>
			totals[c].push(from.reduce((all, frame) => all + column[frame], 0)),
		);
		lost.push(0);
		if (!whole) continue;
		let mine = 0;
		for (let k = 0; k < from.length; k++) {
			const frame = callers[k], other = name[frame];
			if (only >= 0 && other !== only) continue;
			const value = weigh[from[k]];
			mine += value;
			if (frame < first) continue;
			if (counts[other]++ === 0) seen.push(other);
			weight[other] += value;
		}
		if (level === focus.length) least = mine * share;
		const kept = seen.filter((other) => {
			const fits = only >= 0 || level === focus.length || weight[other] >= least;
			if (!fits) lost[me] += weight[other];
			return fits;
		});
		narrow += seen.length - kept.length;
		const next = kept.sort((a, b) => rank[b] - rank[a]).map((other, k) => {
			slot[other] = k + 1;
			return {
				above: me,
				own: other,
				level: level + 1,
				from: new Int32Array(counts[other]),
				callers: new Int32Array(counts[other]),
				whole: only >= 0 || weight[other] >= least,
			};
		});
		for (const other of seen) counts[other] = weight[other] = 0;
		for (let k = 0; next.length && k < from.length; k++) {
			const frame = callers[k], other = name[frame];
			if (frame < first || slot[other] === 0) continue;
			const job = next[slot[other] - 1], where = counts[other]++;
			job.from[where] = from[k];
			job.callers[where] = parent[frame];
		}
		for (const job of next) {
			counts[job.own] = slot[job.own] = 0;
			jobs.push(job);
		}
	}
	const out = new Frames(Int32Array.from(outName), Int32Array.from(outParent), null, null);
	return { tree: out, totals: totals.map((t) => Float64Array.from(t)), narrow, lost };
}
return { REVERSE_LIMIT, weighty, reverse };
})();
const { decode } = (() => {
function decode(bytes) {
	const take = blocks(bytes);
	const facts = JSON.parse(new TextDecoder().decode(take()));
	if (facts.format !== 1) throw new Error(`format ${facts.format} is not known here`);
	const n = facts.frames;
	if (!(n > 0 && n <= bytes.length)) throw new Error('the data end too early');
	const up = varints(take(), new Int32Array(n), 1),
		name = varints(take(), new Int32Array(n)),
		order = take();
	const parent = new Int32Array(n).fill(-1), stack = [0];
	for (let i = 1, depth = 0; i < n; i++) {
		depth += 1 - up[i];
		if (!(depth > 0)) throw new Error(`frame ${i} has no parent`);
		parent[i] = stack[depth - 1];
		stack[depth] = i;
	}
	const columns = facts.metrics.map(() => facts.sides.map(take));
	const load = (metric, side) => varints(columns[metric][side], new Float64Array(n));
	const when = order.length ? varints(order, new Int32Array(n), 1) : null;
	return withoutParts(facts, new Frames(name, parent, when, load));
}
function withoutParts(facts, whole) {
	const list = (given) => (Array.isArray(given) ? given : []), parts = list(facts.parts);
	if (!parts.length && !list(facts.kinds).includes(PHASE_KIND))
		return { facts, tree: whole, whole: null };
	const names = [...facts.names, ...parts],
		kinds = [...facts.kinds, ...parts.map(() => PART_KIND)];
	const hues = [...facts.hues, ...parts.map(() => 0)],
		fills = facts.fills && [...facts.fills, ...parts.map(() => '#888888')];
	return {
		facts: { ...facts, names, kinds, hues, fills },
		tree: within(whole, kinds, ranks(names), []),
		whole,
	};
}
return { decode };
})();
const { state, profile, begin, hasLines, hasTimes, subNamed, canReverse, metric, last, values, real, shown, isUpward, sideName, placeOf, runsOf, scaleOf } = (() => {
const state = {
	path: [],                  // names from the root's kid to the frame zoomed to
	range: null,               // [from, to], parts of that frame: what is drawn of it
	chain: [],                 // steps { act, text }; text: a process, a sub, a range of time ...
	centre: -1,                // the sub of the sandwich
	q: '', match: false,       // the search, and whether case counts
	metric: 0, order: 'name', icicle: false, reversed: false, merged: false,
	table: false, calls: false, time: false, sub: -1,
	source: false, file: -1, line: 0,          // the source view, its file (-1: the overview)
	layout: 'graph', width: 'after', colour: 'self', uncertain: false, common: false,   // of two
};
const profile = {
	facts: null, names: null, tree: null, whole: null, diff: null, metrics: null, has: null,
	rank: null, kept: null, chained: null, ranges: null, key: null,
	relative: false, certain: null, furnished: -1, initial: null,
};
function begin({ facts, tree, whole = null }, has) {
	const { names, diff, metrics, options = {} } = facts;
	Object.assign(profile, {
		facts,
		names,
		tree,
		whole,
		diff,
		metrics,
		has,
		rank: ranks(names),
		kept: new Map(),
		chained: [],
		ranges: new Map(),
		certain: null,
		furnished: -1,
		key: (key) => metrics.findIndex((m) => m.key === key),
	});
	profile.relative = !!diff && diff.mode === 'pair-metric';
	if (diff) {
		const flags = (list) => Uint8Array.from(names, (_, i) => (list.has(i) ? 1 : 0)),
			{ significant } = diff;
		profile.certain = significant && {
			self: flags(new Set(significant.self)),
			total: flags(new Set(significant.total)),
		};
		Object.assign(state, {
			layout: diff.view,
			width: diff.negate && diff.width === 'after' ? 'before' : diff.width,
			colour: diff.colour,
		});
	}
	Object.assign(state, {
		metric: Math.max(0, profile.key(options.metric)),
		order: options.order || 'name',
		q: options.search || '',
		source: options.start === 'source' && hasLines(),
		icicle: !!options.inverted,
		reversed: !!options.reverse && canReverse(),
		merged: !!options.merged,
	});
	profile.initial = { ...state };
}
const hasLines = () => profile.has.lines;
const hasTimes = () => profile.has.times;
function subNamed(text) {
	return (
		keep(
			profile.kept,
			'index',
			() =>
				new Map(
					[...profile.names.keys()]
						.filter((i) => !(profile.facts.kinds[i] >= PHASE_KIND))
						.reverse()
						.map((i) => [profile.names[i], i]),
				),
		).get(text) ?? -1
	);
}
const canReverse = () => profile.tree.n <= REVERSE_LIMIT;
const metric = () => profile.metrics[state.metric];
const last = () => profile.facts.sides.length - 1;
function values(tree, index) {
	return keep(tree.kept, index, () => profile.facts.sides.map((_, side) => {
		const own = tree.own(index, side),
			of =
				profile.diff
				&& (profile.diff.factors ? profile.diff.factors[index] : profile.diff.factor),
			factor = (of && of[side]) || 1;
		return factor === 1 ? own : own.map((v) => v * factor);
	}));
}
const balance = () => (profile.relative ? keep(profile.kept, 'balance ' + state.metric, () => {
	const [a, b] = values(profile.tree, state.metric).map(sum);
	return a > 0 && b > 0 ? b / a : 1;
}) : 1);
const real = (value, side) => (side === 0 ? value / balance() : value);
const shown = (tree) => keep(tree.kept, 'shown ' + state.metric, () => {
	const own = values(tree, state.metric), by = balance();
	return by === 1 ? own : [own[0].map((v) => v * by), own[1]];
});
const isUpward = () => state.reversed || state.centre >= 0;
const sideName = (side) =>
	profile.relative ? profile.facts.sides[side] : side ? 'after' : 'before';
function placeOf(name) {
	const place = profile.facts.places && profile.facts.places[name];
	return place ? `${profile.facts.files[place[0]]}:${place[1]}` : '';
}
const runsOf = (side) => (profile.diff && profile.diff.runs && profile.diff.runs[side]) || 1;
function scaleOf(side, index = state.metric) {
	const of =
		profile.diff && (profile.diff.factors ? profile.diff.factors[index] : profile.diff.factor);
	return (of && of[side]) || 1;
}
return { state, profile, begin, hasLines, hasTimes, subNamed, canReverse, metric, last, values, real, shown, isUpward, sideName, placeOf, runsOf, scaleOf };
})();
const { readProfile, unite } = (() => {
const unzip = (bytes) => inflate(bytes).catch(() => { throw new Error('it cannot be unpacked'); });
async function readPage(bytes) {
	const text = new TextDecoder().decode(bytes),
		mark = 'id="dprof-data">',
		at = text.indexOf(mark) + mark.length;
	if (at < mark.length) throw new Error('it is a page, but none that dprofflame has made');
	try {
		const other = decode(await unzip(bytesOf(text.slice(at, text.indexOf('<', at))))),
			{
				facts: { names, sides, metrics },
				tree,
			} = other;
		const texts = (list) => Array.isArray(list) && list.every((one) => typeof one === 'string');
		if (
			!texts(names)
			|| !texts(sides)
			|| !Array.isArray(metrics)
			|| !tree.name.every((k) => k >= 0 && k < names.length)
		)
			throw new Error('its facts do not fit');
		return other;
	} catch (error) {
		throw new Error(`the profile in it is damaged: ${error.message}`);
	}
}
async function readProfile(file) {
	let bytes = new Uint8Array(
		await file.arrayBuffer().catch(() => {
			throw new Error('it cannot be read');
		}),
	);
	if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await unzip(bytes);
	return /^(?:\xef\xbb\xbf)?\s*<!doctype html/i.test(
		String.fromCharCode(...bytes.subarray(0, 64)),
	)
		? readPage(bytes)
		: readFolded(bytes, metric());
}
function finer(a, b) {
	const part = (x, y) => (y ? part(y, x % y) : x),
		all = Number.isInteger(a) && Number.isInteger(b) ? (a / part(a, b)) * b : Infinity;
	return all <= 1e12 ? all : Math.max(a, b);
}
function unite(other, title) {
	const { facts, tree: a, metrics: mine } = profile,
		{ facts: theirs, tree: b } = other,
		[first] = facts.sides,
		hadLines = hasLines();
	if (theirs.sides.length !== 1) throw new Error('it has two sides itself');
	const both = mine
		.map((m, at) => ({
			m,
			at,
			to: theirs.metrics.findIndex(
				(o) =>
					o
					&& o.key === m.key
					&& o.unit === m.unit
					&& Number.isFinite(o.hz)
					&& o.hz > 0
					&& o.hz < 1e16,
			),
		}))
		.filter(({ to }) => to >= 0);
	if (!both.length) throw new Error('it has no metric that this page has');
	if (!both.every(({ to }) => sum(b.own(to, 0)) <= Number.MAX_SAFE_INTEGER))
		throw new Error('its counts add up to more than fits');
	const metrics = both.map(({ m, to }) => ({
		...m,
		hz: /^(?:calls|ops)$/.test(m.key) ? m.hz : finer(m.hz, theirs.metrics[to].hz),
	}));
	const names = [...facts.names],
		number = new Map(),
		kinds = [...facts.kinds],
		hues = [...facts.hues],
		files = [...(facts.files || [])],
		places = names.map((_, k) => (facts.places || [])[k] || 0);
	names.forEach((text, k) => {
		if (!(kinds[k] >= PHASE_KIND)) number.set(text, number.get(text) ?? k);
	});
	const paths = new Map(files.map((path, k) => [path, k])),
		kept = new Map(),
		at = (list, k) => (Array.isArray(list) ? list[k] : undefined),
		renamed = theirs.names.map((text, k) =>
			at(theirs.kinds, k) >= PHASE_KIND
				? 0
				: keep(number, text, () => {
					  const kind = at(theirs.kinds, k),
						  hue = at(theirs.hues, k),
						  [file, line] = [].concat(at(theirs.places, k)),
						  path = at(theirs.files, file);
					  kinds.push(
						  Number.isInteger(kind) && kind >= 0 && kind < PHASE_KIND ? kind : 0,
					  );
					  hues.push(Number.isFinite(hue) ? hue : hueOf(text, kept));
					  places.push(
						  typeof path === 'string' && Number.isInteger(line)
							  ? [keep(paths, path, () => files.push(path) - 1), line]
							  : 0,
					  );
					  return names.push(text) - 1;
				  }),
		);
	const n = a.n + b.n - 1,
		name = new Int32Array(n),
		parent = new Int32Array(n),
		when = a.when && new Int32Array(n),
		shift = a.n - 1;
	name.set(a.name);
	parent.set(a.parent);
	if (when) when.set(a.when);
	for (let i = 1; i < b.n; i++) {
		name[shift + i] = renamed[b.name[i]];
		parent[shift + i] = b.parent[i] && b.parent[i] + shift;
		if (when) when[shift + i] = shift + (b.when ? b.when[i] : 0);
	}
	const own = (m, side) => {
		const list = new Float64Array(n),
			of = side ? b.own(both[m].to, 0) : a.own(both[m].at, 0),
			by = metrics[m].hz / (side ? theirs.metrics[both[m].to] : mine[both[m].at]).hz;
		const ticks = by === 1 ? of : of.map((v) => Math.round(v * by));
		list.set(side ? ticks.subarray(1) : ticks, side ? a.n : 0);
		list[0] = ticks[0];
		return list;
	};
	const tree = regroup({ n, name, parent, when, own }, ranks(names), (i, above) =>
		above === 0 && name[i] === name[0] ? PART : name[i],
	);
	const listed = (notes, label) =>
		(Array.isArray(notes) ? notes : [])
			.filter(Array.isArray)
			.map(([term, text]) => [term === 'Profile' ? label : `${term}`, `${text}`]);
	const notes = [
		...listed(facts.notes, 'Baseline'),
		['Other side', title],
		...listed(theirs.notes, 'Its profile'),
		['Compared', `in this page: loading the page again shows ${first} alone`],
	];
	if (both.length < mine.length)
		notes.push([
			'Metrics',
			`${metrics.map((m) => m.label).join(', ')}: the other side has no more of them`,
		]);
	if (hadLines)
		notes.push([
			'Source',
			`not shown: the page has sources and costs of lines of ${first} alone`,
		]);
	const diff = {
		view: 'graph',
		width: 'after',
		colour: 'self',
		negate: false,
		factor: [1, 1],
		factors: metrics.map(() => [1, 1]),
		moved: {},
		significant: null,
		mode: 'diff',
		runs: [1, 1],
		normalized: '',
	};
	return {
		tree,
		facts: {
			...facts,
			title: `${first} \u2192 ${title}`,
			subtitle: '',
			frames: tree.n,
			sides: [first, title],
			metrics,
			names,
			kinds,
			hues,
			fills: null,
			files,
			places,
			options: { ...facts.options, metric: metric().key },
			notes,
			diff,
			isDropped: true,
		},
	};
}
return { readProfile, unite };
})();
const { display, ink, LEVELS, KINDS, kindColour, diffColour, colours, rgb, levelOf, heat } = (() => {
const display = { theme: 'light', printing: false };
const ink = { theme: '' };      // the colours of a theme, and its name
const LEVELS = 24;             // of a difference, each way
const KINDS = [
	['Perl sub', 0.83, 0.115, 0.47, 0.105],
	['core module', 0.91, 0.045, 0.37, 0.04],
	['XS', 0.74, 0.1, 0.57, 0.11],
	['builtin', 0.87, 0, 0.42, 0],
	['anonymous', 0.87, 0.085, 0.42, 0.08],
	['BEGIN time', 0.86, 0.065, 0.44, 0.075],
	['program', 0.93, 0.008, 0.33, 0.01],
];
function kindColour(kind, hue) {
	const [, light, lightChroma, dark, darkChroma] = KINDS[kind] || KINDS[0],
		h = kind === 5 ? 305 : hue;
	return ink.dark ? `oklch(${dark} ${darkChroma} ${h})` : `oklch(${light} ${lightChroma} ${h})`;
}
function diffColour(level) {
	const neutral = ink.dark ? 0.29 : 0.985,
		part = 0.16 + 0.84 * (Math.abs(level) / LEVELS),
		red = level > 0;
	if (level === 0) return `oklch(${neutral} 0 0)`;
	const most = ink.dark ? (red ? 0.7 : 0.72) : red ? 0.5 : 0.45,
		chroma = ink.dark ? (red ? 0.19 : 0.15) : red ? 0.205 : 0.19;
	return `oklch(${neutral + (most - neutral) * part} ${chroma * Math.min(1, part * 1.25)} `
		+ `${red ? 27 : 260})`;
}
function colours() {
	const theme = display.printing ? 'light' : display.theme,
		dark = theme === 'dark',
		{
			facts: { kinds, hues, fills },
			names,
		} = profile;
	Object.assign(ink, {
		theme,
		dark,
		...(dark
			? {
				  back: '#15171c',
				  text: '#f4f5f8',
				  dust: '#3a3f4a',
				  line: '#565c68',
				  ghost: '#93b8ff',
				  ghostText: '#dfe6f5',
				  stripe: '#ffffff28',
				  mark: 'oklch(0.7 0.22 320)',
				  markText: '#16081c',
				  begin: 'oklch(0.72 0.17 305)',
				  fresh: '#ffd9d4',
			  }
			: {
				  back: '#ffffff',
				  text: '#16181d',
				  dust: '#dfe2e8',
				  line: '#d3d7de',
				  ghost: '#1b3f8b',
				  ghostText: '#16181d',
				  stripe: '#0000001e',
				  mark: 'oklch(0.62 0.25 320)',
				  markText: '#ffffff',
				  begin: 'oklch(0.55 0.2 305)',
				  fresh: '#6b0000',
			  }),
	});
	ink.hatch = hatch(ink.stripe);
	ink.levels = Array.from({ length: 2 * LEVELS + 1 }, (_, k) => diffColour(k - LEVELS));
	ink.onLevel = ink.levels.map((colour) =>
		luminance(rgb(colour)) > 0.18 ? '#16181d' : '#ffffff',
	);
	ink.fill = names.map((_, i) => (fills && fills[i]) || kindColour(kinds[i], hues[i]));
	ink.on = names.map((_, i) => {
		if (!fills || !fills[i]) return ink.text;
		const [r, g, b] = [1, 3, 5].map((k) => parseInt(fills[i].slice(k, k + 2), 16));
		return r * 0.299 + g * 0.587 + b * 0.114 > 140 ? '#16181d' : '#ffffff';
	});
}
const rgbs = new Map();
function rgb(colour) {
	return keep(rgbs, colour, () => {
		const c = make('canvas', { width: 1, height: 1 }).getContext('2d', {
			willReadFrequently: true,
		});
		c.fillStyle = colour;
		c.fillRect(0, 0, 1, 1);
		return (
			'#'
			+ [...c.getImageData(0, 0, 1, 1).data]
				.slice(0, 3)
				.map((v) => v.toString(16).padStart(2, '0'))
				.join('')
		);
	});
}
function luminance(hex) {
	const part = (k) => {
		const v = parseInt(hex.slice(k, k + 2), 16) / 255;
		return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}
const levelOf = (part) =>
	part === 0 ? 0 : Math.sign(part) * Math.max(1, Math.round(Math.abs(part) * LEVELS));
function hatch(colour) {
	const tile = make('canvas', { width: 8, height: 8 }), c = tile.getContext('2d');
	Object.assign(c, { strokeStyle: colour, lineWidth: 2 });
	for (const x of [-8, 0, 8]) {
		c.moveTo(x - 1, 9);
		c.lineTo(x + 9, -1);
	}
	c.stroke();
	return c.createPattern(tile, 'repeat');
}
const heat = (share) =>
	share >= 0.1
		? 5
		: share >= 0.03
		  ? 4
		  : share >= 0.01
			? 3
			: share >= 0.003
			  ? 2
			  : share >= 0.0005
				? 1
				: 0;
return { display, ink, LEVELS, KINDS, kindColour, diffColour, colours, rgb, levelOf, heat };
})();
const { COUNT, amount, signed, seconds } = (() => {
const COUNT = { unit: '' };
function amount(ticks, m = metric()) {
	const v = ticks / (m.hz || 1), a = Math.abs(v);
	if (m.unit !== 's')
		return (
			grouped(v, Number.isInteger(v) || a >= 100 ? 0 : 1)
			+ (m.unit
				? ' ' + (a === 1 ? m.unit.replace(/sses$/, 'ss').replace(/([^s])s$/, '$1') : m.unit)
				: '')
		);
	if (a === 0) return '0 s';
	const [scale, unit] =
		a >= 0.9995
			? [1, 's']
			: a >= 0.9995e-3
			  ? [1e3, 'ms']
			  : a >= 0.9995e-6
				? [1e6, '\u00b5s']
				: [1e9, 'ns'];
	return `${grouped(v * scale, a * scale >= 100 ? 1 : a * scale >= 10 ? 2 : 3)} ${unit}`;
}
const signed = (ticks, m) => (ticks > 0 ? '+' : '') + amount(ticks, m);
const seconds = (v) => amount(v, { unit: 's', hz: 1 });
return { COUNT, amount, signed, seconds };
})();
const { CELLS, KEPT, timeline, unpackChunk, loadTimes, IN_TIME, metricInTime, timeStep, ends, sumOf, inRange, rangeInWords, partsOfTime } = (() => {
const CELLS = 4096;            // in which all of a lane is seen
const KEPT = 64;               // chunks that stay unpacked
const timeline = { lanes: [], kept: new Set(), span: 0, view: null, boxes: [], ready: null };
async function unpackChunk(chunk) {
	if (chunk.steps) {
		timeline.kept.delete(chunk);
		timeline.kept.add(chunk);
		return chunk.steps;
	}
	const take = blocks(await inflate(bytesOf($(chunk.element).textContent))), n = chunk.n;
	const code = varints(take(), new Int32Array(n)),
		at = varints(take(), new Float64Array(n)),
		cpu = varints(take(), new Float64Array(n));
	let now = chunk.at;
	for (let i = 0; i < n; i++) {
		const real = at[i], more = cpu[i];
		cpu[i] = real + (more % 2 ? -(more + 1) / 2 : more / 2);
		at[i] = now += real;
	}
	chunk.steps = { code, at, cpu };
	timeline.kept.add(chunk);
	if (timeline.kept.size > KEPT) {
		const [oldest] = timeline.kept;
		timeline.kept.delete(oldest);
		oldest.steps = null;
	}
	return chunk.steps;
}
function loadTimes() {
	if (!timeline.ready) {
		timeline.ready = readTimes();
		$('busy').textContent = 'Reading the time line\u2026';
		$('busy').hidden = false;
		work.busy = timeline.ready
			.catch((error) => say(`The time line in this file is damaged: ${error.message}.`))
			.then(() => {
				$('busy').hidden = true;
			});
	}
	return timeline.ready;
}
async function readTimes() {
	const facts = JSON.parse(
		new TextDecoder().decode(blocks(await inflate(bytesOf($('dprof-times').textContent)))()),
	);
	if (facts.format !== 1) throw new Error(`format ${facts.format} of times is not known here`);
	for (const [k, { chunks, hz, end, tail, start = 0, ...rest }] of facts.lanes.entries()) {
		const lane = {
			...rest,
			hz,
			end,
			tail,
			from: start / 1e9,
			deepest: 0,
			goesOn: new Set(rest.goesOn),
			chunks: chunks.map((n, c) => ({ n, element: `dprof-times-${k}-${c}`, steps: null })),
		};
		timeline.lanes.push(lane);
		timeline.span = Math.max(timeline.span, lane.from + end / hz);
		await scan(lane);
	}
	timeline.view = [0, timeline.span || 1];
}
async function scan(lane) {
	const { parent } = profile.tree,
		n = profile.tree.n,
		real = new Float64Array(n),
		cpu = new Float64Array(n),
		calls = new Float64Array(n),
		seen = new Uint8Array(n);
	lane.done = 0;             // ticks up to the last step: what follows is of no sub
	const cell = Math.max(1, lane.end / CELLS), long = [], dust = [], begins = [];
	let frame = 0, now = 0, count = 0;
	const row = (depth) =>
		dust[depth]
		|| (dust[depth] = {
			cover: new Float32Array(CELLS + 1),
			who: new Int32Array(CELLS + 1).fill(-1),
			most: new Float32Array(CELLS + 1),
		});
	const ended = (depth, who, from, to) => {
		if (to - from >= 2 * cell) {
			long.push({ depth, frame: who, from, to });
			return;
		}
		const { cover, who: names, most } = row(depth),
			first = (from / cell) | 0,
			last = (to / cell) | 0;
		cover[first] += first === last ? to - from : (first + 1) * cell - from;
		for (let c = first + 1; c <= last; c++) cover[c] += Math.min(to, (c + 1) * cell) - c * cell;
		if (to - from >= most[first]) {
			most[first] = to - from;
			names[first] = who;
		}
	};
	for (const chunk of lane.chunks) {
		Object.assign(chunk, { at: now, frame, begins: Float64Array.from(begins), count });
		const { code, at, cpu: own } = await unpackChunk(chunk), touched = [];
		for (let i = 0; i < chunk.n; i++) {
			if (!seen[frame]) {
				seen[frame] = 1;
				touched.push(frame);
			}
			real[frame] += at[i] - now;
			cpu[frame] += own[i];
			now = at[i];
			if (code[i] === 0) {
				ended(begins.length, frame, begins.pop(), now);
				frame = parent[frame];
			} else {
				frame += code[i];
				begins.push(now);
				if (begins.length > lane.deepest) lane.deepest = begins.length;
				if (!lane.goesOn.has(count)) calls[frame]++;
				count++;
			}
		}
		if (!seen[frame]) touched.push(frame);
		chunk.end = lane.done = now;
		chunk.has = {
			frame: Int32Array.from(touched),
			real: Float64Array.from(touched, (f) => real[f]),
			cpu: Float64Array.from(touched, (f) => cpu[f]),
			calls: Float64Array.from(touched, (f) => calls[f]),
		};
		for (const f of touched) real[f] = cpu[f] = calls[f] = seen[f] = 0;
	}
	while (begins.length) {
		ended(begins.length, frame, begins.pop(), lane.end);
		frame = parent[frame];
	}
	Object.assign(lane, { cell, long, dust });
}
const IN_TIME = ['real', 'cpu', 'calls'];       // what is known of a range
function metricInTime() {
	if (!IN_TIME.includes(metric().key))
		state.metric = Math.max(0, profile.key(IN_TIME.find((key) => profile.key(key) >= 0)));
}
const timeStep = () => state.chain.find(({ act }) => act === 'time');
const ends = (text) => text.replace(/@.*/, '').split('-').map(Number);
const laneOf = (text) => (/@(\d+)$/.exec(text) || [0, -1])[1] * 1;
async function sumOf(from, to, only = -1) {
	await loadTimes();
	const n = profile.tree.n,
		{ parent } = profile.tree,
		sum = { real: new Float64Array(n), cpu: new Float64Array(n), calls: new Float64Array(n) };
	for (const lane of timeline.lanes.filter((_, k) => only < 0 || k === only)) {
		const a = (from - lane.from) * lane.hz,
			b = (to - lane.from) * lane.hz,
			{ hz, done, end, tail } = lane;
		const rest = Math.min(end, b) - Math.max(done, a);
		if (rest > 0) {
			sum.real[0] += rest / hz;
			sum.cpu[0] += tail * rest / (end - done) / hz;
		}
		for (const chunk of lane.chunks) {
			if (chunk.end <= a || chunk.at >= b) continue;
			if (chunk.at >= a && chunk.end <= b) {
				const { frame, real, cpu, calls } = chunk.has;
				for (let k = 0; k < frame.length; k++) {
					sum.real[frame[k]] += real[k] / hz;
					sum.cpu[frame[k]] += cpu[k] / hz;
					sum.calls[frame[k]] += calls[k];
				}
				continue;
			}
			const { code, at, cpu } = await unpackChunk(chunk);
			let { frame, at: now, count } = chunk;
			for (let i = 0; i < chunk.n; i++) {
				const part = Math.min(at[i], b) - Math.max(now, a);
				if (part > 0) {
					sum.real[frame] += part / hz;
					sum.cpu[frame] += cpu[i] * part / (at[i] - now) / hz;
				} else if (at[i] === now && now >= a && now < b) sum.cpu[frame] += cpu[i] / hz;
				now = at[i];
				if (code[i] === 0) frame = parent[frame];
				else {
					frame += code[i];
					if (now >= a && now < b && !lane.goesOn.has(count)) sum.calls[frame]++;
					count++;
				}
			}
		}
	}
	return sum;
}
function inRange(tree, text) {
	const sum = profile.ranges.get(text);
	if (!sum) {
		if (!hasTimes()) return tree;
		const done = sumOf(...ends(text), laneOf(text)).then((made) => {
			profile.ranges.clear();
			profile.ranges.set(text, made);
			profile.chained.length = 0;
			if (timeStep()) {
				redraw.chain();
			}
		});
		work.busy = done;
		return tree;
	}
	const whole = inclusive(tree, sum.real),
		{ name } = tree,
		timed = new Frames(name, tree.parent, tree.when, (m, side) => {
			const { key, hz } = profile.metrics[m];
			return sum[key]
				? sum[key].map((v) => v * (key === 'calls' ? 1 : hz))
				: tree.own(m, side).map(() => 0);
		}),
		called = inclusive(tree, sum.calls);
	return regroup(timed, profile.rank, (i) => (whole[i] > 0 || called[i] > 0 ? name[i] : OUT));
}
function rangeInWords(text) {
	const lane = timeline.lanes[laneOf(text)];
	return `${ends(text).join('\u2013')} s`
		+ `${lane ? ` of process ${lane.pid || laneOf(text) + 1}` : ''}`;
}
function partsOfTime() {
	const list = [], several = timeline.lanes.length > 1;
	timeline.lanes.forEach((lane, k) => {
		const last = lane.from + lane.end / lane.hz,
			of = several
				? `${lane.tid ? `thread ${lane.tid} of ` : ''}${lane.pid || lane.name}`
				: '';
		if (several) list.push([`process ${of}`, [lane.from, last], k]);
		const phases = lane.marks
			.filter(([, text], i) => !i || lane.marks[i - 1][1] !== text)
			.map(([at, text]) => [text, lane.from + at / lane.hz]);
		if (phases.length > 1)
			phases.forEach(([text, at], i) =>
				list.push([
					`${of ? `${of}: ` : ''}phase ${text} (${seconds(at)})`,
					[at, i + 1 < phases.length ? phases[i + 1][1] : last],
					several ? k : -1,
				]),
			);
	});
	return list.filter(([, [from, to]]) => to > from);
}
return { CELLS, KEPT, timeline, unpackChunk, loadTimes, IN_TIME, metricInTime, timeStep, ends, sumOf, inRange, rangeInWords, partsOfTime };
})();
const { STEPS, LANES, lane, partInWords, chainOf, placedTree, chained } = (() => {
const stepOfPart = (noun) => ({
	word: noun,
	noun,
	told: (text) => partInWords(text),
	make: (_, text, k) => chosenParts(k),
	fits: (text, before) =>
		profile.whole
		&& lane(noun, text) >= 0
		&& before.every(({ act }) => LANES[act] && act !== noun),
});
const stepOfSub = (word, make) => ({
	word,
	noun: 'sub',
	told: (text) => short(text, 60),
	make,
	fits: (text) => subNamed(text) >= 0,
});
const STEPS = {
	process: stepOfPart('process'),
	phase: stepOfPart('phase'),
	only: stepOfSub('only', (tree, text) => onlyWith(tree, subNamed(text), profile.rank)),
	hide: stepOfSub('without', (tree, text) => without(tree, subNamed(text), profile.rank)),
	time: {
		word: 'time',
		noun: 'range of time',
		told: (text) => rangeInWords(text),
		make: (tree, text) => inRange(tree, text),
		fits: (text, before) =>
			!before.length && hasTimes() && /^[\d.]+-[\d.]+(?:@\d+)?$/.test(text),
	},
	fold: {
		word: 'folded:',
		noun: 'package',
		told: (text) => short(text, 60),
		fits: () => true,
		make: (tree, text) =>
			fold(
				tree,
				Uint8Array.from(profile.names, (name) => (packageOf(name) === text ? 1 : 0)),
				profile.rank,
			),
	},
};
const LANES = { process: PART_KIND, phase: PHASE_KIND };
function chosenParts(k) {
	return within(
		profile.whole,
		profile.facts.kinds,
		profile.rank,
		state.chain.slice(0, k + 1).map(({ act, text }) => lane(act, text)),
	);
}
const lane = (act, text) =>
	profile.names.findIndex((name, i) => name === text && profile.facts.kinds[i] === LANES[act]);
const partInWords = (text) => short(text.replace(/^\((.*)\)$/s, '$1'), 60);
function chainOf(steps) {
	state.chain = steps.filter(({ act, text }, k) => STEPS[act].fits(text, steps.slice(0, k)));
	return steps.find((step) => !state.chain.includes(step));
}
function placedTree() {
	const n = state.chain.findIndex(({ act }) => act !== 'time' && !LANES[act]);
	const steps = n < 0 ? state.chain.length : n;
	return steps && chained() ? profile.chained[steps - 1].tree : profile.tree;
}
function chained() {
	let tree = profile.tree;
	state.chain.forEach(({ act, text }, k) => {
		const key = `${act} ${text}`, old = profile.chained[k];
		if (!old || old.key !== key) {
			profile.chained.length = k;
			profile.chained.push({ key, tree: STEPS[act].make(tree, text, k) });
		}
		({ tree } = profile.chained[k]);
	});
	return tree;
}
return { STEPS, LANES, lane, partInWords, chainOf, placedTree, chained };
})();
const { byName, subs, allSubs, around, heaviest, inShort, hotSubs, neighbours } = (() => {
function byName(tree, lists, once, counts, other = (i) => tree.name[i]) {
	const sums = lists.map(() => new Float64Array(profile.names.length)),
		until = new Int32Array(profile.names.length);
	for (let i = 0; i < tree.n; i++) {
		if (counts && !counts(i)) continue;
		const sub = other(i);
		if (once && i < until[sub]) continue;
		until[sub] = tree.end[i];
		for (let s = 0; s < lists.length; s++) sums[s][sub] += lists[s][i];
	}
	return sums;
}
function subs(tree = chained()) {
	return keep(tree.kept, 'subs ' + state.metric, () => {
		const own = shown(tree),
			named = (key) =>
				profile.key(key) < 0 ? null : byName(tree, values(tree, profile.key(key)));
		const used = new Uint8Array(profile.names.length);
		for (const name of tree.name) used[name] = 1;
		return {
			used,
			self: byName(tree, own),
			total: byName(
				tree,
				own.map((list) => inclusive(tree, list)),
				true,
			),
			calls: named('calls'),
			ops: tree !== profile.tree && timeStep() ? null : named('ops'),
		};
	});
}
const allSubs = () => subs(placedTree());
function around(sub) {
	const tree = chained(),
		{ name, parent } = tree,
		all = shown(tree).map((list) => inclusive(tree, list)),
		known = profile.key('calls');
	const collect = (counts, other) => {
		const total = byName(tree, all, true, counts, other),
			calls = known < 0 ? null : byName(tree, values(tree, known), false, counts, other);
		const seen = new Set();
		for (let i = 1; i < tree.n; i++) if (counts(i)) seen.add(other(i));
		const rows = [...seen].map((key) => ({
			sub: key,
			total: total.map((list) => list[key]),
			calls: calls && calls.map((list) => list[key]),
		}));
		return rows.sort(
			(a, b) =>
				Math.max(...b.total) - Math.max(...a.total)
				|| profile.rank[a.sub] - profile.rank[b.sub],
		);
	};
	return {
		callers: collect((i) => i > 0 && name[i] === sub, (i) => name[parent[i]]),
		callees: collect((i) => i > 0 && name[parent[i]] === sub, (i) => name[i]),
	};
}
function heaviest(table, fits = () => true) {
	const list = [],
		weigh = (sub) =>
			profile.diff && !profile.relative
				? Math.abs(table.self[1][sub] - table.self[0][sub])
				: table.self[last()][sub];
	for (let sub = 0; sub < profile.names.length; sub++)
		if (table.used[sub] && profile.facts.kinds[sub] !== 6 && fits(sub)) list.push(sub);
	return list.sort(
		(a, b) =>
			weigh(b) - weigh(a)
			|| table.total[last()][b] - table.total[last()][a]
			|| profile.rank[a] - profile.rank[b],
	);
}
function inShort(table, sub) {
	const [a, b] = table.self.map((own) => own[sub]);
	if (!profile.diff) return percent(a / sum(table.self[0]));
	return profile.relative
		? inPoints(b / (sum(table.self[1]) || 1) - a / (sum(table.self[0]) || 1))
		: signed(b - a);
}
const hotSubs = (most) => keep(chained().kept, `hot ${state.metric} ${most}`, () => {
	const table = subs(),
		changed = (sub) => table.self[last()][sub] !== (profile.diff ? table.self[0][sub] : 0);
	return heaviest(
		table,
		(sub) => changed(sub) && (!profile.certain || profile.certain.self[sub] === 1),
	).slice(0, most);
});
function neighbours() {
	const tree = placedTree();
	return keep(tree.kept, `neighbours ${state.metric}`, () => {
		const { name, parent, end, n } = tree,
			total = inclusive(tree, values(tree, state.metric)[last()]),
			known = profile.key('calls');
		const calls = known < 0 ? null : values(tree, known)[last()],
			pairs = new Map(),
			of = { callers: new Map(), callees: new Map() };
		for (let i = 1; i < n; i++) {
			const from = name[parent[i]],
				key = from * profile.names.length + name[i],
				pair = keep(pairs, key, () => ({
					from,
					to: name[i],
					calls: 0,
					value: 0,
					until: 0,
				}));
			if (calls) pair.calls += calls[i];
			if (i < pair.until) continue;
			pair.until = end[i];
			pair.value += total[i];
		}
		const list = [...pairs.values()].sort(
			(a, b) =>
				b.value - a.value
				|| b.calls - a.calls
				|| profile.rank[a.from] - profile.rank[b.from]
				|| profile.rank[a.to] - profile.rank[b.to],
		);
		for (const { from, to, calls: times, value } of list) {
			keep(of.callers, to, () => []).push({ sub: from, calls: times, value });
			keep(of.callees, from, () => []).push({ sub: to, calls: times, value });
		}
		return of;
	});
}
return { byName, subs, allSubs, around, heaviest, inShort, hotSubs, neighbours };
})();
const { lineCosts, loadLines, readLines, linesHave, wholeOf, costAt, linesOf, callsFrom, callsOf, fileTotals, hottest, stateOf, textOf, fileName, placeIn } = (() => {
const lineCosts = { files: null, sides: null, detail: null, number: null, kept: null };
const sums = (list) => {
	const to = new Int32Array(list.length + 1);
	for (let i = 0; i < list.length; i++) to[i + 1] = to[i] + list[i];
	return to;
};
function readSide(take, nFiles) {
	const from = sums(varints(take(), new Int32Array(nFiles))), n = from[nFiles];
	const line = varints(take(), new Int32Array(n)),
		count = varints(take(), new Float64Array(n)),
		first = sums(varints(take(), new Int32Array(n)));
	for (let f = 0; f < nFiles; f++)
		for (let i = from[f] + 1; i < from[f + 1]; i++) line[i] += line[i - 1];
	const lazy = (size) => {
		const bytes = take();
		let list = null;
		return () => list || (list = varints(bytes, new Float64Array(size)));
	};
	const values = profile.metrics.map(() => ({ self: lazy(n), incl: lazy(n) })), calls = first[n];
	const name = varints(take(), new Int32Array(calls)),
		times = varints(take(), new Float64Array(calls));
	profile.metrics.forEach((_, m) => { values[m].call = lazy(calls); });
	const file = new Int32Array(n);
	for (let f = 0; f < nFiles; f++) file.fill(f, from[f], from[f + 1]);
	return { n, from, file, line, count, first, name, times, values, lineOf: null, to: null };
}
async function loadLines() {
	if (lineCosts.files || !hasLines()) return;
	readLines(await inflate(bytesOf($('dprof-lines').textContent)));
}
function readLines(bytes) {
	const take = blocks(bytes), facts = JSON.parse(new TextDecoder().decode(take()));
	if (facts.format !== 1) throw new Error(`format ${facts.format} of lines is not known here`);
	const files = facts.files.map((name, index) => ({
		index,
		name,
		source: [],
		subs: [],
		texts: [],
	}));
	facts.sources.forEach(([side, file, state], n) => {
		files[file].source[side] = { state, element: `dprof-source-${n}` };
	});
	const sides = profile.facts.sides.map(() => readSide(take, files.length)),
		number = new Map(files.map(({ name, index }) => [name, index]));
	Object.assign(lineCosts, { files, sides, detail: facts.detail, number, kept: new Map() });
	(profile.facts.places || []).forEach((place, sub) => {
		const file = place ? number.get(profile.facts.files[place[0]]) : undefined;
		if (file !== undefined && subs(profile.tree).used[sub])
			files[file].subs.push({ sub, line: place[1] });
	});
	for (const { subs: list } of files)
		list.sort((a, b) => a.line - b.line || profile.rank[a.sub] - profile.rank[b.sub]);
}
const linesHave = (side, m = metric()) =>
	placedTree() === profile.tree
	&& m.key !== 'calls'
	&& (lineCosts.detail[side] === 2 || (lineCosts.detail[side] === 1 && m.unit !== 's'));
const wholeOf = (side) =>
	keep(placedTree().kept, `whole ${state.metric} ${side}`, () =>
		sum(values(placedTree(), state.metric)[side]),
	);
function costAt(side, i) {
	const of = lineCosts.sides[side], { self, incl } = of.values[state.metric], by = scaleOf(side);
	return { i, count: of.count[i] / runsOf(side), self: self()[i] * by, incl: incl()[i] * by };
}
function linesOf(file, side) {
	if (placedTree() !== profile.tree) return new Map();
	const { from, line } = lineCosts.sides[side], list = new Map();
	for (let i = from[file]; i < from[file + 1]; i++) list.set(line[i], i);
	return list;
}
function callsFrom(side, i) {
	const { first, name, times, values: all } = lineCosts.sides[side],
		value = all[state.metric].call(),
		by = scaleOf(side),
		list = [];
	for (let c = first[i]; c < first[i + 1]; c++)
		list.push({ sub: name[c], calls: times[c] / runsOf(side), value: value[c] * by });
	return list.sort(
		(a, b) =>
			b.value - a.value || b.calls - a.calls || profile.rank[a.sub] - profile.rank[b.sub],
	);
}
function callsOf(side, sub) {
	if (placedTree() !== profile.tree) return [];
	const of = lineCosts.sides[side],
		{ first, name, times, file, line, n } = of,
		value = of.values[state.metric].call(),
		by = scaleOf(side);
	if (!of.to) {
		of.lineOf = new Int32Array(name.length);
		of.to = new Map();
		for (let i = 0; i < n; i++) {
			for (let c = first[i]; c < first[i + 1]; c++) {
				of.lineOf[c] = i;
				keep(of.to, name[c], () => []).push(c);
			}
		}
	}
	return (of.to.get(sub) || [])
		.map((c) => ({
			file: file[of.lineOf[c]],
			line: line[of.lineOf[c]],
			calls: times[c] / runsOf(side),
			value: value[c] * by,
		}))
		.sort(
			(a, b) => b.value - a.value || b.calls - a.calls || a.file - b.file || a.line - b.line,
		);
}
function fileTotals(side) {
	return keep(placedTree().kept, `files ${state.metric} ${side}`, () => {
		const of = lineCosts.sides[side], table = allSubs(), exact = linesHave(side);
		return lineCosts.files.map(({ index, subs: list }) => {
			const total = { self: 0, count: 0, calls: 0, subs: list.length };
			const self = exact && of.values[state.metric].self();
			for (
				let i = of.from[index];
				i < of.from[index + 1] && placedTree() === profile.tree;
				i++
			) {
				total.count += of.count[i] / runsOf(side);
				if (exact) total.self += self[i];
			}
			total.self *= scaleOf(side);
			for (const { sub } of list) {
				if (table.calls) total.calls += table.calls[side][sub];
				if (!exact) total.self += table.self[side][sub];
			}
			return total;
		});
	});
}
function hottest(side, most) {
	return keep(lineCosts.kept, `hot ${state.metric} ${side} ${most}`, () => {
		const of = lineCosts.sides[side], self = of.values[state.metric].self(), order = [];
		for (let i = 0; i < of.n; i++) if (self[i] > 0 && of.line[i] > 0) order.push(i);
		order.sort((a, b) => self[b] - self[a] || a - b);
		return order
			.slice(0, most)
			.map((i) => ({ file: of.file[i], line: of.line[i], ...costAt(side, i) }));
	});
}
const stateOf = (file, side = last()) =>
	(
		lineCosts.files[file].source[side]
		|| (profile.relative && lineCosts.files[file].source[0])
		|| {}
	).state || 'left out';
async function textOf(file, side = last()) {
	const { source, texts } = lineCosts.files[file],
		from = source[side] || (profile.relative && source[0]),
		node = from && $(from.element);
	if (texts[side] === undefined) {
		texts[side] = node && (async () => {
			const lines = new TextDecoder()
				.decode(await inflate(bytesOf(node.textContent)))
				.split('\n');
			if (lines[lines.length - 1] === '') lines.pop();
			return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
		})();
	}
	return (await texts[side]) || null;
}
const fileName = (file) => lineCosts.files[file].name || '(place not known)';
function placeIn(sub) {
	const place = lineCosts.files && profile.facts.places && profile.facts.places[sub],
		file = place ? lineCosts.number.get(profile.facts.files[place[0]]) : undefined;
	return file === undefined ? null : { file, line: place[1] };
}
return { lineCosts, loadLines, readLines, linesHave, wholeOf, costAt, linesOf, callsFrom, callsOf, fileTotals, hottest, stateOf, textOf, fileName, placeIn };
})();
const { isOn, filesBefore, beforeOf } = (() => {
const isOn = (file, side) =>
	lineCosts.sides[side].from[file + 1] > lineCosts.sides[side].from[file]
	|| !!lineCosts.files[file].source[side];
function filesBefore() {
	return keep(lineCosts.kept, 'before', () => {
		const to = lineCosts.files.map(({ index }) =>
				isOn(index, 0) && isOn(index, last()) ? index : -1,
			),
			taken = new Set(to),
			{ moved = {} } = profile.diff;
		const free = (file) => file !== undefined && !taken.has(file) && isOn(file, 0),
			bare = (file) => lineCosts.files[file].name.replace(/^.*\//s, '');
		const pair = (file, old) => {
			to[file] = old;
			taken.add(old);
		};
		for (const { index, subs: list } of lineCosts.files) {
			const votes = new Map();
			for (const { sub } of to[index] < 0 ? list : []) {
				const old = moved[sub] && lineCosts.number.get(moved[sub].replace(/:\d+$/, ''));
				if (free(old)) votes.set(old, (votes.get(old) || 0) + 1);
			}
			const [best] = [...votes].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
			if (best) pair(index, best[0]);
		}
		for (const { index } of lineCosts.files) {
			if (to[index] >= 0 || !isOn(index, last())) continue;
			const like = lineCosts.files.filter(
				(other) => free(other.index) && bare(other.index) === bare(index),
			);
			if (like.length === 1) pair(index, like[0].index);
		}
		return to;
	});
}
async function beforeOf(file) {
	const old = filesBefore()[file];
	if (old < 0) return { file: -1, lines: null, costs: new Map(), oldOf: () => 0, guessed: false };
	const lines = await textOf(old, 0), now = await textOf(file, last()), costs = linesOf(old, 0);
	const to = lines && now ? alignLines(lines, now) : null;
	return {
		file: old,
		lines,
		costs,
		to,
		oldOf: (line) => (to ? to[line - 1] || 0 : line),
		guessed: !to && !profile.relative,
	};
}
return { isOn, filesBefore, beforeOf };
})();
const { openFile, rangesOf, costOf, makeRows, subAt } = (() => {
const FEW = 5;                 // rows of calls that are shown at first
const CHEAP = 0.005;           // the part of the whole from which a line is not cheap
const openFile = {
	file: -1, side: 0, lines: null, before: null,      // `before`: the same file of the first side
	costs: new Map(), ranges: [], whole: 0,
	rows: [], at: new Map(), calls: new Map(),         // `at`: the row of a line
	fold: 'all', notes: true,
	opened: new Set(), shut: new Set(), more: new Set(), wide: new Set(),
};
function beginOf(lines, sub, line) {
	const word = /(\w+)$/.exec(profile.names[sub].replace(/\[.*$/s, '')),
		nameless = word && /^__ANON__|^BEGIN/.test(word[1]);
	if (!lines || !word) return line;
	const head = nameless
		? /\bsub\s*(?:\([^)]*\)\s*)?\{|\bBEGIN\b|\buse\b/
		: new RegExp(
			  `(?:^|[;{}])\\s*(?:(?:my|our|state)\\s+)?sub\\s+(?:\\w+(?:::|'))*${word[1]}\\b`,
		  );
	for (let at = line; at > 0 && at > line - (nameless ? 2 : 200); at--)
		if (head.test(lines[at - 1] || '')) return at;
	return line;
}
function endOf(lines, begin, next) {
	const indent = (text) => /^\s*/.exec(text.replace(/\t/g, '        '))[0].length,
		least = indent(lines[begin - 1] || '');
	if (/\}\s*;?\s*(?:#.*)?$/.test(lines[begin - 1] || '')) return begin;
	for (let at = begin + 1; at <= lines.length && at < next; at++)
		if (/^\s*\}/.test(lines[at - 1]) && indent(lines[at - 1]) <= least) return at;
	return begin;
}
function rangesOf(file, lines) {
	const list = lineCosts.files[file].subs
		.map(({ sub, line }) => ({ sub, statement: line, line: beginOf(lines, sub, line) }))
		.sort((a, b) => a.line - b.line || profile.rank[a.sub] - profile.rank[b.sub]);
	list.forEach((range, i) => {
		const next = list
			.slice(i + 1)
			.find(({ line, sub }) => line > range.line && !/__ANON__/.test(profile.names[sub]));
		range.end = lines
			? endOf(lines, range.line, next ? next.line : lines.length + 1)
			: range.line;
	});
	return list;
}
const costOf = (line) =>
	openFile.costs.has(line) ? costAt(openFile.side, openFile.costs.get(line)) : null;
function hidden(count) {
	const flags = new Uint8Array(count + 2),
		hide = (from, to, on) => flags.fill(on, from, to + 1),
		warm = openFile.whole * CHEAP;
	if (openFile.fold === 'cheap') {
		hide(1, count, 1);
		for (const [line, i] of openFile.costs) {
			const { self, incl } = costAt(openFile.side, i);
			if (Math.max(self, incl) >= warm)
				hide(Math.max(1, line - 1), Math.min(count, line + 1), 0);
		}
		for (const { sub, line } of openFile.ranges)
			if (allSubs().total[openFile.side][sub] >= warm) flags[line] = 0;
	} else if (openFile.fold === 'subs') {
		for (const { sub, line, end } of openFile.ranges)
			if (end > line && !/__ANON__|BEGIN/.test(profile.names[sub])) hide(line + 1, end, 1);
	}
	for (const { line, end } of openFile.ranges)
		if (openFile.shut.has(line)) hide(line + 1, end, 1);
	return flags;
}
function makeRows() {
	const { lines, costs, ranges } = openFile,
		rows = (openFile.rows = []),
		count = lines ? lines.length : 0,
		beginning = new Map();
	for (const range of ranges)
		if (profile.facts.kinds[range.sub] !== 5) keep(beginning, range.line, () => []).push(range);
	const known = [...new Set([...costs.keys(), ...beginning.keys()])].sort((a, b) => a - b),
		flags = lines ? hidden(count) : null;
	openFile.at = new Map();
	openFile.calls = new Map();
	const one = (line) => {
		for (const range of beginning.get(line) || []) rows.push({ kind: 'sub', line, ...range });
		if (openFile.notes)
			for (const range of beginning.get(line) || []) callerRows(rows, line, range.sub);
		openFile.at.set(line, rows.length);
		rows.push({ kind: 'line', line });
		if (openFile.notes && costs.has(line)) callRows(rows, line);
	};
	const { before } = openFile;
	const least = openFile.fold === 'cheap' && !openFile.shut.size ? 3 : 1;
	let next = 1, open = 0;
	const gone = (until) => {
		for (; next < until; next++) {
			rows.push({ kind: 'gone', line: next });
			if (openFile.notes && before.costs.has(next))
				for (const call of callsOfBoth(before.costs.get(next)))
					rows.push({ kind: 'call', line: 0, call });
		}
	};
	const ahead = before && before.to ? Array.from(before.to) : [];
	for (let k = count - 1; k >= 0 && before && before.to; k--)
		ahead[k] = ahead[k] || (k + 1 < count ? ahead[k + 1] : before.lines.length + 1);
	for (const line of lines ? known.filter((at) => at < 1) : known) one(line);
	for (let line = 1; line <= count; line++) {
		if (before && before.to) {
			gone(ahead[line - 1]);
			if (before.to[line - 1]) next = before.to[line - 1] + 1;
		}
		let to = line;
		while (
			line >= open
			&& to <= count
			&& flags[to]
			&& (to === line || !openFile.opened.has(to))
		)
			to++;
		if (to - line < least || openFile.opened.has(line)) {
			open = Math.max(open, to);
			one(line);
			continue;
		}
		rows.push({ kind: 'fold', line, to: to - 1 });
		for (let k = line; k < to; k++) {
			openFile.at.set(k, rows.length - 1);
			if (before && before.to && before.to[k - 1]) next = before.to[k - 1] + 1;
		}
		line = to - 1;
	}
	if (before && before.to) gone(before.lines.length + 1);
	for (const line of lines ? known.filter((at) => at > count) : []) one(line);
}
function some(rows, count, key, row) {
	const all = openFile.more.has(key), most = all || count <= FEW + 1 ? count : FEW;
	for (let i = 0; i < most; i++) rows.push(row(i));
	if (most < count) rows.push({ ...row(0), kind: 'more', key, n: count - most });
}
function callRows(rows, line) {
	const { first } = lineCosts.sides[openFile.side],
		i = openFile.costs.get(line),
		before = openFile.before && openFile.before.costs.get(openFile.before.oldOf(line));
	const list = () =>
		keep(openFile.calls, line, () =>
			openFile.before ? callsOfBoth(before, i) : callsFrom(openFile.side, i),
		);
	const n = openFile.before ? list().length : first[i + 1] - first[i];
	if (n)
		some(rows, n, `calls ${line}`, (k) => ({
			kind: 'call',
			line,
			get call() {
				return list()[k];
			},
		}));
}
function callsOfBoth(before, now) {
	const none = { calls: 0, value: 0 },
		list = new Map(
			(now === undefined ? [] : callsFrom(1, now)).map((call) => [
				call.sub,
				{ ...call, was: none },
			]),
		);
	for (const was of before === undefined ? [] : callsFrom(0, before))
		keep(list, was.sub, () => ({ ...none, sub: was.sub })).was = was;
	return [...list.values()].sort(
		(a, b) =>
			Math.abs(b.value - b.was.value) - Math.abs(a.value - a.was.value)
			|| b.calls - a.calls
			|| profile.rank[a.sub] - profile.rank[b.sub],
	);
}
function callerRows(rows, line, sub) {
	const list = callsOf(openFile.side, sub), by = list.length ? null : neighbours();
	const add = (kind, key, of) =>
		some(rows, of.length, `${key} ${sub}`, (k) => ({ kind, line, call: of[k] }));
	if (list.length) add('caller', 'callers', list);
	else {
		add('caller', 'callers', by.callers.get(sub) || []);
		add('call', 'callees', by.callees.get(sub) || []);
	}
}
function subAt(line) {
	const around =
		state.file < 0
			? []
			: openFile.ranges.filter(
				  (range) => range.line <= line && line <= Math.max(range.end, range.line),
			  );
	return around.length ? around[around.length - 1].sub : -1;
}
return { openFile, rangesOf, costOf, makeRows, subAt };
})();
const { scene, makeView, kindOf, largest, shade, isGone, isNew, points, nameOf } = (() => {
const scene = {
	version: 0,
	tree: null,
	base: null,
	all: null,
	self: null,
	total: null,
	calls: null,
	weights: null,
	narrow: 0,
	lost: null,
	largest: null,
	split: 0,
	focus: 0,
	steps: 0,
	changed: null,
	deepest: 0,
	highest: 0,
};
const WEIGHTS = {
	before: ([a]) => a,
	after: (own) => own[own.length - 1],
	union: ([a, b]) => a.map((v, i) => Math.max(v, b[i])),
	change: ([a, b]) => a.map((v, i) => Math.abs(b[i] - v)),
};
function makeView(pixels) {
	const steps = chained(),
		base = state.merged
			? keep(steps.kept, 'merged', () => mergeRecursion(steps, profile.rank))
			: steps,
		own = shown(base),
		{ kept } = base;
	const total = keep(kept, 'total ' + state.metric, () =>
		own.map((list) => inclusive(base, list)),
	);
	const calls = profile.key('calls'),
		widths = profile.diff ? ['before', 'after', 'union', 'change'] : ['after'];
	Object.assign(scene, {
		version: scene.version + 1,
		tree: base,
		base,
		all: total,
		self: own,
		total,
		narrow: 0,
		lost: null,
		calls: calls < 0 ? null : values(base, calls),
		largest: {},
		split: 0,
	});
	scene.weights = (width) => (width === 'before' ? total[0] : width === 'after' ? total[last()]
		: keep(kept, `${width} ${state.metric}`, () => inclusive(base, WEIGHTS[width](own))));
	const part = (state.range ? state.range[1] - state.range[0] : 1) * 0.5 / pixels;
	if (state.centre >= 0) makeSandwich(base, widths, part);
	else if (state.reversed) {
		const columns = keep(kept, 'columns ' + state.metric, () =>
			widths.map((width) => WEIGHTS[width](own)),
		);
		const weigh = keep(kept, 'weigh ' + state.metric, () =>
			profile.diff ? columns[0].map((v, i) => v + columns[1][i]) : columns[0],
		);
		const make = () =>
			reverse(
				base,
				weigh,
				keep(kept, 'weighty ' + state.metric, () => weighty(weigh)),
				columns,
				state.path,
				part,
				profile.rank,
			);
		const { tree, totals, narrow, lost } =
			state.path.length || state.range
				? make()
				: keep(kept, `callers ${state.metric} ${pixels}`, make);
		Object.assign(scene, {
			tree,
			narrow,
			lost,
			calls: null,
			total: totals.slice(0, profile.facts.sides.length),
			weights: (width) => totals[widths.indexOf(width)],
		});
	}
	const { frame, steps: known } = scene.tree.follow(state.path);
	Object.assign(scene, {
		focus: frame,
		steps: known,
		changed: profile.diff && scene.weights('change'),
		deepest: scene.tree.depth.reduce((a, b) => (a > b ? a : b), 0),
		highest: scene.tree.depth.reduce((a, b) => (a < b ? a : b), 0),
	});
}
function makeSandwich(base, widths, part) {
	const callees = calleesOf(base, state.centre, profile.rank),
		own = shown(callees),
		first = below(base, state.centre, true);
	const at = Int32Array.from(first.keys()).filter((i) => first[i]);
	const ends = widths.map((width) => {
		const all = scene.weights(width), list = new Float64Array(base.n);
		for (const i of at) list[i] = all[i];
		return list;
	});
	const weigh = profile.diff ? ends[0].map((v, i) => v + ends[1][i]) : ends[0];
	const {
		tree: up,
		totals,
		narrow,
		lost,
	} = reverse(
		base,
		weigh,
		at.filter((i) => weigh[i] > 0),
		ends,
		[state.centre],
		part,
		profile.rank,
	);
	const split = callees.n,
		n = Math.max(0, up.n - 1),
		parent = new Int32Array(split + n),
		name = new Int32Array(split + n);
	name.set(callees.name);
	parent.set(callees.parent);
	for (let i = 0; i < n; i++) {
		name[split + i] = up.name[i + 1];
		parent[split + i] = i ? up.parent[i + 1] - 1 + split : -1;
	}
	const tree = new Frames(name, parent, null, null), joined = (a, b) => {
		const list = new Float64Array(split + n);
		list.set(a);
		if (b) list.set(b.subarray(1), split);
		return list;
	};
	for (let i = split; i < split + n; i++) tree.depth[i] = -tree.depth[i];
	const weights = widths.map((width, w) =>
			joined(inclusive(callees, WEIGHTS[width](own)), totals[w]),
		),
		all = new Float64Array(split + n);
	all.set(lost.slice(1), split);
	Object.assign(scene, {
		tree,
		split,
		narrow,
		lost: all,
		calls: null,
		self: own.map((list) => joined(list)),
		total: profile.facts.sides.map((_, side) =>
			joined(inclusive(callees, own[side]), totals[side]),
		),
		weights: (width) => weights[widths.indexOf(width)],
	});
}
const kindOf = (width) =>
	(width === 'change' && state.layout !== 'triple') || isUpward() ? 'total' : state.colour;
const certain = (name, kind) =>
	!profile.certain
	|| state.uncertain
	|| profile.certain[kind][name] === 1
	|| (isUpward() && profile.certain.self[name] === 1);
function largest(kind) {
	const key = kind + state.uncertain;
	if (scene.largest[key] === undefined) {
		const [a, b] = scene[kind], { name, n } = scene.tree;
		let most = 0;
		for (let i = 0; i < n; i++) {
			const d = Math.abs(b[i] - a[i]);
			if (d > most && certain(name[i], kind)) most = d;
		}
		scene.largest[key] = most;
	}
	return scene.largest[key];
}
function shade(i, width) {
	const kind = kindOf(width), [a, b] = scene[kind], d = b[i] - a[i], most = largest(kind);
	if (!certain(scene.tree.name[i], kind) || Math.abs(d) < most * 1e-3) return 0;
	const part =
		width === 'change' && state.layout !== 'triple'
			? Math.abs(d) / scene.changed[i]
			: Math.sqrt(Math.abs(d) / most);
	return Math.sign(d) * Math.min(1, part);
}
const isGone = (i) => !!profile.diff && scene.total[1][i] === 0 && scene.total[0][i] > 0;
const isNew = (i) => !!profile.diff && scene.total[0][i] === 0 && scene.total[1][i] > 0;
function points(i, kind) {
	const [a, b] = scene[kind];
	return inPoints(b[i] / (scene.total[1][0] || 1) - a[i] / (scene.total[0][0] || 1));
}
const nameOf = (i) => profile.names[scene.tree.name[i]];
return { scene, makeView, kindOf, largest, shade, isGone, isNew, points, nameOf };
})();
const { plain, unpack, CHOICES, sourceLink, link, remember } = (() => {
const pack = (name) =>
	encodeURIComponent(name.replace(/[%;]/g, (c) => (c === ';' ? '%3B' : '%25')));
function plain(text) {
	try {
		return decodeURIComponent(text);
	} catch (error) {
		return text;
	}
}
const unpack = (text) =>
	plain(text).replace(/%(3B|25)/gi, (_, hex) => (hex === '25' ? '%' : ';'));
const viewsOf = (state) =>
	['icicle', 'reversed', 'merged'].filter((key) => state[key]).join() || 'flame';
const CHOICES = ['order', 'layout', 'width', 'colour'];
const sourceLink = (file, line) =>
	`${pack(lineCosts.files[file].name)}${line > 0 ? ':' + line : ''}`;
function link(
	source = state.source ? (state.file >= 0 ? sourceLink(state.file, state.line) : '') : null,
) {
	const parts = [],
		old = profile.initial,
		add = (key, on, value) => {
			if (on) parts.push(`${key}=${value}`);
		};
	add('at', state.path.length, state.path.map((name) => pack(profile.names[name])).join(';'));
	add('q', state.q !== old.q, encodeURIComponent(state.q));
	add('case', state.match, 1);
	add('metric', state.metric !== old.metric, encodeURIComponent(metric().key));
	for (const key of CHOICES) add(key, state[key] !== old[key], state[key]);
	add('view', viewsOf(state) !== viewsOf(old), viewsOf(state));
	add('uncertain', state.uncertain, 1);
	add('table', state.table, 1);
	if (state.sub >= 0) add('sub', 1, pack(profile.names[state.sub]));
	add('src', source || (source === '' && !old.source), source);
	add('graph', source === null && old.source, 1);
	add('range', state.range, state.range && state.range.map((v) => +v.toPrecision(10)).join('..'));
	add(
		'steps',
		state.chain.length,
		state.chain.map(({ act, text }) => `${act}:${pack(text)}`).join(';'),
	);
	add('around', state.centre >= 0, pack(profile.names[state.centre] || ''));
	add('calls', state.calls, 1);
	add('timeline', state.time, 1);
	add('scale', state.common, 'common');
	return parts.length ? '#' + parts.join('&') : '';
}
function remember(push) {
	const hash = link(),
		count = (history.state && history.state.dprof) || 0,
		url = location.href.replace(/#.*/s, '') + hash;
	try {
		if (!push) history.replaceState({ dprof: count }, '', url);
		else if (hash !== location.hash) history.pushState({ dprof: count + 1 }, '', url);
	} catch (error) {
	}
}
return { plain, unpack, CHOICES, sourceLink, link, remember };
})();
const { MAP_HIGH, Minimap } = (() => {
const MAP_HIGH = 36;           // CSS pixels
class Minimap {
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
			state.uncertain,
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
return { MAP_HIGH, Minimap };
})();
const { matches, compile, tally } = (() => {
const matches = { names: null, test: null, mark: null, error: '', at: -1 };
function compile() {
	matches.error = '';
	if (state.q === '') {
		matches.names = matches.test = matches.mark = null;
		return;
	}
	try {
		const test = new RegExp(state.q, state.match ? '' : 'i');
		matches.test = (text) => test.test(text);
		matches.mark = new RegExp(test.source, test.flags + 'g');
		matches.names = Uint8Array.from(profile.names, (name) => (test.test(name) ? 1 : 0));
	} catch (error) {
		matches.error = `Not a usable regex: ${error.message.replace(/^.*: /s, '')}`;
	}
}
function tally() {
	matches.at = -1;
	matches.list = null;
	if (!matches.names) return;
	const { base: { n, name, end }, all } = scene, sums = all.map(() => 0);
	let frames = 0, until = 0;
	for (let i = 0; i < n; i++) {
		if (matches.names[name[i]] === 0) continue;
		frames++;
		if (i < until) continue;
		until = end[i];
		for (let s = 0; s < sums.length; s++) sums[s] += all[s][i];
	}
	matches.frames = frames;
	matches.shares = sums.map((v, s) => (all[s][0] > 0 ? v / all[s][0] : 0));
}
return { matches, compile, tally };
})();
const { paintTimes, boxAt } = (() => {
const EXACT = 2500000;         // steps that are drawn one by one
const TIME_ROW = 16;
const TIME_HEAD = 18;
const RULER = 34;    // CSS pixels
const laneHeight = (lane) => TIME_HEAD + (lane.deepest + 1) * TIME_ROW;
function sized(canvas, wide, high) {
	const dpr = devicePixelRatio || 1, c = canvas.getContext('2d');
	if (canvas.width !== Math.round(wide * dpr) || canvas.height !== Math.round(high * dpr)) {
		Object.assign(canvas, { width: Math.round(wide * dpr), height: Math.round(high * dpr) });
		Object.assign(canvas.style, { width: wide + 'px', height: high + 'px' });
	}
	c.setTransform(dpr, 0, 0, dpr, 0, 0);
	c.fillStyle = ink.back;
	c.fillRect(0, 0, wide, high);
	Object.assign(c, { textBaseline: 'middle', font: FONT, direction: 'ltr' });
	return c;
}
function paintTimes() {
	if (!timeline.canvas || !state.time || state.source || !ink.theme) return;
	timeline.wide = timeline.scroll.clientWidth;
	timeline.high = timeline.scroll.clientHeight;
	if (!(timeline.wide > 0 && timeline.high > 0)) return;
	const all = timeline.lanes.reduce((h, lane) => h + laneHeight(lane), 0),
		turn = (timeline.turn = (timeline.turn || 0) + 1);
	timeline.sheet.style.height = Math.max(all, timeline.high) + 'px';
	paintMap();
	paintRuler();
	const wanted = [];
	let steps = 0;
	for (const lane of timeline.lanes) {
		lane.shown = lane.chunks.filter((chunk) => onView(lane, chunk.at, chunk.end));
		steps += lane.shown.reduce((n, chunk) => n + chunk.n, 0);
		wanted.push(...lane.shown.filter((chunk) => !chunk.steps).map((chunk) => [lane, chunk]));
	}
	for (const lane of timeline.lanes)
		for (const chunk of lane.shown)
			if (chunk.steps && timeline.kept.delete(chunk)) timeline.kept.add(chunk);
	timeline.exact =
		steps <= EXACT && timeline.lanes.reduce((n, lane) => n + lane.shown.length, 0) <= KEPT;
	if (timeline.exact && wanted.length) {
		paintLanes(false);
		timeline.settled = (async () => {
			for (const [lane, chunk] of wanted) {
				await unpackChunk(chunk);
				if (turn !== timeline.turn) return;
			}
			paintLanes(timeline.lanes.every((lane) => lane.shown.every((chunk) => chunk.steps)));
		})();
	} else paintLanes(timeline.exact);
}
const onView = (lane, from, to) =>
	lane.from + to / lane.hz >= timeline.view[0] && lane.from + from / lane.hz <= timeline.view[1];
const coverOf = (covers, depth) =>
	covers[depth]
	|| (covers[depth] = {
		w: new Float32Array(timeline.wide + 2),
		who: new Int32Array(timeline.wide + 2),
	});
function paintCovers(c, covers, head) {
	const { name } = profile.tree;
	for (const [depth, cover] of covers.entries()) {
		for (let p = 0; cover && p <= timeline.wide; p++) {
			if (!(cover.w[p] > 0.02)) continue;
			const own = name[cover.who[p]], hit = matches.names && matches.names[own] === 1;
			c.globalAlpha = Math.min(1, 0.25 + cover.w[p]) * (matches.names && !hit ? 0.4 : 1);
			c.fillStyle = hit ? ink.mark : ink.fill[own];
			c.fillRect(p, head + (depth - 1) * TIME_ROW, 1, TIME_ROW - 1);
		}
	}
}
function showPicked(scale) {
	const step = timeStep();
	if (!step) timeline.part.value = 0;
	timeline.picked.hidden = !step;
	if (step) {
		const [from, to] = ends(step.text).map((t) => (t - timeline.view[0]) * scale);
		Object.assign(timeline.picked.style, {
			left: Math.max(0, from) + 'px',
			width: Math.max(1, Math.min(timeline.wide, to) - Math.max(0, from)) + 'px',
		});
		timeline.picked.hidden = to < 0 || from > timeline.wide;
	}
}
function paintLanes(exact) {
	const c = sized(timeline.canvas, timeline.wide, timeline.high),
		top = timeline.scroll.scrollTop,
		[t0, t1] = timeline.view,
		scale = timeline.wide / (t1 - t0),
		{ name } = profile.tree,
		{ boxes } = Object.assign(timeline, { boxes: [] });
	let y = -top, drawn = 0;
	for (const lane of timeline.lanes) {
		const height = laneHeight(lane),
			covers = [],
			px = (tick) => (lane.from + tick / lane.hz - t0) * scale,
			head = y + TIME_HEAD;
		const box = (depth, frame, from, to) => {
			const left = px(from),
				right = px(to),
				w = right - left,
				at = head + (depth - 1) * TIME_ROW;
			if (right < 0 || left > timeline.wide || at > timeline.high || at < -TIME_ROW) return;
			if (w < 0.7) {
				const cover = coverOf(covers, depth), p = Math.max(0, left | 0);
				cover.w[p] += w;
				cover.who[p] = frame;
				return;
			}
			const x = Math.max(0, left),
				seen = Math.min(timeline.wide, right) - x,
				own = name[frame],
				hit = matches.names && matches.names[own] === 1;
			c.globalAlpha = matches.names && !hit ? 0.4 : 1;
			c.fillStyle = hit ? ink.mark : ink.fill[own];
			c.fillRect(x, at, seen > 3 ? seen - 0.6 : seen, TIME_ROW - 1);
			boxes.push({
				x,
				w: seen,
				y: at,
				frame,
				from: lane.from + from / lane.hz,
				to: lane.from + to / lane.hz,
				lane,
				depth,
			});
			drawn++;
			if (seen < 28) return;
			c.fillStyle = hit ? ink.markText : ink.on[own];
			c.fillText(label(c, profile.names[own], seen - 6), x + 3, at + TIME_ROW / 2);
		};
		if (y < timeline.high && y + height > 0) {
			if (exact) calls(lane, box);
			else coarse(lane, box, covers, px);
			paintCovers(c, covers, head);
			c.globalAlpha = 1;
			c.fillStyle = ink.ghostText;
			c.fillText(
				short(
					`${lane.name}${lane.pid ? ` \u00b7 process ${lane.pid}` : ''}`
					+ `${lane.tid ? ` \u00b7 thread ${lane.tid}` : ''}`,
					120,
				),
				6,
				y + TIME_HEAD / 2,
			);
		}
		y += height;
	}
	timeline.drawn = drawn;
	showPicked(scale);
	timeline.canvas.setAttribute(
		'aria-label',
		`Time line from ${seconds(t0)} to ${seconds(t1)}. Drag or the table select a range; plus, `
		+ 'minus and arrow keys zoom and move.',
	);
}
function calls(lane, box) {
	const { parent } = profile.tree, { shown } = lane;
	if (!shown.length) return;
	let { frame } = shown[0];
	const begins = [...shown[0].begins];
	for (const { n, steps: { code, at } } of shown) {
		for (let i = 0; i < n; i++) {
			if (code[i]) {
				frame += code[i];
				begins.push(at[i]);
			} else {
				box(begins.length, frame, begins.pop(), at[i]);
				frame = parent[frame];
			}
		}
	}
	for (; begins.length; frame = parent[frame]) box(begins.length, frame, begins.pop(), lane.end);
}
function coarse(lane, box, covers, px) {
	for (const { depth, frame, from, to } of lane.long) box(depth, frame, from, to);
	const wide = px(lane.cell) - px(0);
	for (const [depth, row] of lane.dust.entries()) {
		if (!row) continue;
		const cover = coverOf(covers, depth);
		for (let k = 0; k <= CELLS; k++) {
			if (!row.cover[k]) continue;
			const left = px(k * lane.cell), share = row.cover[k] / lane.cell;
			for (let p = Math.max(0, left | 0); p < Math.min(timeline.wide, left + wide); p++) {
				cover.w[p] += Math.min(1, left + wide - p, wide) * share;
				if (row.who[k] >= 0) cover.who[p] = row.who[k];
			}
		}
	}
}
function paintMap() {
	const c = sized(timeline.small, timeline.wide, MAP_HIGH),
		deepest = Math.max(1, ...timeline.lanes.map(({ deepest: d }) => d)),
		row = Math.max(0.5, MAP_HIGH / timeline.lanes.length / deepest),
		scale = timeline.wide / timeline.span;
	timeline.lanes.forEach((lane, k) => {
		const top = k * MAP_HIGH / timeline.lanes.length;
		for (const { depth, frame, from, to } of lane.long) {
			c.fillStyle = ink.fill[profile.tree.name[frame]];
			c.fillRect(
				(lane.from + from / lane.hz) * scale,
				top + (depth - 1) * row,
				Math.max(0.5, ((to - from) / lane.hz) * scale),
				row,
			);
		}
	});
	const [from, to] = timeline.view.map((t) => t * scale);
	timeline.frame.hidden = to - from >= timeline.wide - 0.5;
	Object.assign(timeline.frame.style, {
		left: from + 'px',
		width: Math.max(3, to - from) + 'px',
	});
}
function paintRuler() {
	const c = sized(timeline.ruler, timeline.wide, RULER),
		[t0, t1] = timeline.view,
		scale = timeline.wide / (t1 - t0),
		rough = ((t1 - t0) * 110) / timeline.wide,
		power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough),
		digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
	c.fillStyle = ink.ghostText;
	for (let k = Math.ceil(t0 / step); k * step <= t1; k++) {
		c.fillRect((k * step - t0) * scale, 13, 1, 5);
		c.fillText(
			step < 1e-4
				? `${grouped(k * step * 1e6, Math.max(0, digits - 6))} \u00b5s`
				: step < 0.1
				  ? `${grouped(k * step * 1e3, Math.max(0, digits - 3))} ms`
				  : `${(k * step).toFixed(digits)} s`,
			(k * step - t0) * scale + 4,
			8,
		);
	}
	let free = 0;
	const marks = timeline.lanes
		.flatMap((lane, k) => [
			...(k && lane.from > 0 ? [[lane.from, `fork ${lane.pid || ''}`]] : []),
			...lane.marks.map(([at, text]) => [lane.from + at / lane.hz, text]),
		])
		.sort((a, b) => a[0] - b[0]);
	for (const [at, text] of marks) {
		const x = (at - t0) * scale;
		if (x < -1 || x > timeline.wide) continue;
		c.fillStyle = ink.begin;
		c.fillRect(x, 0, 1.5, RULER);
		if (x < free) continue;
		c.fillText(short(text, 30), x + 3, 26);
		free = x + 6 + c.measureText(short(text, 30)).width;
	}
}
function boxAt(event) {
	const area = timeline.canvas.getBoundingClientRect(),
		x = event.clientX - area.left,
		y = event.clientY - area.top;
	return (
		timeline.boxes.find(
			(box) =>
				x >= box.x && x < box.x + Math.max(1, box.w) && y >= box.y && y < box.y + TIME_ROW,
		) || null
	);
}
return { paintTimes, boxAt };
})();
const { search } = (() => {
function search(text, match = state.match) {
	state.q = text;
	state.match = match;
	compile();
	tally();
	redraw.matches();
	remember();
}
return { search };
})();
const { Pane, panes, cursor, marks } = (() => {
class Pane {
	constructor(kind, title, choose) {
		this.title = title || profile.facts.title;
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
	measure() {
		this.weights = scene.weights(this.width);
		this.x = positions(scene.tree, this.weights, state.order);
		this.solid = new Int32Array(scene.tree.n + 1);
		for (let i = 0; i < scene.tree.n; i++)
			this.solid[i + 1] = this.solid[i] + (this.weights[i] > 0 ? 1 : 0);
	}
	collect() {
		const { weights, x, scroll } = this,
			{ end, depth, parent } = scene.tree,
			focus = scene.focus,
			line = [];
		const [boxes, dust] = ['boxes', 'dust'].map(
			(key) => (this[key] = { frame: [], x: [], w: [], row: [] }),
		);
		const add = (to, i, left, w) => {
			to.frame.push(i);
			to.x.push(left);
			to.w.push(w);
			to.row.push(depth[i]);
		};
		const rows = scene.deepest - scene.highest + 2;
		this.row = matchMedia('(pointer: coarse)').matches
			? 26
			: Math.max(19, Math.min(25, Math.floor(scroll.clientHeight / rows)));
		this.view = display.printing ? 1040 : scroll.clientWidth;
		this.narrow = scene.narrow;
		this.narrowWeight = scene.lost
			? scene.lost[focus] + (scene.split ? scene.lost[scene.split] : 0)
			: 0;
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
	rowAt(y) {
		if (scene.split) return Math.floor((y - this.y(0)) / this.row);
		return Math.floor((state.icicle ? y : this.height - y) / this.row);
	}
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
			const hit = matches.names && matches.names[own] === 1,
				dim = matches.names && !hit,
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
				alpha,
				level: profile.diff ? levelOf(shade(i, width)) : 0,
			};
			seen.push(box);
			c.globalAlpha = alpha * (isGone(i) ? 0.55 : 1) * (!dim ? 1 : profile.diff ? 0.3 : 0.5);
			c.fillStyle = profile.diff
				? ink.levels[box.level + LEVELS]
				: hit
				  ? ink.mark
				  : ink.fill[own];
			c.fillRect(box.x, y, box.w, box.h);
			if (profile.diff) this.paintDiff(c, box);
			else if (!hit && w > 4) this.paintKind(c, box);
		}
		for (const box of seen) {
			c.globalAlpha = (box.alpha < 1 ? 0.7 : 1) * (box.dim ? 0.6 : 1);
			if (profile.diff && box.w > 11) this.labelDiff(c, box);
			else if (!profile.diff && box.w > 25) {
				c.fillStyle = box.hit ? ink.markText : ink.on[box.own];
				c.fillText(label(c, profile.names[box.own], box.w - 8), box.x + 4, box.y + row / 2);
			}
		}
	}
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
		if (kind === 4) {
			c.fillStyle = ink.hatch;
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
		if (level === 0 && w > 2 && !isGone(i)) this.outline(c, ink.line, x, y, w, h);
		c.globalAlpha = 1;
		if (hit) this.outline(c, ink.mark, x, y, w, h, 2);
	}
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
			text = room < 16 ? '' : label(c, nameOf(i), room);
		c.fillText(text, at, middle);
		if (level === 0 || !text) return;
		const value = profile.relative ? points(i, kind) : signed(b[i] - a[i]),
			used = widthOf(c, text) + 10;
		if (room > used + c.measureText(value).width) c.fillText(value, at + used, middle);
	}
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
const panes = [];
const cursor = { frame: -1, hover: -1, pane: 0, keys: false };
function marks() {
	for (const pane of panes) {
		pane.mark('hover', cursor.hover);
		pane.mark('cursor', cursor.keys ? cursor.frame : -1);
	}
}
return { Pane, panes, cursor, marks };
})();
const { known, inWords, speak, point, go } = (() => {
function known(i) {
	const whole = scene.all.map((list) => list[0]), zoomed = scene.focus || scene.split;
	const row = (kind) => {
		const [a, b] = scene[kind].map((list) => list[i]);
		if (!profile.diff)
			return [
				kind,
				amount(a),
				percent(a / whole[0]),
				zoomed ? percent(a / scene.total[0][scene.focus]) : '',
			];
		const part = kind === 'self' ? Math.abs(b - a) : scene.changed[i];
		return [
			kind,
			amount(real(a, 0)),
			amount(b),
			profile.relative ? points(i, kind) : signed(b - a),
			profile.relative
				? `${percent(a / whole[0])} \u2192 ${percent(b / whole[1])}`
				: growth(a, b),
			ratio(a, b),
			percent(scene.changed[0] && part / scene.changed[0]),
		];
	};
	const rows = [row('total')];
	if (!state.reversed && !(scene.split && i >= scene.split)) rows.push(row('self'));
	if (scene.calls && !profile.relative) {
		const [a, b] = scene.calls.map((list) => list[i]);
		rows.push(
			profile.diff
				? [
					  'calls',
					  amount(a, COUNT),
					  amount(b, COUNT),
					  signed(b - a, COUNT),
					  growth(a, b),
					  ratio(a, b),
					  '',
				  ]
				: ['calls', amount(a, COUNT)],
		);
	}
	return rows;
}
function remarks(i) {
	const name = scene.tree.name[i],
		kind = profile.facts.kinds[name],
		list = [kind ? (KINDS[kind] || KINDS[0])[0] : '', placeOf(name)];
	if (profile.diff) {
		const parts = (top) =>
			scene.total
				.map((total, side) => `${percent(total[i] / total[top])} of ${sideName(side)}`)
				.join(' \u2192 ');
		const { moved = {} } = profile.diff;
		list.push(parts(0), scene.focus ? `of the zoomed frame ${parts(scene.focus)}` : '');
		if (isNew(i))
			list.push(
				profile.relative
					? `only in ${profile.facts.sides[1]}`
					: 'new: not called here before',
			);
		if (isGone(i))
			list.push(
				profile.relative
					? `only in ${profile.facts.sides[0]}`
					: 'gone: not called here after',
			);
		if (moved[name]) list.push(`moved: was at ${moved[name]}`);
		if (profile.certain && !profile.certain.self[name] && !profile.certain.total[name])
			list.push('uncertain');
	}
	return list.filter(Boolean).join(' \u00b7 ');
}
function inWords(i) {
	return [...known(i).map(([label, a, b, c, d, e]) => {
		if (profile.diff) return `${label} ${a} \u2192 ${b}, ${c}${d ? ` (${d})` : ''} ${e}`;
		const part = c ? `, ${c} of ${scene.split ? 'the sub' : 'zoomed'}` : '';
		return `${label} ${a}${b ? ` (${b}${part})` : ''}`;
	}), remarks(i)].filter(Boolean).join(' \u00b7 ');
}
function speak(frame, before = '') {
	const { tree, split } = scene, up = state.reversed || (split && frame >= split);
	const near = plural(tree.kids(frame).length, up ? 'caller' : 'callee');
	$('spoken').textContent = `${before}${short(nameOf(frame), 200)}. ${inWords(frame)}. Level `
		+ `${tree.depth[frame]}, ${near}.`;
}
function point(frame, event) {
	const tip = $('tip');
	if (frame !== cursor.hover) {
		cursor.hover = frame;
		marks();
		redraw.details();
		tip.hidden = frame < 0;
	}
	if (frame < 0) return;
	const heads = profile.diff
		? [
			  '',
			  sideName(0),
			  sideName(1),
			  'difference',
			  profile.relative ? 'shares' : '',
			  'ratio',
			  'of all change',
		  ]
		: [
			  '',
			  '',
			  scene.focus || scene.split ? 'of all' : '',
			  scene.split ? 'of the sub' : scene.focus ? 'of zoomed' : '',
		  ];
	const line = (tag, cells) => make('tr', {}, ...cells.map((cell) => make(tag, {}, cell)));
	tip.replaceChildren(
		make('div', { className: 'name' }, short(nameOf(frame), 1000)),
		make('table', {}, line('th', heads), ...known(frame).map((cells) => line('td', cells))),
		make('p', {}, remarks(frame)),
	);
	const { clientX: x, clientY: y } = event, w = tip.offsetWidth, h = tip.offsetHeight;
	tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - w - 8)) + 'px';
	tip.style.top = (y + 18 + h > innerHeight ? Math.max(8, y - h - 12) : y + 18) + 'px';
}
function go(frame) {
	cursor.frame = frame;
	cursor.keys = true;
	for (const pane of panes) if (pane.box(frame)) pane.reveal(frame, 1);
	marks();
	redraw.details();
	speak(frame);
	for (const row of $('calls').querySelectorAll('tr[data-frame]'))
		row.classList.toggle('here', +row.dataset.frame === frame);
}
return { known, inWords, speak, point, go };
})();
const { MANY, soon, sayTooLarge, sandwich, sandwichHere, doStep, undoStep, choosePart, chooseTime } = (() => {
const MANY = 150000;           // frames
function soon(text, act) {
	if (profile.tree.n < MANY) {
		act();
		return;
	}
	$('busy').textContent = text;
	$('busy').hidden = false;
	work.busy = new Promise((done) => {
		requestAnimationFrame(() => setTimeout(() => {
			try {
				act();
			} finally {
				$('busy').hidden = true;
				done();
			}
		}));
	});
}
function sayTooLarge() {
	say(
		`Callers are drawn for up to ${grouped(REVERSE_LIMIT)} frames; this profile has `
		+ `${grouped(profile.tree.n)}. The table shows each sub's callers.`,
	);
}
function sandwich(sub) {
	if (sub >= 0 && !canReverse()) {
		sayTooLarge();
		return;
	}
	Object.assign(state, { centre: sub, path: [], range: null });
	cursor.frame = -1;
	soon('Collecting callers\u2026', () => {
		redraw.graph('view');
		for (const pane of panes)
			pane.scroll.scrollTop = scene.split ? pane.y(0) - pane.seen / 2 : pane.height;
		if (scene.split) speak(0, 'Callers and callees of ');
		remember(true);
	});
}
function sandwichHere() {
	const frame = cursor.frame > 0 ? cursor.frame : scene.focus, [hottest] = hotSubs(1);
	if (frame > 0) sandwich(scene.tree.name[frame]);
	else if (hottest !== undefined) sandwich(hottest);
}
function doStep(act, text) {
	state.chain = [...state.chain, { act, text }];
	rechain();
}
function undoStep(k = state.chain.length - 1) {
	state.chain = state.chain.filter((_, i) => i !== k);
	rechain();
}
function rechain() {
	say('');
	state.range = null;
	soon('Adding up what is left\u2026', () => {
		drawChain();
		remember(true);
	});
}
function drawChain() {
	redraw.graph('view');
	redraw.table();
	redraw.source();
	if (!scene.all.some((list) => list[0] > 0))
		say('Nothing is left: take a step of the chain back.');
}
function choosePart(act, name) {
	const others = state.chain.filter((step) => step.act !== act),
		step = name < 0 ? [] : [{ act, text: profile.names[name] }];
	state.chain =
		act === 'process'
			? [...step, ...others]
			: [
				  ...others.filter((other) => other.act === 'process'),
				  ...step,
				  ...others.filter((other) => other.act !== 'process'),
			  ];
	rechain();
}
function chooseTime(range, lane = -1) {
	const rest = state.chain.filter(({ act }) => act !== 'time');
	if (range) {
		const digits = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(range[1] - range[0]))));
		rest.unshift({
			act: 'time',
			text: range.map((v) => v.toFixed(digits)).join('-') + (lane < 0 ? '' : `@${lane}`),
		});
		metricInTime();
	}
	state.chain = rest;
	rechain();
}
redraw.chain = () => {
	drawChain();
	remember(false);
};
return { MANY, soon, sayTooLarge, sandwich, sandwichHere, doStep, undoStep, choosePart, chooseTime };
})();
const { zoom, chooseRange, partAt, scaleBy, press, zoomSub, turn, dye } = (() => {
function zoom(frame) {
	say('');
	if (scene.split) {
		sandwich(scene.tree.name[frame]);
		return;
	}
	state.path = scene.tree.path(frame);
	state.range = null;
	cursor.frame = scene.focus = frame;
	redraw.graph(state.reversed ? 'view' : 'boxes');
	for (const pane of panes) pane.reveal(scene.focus, 3);
	speak(scene.focus, 'Zoomed to ');
	remember(true);
}
function chooseRange([from, to], push, path = null) {
	const least = 1e-9,
		a = Math.max(0, Math.min(from, 1 - least)),
		b = Math.min(1, Math.max(to, a + least));
	if (path && path.length !== state.path.length) {
		state.path = path;
		scene.focus = scene.tree.follow(path).frame;
	}
	state.range = b - a > 0.999 ? null : [a, b];
	say('');
	redraw.graph(isUpward() ? 'view' : 'boxes');
	clearTimeout(cursor.late);
	if (push) remember(true);
	else cursor.late = setTimeout(remember, 150);
}
function partAt(pane, px) {
	const [from, to] = state.range || [0, 1];
	return (
		from
		+ (to - from)
			* Math.min(1, px / (state.range || state.common ? pane.view : pane.full || pane.view))
	);
}
function scaleBy(factor, around = 0.5, move = 0) {
	if (scene.split) return;
	const [from, to] = state.range || [0, 1],
		size = Math.min(1, (to - from) * factor),
		at = from + (to - from) * around;
	const begin = Math.max(0, Math.min(1 - size, at - size * around + move * (to - from)));
	if (size !== to - from || begin !== from) chooseRange([begin, begin + size], false);
}
function press(frame, event) {
	const told = event.pointerType !== 'touch' || cursor.frame === frame;
	if (frame < 0) return;
	if (told) {
		point(-1);
		zoom(frame);
		return;
	}
	go(frame);
	point(frame, event);
}
function zoomSub(sub) {
	const { tree } = scene, { weights } = panes[0];
	let best = -1;
	for (let i = 0; i < tree.n; i++)
		if (tree.name[i] === sub && weights[i] > 0 && (best < 0 || weights[i] > weights[best]))
			best = i;
	if (best >= 0) zoom(best);
	else say(`${short(profile.names[sub], 120)} has no width in this view.`);
}
const LONG_WORDS = {
	merged: 'Merging recursion\u2026',
	reversed: 'Collecting callers\u2026',
	metric: 'Adding up\u2026',
	order: 'Sorting\u2026',
};
function turn(key, value) {
	say('');
	if (key === 'reversed') {
		if (value && !canReverse()) {
			sayTooLarge();
			return;
		}
		state.path = [];
		state.centre = -1;
		cursor.frame = -1;
	}
	if (
		key === 'layout'
		|| key === 'order'
		|| key === 'reversed'
		|| key === 'merged'
		|| key === 'width'
	)
		state.range = null;
	if (key === 'merged' && value)
		state.path = state.path.filter((name, i) => name !== state.path[i - 1]);
	state[key] = value;
	const from =
			{
				layout: 'panes',
				order: 'widths',
				width: 'widths',
				icicle: 'boxes',
				common: 'boxes',
				colour: 'paint',
				uncertain: 'paint',
			}[key] || 'view',
		word = LONG_WORDS[key];
	const act = () => {
		redraw.graph(from);
		if (key === 'icicle')
			for (const pane of panes) pane.scroll.scrollTop = value ? 0 : pane.height;
		if (key === 'metric') {
			redraw.table();
			redraw.source();
		}
		remember();
	};
	if (word) soon(word, act);
	else act();
}
function dye(to) {
	display.theme = document.documentElement.dataset.theme = to;
	if (scene.tree) redraw.graph('paint');
}
return { zoom, chooseRange, partAt, scaleBy, press, zoomSub, turn, dye };
})();
const { lookAt } = (() => {
function drawTimes() {
	const node = $('time');
	node.hidden = !state.time || state.source;
	if (node.hidden) return;
	if (!timeline.view) {
		if (!timeline.ready) loadTimes().then(() => { if (state.time) drawTimes(); }, () => {});
		return;
	}
	if (!timeline.canvas) makeTimes(node);
	paintTimes();
}
function makeTimes(node) {
	Object.assign(timeline, {
		small: make('canvas', { className: 'small' }),
		frame: make('div', { className: 'window', hidden: true }),
		ruler: make('canvas', { className: 'ruler', title: 'Drag: moves' }),
		canvas: make('canvas', {
			tabIndex: 0,
			role: 'application',
			'aria-roledescription': 'time line',
			'aria-describedby': 'details',
		}),
		chosen: make('div', { className: 'chosen', hidden: true }),
		picked: make('div', { className: 'chosen picked', hidden: true }),
	});
	timeline.map = make(
		'div',
		{ className: 'map', 'aria-hidden': 'true' },
		timeline.small,
		timeline.frame,
	);
	timeline.sheet = make(
		'div',
		{ className: 'sheet' },
		timeline.canvas,
		timeline.picked,
		timeline.chosen,
	);
	timeline.scroll = make('div', { className: 'scroll', tabIndex: -1 }, timeline.sheet);
	const parts = partsOfTime().slice(0, 500);
	timeline.part = make(
		'select',
		{
			id: 'part',
			'aria-label': 'Processes, threads and phases',
			hidden: !parts.length,
			onchange: () => {
				const part = parts[timeline.part.value - 1];
				chooseTime(part ? part[1] : null, part ? part[2] : -1);
			},
		},
		make('option', { value: 0 }, 'all processes and phases'),
		...parts.map(([text], i) => make('option', { value: i + 1 }, short(text, 80))),
	);
	node.replaceChildren(timeline.map, timeline.ruler, timeline.part, timeline.scroll);
	const { canvas } = timeline,
		at = (px) =>
			timeline.view[0] + ((timeline.view[1] - timeline.view[0]) * px) / timeline.wide;
	let held = null;
	chooses(canvas, timeline.chosen, {
		begins: () => true,
		moves: () => pointTime(null),
		ends: (from, to) => chooseTime([at(from), at(to)]),
	});
	drags(timeline.ruler, {
		begins: () => (held = timeline.view),
		moves: (from, to) => look(held, (from - to) / timeline.wide),
		ends: () => {
			held = null;
		},
	});
	drags(timeline.map, {
		begins: (x) => {
			const t = (x / timeline.wide) * timeline.span;
			held =
				t >= timeline.view[0]
				&& t <= timeline.view[1]
				&& timeline.view[1] - timeline.view[0] < timeline.span
					? timeline.view
					: null;
			return true;
		},
		moves: (from, to) =>
			held
				? look(held, (((to - from) / timeline.wide) * timeline.span) / (held[1] - held[0]))
				: lookAt(
					  [from, to]
						  .sort((a, b) => a - b)
						  .map((px) => (px / timeline.wide) * timeline.span),
				  ),
		ends: () => {
			held = null;
		},
	});
	Object.assign(canvas, {
		onmousemove: (event) => pointTime(event.buttons ? null : event),
		onmouseleave: () => pointTime(null),
		onkeydown: timeKey,
		onclick: (event) => {
			const box = isUpward() ? null : boxAt(event),
				frame = box ? scene.tree.follow(profile.tree.path(box.frame)).frame : -1;
			if (frame > 0) go(frame);
		},
		ondblclick: (event) => {
			const box = boxAt(event);
			if (box) lookAt([box.from, box.to]);
			else lookAt([0, timeline.span]);
		},
	});
	wheels(node, canvas, {
		takes: () => true,
		zoom: (factor, part) => {
			pointTime(null);
			zoomTime(factor, part);
		},
		move: (part) => look(timeline.view, part),
	});
	timeline.scroll.addEventListener('scroll', () => paintTimes());
	new ResizeObserver(() => paintTimes()).observe(timeline.scroll);
}
function lookAt([from, to]) {
	const size = Math.min(timeline.span, Math.max(to - from, 1e-7)),
		begin = Math.max(0, Math.min(timeline.span - size, from));
	timeline.view = [begin, begin + size];
	paintTimes();
}
const look = ([from, to], by) => lookAt([from + by * (to - from), to + by * (to - from)]);
function zoomTime(factor, around = 0.5) {
	const [from, to] = timeline.view,
		size = Math.min(timeline.span, (to - from) * factor),
		at = from + (to - from) * around;
	lookAt([at - size * around, at - size * around + size]);
}
function timeKey(event) {
	if (event.ctrlKey || event.metaKey || event.altKey) return;
	const { key } = event,
		acts = {
			'+': () => zoomTime(0.5),
			'=': () => zoomTime(0.5),
			'-': () => zoomTime(2),
			ArrowLeft: () => look(timeline.view, -0.25),
			ArrowRight: () => look(timeline.view, 0.25),
			0: () => lookAt([0, timeline.span]),
			Home: () => lookAt([0, timeline.span]),
		};
	if (!acts[key]) return;
	acts[key]();
	event.preventDefault();
	event.stopPropagation();
}
function pointTime(event) {
	const tip = $('tip'), box = event && boxAt(event);
	tip.hidden = !box;
	if (!box) return;
	const { frame, from, to, lane } = box,
		share = (to - from) / (lane.end / lane.hz),
		place = placeOf(profile.tree.name[frame]);
	tip.replaceChildren(
		make('div', { className: 'name' }, short(profile.names[profile.tree.name[frame]], 1000)),
		make(
			'p',
			{},
			`${seconds(to - from)} elapsed (${percent(share)} of the process), from `
			+ `${seconds(from)} on${place ? ` \u00b7 ${place}` : ''}`,
		),
	);
	tip.style.left =
		Math.max(8, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)) + 'px';
	tip.style.top =
		(event.clientY + 18 + tip.offsetHeight > innerHeight
			? Math.max(8, event.clientY - tip.offsetHeight - 12)
			: event.clientY + 18) + 'px';
}
redraw.times = drawTimes;
return { lookAt };
})();
const { showViews, openTable, openSub, openCalls, openTimes, openSource, openSourceOf, toGraph, anchor, subLink } = (() => {
function showViews() {
	$('panes').hidden = state.source;
	$('subs').hidden = state.source || !state.table;
	$('calls').hidden = state.source || !state.calls;
	redraw.times();
	$('sources').hidden = !state.source;
	document.body.classList.toggle('sourced', state.source);
	$('q').placeholder = state.source ? 'Search sources (regex)' : 'Search subs (regex)';
}
function openTable(on, sub = -1) {
	const inside = $('subs').contains(document.activeElement),
		step = sub !== state.sub || state.source;
	Object.assign(state, { table: on, calls: false, sub, source: false, file: -1, line: 0 });
	showViews();
	redraw.table();
	redraw.graph('boxes');
	remember(step);
	const here = $('subs').querySelector('.here button');
	if (inside && here) here.focus({ preventScroll: true });
}
const openSub = (sub) => openTable(true, sub);
function openCalls(on) {
	Object.assign(state, { calls: on, table: false, sub: -1, source: false, file: -1, line: 0 });
	showViews();
	redraw.table();
	redraw.graph('boxes');
	remember();
	if (on && $('calls').querySelector('tr[data-frame]'))
		$('calls').querySelector('tr[data-frame]').tabIndex = 0;
}
function openTimes(on) {
	if (!hasTimes()) return;
	Object.assign(state, { time: on, source: false, file: -1, line: 0 });
	showViews();
	redraw.graph('boxes');
	remember();
}
function openSource(on, file = -1, line = 0, step = true, isSub = false) {
	say('');
	openFile.isSub = isSub;
	Object.assign(state, { source: on, file: on ? file : -1, line: on ? line : 0 });
	showViews();
	if (!on) {
		redraw.table();
		redraw.graph('boxes');
	}
	remember(step);
	return redraw.source(true);
}
async function openSourceOf(sub) {
	await loadLines();
	const place = placeIn(sub);
	if (place) openSource(true, place.file, place.line, true, true);
	else say(`${short(profile.names[sub], 120)}: the profile does not tell where it begins.`);
}
function toGraph(sub) {
	openSource(false);
	if (sub >= 0) zoomSub(sub);
	else panes[0].canvas.focus();
}
function anchor(text, file, line, options = {}, isSub = false) {
	const node = make('a', { href: link(sourceLink(file, line)), ...options }, text);
	node.onclick = (event) => {
		if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
		event.preventDefault();
		openSource(true, file, line, true, isSub);
	};
	return node;
}
function subLink(sub, options = {}) {
	const place = placeIn(sub),
		text = short(profile.names[sub]),
		title = short(profile.names[sub], 1000);
	if (place)
		return anchor(text, place.file, place.line, { title, className: 'sub', ...options }, true);
	return button(text, () => openSub(sub), {
		title: `${title}: in the table`,
		className: 'sub',
		...options,
	});
}
return { showViews, openTable, openSub, openCalls, openTimes, openSource, openSourceOf, toGraph, anchor, subLink };
})();
const { visible, sourceMatches, MOST_FOUND, foundInSources, foundLines } = (() => {
function visible(text, mark) {
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
const sourceMatches = {
	q: null,
	list: [],
	byFile: new Map(),
	files: 0,
	at: -1,
	turn: 0,
	busy: false,
	ready: Promise.resolve(),
};
const MOST_FOUND = 20000;
function foundInSources() {
	if (!matches.test) return '';
	const where = sourceMatches.at >= 0 ? `${grouped(sourceMatches.at + 1)} of ` : '',
		n = sourceMatches.list.length;
	return `${where}${n >= MOST_FOUND ? 'more than ' : ''}${plural(n, 'line')} in `
		+ `${plural(sourceMatches.files, 'file')}${sourceMatches.busy ? ' \u2026' : ''}`;
}
function foundLines() {
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
return { visible, sourceMatches, MOST_FOUND, foundInSources, foundLines };
})();
const { ROW, LONG, firstRow, drawRows, foldBy, showNotes, layRows, reveal, toLine, toHot } = (() => {
const ROW = 19;                // CSS pixels
const LONG = 2000;             // characters of a line that are shown at first
function gutterOfTwo(line, a, b, sign) {
	const exact = linesHave(1) && linesHave(0),
		key = exact ? 'self' : 'count',
		show = (v) => (exact ? amount(v) : grouped(v)),
		of = (cost, which) => (cost ? cost[which] : 0);
	const cell = (name, text, way = 0) =>
		make('span', { className: `c-${name}${way > 0 ? ' up' : way < 0 ? ' down' : ''}` }, text);
	const change = (which, form) => {
		const d = of(b, which) - of(a, which);
		return profile.relative || !d ? ['', 0] : [(d > 0 ? '+' : '') + form(d), d];
	};
	const number =
		line > 0
			? anchor(String(line), openFile.file, line, { className: 'c-line', tabIndex: -1 })
			: make('span', { className: 'c-line' }, sign);
	return make(
		'span',
		{ className: 'gutter' },
		cell('count', of(a, key) ? (exact ? amount(real(of(a, key), 0)) : show(of(a, key))) : ''),
		cell('self', of(b, key) ? show(of(b, key)) : ''),
		cell('inclusive', ...change(key, show)),
		cell('share', ...change('incl', amount)),
		number,
	);
}
const oldCost = (old) =>
	old > 0 && openFile.before.costs.has(old) ? costAt(0, openFile.before.costs.get(old)) : null;
function gutter(line, cost) {
	if (openFile.before)
		return gutterOfTwo(line, oldCost(line > 0 ? openFile.before.oldOf(line) : 0), cost, '');
	const { whole, side } = openFile,
		share = cost ? cost.self / whole : 0,
		all = cost ? cost.incl / whole : 0,
		cell = (name, text, hot = 0) => make('span', { className: `c-${name} h${hot}` }, text);
	const number =
		line > 0
			? anchor(String(line), openFile.file, line, { className: 'c-line', tabIndex: -1 })
			: make('span', { className: 'c-line' });
	const exact = linesHave(side);
	return make(
		'span',
		{ className: 'gutter' },
		cell('count', cost && cost.count ? grouped(cost.count) : ''),
		cell('self', cost && exact && cost.self ? amount(cost.self) : '', heat(share)),
		cell('inclusive', cost && cost.incl ? amount(cost.incl) : '', heat(all)),
		cell('share', cost && exact && cost.self ? percent(share) : '', heat(share)),
		number,
	);
}
function softness() {
	if (openFile.soft && openFile.soft.lines === openFile.lines) return openFile.soft.flags;
	const { lines } = openFile, flags = new Uint8Array(lines.length + 1);
	let pod = false, ended = false;
	lines.forEach((text, i) => {
		if (/^=[a-zA-Z]/.test(text)) pod = true;
		flags[i + 1] = pod || ended || /^\s*#/.test(text) ? 1 : 0;
		if (/^=cut\b/.test(text)) pod = false;
		if (!pod && /^__(?:END|DATA)__\s*$/.test(text)) ended = true;
	});
	openFile.soft = { lines, flags };
	return flags;
}
const costOfCalls = (calls, value) =>
	(calls ? plural(calls, 'call') : '')
	+ (value && metric().key !== 'calls' ? `, ${amount(value)}` : '');
const DRAW = {
	line({ line }) {
		const text = openFile.lines && line > 0 ? (openFile.lines[line - 1] ?? '') : '',
			range = openFile.ranges.find(
				(r) => r.line === line && r.end > r.line && profile.facts.kinds[r.sub] !== 5,
			),
			all = openFile.wide.has(line);
		const code = make(
			'span',
			{ className: `code${openFile.lines && softness()[line] ? ' soft' : ''}` },
			...visible(all ? text : text.slice(0, LONG), matches.mark),
		);
		if (text.length > LONG && !all) {
			code.append(button(`\u2026 ${grouped(text.length - LONG)} characters more`, () => {
				openFile.wide.add(line);
				drawRows();
			}, { className: 'link' }));
		}
		const below = openFile.rows[openFile.at.get(line + 1)],
			shut = !!below && below.kind === 'fold';
		const fold = range
			? button(shut ? '\u25b8' : '\u25be', () => foldSub(range, !shut), {
				  className: 'fold',
				  'aria-expanded': String(!shut),
				  'aria-label': `Fold ${short(profile.names[range.sub], 99)}`,
				  tabIndex: -1,
			  })
			: '';
		const fresh = openFile.before && openFile.before.to && !openFile.before.to[line - 1];
		return [
			gutter(line, costOf(line)),
			make('span', { className: `twist${fresh ? ' up' : ''}` }, fold || (fresh ? '+' : '')),
			code,
		];
	},
	gone({ line }) {
		return [
			gutterOfTwo(0, oldCost(line), null, `(${line})`),
			make('span', { className: 'twist down' }, '\u2212'),
			make(
				'span',
				{ className: 'code' },
				...visible(openFile.before.lines[line - 1].slice(0, LONG)),
			),
		];
	},
	call({ line, call: { sub, calls, value, was } }) {
		if (was) {
			const both = (a, b, show) => (a === b ? show(b) : `${show(a)} \u2192 ${show(b)}`);
			return [
				...note('\u2192', line),
				subLink(sub),
				make(
					'span',
					{ className: 'told' },
					`${both(was.calls, calls, grouped)} call`
					+ `${calls === 1 && was.calls === 1 ? '' : 's'}`,
				),
				make(
					'span',
					{
						className: 'told '
							+ `${value > was.value ? 'up' : value < was.value ? 'down' : ''}`,
					},
					value || was.value ? both(was.value, value, amount) : '',
				),
			];
		}
		const isMean = value && calls > 1 && metric().unit === 's';
		const each = isMean ? `, ${amount(value / calls)} each` : '';
		const told = make('span', { className: 'told' }, `${costOfCalls(calls, value)}${each}`);
		return [...note('\u2192', line), subLink(sub), told];
	},
	caller({ line: here, call: { file, line, sub, calls, value } }) {
		const inside = file === openFile.file ? subAt(line) : -1,
			place =
				sub !== undefined
					? ''
					: file === openFile.file
					  ? `line ${line}`
					  : `${short(fileName(file).replace(/^.*\//s, ''), 60)}:${line}`;
		const from =
			sub !== undefined
				? subLink(sub)
				: line > 0
				  ? anchor(place, file, line, { title: `${fileName(file)}:${line}` })
				  : make('span', {}, fileName(file));
		if (inside >= 0) from.append(` in ${short(profile.names[inside], 200)}`);
		return [
			...note('\u2190', here),
			'called from ',
			from,
			make(
				'span',
				{ className: 'told' },
				costOfCalls(calls, value),
			),
		];
	},
	sub({ line, sub }) {
		const table = allSubs(),
			{ side } = openFile,
			both = (lists, show) =>
				openFile.before
					? [
						  ...new Set(
							  lists.map((list, k) =>
								  show(k || show === grouped ? list[sub] : real(list[sub], 0)),
							  ),
						  ),
					  ].join(' \u2192 ')
					: show(lists[side][sub]);
		const words = [
			table.calls
				? `${both(table.calls, grouped)} call`
					+ `${!openFile.before && table.calls[side][sub] === 1 ? '' : 's'}`
				: '',
			`self ${both(table.self, amount)}`,
			`inclusive ${both(table.total, amount)}`
			+ `${openFile.before ? '' : ` (${percent(table.total[side][sub] / openFile.whole)})`}`,
		];
		return [
			...note('', line),
			make('bdi', { className: 'name' }, short(profile.names[sub], 200)),
			make('span', { className: 'told' }, words.filter(Boolean).join(', ')),
			button('Graph', () => toGraph(sub), {
				className: 'link',
				title: 'Zooms to its widest frame (g)',
			}),
			button('Table', () => openSub(sub), {
				className: 'link',
				title: 'Its callers and callees (s)',
			}),
		];
	},
	more({ line, n, key }) {
		return [...note('', line), button(`and ${grouped(n)} more`, () => {
			openFile.more.add(key);
			relist();
		}, { className: 'link' })];
	},
	fold({ line, to }) {
		let self = 0, count = 0;
		for (let k = line; k <= to; k++) {
			const cost = costOf(k);
			if (!cost) continue;
			self += cost.self;
			count += cost.count;
		}
		const cost = count || self ? { count, self, incl: 0 } : null;
		return [
			gutter(0, cost),
			make('span', { className: 'twist' }),
			button(
				`\u22ef ${plural(to - line + 1, 'line')}`,
				() => {
					openFile.opened.add(line);
					for (const range of openFile.ranges)
						if (range.line + 1 === line) openFile.shut.delete(range.line);
					relist(line - 1);
				},
				{ className: 'link', 'aria-expanded': 'false' },
			),
		];
	},
};
const note = (sign, line) => {
	const room =
		openFile.lines && line > 0 ? /^\s{0,40}/.exec(openFile.lines[line - 1] || '')[0] : '';
	return [
		make('span', { className: 'gutter note' }, make('span', {}, sign)),
		make('span', { className: 'twist' }),
		make('span', {}, room),
	];
};
function foldSub({ line }, shut) {
	if (shut) openFile.shut.add(line);
	else {
		openFile.shut.delete(line);
		openFile.opened.add(line + 1);
	}
	if (shut) openFile.opened.delete(line + 1);
	relist(line);
}
const firstRow = () =>
	display.printing ? 0 : Math.max(0, Math.floor(openFile.scroll.scrollTop / ROW / 8) * 8 - 8);
function drawRows() {
	const { scroll, sheet, rows } = openFile;
	if (!scroll || !scroll.isConnected) return;
	const tall = scroll.clientHeight || 600,
		from = (openFile.from = firstRow()),
		to = display.printing
			? Math.min(rows.length, 30000)
			: Math.min(rows.length, from + Math.ceil(tall / ROW) + 24);
	const list = [];
	for (let k = from; k < to; k++) {
		const row = rows[k], here = row.kind === 'line' && row.line === state.line;
		list.push(
			make(
				'div',
				{
					className: `row r-${row.kind}${here ? ' here' : ''}`,
					'data-row': k,
					...(row.kind === 'line' && { 'data-line': row.line }),
					...(here && { 'aria-current': 'true' }),
				},
				...DRAW[row.kind](row),
			),
		);
	}
	const focus = document.activeElement && sheet.contains(document.activeElement);
	sheet.replaceChildren(make('div', { className: 'drawn' }, ...list));
	sheet.firstChild.style.top = from * ROW + 'px';
	if (focus) scroll.focus({ preventScroll: true });
}
const relist = (keepLine = state.line) => {
	const before = openFile.at.get(keepLine),
		y = before === undefined ? 0 : before * ROW - openFile.scroll.scrollTop;
	layRows();
	if (before !== undefined && openFile.at.has(keepLine))
		openFile.scroll.scrollTop = openFile.at.get(keepLine) * ROW - y;
	drawRows();
};
function foldBy(way) {
	openFile.fold = way;
	openFile.opened.clear();
	openFile.shut.clear();
	$('fold').value = way;
	relist();
}
function showNotes(on) {
	openFile.notes = on;
	$('notes').setAttribute('aria-pressed', String(on));
	relist();
}
function layRows() {
	makeRows();
	openFile.sheet.style.height = openFile.rows.length * ROW + 'px';
}
function reveal(line) {
	const { scroll } = openFile;
	let row = openFile.at.get(line);
	if (row === undefined) return;
	if (openFile.rows[row].kind === 'fold') {
		openFile.opened.add(openFile.rows[row].line);
		layRows();
		row = openFile.at.get(line);
	}
	let first = row;
	while (first > 0 && openFile.rows[first - 1].line === line && row - first < 8) first--;
	const y = first * ROW, tall = scroll.clientHeight || 600;
	if (y < scroll.scrollTop + ROW || row * ROW + 2 * ROW > scroll.scrollTop + tall)
		scroll.scrollTop = Math.max(0, y - Math.min(tall / 4, 8 * ROW));
}
function toLine(line, step = false) {
	state.line = line;
	reveal(line);
	drawRows();
	remember(step);
	speakLine(line);
}
function speakLine(line) {
	const cost = costOf(line),
		words = cost
			? [
				  cost.count ? plural(cost.count, 'time') : '',
				  cost.self ? `self ${amount(cost.self)}` : '',
				  cost.incl ? `inclusive ${amount(cost.incl)}` : '',
			  ]
				  .filter(Boolean)
				  .join(', ')
			: 'no cost';
	$('spoken').textContent =
		`Line ${line}. ${words}. `
		+ `${openFile.lines ? short(openFile.lines[line - 1] || '', 200) : ''}`;
}
function toHot(by) {
	if (state.file < 0) return;
	const all = [...openFile.costs]
			.filter(([line]) => line > 0)
			.map(([line, i]) => ({ line, ...costAt(openFile.side, i) })),
		key = all.some(({ self }) => self > 0) ? 'self' : 'incl';
	const list = all
		.filter((cost) => cost[key] > 0)
		.sort((a, b) => b[key] - a[key] || a.line - b.line);
	if (!list.length) return;
	const at =
		openFile.hot === state.line
			? list.findIndex(({ line }) => line === state.line)
			: by > 0
			  ? -1
			  : 0;
	openFile.hot = list[(at + by + list.length) % list.length].line;
	toLine(openFile.hot);
}
return { ROW, LONG, firstRow, drawRows, foldBy, showNotes, layRows, reveal, toLine, toHot };
})();
const { tableOrder, tableColumns, sortedSubs, named, shortPlace, nameCell, changeCell, drawTable } = (() => {
const PAGE = 200;
const tableOrder = { sort: 'self', down: true, shown: PAGE };
const isText = (key) => key === 'name' || key === 'place';
function tableColumns() {
	const table = subs(),
		list = [{ key: 'name', label: 'Sub', value: (sub) => profile.rank[sub], show: null }];
	const whole = table.self.map(sum),
		add = (key, label, value, show, change, timed) =>
			list.push({ key, label, value, show, change, timed });
	for (const [key, label] of [
		['self', 'Self'],
		['total', 'Inclusive'],
		['calls', 'Calls'],
		['ops', 'Ops'],
	]) {
		const own = table[key],
			timed = key === 'self' || key === 'total',
			unit = timed ? metric() : COUNT,
			show = (v) => amount(v, unit);
		if (!own) continue;
		if (!profile.diff) {
			add(key, label, (sub) => own[0][sub], show, false, timed);
			if (timed)
				add(
					key + 'part',
					'%',
					(sub) => own[0][sub],
					(v) => percent(v / whole[0]),
				);
			continue;
		}
		own.forEach((values, side) =>
			add(
				key + side,
				`${label} ${sideName(side)}`,
				(sub) => (timed ? real(values[sub], side) : values[sub]),
				show,
				false,
				timed,
			),
		);
		const share = profile.relative && timed;
		add(
			key,
			`${label} difference`,
			(sub) => own[1][sub] - own[0][sub],
			(v) => (share ? inPoints(v / (whole[1] || 1)) : signed(v, unit)),
			true,
			timed,
		);
	}
	const { places, files } = profile.facts;
	if (places && places.some(Boolean)) {
		const order = ranks(files);
		add(
			'place',
			'Source',
			(sub) => (places[sub] ? order[places[sub][0]] * 1e7 + places[sub][1] : Infinity),
			null,
		);
	}
	return list;
}
function sortedSubs({ key, value, change }) {
	const { used } = subs(),
		list = [],
		keys = new Float64Array(profile.names.length),
		way = tableOrder.down !== isText(key) ? -1 : 1;
	for (let sub = 0; sub < keys.length; sub++) {
		if (used[sub] === 0 || (matches.names && matches.names[sub] === 0)) continue;
		keys[sub] = change && tableOrder.down ? Math.abs(value(sub)) : value(sub);
		list.push(sub);
	}
	return list.sort((a, b) =>
		keys[a] === keys[b] ? profile.rank[a] - profile.rank[b] : (keys[a] - keys[b]) * way,
	);
}
function named(sub) {
	const text = short(profile.names[sub]),
		of = packageOf(text),
		rest = withoutFolder(of ? text.slice(of.length + 2) : text);
	return make(
		'span',
		{ className: 'cut' },
		of ? make('span', { className: 'pkg' }, make('bdi', {}, `${of}::`)) : '',
		make('bdi', { className: 'bare' }, rest),
	);
}
const shortPlace = (sub) => placeOf(sub).replace(/^.*\//s, '');
const nameCell = (sub) =>
	make(
		'td',
		{ className: 'left' },
		button(named(sub), () => openSub(sub), { title: short(profile.names[sub], 1000) }),
	);
const placeCell = (sub) =>
	make(
		'td',
		{ className: 'place', title: placeOf(sub) },
		placeOf(sub) && hasLines()
			? button(shortPlace(sub), () => openSourceOf(sub))
			: shortPlace(sub),
	);
const changeCell = (v, text) =>
	make('td', { className: v > 0 ? 'up' : v < 0 ? 'down' : '' }, text);
function drawTable() {
	const node = $('subs'), was = node.querySelector('.list'), top = was ? was.scrollTop : 0;
	node.hidden = !state.table || state.source;
	if (node.hidden) return;
	const columns = tableColumns(),
		by = columns.find(({ key }) => key === tableOrder.sort) || columns[1],
		list = sortedSubs(by);
	const again = (change, focus) => {
		Object.assign(tableOrder, change);
		drawTable();
		if (node.querySelector(focus)) node.querySelector(focus).focus();
	};
	const head = columns.map(({ key, label }) => {
		const down = tableOrder.down !== isText(key), on = key === by.key;
		const sort = button(
			label + (on ? (down ? ' \u25be' : ' \u25b4') : ''),
			() =>
				again(
					{ down: on ? !tableOrder.down : true, sort: key, shown: PAGE },
					`[data-key=${key}]`,
				),
			{ 'data-key': key },
		);
		return make(
			'th',
			{
				scope: 'col',
				className: isText(key) ? 'left' : '',
				...(on && { 'aria-sort': down ? 'descending' : 'ascending' }),
			},
			sort,
		);
	});
	const rows = list.slice(0, tableOrder.shown).map((sub) =>
		make(
			'tr',
			{ className: sub === state.sub ? 'here' : '' },
			...columns.map(({ key, value, show, change }) => {
				if (key === 'name') return nameCell(sub);
				if (key === 'place') return placeCell(sub);
				return changeCell(change ? value(sub) : 0, show(value(sub)));
			}),
		),
	);
	const filter = make('input', {
		type: 'search',
		id: 'filter',
		value: state.q,
		placeholder: 'Filter subs (regex)',
		'aria-label': 'Filter subs: the same search as above',
	});
	filter.oninput = () => {
		$('q').value = filter.value;
		search(filter.value);
		$('filter').focus();
		$('filter').setSelectionRange(1e6, 1e6);
	};
	const rest = Math.min(PAGE, list.length - tableOrder.shown);
	const box = make(
		'div',
		{ className: 'list', tabIndex: -1 },
		make(
			'div',
			{ className: 'more' },
			filter,
			`${grouped(Math.min(tableOrder.shown, list.length))} of ${plural(list.length, 'sub')}`
			+ `${matches.names ? ', matching' : ''}`,
		),
		make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...rows)),
		rest > 0
			? make(
				  'div',
				  { className: 'more' },
				  button(
					  `Show ${grouped(rest)} more`,
					  () => again({ shown: tableOrder.shown + PAGE }, '#more'),
					  { id: 'more' },
				  ),
			  )
			: '',
	);
	node.replaceChildren(box, state.sub >= 0 ? nearTo(state.sub) : '');
	box.scrollTop = top;
}
function nearTo(sub) {
	const { callers, callees } = keep(chained().kept, `around ${sub} ${state.metric}`, () =>
			around(sub),
		),
		table = subs(),
		name = profile.names[sub];
	const values = (list) => list.map((v, side) => amount(real(v, side))).join(' \u2192 ');
	const of = (sums) => values(sums.map((own) => own[sub]));
	const line = ({ sub: other, total: [a, b], total, calls }) =>
		make(
			'tr',
			{},
			nameCell(other),
			make('td', {}, values(total)),
			profile.diff && !profile.relative ? changeCell(b - a, signed(b - a)) : '',
			calls
				? make(
					  'td',
					  { className: 'soft' },
					  `${calls.map((v) => amount(v, COUNT)).join(' \u2192 ')} call`
					  + `${calls[last()] === 1 ? '' : 's'}`,
				  )
				: '',
		);
	const part = (title, rows) => [
		make('h3', {}, rows.length > PAGE ? `${title}: ${PAGE} of ${grouped(rows.length)}` : title),
		make('table', {}, make('tbody', {}, ...rows.slice(0, PAGE).map(line))),
		rows.length ? '' : make('div', { className: 'soft' }, 'none'),
	];
	const exactly = '^' + name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') + '$';
	return make(
		'div',
		{ className: 'near' },
		make('h2', { className: 'name' }, short(name, 500)),
		make(
			'div',
			{ className: 'soft' },
			`self ${of(table.self)} \u00b7 inclusive ${of(table.total)} ${placeOf(sub)}`,
		),
		make(
			'div',
			{ className: 'acts' },
			button('Search in graph', () => {
				$('q').value = exactly;
				search(exactly, true);
			}),
			button('Zoom to widest', () => zoomSub(sub)),
			placeOf(sub) && hasLines() ? button('Source', () => openSourceOf(sub)) : '',
			button('Close', () => openSub(-1)),
		),
		...part('Callers', callers),
		...part('Callees', callees),
	);
}
redraw.table = drawTable;
return { tableOrder, tableColumns, sortedSubs, named, shortPlace, nameCell, changeCell, drawTable };
})();
const { toolbar, narrow, found } = (() => {
function toolbar() {
	const pressed = (id, on) => $(id).setAttribute('aria-pressed', String(!!on)),
		timed = !!scene.tree.when;
	for (const id of ['icicle', 'reversed', 'merged', 'uncertain', 'source'])
		pressed(id, state[id]);
	pressed('table', state.table && !state.source);
	pressed('list', state.calls && !state.source);
	pressed('times', state.time && !state.source);
	pressed('case', state.match);
	pressed('dark', display.theme === 'dark');
	$('reset').disabled = state.path.length === 0 && !state.range && state.centre < 0;
	$('icicle').disabled = $('order').disabled = scene.split > 0;
	pressed('sandwich', state.centre >= 0);
	pressed('common', state.common);
	$('common').hidden = !profile.diff || state.layout === 'graph' || profile.relative;
	chips();
	if (profile.furnished !== state.metric) furnishParts();
	for (const act of Object.keys(LANES)) {
		const step = state.chain.find((one) => one.act === act);
		$(act).value = step ? lane(act, step.text) : -1;
	}
	$('order').lastElementChild.disabled = !timed;
	$('order').value = state.order === 'time' && !timed ? 'name' : state.order;
	$('metric').value = state.metric;
	for (const option of $('metric').options)
		option.disabled = !!timeStep() && !IN_TIME.includes(profile.metrics[option.value].key);
	if (document.activeElement !== $('q') && $('q').value !== state.q) $('q').value = state.q;
	found();
	const totals = scene.all.map(
		(list, side) => `${profile.diff ? sideName(side) + ' ' : ''}${amount(real(list[0], side))}`,
	);
	$('whole').textContent =
		`${totals.join(profile.relative ? ', ' : ' \u2192 ')} `
		+ `${metric().unit === 's' ? metric().label : ''} \u00b7 ${plural(scene.base.n, 'frame')}`;
	if (!profile.diff) {
		drawKinds();
		return;
	}
	const change = state.layout === 'graph' && state.width === 'change';
	$('layout').value = state.layout;
	$('width').value = state.width;
	$('width').disabled = state.layout !== 'graph';
	$('colour').value = change ? 'total' : kindOf();
	$('colour').disabled = isUpward() || change;
	drawScale(change ? 'change' : kindOf());
}
function furnishParts() {
	profile.furnished = state.metric;
	for (const [act, kind] of Object.entries(LANES)) {
		const names = profile.whole
				? [...profile.names.keys()].filter((i) => profile.facts.kinds[i] === kind)
				: [],
			all = act === 'process' ? 'all processes' : 'all phases';
		$(act).hidden = names.length < 2;
		if (names.length < 2) continue;
		const total = byName(
				profile.whole,
				[inclusive(profile.whole, profile.whole.own(state.metric, last()))],
				true,
			)[0],
			whole = sum(profile.whole.own(state.metric, last()));
		const step = state.chain.find((one) => one.act === act),
			some = names.filter((i) => total[i] > 0 || (step && step.text === profile.names[i]));
		some.sort((a, b) => total[b] - total[a] || profile.rank[a] - profile.rank[b]);
		$(act).replaceChildren(
			make('option', { value: -1 }, all),
			...some.map((i) =>
				make(
					'option',
					{ value: i },
					`${partInWords(profile.names[i])} (${percent(whole ? total[i] / whole : 0)})`,
				),
			),
		);
	}
}
function chips() {
	const list = state.chain.map(({ act, text }, k) => {
		const { word } = STEPS[act], told = STEPS[act].told(text);
		return button(
			make('span', {}, `${word} `, make('bdi', {}, told), ' \u00d7'),
			() => undoStep(k),
			{ className: 'chip', title: `Take back: ${word} ${told}` },
		);
	});
	const centre =
		state.centre >= 0
			? [
				  button(
					  make(
						  'span',
						  {},
						  'around ',
						  make('bdi', {}, short(profile.names[state.centre], 60)),
						  ' \u00d7',
					  ),
					  () => sandwich(-1),
					  { className: 'chip', title: 'Back to the whole graph (b)' },
				  ),
			  ]
			: [];
	const all = [...list, ...centre];
	$('chips').hidden = !all.length;
	$('chips').replaceChildren(
		...all,
		all.length ? make('span', { className: 'soft' }, whatIsLeft()) : '',
	);
}
function whatIsLeft() {
	if (!state.chain.length) return '';
	const whole = keep(profile.tree.kept, 'whole ' + state.metric, () =>
		shown(profile.tree).map(sum),
	);
	const left = scene.all.map(
		(list, side) => `${amount(real(list[0], side))} (${percent(list[0] / whole[side])})`,
	);
	return `left: ${left.join(profile.relative ? ', ' : ' \u2192 ')}`;
}
function swatch(style) {
	const node = make('span', { className: 'swatch' });
	Object.assign(node.style, style);
	return node;
}
const legend = (...inside) => make('bdi', { className: 'key' }, ...inside);
function drawKinds() {
	const { kinds, hues, fills } = profile.facts,
		used = new Set(kinds),
		hue = hues.find((_, i) => kinds[i] === 0) || 30;
	const marks = KINDS.slice(0, 6)
		.map(
			([text], kind) =>
				used.has(kind)
				&& legend(
					swatch({
						background:
							kind === 4
								? 'repeating-linear-gradient(135deg, transparent 0 3px, '
									+ `${ink.stripe} 3px 6px) ${kindColour(kind, hue)}`
								: kindColour(kind, hue),
						border: kind === 5 ? `1.5px solid ${ink.begin}` : '',
					}),
					text,
				),
		)
		.filter(Boolean);
	$('kinds').replaceChildren(
		...marks,
		legend(fills ? 'colours as asked for' : 'hue: by package'),
	);
}
function drawScale(kind) {
	const {
			diff,
			facts: { sides },
		} = profile,
		[a, b] = sides,
		words = profile.relative ? [] : [`before: ${a}`, `after: ${b}`];
	if (diff.runs && Math.max(...diff.runs) > 1)
		words.push(`means of ${diff.runs.join(' and ')} runs`);
	words.push(
		diff.normalized || '',
		diff.negate && state.layout === 'graph' && state.width === 'before'
			? 'coloured by what will happen'
			: '',
	);
	if (profile.certain)
		words.push(
			state.uncertain
				? 'uncertain changes are coloured'
				: `${ink.dark ? 'grey' : 'white'}: no change, or an uncertain one`,
		);
	const [less, more] = profile.relative
		? sides.map((side) => `${side} has the larger share`)
		: kind === 'change'
		  ? ['only less', 'only more']
		  : [`less ${signed(-largest(kind))}`, `${signed(largest(kind))} more`];
	$('scale').replaceChildren(
		make('span', { className: 'down' }, `\u25bc ${less}`),
		make(
			'span',
			{},
			...[-24, -16, -9, -4, -1, 0, 1, 4, 9, 16, 24].map((level) =>
				swatch({ background: diffColour(level) }),
			),
		),
		make('span', { className: 'up' }, `${more} \u25b2`),
	);
	$('kinds').replaceChildren(
		...words.filter(Boolean).map((text) => legend(text)),
		legend(
			swatch({ border: `1.5px dashed ${ink.ghost}` }),
			profile.relative ? `only ${a}` : 'gone (not in width \u201cafter\u201d)',
		),
		legend(
			swatch({ border: '1px solid var(--line)', borderLeft: `4px solid ${ink.fresh}` }),
			profile.relative ? `+ only ${b}` : '+ new',
		),
	);
	$('uncertain').hidden = !profile.certain;
}
function narrow() {
	const [pane] = panes,
		share =
			scene.split || (state.reversed && profile.diff)
				? ''
				: `, ${percent(pane.narrowWeight / pane.weights[scene.focus])},`,
		parts = [];
	if (pane.narrow)
		parts.push(
			`${plural(pane.narrow, 'frame')}${share} too narrow to draw here; zoom in`
			+ `${scene.split ? '' : ', or drag over a part,'} to see them`,
		);
	if (pane.beside) parts.push(`${plural(pane.beside, 'frame')} beside this part`);
	const why = profile.diff
		? { before: ' before', after: ' after', change: ' of change', union: '' }[pane.width]
		: '';
	if (pane.still)
		parts.push(
			`${plural(pane.still, 'frame')} without any value${profile.relative ? '' : why} not `
			+ 'drawn',
		);
	$('narrow').textContent = parts.join(' \u00b7 ');
}
function found() {
	const node = $('found');
	node.classList.toggle('bad', !!matches.error);
	$('q').setAttribute('aria-invalid', String(!!matches.error));
	$('prev').disabled = $('next').disabled = state.source
		? !sourceMatches.list.length
		: !matches.names || !matches.frames;
	const where =
		matches.at >= 0
			? `${grouped(matches.at + 1)} of ${grouped(matches.list.length)} \u00b7 `
			: '';
	const text =
		matches.error
		|| (state.source
			? foundInSources()
			: !matches.names
			  ? ''
			  : !matches.frames
				? 'no match'
				: `${where}${matches.shares.map(percent).join(' \u2192 ')} in `
					+ `${plural(matches.frames, 'frame')}`);
	if (node.textContent !== text) node.textContent = node.title = text;
}
return { toolbar, narrow, found };
})();
const { drawCalls, callsKey } = (() => {
const CALLS_PAGE = 50;         // kids that are shown at first
const callList = { version: -1, focus: -1 };
function openHottest(from) {
	const value = scene.total[last()], whole = value[from];
	for (let i = from, deep = 0; deep < 40 && value[i] > whole * 0.1; deep++) {
		callList.open.add(i);
		const [best] = scene.tree.kids(i).sort((a, b) => value[b] - value[a]);
		if (best === undefined) break;
		i = best;
	}
}
function drawCalls(again = false) {
	const node = $('calls'),
		isSame = callList.version === scene.version && callList.focus === scene.focus;
	node.hidden = !state.calls || state.source;
	if (node.hidden || (isSame && !again)) return;
	if (!isSame) {
		Object.assign(callList, {
			open: new Set(),
			shown: new Map(),
			version: scene.version,
			focus: scene.focus,
		});
		openHottest(scene.focus);
	}
	const top = node.scrollTop,
		rows = [],
		value = scene.total[last()],
		weigh = profile.diff ? scene.weights('union') : value,
		hasSelf = !state.reversed && !scene.split;
	const add = (i, level) => {
		const kids = scene.tree.end[i] > i + 1,
			open = kids && callList.open.has(i),
			cells = known(i),
			[total] = cells,
			self = hasSelf && cells[1];
		const twist = kids
			? button(open ? '\u25be' : '\u25b8', () => toggle(i), {
				  className: 'fold',
				  tabIndex: -1,
				  'aria-hidden': 'true',
			  })
			: make('span', { className: 'fold' });
		const row = make(
			'tr',
			{
				tabIndex: -1,
				'aria-level': level + 1,
				...(kids && { 'aria-expanded': String(open) }),
				className: i === cursor.frame ? 'here' : '',
			},
			make(
				'td',
				{ className: 'left' },
				make(
					'div',
					{ className: 'call' },
					twist,
					button(named(scene.tree.name[i]), () => zoom(i), {
						title: short(nameOf(i), 1000),
					}),
				),
			),
			...(profile.diff
				? [
					  make('td', {}, total[1]),
					  make('td', {}, total[2]),
					  changeCell(scene.total[1][i] - scene.total[0][i], total[3]),
				  ]
				: [
					  make('td', {}, total[1]),
					  make('td', {}, total[2]),
					  make('td', {}, self ? self[1] : ''),
					  make('td', {}, scene.calls ? grouped(scene.calls[0][i]) : ''),
				  ]),
		);
		row.dataset.frame = i;
		row.querySelector('.call').style.paddingLeft = Math.min(level, 40) * 14 + 'px';
		row.onmouseenter = () => {
			cursor.hover = i;
			marks();
		};
		row.onmouseleave = () => {
			cursor.hover = -1;
			marks();
		};
		rows.push(row);
		if (!open) return;
		const list = scene.tree
				.kids(i)
				.filter((kid) => weigh[kid] > 0)
				.sort(
					(a, b) =>
						weigh[b] - weigh[a]
						|| profile.rank[scene.tree.name[a]] - profile.rank[scene.tree.name[b]],
				),
			most = callList.shown.get(i) || CALLS_PAGE;
		for (const kid of list.slice(0, most)) add(kid, level + 1);
		if (list.length > most) {
			const more = button(`${grouped(list.length - most)} more`, () => {
				callList.shown.set(i, most * 4);
				drawCalls(true);
			});
			rows.push(make('tr', {}, make('td', { className: 'left', colSpan: 5 }, more)));
		}
	};
	add(scene.focus, 0);
	const heads = profile.diff
		? ['Frame', sideName(0), sideName(1), 'Difference']
		: ['Frame', 'Inclusive', '%', hasSelf ? 'Self' : '', scene.calls ? 'Calls' : ''];
	node.replaceChildren(
		make(
			'table',
			{ role: 'treegrid', 'aria-label': 'Call tree' },
			make(
				'thead',
				{},
				make(
					'tr',
					{},
					...heads.map((text, k) =>
						make('th', { scope: 'col', className: k ? '' : 'left' }, text),
					),
				),
			),
			make('tbody', {}, ...rows),
		),
	);
	node.scrollTop = top;
}
function toggle(i, focus = false) {
	if (callList.open.has(i)) callList.open.delete(i);
	else callList.open.add(i);
	drawCalls(true);
	const row = focus && $('calls').querySelector(`[data-frame="${i}"]`);
	if (row) row.focus();
}
function callsKey(event) {
	const rows = [...$('calls').querySelectorAll('tr[data-frame]')],
		row = event.target.closest('tr[data-frame]'),
		at = rows.indexOf(row),
		i = row ? +row.dataset.frame : -1,
		{ key } = event;
	const to = (next) => {
		if (!next) return;
		next.focus();
		go(+next.dataset.frame);
	};
	if (key === 'ArrowDown') to(rows[at + 1]);
	else if (key === 'ArrowUp') to(rows[Math.max(0, at - 1)]);
	else if (row && key === 'ArrowRight') {
		if (scene.tree.end[i] === i + 1) return;
		if (callList.open.has(i)) to(rows[at + 1]);
		else toggle(i, true);
	} else if (row && key === 'ArrowLeft') {
		if (callList.open.has(i)) toggle(i, true);
		else to(rows.find((other) => +other.dataset.frame === scene.tree.parent[i]));
	} else if (row && key === 'Enter') zoom(i);
	else return;
	event.preventDefault();
	event.stopPropagation();
}
return { drawCalls, callsKey };
})();
const { drawOverview } = (() => {
const fileOrder = { sort: 'self', down: true, sorted: false };
const FILE_COLUMNS = [
	['name', 'File'],
	['self', 'Self'],
	['part', '%'],
	['count', 'Statements'],
	['calls', 'Calls'],
	['subs', 'Subs'],
];
const TWO_COLUMNS = () => [
	['name', 'File'],
	['was', sideName(0)],
	['self', sideName(1)],
	['change', 'Difference'],
	['count', 'Statements'],
];
function withBefore(totals) {
	const of = fileTotals(0), before = filesBefore();
	return totals.map((total, f) => {
		const old = isOn(f, last()) ? before[f] : f, was = old < 0 ? 0 : of[old].self;
		return { ...total, was, change: profile.relative ? 0 : total.self - was };
	});
}
function drawOverview() {
	const side = last(),
		totals = profile.diff ? withBefore(fileTotals(side)) : fileTotals(side),
		whole = wholeOf(side),
		node = $('sources'),
		had = node.querySelector('.files');
	const top = had ? had.scrollTop : 0,
		detail = lineCosts.detail[side],
		has = (f, k) => lineCosts.sides[k].from[f + 1] > lineCosts.sides[k].from[f];
	const paired = profile.diff
		? new Set(filesBefore().filter((old, f) => isOn(f, side) && old !== f))
		: null;
	const list = lineCosts.files
		.map(({ index }) => index)
		.filter(
			(f) => totals[f].subs || has(f, side) || (profile.diff && has(f, 0) && !paired.has(f)),
		);
	const test = matches.test,
		shown = test
			? list.filter((f) => test(lineCosts.files[f].name) || sourceMatches.byFile.has(f))
			: list,
		way = fileOrder.down ? -1 : 1,
		key =
			fileOrder.sort === 'part'
				? 'self'
				: profile.diff
					&& !profile.relative
					&& fileOrder.sort === 'self'
					&& !fileOrder.sorted
				  ? 'change'
				  : fileOrder.sort;
	const value = (f) => (key === 'change' ? Math.abs(totals[f].change) : totals[f][key]);
	const name = (f) => lineCosts.files[f].name;
	shown.sort(
		(a, b) =>
			(key === 'name' ? 0 : (value(a) - value(b)) * way)
			|| (name(a) < name(b) ? -1 : 1) * (key === 'name' ? way : 1),
	);
	const head = (profile.diff ? TWO_COLUMNS() : FILE_COLUMNS).map(([id, label]) => {
		const on = id === (key === 'change' ? key : fileOrder.sort);
		const act = () => {
			Object.assign(fileOrder, {
				sort: id,
				sorted: true,
				down: on ? !fileOrder.down : id !== 'name',
			});
			drawOverview();
			node.querySelector(`[data-key=${id}]`).focus();
		};
		return make(
			'th',
			{
				scope: 'col',
				className: id === 'name' ? 'left' : `of-${id}`,
				...(on && { 'aria-sort': fileOrder.down ? 'descending' : 'ascending' }),
			},
			button(label + (on ? (fileOrder.down ? ' \u25be' : ' \u25b4') : ''), act, {
				'data-key': id,
			}),
		);
	});
	const row = (f) => {
		const { self, count, calls, subs: n } = totals[f], state = stateOf(f), share = self / whole;
		return make(
			'tr',
			{},
			make(
				'td',
				{ className: 'left' },
				make(
					'div',
					{ className: 'path' },
					anchor(make('bdi', {}, short(fileName(f))), f, 0, {
						title: short(fileName(f), 1000),
					}),
					/^(?:changed|gone|kept out|newer)$/.test(state)
						? make('span', { className: 'state' }, state)
						: '',
					sourceMatches.byFile.has(f)
						? make(
							  'span',
							  { className: 'soft' },
							  plural(sourceMatches.byFile.get(f), 'line'),
						  )
						: '',
				),
			),
			...(profile.diff
				? [
					  make('td', {}, totals[f].was ? amount(real(totals[f].was, 0)) : ''),
					  make('td', {}, self ? amount(self) : ''),
					  changeCell(
						  totals[f].change,
						  totals[f].change ? signed(totals[f].change) : '',
					  ),
					  make('td', { className: 'of-count' }, detail && count ? grouped(count) : ''),
				  ]
				: [
					  make('td', {}, self ? amount(self) : ''),
					  make('td', { className: `h${heat(share)}` }, self ? percent(share) : ''),
					  make('td', { className: 'of-count' }, detail && count ? grouped(count) : ''),
					  make('td', { className: 'of-calls' }, calls ? grouped(calls) : ''),
					  make('td', { className: 'of-subs' }, n ? grouped(n) : ''),
				  ]),
		);
	};
	const files = make(
		'div',
		{ className: 'files', tabIndex: -1 },
		make(
			'h2',
			{},
			test
				? `Files: ${grouped(shown.length)} of ${grouped(list.length)}`
				: `Files: ${grouped(list.length)}`,
		),
		make(
			'table',
			{},
			make('thead', {}, make('tr', {}, ...head)),
			make('tbody', {}, ...shown.map(row)),
		),
	);
	node.replaceChildren(
		make('p', { className: 'sum' }, inAll(side)),
		make(
			'div',
			{ className: 'overview' },
			files,
			make('div', { className: 'tops' }, ...foundLines(), ...topSubs(), ...topLines(side)),
		),
	);
	files.scrollTop = top;
}
function inAll(side) {
	const totals = fileTotals(side),
		of = (key) => sum(totals.map((total) => total[key])),
		detail = lineCosts.detail[side];
	const counts = [
		detail && of('count') ? plural(of('count'), 'statement') : '',
		allSubs().calls ? plural(of('calls'), 'call') + ' of subs' : '',
	].filter(Boolean);
	const where = `${counts.length ? ': ' : ''}${counts.join(' and ')} in `
		+ `${plural(lineCosts.files.length, 'file')}`;
	const before = profile.diff ? `${amount(real(wholeOf(0), 0))} \u2192 ` : '';
	const label = metric().unit === 's' ? metric().label : '';
	const lines = [
		'Lines have no costs of their own: record with lines to see them.',
		'Lines have counts, and no times: recorded with lines=count.',
		'',
	][detail || 0];
	return `${before}${amount(wholeOf(side))} ${label}${where}. ${lines}`;
}
function topSubs() {
	const table = allSubs(),
		side = last(),
		whole = wholeOf(side),
		list = heaviest(table, (sub) => !(matches.names && !matches.names[sub]));
	const rows = list
		.slice(0, 20)
		.map((sub) =>
			make(
				'tr',
				{},
				make('td', { className: 'left' }, subLink(sub)),
				...(profile.diff
					? [
						  make('td', {}, amount(real(table.self[0][sub], 0))),
						  make('td', {}, amount(table.self[1][sub])),
						  profile.relative
							  ? make('td')
							  : changeCell(
									table.self[1][sub] - table.self[0][sub],
									signed(table.self[1][sub] - table.self[0][sub]),
								),
					  ]
					: [
						  make('td', {}, table.calls ? grouped(table.calls[side][sub]) : ''),
						  make(
							  'td',
							  { className: `h${heat(table.self[side][sub] / whole)}` },
							  amount(table.self[side][sub]),
						  ),
						  make('td', {}, amount(table.total[side][sub])),
					  ]),
			),
		);
	return [
		make(
			'h2',
			{},
			profile.diff && !profile.relative ? 'Subs, by difference of self ' : 'Subs, by self ',
			button(`All ${grouped(list.length)}`, () => openTable(true)),
		),
		make(
			'table',
			{},
			make(
				'thead',
				{},
				make(
					'tr',
					{},
					...(profile.diff
						? ['Sub', sideName(0), sideName(1), 'Difference']
						: ['Sub', 'Calls', 'Self', 'Inclusive']
					).map((text) =>
						make('th', { scope: 'col', className: text === 'Sub' ? 'left' : '' }, text),
					),
				),
			),
			make('tbody', {}, ...rows),
		),
	];
}
function topLines(side) {
	if (!linesHave(side) || profile.diff) return [];
	const whole = wholeOf(side),
		list = hottest(side, 20),
		rows = list.map(({ file, line, self, count }) => {
			const code = make('code', {}),
				place = `${lineCosts.files[file].name.replace(/^.*\//s, '')}:${line}`;
			textOf(file).then((lines) => {
				if (lines) code.append(...visible((lines[line - 1] || '').trim().slice(0, 200)));
			});
			return make(
				'tr',
				{},
				make(
					'td',
					{ className: 'left' },
					anchor(short(place, 60), file, line, { title: `${fileName(file)}:${line}` }),
					' ',
					code,
				),
				make('td', {}, count ? grouped(count) : ''),
				make('td', { className: `h${heat(self / whole)}` }, amount(self)),
			);
		});
	return [
		make('h2', {}, 'Lines, by self'),
		make(
			'table',
			{},
			make(
				'thead',
				{},
				make(
					'tr',
					{},
					...['Line', 'Count', 'Self'].map((text) =>
						make(
							'th',
							{ scope: 'col', className: text === 'Line' ? 'left' : '' },
							text,
						),
					),
				),
			),
			make('tbody', {}, ...rows),
		),
	];
}
return { drawOverview };
})();
const { findInSources, step } = (() => {
function findInSources() {
	const q = `${state.match} ${state.q}`, { test } = matches;
	if (!state.source || !hasLines() || q === sourceMatches.q) return sourceMatches.ready;
	const turn = ++sourceMatches.turn;
	Object.assign(sourceMatches, {
		q,
		list: [],
		byFile: new Map(),
		files: 0,
		at: -1,
		busy: !!test,
	});
	const look = async () => {
		await loadLines();
		const totals = fileTotals(last()),
			order = lineCosts.files
				.map(({ index }) => index)
				.sort((a, b) => totals[b].self - totals[a].self || a - b);
		let since = performance.now();
		for (const file of test ? order : []) {
			const lines = await textOf(file), before = sourceMatches.list.length;
			if (turn !== sourceMatches.turn) return;
			if (!lines) continue;
			for (let i = 0; i < lines.length && sourceMatches.list.length < MOST_FOUND; i++)
				if (test(lines[i])) sourceMatches.list.push({ file, line: i + 1 });
			if (sourceMatches.list.length > before)
				sourceMatches.byFile.set(file, sourceMatches.list.length - before);
			sourceMatches.files = sourceMatches.byFile.size;
			if (performance.now() - since < 30) continue;
			await new Promise((done) => { setTimeout(done); });
			if (turn !== sourceMatches.turn) return;
			since = performance.now();
			found();
		}
		sourceMatches.busy = false;
		if (state.source && state.file < 0) drawOverview();
		toolbar();
	};
	sourceMatches.ready = look();
	return sourceMatches.ready;
}
function stepSource(by) {
	const { list } = sourceMatches, n = list.length;
	if (!n) return;
	if (
		sourceMatches.at < 0
		|| list[sourceMatches.at].file !== state.file
		|| list[sourceMatches.at].line !== state.line
	) {
		const inFile = list.findIndex(
				({ file, line }) =>
					file === state.file && (by > 0 ? line > state.line : line >= state.line),
			),
			end = list.map(({ file }) => file).lastIndexOf(state.file);
		sourceMatches.at =
			inFile >= 0 ? inFile - (by > 0 ? 1 : 0) : end >= 0 ? end : by > 0 ? -1 : 0;
	}
	sourceMatches.at = (sourceMatches.at + by + n) % n;
	const { file, line } = list[sourceMatches.at];
	if (file === state.file) toLine(line);
	else openSource(true, file, line, true);
	found();
}
function step(by) {
	if (state.source) {
		stepSource(by);
		return;
	}
	if (!matches.names || !matches.frames) return;
	const { name, parent, depth } = scene.tree,
		[{ x }] = panes,
		wide = (i) => panes.find((pane) => pane.weights[i] > 0);
	if (!matches.list) {
		matches.list = [];
		for (let i = 0; i < scene.tree.n; i++)
			if (matches.names[name[i]] === 1 && wide(i)) matches.list.push(i);
		if (state.order !== 'name') matches.list.sort((a, b) => x[a] - x[b] || depth[a] - depth[b]);
	}
	const count = matches.list.length,
		at = count ? ((matches.at < 0 && by < 0 ? 0 : matches.at) + by + count) % count : -1;
	if (at < 0) return;
	matches.at = at;
	const frame = matches.list[at], pane = wide(frame), box = pane.box(frame);
	if ((!box || box.w < 8) && !isUpward()) {
		const line = [frame];
		while (line[0] > 0) line.unshift(parent[line[0]]);
		zoom(line.find((i) => pane.weights[i] <= pane.weights[frame] * pane.view / 60) ?? frame);
	}
	go(frame);
	found();
}
return { findInSources, step };
})();
const { firstSight, drawHot } = (() => {
function firstSight() {
	const table = subs(),
		three = hotSubs(3),
		head = profile.diff ? (profile.certain ? 'Significant: ' : 'Changed most: ') : 'Hottest: ';
	const nodes = three.map((sub) =>
		make(
			'span',
			{ className: 'hot' },
			button(make('bdi', {}, short(profile.names[sub], 80)), () => openSub(sub), {
				className: 'link',
				title: `${short(profile.names[sub], 1000)}: in the table`,
			}),
			` ${inShort(table, sub)}${profile.diff ? '' : ' self'}`
			+ `${placeOf(sub) ? ` (${shortPlace(sub)})` : ''}`,
		),
	);
	return nodes.length
		? [make('span', { className: 'soft' }, head), ...nodes]
		: profile.certain
		  ? [make('span', { className: 'soft' }, 'No sub differs significantly. ')]
		  : [];
}
const WIDE = matchMedia('(min-width: 1900px)');
function drawHot() {
	const node = $('hot'), on = WIDE.matches && !state.source && !state.table && !state.calls;
	node.hidden = !on;
	if (!on) return;
	const table = subs(), tree = chained();
	if (node.of === tree && node.metric === state.metric) return;
	Object.assign(node, { of: tree, metric: state.metric });
	const rows = hotSubs(60).map((sub) =>
		make(
			'tr',
			{},
			nameCell(sub),
			make('td', {}, profile.diff ? '' : amount(table.self[0][sub])),
			profile.diff
				? changeCell(table.self[1][sub] - table.self[0][sub], inShort(table, sub))
				: make('td', {}, inShort(table, sub)),
		),
	);
	node.replaceChildren(
		make(
			'h2',
			{},
			profile.diff
				? profile.certain
					? 'Subs with a significant difference of self'
					: 'Subs, by difference of self'
				: 'Subs, by self',
		),
		make('table', {}, make('tbody', {}, ...rows)),
	);
}
return { firstSight, drawHot };
})();
const { sourceView, drawSource, sourceKey } = (() => {
const sourceView = { turn: 0, ready: Promise.resolve() };
function drawSource(move) {
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
function sourceKey(key) {
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
return { sourceView, drawSource, sourceKey };
})();
const { details } = (() => {
function details() {
	const frame = cursor.hover >= 0 ? cursor.hover : cursor.frame >= 0 ? cursor.frame : scene.focus;
	if (frame === 0 && cursor.hover < 0 && !cursor.keys && !scene.split)
		$('details').replaceChildren(
			...firstSight(),
			make(
				'span',
				{ className: 'soft hint' },
				'Click a frame to zoom, right-click for more, / to search, ? for all keys',
			),
		);
	else {
		const sub = scene.tree.name[frame],
			to =
				hasLines() && placeOf(sub)
					? button('Source', () => openSourceOf(sub), {
						  className: 'link',
						  title: `${placeOf(sub)} (l)`,
					  })
					: '';
		$('details').replaceChildren(
			make('bdi', { className: 'name' }, short(nameOf(frame))),
			' ',
			to,
			' ',
			inWords(frame),
		);
	}
}
redraw.details = details;
return { details };
})();
const { showMenu, openMenu, stackOf, menuHere } = (() => {
function showMenu(items, x, y, back) {
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
function openMenu(frame, x, y) {
	const sub = scene.tree.name[frame],
		text = profile.names[sub],
		of = packageOf(text),
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
function stackOf(frame) {
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
function menuHere() {
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
return { showMenu, openMenu, stackOf, menuHere };
})();
const { refresh } = (() => {
function makePanes() {
	const kinds =
			!profile.diff || state.layout === 'graph'
				? [null]
				: ['before', 'after', 'change'].slice(0, state.layout === 'pair' ? 2 : 3),
		[a, b] = profile.facts.sides;
	const titles = profile.relative
		? [a, b, 'Difference of shares']
		: [
			  `Before: ${a} \u2014 coloured by what will happen`,
			  `After: ${b} \u2014 coloured by what did happen`,
			  'Difference \u2014 as wide as what changed',
		  ];
	const choose = (range) => chooseRange(range, true, []);
	watch.disconnect();
	panes.splice(
		0,
		panes.length,
		...kinds.map((kind, i) => new Pane(kind, kind ? titles[i] : '', choose)),
	);
	$('panes').className = profile.diff ? state.layout : 'graph';
	$('panes').replaceChildren(...panes.map((pane) => pane.node));
	cursor.pane = 0;
	panes.forEach((pane, index) => {
		Object.assign(pane.canvas, {
			onmousemove: (event) => point(event.buttons ? -1 : pane.at(event), event),
			onmouseleave: () => point(-1),
			onmousedown: () => { cursor.keys = false; },
			onclick: (event) => press(pane.at(event), event),
			oncontextmenu: (event) => {
				if (pane.at(event) < 0) return;
				event.preventDefault();
				openMenu(pane.at(event), event.clientX, event.clientY);
			},
			onfocus: () => { cursor.pane = index; },
		});
		chooses(pane.canvas, pane.chosen, {
			begins: () => !scene.split,
			moves: () => point(-1),
			ends: (from, to) =>
				chooseRange(
					[from, to].map((px) => partAt(pane, px)),
					true,
				),
		});
		wheels(pane.canvas, pane.canvas, {
			takes: (zooms) => !scene.split && (zooms || !!state.range),
			zoom: (factor, at) => {
				point(-1);
				scaleBy(factor, at);
			},
			move: (by) => scaleBy(1, 0.5, by),
		});
		watch.observe(pane.scroll);
	});
}
const watch = new ResizeObserver(() => {
	if (
		scene.tree
		&& panes.some(
			(pane) =>
				pane.view !== pane.scroll.clientWidth || pane.seen !== pane.scroll.clientHeight,
		)
	)
		refresh('boxes');
});
function refresh(from) {
	const step = ['panes', 'view', 'widths', 'boxes', 'paint'].indexOf(from);
	if (scene.tree && step <= 3) point(-1);
	if (step <= 0) makePanes();
	if (step <= 1) {
		const path = scene.tree && cursor.frame >= 0 ? scene.tree.path(cursor.frame) : null;
		makeView(Math.max(300, $('panes').clientWidth));
		if (scene.steps < state.path.length) {
			say(
				`${$('notice').textContent} The path goes no further than `
				+ `${short(nameOf(scene.focus), 120)}: `
				+ `${short(state.lost || profile.names[state.path[scene.steps]], 120)} is not `
				+ 'called there in this profile.',
			);
			state.path = state.path.slice(0, scene.steps);
		}
		state.lost = '';
		cursor.frame = path ? scene.tree.follow(path).frame : -1;
		tally();
	}
	if (step <= 2) {
		panes.forEach((pane) => pane.measure());
		matches.list = null;
	}
	if (step <= 3) {
		panes.forEach((pane) => pane.collect());
		narrow();
	}
	if (ink.theme !== (display.printing ? 'light' : display.theme)) colours();
	panes.forEach((pane) => {
		pane.paint();
		if (pane.map) pane.map.paint();
	});
	marks();
	toolbar();
	details();
	drawCalls();
	drawHot();
	if (step <= 1 || step === 4) paintTimes();
}
redraw.graph = refresh;
redraw.matches = () => {
	panes.forEach((pane) => pane.paint());
	paintTimes();
	toolbar();
	drawTable();
	findInSources();
	drawSource();
};
return { refresh };
})();
const { typing, typed, showAll, keydown, help, info } = (() => {
let due = 0;
function typing() {
	clearTimeout(due);
	due = setTimeout(typed, 90);
}
function typed() {
	clearTimeout(due);
	if ($('q').value !== state.q) search($('q').value);
}
function arrow(key) {
	const pane = panes[cursor.pane], { parent, depth } = scene.tree, { boxes, weights } = pane;
	const from = cursor.frame >= 0 && pane.box(cursor.frame) ? cursor.frame : scene.focus,
		here = pane.box(from);
	const middle = scene.split && from === 0,
		up = scene.split ? from >= scene.split || (middle && key === 'ArrowUp') : !state.icicle,
		caller = middle && up ? scene.split : from;
	let to = from, best = Infinity;
	if (!middle && key === (up ? 'ArrowDown' : 'ArrowUp'))
		to = Math.max(0, scene.split && parent[from] === scene.split ? 0 : parent[from]);
	else {
		const way = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
		for (let k = 0; k < boxes.frame.length; k++) {
			const i = boxes.frame[k],
				gap = way ? (boxes.x[k] - here.x) * way : -weights[i];
			if (way ? boxes.row[k] !== depth[from] || gap <= 0 : parent[i] !== caller) continue;
			if (gap < best) {
				best = gap;
				to = i;
			}
		}
	}
	pane.canvas.focus({ preventScroll: true });
	go(to);
}
function cycle(id) {
	const list = [...$(id).options].filter((o) => !o.disabled).map((o) => o.value);
	if (!$(id).disabled && (profile.diff || id === 'order'))
		turn(id, list[(list.indexOf($(id).value) + 1) % list.length]);
}
function toSearch() {
	$('q').focus();
	$('q').select();
}
function showAll() {
	if (state.source) {
		openSource(true);
		return;
	}
	if (state.time && timeline.canvas) lookAt([0, timeline.span]);
	if (state.centre >= 0) sandwich(-1);
	else zoom(0);
}
function back() {
	if (history.state && history.state.dprof > 0) history.back();
	else if (state.source) openSource(true);
	else if (state.range) chooseRange([0, 1], true);
	else if (state.centre >= 0) sandwich(-1);
	else if (state.path.length) zoom(scene.tree.parent[scene.focus]);
}
const KEYS = [
	[['/', 'Ctrl+F'], 'search', toSearch],
	[['n', 'Enter'], 'next match', () => step(1)],
	[['p', 'N', 'Shift+Enter'], 'previous match', () => step(-1)],
	[['c'], 'match case', () => search(state.q, !state.match)],
	[['\u2191', '\u2193', '\u2190', '\u2192'], 'move between frames'],
	[['Enter'], 'zoom to the frame'],
	[['Backspace', 'Escape', 'u'], 'back', back],
	[['0', 'Home'], 'show everything', showAll],
	[['i'], 'icicle or flame', () => turn('icicle', !state.icicle), 'graph'],
	[['r'], 'callers', () => turn('reversed', !state.reversed), 'graph'],
	[['m'], 'merge recursion', () => turn('merged', !state.merged), 'graph'],
	[['o'], 'next order', () => cycle('order'), 'graph'],
	[['+', '\u2212'], 'zoom in and out; Shift with \u2190 and \u2192 moves'],
	[['+', '='], '', () => scaleBy(0.5), 'graph'],
	[['-', '\u2212'], '', () => scaleBy(2), 'graph'],
	[
		['f'],
		'only stacks with the frame\u2019s sub',
		() => here((text) => doStep('only', text)),
		'graph',
	],
	[['e'], 'without stacks with it', () => here((text) => doStep('hide', text)), 'graph'],
	[
		['k'],
		'fold its package',
		() => here((text) => packageOf(text) && doStep('fold', packageOf(text))),
		'graph',
	],
	[['y'], 'take the last of these back', () => state.chain.length && undoStep(), 'graph'],
	[
		['b'],
		'callers and callees of the frame\u2019s sub, or the graph again',
		() =>
			state.centre >= 0 && cursor.frame <= 0 ? sandwich(-1) : here((_, sub) => sandwich(sub)),
		'graph',
	],
	[['T'], 'time line', () => openTimes(state.source || !state.time)],
	[['t'], 'table of subs', () => openTable(state.source || !state.table)],
	[['a'], 'call tree as a list', () => openCalls(state.source || !state.calls)],
	[
		['s'],
		'the frame\u2019s sub in the table',
		() => openSub(state.source ? subAt(state.line) : subHere()),
	],
	[
		['l'],
		'source: of the frame\u2019s sub, or all files',
		() => (state.source ? openSource(true) : hasLines() && openSourceOf(subHere())),
	],
	[['g'], 'graph: of the line\u2019s sub', () => state.source && toGraph(subAt(state.line))],
	[['h'], 'the next of the lines that cost most', () => toHot(1), 'source'],
	[['H'], 'the one before', () => toHot(-1), 'source'],
	[
		['z'],
		'fold cheap lines, subs, nothing',
		() => foldBy({ all: 'cheap', cheap: 'subs', subs: 'all' }[openFile.fold]),
		'source',
	],
	[['x'], 'calls and callers in the source', () => showNotes(!openFile.notes), 'source'],
	[['v'], 'next view of a difference', () => cycle('layout'), 'graph'],
	[['w'], 'next width of a difference', () => cycle('width'), 'graph'],
	[['d'], 'dark or light', () => dye(display.theme === 'dark' ? 'light' : 'dark')],
	[['?'], 'this help', help],
];
function here(act) {
	const frame = cursor.hover >= 0 ? cursor.hover : cursor.frame >= 0 ? cursor.frame : scene.focus,
		sub = scene.tree.name[frame];
	if (frame > 0 || scene.split) act(profile.names[sub], sub);
	else say('Choose a frame first: point at it, or go there by the arrow keys.');
}
const subHere = () => scene.tree.name[cursor.frame >= 0 ? cursor.frame : scene.focus];
function keydown(event) {
	const { key, target } = event,
		box = target === $('q'),
		control = event.ctrlKey || event.metaKey;
	const does = (act) => {
		event.preventDefault();
		act();
	};
	if (!scene.tree || event.altKey || $('dialog').open || $('menu').contains(target)) return;
	if (control && key === 'f' && !box) does(toSearch);
	else if (box && key === 'Enter')
		does(() => {
			typed();
			step(event.shiftKey ? -1 : 1);
		});
	else if (box && key === 'Escape')
		does(() => (state.source ? $('lines') || $('sources') : panes[cursor.pane].canvas).focus());
	if (control || /^(?:INPUT|SELECT)$/.test(target.tagName)) return;
	if (
		$('calls').contains(target)
		&& /^(?:Arrow|Enter$)/.test(key)
		&& target.tagName !== 'BUTTON'
	) {
		callsKey(event);
		return;
	}
	const where = !state.source ? 'graph' : state.file >= 0 ? 'source' : '';
	const act = KEYS.find(
		([keys, , run, only]) =>
			run && key !== 'Enter' && keys.includes(key) && (!only || only === where),
	);
	if (act) does(act[2]);
	else if (state.source) {
		if (target === document.body || target.id === 'lines')
			if (/^Arrow(?:Up|Down)$|^Enter$/.test(key) && sourceKey(key)) event.preventDefault();
	}
	else if (target === document.body || target.tagName === 'CANVAS') {
		if (event.shiftKey && /^Arrow(?:Left|Right)$/.test(key))
			does(() => scaleBy(1, 0.5, key === 'ArrowLeft' ? -0.25 : 0.25));
		else if (/^Arrow/.test(key)) does(() => arrow(key));
		else if (
			(event.key === 'ContextMenu' || (event.shiftKey && key === 'F10'))
			&& cursor.frame >= 0
		)
			does(() => menuHere());
		else if (key === 'Enter') does(() => zoom(cursor.frame >= 0 ? cursor.frame : scene.focus));
	}
}
function dialog(title, rows) {
	const list = rows.flatMap(([term, text]) => [make('dt', {}, term), make('dd', {}, text)]);
	$('dialog').replaceChildren(
		make('h2', { id: 'dialog-title' }, title),
		make('dl', {}, ...list),
		button('Close', () => $('dialog').close(), { autofocus: true }),
	);
	$('dialog').showModal();
}
function help() {
	dialog(
		'Keys',
		KEYS.filter(([, text]) => text && (profile.diff || !/difference/.test(text))).map(
			([keys, text]) => [
				make('span', {}, ...keys.flatMap((key) => [make('kbd', {}, key), ' '])),
				text,
			],
		),
	);
}
function info() {
	const { facts } = profile;
	dialog(facts.title, [
		...(facts.notes || []),
		['Frames', grouped(profile.tree.n)],
		['Subs', grouped(profile.facts.kinds.filter((kind) => kind < PHASE_KIND).length)],
		['Made by', `Devel::DProf ${facts.version}`],
	]);
}
return { typing, typed, showAll, keydown, help, info };
})();
const { restore, furnish } = (() => {
function restore(all) {
	const given = new Map(location.hash.slice(1).split('&').map((part) => part.split(/=(.*)/s)));
	const number = subNamed;
	const path = given.has('at') ? given.get('at').split(';').map(unpack) : [],
		sub = unpack(given.get('sub') || '');
	say(sub && number(sub) < 0 ? `The sub ${short(sub, 120)} is not in this profile.` : '');
	if (all) {
		Object.assign(state, profile.initial);
		if (given.has('q')) state.q = plain(given.get('q'));
		state.match = given.get('case') === '1';
		state.uncertain = given.get('uncertain') === '1';
		state.common = given.get('scale') === 'common';
		if (profile.key(plain(given.get('metric') || '')) >= 0)
			state.metric = profile.key(plain(given.get('metric')));
		for (const key of CHOICES)
			if ([...$(key).options].some((option) => option.value === given.get(key)))
				state[key] = given.get(key);
		if (given.has('view'))
			for (const key of ['icicle', 'reversed', 'merged'])
				state[key] = given.get('view').split(',').includes(key);
		state.reversed = state.reversed && canReverse();
		$('q').value = state.q;
		compile();
	}
	const steps = given.has('steps')
		? given
			  .get('steps')
			  .split(';')
			  .map((step) => /^(\w+):(.*)$/s.exec(step))
			  .filter((step) => step && Object.hasOwn(STEPS, step[1]))
			  .map(([, act, text]) => ({ act, text: unpack(text) }))
		: [];
	const lost = chainOf(steps), centre = given.has('around') ? unpack(given.get('around')) : '';
	if (timeStep()) metricInTime();
	if (lost)
		say(
			`The ${STEPS[lost.act].noun} ${short(lost.text, 120)} is not in this profile: a step `
			+ 'of the link is left out.',
		);
	state.centre = centre && canReverse() ? number(centre) : -1;
	if (centre && number(centre) < 0) say(`The sub ${short(centre, 120)} is not in this profile.`);
	const range = /^([\d.e-]+?)\.\.([\d.e-]+)$/.exec(given.get('range') || ''),
		[from, to] = range ? [+range[1], +range[2]] : [0, 1];
	state.range = range && from >= 0 && to > from && to <= 1 ? [from, to] : null;
	state.path = state.centre >= 0 ? [] : path.map(number);
	state.lost = path[state.path.indexOf(-1)];
	state.sub = sub ? number(sub) : -1;
	state.table = given.get('table') === '1' || state.sub >= 0;
	state.calls = given.get('calls') === '1' && !state.table;
	state.time = given.get('timeline') === '1' && hasTimes();
	state.source =
		hasLines() && (given.has('src') || (profile.initial.source && given.get('graph') !== '1'));
	const [, file, line] = /^(.*?)(?::(\d+))?$/s.exec(given.get('src') || '');
	Object.assign(state, { file: -1, line: state.source ? +(line || 0) : 0 });
	if (state.source && file) state.lostFile = unpack(file);
	showViews();
	drawTable();
	refresh(all ? 'panes' : 'view');
	cursor.frame = scene.focus;
	if (all && !state.icicle) for (const pane of panes) pane.scroll.scrollTop = pane.height;
	for (const pane of panes) pane.reveal(scene.focus, 3);
	if (scene.split) for (const pane of panes) pane.scroll.scrollTop = pane.y(0) - pane.seen / 2;
	marks();
	details();
	if (!state.source) remember();
	findInSources();
	drawSource(true);
}
function furnish() {
	$('subtitle').textContent = profile.facts.subtitle || '';
	$('metric').replaceChildren(
		...profile.metrics.map((m, i) => make('option', { value: i }, m.label)),
	);
	$('metric').hidden = profile.metrics.length < 2;
	$('diff').hidden = !profile.diff;
	$('source-view').hidden = !hasLines();
	$('times').hidden = !hasTimes();
	if (profile.relative) {
		const [before, after] = profile.facts.sides,
			words = { before, after, union: 'the larger', change: 'difference' };
		for (const option of $('width').options) option.textContent = words[option.value];
	}
	$('compare').hidden = !!profile.diff;
}
return { restore, furnish };
})();
const { openExport, folded, csv, picture } = (() => {
function save(name, type, text) {
	const link = make('a', {
		href: URL.createObjectURL(new Blob([text], { type })),
		download: name,
	});
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
function openExport() {
	const area = $('export').getBoundingClientRect(),
		name =
			short(profile.facts.sides[last()] || 'profile', 60)
				.replace(/[^\w.-]+/g, '-')
				.replace(/^-+|-+$/g, '') || 'profile';
	showMenu(
		[
			[
				'Picture of what is shown (SVG)',
				'',
				state.source ? null : () => save(`${name}.svg`, 'image/svg+xml', picture()),
			],
			[
				'Folded stacks of what is shown',
				'',
				state.source ? null : () => save(`${name}.folded`, 'text/plain', folded()),
			],
			['Table of subs (CSV)', '', () => save(`${name}.csv`, 'text/csv', csv())],
		],
		area.left,
		area.bottom + 2,
		$('export'),
	);
}
function folded() {
	const {
			tree: { end, name, parent },
			focus,
			total,
		} = scene,
		lines = [],
		timed = metric().unit === 's',
		unit = timed ? 1e6 / metric().hz : 1 / (metric().hz || 1);
	const texts = profile.names.map((text) =>
			text
				.replace(/%(?=3B|25|23|0A|0D)/gi, '%25')
				.replace(/^#/, '%23')
				.replace(/[;\r\n]/g, (c) => (c === ';' ? '%3B' : c === '\r' ? '%0D' : '%0A')),
		),
		stack = scene.tree.path(focus).map((n) => texts[n]);
	if (scene.split) stack.push(texts[name[0]]);
	const own = total.map((list) => list.slice(focus, end[focus]));
	for (let i = focus + 1; i < end[focus]; i++)
		for (const [side, list] of own.entries()) list[parent[i] - focus] -= total[side][i];
	for (let i = focus; i < end[focus]; i++) {
		if (i > focus) {
			stack.length = scene.tree.depth[i] - (scene.split ? 0 : 1);
			if (scene.split) stack[0] = texts[name[0]];
			stack[stack.length] = texts[name[i]];
		}
		const numbers = own.map((list, side) => Math.round(real(list[i - focus], side) * unit));
		if (numbers.some((v) => v > 0))
			lines.push(`${stack.join(';') || texts[name[0]]} ${numbers.join(' ')}`);
	}
	return lines.join('\n') + '\n';
}
function csv() {
	const columns = tableColumns().filter(({ key }) => !/part$/.test(key)),
		by = columns.find(({ key }) => key === tableOrder.sort) || columns[1];
	const plainly = (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
	const cell = (value) =>
		/[",\r\n]/.test(value) ? `"${value.replace(/"/g, '""')}"` : String(value);
	const rows = sortedSubs(by).map((sub) =>
		columns.map(({ key, value, timed }) =>
			key === 'name'
				? plainly(profile.names[sub])
				: key === 'place'
				  ? plainly(placeOf(sub))
				  : value(sub) / (timed ? metric().hz || 1 : 1),
		),
	);
	const heads = columns.map(({ label, timed }) =>
		plainly(timed && metric().unit ? `${label} (${metric().unit})` : label),
	);
	return (
		[heads, ...rows]
			.map((row) => row.map((value) => cell(String(value))).join(','))
			.join('\r\n') + '\r\n'
	);
}
function picture() {
	const xml = (text) =>
			text
				.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
				.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/gu, '\ufffd'),
		parts = [],
		wide = Math.max(...panes.map((pane) => pane.view));
	let top = 30;
	for (const pane of panes) {
		const { boxes, row, context } = pane;
		if (pane.kind)
			parts.push(`<text x="4" y="${top + 13}" fill="${ink.text}">${xml(pane.title)}</text>`);
		top += pane.kind ? 20 : 0;
		const rows = boxes.row.map((r) => pane.y(r)),
			first = rows.reduce((a, b) => Math.min(a, b), Infinity);
		context.font = FONT;
		boxes.frame.forEach((i, k) => {
			const own = scene.tree.name[i],
				x = boxes.x[k],
				w = boxes.w[k],
				y = top + rows[k] - first,
				level = profile.diff ? levelOf(shade(i, pane.width)) : 0,
				hit = matches.names && matches.names[own] === 1;
			const fill = profile.diff ? ink.levels[level + LEVELS] : hit ? ink.mark : ink.fill[own];
			const text = w > 25 ? label(context, profile.names[own], w - 8) : '',
				ink2 = profile.diff
					? ink.onLevel[level + LEVELS]
					: hit
					  ? ink.markText
					  : ink.on[own];
			const wide = (w > 3 ? w - 1 : w * 0.8).toFixed(2);
			const edge = profile.diff ? ` stroke="${rgb(ink.line)}" stroke-width="0.5"` : '';
			const at = `x="${(x + 4).toFixed(2)}" y="${y + row / 2 + 4}"`;
			parts.push(
				`<g><title>${xml(short(nameOf(i), 500))} ${xml(inWords(i))}</title>`
				+ `<rect x="${x.toFixed(2)}" y="${y}" width="${wide}" height="${row - 1}" `
				+ `fill="${rgb(fill)}"${edge}/>`
				+ (text ? `<text ${at} fill="${ink2}">${xml(text)}</text>` : '') + '</g>',
			);
		});
		top += rows.reduce((a, b) => Math.max(a, b), 0) - first + row + 10;
	}
	return (
		`<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${top}" viewBox="0 0 `
		+ `${wide} ${top}" font-family="system-ui, sans-serif" font-size="12"><rect width="100%" `
		+ `height="100%" fill="${rgb(ink.back)}"/>`
		+ `<text x="4" y="19" font-size="15" fill="${ink.text}">${xml(profile.facts.title)} `
		+ `${xml(profile.facts.subtitle || '')}</text>${parts.join('')}</svg>\n`
	);
}
return { openExport, folded, csv, picture };
})();
const { comparing, compare, wireCompare } = (() => {
const comparing = { ready: Promise.resolve() };
function adopt(united) {
	point(-1);
	Object.assign(state, profile.initial);
	scene.tree = lineCosts.files = null;
	ink.theme = '';
	Object.assign(cursor, { frame: -1, hover: -1, keys: false });
	$('menu').hidden = true;
	begin(united, { lines: false, times: false });
	$('title').textContent = document.title = profile.facts.title;
	try {
		history.replaceState({ dprof: 0 }, '', location.href.replace(/#.*/s, ''));
	} catch (error) {
		location.hash = '';
	}
	furnish();
	restore(true);
	$('spoken').textContent = `Compared: ${profile.facts.title}`;
}
async function compareWith(list) {
	const [file] = list, name = visibly(short(file.name, 120));
	let united;
	if (file.size > 1e6 || profile.tree.n >= MANY) {
		$('busy').textContent = `Comparing with ${name}\u2026`;
		$('busy').hidden = false;
		await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
	}
	try {
		if (list.length > 1)
			throw new Error(`there are ${list.length} files, and one is compared at a time`);
		if (profile.diff)
			throw new Error(
				'this page has two sides already'
				+ (profile.facts.isDropped ? '; load it again for another comparison' : ''),
			);
		united = unite(await readProfile(file), name);
		sourceView.turn++;
		sourceMatches.turn++;
		await Promise.allSettled([sourceView.ready, sourceMatches.ready, work.busy]);
		adopt(united);
	} catch (error) {
		if (united) throw error;
		const why = error instanceof TypeError ? 'its facts do not fit' : error.message;
		say(`${name} is not compared: ${why.replace(/\.$/, '')}.`);
	} finally {
		$('busy').hidden = true;
	}
}
function compare(files) {
	const list = [...files];
	if (list.length)
		comparing.ready = comparing.ready.catch(() => {}).then(() => compareWith(list));
}
function wireCompare() {
	const has = (event) => !!event.dataTransfer && [...event.dataTransfer.types].includes('Files'),
		over = (event) => {
			if (!has(event)) return;
			event.preventDefault();
			event.dataTransfer.dropEffect = 'copy';
			$('drop').hidden = false;
		};
	$('compare').onclick = () => $('other').click();
	$('other').onchange = () => {
		compare($('other').files);
		$('other').value = '';
	};
	addEventListener('dragenter', over);
	addEventListener('dragover', over);
	addEventListener('dragleave', (event) => {
		if (!event.relatedTarget) $('drop').hidden = true;
	});
	addEventListener('drop', (event) => {
		$('drop').hidden = true;
		if (!has(event)) return;
		event.preventDefault();
		compare(event.dataTransfer.files);
	});
}
return { comparing, compare, wireCompare };
})();
(() => {
function wire() {
	const click = (id, act) => { $(id).onclick = act; };
	$('q').oninput = typing;
	click('case', () => search($('q').value, !state.match));
	click('next', () => { typed(); step(1); });
	click('prev', () => { typed(); step(-1); });
	click('reset', showAll);
	for (const id of ['icicle', 'reversed', 'merged', 'uncertain', 'common'])
		click(id, () => turn(id, !state[id]));
	click('sandwich', () => (state.centre >= 0 ? sandwich(-1) : sandwichHere()));
	click('times', () => openTimes(state.source || !state.time));
	click('list', () => openCalls(state.source || !state.calls));
	click('export', openExport);
	for (const id of CHOICES) $(id).onchange = () => turn(id, $(id).value);
	for (const act of Object.keys(LANES)) $(act).onchange = () => choosePart(act, +$(act).value);
	$('metric').onchange = () => turn('metric', +$('metric').value);
	click('table', () => openTable(state.source || !state.table));
	click('source', () => openSource(!state.source));
	click('dark', () => dye(display.theme === 'dark' ? 'light' : 'dark'));
	click('info', info);
	click('help', help);
	document.onkeydown = keydown;
	onpopstate = (event) => restore(!event.state);
	const media = (query, act) => matchMedia(query).addEventListener('change', act);
	const print = (now) => {
		if (display.printing === now) return;
		display.printing = now;
		refresh('boxes');
		drawRows();
	};
	onbeforeprint = () => print(true);
	onafterprint = () => print(false);
	media('(min-width: 1900px)', () => refresh('boxes'));
	media('print', (event) => print(event.matches));
	media('(prefers-color-scheme: dark)', (event) => dye(event.matches ? 'dark' : 'light'));
}
async function start() {
	const stop = (text) => $('panes').replaceChildren(make('p', { className: 'plain' }, text));
	dye(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
	if (typeof DecompressionStream !== 'function') {
		stop(
			'This browser is too old to unpack the profile: it needs DecompressionStream (Chrome '
			+ '80, Firefox 113, Safari 16.4 or later).',
		);
		return;
	}
	try {
		begin(decode(await inflate(bytesOf($('dprof-data').textContent))), {
			lines: !!$('dprof-lines'),
			times: !!$('dprof-times'),
		});
	} catch (error) {
		stop(`The profile in this file is damaged: ${error.message}.`);
		throw error;
	}
	furnish();
	wire();
	wireCompare();
	restore(true);
	await sourceView.ready;
}
const trace = (path) => scene.tree.follow(path.split(';').map(subNamed)).frame;
window.dprof = {
	frames(index = 0) {
		const pane = panes[index],
			{ x, w, row } = pane.boxes,
			[before] = scene.total,
			value = scene.total[last()];
		return pane.boxes.frame.map((i, k) => ({
			path: scene.tree
				.path(i)
				.map((name) => profile.names[name])
				.join(';'),
			x: x[k],
			w: w[k],
			row: row[k],
			value: value[i],
			before: before[i],
			level: profile.diff ? levelOf(shade(i, pane.width)) : 0,
			gone: isGone(i),
			fresh: isNew(i),
		}));
	},
	point(path, index = 0) {
		const pane = panes[index],
			box = pane.box(trace(path)),
			area = pane.canvas.getBoundingClientRect();
		return (
			box && {
				x: area.left + box.x + box.w / 2,
				y: area.top + box.y - pane.scroll.scrollTop + pane.row / 2,
			}
		);
	},
	zoom: (path) => zoom(trace(path)),
	source: (file, line) => openSource(true, lineCosts.number.get(file) ?? -1, line),
	menu: (path) => openMenu(trace(path), 100, 100),
	folded,
	csv,
	picture,
	async settled() {
		await work.busy;
		await timeline.settled;
		await sourceMatches.ready;
		await sourceView.ready;
	},
	rows: () =>
		openFile.rows.map(({ kind, line, sub, call, n }) => ({
			kind,
			line,
			name: profile.names[sub ?? (call && call.sub)],
			from: call && call.file !== undefined ? lineCosts.files[call.file].name : undefined,
			n,
		})),
	search,
	state: () => ({
		...state,
		path: state.path.map((name) => profile.names[name]),
		centre: profile.names[state.centre] || '',
		metric: metric().key,
		sub: profile.names[state.sub] || '',
		file: state.file >= 0 && lineCosts.files ? lineCosts.files[state.file].name : '',
		cursor: nameOf(Math.max(0, cursor.frame)),
		theme: display.theme,
	}),
	narrow: () => ({
		frames: panes[0].narrow,
		weight: panes[0].narrowWeight,
		still: panes[0].still,
		beside: panes[0].beside,
	}),
	found: () => ({ ...matches, names: null, list: null }),
	ready: start(),
};
})();
