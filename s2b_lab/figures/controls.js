// Controls: one row each, and where they stand.
import { filled, make, newId } from "./element.js";

/** The examples a question control has at a position. */
export function examplesAt(control, position) {
  return control.options[control.by === null ? 0 : position[control.by]];
}

/** The position with every question's index inside the examples it has there. */
export function clamped(controls, position) {
  return position.map((i, c) =>
    controls[c].kind === "text" ? Math.min(i, examplesAt(controls[c], position).length - 1) : i);
}

/** "0,2,1", with "own" where the reader typed a question. */
export function keyOf(controls, position, own) {
  return position.map((i, c) => (controls[c].name in own ? "own" : i)).join(",");
}

/** A row, and the sentence in it that says when it changes nothing. */
function settingRow(control, id, words) {
  const row = make("div", "s2b-control", undefined, { "data-name": control.name, "data-kind": control.kind });
  row.append(make("label", "", control.label, { for: id }));
  const idle = make("span", "s2b-idle", words.idle, { id: `${id}-idle` });
  row.append(idle);
  row.addEventListener("input", () => hold(row));
  return row;
}

/** The row that was moved last stays in sight on a phone, and the note below it: CSS has to know how high it is. */
function hold(row) {
  const root = row.closest(".s2b-explorer");
  const before = root?.querySelector(".s2b-control[data-moved]");
  if (!root || before === row) return;
  before?.removeAttribute("data-moved");
  row.dataset.moved = "";
  root.s2bHeld?.disconnect();
  root.s2bHeld = new ResizeObserver(() => root.style.setProperty("--s2b-held", `${row.offsetHeight}px`));
  root.s2bHeld.observe(row);
}

/** Say of a row that its control changes nothing where the others are, or that it does. */
export function setIdle(row, idle) {
  row.toggleAttribute("data-idle", idle);
  const [input, said] = [row.querySelector("input, select"), row.querySelector(".s2b-idle")];
  if (idle) input.setAttribute("aria-describedby", said.id);
  else input.removeAttribute("aria-describedby");
}

function sliderRow(control, words, onMove) {
  const id = newId();
  const row = settingRow(control, id, words);
  const last = control.options.length - 1;
  const input = make("input", "", undefined, { type: "range", id, min: 0, max: last, step: 1 });
  // Room for the longest of them, so that nothing around it moves with the slider.
  const longest = control.options.reduce((most, text) => (text.length > most.length ? text : most), "");
  const output = make("output", "", undefined, { for: id, "aria-live": "off", "data-longest": longest });
  row.append(input, output);
  input.addEventListener("input", (event) => onMove(+input.value, event));
  const update = (i) => {
    input.value = i;
    output.textContent = control.options[i];
    input.setAttribute("aria-valuetext", control.options[i]);
  };
  return { row, update };
}

function choiceRow(control, words, onMove) {
  const id = newId();
  const row = settingRow(control, id, words);
  const select = make("select", "", undefined, { id });
  select.append(...control.options.map((text, i) => make("option", "", text, { value: i })));
  const full = fullText();
  row.append(select, full);
  const measure = showWhereCut(select, full);
  select.addEventListener("input", (event) => onMove(+select.value, event));
  const update = (i) => {
    select.value = i;
    full.textContent = control.options[i];
    measure();
  };
  return { row, update };
}

function switchRow(control, words, onMove) {
  const id = newId();
  const row = settingRow(control, id, words);
  const input = make("input", "", undefined, { type: "checkbox", role: "switch", id });
  const output = make("output", "", undefined, { for: id, "aria-live": "off" });
  row.append(input, output);
  input.addEventListener("input", (event) => onMove(+input.checked, event));
  return { row, update: (i) => { input.checked = i === 1; output.textContent = control.options[i]; } };
}

const SHOWN = 200; // letters of a text that its reader typed

/** What a reader typed, as far as a list of options can show it. */
export const beginning = (text) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

const ARROW = 20; // and the select's own space beside it

/** What stands below a select that cuts off what is chosen; to a screen reader the select says it. */
function fullText() {
  const full = make("p", "s2b-full", undefined, { "aria-hidden": "true" });
  full.hidden = true;
  return full;
}

/** Show the full text below a select that is too narrow for it; gives what measures again. */
function showWhereCut(select, full) {
  const pen = document.createElement("canvas").getContext("2d");
  let room = 0;
  const measure = () => {
    full.hidden = !room || pen.measureText(full.textContent).width <= room;
  };
  new ResizeObserver(() => {
    const style = getComputedStyle(select);
    pen.font = style.font;
    room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - ARROW;
    measure();
  }).observe(select);
  return measure;
}

function textRow(control, words, onMove, onOwn) {
  const id = newId();
  const row = settingRow(control, id, words);
  const select = make("select", "", undefined, { id });
  const own = make("form", "s2b-own-row");
  const size = control.long ? { rows: 4, maxlength: 50000 } : { type: "text", maxlength: 1000 };
  const input = make(control.long ? "textarea" : "input", "s2b-own", undefined, {
    ...size, autocomplete: "off", "aria-label": filled(words.own, control), placeholder: words.placeholder,
  });
  own.append(input, make("button", "s2b-ask", words.ask, { type: "submit" }));
  const full = fullText();
  row.append(make("p", "s2b-hint", words.hint), select, full, own);
  const measure = showWhereCut(select, full);
  select.addEventListener("input", (event) => { if (select.value !== "own") onMove(+select.value, event); });
  own.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) onOwn(input.value.trim(), event);
  });
  const update = (i, position, typed) => {
    const options = examplesAt(control, position).map((text, at) => make("option", "", text, { value: at }));
    if (typed !== undefined) options.unshift(make("option", "", beginning(typed), { value: "own" }));
    select.replaceChildren(...options);
    select.value = typed === undefined ? i : "own";
    full.textContent = typed === undefined ? examplesAt(control, position)[i] : beginning(typed);
    measure();
    if (typed !== undefined || !own.contains(document.activeElement)) input.value = typed ?? "";
  };
  return { row, update };
}

/** A row of each kind of control: (control, words, onMove, onOwn) gives {row, update}. */
export const ROWS = { slider: sliderRow, choice: choiceRow, switch: switchRow, text: textRow };
