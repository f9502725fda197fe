// The figure that a reader moves: Python computes its frames, this draws them. One module, two hosts: anywidget runs it
// with a kernel behind the model, host.js runs it on a plain page with the recording alone.
import { plotly } from "./chart.js";
import { clamped, keyOf, ROWS, setIdle } from "./controls.js";
import { make, newId } from "./element.js";
import { Conversation } from "./kernel.js";
import { nextFrame, Picture } from "./picture.js";
import { drawBeside, drawBox, isJupyters } from "./saved.js";
import { speak } from "./speech.js";

/**
 * A function that turns {"$": i} into the part of the pool there, with the keys that stand beside it; the same object
 * for the same reference.
 */
export function resolver(pool) {
  const done = new Map();
  const resolve = (value) => {
    if (Array.isArray(value)) return value.map(resolve);
    if (value === null || typeof value !== "object") return value;
    const { $: place, ...own } = value;
    const parts = () => Object.fromEntries(Object.entries(own).map(([key, part]) => [key, resolve(part)]));
    if (place === undefined) return parts();
    if (Array.isArray(place)) return place.map((one) => resolve({ $: one }));
    const name = JSON.stringify(value);
    if (!done.has(name)) {
      const shared = resolve(pool[place]);
      done.set(name, Object.keys(own).length ? { ...shared, ...parts() } : shared);
    }
    return done.get(name);
  };
  return resolve;
}

class Explorer extends Conversation {
  constructor(model, root) {
    super();
    const spec = model.get("spec");
    const recording = model.get("recording");
    Object.assign(this, { model, root, spec, words: spec.words, frames: recording.frames, resolve: resolver(recording.pool) });
    this.picture = new Picture(root, spec, () => plotly(model.get("plotly_url"), () => this.askPlotly(), spec.words));
    this.id = newId();
    this.position = [...spec.start];
    this.own = {};
    this.asks = 0;
    this.patience = {}; // what is waited for, to wait for it anew
    this.question = null; // what Python was asked and has not answered
    this.touched = false;
    this.build();
    this.setMode("recorded");
  }

  get key() { return keyOf(this.spec.controls, this.position, this.own); }

  build() {
    const { spec, root, words } = this;
    root.dataset.name = spec.name;
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", spec.name);
    const controls = make("div", "s2b-controls");
    this.rows = spec.controls.map((control, c) => {
      const move = (i, event) => { delete this.own[control.name]; this.position[c] = i; this.moved(event); };
      const own = (text, event) => { this.own[control.name] = text; this.moved(event); };
      return ROWS[control.kind](control, words, move, own);
    });
    controls.append(...this.rows.map(({ row }) => row));
    const bar = make("div", "s2b-bar");
    this.badge = make("span", "s2b-badge", undefined, { role: "status" });
    this.progress = make("progress", "s2b-progress", undefined, { "aria-label": words.computing });
    const reset = make("button", "s2b-reset", words.reset, { type: "button" });
    reset.addEventListener("click", (event) => this.reset(event));
    this.clock = make("span", "s2b-clock", undefined, { "aria-hidden": "true" }); // not to be read out every second
    bar.append(this.badge, this.progress, this.clock, reset);
    this.error = make("p", "s2b-error", undefined, { role: "alert" });
    controls.hidden = !spec.controls.length;
    this.error.hidden = this.progress.hidden = this.clock.hidden = true;
    controls.append(bar);
    root.append(controls, this.error, this.picture.box);
    this.updateRows();
  }

  updateRows() {
    this.position = clamped(this.spec.controls, this.position);
    const idle = this.model.get("recording").idle?.[this.key] ?? [];
    this.rows.forEach(({ row, update }, c) => {
      update(this.position[c], this.position, this.own[this.spec.controls[c].name]);
      setIdle(row, idle.includes(c));
      speak(row, this.spec.chinese);
    });
  }

  place(position, own) {
    this.position = [...position];
    this.own = { ...own };
    this.updateRows();
  }

