// Views: how each kind of them is drawn into its box; the pure parts first.
import { prepareFigure } from "./chart.js";
import { drawCuts } from "./cuts.js";
import { filled, make, shownNumber } from "./element.js";
import { keepBest, keepReachable } from "./sight.js";

const TINTS = 4;

/** Marks by kind, [start, end, label?], as one list of objects, by the order of the kinds: outer ones first. */
export function listed(marks, kinds) {
  return kinds.flatMap((kind) =>
    (marks[kind] ?? []).map(([start, end, label = ""], order) => ({ kind, start, end, label, order })));
}

/** Cut 0..length at every boundary of the marks and at `more`: pieces in order, each with the marks that cover it. */
export function cut(length, marks, more = []) {
  const ends = marks.flatMap((mark) => [mark.start, mark.end]);
  const edges = [...new Set([0, length, ...ends, ...more])].sort((a, b) => a - b);
  return edges.slice(1).map((end, i) => {
    const start = edges[i];
    return { start, end, marks: marks.filter((mark) => mark.start <= start && end <= mark.end) };
  });
}

/** The classes of a piece: each kind once, the tint of its chunk, and of a second chunk where two overlap. */
export function classes(marks) {
  const names = [...new Set(marks.map((mark) => `s2b-${mark.kind}`))];
  const tints = marks.filter((mark) => mark.kind === "chunk").map((mark) => mark.order % TINTS);
  if (tints.length) names.push(`s2b-t${tints[0]}`);
  if (tints.length > 1) names.push("s2b-overlap", `s2b-u${tints[1]}`);
  if (marks.filter((mark) => mark.kind === "context").length > 1) names.push("s2b-twice");
  return names.join(" ");
}

function legend(marks, words) {
  const list = make("p", "s2b-legend");
  for (const [kind, name] of Object.entries(words.legend)) {
    if (!marks.some((mark) => mark.kind === kind)) continue;
    const order = kind === "chunk" ? " s2b-t0" : "";
    list.append(make("mark", `s2b-${kind}${order}`, name), " ");
  }
  for (const [kind, [sample, meaning]] of Object.entries(words.badges)) {
    const entry = make("span", "s2b-badges");
    entry.append(make("span", `s2b-tag s2b-tag-${kind}`, sample), meaning);
    list.append(entry, " ");
  }
  return list;
}

function gap(text, [one, many]) {
  const count = [...text].length;
  return make("span", "s2b-gap", filled(count === 1 ? one : many, { count: shownNumber(count) }));
}

function pieces(view, marks) {
  const all = document.createDocumentFragment();
  // A whole text is one box a paragraph, so that the browser lays out only those that can be seen.
  const starts = new Set(view.breaks);
  const gaps = new Set(view.gaps);
  let box = all;
  let block = null;
  for (const piece of cut(view.text.length, marks, starts)) {
    if (starts.has(piece.start)) {
      all.append(box = make("div", "s2b-paragraph"));
      block = null;
    }
    const text = view.text.slice(piece.start, piece.end);
    const contexts = piece.marks.filter((mark) => mark.kind === "context");
    if (!contexts.length) block = null;
    else if (!block || contexts.some((mark) => mark.start === piece.start)) {
      block = make("span", "s2b-block");
      box.append(block);
    }
    const parent = block ?? box;
    for (const mark of piece.marks) {
      if (mark.label && mark.start === piece.start) parent.append(make("span", `s2b-tag s2b-tag-${mark.kind}`, mark.label));
    }
    if (piece.marks.length) {
      const best = piece.marks.find((mark) => mark.kind === "hit" && mark.order === 0);
      parent.append(make("mark", classes(piece.marks), text, best ? { "data-best": "" } : {}));
    } else parent.append(gaps.has(piece.start) ? gap(text, view.words.gap) : text);
  }
  return all;
}

/** For the text box that is drawn into: what is called when it has other text. */
const best = new WeakMap();

function drawPassages(view, box, words) {
  const marks = listed(view.marks, Object.keys(view.words.legend));
  if (!box.firstChild) {
    const text = make("div", "s2b-text", undefined, { tabindex: 0, role: "group" });
    box.append(make("p", "s2b-title"), make("p", "s2b-aside"), make("div", "s2b-legends"), text);
    best.set(text, keepBest(text));
  }
  const [title, aside, legends, text] = box.children;
  title.textContent = view.title;
  aside.textContent = view.note;
  legends.replaceChildren(legend(marks, view.words));
  text.lang = view.lang;
  text.setAttribute("aria-label", view.title || words.text);
  text.replaceChildren(pieces(view, marks));
  best.get(text)();
}

/** A table; on a phone each row is its first cell above the others, each of which then shows its column's name. */
function tableOf(view, words) {
  const table = make("table", `s2b-table${view.columns.length > 2 ? " s2b-stacks" : ""}`, undefined, { role: "table" });
  if (view.caption && !view.folded) table.append(make("caption", "", view.caption));
  const cells = (row, tag, role, attributes) => {
    const line = make("tr", "", undefined, { role: "row" });
    const named = (i) => (tag === "td" && view.columns[i] ? { "data-column": view.columns[i] } : {});
    const empty = (text, i) => tag === "th" && !text; // a corner is no head
    const cell = (text, i) => (empty(text) ? make("td", "", "", { role: "cell" })
      : make(tag, view.numeric[i] ? "s2b-number" : "", text, { role, ...attributes, ...named(i) }));
    line.append(...row.map(cell));
    return line;
  };
  const [head, body] = [make("thead", "", undefined, { role: "rowgroup" }), make("tbody", "", undefined, { role: "rowgroup" })];
  head.append(cells(view.columns, "th", "columnheader", { scope: "col" }));
  body.append(...view.rows.map((row) => cells(row, "td", "cell")));
  table.append(head, body);
  const scroller = make("div", "s2b-scroll", undefined, { tabindex: 0, role: "group", "aria-label": view.caption || words.table });
  scroller.append(table);
  return scroller;
}

