// Marks the page as one with JavaScript. It stores nothing, as it is shown on sites of others.
document.documentElement.classList.add("js");
