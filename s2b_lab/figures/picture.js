// The picture: a box for each view, drawn in one frame of the screen, charts after everything else.
import { drawFigure } from "./chart.js";
import { DRAW } from "./draw.js";
import { make } from "./element.js";
import { announce, speak } from "./speech.js";

const PLACE = { note: "top", passages: "left", stages: "below", cuts: "below" };
const WIDE = 4; // columns
const PLACES = ["top", "left", "right", "below"];

/** Called in an animation frame: resolves when that frame is on the screen. */
const onScreen = () => new Promise((done) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = done;
  channel.port2.postMessage(0);
});

export const nextFrame = () => new Promise(requestAnimationFrame);

/**
 * Where each view stands: notes above all; below what is folded, and tables too wide for a half. Of the rest texts
 * stand left, or where there is none, the first half.
 */
export function places(views) {
  const wide = (view) => view.folded || view.columns?.length >= WIDE;
  const place = (view) => PLACE[view.kind] ?? (wide(view) ? "below" : "right");
  const all = views.map(place);
  if (all.includes("left")) return all;
  const rest = views.flatMap((_, i) => (all[i] === "right" ? [i] : []));
  for (const i of rest.slice(0, Math.ceil(rest.length / 2))) all[i] = "left";
  return all;
}

export class Picture {
  /** `plotly` is called when there is a chart to draw, and promises the library. */
  constructor(root, { words, chinese }, plotly) {
    Object.assign(this, { root, words, chinese, plotly });
    this.box = make("div", "s2b-views");
    this.parts = Object.fromEntries(PLACES.map((place) => [place, make("div", `s2b-place s2b-${place}`)]));
    this.voice = make("p", "s2b-voice");
    this.voice.hidden = true;
    this.box.append(...Object.values(this.parts), this.voice);
    // What is opened may be made only then: a frame later its words are there.
    this.box.addEventListener("toggle", ({ target }) => nextFrame().then(() => speak(target, chinese)), true);
    this.slots = [];
    this.turn = 0; // of painting: a later one makes an earlier one stop
  }

  /** Draw views, in an animation frame: texts in this one, charts after it; true unless a later call came first. */
  async paint(views, since) {
    const turn = ++this.turn;
    this.arrange(views);
    views.forEach((view, i) => this.draw(view, this.slots[i]));
    announce(views, this.slots.map(({ box }) => box), this.voice, this.words);
    speak(this.voice, this.chinese);
    await onScreen();
    this.root.dataset.textMs = (performance.now() - since).toFixed(1);
    if (turn !== this.turn) return false;
    if (await this.paintFigures(turn)) this.root.dataset.figureMs = (performance.now() - since).toFixed(1);
    return turn === this.turn;
  }

  /** A box for each view in its place; the same boxes as before where kinds and places are the same. */
  arrange(views) {
    const plan = places(views);
    const kept = (slot, i) => slot?.kind === views[i].kind && slot.place === plan[i];
    if (this.slots.length === views.length && this.slots.every(kept)) return;
    this.slots = views.map(({ kind }, i) => {
      if (kept(this.slots[i], i)) return this.slots[i];
      return { kind, place: plan[i], box: make("div", "s2b-view", undefined, { "data-kind": kind }) };
    });
    for (const place of PLACES) {
      const wanted = this.slots.filter((slot) => slot.place === place).map((slot) => slot.box);
      this.parts[place].replaceChildren(...wanted);
    }
  }

  draw(view, slot) {
    if (slot.view === view) return; // the same object is the same picture
    DRAW[view.kind](view, slot.box, this.words);
    speak(slot.box, this.chinese);
    slot.view = view;
  }

  /** Draw the figures that are not yet drawn; true when there were any. */
  async paintFigures(turn) {
    const stale = this.slots.filter((slot) => slot.kind === "figure" && slot.drawn !== slot.view);
    if (!stale.length) return false;
    try {
      const Plotly = await this.plotly();
      for (const slot of stale) {
        if (turn !== this.turn) return false;
        await drawFigure(slot.view, slot.box, this.words, Plotly);
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

  /** Let each view forget what its reader did in it. */
  forget() {
    for (const { box } of this.slots) box.dispatchEvent(new Event("s2b-reset"));
  }

  /** Draw all figures again, in the page's present colours and width. */
  redraw() {
    for (const slot of this.slots) slot.drawn = undefined;
    nextFrame().then(() => this.paintFigures(this.turn));
  }

  /** Follow the page's colours and width; gives a function that ends it. */
  watch() {
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
    return () => { colours.disconnect(); this.sizes.disconnect(); };
  }
}
