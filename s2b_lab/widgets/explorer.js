// Draws the frames that Python computes. One module, two hosts: anywidget runs it with a kernel behind the model,
// host.js runs it on a plain page with the recording alone. No imports: anywidget loads it from a blob address.

const KINDS = {
  context: "delivered",
  chunk: "chunk",
  hit: "match",
  gold: "evidence",
  lost: "evidence not delivered",
};
const TINTS = 4;
const NARROW = 560;
const HEIGHT = 360;
const BUSY_AFTER = 150;
const BADGES = {
  recorded: ["recorded", "Every position of the controls was computed when this page was built."],
  live: ["live Python", "A running Python kernel computes this figure."],
  dead: ["Python does not answer", "The kernel is busy or gone. Run the cell again, or restart the kernel."],
};

const UNRECORDED = {
  recorded: "Only Python can answer here, and it has not said hello yet. Run the cell again if it stays away.",
  dead: "Python does not answer, so this is still the last picture. Run the cell again to go on.",
};

// ---------------------------------------------------------------- pure parts

/** A function that turns {"$": i} references into the parts of the pool, the same object for the same reference. */
export function resolver(pool) {
  const done = new Map();
  const resolve = (value) => {
    if (Array.isArray(value)) return value.map(resolve);
    if (value === null || typeof value !== "object") return value;
    if (!("$" in value)) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolve(part)]));
    if (!done.has(value.$)) done.set(value.$, resolve(pool[value.$]));
    return done.get(value.$);
  };
  return resolve;
}

/** Marks by kind, [start, end, label?], as one list of objects, outer kinds first. */
export function listed(marks) {
  return Object.keys(KINDS).flatMap((kind) =>
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

/** Where paragraphs begin: after each run of blank lines. */
export function paragraphs(text) {
  return [0, ...[...text.matchAll(/\n[^\S\n]*\n\s*/g)].map((blank) => blank.index + blank[0].length)];
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

/** Stages as the JSON that a reader copies: each row of a table an object. */
export function copied(view) {
  const part = ({ text, columns, rows }) =>
    text ?? rows.map((row) => Object.fromEntries(row.map((cell, i) => [columns[i], cell])));
  const stages = view.stages.map(({ name, ms, given, made }) => ({ stage: name, ms, in: part(given), out: part(made) }));
  return JSON.stringify(stages, null, 2);
}

/** A layout in the colours and the width of the page; what the author set stays. */
export function themed(layout, { ink, grid, surface, width }) {
  const axis = { gridcolor: grid, zerolinecolor: grid, linecolor: grid, automargin: true };
  const themedLayout = structuredClone(layout);
  for (const name of new Set(["xaxis", "yaxis", ...Object.keys(layout).filter((key) => /^[xy]axis\d+$/.test(key))])) {
    themedLayout[name] = { ...axis, ...themedLayout[name] };
  }
  const below = { orientation: "h", x: 0, xanchor: "left", y: 0, yanchor: "bottom", yref: "container" };
  return {
    height: HEIGHT,
    dragmode: false,
    ...themedLayout,
    autosize: true,
    width: undefined,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "inherit", ...layout.font, color: ink },
    margin: { l: 44, r: 12, t: layout.title ? 44 : 16, b: 40, ...layout.margin },
    hoverlabel: { bgcolor: surface, bordercolor: grid, align: "left", ...layout.hoverlabel, font: { color: ink } },
    legend: { ...layout.legend, ...(width < NARROW ? below : {}) },
  };
}

// ---------------------------------------------------------------- small helpers of the page

function make(tag, className, text, attributes = {}) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

let lastId = 0;
const newId = () => `s2b-${Math.random().toString(36).slice(2, 8)}-${++lastId}`;

/** Called in an animation frame: resolves when that frame is on the screen. */
const onScreen = () => new Promise((done) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = done;
  channel.port2.postMessage(0);
});

const nextFrame = () => new Promise(requestAnimationFrame);

function loadScript(url) {
  return new Promise((done, failed) => {
    const script = make("script", "", undefined, { src: url });
    script.onload = done;
    script.onerror = () => failed(new Error("plotly.js could not be loaded"));
    document.head.append(script);
  });
}

/** plotly.js, once a page, whoever asks first: a file of the site, or bytes that Python sends. */
function plotly(model, fromPython) {
  globalThis.s2bPlotly ??= (async () => {
    if (globalThis.Plotly?.react) return globalThis.Plotly;
    const url = model.get("plotly_url");
    const source = url || URL.createObjectURL(new Blob([await fromPython()], { type: "text/javascript" }));
    await loadScript(source);
    if (!url) URL.revokeObjectURL(source);
    return globalThis.Plotly;
  })();
  globalThis.s2bPlotly.catch(() => { globalThis.s2bPlotly = undefined; });
  return globalThis.s2bPlotly;
}

// ---------------------------------------------------------------- views: how each kind is drawn into its box

function legend(marks) {
  const list = make("p", "s2b-legend");
  for (const kind of Object.keys(KINDS)) {
    if (!marks.some((mark) => mark.kind === kind)) continue;
    const order = kind === "chunk" ? " s2b-t0" : "";
    list.append(make("mark", `s2b-${kind}${order}`, KINDS[kind]), " ");
  }
  return list;
}

function gap(text) {
  const count = [...text].length;
  return make("span", "s2b-gap", `⋯ ${count.toLocaleString("en")} character${count === 1 ? "" : "s"} left out ⋯`);
}

function pieces(view, marks) {
  const all = document.createDocumentFragment();
  // A whole text is one box a paragraph, so that the browser lays out only those that can be seen.
  const starts = new Set(view.show === "all" ? paragraphs(view.text) : []);
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
    } else parent.append(view.show === "all" || !text.trim() ? text : gap(text));
  }
  return all;
}

