// Draws each chart when it comes near the viewport and is in no closed fold. Plotly is nearly all that a page weighs, so
// it is loaded with the first of them; a page that is printed before has the summaries in words instead. Colours and
// fonts come from the stylesheet, so all charts are drawn again when the colour scheme changes.
(() => {
  const source = document.currentScript.dataset.plotly;
  const NARROW = 480; // width of a narrow chart, in pixels
  const LOWER = 0.8; // height of a narrow chart, as a share of the usual one
  const LOW = 200; // height of a chart that is never made lower, in pixels
  const NAME = 22; // longest name of a row or a series in a narrow chart, in letters
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

  // Names of points, which have room in charts that are not narrow, are left out; the word for chance stays.
  function shorten(data, layout) {
    layout.annotations = layout.annotations?.filter(({ xref }) => xref === "paper");
    for (const axis of [layout.xaxis, layout.yaxis]) axis.ticktext = axis.ticktext?.map(short);
    for (const trace of data) trace.name &&= short(trace.name);
  }

  const lower = (height) => (height < LOW ? 1 : LOWER);

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
    if (drawn.has(plot)) return;
    drawn.add(plot);
    near.unobserve(plot);
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
