import assert from "node:assert/strict";
import { test } from "node:test";
import { clamped, examplesAt, keyOf } from "../../s2b_lab/figures/controls.js";

const CONTROLS = [
  { name: "language", kind: "choice", options: ["English", "中文"] },
  { name: "question", kind: "text", by: 0, options: [["a", "b", "c"], ["甲", "乙"]] },
];

test("a question's examples follow the control they depend on", () => {
  assert.deepEqual(examplesAt(CONTROLS[1], [1, 0]), ["甲", "乙"]);
  assert.deepEqual(clamped(CONTROLS, [1, 2]), [1, 1]);
  assert.deepEqual(clamped(CONTROLS, [0, 2]), [0, 2]);
});

test("a position has a key, a typed question a key of its own", () => {
  assert.equal(keyOf(CONTROLS, [1, 0], {}), "1,0");
  assert.equal(keyOf(CONTROLS, [1, 0], { question: "丙" }), "1,own");
});
