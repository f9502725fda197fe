// What has to be seen: the best hit of a text, whenever the text is drawn anew, comes into view or changes its width.
const QUIET = 3; // frames in which it stood still
const SCROLLS = ["wheel", "touchmove", "pointerdown", "keydown"];

/** Scroll the box, never the page, so that the best hit, which Python names first, can be seen; true if it was. */
export function reveal(box) {
  const kinds = ["[data-best]", ".s2b-context", ".s2b-gold"];
  const first = kinds.map((kind) => box.querySelector(kind)).find(Boolean);
  if (!first) return true;
  const [mark, frame] = [first.getBoundingClientRect(), box.getBoundingClientRect()];
  const room = box.clientHeight / 4;
  if (mark.top >= frame.top && (mark.bottom <= frame.bottom || mark.top <= frame.top + room + 1)) return true;
  const before = box.scrollTop;
  box.scrollTop += mark.top - frame.top - room;
  return Math.abs(box.scrollTop - before) < 1;
}

/** Keep the best hit of a text box in sight; gives what is called when other text is drawn into it.
 *
 * Paragraphs out of sight have only a guessed height: once they are near, they take another, and the hit moves. So it
 * is looked for again until it has stood still, and when the box is first seen. A reader who scrolls has the last word.
 */
export function keepBest(box) {
  let held = true;
  let quiet = QUIET;
  const step = () => {
    quiet = !held ? QUIET : reveal(box) ? quiet + 1 : 0;
    if (quiet < QUIET) requestAnimationFrame(step);
  };
  const settle = () => {
    if (!held) return;
    const resting = quiet >= QUIET;
    quiet = 0;
    if (resting) requestAnimationFrame(step);
  };
  for (const kind of SCROLLS) box.addEventListener(kind, () => { held = false; }, { passive: true });
  new IntersectionObserver((entries) => { if (entries.at(-1).isIntersecting) settle(); }).observe(box);
  new ResizeObserver(settle).observe(box);
  return () => {
    held = true;
    reveal(box);
    settle();
  };
}

/** A box that is too low for its text, as a long note is on a phone, can be scrolled by keyboard. */
export function keepReachable(box) {
  new ResizeObserver(() => {
    if (box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }).observe(box);
}