/** Scroll the box, never the page, so that the best match, which Python names first, can be seen. */
function reveal(box) {
  const first = box.querySelector("[data-best]") ?? box.querySelector(".s2b-context");
  if (!first) return;
  const [top, frame] = [first.getBoundingClientRect(), box.getBoundingClientRect()];
  if (top.top >= frame.top && top.bottom <= frame.bottom) return;
  box.scrollTop += top.top - frame.top - box.clientHeight / 4;
}

function drawPassages(view, box) {
  const marks = listed(view.marks);
  if (!box.firstChild) {
    const text = make("div", "s2b-text", undefined, { tabindex: 0, role: "region" });
    box.append(make("p", "s2b-title"), make("p", "s2b-aside"), make("div", "s2b-legends"), text);
  }
  const [title, aside, legends, text] = box.children;
  title.textContent = view.title;
  aside.textContent = view.note;
  legends.replaceChildren(legend(marks));
  text.lang = view.lang;
  text.setAttribute("aria-label", view.title || "Text");
  text.replaceChildren(pieces(view, marks));
  reveal(text);
}

function tableOf(view) {
  const table = make("table", "s2b-table");
  if (view.caption) table.append(make("caption", "", view.caption));
  const cells = (row, tag, attributes) => {
    const line = make("tr");
    row.forEach((cell, i) => line.append(make(tag, view.numeric[i] ? "s2b-number" : "", cell, attributes)));
    return line;
  };
  const [head, body] = [make("thead"), make("tbody")];
  head.append(cells(view.columns, "th", { scope: "col" }));
  body.append(...view.rows.map((row) => cells(row, "td")));
  table.append(head, body);
  const scroller = make("div", "s2b-scroll", undefined, { tabindex: 0, role: "region", "aria-label": view.caption || "Table" });
  scroller.append(table);
  return scroller;
}

function drawTable(view, box) {
  box.replaceChildren(tableOf(view));
}

function stagePart(label, part) {
  return [make("p", "s2b-aside", label), part.rows ? tableOf(part) : make("div", "s2b-part", part.text)];
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // No clipboard without https or leave: the text is selected, to be copied by hand.
    const area = button.nextElementSibling;
    area.hidden = false;
    area.value = text;
    area.select();
    button.textContent = "Press Ctrl+C";
  }
}

