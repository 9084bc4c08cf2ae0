"""What is checked of a page in a browser: its layout at three widths, its charts, its focus, and obstacles.

axe is the costly part, as it looks at every pixel's colours. It therefore runs once in light colours on a wide screen
and once in dark colours on a phone, after rows that are like others and the drawings of charts have been taken out.
"""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, Request, TimeoutError

WIDE, ZOOMED, PHONE = 1280, 640, 360  # a window of 1280 pixels at 200 % zoom has 640
SETTLED_MS = 20_000  # how long a page may take to fit into a window of another width

LAYOUT = """(highest) => {
  const faults = [];
  const EMPTY = ["", "–", "not measured"];
  const TWO_LINES = 44; // pixels
  const text = (cell) => cell.innerText.trim();
  for (const table of document.querySelectorAll("table")) {
    const rows = [...table.querySelectorAll("tbody tr:not(.heading)")].filter((row) => row.checkVisibility());
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, place) => {
      const cells = rows.map((row) => row.cells[place]).filter(Boolean);
      const isEmpty = (cell) => EMPTY.includes(text(cell)) && !cell.querySelector("input, svg");
      if (cells.length && cells.every(isEmpty)) faults.push(`empty column: ${table.dataset.table} ${text(head)}`);
    });
    const high = rows.filter((row) => row.getBoundingClientRect().height > 60);  // two lines of a table
    const first = high.length && text(high[0]).slice(0, 60);
    const long = [...table.querySelectorAll("thead .column-head")].filter(
      (head) => head.getBoundingClientRect().height > TWO_LINES);
    faults.push(...long.map((head) => `head of more than two lines: ${table.dataset.table} ${text(head)}`));
    if (high.length) faults.push(`${high.length} rows over 60 px: ${table.dataset.table}: ${first}`);
  }
  const height = document.documentElement.scrollHeight;
  const contents = document.querySelector("nav[aria-label=Contents]");
  if (height > 6000 && !contents) faults.push(`${height} px without contents`);
  if (highest && height > highest) faults.push(`${height} px high, more than readers will look at`);
  return faults;
}"""
OPEN_ALL = """async () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const plot of document.querySelectorAll("[data-chart]")) {  // charts are drawn when they come near the window
    plot.scrollIntoView();
    await new Promise((done) => setTimeout(done, 50));
  }
  scrollTo(0, 0);
}"""
DRAWN = "() => [...document.querySelectorAll('[data-chart]')].every((plot) => plot.querySelector('.main-svg'))"
HEIGHTS = """[...document.querySelectorAll("[data-chart]")]
  .map((plot) => [plot, plot.querySelector(".main-svg").getBoundingClientRect().height])
  .filter(([plot, height]) => height !== Number(plot.dataset.height))
  .map(([plot, height]) => `${plot.dataset.chart} is ${height} px high, not ${plot.dataset.height}`)"""
FITS = "width => innerWidth === width && document.documentElement.scrollWidth <= width"
SIDEWAYS = "document.documentElement.scrollWidth"
CUT = """[...document.querySelectorAll("td, tbody th")]
  .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => `cut: ${cell.innerText}`)"""
# Tables of compared models have a column for each of them.
TOO_WIDE = """[...document.querySelectorAll("table:not([data-table^=compared-], .fold [data-table=breakdown])")]
  .filter((table) => table.scrollWidth > table.parentElement.clientWidth + 1)
  .map((table) => `wider than its page: ${table.dataset.table}`)"""
THIN = """() => {
  for (const plot of document.querySelectorAll("[data-chart]")) plot.replaceWith(plot.cloneNode(false));
  for (const body of document.querySelectorAll("tbody")) {
    const seen = new Map();
    for (const row of [...body.rows]) {
      seen.set(row.className, (seen.get(row.className) ?? 0) + 1);
      if (seen.get(row.className) > 2) row.remove();
    }
  }
}"""
UNSEEN_FOCUS = """[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
  .filter((stop) => {
    if (!stop.checkVisibility()) return false;
    stop.focus({ focusVisible: true, preventScroll: true });
    return stop !== document.activeElement || getComputedStyle(stop).outlineStyle === "none" || stop.tabIndex > 0;
  })
  .map((stop) => `no visible focus: ${stop.outerHTML.slice(0, 120)}`)"""
AXE = "() => axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)"


def prepare(context: BrowserContext) -> None:
    """Put axe into every page of a context, instead of into each page for every look at it."""
    context.add_init_script(Axe().axe_script)


def listen(page: Page, site: str) -> list[str]:
    """Return the list to which all requests to other sites, errors of scripts and breaches of the policy go."""
    breaches: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((site, "data:", "blob:")):
            breaches.append(f"foreign: {request.url}")

    page.on("request", note)
    page.on("pageerror", lambda error: breaches.append(str(error)))
    page.on("console", lambda m: breaches.append(m.text) if "Security Policy" in m.text or "CSP" in m.text else None)
    return breaches


def faults(page: Page, address: str, highest: int | None = None, highest_open: int | None = None) -> list[str]:
    """Return what is wrong with a page, beginning with its layout on a wide screen in light colours.

    `highest`: how many pixels it may have there; `highest_open`: with all folds open.
    """
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": WIDE, "height": 800})
    response = page.goto(address)
    assert response is not None
    if not response.ok and "nowhere" not in address:
        return [f"answered with {response.status}"]
    layout: list[str] = page.evaluate(LAYOUT, highest)
    page.evaluate(OPEN_ALL)
    page.wait_for_function(DRAWN)
    charts: list[str] = page.evaluate(HEIGHTS)
    if highest_open and (height := page.evaluate("document.documentElement.scrollHeight")) > highest_open:
        charts.append(f"{height} px high with all folds open, more than {highest_open}")
    widths = [fault for width in (WIDE, ZOOMED, PHONE) for fault in width_faults(page, width)]
    page.evaluate(THIN)
    on_phone = obstacles(page, "dark", PHONE)
    on_wide_screen = obstacles(page, "light", WIDE)
    return layout + charts + widths + on_phone + on_wide_screen + page.evaluate(UNSEEN_FOCUS)


def width_faults(page: Page, width: int) -> list[str]:
    """Return whether a page scrolls sideways at this width, the cells that cut, and the tables that are too wide."""
    page.set_viewport_size({"width": width, "height": 740})
    try:
        page.wait_for_function(FITS, arg=width, timeout=SETTLED_MS)
    except TimeoutError:
        return [f"scrolls sideways at {width} px: {page.evaluate(SIDEWAYS)} px wide"]
    cut: list[str] = page.evaluate(CUT) if width != ZOOMED else []
    wide: list[str] = page.evaluate(TOO_WIDE) if width == WIDE else []
    return [f"{width} px, {fault}" for fault in (*cut, *wide)]


def obstacles(page: Page, scheme: str, width: int) -> list[str]:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 740})
    violations = page.evaluate(AXE)
    return [f"{scheme} {width}, {rule['id']}: {rule['nodes'][0]['html'][:160]}" for rule in violations]
