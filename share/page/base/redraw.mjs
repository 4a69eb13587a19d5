// What is drawn again when something has changed. Whoever draws a part of the page puts a function
// here, and whoever changes something calls that: so nothing needs to import what stands above it.
//
//   chain()        all that the steps of the chain decide on
//   details()      the line of details
//   graph(from)    the graph, from a step on: panes, view, widths, boxes or paint
//   matches()      what the search marks and lists
//   source(move)   the source view; `move` scrolls to its line, too. Returns a promise.
//   table()        the table of subs
//   times()        the time line

export const redraw = {
    chain: null,
    details: null,
    graph: null,
    matches: null,
    source: null,
    table: null,
    times: null,
};

export const work = { busy: null };  // a promise, kept when what takes long is done