function drawStages(view, box) {
  const open = new Set([...box.querySelectorAll("details[open]")].map((details) => details.dataset.name));
  const button = make("button", "s2b-copy", "Copy as JSON", { type: "button" });
  button.addEventListener("click", () => copy(button, copied(view)));
  const area = make("textarea", "s2b-json", undefined, { readonly: "", rows: 6, "aria-label": "The stages as JSON" });
  area.hidden = true;
  const list = make("div", "s2b-stages");
  for (const { name, ms, given, made } of view.stages) {
    const details = make("details", "", undefined, { "data-name": name });
    const summary = make("summary");
    summary.append(make("b", "", name), make("span", "s2b-ms", ms === null ? "" : ` ${ms} ms`));
    details.append(summary, ...stagePart("in", given), ...stagePart("out", made));
    details.open = open.has(name);
    list.append(details);
  }
  box.replaceChildren(make("p", "s2b-title", view.title), list, button, area);
}

function drawMeter(view, box) {
  const number = (value) => value.toLocaleString("en");
  const text = `${number(view.value)} of ${number(view.maximum)} ${view.unit}`.trim();
  const label = make("span", "s2b-meter-label", `${view.label}: `);
  const bar = make("meter", "", undefined, { min: 0, max: view.maximum, value: view.value, "aria-label": view.label });
  label.append(make("b", "", text));
  box.replaceChildren(label, bar);
}

function drawNote(view, box) {
  box.setAttribute("aria-live", "polite");
  box.textContent = view.text;
}

async function drawFigure(view, box, Plotly) {
  const plot = box.querySelector(".s2b-plot");
  plot.setAttribute("aria-label", view.alt || "Figure");
  const style = getComputedStyle(box);
  const color = (name) => style.getPropertyValue(name).trim();
  const look = { ink: color("--s2b-ink"), grid: color("--s2b-grid"), surface: color("--s2b-surface"), width: box.clientWidth };
  await Plotly.react(plot, view.data.map((trace) => ({ ...trace })), themed(view.layout, look), { displayModeBar: false });
  box.dataset.drawn = "1";
}

function prepareFigure(view, box) {
  if (!box.firstChild) box.append(make("div", "s2b-plot", undefined, { role: "img" }), make("p", "s2b-alt"));
  box.firstChild.style.minHeight = `${view.layout.height ?? HEIGHT}px`;
  box.lastChild.textContent = view.alt;
}

const DRAW = { passages: drawPassages, table: drawTable, meter: drawMeter, note: drawNote, stages: drawStages, figure: prepareFigure };

// ---------------------------------------------------------------- controls

function settingRow(control, id) {
  const row = make("div", "s2b-control", undefined, { "data-name": control.name, "data-kind": control.kind });
  row.append(make("label", "", control.label, { for: id }));
  return row;
}

function sliderRow(control, onMove) {
  const id = newId();
  const row = settingRow(control, id);
  const last = control.options.length - 1;
  const input = make("input", "", undefined, { type: "range", id, min: 0, max: last, step: 1 });
  const output = make("output", "", undefined, { for: id });
  row.append(input, output);
  input.addEventListener("input", (event) => onMove(+input.value, event));
  const update = (i) => {
    input.value = i;
    output.textContent = control.options[i];
    input.setAttribute("aria-valuetext", control.options[i]);
  };
  return { row, update };
}

function choiceRow(control, onMove) {
  const id = newId();
  const row = settingRow(control, id);
  const select = make("select", "", undefined, { id });
  select.append(...control.options.map((text, i) => make("option", "", text, { value: i })));
  row.append(select);
  select.addEventListener("input", (event) => onMove(+select.value, event));
  return { row, update: (i) => { select.value = i; } };
}

