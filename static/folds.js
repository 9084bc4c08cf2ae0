// Folds the sections of a long page on a phone, all but the first ones: a heading stays and opens its section. The page
// itself is whole, so that paper, search engines and readers without this script have all of it.
(() => {
  const PHONE = matchMedia("(max-width: 44rem)"); // as in style.css
  // Sections that are never folded; a page may say how many it has.
  const OPEN = Number(document.querySelector("[data-unfolded]")?.dataset.unfolded ?? 2);
  const FOLD = "details.phone-fold";

  // An address that leads into a section, or sorts or turns a page of its table, opens it.
  function isMeant(section) {
    const names = [...section.querySelectorAll(".table")].map((table) => table.id.replace(/^table-/, ""));
    const parameters = [...new URLSearchParams(location.search).keys()];
    return names.some((name) => parameters.some((key) => key.startsWith(`${name}-`)));
  }

  function fold(section) {
    const [details, summary] = [document.createElement("details"), document.createElement("summary")];
    details.className = "phone-fold";
    details.open = isMeant(section);
    summary.append(section.querySelector("h2, h3"));
    details.append(summary, ...section.childNodes);
    section.append(details);
  }

  function openTarget() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const around = target && target.closest(FOLD);
    if (!around || around.open) return;
    around.open = true;
    target.scrollIntoView();
  }

  function watch() {
    if (!PHONE.matches || document.querySelector(`[data-live], ${FOLD}`)) return;
    const sections = [...document.querySelectorAll("main section")].filter((section) => !section.closest("details"));
    sections.slice(OPEN).forEach(fold);
    openTarget();
  }

  watch();
  document.addEventListener("pageupdate", watch); // live.js has added the results of a run that has just ended
  window.addEventListener("hashchange", openTarget);
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll(FOLD)) details.open = true;
  });
})();
