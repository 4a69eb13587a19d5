// Finds and makes elements of the document, and shows notices.

export const $ = (id) => document.getElementById(id);

// Makes an element without HTML: make('td', { className: 'left' }, 'text', node ...)
export function make(tag, options = {}, ...inside) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(options)) {
        if (/-|^role$/.test(key)) node.setAttribute(key, value);
        else node[key] = value;
    }
    node.append(...inside.filter((part) => part !== null && part !== ''));
    return node;
}

export const button = (text, onclick, options = {}) =>
    make('button', { type: 'button', onclick, ...options }, text);

export function say(text) {
    $('notice').hidden = !text;
    $('notice').textContent = text;
}