function switchRow(control, onMove) {
  const id = newId();
  const row = settingRow(control, id);
  const input = make("input", "", undefined, { type: "checkbox", role: "switch", id });
  const output = make("output", "", undefined, { for: id });
  row.append(input, output);
  input.addEventListener("input", (event) => onMove(+input.checked, event));
  return { row, update: (i) => { input.checked = i === 1; output.textContent = control.options[i]; } };
}

function textRow(control, onMove, onOwn) {
  const id = newId();
  const row = settingRow(control, id);
  const select = make("select", "", undefined, { id });
  const own = make("form", "s2b-own-row");
  const input = make("input", "s2b-own", undefined, {
    type: "text", maxlength: 1000, autocomplete: "off", "aria-label": `${control.label}: type your own`, placeholder: "Type your own …",
  });
  own.append(input, make("button", "s2b-ask", "Ask", { type: "submit" }));
  const hint = make("p", "s2b-hint", "To type your own, open this page in Binder or Colab (the rocket at the top) or in JupyterLab.");
  row.append(select, own, hint);
  select.addEventListener("input", (event) => { if (select.value !== "own") onMove(+select.value, event); });
  own.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) onOwn(input.value.trim(), event);
  });
  const update = (i, position, typed) => {
    const options = examplesAt(control, position).map((text, at) => make("option", "", text, { value: at }));
    if (typed !== undefined) options.unshift(make("option", "", typed, { value: "own" }));
    select.replaceChildren(...options);
    select.value = typed === undefined ? i : "own";
    if (typed !== undefined || !own.contains(document.activeElement)) input.value = typed ?? "";
  };
  return { row, update };
}

const ROWS = { slider: sliderRow, choice: choiceRow, switch: switchRow, text: textRow };

// ---------------------------------------------------------------- the explorer

class Explorer {
  constructor(model, root) {
    const spec = model.get("spec");
    const recording = model.get("recording");
    Object.assign(this, { model, root, spec, frames: recording.frames, resolve: resolver(recording.pool) });
    this.id = newId();
    this.position = [...spec.start];
    this.own = {};
    this.slots = [];
    this.asks = 0;
    this.question = null; // what Python was asked and has not answered
    this.turn = 0; // of painting: a later one makes an earlier one stop
    this.touched = false;
    this.build();
    this.setMode("recorded");
  }

  get key() { return keyOf(this.spec.controls, this.position, this.own); }

  build() {
    const { spec, root } = this;
    root.dataset.name = spec.name;
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", spec.name);
    const controls = make("div", "s2b-controls");
    this.rows = spec.controls.map((control, c) => {
      const move = (i, event) => { delete this.own[control.name]; this.position[c] = i; this.moved(event); };
      const own = (text, event) => { this.own[control.name] = text; this.moved(event); };
      return ROWS[control.kind](control, move, own);
    });
    controls.append(...this.rows.map(({ row }) => row));
    const bar = make("div", "s2b-bar");
    this.badge = make("span", "s2b-badge", undefined, { role: "status" });
    this.progress = make("progress", "s2b-progress", undefined, { "aria-label": "Python is computing" });
    const reset = make("button", "s2b-reset", "Reset", { type: "button" });
    reset.addEventListener("click", (event) => this.reset(event));
    this.clock = make("span", "s2b-clock", undefined, { "aria-hidden": "true" }); // not to be read out every second
    bar.append(this.badge, this.progress, this.clock, reset);
    this.error = make("p", "s2b-error", undefined, { role: "alert" });
    this.views = make("div", "s2b-views");
    controls.hidden = bar.hidden = !spec.controls.length;
    this.error.hidden = this.progress.hidden = this.clock.hidden = true;
    root.append(controls, bar, this.error, this.views);
    this.updateRows();
  }

  updateRows() {
    this.position = clamped(this.spec.controls, this.position);
    this.rows.forEach(({ update }, c) => update(this.position[c], this.position, this.own[this.spec.controls[c].name]));
  }

  setMode(mode) {
    this.mode = this.root.dataset.mode = mode;
    [this.badge.textContent, this.badge.title] = BADGES[mode];
  }

  say(message) {
    this.error.hidden = !message;
    this.error.textContent = message ?? "";
  }

