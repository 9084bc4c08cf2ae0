// Keeps the ticked models while filters and pages replace the rows, and counts them beside the button that compares them.
(() => {
  const ticked = new Set();

  function words() {
    if (!ticked.size) return "Tick models to compare them. Enter on a tick compares, too.";
    return ticked.size > 1 ? `${ticked.size} models ticked.` : "1 model ticked. Tick another to compare them.";
  }

  function show() {
    const form = document.getElementById("compare");
    if (!form) return;
    const boxes = [...document.querySelectorAll('input[name="m"][type="checkbox"]')];
    for (const box of boxes) box.checked = ticked.has(box.value);
    const shown = new Set(boxes.map((box) => box.value));
    for (const field of form.querySelectorAll('input[type="hidden"]')) field.remove();
    for (const value of ticked) {
      if (!shown.has(value)) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "m", value }));
    }
    const button = form.querySelector("button");
    button.textContent = ticked.size ? `Compare ${ticked.size} ticked` : "Compare ticked models";
    form.classList.toggle("any", ticked.size > 0);
    form.classList.toggle("ready", ticked.size > 1);
    const status = form.querySelector('[role="status"]');
    if (status.textContent !== words()) status.textContent = words(); // announced politely
  }

  document.addEventListener("change", ({ target }) => {
    if (target.name !== "m" || target.type !== "checkbox") return;
    target.checked ? ticked.add(target.value) : ticked.delete(target.value);
    show();
    target.scrollIntoView({ block: "nearest", inline: "nearest" }); // from under the bar, which may have come over it
  });
  document.addEventListener("htmx:afterSettle", show);
  for (const box of document.querySelectorAll('input[name="m"]:checked')) ticked.add(box.value);
  show();
})();
