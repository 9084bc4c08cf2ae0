// Draws each chart when it comes near the viewport and is in no closed fold. Plotly is nearly all that a page weighs, so
// it is loaded with the first of them; a page that is printed before has the summaries in words instead. Colours and
// fonts come from the stylesheet, so all charts are drawn again when the colour scheme changes.
(() => {
  const source = document.currentScript.dataset.plotly;
  const NARROW = 480; // width of a narrow chart, in pixels
  const LOWER = 0.8; // height of a narrow chart, as a share of the usual one
  const LOW = 200; // height of a chart that is never made lower, in pixels
  const NAME = 22; // longest name of a row or a series in a narrow chart, in letters
  const MOST_COVERED = 80; // cost of a place for a name; see `place`
  const MOST_NARROW = 18; // the same in a narrow chart, where a name farther away would seem to be another point's
  const MARGIN = 8; // pixels above the plotted area, which a name may use
  const STEP = 6; // distance of the places at which a line is looked at, in pixels
  const LINES = [0, -1, 1, -2, 2, -3, 3]; // how far a name may stand from its point, in its own height
  const SHEET = 660; // width of a chart on paper, in pixels
  const drawn = new Set();
  let loading = null;

  const plotly = () => (loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => resolve(window.Plotly);
    script.onerror = reject;
    document.head.append(script);
  }));

  // The site's policy forbids inline styles. Plotly adds its own rules to style.css (see base.html), adds no style for
  // maps where an element has the id of that style, and sets the style of bold and raised words as an attribute, which
  // would be without effect: as a property it is allowed.
  const mapStyle = document.createElement("template");
  mapStyle.id = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";
  SVGTSpanElement.prototype.setAttribute = function (name, value) {
    if (name === "style") this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };

  const probe = document.createElement("span");
  probe.hidden = true;
  probe.style.forcedColorAdjust = "none"; // charts keep their colours where a system sets those of the text

  function resolved(name) {
    const raw = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    probe.style.color = "";
    probe.style.color = `var(${name})`;
    return name === "--sans" ? raw : getComputedStyle(probe).color;
  }

  // Returns a copy of the figure with every "var(--name)" replaced by its current value.
  function withTokens(value) {
    if (typeof value === "string") {
      const name = /^var\((--[\w-]+)\)$/.exec(value);
      return name ? resolved(name[1]) : value;
    }
    if (Array.isArray(value)) return value.map(withTokens);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withTokens(inner)]));
    }
    return value;
  }

  // Shortens a long name in a narrow chart: drops its owner, then its middle. The table has the full name.
  function short(name) {
    if (name.length <= NAME || name.startsWith("<b>")) return name;
    const own = name.replace(/^[^/\s]+\//, "");
    return own.length <= NAME ? own : `${own.slice(0, NAME / 2)}…${own.slice(-NAME / 2)}`;
  }

  function shorten(data, layout) {
    for (const axis of [layout.xaxis, layout.yaxis]) axis.ticktext = axis.ticktext?.map(short);
    for (const trace of data) trace.name &&= short(trace.name);
  }

  const lower = (height) => (height < LOW ? 1 : LOWER);

  // Tells whether two boxes share more than their edges.
  const overlap = (one, other) =>
    one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1;

  const moved = ({ left, right, top, bottom }, x, y) =>
    ({ left: left + x, right: right + x, top: top + y, bottom: bottom + y });

  // Returns what a name should not cover: the markers of a chart, and small boxes along its lines.
  function obstacles(plot) {
    const boxes = [...plot.querySelectorAll(".points path")].map((marker) => marker.getBoundingClientRect());
    for (const line of plot.querySelectorAll(".lines path, .shapelayer path")) {
      const matrix = line.getScreenCTM();
      for (let at = 0; at <= line.getTotalLength(); at += STEP) {
        const { x, y } = line.getPointAtLength(at).matrixTransform(matrix);
        boxes.push({ left: x - 1, right: x + 1, top: y - 1, bottom: y + 1 });
      }
    }
    return boxes;
  }

  // Moves each name to the side of its point where it covers least: no other name, no marker and little of a line. How
  // wide a chart is, and so where there is room, is known only once it is drawn. A name without room is not shown, as
  // hovers have it too.
  function place(plot) {
    const names = [...plot.querySelectorAll(".annotation")];
    for (const name of names) for (const attribute of ["transform", "display"]) name.removeAttribute(attribute);
    const isFixed = (name) => plot.layout.annotations[name.dataset.index].xref === "paper";
    const placed = names.filter(isFixed).map((name) => name.getBoundingClientRect());
    const inTheWay = names.length > placed.length ? obstacles(plot) : [];
    const { right } = plot.getBoundingClientRect();
    const most = plot.clientWidth < NARROW ? MOST_NARROW : MOST_COVERED;
    const { left, top, bottom } = plot.querySelector(".nsewdrag").getBoundingClientRect();
    const isOutside = (box) => box.left < left || box.right > right || box.top < top - MARGIN || box.bottom > bottom;

    for (const name of names.filter((one) => !isFixed(one))) {
      const box = name.getBoundingClientRect();
      const { xanchor, xshift } = plot.layout.annotations[name.dataset.index];
      const across = (xanchor === "right" ? 1 : -1) * (box.width + 2 * Math.abs(xshift));
      const shifts = LINES.flatMap((lines) => [0, across, across / 2].map((x) => [x, lines * box.height]));
      const cost = ([x, y]) => {
        const there = moved(box, x, y);
        const covered = inTheWay.filter((other) => overlap(there, other)).length;
        const others = placed.filter((other) => overlap(there, other)).length;
        return 1000 * others + 100000 * isOutside(there) + 10 * covered + Math.abs(y) / 2 + Math.abs(x) / 20;
      };
      const costs = shifts.map(cost);
      const least = Math.min(...costs);
      const [x, y] = shifts[costs.indexOf(least)];
      if (least > most) name.setAttribute("display", "none");
      else {
        name.setAttribute("transform", `translate(${x} ${y})`);
        placed.push(moved(box, x, y));
      }
    }
  }

  const isAddress = (text) => typeof text === "string" && text.startsWith("/");

  // Pages of this site cannot be shown in a frame of another site, so that a link from there opens a window.
  const follow = (address) =>
    (window.top === window ? window.location.assign(address) : window.open(address, "_blank", "noopener"));

  // Draws in one go, as nothing can wait while a page is being printed; Plotly is loaded.
  function drawNow(plot, width) {
    const { data, layout } = withTokens(JSON.parse(document.getElementById(plot.dataset.chart).textContent));
    if ((width ?? plot.clientWidth) < NARROW) {
      shorten(data, layout);
      layout.height *= lower(layout.height);
    }
    const options = { displayModeBar: false, responsive: true };
    window.Plotly.react(plot, data, width ? { ...layout, width } : layout, options);
    place(plot);
    if (drawn.has(plot)) return;
    drawn.add(plot);
    near.unobserve(plot);
    plot.on("plotly_afterplot", () => place(plot));
    plot.on("plotly_click", ({ points }) => {
      if (isAddress(points[0].customdata)) follow(points[0].customdata);
    });
    plot.on("plotly_hover", ({ points }) => plot.classList.toggle("linked", isAddress(points[0].customdata)));
    plot.on("plotly_unhover", () => plot.classList.remove("linked"));
  }

  async function draw(plot) {
    await plotly();
    drawNow(plot);
  }

  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || !target.clientWidth) continue;
      near.unobserve(target);
      draw(target);
    }
  }, { rootMargin: "300px" });

  function watch(root) {
    for (const plot of root.querySelectorAll("[data-chart]")) {
      plot.style.height = `${plot.dataset.height * (innerWidth < NARROW ? lower(plot.dataset.height) : 1)}px`;
      plot.querySelector(".room")?.remove();
      near.observe(plot);
    }
  }

  function redraw() {
    for (const plot of drawn) plot.isConnected ? draw(plot) : drawn.delete(plot);
  }

  // Paper is light and narrow.
  function print() {
    document.documentElement.dataset.paper = "";
    for (const plot of document.querySelectorAll("[data-chart]")) if (window.Plotly) drawNow(plot, SHEET);
  }

  function backToScreen() {
    delete document.documentElement.dataset.paper;
    redraw();
  }

  document.body.append(probe, mapStyle);
  watch(document);
  window.addEventListener("beforeprint", print);
  window.addEventListener("afterprint", backToScreen);
  document.addEventListener("htmx:afterSettle", () => watch(document));
  document.addEventListener("pageupdate", () => watch(document)); // live.js has added something
  document.addEventListener("themechange", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})();
