import assert from "node:assert/strict";
import { test } from "node:test";
import { themed, wrapped } from "../../s2b_lab/figures/chart.js";

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

test("a name in a chart is written on the page's ground, an arrow has none, and what its author set stays", () => {
  const annotations = [{ text: "chance" }, { ax: 1 }, { text: "mine", bgcolor: "red" }];
  const shown = themed({ annotations }, { ink: "#111", grid: "#ddd", surface: "#fff", width: 900 }).annotations;
  assert.deepEqual(shown, [{ text: "chance", bgcolor: "#fff" }, { ax: 1 }, { text: "mine", bgcolor: "red" }]);
  assert.deepEqual(annotations[0], { text: "chance" });
});

test("hover texts are cut into lines between words, and between Chinese characters, which are twice as wide", () => {
  assert.equal(wrapped("The clock is stopped while the ticket is handled", 16), "The clock is<br>stopped while<br>the ticket is<br>handled");
  assert.equal(wrapped("出差回来超过三十天", 8), "出差回来<br>超过三十<br>天");
  assert.equal(wrapped("一 to 二<br>three", 20), "一 to 二<br>three");
  assert.equal(wrapped("incomprehensibilities", 8), "incomprehensibilities");
  assert.equal(wrapped("a < b & c", 20), "a < b & c");
  assert.equal(wrapped("", 8), "");
});
