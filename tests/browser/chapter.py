"""A chapter of the built book with all its figures alive, which many tests look at in turn, and what waits for it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page, expect

# The number of figures with controls on each page.
POLICY = {"intro": 1, "01-one-size": 2, "02-parents-and-children": 1, "03-sentence-windows": 2}
QUESTIONS = {
    "04-why-retrieval-misses": 2,
    "05-step-back": 1,
    "06-hyde-and-hypothetical-questions": 2,
    "07-full-pipeline": 3,
    "08-ablation": 2,
    "09-where-would-you-cut": 1,
    "10-measure-before-you-choose": 7,
    "11-when-small-to-big-wins": 1,
}
PAGES = POLICY | QUESTIONS

# Resolves when all boxes of the page have stood still for some frames, and no colour changes slowly any more.
STILL = """async () => {
  const moving = () => document.getAnimations().some(animation =>
    animation.playState === 'running' && animation.effect.getComputedTiming().endTime < 10_000);
  const look = () => [scrollY, innerWidth, document.documentElement.scrollHeight,
    ...[...document.querySelectorAll('.s2b-explorer, .s2b-view, .s2b-text, .s2b-plot svg')].flatMap(element => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [x, y, width, height, element.scrollTop];
    })].join();
  const end = performance.now() + 30_000;
  for (let same = 0, last = ''; same < 6;) {
    await new Promise(requestAnimationFrame);
    const now = look();
    same = now === last && !moving() ? same + 1 : 0;
    last = now;
    if (performance.now() > end) throw new Error('the page does not come to rest');
  }
}"""
# Resolves when a figure has been painted at another position than this one.
MOVED = """async (figure, before) => {
  const end = performance.now() + 30_000;
  while (figure.dataset.position === before) {
    await new Promise(requestAnimationFrame);
    if (performance.now() > end) throw new Error(`the figure stays at ${before}`);
  }
}"""
# Notes how a page is at its start, and puts it back there: positions, what was opened, the row that was moved last.
REMEMBER = """() => {
  const all = [...document.querySelectorAll('.s2b-explorer')];
  globalThis.s2bStart = { places: all.map(figure => figure.dataset.position),
    open: document.querySelectorAll('.s2b-surface details[open]').length };
}"""
RESTORE = """async () => {
  const { places, open } = globalThis.s2bStart;
  const frames = async count => { while (count--) await new Promise(requestAnimationFrame); };
  const all = [...document.querySelectorAll('.s2b-explorer')];
  document.documentElement.style.scrollBehavior = 'auto';
  document.documentElement.dataset.theme = document.documentElement.dataset.mode;
  document.activeElement?.blur();
  document.querySelectorAll('.s2b-surface details[open]').forEach(details => { details.open = false; });
  const away = () => all.filter((figure, i) => figure.dataset.position !== places[i]);
  away().forEach(figure => figure.querySelector('.s2b-reset').click());
  const end = performance.now() + 30_000;
  while (away().length && performance.now() < end) await frames(1);
  await frames(2);
  document.querySelectorAll('[data-moved]').forEach(row => { delete row.dataset.moved; });
  scrollTo(0, 0);
  const now = { places: all.map(figure => figure.dataset.position),
    open: document.querySelectorAll('.s2b-surface details[open]').length };
  if (JSON.stringify(now) !== JSON.stringify(globalThis.s2bStart)) {
    throw new Error(`the page is at ${JSON.stringify(now)}, not at its start ${JSON.stringify(globalThis.s2bStart)}`);
  }
}"""


def hosts(page: Page) -> Locator:
    """Where the figures with controls of a page are."""
    return page.locator(".s2b-host:has(.s2b-control), .s2b-host:has(.s2b-settings)")


def awake(host: Locator) -> Locator:
    """The figure of a host, scrolled to and painted."""
    host.scroll_into_view_if_needed()
    figure = host.locator(".s2b-explorer")
    expect(figure).to_have_attribute("data-ready", "1")
    return figure


def opened(visit: Callable, book: str, name: str, **options: object) -> tuple[Page, list[Locator]]:
    """A chapter's page, visited for one test alone, and its figures with controls, painted."""
    page = visit(book, **options).open(f"book/{name}.html")
    return page, [awake(hosts(page).nth(i)) for i in range(PAGES[name])]