  reset(event) {
    this.position = [...this.spec.start];
    this.own = {};
    this.moved(event);
  }

  moved(event) {
    this.touched = true;
    this.updateRows();
    this.since ??= event.timeStamp;
    this.show();
  }

  /** Show the current position in the next frame of the screen, however many moves came before it. */
  show() {
    this.coming ??= requestAnimationFrame(() => {
      const since = this.since ?? performance.now();
      this.coming = this.since = undefined;
      if (this.mode === "live") this.ask(since);
      else this.showRecorded(since);
    });
  }

  showRecorded(since) {
    const frame = this.frames[this.key];
    this.say(frame === undefined ? UNRECORDED[this.mode] : null);
    if (frame !== undefined) this.paint(this.resolve(frame), this.key, since);
    if (frame === undefined || this.mode === "dead") this.greet();
  }

  // ------------------------------------------------------------ painting

  /** Draw views, in an animation frame: texts in this one, figures after it, unless a later call came first. */
  async paint(views, key, since) {
    const turn = ++this.turn;
    views.forEach((view, i) => this.draw(view, i));
    this.slots.splice(views.length).forEach((slot) => slot.box.remove());
    await onScreen();
    this.root.dataset.textMs = (performance.now() - since).toFixed(1);
    if (turn !== this.turn) return;
    if (await this.paintFigures(turn)) this.root.dataset.figureMs = (performance.now() - since).toFixed(1);
    if (turn !== this.turn) return;
    this.painted = key;
    this.root.dataset.position = key;
    this.root.dataset.ready = "1";
  }

  draw(view, i) {
    if (this.slots[i]?.kind !== view.kind) {
      const box = make("div", "s2b-view", undefined, { "data-kind": view.kind });
      if (this.slots[i]) this.slots[i].box.replaceWith(box);
      else this.views.append(box);
      this.slots[i] = { kind: view.kind, box };
    }
    const slot = this.slots[i];
    if (slot.view !== view) DRAW[view.kind](view, slot.box); // the same object is the same picture
    slot.view = view;
  }

  /** Draw the figures that are not yet drawn; true when there were any. */
  async paintFigures(turn) {
    const stale = this.slots.filter((slot) => slot.kind === "figure" && slot.drawn !== slot.view);
    if (!stale.length) return false;
    try {
      const Plotly = await plotly(this.model, () => this.askPlotly());
      for (const slot of stale) {
        if (turn !== this.turn) return false;
        await drawFigure(slot.view, slot.box, Plotly);
        slot.drawn = slot.view;
        this.sizes.observe(slot.box);
      }
    } catch (problem) {
      // The sentence that stands for the figure stays to be read.
      console.warn(problem);
      return false;
    }
    return true;
  }

  /** Draw all figures again, in the page's present colours and width. */
  redraw() {
    for (const slot of this.slots) slot.drawn = undefined;
    nextFrame().then(() => this.paintFigures(this.turn));
  }

  // ------------------------------------------------------------ the kernel

  send(message) {
    try { this.model.send(message); } catch { /* no kernel is behind the model: the time-out says so */ }
  }

  /** Ask who is there; again and again, ever more rarely, while nobody is. */
  greet(pause = 2) {
    clearTimeout(this.greeting);
    this.send({ kind: "hello", from: this.id });
    if (this.mode === "dead") this.greeting = setTimeout(() => this.greet(Math.min(60, 2 * pause)), 1000 * pause);
  }

  /** The connection changed: the kernel has a few seconds to say that it is there. */
  check() {
    if (this.mode !== "live") { this.greet(); return; }
    clearTimeout(this.checking);
    this.checking = setTimeout(() => { if (!this.question) this.lose(); }, 1000 * Math.min(3, this.spec.timeout));
    this.greet();
  }

