import assert from "node:assert/strict";
import { test } from "node:test";
import { bracket, compared, comparison, inside, pieceOf } from "../../s2b_lab/figures/cuts.js";
import { beginning } from "../../s2b_lab/figures/controls.js";

const words = {
  placed: ["{count} cut.", "{count} cuts."], beside: "{placed} Beside:", pieces: ["{first}: {count}", "{first} to {last}: {count}"], between: ", ",
  chunker: "chunker", cuts: "its cuts", shared: "shared", yours: "only yours", its: "only its", counted: ["{count}", "{count} and {elsewhere}"],
};

test("what is shared and what only one has are in order, as numbers are, however the reader set them", () => {
  assert.deepEqual(compared(new Set([10, 9, 2]), [1, 2, 10]), { shared: [2, 10], yours: [9], its: [1] });
  assert.deepEqual(compared(new Set(), [3]), { shared: [], yours: [], its: [3] });
  assert.deepEqual(compared(new Set([3]), []), { shared: [], yours: [3], its: [] });
});

test("comparing agrees with asking each gap", () => {
  let seed = 11;
  const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  for (let round = 0; round < 200; round++) {
    const [own, its] = [0, 1].map(() => Array.from({ length: random(9) }, () => 1 + random(12)));
    const found = compared(new Set(own), its);
    for (let gap = 1; gap <= 12; gap++) {
      const [mine, theirs] = [own.includes(gap), its.includes(gap)];
      assert.deepEqual(
        [found.shared, found.yours, found.its].map((part) => part.filter((cut) => cut === gap).length),
        [+(mine && theirs), +(mine && !theirs), +(!mine && theirs)]);
    }
  }
});

test("the table has a row a chunker, and says how many cuts the reader set", () => {
  const cuts = [{ name: "a", after: [1, 4], elsewhere: 0 }, { name: "b", after: [], elsewhere: 2 }];
  const table = comparison(new Set([4]), cuts, words);
  assert.equal(table.caption, "1 cut. Beside:");
  assert.deepEqual(table.rows, [["a", "2", "1", "–", "1"], ["b", "0 and 2", "0", "4", "–"]]);
  assert.equal(table.columns.length, table.numeric.length);
  assert.equal(comparison(new Set(), cuts, words).caption, "0 cuts. Beside:");
});

test("a bracket opens at the first sentence of a piece, closes at its last, and is nowhere else", () => {
  const level = [[1, 3, 40], [5, 5, 9]];
  assert.deepEqual([1, 2, 3, 4, 5].map((number) => bracket(level, number)), [
    "s2b-bracket s2b-first", "s2b-bracket", "s2b-bracket s2b-last", "", "s2b-bracket s2b-first s2b-last",
  ]);
  assert.equal(bracket([], 1), "");
});

test("the pieces of a parent are those that lie in it", () => {
  const level = [[1, 2, 20], [3, 3, 20], [4, 6, 30]];
  assert.deepEqual(inside([1, 3, 40], level), level.slice(0, 2));
  assert.deepEqual(inside([5, 6, 10], level), []);
  assert.deepEqual(level.slice(1).map((piece) => pieceOf(piece, words)), ["3: 20", "4 to 6: 30"]);
});

test("of a text that its reader typed a list shows the beginning", () => {
  assert.equal(beginning("a".repeat(200)), "a".repeat(200));
  assert.equal(beginning("b".repeat(201)), `${"b".repeat(200)}…`);
});
