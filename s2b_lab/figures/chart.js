// Charts: plotly.js, loaded when first needed, in the colours and the width of the page.
import { make } from "./element.js";

const NARROW = 560;
const HEIGHT = 360;

/** A layout in the colours and the width of the page; what the author set stays. */
export function themed(layout, { ink, grid, surface, width }) {
  const axis = { gridcolor: grid, zerolinecolor: grid, linecolor: grid, automargin: true };
  const themedLayout = structuredClone(layout);
  for (const name of new Set(["xaxis", "yaxis", ...Object.keys(layout).filter((key) => /^[xy]axis\d+$/.test(key))])) {
    themedLayout[name] = { ...axis, ...themedLayout[name] };
  }
  // A name is written on the page's own ground, since a bar may be below it.
  themedLayout.annotations = layout.annotations?.map((note) => (note.text ? { bgcolor: surface, ...note } : note));
  const below = { orientation: "h", x: 0, xanchor: "left", y: 0, yanchor: "bottom", yref: "container" };
  return {
    height: HEIGHT,
    dragmode: false,
    ...themedLayout,
    autosize: true,
    width: undefined,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "inherit", ...layout.font, color: ink },
    margin: { l: 44, r: 12, t: layout.title ? 44 : 16, b: 40, ...layout.margin },
    hoverlabel: { bgcolor: surface, bordercolor: grid, align: "left", namelength: -1, ...layout.hoverlabel, font: { color: ink } },
    legend: { ...layout.legend, ...(width < NARROW ? below : {}) },
  };
}

/** Run a script, and promise what `found` gives right after it; another one may put its own there later. */
export function loadScript(url, found, problem) {
  return new Promise((done, failed) => {
    const script = make("script", "", undefined, { src: url });
    script.onload = () => done(found());
    script.onerror = () => failed(new Error(problem));
    document.head.append(script);
  });
}

/** plotly.js, each file of the site once a page, whoever asks first; where there is no address, bytes that Python sends. */
export function plotly(url, fromPython, words) {
  const known = (globalThis.s2bPlotly ??= {});
  known[url] ??= (async () => {
    if (!url && globalThis.Plotly?.react) return globalThis.Plotly;
    const source = url || URL.createObjectURL(new Blob([await fromPython()], { type: "text/javascript" }));
    const library = await loadScript(source, () => globalThis.Plotly, words.no_plotly);
    if (!url) URL.revokeObjectURL(source);
    return library;
  })();
  known[url].catch(() => { delete known[url]; });
  return known[url];
}

/** A text in lines of at most `room` letters; wide ones, Chinese say, count as two and can break anywhere. */
export function wrapped(text, room) {
  const lines = [""];
  let used = 0;
  for (const part of text.match(/<br\s*\/?>|[\u2e80-\uffef]|\s+|[^\s\u2e80-\uffef<]+|</gu) ?? []) {
    const width = /[\u2e80-\uffef]/u.test(part) ? 2 : part.length;
    const breaks = /^<br/.test(part);
    if (breaks || (used + width > room && used)) { lines.push(""); used = 0; }
    if (breaks || (!used && /^\s+$/.test(part))) continue;
    lines[lines.length - 1] += part;
    used += width;
  }
  return lines.map((line) => line.trimEnd()).join("<br>");
}

/** A trace whose hover texts are no wider than there is room for. */
function hovering(trace, room) {
  const { hovertext } = trace;
  if (hovertext === undefined) return { ...trace };
  return { ...trace, hovertext: Array.isArray(hovertext) ? hovertext.map((text) => wrapped(String(text), room)) : wrapped(String(hovertext), room) };
}

export function prepareFigure(view, box) {
  if (!box.firstChild) box.append(make("div", "s2b-plot"), make("p", "s2b-alt"));
  box.firstChild.style.setProperty("--s2b-plot", `${view.layout.height ?? HEIGHT}px`);
  box.querySelector(".s2b-alt").textContent = view.alt;
}

export async function drawFigure(view, box, words, Plotly) {
  const plot = box.querySelector(".s2b-plot");
  // Its sentence and its table speak for a chart; one without a sentence has at least a name.
  if (view.alt) plot.removeAttribute("role");
  else plot.setAttribute("role", "img");
  plot.setAttribute("aria-hidden", !!view.alt);
  plot.setAttribute("aria-label", view.alt ? "" : words.figure);
  const style = getComputedStyle(box);
  const color = (name) => style.getPropertyValue(name).trim();
  const look = { ink: color("--s2b-ink"), grid: color("--s2b-grid"), surface: color("--s2b-surface"), width: box.clientWidth };
  const layout = { ...themed(view.layout, look), height: plot.clientHeight }; // two of a column are lower, by CSS
  const room = Math.max(14, Math.floor(look.width / 16)); // a label has one half of the width, a letter takes 8 pixels
  await Plotly.react(plot, view.data.map((trace) => hovering(trace, room)), layout, { displayModeBar: false });
  // On paper, which is narrower, the drawing becomes smaller as a whole.
  const [width, height] = [plot.clientWidth, plot.clientHeight];
  plot.style.setProperty("--s2b-ratio", `${width} / ${height}`);
  for (const drawing of plot.querySelectorAll(".main-svg")) drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
  box.dataset.drawn = "1";
}
