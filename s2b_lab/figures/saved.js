// What a notebook saves. A widget's view is saved as no more than the number of a model that is gone when the notebook is
// opened again, so JupyterLab says "Error displaying widget". Once Python is heard it therefore puts HTML, the picture
// itself, in the place of the view. That HTML is saved, and hidden while the living figure stands beside it.
import { make } from "./element.js";

/** Draw a figure beside each saved picture of this model, now and whenever one comes; gives a function that ends it. */
export function drawBeside(token, draw) {
  const name = `[data-saved="${token}"]`;
  const look = (node) => { for (const picture of node.querySelectorAll(name)) standBeside(picture, draw); };
  const watch = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node.parentElement) look(node.parentElement);
  });
  watch.observe(document.documentElement, { childList: true, subtree: true });
  look(document);
  return () => watch.disconnect();
}

function standBeside(picture, draw) {
  const output = picture.closest(".jp-OutputArea-output");
  if (!output || output.dataset.beside) return; // another kind of notebook, or a newer picture where one was before
  output.dataset.beside = "1";
  output.style.display = "none";
  const box = make("div", "jp-OutputArea-output");
  output.after(box);
  draw(box);
}
