// What a notebook saves. A widget's view is saved as no more than the number of a model that is gone when the notebook is
// opened again, so JupyterLab says "Error displaying widget". In its pages an output therefore holds HTML, the picture
// itself. That HTML is saved, and hidden while the living figure stands beside it.
import { make } from "./element.js";

const OUTPUT = "jp-OutputArea-output";

/** Whether this page is one of Jupyter's, where figures can stand beside their pictures. */
export const isJupyters = () => document.getElementById("jupyter-config-data") !== null;

/**
 * Draw beside each saved picture of this model, now and whenever one comes; gives a function that ends it. `draw` is
 * given a box to draw in and the picture, and may promise to.
 */
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

async function standBeside(picture, draw) {
  const output = picture.closest(`.${OUTPUT}`);
  if (!output || output.dataset.beside) return; // another kind of notebook, or a newer picture where one was before
  output.dataset.beside = "1";
  output.style.display = "none";
  const box = make("div", OUTPUT);
  output.after(box);
  try {
    await draw(box, picture);
  } catch (problem) {
    console.warn("a figure stays a picture:", problem);
    box.remove();
    output.style.display = "";
  }
}

/** A box of widgets with figures among them, drawn by the notebook's own widget manager; gives a function that ends it. */
export async function drawBox(manager, id, el) {
  const view = await manager.create_view(await manager.get_model(id));
  const shown = view.luminoWidget;
  shown.constructor.attach(shown, el);
  return () => view.remove();
}
