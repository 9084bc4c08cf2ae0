// Makes a table a Tab stop, with its own scroll bar, only where it is wider than its page, and closes tables below
// charts of the same figures. Without this script every table can be scrolled by keyboard, and all are open.
(() => {
  const FOLDS = "details.below-chart";

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

  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => measure(target)));

  function watch() {
    for (const fold of document.querySelectorAll(`${FOLDS}[open]:not([data-seen])`)) {
      fold.dataset.seen = "";
      fold.open = [...fold.querySelectorAll(".table")].some(isMeant);
    }
    for (const box of document.querySelectorAll(".scroll")) {
      measure(box);
      sizes.observe(box);
    }
  }

  watch();
  document.addEventListener("htmx:afterSettle", watch);
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll(FOLDS)) fold.open = true;
  });
})();
