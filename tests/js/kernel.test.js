import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Conversation } from "../../s2b_lab/figures/kernel.js";

const WORDS = { busy: "computing", seconds: "{count} s", no_answer: "no plotly.js" };
globalThis.requestAnimationFrame = (call) => queueMicrotask(call);

/** A figure without a page: what it sent, what it showed, and where it is. */
class Figure extends Conversation {
  constructor(mode = "live") {
    super();
    const part = () => ({ hidden: true });
    Object.assign(this, { id: "me", asks: 0, patience: {}, question: null, words: WORDS, spec: { timeout: 20 }, mode });
    Object.assign(this, { clock: part(), progress: part(), badge: part(), sent: [], painted: [], said: null, position: [0], own: {} });
    this.model = { send: (message) => this.sent.push(message) };
    this.root = { closest: (name) => this.inNotebook && name === ".jp-OutputArea-child" };
  }

  get key() { return this.position.join(); }
  setMode(mode) { this.mode = mode; }
  say(message) { this.said = message; }
  showRecorded() {}
  place(position, own) { Object.assign(this, { position, own }); }
  show() { this.shown = this.key; }
  async paint(views, key) { this.painted.push([key, views]); }
}

const seconds = (count) => mock.timers.tick(1000 * count);
const settled = () => new Promise(setImmediate);
const timed = (name, body) => test(name, async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try { await body(); } finally { mock.timers.reset(); }
});

timed("only silence is death: a busy Python is waited for, however long, and a silent one is not", () => {
  const figure = new Figure();
  figure.ask(0);
  for (let i = 0; i < 60; i++) { seconds(15); figure.receive({ kind: "busy" }); }
  assert.equal(figure.mode, "live");
  seconds(19.9);
  assert.equal(figure.mode, "live");
  seconds(0.2);
  assert.equal(figure.mode, "dead");
});

timed("an answer ends the waiting", async () => {
  const figure = new Figure();
  figure.ask(0);
  figure.receive({ kind: "answer", id: "me/1", position: [0], own: {}, views: ["a"] });
  await settled();
  seconds(100);
  assert.equal(figure.mode, "live");
  assert.deepEqual(figure.painted, [["0", ["a"]]]);
});

timed("after the connection changed the kernel has seconds to speak, also while it owes an answer", () => {
  for (const asking of [false, true]) {
    const figure = new Figure();
    if (asking) figure.ask(0);
    figure.check();
    assert.equal(figure.sent.at(-1).kind, "hello");
    seconds(2.9);
    figure.receive({ kind: "busy" });
    seconds(2.9);
    assert.equal(figure.mode, "live");
    seconds(0.2);
    assert.equal(figure.mode, "dead");
  }
});

timed("a welcome ends the check, and one for another display does not", () => {
  const figure = new Figure();
  figure.check();
  figure.receive({ kind: "welcome", to: "me", position: [0], own: {} });
  seconds(100);
  assert.equal(figure.mode, "live");
  figure.check();
  figure.receive({ kind: "welcome", to: "other", position: [0], own: {} });
  seconds(3.1);
  assert.equal(figure.mode, "dead");
});

timed("the answer to another display is followed, unless this one is about to ask", async () => {
  const answer = { kind: "answer", id: "other/1", position: [2], own: { q: "theirs" }, views: ["b"] };
  const figure = new Figure("recorded");
  figure.receive(answer);
  await settled();
  assert.deepEqual([figure.position, figure.own, figure.painted, figure.mode], [[2], { q: "theirs" }, [["2", ["b"]]], "live"]);
  assert.deepEqual(figure.sent, [], "what was computed once is not asked for again");
  for (const busy of [{ question: { id: "me/1", key: "0" } }, { coming: 1 }]) {
    const other = Object.assign(new Figure(), busy);
    other.receive(answer);
    await settled();
    assert.deepEqual([other.position, other.painted], [[0], []]);
  }
});

timed("another display's failure is shown as its own", async () => {
  const figure = new Figure();
  figure.receive({ kind: "answer", id: "other/1", position: [1], own: {}, error: "k is 0" });
  await settled();
  assert.deepEqual([figure.said, figure.position, figure.painted], ["k is 0", [1], []]);
});

timed("a notebook is asked to keep the picture once a movement is over, and nothing else is", async () => {
  const figure = Object.assign(new Figure(), { inNotebook: true });
  for (const number of [1, 2, 3]) {
    figure.ask(0);
    figure.receive({ kind: "answer", id: `me/${number}`, position: [0], own: {}, views: [] });
    await settled();
    seconds(0.3);
  }
  assert.deepEqual(figure.sent.filter(({ kind }) => kind === "keep"), []);
  seconds(0.3);
  assert.deepEqual(figure.sent.filter(({ kind }) => kind === "keep"), [{ kind: "keep" }]);
  const other = new Figure();
  other.receive({ kind: "answer", id: "x/1", position: [0], own: {}, views: [] });
  await settled();
  seconds(5);
  assert.deepEqual(other.sent, []);
});

timed("plotly.js is waited for while Python is busy, and not for ever", async () => {
  const figure = new Figure();
  const waited = figure.askPlotly().catch((problem) => problem.message);
  seconds(19);
  figure.receive({ kind: "busy" });
  seconds(19);
  figure.receive({ kind: "plotly" }, ["bytes"]);
  assert.equal(await waited, "bytes");
  const lost = figure.askPlotly().catch((problem) => problem.message);
  seconds(20.1);
  assert.equal(await lost, "no plotly.js");
});
