// A text that its reader cuts between sentences, and then compares with the cuts of chunkers; the pure parts first.
import { filled, make } from "./element.js";

/** What two lists of cuts have in common and what only one of them has, each in order. */
export function compared(own, its) {
  const inOrder = (cuts) => [...cuts].sort((a, b) => a - b);
  const [mine, theirs] = [new Set(own), new Set(its)];
  return {
    shared: inOrder([...mine].filter((cut) => theirs.has(cut))),
    yours: inOrder([...mine].filter((cut) => !theirs.has(cut))),
    its: inOrder([...theirs].filter((cut) => !mine.has(cut))),
  };
}

/** Where a sentence is in the piece of a level that it belongs to: its classes, "" where there is no such piece. */
export function bracket(level, number) {
  const piece = level.find(([first, last]) => first <= number && number <= last);
  if (!piece) return "";
  return ["s2b-bracket", ...(piece[0] === number ? ["s2b-first"] : []), ...(piece[1] === number ? ["s2b-last"] : [])].join(" ");
}

/** One piece of the tree in words. */
export function pieceOf([first, last, count], { pieces }) {
  return filled(pieces[first === last ? 0 : 1], { first, last, count });
}

/** The pieces of a level that lie in a parent. */
export const inside = ([first, last], level) => level.filter((piece) => first <= piece[0] && piece[1] <= last);

/** The table of a reader's cuts beside those of each chunker, as a frame. */
export function comparison(own, cuts, words) {
  const list = (numbers) => numbers.join(words.between) || "–";
  const rows = cuts.map(({ name, after, elsewhere }) => {
    const { shared, yours, its } = compared(own, after);
    const count = filled(words.counted[elsewhere ? 1 : 0], { count: after.length, elsewhere });
    return [name, count, String(shared.length), list(yours), list(its)];
  });
  const columns = ["chunker", "cuts", "shared", "yours", "its"].map((key) => words[key]);
  return { columns, rows, numeric: [0, 1, 1, 0, 0], caption: filled(words.beside, { placed: placed(own.size, words) }) };
}

const placed = (count, words) => filled(words.placed[count === 1 ? 0 : 1], { count });

// What a reader has done with each text, for as long as the box is there: it outlives the controls, and ends by Reset.
const done = new WeakMap();

function stateOf(box, view) {
  if (!done.has(box)) {
    done.set(box, new Map());
    box.addEventListener("s2b-reset", () => {
      done.get(box).clear();
      box.s2bAgain?.();
    });
  }
  const [states, text] = [done.get(box), view.sentences.join("\n")];
  if (!states.has(text)) states.set(text, { own: new Set(), open: false });
  return states.get(text);
}

function bar([shown, share]) {
  const track = make("span", "s2b-track", undefined, { "aria-hidden": "true" });
  track.append(make("span"));
  track.firstChild.style.width = `${100 * share}%`;
  return [track, make("span", "s2b-percent", shown)];
}

function endOf(view, i, words) {
  const end = make("p", "s2b-end", undefined, { title: words.end });
  end.append(make("b", "", String(i + 1)), ...(view.ends[i] ? bar(view.ends[i]) : [make("span", "s2b-percent", words.unasked)]));
  return end;
}

/** The sentences of a text, each with its end and, but for the last, a button behind it. */
function sentencesOf(view, words, onCut) {
  const list = make("ol", "s2b-sentences", undefined, { "aria-label": view.title });
  view.sentences.forEach((sentence, i) => {
    const row = make("li", view.breaks.includes(i + 1) ? "s2b-far" : "");
    row.append(make("span", "s2b-brackets", undefined, { "aria-hidden": "true" }), endOf(view, i, words));
    row.append(make("p", "s2b-words", sentence.replace(/\n\s*\n/g, "\n"), { lang: view.lang }));
    if (i + 1 < view.sentences.length) row.append(gapOf(i + 1, words, onCut));
    list.append(row);
  });
  return list;
}

function gapOf(number, words, onCut) {
  const gap = make("div", "s2b-between");
  const button = make("button", "s2b-cut", `✂ ${words.button}`, {
    type: "button", "data-after": number, "aria-label": filled(words.cut, { number }),
  });
  button.addEventListener("click", () => onCut(number));
  gap.append(button, make("span", "s2b-by"));
  return gap;
}

