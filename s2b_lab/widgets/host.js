// Brings the figures of a built page to life: the widget's own module over a model that has a recording and no kernel.
import explorer from "./explorer.js";

const beside = (path) => new URL(path, import.meta.url).href;

async function data(host) {
  const file = host.dataset.recording;
  if (!file) return JSON.parse(host.querySelector("script[type='application/json']").textContent);
  const response = await fetch(beside(`../recordings/${file}`));
  if (!response.ok) throw new Error(`the recording ${file} could not be loaded (${response.status})`);
  return response.json();
}

async function boot(host) {
  try {
    const traits = { ...(await data(host)), plotly_url: beside("plotly.min.js") };
    const nothing = () => {};
    explorer.render({ model: { get: (name) => traits[name], on: nothing, off: nothing, send: nothing }, el: host });
    requestAnimationFrame(() => host.querySelector(".s2b-twin").remove()); // in the frame that draws the figure
  } catch (problem) {
    // The static twin stays; its reader is told why nothing moves.
    const says = Object.assign(document.createElement("p"), { className: "s2b-error", textContent: `This figure stays still: ${problem.message}.` });
    host.append(says);
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
