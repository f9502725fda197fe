// For those who listen: one voice a figure, and Chinese that says that it is Chinese.
import { amountOf, summaryOf, turned } from "./draw.js";
import { make } from "./element.js";

/** What is read out when it changes: the first note, or where there is none, the first chart that has a sentence. */
export function voiceOf(views) {
  const note = views.findIndex(({ kind }) => kind === "note");
  return note < 0 ? views.findIndex(({ kind, alt }) => kind === "figure" && alt) : note;
}

/** Give the voice to one of the views in their boxes, and take it from the others; `own` speaks where none can. */
export function announce(views, boxes, own, words) {
  const voice = voiceOf(views);
  views.forEach(({ kind }, i) => {
    const speaker = kind === "figure" ? boxes[i].querySelector(".s2b-alt") : boxes[i];
    if (i === voice) speaker.setAttribute("aria-live", "polite");
    else speaker.removeAttribute("aria-live");
  });
  own.hidden = voice >= 0;
  own.textContent = own.hidden ? "" : said(views, words);
  if (own.hidden) own.removeAttribute("aria-live");
  else own.setAttribute("aria-live", "polite");
}

const FIRST = 80; // letters of a text

const inRow = ([row]) => (row ?? []).join(", ");

function spoken({ text, marks, title, words: { legend } }, words) {
  const counts = Object.entries(legend).filter(([kind]) => marks[kind]).map(([kind, name]) => `${name}: ${marks[kind].length}`);
  const [start, end] = (marks.hit ?? marks.context ?? marks.gold ?? [[0, text.length]])[0] ?? [0, 0];
  return [title || words.text, ...counts, text.slice(start, Math.min(end, start + FIRST))];
}

const SPOKEN = {
  passages: spoken,
  table: (view, words) => [summaryOf(view, words), inRow(view.rows)],
  meter: (view, words) => [`${view.label}: ${amountOf(view, words)}`],
  cuts: ({ title }, words) => [title || words.text, words.cuts.how],
  stages: (view, words) => [view.title || words.stages, view.stages.map(({ name }) => name).join(", ")],
  figure: (view, words) => {
    const shown = view.table && turned(view.table);
    return shown ? [summaryOf({ caption: words.data, rows: shown.rows }, words), inRow(shown.rows)] : [words.figure];
  },
};

/** What views without a note and a chart's sentence show, in words that are in them: names, counts, what comes first. */
export function said(views, words) {
  const parts = views.flatMap((view) => SPOKEN[view.kind](view, words)).map((part) => part.trim()).filter(Boolean);
  return parts.map((part) => (/[.!?…。！？]$/u.test(part) ? part : `${part}.`)).join(" ");
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
