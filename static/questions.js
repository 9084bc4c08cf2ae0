// The arrow keys lead to the previous and to the next question, unless what has the focus uses them itself.
document.addEventListener("keydown", (event) => {
  const direction = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  if (!direction || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("input, select, textarea, .scroll[tabindex]")) return;
  document.querySelector(`.neighbours a[rel="${direction}"]`)?.click();
});
