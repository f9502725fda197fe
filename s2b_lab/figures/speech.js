// For those who listen: one voice a figure, and Chinese that says that it is Chinese.
import { make } from "./element.js";

/** What is read out when it changes: the first note, or where there is none, the sentence of the first chart. */
export function voiceOf(kinds) {
  const note = kinds.indexOf("note");
  return note < 0 ? kinds.indexOf("figure") : note;
}

/** Give the voice to one of the views in their boxes, and take it from the others. */
export function announce(slots) {
  const voice = voiceOf(slots.map((slot) => slot.kind));
  slots.forEach(({ kind, box }, i) => {
    const said = kind === "figure" ? box.querySelector(".s2b-alt") : box;
    if (i === voice) said.setAttribute("aria-live", "polite");
    else said.removeAttribute("aria-live");
  });
}

/** A text cut where runs begin and end: [[text, whether it is a run]]; `run` is Python's, since Python decides. */
export function runs(text, run) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(run)) {
    parts.push([text.slice(at, found.index), false], [found[0], true]);
    at = found.index + found[0].length;
  }
  return [...parts, [text.slice(at), false]].filter(([part]) => part);
}

// What has a language already, and what is no text to read.
const OTHER = "[lang], .s2b-plot, textarea";

/** Put each run of Chinese of what is drawn into a span that says so; an option, which holds none, says it itself. */
export function speak(box, pattern) {
  const run = new RegExp(pattern, "gu");
  const walk = document.createTreeWalker(box, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
    if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
    return node.matches(OTHER) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
  });
  const texts = [];
  while (walk.nextNode()) texts.push(walk.currentNode);
  for (const text of texts) {
    const parts = runs(text.data, run);
    if (!parts.some(([, chinese]) => chinese)) continue;
    if (text.parentElement.matches("option")) text.parentElement.lang = "zh";
    else text.replaceWith(...parts.map(([part, chinese]) => (chinese ? make("span", "", part, { lang: "zh" }) : part)));
  }
}
