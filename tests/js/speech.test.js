import assert from "node:assert/strict";
import { test } from "node:test";
import { turned } from "../../s2b_lab/figures/draw.js";
import { announce, runs, said, voiceOf } from "../../s2b_lab/figures/speech.js";

test("a text is cut where runs begin and end, and nothing is lost", () => {
  const run = /[\u4e00-\u9fff]+/gu;
  assert.deepEqual(runs("rank 3: 出差 and 报销", run), [["rank 3: ", false], ["出差", true], [" and ", false], ["报销", true]]);
  assert.deepEqual(runs("出差", run), [["出差", true]]);
  assert.deepEqual(runs("trip", run), [["trip", false]]);
  assert.deepEqual(runs("", run), []);
});

const [table, note, chart, mute] = [{ kind: "table" }, { kind: "note" }, { kind: "figure", alt: "Two." }, { kind: "figure", alt: "" }];

test("the first note speaks for a figure, and where there is none its first chart that has a sentence", () => {
  assert.equal(voiceOf([table, note, chart, note]), 1);
  assert.equal(voiceOf([table, chart, chart]), 1);
  assert.equal(voiceOf([chart, note]), 1);
  assert.equal(voiceOf([mute, chart]), 1);
  assert.equal(voiceOf([table]), -1);
  assert.equal(voiceOf([mute]), -1);
});

const WORDS = {
  table: "Table", text: "Text", stages: "Stages", figure: "Figure", data: "Data", of: "{value} of {maximum} {unit}",
  folded: ["{title} ({count} row)", "{title} ({count} rows)"],
};

test("what has no sentence is said by its names, its numbers and what comes first", () => {
  const legend = { context: "delivered", hit: "found" };
  const text = { kind: "passages", text: "abcdef", title: "", marks: { hit: [[2, 4], [0, 1]] }, words: { legend } };
  const prices = { kind: "table", caption: "Prices", columns: ["a"], rows: [["1", "x"], ["2", "y"]] };
  const meter = { kind: "meter", label: "Used", value: 1000, maximum: 2000, unit: "" };
  const bars = { kind: "figure", alt: "", table: { columns: ["x"], cells: [[5], [0.5]] } };
  assert.equal(said([text], WORDS), "Text. found: 2. cd.");
  assert.equal(said([{ ...text, marks: {}, title: "T" }], WORDS), "T. abcdef.");
  assert.equal(said([prices, meter], WORDS), "Prices (2 rows). 1, x. Used: 1,000 of 2,000.");
  assert.equal(said([{ ...prices, caption: "", rows: [] }], WORDS), "Table (0 rows).");
  assert.equal(said([bars], WORDS), "Data (1 row). 5, 0.5.");
  assert.equal(said([mute], WORDS), "Figure.");
  assert.equal(said([{ kind: "stages", title: "", stages: [{ name: "search" }, { name: "expand" }] }], WORDS), "Stages. search, expand.");
  assert.equal(said([], WORDS), "");
});

test("who has lost the voice says nothing more", () => {
  const element = (live) => ({
    live, setAttribute(name, value) { this.live = value; }, removeAttribute() { this.live = undefined; },
  });
  const [box, sentence, own] = [element(undefined), element("polite"), element("polite")];
  announce([chart, note], [{ querySelector: () => sentence }, box], own, WORDS);
  assert.deepEqual([sentence.live, box.live, own.live, own.hidden], [undefined, "polite", undefined, true]);
  announce([{ kind: "table", caption: "Prices", rows: [["1"]] }], [box], own, WORDS);
  assert.deepEqual([box.live, own.live, own.hidden, own.textContent], [undefined, "polite", false, "Prices (1 row). 1."]);
});

test("a chart's columns become rows, numbers as they are read, nothing as a dash", () => {
  const table = { columns: ["name", "score"], cells: [["a", null], [1234.5678, 0.5]] };
  assert.deepEqual(turned(table), {
    columns: ["name", "score"], rows: [["a", "1,234.568"], ["–", "0.5"]], numeric: [false, true], caption: "",
  });
});
