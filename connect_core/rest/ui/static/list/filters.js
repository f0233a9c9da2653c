/** Search, and filters by type, class and tag. */

import { button, h } from "../dom.js";
import { debounced } from "../polling.js";

const NONE = { q: "", state: "", type: "", class: "", tag: "" };

/** Make the bar; `want` gets what changed. */
export function filterBar(wanted, want) {
  const searchSoon = debounced(searchNow, 120);
  const search = h("input", {
    id: "search",
    type: "search",
    placeholder: "Search name, class, tag, error  ( / )",
    "aria-label": "Search connectors",
    value: wanted.q,
    oninput: searchSoon,
    // The focus leaves, perhaps for a link: what is typed must be in this address before there is another.
    onchange: searchNow,
  });
  const selects = {
    type: select("Type", "type"),
    class: select("Class", "class"),
    tag: select("Tag", "tag"),
  };

  function searchNow() {
    searchSoon.cancel();
    want({ q: search.value });
  }

  function select(label, key) {
    const element = h("select", { "aria-label": label, onchange: () => want({ [key]: element.value }) });
    return element;
  }

  function clear() {
    searchSoon.cancel();
    search.value = "";
    for (const element of Object.values(selects)) element.value = "";
    want({ ...NONE });
  }

  return {
    element: h(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
      search,
      Object.values(selects),
      button("Clear", clear, { class: "quiet" }),
    ),
    clear,
    show(next) {
      search.value = next.q;
      for (const [key, element] of Object.entries(selects)) element.value = next[key];
    },
    update(entries) {
      offer(selects.type, "Any type", entries.map((entry) => entry.type), wanted.type);
      offer(selects.class, "Any class", entries.map((entry) => entry.plugin), wanted.class);
      offer(selects.tag, "Any tag", entries.flatMap((entry) => entry.tags), wanted.tag);
    },
  };
}

/** Let a select offer what there is, and what is chosen. */
function offer(select, any, found, chosen) {
  const values = [...new Set([...found, chosen].filter(Boolean))].sort();
  const offered = values.join("\n");
  select.hidden = values.length === 0;
  if (select.dataset.offered === offered) return;
  select.dataset.offered = offered;
  const options = values.map((value) => h("option", { value }, value));
  select.replaceChildren(h("option", { value: "" }, any), ...options);
  select.value = chosen;
}
