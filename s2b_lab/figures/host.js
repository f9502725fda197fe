// Brings the figures of a built page to life: the widget's own module over a model that has a recording and no kernel.
import { loadScript } from "./chart.js";
import { filled, make } from "./element.js";
import explorer from "./widget.js";

const here = import.meta.url;
const beside = (path) => new URL(path, here).href;

/** What is recorded in a file. A page that is opened from a folder can fetch none, but it may run it as a script. */
async function recorded(file, missing) {
  const url = beside(`../recordings/${file}`);
  if (location.protocol === "file:") {
    return loadScript(`${url}.js`, () => globalThis.s2bRecordings[file], filled(missing, { file, status: "file:" }));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(filled(missing, { file, status: response.status }));
  return response.json();
}

async function data(host) {
  const { recording, missing } = host.dataset;
  return recording ? recorded(recording, missing) : JSON.parse(host.querySelector("script[type='application/json']").textContent);
}

async function boot(host) {
  try {
    const traits = await data(host);
    traits.plotly_url = beside(`plotly-${traits.recording.bundle ?? "basic"}.min.js`);
    const nothing = () => {};
    explorer.render({ model: { get: (name) => traits[name], on: nothing, off: nothing, send: nothing }, el: host });
    requestAnimationFrame(() => host.querySelector(".s2b-twin").remove()); // in the frame that draws the figure
  } catch (problem) {
    // The static twin stays; its reader is told why nothing moves.
    host.append(make("p", "s2b-error", filled(host.dataset.fault, { problem: problem.message })));
  }
}

// A figure, and its recording, loads when it is about to be seen.
const soon = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    soon.unobserve(target);
    boot(target);
  }
}, { rootMargin: "300px" });
document.querySelectorAll(".s2b-host").forEach((host) => soon.observe(host));

// On a wide window a figure with controls reaches over the margin: the list there folds while one of them is in sight.
const margin = document.querySelector("div.bd-sidebar-secondary");
const seen = new Set();
const over = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) seen[isIntersecting ? "add" : "delete"](target);
  margin?.classList.toggle("hide", seen.size > 0);
}, { rootMargin: "0px 0px -33% 0px" });
document.querySelectorAll(".s2b-host:has(.s2b-settings)").forEach((host) => over.observe(host));
