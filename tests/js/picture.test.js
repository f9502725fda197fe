import assert from "node:assert/strict";
import { test } from "node:test";
import { places } from "../../s2b_lab/figures/picture.js";

const table = (columns, more = {}) => ({ kind: "table", columns: Array(columns).fill("c"), ...more });
const [note, text, plot, meter, stages] = ["note", "passages", "figure", "meter", "stages"].map((kind) => ({ kind }));

test("a text stands left of plots and small tables, notes above, and below what is folded or wide", () => {
  const views = [note, table(5), text, meter, plot, table(3), table(2, { folded: true }), stages];
  assert.deepEqual(places(views), ["top", "below", "left", "right", "right", "right", "below", "below"]);
  assert.deepEqual(places([text, text, plot]), ["left", "left", "right"]);
});

test("without a text the first half stands left, and one alone has the whole width", () => {
  assert.deepEqual(places([note, plot, plot]), ["top", "left", "right"]);
  assert.deepEqual(places([plot, table(3), plot]), ["left", "left", "right"]);
  assert.deepEqual(places([note, plot, table(6)]), ["top", "left", "below"]);
  assert.deepEqual(places([]), []);
});
