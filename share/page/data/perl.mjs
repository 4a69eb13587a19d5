// The syntax of Perl, as far as colours need it: comments, manuals, strings, words, variables.
//
// Only perl can parse Perl. This reads tokens from left to right, guesses as editors do whether a
// slash begins a regular expression, and is right about where a quote ends. A wrong guess colours
// some text wrongly until the quote ends, and changes nothing else.

const WORDS = new Set(
    ('and cmp continue do else elsif eq eval for foreach ge given goto gt if last le local lt my '
    + 'ne next no not or our package redo require return state sub unless until use when while '
    + 'x xor BEGIN CHECK END INIT UNITCHECK catch class defer finally method try field').split(' '),
);
// After these a slash begins a regular expression, and `<<` a text.
const BEFORE_TERM = new Set(
    'and cmp eq ge grep gt if le lt map ne not or push return split unless until when while x xor'
        .split(' '),
);
const CLOSING = { '(': ')', '[': ']', '{': '}', '<': '>' };
const QUOTES = /^(?:q[qwrx]?|m|s|tr|y)$/;
const TOKEN = new RegExp(
    [
        '(?<space>\\s+)',
        '(?<comment>#.*)',
        '(?<variable>[$@%&*](?:\\{\\^\\w+\\}|\\^\\w)|\\$#?(?:\\{\\w+\\}|[A-Za-z_](?:\\w|::)*)'
            + '|[@%&*][A-Za-z_][\\w:]*|\\$\\$(?![\\w{$])|\\$#?(?=[$\\{])|\\$[^\\s\\w]|\\$\\d+'
            + '|@(?=[$\\{])|@[_+-])',
        '(?<number>0[xXbB][\\da-fA-F_]+|\\d[\\d_]*(?:\\.[\\d_]+)?(?:[eE][+-]?\\d+)?)',
        '(?<text><<~?(?:"[^"]*"|\'[^\']*\'|[A-Za-z_]\\w*))',
        '(?<word>[A-Za-z_](?:\\w|::|\'(?=[A-Za-z_]))*)',
        '(?<quote>["\'`])',
        '(?<slash>/)',
        '(?<other>->|=>|::|<=>|\\+\\+|--|[\\s\\S])',
    ].join('|'),
    'uy',
);

// Returns for each line its coloured parts, in order: [from, to, kind]; kinds are comment, pod,
// string, word, name, variable and number. Text between them has no colour.
export function perlParts(lines) {
    const all = lines.map(() => []);
    let pod = false, ended = false, quote = null;
    const texts = [];                  // here-documents that begin on the next line
    lines.forEach((line, i) => {
        const parts = all[i],
            add = (from, to, kind) => { if (to > from) parts.push([from, to, kind]); };
        const bare = line.replace(/\n$/, '');
        if (!quote && !texts.some(({ open }) => open) && /^=[a-zA-Z]/.test(bare)) pod = true;
        if (pod || ended) {
            add(0, bare.length, 'pod');
            if (pod && /^=cut\b/.test(bare)) pod = false;
            return;
        }
        if (texts.length && texts[0].open) {
            const [{ end, indented }] = texts;
            add(0, bare.length, 'string');
            if ((indented ? bare.trimStart() : bare) === end) {
                texts.shift();
                if (texts.length) texts[0].open = true;
            }
            return;
        }
        if (!quote && /^__(?:END|DATA)__\s*$/.test(bare)) {
            ended = true;
            add(0, bare.length, 'pod');
            return;
        }
        // `term`: a value may follow; 'of a call' after the name of a function.
        let at = 0, term = true, wantsName = false, afterArrow = false;
        // Reads a quote from `at` on. `quote` is what is open: { end, open, depth, left }, with the
        // parts that are still to come.
        const readQuote = (from) => {
            for (; at < bare.length; at++) {
                const c = bare[at];
                if (quote.begins) {
                    if (/\s/.test(c)) continue;
                    Object.assign(quote, {
                        open: c, end: CLOSING[c] || c, depth: 0, begins: false,
                    });
                    continue;
                }
                if (c === '\\') at++;
                else if (c === quote.end && (quote.depth === 0 || quote.end === quote.open)) {
                    quote.left--;
                    if (quote.left > 0) {
                        if (quote.open !== quote.end) quote.begins = true;
                        continue;
                    }
                    at++;
                    if (quote.flags)
                        while (at < bare.length && /[a-z]/.test(bare[at])) at++;
                    quote = null;
                    break;
                } else if (c === quote.end) quote.depth--;
                else if (c === quote.open) quote.depth++;
            }
            at = Math.min(at, bare.length);
            add(from, at, 'string');
            term = false;
        };
        if (quote) readQuote(0);
        while (at < bare.length) {
            TOKEN.lastIndex = at;
            const found = TOKEN.exec(bare);
            if (!found) break;
            const { groups } = found, from = at, to = at + found[0].length, token = found[0];
            at = to;
            if (groups.space) continue;
            const arrow = afterArrow;
            afterArrow = token === '->';
            if (groups.comment) add(from, to, 'comment');
            else if (groups.variable && (term || token[0] === '$' || token[0] === '@')) {
                add(from, to, 'variable');
                term = false;
            } else if (groups.variable) {
                at = from + 1;         // an operator: % & *
                term = true;
            } else if (groups.number) {
                add(from, to, 'number');
                term = false;
            } else if (groups.text && term) {
                const [, tilde, , name] = /^<<(~?)(["']?)(.*?)\2$/.exec(token);
                texts.push({ end: name, indented: tilde === '~', open: false });
                add(from, to, 'string');
                term = false;
            } else if (groups.text) {
                at = from + 2;
                term = true;
            } else if (groups.word) {
                const isKey = /^\s*=>/.test(bare.slice(to))
                    || (/\{\s*$/.test(bare.slice(0, from)) && /^\s*\}/.test(bare.slice(to))
                        && !/\b(?:sub|do|eval)\s*\{\s*$/.test(bare.slice(0, from)));
                if (QUOTES.test(token) && !arrow && !isKey && !wantsName
                    && !/^\s*(?:,|;|=[^~=]|\))/.test(bare.slice(to))
                    && !(/^\s/.test(bare.slice(to)) && /^\s*#/.test(bare.slice(to)))) {
                    quote = {
                        begins: true, left: /^(?:s|tr|y)$/.test(token) ? 2 : 1,
                        flags: !/^q[qw]?$/.test(token),
                    };
                    readQuote(from);
                    continue;
                }
                if (wantsName) add(from, to, 'name');
                else if (WORDS.has(token) && !arrow && !isKey) add(from, to, 'word');
                wantsName = !arrow && !isKey && /^(?:sub|package|method|class)$/.test(token);
                term = !arrow && !isKey
                    && (BEFORE_TERM.has(token) || WORDS.has(token) || 'of a call');
                continue;
            } else if (groups.quote) {
                quote = { begins: true, left: 1, flags: false };
                at = from;
                readQuote(from);
            } else if (groups.slash && term === true) {
                quote = { begins: true, left: 1, flags: true };
                at = from;
                readQuote(from);
            } else term = !/^[)\]}]$/.test(token);
            wantsName = false;
        }
        if (!quote && texts.length) texts[0].open = true;
    });
    return all;
}