@dataclass
class Chapter:
    """A page that was visited once, with every figure painted; each test finds it as it was at first."""

    name: str
    visit: object
    size: dict[str, int]
    figures: list[Locator] = field(default_factory=list)
    # What the page had asked for before anything was scrolled, and when all its figures were alive.
    first: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def page(self) -> Page:
        return self.visit.page

    def wake(self) -> None:
        page = self.visit.open(f"book/{self.name}.html")
        page.wait_for_load_state("networkidle")
        self.first = list(self.visit.requests)
        for host in page.locator(".s2b-host").all():
            awake(host)
        self.asked = list(self.visit.requests)
        self.figures = hosts(page).locator(".s2b-explorer").all()
        assert len(self.figures) == PAGES[self.name]
        page.evaluate(REMEMBER)

    def restore(self) -> None:
        self.page.emulate_media(media="screen")
        self.page.set_viewport_size(self.size)
        self.page.evaluate(RESTORE)
        still(self.page)

    def sized(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})
        still(self.page)

    def themed(self, theme: str) -> None:
        """Show the page in a theme, as its switch does."""
        self.page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        still(self.page)

    @contextlib.contextmanager
    def lent(self) -> Iterator[Chapter]:
        """The page for one test, which is blamed for what goes wrong on it meanwhile."""
        self.restore()
        yield self
        faults, self.visit.faults[:] = [*self.visit.faults], []
        assert faults == []


@dataclass(frozen=True)
class Plain:
    """A chapter in a browser without scripts: nothing on it changes."""

    name: str
    page: Page


def still(page: Page) -> None:
    """Wait until nothing on a page moves."""
    page.evaluate(STILL)


# ---------------------------------------------------------------- controls


def options(control: Locator) -> list[str]:
    """Every value that a native control can take, as what `set_to` takes."""
    kind = control.evaluate("c => c.type")
    if kind == "range":
        return [str(value) for value in range(int(control.get_attribute("max")) + 1)]
    if kind == "checkbox":
        return ["off", "on"]
    return control.locator("option").evaluate_all("all => all.map(o => o.value)")


def value(control: Locator) -> str:
    return control.evaluate("c => c.type === 'checkbox' ? (c.checked ? 'on' : 'off') : c.value")


def set_to(figure: Locator, control: Locator, wanted: str) -> None:
    """Put a control on another value than it has, as its reader would; returns when the figure shows it."""
    before, kind = figure.get_attribute("data-position"), control.evaluate("c => c.type")
    if kind == "range":
        control.fill(wanted)
    elif kind == "checkbox":
        control.set_checked(wanted == "on")
    else:
        control.select_option(wanted)
    figure.evaluate(MOVED, before)


def controls(figure: Locator) -> Iterator[tuple[str, Locator]]:
    """The name and the native control of each row."""
    for row in figure.locator(".s2b-control").all():
        yield row.get_attribute("data-name"), row.locator("input:not(.s2b-own), select").first


# ---------------------------------------------------------------- a walk

# What a figure shows, without the ids that plotly.js makes up: the points of its charts, and all other views.
SHOWN = """views => JSON.stringify([...views.querySelectorAll('.s2b-view')].map(view =>
  [...view.querySelectorAll('.js-plotly-plot')].map(plot => plot.data).concat(
    view.dataset.kind === 'figure' ? [] : view.innerHTML)))"""
# Whether the best match, where there is one, is inside its box, once what comes into view has been laid out.
BEST_IS_SEEN = """async figure => {
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  return [...figure.querySelectorAll('.s2b-text')].every(box => {
    const [best, frame] = [box.querySelector('[data-best]')?.getBoundingClientRect(), box.getBoundingClientRect()];
    return !best || (best.bottom > frame.top && best.top < frame.bottom);
  });
}"""
# What speaks when a figure changes.
VOICES = """figure => [...figure.querySelectorAll('[aria-live=polite], output:not([aria-live=off]), [role=status]')]
  .filter(element => !element.matches('.s2b-badge')).map(element => element.className || element.dataset.kind)"""
LOOK = f"""async figure => ({{
  best: await ({BEST_IS_SEEN})(figure),
  shown: ({SHOWN})(figure.querySelector('.s2b-views')),
  said: figure.querySelector('[aria-live=polite]').innerText,
  voices: ({VOICES})(figure).length,
}})"""


@dataclass(frozen=True)
class Step:
    """What a figure showed and said when one of its controls had been put on a value; `control` is "" at the start."""

    control: str
    value: str
    best: bool
    shown: str
    said: str
    voices: int


def walked(figure: Locator) -> list[Step]:
    """Every value of every control in turn; each control stays at its last one while the next is moved."""
    steps = [Step("", "", **figure.evaluate(LOOK))]
    for label, control in controls(figure):
        for other in options(control):
            if other != value(control):
                set_to(figure, control, other)
                steps.append(Step(label, other, **figure.evaluate(LOOK)))
    return steps


def shown(figure: Locator) -> str:
    return figure.locator(".s2b-views").evaluate(SHOWN)
