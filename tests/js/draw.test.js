import assert from "node:assert/strict";
import { test } from "node:test";
import { classes, cut, listed, rowsOf } from "../../s2b_lab/figures/draw.js";

const mark = (kind, start, end, order = 0, label = "") => ({ kind, start, end, order, label });

test("a text without marks is one piece, an empty text none", () => {
  assert.deepEqual(cut(5, []), [{ start: 0, end: 5, marks: [] }]);
  assert.deepEqual(cut(0, []), []);
});

test("nested and overlapping marks cut at every boundary, and pieces cover the text without a gap", () => {
  const marks = [mark("context", 2, 8), mark("hit", 4, 6), mark("gold", 5, 9)];
  const pieces = cut(10, marks);
  assert.deepEqual(pieces.map(({ start, end }) => [start, end]), [[0, 2], [2, 4], [4, 5], [5, 6], [6, 8], [8, 9], [9, 10]]);
  assert.deepEqual(pieces.map((piece) => piece.marks.map((m) => m.kind).join("+")),
    ["", "context", "context+hit", "context+hit+gold", "context+gold", "gold", ""]);
});

test("cutting agrees with asking every character for its marks", () => {
  let seed = 7;
  const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  for (let round = 0; round < 200; round++) {
    const length = 1 + random(30);
    const marks = Array.from({ length: random(8) }, (_, i) => {
      const start = random(length);
      return mark("chunk", start, start + random(length - start + 1), i);
    });
    const pieces = cut(length, marks);
    assert.equal(pieces.reduce((sum, { start, end }) => sum + end - start, 0), length);
    for (const { start, end, marks: over } of pieces) {
      for (let at = start; at < end; at++) {
        assert.deepEqual(over.map((m) => m.order), marks.filter((m) => m.start <= at && at < m.end).map((m) => m.order));
      }
    }
  }
});

test("a mark of no length covers nothing", () => {
  assert.ok(cut(4, [mark("hit", 2, 2)]).every(({ marks }) => !marks.length));
});

test("marks by kind become a list, outer kinds first, with their order and label", () => {
  const list = listed({ hit: [[4, 6, "0.9"]], context: [[0, 8], [9, 12]] }, ["context", "hit"]);
  assert.deepEqual(list, [mark("context", 0, 8, 0), mark("context", 9, 12, 1), mark("hit", 4, 6, 0, "0.9")]);
});

test("neighbouring chunks differ in tint, an overlap shows both, two deliveries show as twice", () => {
  assert.equal(classes([mark("chunk", 0, 9, 1)]), "s2b-chunk s2b-t1");
  assert.notEqual(classes([mark("chunk", 0, 9, 4)]), classes([mark("chunk", 9, 12, 5)]));
  assert.equal(classes([mark("chunk", 0, 9, 3), mark("chunk", 7, 12, 4)]), "s2b-chunk s2b-t3 s2b-overlap s2b-u0");
  assert.equal(classes([mark("context", 0, 9), mark("context", 5, 12, 1)]), "s2b-context s2b-twice");
});

test("pieces are cut where paragraphs begin, too", () => {
  const pieces = cut(8, [mark("context", 1, 7)], [0, 3]);
  assert.deepEqual(pieces.map(({ start, end, marks }) => [start, end, marks.length]), [[0, 1, 0], [1, 3, 1], [3, 7, 1], [7, 8, 0]]);
});

test("rows that stand in the data of the stages are shown from there", () => {
  const part = { of: "contexts", columns: ["number", "score", "span", "because of"], keys: ["#", "score", "span", "hits"], numeric: [1, 1, 0, 0] };
  const data = { contexts: [{ score: 0.741725, span: [3, 9], hits: ["a/1", "a/2"] }, { score: 1, span: [12, 40], hits: [] }] };
  assert.deepEqual(rowsOf(part, data).rows, [["1", "0.742", "3-9", "a/1, a/2"], ["2", "1", "12-40", ""]]);
  const table = { columns: ["a"], rows: [["b"]], numeric: [0], caption: "" };
  assert.equal(rowsOf(table, data), table);
});
