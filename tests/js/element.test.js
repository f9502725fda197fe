import assert from "node:assert/strict";
import { test } from "node:test";
import { filled, shownNumber } from "../../s2b_lab/figures/element.js";

test("words are filled by name, all of them, and what is filled in is left as it is", () => {
  assert.equal(filled("{value} of {maximum} {unit}", { value: "3", maximum: "1,000", unit: "tokens" }), "3 of 1,000 tokens");
  assert.equal(filled("{n} 个，共 {n} 个", { n: 2 }), "2 个，共 2 个");
  assert.equal(filled("{label}: type your own", { label: "A {label}, $& and $1" }), "A {label}, $& and $1: type your own");
  assert.equal(filled("⋯", {}), "⋯");
});

test("numbers are shown with marks of thousands", () => {
  assert.deepEqual([0, 999, 1960, 1234567].map(shownNumber), ["0", "999", "1,960", "1,234,567"]);
});