  setMode(mode) {
    this.mode = this.root.dataset.mode = mode;
    [this.badge.textContent, this.badge.title] = this.words.badges[mode];
  }

  say(message) {
    this.error.hidden = !message;
    this.error.textContent = message ?? "";
  }

  reset(event) {
    this.position = [...this.spec.start];
    this.own = {};
    this.picture.forget();
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
    this.say(frame === undefined ? this.words.unrecorded[this.mode] : null);
    if (frame !== undefined) this.paint(this.resolve(frame), this.key, since);
    if (frame === undefined || this.mode === "dead") this.greet();
  }

  async paint(views, key, since) {
    if (!(await this.picture.paint(views, since))) return;
    this.painted = key;
    this.root.dataset.position = key;
    this.root.dataset.ready = "1";
  }

  // ------------------------------------------------------------ life

  /** Talk through this model. Each view has its own, which is deaf once the view is gone. */
  listen(model) {
    this.deafen?.();
    const receive = (message, buffers) => this.receive(message, buffers);
    const check = () => this.check();
    model.on("msg:custom", receive);
    model.on("comm_live_update", check);
    this.model = model;
    this.deafen = () => { model.off("msg:custom", receive); model.off("comm_live_update", check); };
  }

  start() {
    const { model, root } = this;
    this.listen(model);
    // JupyterLab takes keys for its own commands, in the capture phase; the controls' own action still follows.
    const keep = (event) => {
      if (root.contains(event.target) && !event.ctrlKey && !event.metaKey && !["Tab", "Escape"].includes(event.key)) {
        event.stopImmediatePropagation();
      }
    };
    addEventListener("keydown", keep, { capture: true });
    const unwatch = this.picture.watch();
    const stop = () => {
      this.rest();
      this.deafen();
      removeEventListener("keydown", keep, { capture: true });
      unwatch();
    };
    nextFrame().then(() => this.showRecorded(performance.now()));
    this.greet();
    return stop;
  }
}

// Living figures by their model's token, so that one whose view goes can move on to the place of the next.
const living = (globalThis.s2bLiving ??= new Map());

function begin(model, el) {
  const root = make("div", "s2b-explorer s2b-surface", undefined, { "data-lm-suppress-shortcuts": "true" });
  el.append(root);
  const explorer = new Explorer(model, root);
  return { root, explorer, stop: explorer.start(), left: false, homeless: false };
}

function render({ model, el, signal }) {
  const figure = begin(model, el);
  const token = model.get("token");
  living.set(token, [...living.get(token) ?? [], figure]);
  // Called twice, and the second time perhaps when it has found its place.
  const leave = () => {
    if (figure.left) return;
    figure.left = figure.homeless = true;
    setTimeout(() => { if (figure.homeless) end(token, figure); }, 2000);
  };
  signal?.addEventListener("abort", leave);
  return leave;
}

function end(token, figure) {
  living.set(token, living.get(token).filter((other) => other !== figure));
  figure.stop();
}

/** Beside the model itself, whatever views it has: the pictures of it that a notebook saves. */
function initialize({ model, signal }) {
  const token = model.get("token");
  const ends = [];
  const unwatch = drawBeside(token, async (box, picture) => {
    ends.push(picture.dataset.box ? await drawBox(model.widget_manager, picture.dataset.box, box) : standIn(box, model, token));
  });
  if (!isJupyters()) model.send({ kind: "elsewhere" });
  const stop = () => { unwatch(); for (const end of ends.splice(0)) end(); };
  signal?.addEventListener("abort", stop);
  return stop;
}

/** A figure that has lost its place, or else a new one, in this box; gives a function that ends it. */
function standIn(box, model, token) {
  const figure = living.get(token)?.find(({ homeless }) => homeless) ?? begin(model, box);
  if (figure.homeless) {
    figure.homeless = false;
    figure.explorer.listen(model);
    box.append(figure.root);
    figure.explorer.greet(); // what was said meanwhile, nobody heard
  }
  return () => figure.stop();
}

export default { initialize, render };
