// A figure's conversation with the kernel behind it: questions, answers, and what tells a busy Python from one that is gone.
import { filled } from "./element.js";
import { nextFrame } from "./picture.js";

const BUSY_AFTER = 150;
const KEPT_AFTER = 500;

/** What an Explorer says and hears. It is lost when nothing at all is heard for `spec.timeout` seconds. */
export class Conversation {
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
    if (this.mode === "live") this.waitFor("checking", Math.min(3, this.spec.timeout / 3), () => this.lose());
    this.greet();
  }

  /** Call `late` after so many seconds in which Python says nothing. */
  waitFor(name, seconds, late) {
    clearTimeout(this[name]);
    this.patience[name] = () => this.waitFor(name, seconds, late);
    this[name] = setTimeout(late, 1000 * seconds);
  }

  waitNoMore(name) {
    clearTimeout(this[name]);
    delete this.patience[name];
  }

  ask(since) {
    if (this.question) return; // the answer to it will be followed by the question for where the controls are then
    const id = `${this.id}/${++this.asks}`;
    this.question = { id, key: this.key, since };
    this.send({ kind: "ask", id, position: this.position, own: this.own });
    const began = performance.now();
    const tick = () => {
      this.clock.textContent = filled(this.words.seconds, { count: Math.round((performance.now() - began) / 1000) });
      this.ticking = setTimeout(tick, 1000);
    };
    this.ticking = setTimeout(() => {
      this.badge.textContent = this.words.busy;
      this.progress.hidden = this.clock.hidden = false;
      tick();
    }, BUSY_AFTER);
    this.waitFor("waiting", this.spec.timeout, () => this.lose());
  }

  rest() {
    for (const timer of [this.ticking, this.greeting, this.keeping]) clearTimeout(timer);
    for (const name of ["waiting", "checking"]) this.waitNoMore(name);
    this.progress.hidden = this.clock.hidden = true;
  }

  /** Silence: say so and show what was recorded. */
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
    // Whatever is heard, if only that Python is busy: whoever waits can go on waiting.
    for (const again of Object.values(this.patience)) again();
    if (message.kind === "welcome" && message.to === this.id) this.welcome(message);
    else if (message.kind === "move") this.adopt(message);
    else if (message.kind === "plotly") this.plotlyCame?.(buffers[0]);
    else if (message.kind === "answer") this.answered(message);
  }

  welcome(message) {
    this.waitNoMore("checking");
    if (this.mode === "live") return;
    this.found();
    this.keep();
    if (!this.touched) this.adopt(message);
    else if (this.key !== this.painted) this.show();
  }

  /** Python set the values: follow it. */
  adopt({ position, own }) {
    this.place(position, own);
    if (this.key !== this.painted) this.show();
  }

  async answered(message) {
    const question = [this.question, this.late].find((asked) => asked?.id === message.id);
    if (!question) { this.overheard(message); return; }
    this.question = this.late = null;
    this.found();
    await nextFrame();
    await this.take(message, question.key, question.since);
    if (this.key !== question.key) this.show();
  }

  /** Another display of this figure was moved: follow it, unless this one is about to ask for itself. */
  async overheard(message) {
    if (this.question || this.coming) return;
    this.found();
    this.place(message.position, message.own);
    await nextFrame();
    await this.take(message, this.key, performance.now());
  }

  async take(message, key, since) {
    this.say(message.error);
    if (!message.error) await this.paint(message.views, key, since);
    this.keep();
  }

  /** Where a notebook can keep it, the saved picture follows the shown one; not in the middle of a movement. */
  keep() {
    clearTimeout(this.keeping);
    if (this.root.closest(".jp-OutputArea-child")) this.keeping = setTimeout(() => this.send({ kind: "keep" }), KEPT_AFTER);
  }

  askPlotly() {
    return new Promise((done, failed) => {
      const over = (call) => (value) => { this.waitNoMore("fetching"); call(value); };
      this.plotlyCame = over(done);
      this.waitFor("fetching", this.spec.timeout, () => over(failed)(new Error(this.words.no_answer)));
      this.send({ kind: "plotly" });
    });
  }
}
