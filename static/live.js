// Keeps a page up to date while something on it goes on. It fetches the page again every `data-live` seconds and brings
// over only the texts and attributes that differ: keyboard focus, selected text and opened folds stay as they are.
(() => {
  // Attributes that the reader or a script has set.
  const KEPT = new Set(["open", "style", "tabindex", "data-seen", "hidden", "aria-pressed"]);
  const NOTIFIED = '[data-notify] [aria-pressed="true"]'; // there if the reader wants to hear of the end

  // Tells whether the reader is using a node: the focus or the selection is in it. It is then neither moved nor removed.
  function inUse(node) {
    const selection = document.getSelection();
    const selected = selection && !selection.isCollapsed && selection.containsNode(node, true);
    return selected || (node.contains(document.activeElement) && document.activeElement !== document.body);
  }

  // Returns what tells a node apart from its neighbours; a row of a table is known by where it links to.
  function key(node) {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
    const link = node.localName === "tr" && node.querySelector("a");
    return `${node.localName} ${node.id || (link ? link.getAttribute("href") : "")}`;
  }

  function updateAttributes(old, fresh) {
    for (const { name } of [...old.attributes]) {
      if (!KEPT.has(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (!KEPT.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
  }

  function updateChildren(old, fresh) {
    const keys = [...fresh.childNodes].map(key);
    const rest = [];
    for (const child of [...old.childNodes]) {
      if (keys.includes(key(child)) || inUse(child)) rest.push(child);
      else child.remove();
    }
    let place = 0; // of the next child in `rest`
    for (const child of fresh.childNodes) {
      const number = rest.findIndex((other, at) => at >= place && key(other) === key(child));
      if (number < 0) {
        old.insertBefore(document.importNode(child, true), rest[place] ?? null);
      } else if (number === place) {
        update(rest[place], child);
        place += 1;
      } else {
        const [found] = rest.splice(number, 1);
        update(found, child);
        if (!inUse(found)) old.insertBefore(found, rest[place]);
      }
    }
    for (const child of rest.slice(place)) if (!inUse(child)) child.remove();
  }

  function update(old, fresh) {
    if (old.nodeType === Node.ELEMENT_NODE) {
      updateAttributes(old, fresh);
      updateChildren(old, fresh);
    } else if (old.nodeValue !== fresh.nodeValue && !inUse(old)) {
      old.nodeValue = fresh.nodeValue;
    }
  }

  async function refresh() {
    const response = await fetch(window.location.href, { headers: { Accept: "text/html" } });
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    const from = fresh.getElementById("live");
    if (!from) return;
    update(document.getElementById("live"), from);
    const [menu, freshMenu] = [document.getElementById("use"), fresh.getElementById("use")];
    if (menu && freshMenu) update(menu, freshMenu);
    else if (freshMenu) document.querySelector("main").append(document.importNode(freshMenu, true));
    document.title = fresh.title;
    document.dispatchEvent(new Event("pageupdate"));
  }

  // A page in the background is fetched only for a reader who wants to hear of the end; others see it on their return.
  async function keepUp() {
    if (!document.hidden || document.querySelector(NOTIFIED)) await refresh().catch(() => {}); // the site may be away for a moment
    plan();
  }

  function plan() {
    const seconds = Number(document.getElementById("live")?.dataset.live);
    if (seconds) setTimeout(keepUp, 1000 * seconds);
  }

  plan();
})();