/** What only who has compared may see in the text: who cuts where, and the tree as brackets beside it. */
function mark(list, view, state, words) {
  list.classList.toggle("s2b-compared", state.open);
  [...list.children].forEach((row, i) => {
    const levels = state.open ? view.tree.map((level) => make("i", bracket(level, i + 1))) : [];
    row.querySelector(".s2b-brackets").replaceChildren(...levels);
    const [own, names] = [state.own.has(i + 1), view.cuts.filter(({ after }) => after.includes(i + 1)).map(({ name }) => name)];
    row.querySelector(".s2b-cut")?.setAttribute("aria-pressed", own);
    const chips = [...(own ? [make("b", "", words.own)] : []), ...(state.open ? names.map((name) => make("span", "", name)) : [])];
    row.querySelector(".s2b-by")?.replaceChildren(...chips.flatMap((chip) => [chip, " "]));
  });
}

function treeOf(view, words) {
  const [parents = [], ...smaller] = view.tree;
  const list = make("ul", "s2b-tree");
  for (const parent of parents) {
    const item = make("li", "", pieceOf(parent, words));
    const below = smaller.map((level, i) => [words.levels[i], inside(parent, level)]).filter(([, pieces]) => pieces.length);
    if (below.length) item.append(make("ul"));
    for (const [level, pieces] of below) {
      const said = pieces.map((piece) => pieceOf(piece, words)).join(words.then);
      item.lastChild.append(make("li", "", filled(words.inside, { level, pieces: said })));
    }
    list.append(item);
  }
  return parents.length ? [make("p", "s2b-title", words.tree), list] : [];
}

function panelOf(view, state, words, tableOf) {
  return state.open ? [tableOf(comparison(state.own, view.cuts, words)), ...treeOf(view, words)] : [];
}

/** Which sentence is at the top of a list, and how far below it: whatever else becomes higher, it can stay there. */
function firstSeen(list) {
  const rows = [...list.children];
  const number = rows.findIndex((row) => row.offsetTop + row.offsetHeight > list.scrollTop);
  return { number, below: number < 0 ? 0 : rows[number].offsetTop - list.scrollTop };
}

function scrollBack(list, { number, below }) {
  if (number >= 0) list.scrollTop = list.children[number].offsetTop - below;
}

/** The parts of a box, made once: its title, its legend, what is said of it, a button, the text and the panel. */
function partsOf(box) {
  if (!box.firstChild) {
    const [head, body] = [make("div", "s2b-cutting"), make("div", "s2b-cuts")];
    head.append(make("p"), make("button", "s2b-compare", "", { type: "button" }));
    body.append(make("ol"), make("div", "s2b-panel"));
    box.append(make("p", "s2b-title"), make("p", "s2b-aside"), head, body);
  }
  const [title, legend, { children: [status, button] }, { children: [list, panel] }] = box.children;
  return { title, legend, status, button, list, panel };
}

/** Draw the text, keeping what its reader has done with it; `tableOf` draws a frame of a table. */
export function drawCuts(view, box, words, tableOf) {
  const [state, { title, legend, status, button, list: old, panel }, mine] = [stateOf(box, view), partsOf(box), words.cuts];
  const onCut = (number) => {
    if (!state.own.delete(number)) state.own.add(number);
    update();
  };
  const list = sentencesOf(view, mine, onCut);
  const update = () => {
    mark(list, view, state, mine);
    status.textContent = state.own.size ? placed(state.own.size, mine) : mine.how;
    button.textContent = state.open ? mine.hide : mine.compare;
    panel.replaceChildren(...panelOf(view, state, mine, (table) => tableOf(table, words)));
  };
  [title.textContent, title.lang, legend.textContent] = [view.title, view.lang, mine.legend];
  const seen = box.s2bState === state && firstSeen(old); // another text begins at its top
  old.replaceWith(list);
  box.s2bState = state;
  box.s2bAgain = () => drawCuts(view, box, words, tableOf);
  button.onclick = () => {
    const top = firstSeen(list);
    state.open = !state.open;
    update();
    scrollBack(list, top);
  };
  update();
  if (seen) scrollBack(list, seen);
}
