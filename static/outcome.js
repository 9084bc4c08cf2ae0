// Moves the keyboard focus to the heading that says what came of a form, where the page has one.
document.addEventListener("DOMContentLoaded", () => document.getElementById("outcome")?.focus());
