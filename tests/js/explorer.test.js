import assert from "node:assert/strict";
import { test } from "node:test";
import { clamped, classes, copied, cut, examplesAt, keyOf, listed, paragraphs, resolver, themed } from "../../s2b_lab/widgets/explorer.js";

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
  const list = listed({ hit: [[4, 6, "0.9"]], context: [[0, 8], [9, 12]] });
  assert.deepEqual(list, [mark("context", 0, 8, 0), mark("context", 9, 12, 1), mark("hit", 4, 6, 0, "0.9")]);
});

test("neighbouring chunks differ in tint, an overlap shows both, two deliveries show as twice", () => {
  assert.equal(classes([mark("chunk", 0, 9, 1)]), "s2b-chunk s2b-t1");
  assert.notEqual(classes([mark("chunk", 0, 9, 4)]), classes([mark("chunk", 9, 12, 5)]));
  assert.equal(classes([mark("chunk", 0, 9, 3), mark("chunk", 7, 12, 4)]), "s2b-chunk s2b-t3 s2b-overlap s2b-u0");
  assert.equal(classes([mark("context", 0, 9), mark("context", 5, 12, 1)]), "s2b-context s2b-twice");
});

test("references resolve through references, to the same object each time", () => {
  const resolve = resolver(["a text that many frames share", { text: { $: 0 }, marks: { hit: [[0, 1]] } }, [{ $: 1 }, { $: 1 }]]);
  const [first, second] = resolve({ $: 2 });
  assert.equal(first.text, "a text that many frames share");
  assert.equal(first, second);
  assert.equal(resolve({ $: 2 }), resolve({ $: 2 }));
  assert.deepEqual(resolve([null, 0, "", false, { a: [null] }]), [null, 0, "", false, { a: [null] }]);
});

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

test("a figure takes the page's colours, keeps what its author set, and is left unchanged itself", () => {
  const layout = { xaxis: { gridcolor: "red" }, yaxis2: {}, legend: { orientation: "v" }, height: 200 };
  const before = structuredClone(layout);
  const look = { ink: "#111", grid: "#ddd", surface: "#fff" };
  const wide = themed(layout, { ...look, width: 900 });
  assert.equal(wide.xaxis.gridcolor, "red");
  assert.equal(wide.yaxis2.gridcolor, "#ddd");
  assert.equal(wide.font.color, "#111");
  assert.equal(wide.height, 200);
  assert.equal(wide.legend.orientation, "v");
  assert.equal(themed(layout, { ...look, width: 340 }).legend.orientation, "h");
  assert.deepEqual(layout, before);
});

test("paragraphs begin after blank lines, and pieces are cut there too", () => {
  assert.deepEqual(paragraphs("a\n\nb\nc\n \t\n\nd"), [0, 3, 11]);
  assert.deepEqual(paragraphs(""), [0]);
  const pieces = cut(8, [mark("context", 1, 7)], [0, 3]);
  assert.deepEqual(pieces.map(({ start, end, marks }) => [start, end, marks.length]), [[0, 1, 0], [1, 3, 1], [3, 7, 1], [7, 8, 0]]);
});

test("stages are copied as JSON, each row of a table as an object", () => {
  const table = { columns: ["rank", "child"], rows: [["1", "a/1"], ["2", "b/2"]] };
  const view = { stages: [
    { name: "search", ms: 1.5, given: { text: "1 vector" }, made: table },
    { name: "answer", ms: null, given: { text: "" }, made: { text: "in 1936" } },
  ] };
  assert.deepEqual(JSON.parse(copied(view)), [
    { stage: "search", ms: 1.5, in: "1 vector", out: [{ rank: "1", child: "a/1" }, { rank: "2", child: "b/2" }] },
    { stage: "answer", ms: null, in: "", out: "in 1936" },
  ]);
});
