// What every part of a figure is made with: elements, their ids, and sentences with a gap to fill.

export function make(tag, className, text, attributes = {}) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

let lastId = 0;
export const newId = () => `s2b-${Math.random().toString(36).slice(2, 8)}-${++lastId}`;

/** Words of Python with values in place of their {names}. */
export const filled = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** A number as it is shown: 1,234. */
export const shownNumber = (value) => value.toLocaleString("en");
