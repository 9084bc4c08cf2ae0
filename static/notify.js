// Tells the reader by a notification of the browser that a run has ended. The page itself finds out (live.js), so that
// nobody else is asked. Without this script, or in a browser without notifications, the button stays hidden.
(() => {
  const box = document.querySelector("[data-notify]");
  if (!box || !("Notification" in window)) return;
  const [button, blocked] = box.children;
  let wanted = false;
  box.hidden = false;

  button.addEventListener("click", async () => {
    wanted = !wanted && (await Notification.requestPermission()) === "granted";
    button.setAttribute("aria-pressed", String(wanted));
    blocked.hidden = Notification.permission !== "denied";
  });

  document.addEventListener("pageupdate", () => {
    if (!wanted || document.querySelector("[data-live]")) return;
    wanted = false;
    button.setAttribute("aria-pressed", "false");
    const heading = document.querySelector("h1").textContent.replace(/\s+/g, " ").trim();
    new Notification(heading, { body: "This run has ended." });
  });
})();
