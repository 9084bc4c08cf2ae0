// Runs before the first paint: applies the saved colour scheme and marks the page as one with JavaScript.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const saved = localStorage.getItem("theme");
  if (saved === "light" || saved === "dark") root.dataset.theme = saved;

  document.addEventListener("change", (event) => {
    if (event.target.id !== "theme") return;
    const choice = event.target.value;
    if (choice === "auto") {
      delete root.dataset.theme;
      localStorage.removeItem("theme");
    } else {
      root.dataset.theme = choice;
      localStorage.setItem("theme", choice);
    }
    document.dispatchEvent(new Event("themechange"));
  });

  document.addEventListener("DOMContentLoaded", () => {
    const select = document.getElementById("theme");
    if (select) select.value = root.dataset.theme || "auto";
  });
})();
