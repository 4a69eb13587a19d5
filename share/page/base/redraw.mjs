// Functions that redraw parts of the page. A module that draws a part puts its function here, and a
// module that changes something calls it, so that no module imports a higher level.
//
//   chain()        everything that depends on the steps of the chain
//   details()      the line of details
//   graph(from)    the graph, from a step on: panes, view, widths, boxes or paint
//   matches()      the marks and lists of the search
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

export const work = { busy: null };  // a promise, resolved when long work is done
