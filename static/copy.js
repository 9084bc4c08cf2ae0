// Copies the text of the element that a button names, or the address of the page if it names none.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const from = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(from ? from.textContent.trim() : window.location.href);
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1500);
});
