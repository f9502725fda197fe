import assert from "node:assert/strict";
import { test } from "node:test";
import { turned } from "../../s2b_lab/figures/draw.js";
import { announce, runs, voiceOf } from "../../s2b_lab/figures/speech.js";

test("a text is cut where runs begin and end, and nothing is lost", () => {
  const run = /[\u4e00-\u9fff]+/gu;
  assert.deepEqual(runs("rank 3: 出差 and 报销", run), [["rank 3: ", false], ["出差", true], [" and ", false], ["报销", true]]);
  assert.deepEqual(runs("出差", run), [["出差", true]]);
  assert.deepEqual(runs("trip", run), [["trip", false]]);
  assert.deepEqual(runs("", run), []);
});

test("the first note speaks for a figure, and where there is none its first chart", () => {
  assert.equal(voiceOf(["table", "note", "figure", "note"]), 1);
  assert.equal(voiceOf(["table", "figure", "figure"]), 1);
  assert.equal(voiceOf(["figure", "note"]), 1);
  assert.equal(voiceOf(["table"]), -1);
});

test("who has lost the voice says nothing more", () => {
  const element = (live) => ({
    live, setAttribute(name, value) { this.live = value; }, removeAttribute() { this.live = undefined; },
  });
  const [note, sentence] = [element(undefined), element("polite")];
  announce([{ kind: "figure", box: { querySelector: () => sentence } }, { kind: "note", box: note }]);
  assert.deepEqual([sentence.live, note.live], [undefined, "polite"]);
});

test("a chart's columns become rows, numbers as they are read, nothing as a dash", () => {
  const table = { columns: ["name", "score"], cells: [["a", null], [1234.5678, 0.5]] };
  assert.deepEqual(turned(table), {
    columns: ["name", "score"], rows: [["a", "1,234.568"], ["–", "0.5"]], numeric: [false, true], caption: "",
  });
});