/** The inside of a view that is folded away until its reader opens it; it stays open when it is drawn again. */
function folded(box, title) {
  if (box.firstChild?.className !== "s2b-fold") {
    const fold = make("details", "s2b-fold");
    fold.append(make("summary"), make("div"));
    box.replaceChildren(fold);
  }
  const [summary, inside] = box.firstChild.children;
  summary.textContent = title;
  return inside;
}

/** What a folded table holds, for who decides whether to open it. */
export function summaryOf({ caption, rows }, words) {
  return filled(words.folded[rows.length === 1 ? 0 : 1], { title: caption || words.table, count: rows.length });
}

function drawTable(view, box, words) {
  const inside = view.folded ? folded(box, summaryOf(view, words)) : box;
  inside.replaceChildren(tableOf(view, words));
}

/** A table as it is, and one whose rows stand in the data of its stages with these. */
export function rowsOf(part, data) {
  if (part.of === undefined) return part;
  const held = (value) => (Array.isArray(value) ? value.join(value.every(Number.isInteger) ? "-" : ", ") : shownCell(value));
  const rows = data[part.of].map((row, i) => part.keys.map((key) => held(key === "#" ? i + 1 : row[key])));
  return { columns: part.columns, numeric: part.numeric, caption: "", rows };
}

function stagePart(label, part, data, words) {
  const shown = part.text === undefined ? tableOf(rowsOf(part, data), words) : make("div", "s2b-part", part.text.join("\n\n"), { tabindex: 0 });
  return [make("p", "s2b-aside", label), shown];
}

async function copy(button, text, words) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = words.copied;
  } catch {
    // No clipboard without https or leave: the text is selected, to be copied by hand.
    const area = button.nextElementSibling;
    area.hidden = false;
    area.value = text;
    area.select();
    button.textContent = words.press;
  }
}

function drawStages(view, box, words) {
  const inside = folded(box, view.title || words.stages);
  const open = new Set([...inside.querySelectorAll("details[open]")].map((details) => details.dataset.name));
  const button = make("button", "s2b-copy", words.copy, { type: "button" });
  button.addEventListener("click", () => copy(button, JSON.stringify(view.copy, null, 2), words));
  const area = make("textarea", "s2b-json", undefined, { readonly: "", rows: 6, "aria-label": words.json });
  area.hidden = true;
  const list = make("div", "s2b-stages");
  for (const { name, ms, given, made } of view.stages) {
    const spent = typeof ms === "string" ? Math.round(10 * view.copy.timings[ms]) / 10 : ms;
    const shown = spent === null ? "" : ` ${filled(words.ms, { ms: spent })}`;
    const details = make("details", "", undefined, { "data-name": name });
    const summary = make("summary");
    summary.append(make("b", "", name), make("span", "s2b-ms", shown));
    details.append(summary, ...stagePart(words.in, given, view.copy, words), ...stagePart(words.out, made, view.copy, words));
    details.open = open.has(name);
    list.append(details);
  }
  inside.replaceChildren(list, button, area);
}

/** How much of its maximum a meter says. */
export function amountOf({ value, maximum, unit }, words) {
  return filled(words.of, { value: shownNumber(value), maximum: shownNumber(maximum), unit }).trim();
}

function drawMeter(view, box, words) {
  const text = amountOf(view, words);
  const label = make("span", "s2b-meter-label", `${view.label}: `);
  const bar = make("meter", "", undefined, { min: 0, max: view.maximum, value: view.value, "aria-label": view.label });
  label.append(make("b", "", text));
  box.replaceChildren(label, bar);
}

function drawNote(view, box) {
  if (!box.firstChild) keepReachable(box);
  box.textContent = view.text;
}

const shownCell = (value) => (value === null ? "–" : typeof value === "number" ? shownNumber(value) : String(value));

/** The table of a chart, whose columns are lists, as one of rows. */
export function turned({ columns, cells }) {
  const rows = cells[0].map((_, i) => cells.map((column) => shownCell(column[i])));
  const numeric = cells.map((column) => column.every((value) => typeof value === "number"));
  return { columns, rows, numeric, caption: "" };
}

/** The table of a chart, to open below it: its rows are made while they can be seen. */
function drawData(view, box, words) {
  const fold = box.querySelector(".s2b-data") ?? make("details", "s2b-data");
  if (!view.table) return fold.remove();
  const inside = fold.lastElementChild ?? make("div");
  const fill = () => inside.replaceChildren(...(fold.open ? [tableOf({ ...turned(view.table), caption: words.data, folded: true }, words)] : []));
  if (!fold.firstChild) fold.append(make("summary", "", words.data), inside);
  fold.ontoggle = fill;
  fill();
  if (!fold.parentElement) box.append(fold);
}

function drawChart(view, box, words) {
  prepareFigure(view, box);
  drawData(view, box, words);
}

/** How each kind of view is drawn: (view, box, words). A figure's box is only prepared: its chart comes later. */
export const DRAW = {
  passages: drawPassages, table: drawTable, meter: drawMeter, note: drawNote, stages: drawStages, figure: drawChart,
  cuts: (view, box, words) => drawCuts(view, box, words, tableOf),
};
