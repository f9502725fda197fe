import assert from "node:assert/strict";
import { test } from "node:test";
import { resolver } from "../../s2b_lab/figures/widget.js";

test("references resolve through references, to the same object each time", () => {
  const resolve = resolver(["a text that many frames share", { text: { $: 0 }, marks: { hit: [[0, 1]] } }, [{ $: 1 }, { $: 1 }]]);
  const [first, second] = resolve({ $: 2 });
  assert.equal(first.text, "a text that many frames share");
  assert.equal(first, second);
  assert.equal(resolve({ $: 2 }), resolve({ $: 2 }));
  assert.deepEqual(resolve([null, 0, "", false, { a: [null] }]), [null, 0, "", false, { a: [null] }]);
});

test("a reference with keys beside it is what it refers to with these, to the same object each time", () => {
  const resolve = resolver([{ text: "shared", lang: "en", marks: 0 }, { hit: [[0, 1]] }]);
  const [view, same] = resolve([{ $: 0, marks: { $: 1 } }, { $: 0, marks: { $: 1 } }]);
  assert.deepEqual(view, { text: "shared", lang: "en", marks: { hit: [[0, 1]] } });
  assert.equal(view, same);
  assert.notEqual(resolve({ $: 0, marks: 2 }), view);
  assert.deepEqual(resolve({ $: 0 }), { text: "shared", lang: "en", marks: 0 });
});

test("a list of shared parts is a list of their places", () => {
  const resolve = resolver([{ chunk: "a/1" }, { $: 0, score: 0.5 }, { $: [1, 0] }]);
  assert.deepEqual(resolve({ hits: { $: [1, 0] } }), { hits: [{ chunk: "a/1", score: 0.5 }, { chunk: "a/1" }] });
  assert.deepEqual(resolve({ $: 2 }), [{ chunk: "a/1", score: 0.5 }, { chunk: "a/1" }]);
});