  ask(since) {
    if (this.question) return; // the answer to it will be followed by the question for where the controls are then
    const id = `${this.id}/${++this.asks}`;
    this.question = { id, key: this.key, since };
    this.send({ kind: "ask", id, position: this.position, own: this.own });
    const began = performance.now();
    const tick = () => {
      this.clock.textContent = `${Math.round((performance.now() - began) / 1000)} s`;
      this.ticking = setTimeout(tick, 1000);
    };
    this.ticking = setTimeout(() => {
      this.badge.textContent = "Python is computing …";
      this.progress.hidden = this.clock.hidden = false;
      tick();
    }, BUSY_AFTER);
    this.waiting = setTimeout(() => this.lose(), 1000 * this.spec.timeout);
  }

  rest() {
    for (const timer of [this.ticking, this.waiting, this.checking, this.greeting]) clearTimeout(timer);
    this.progress.hidden = this.clock.hidden = true;
  }

  /** No answer in time: say so and show what was recorded. */
  lose() {
    this.rest();
    this.late = this.question;
    this.question = null;
    this.setMode("dead");
    nextFrame().then(() => this.showRecorded(performance.now()));
  }

  /** Python is there. */
  found() {
    this.rest();
    if (this.mode !== "live") this.say(null);
    this.setMode("live");
  }

  receive(message, buffers) {
    if (message.kind === "welcome" && message.to === this.id) this.welcome(message);
    else if (message.kind === "move") this.adopt(message);
    else if (message.kind === "plotly") this.plotlyCame?.(buffers[0]);
    else if (message.kind === "answer") this.answered(message);
  }

  welcome(message) {
    clearTimeout(this.checking);
    if (this.mode === "live") return;
    this.found();
    if (!this.touched) this.adopt(message);
    else if (this.key !== this.painted) this.show();
  }

  /** Python set the values: follow it. */
  adopt({ position, own }) {
    this.position = [...position];
    this.own = { ...own };
    this.updateRows();
    if (this.key !== this.painted) this.show();
  }

  async answered(message) {
    const question = [this.question, this.late].find((asked) => asked?.id === message.id);
    if (!question) return;
    this.question = this.late = null;
    this.found();
    await nextFrame();
    this.say(message.error);
    if (!message.error) await this.paint(message.views, question.key, question.since);
    if (this.key !== question.key) this.show();
  }

  askPlotly() {
    return new Promise((done, failed) => {
      this.plotlyCame = done;
      setTimeout(() => failed(new Error("Python did not send plotly.js")), 1000 * this.spec.timeout);
      this.send({ kind: "plotly" });
    });
  }

  // ------------------------------------------------------------ life

  start(signal) {
    const { model, root } = this;
    const receive = (message, buffers) => this.receive(message, buffers);
    const check = () => this.check();
    model.on("msg:custom", receive);
    model.on("comm_live_update", check);
    // JupyterLab takes keys for its own commands, in the capture phase; the controls' own action still follows.
    const keep = (event) => {
      if (root.contains(event.target) && !event.ctrlKey && !event.metaKey && !["Tab", "Escape"].includes(event.key)) {
        event.stopImmediatePropagation();
      }
    };
    addEventListener("keydown", keep, { capture: true });
    const colours = new MutationObserver(() => this.redraw());
    colours.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "theme"] });
    colours.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
    const widths = new Map();
    this.sizes = new ResizeObserver((entries) => {
      const known = entries.map(({ target }) => {
        const before = widths.get(target);
        widths.set(target, target.clientWidth);
        return before === undefined || before === target.clientWidth;
      });
      if (known.includes(false)) this.redraw();
    });
    const stop = () => {
      this.rest();
      model.off("msg:custom", receive);
      model.off("comm_live_update", check);
      removeEventListener("keydown", keep, { capture: true });
      colours.disconnect();
      this.sizes.disconnect();
    };
    signal?.addEventListener("abort", stop);
    nextFrame().then(() => this.showRecorded(performance.now()));
    this.greet();
    return stop;
  }
}

function render({ model, el, signal }) {
  const root = make("div", "s2b-explorer s2b-surface", undefined, { "data-lm-suppress-shortcuts": "true" });
  el.append(root);
  return new Explorer(model, root).start(signal);
}

export default { render };
