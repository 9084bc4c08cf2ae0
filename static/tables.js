// Makes a table a Tab stop, with its own scroll bar, only where it is wider than its page, closes tables below charts of
// the same figures, and shows the first rows of a long table, with a button for the others. Without this
// script every table can be scrolled by keyboard, and all are open and whole.
(() => {
  const FOLDS = "details.below-chart";
  const SHOWN = 10; // rows of a table that is cut (style.css)
  const FEW = 5; // a table is cut only if more rows than this are left out

  function measure(box) {
    const table = box.querySelector("table");
    if (table && table.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }

  // An address that sorts a table, turns its page or leads to it keeps it open.
  function isMeant(table) {
    const name = table.id.replace(/^table-/, "");
    const parameters = [...new URLSearchParams(location.search).keys()];
    return location.hash === `#${table.id}` || parameters.some((key) => key.startsWith(`${name}-`));
  }

  // Cuts a long table, unless it is what the page is about, is kept up to date by live.js, or has its chart beside it.
  function cut(box) {
    const table = box.closest(".table");
    const rest = [...box.querySelectorAll("tbody tr")].slice(SHOWN);
    const isAlone = document.querySelectorAll(".table .scroll").length === 1;
    if (!table || rest.length <= FEW || isAlone || "cut" in box.dataset || box.closest("[data-live], .beside-chart")) return;
    if (isMeant(table)) return;
    box.dataset.cut = "";
    const number = rest.filter((row) => !row.classList.contains("heading")).length;
    const button = Object.assign(document.createElement("button"), {
      type: "button", className: "plain more-rows", textContent: `Show ${number} more rows`,
    });
    button.addEventListener("click", () => {
      delete box.dataset.cut;
      rest.find((row) => row.querySelector("a"))?.querySelector("a").focus();
      button.remove();
    });
    box.after(button);
  }

  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => measure(target)));

  function watch() {
    for (const fold of document.querySelectorAll(`${FOLDS}[open]:not([data-seen])`)) {
      fold.dataset.seen = "";
      fold.open = [...fold.querySelectorAll(".table")].some(isMeant);
    }
    for (const box of document.querySelectorAll(".scroll")) {
      measure(box);
      cut(box);
      box.dataset.seen = ""; // until then, the style sheet hides what may be cut
      sizes.observe(box);
    }
  }

  watch();
  document.addEventListener("htmx:afterSettle", watch);
  document.addEventListener("pageupdate", watch); // live.js has added something
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll(FOLDS)) fold.open = true;
  });
})();
