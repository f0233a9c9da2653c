/** The table: rows are kept by name, and only what changed is drawn again. */

import { button, h } from "../dom.js";
import { row } from "./row.js";

const AT_ONCE = 120;

const COLUMNS = [
  ["state", "State"],
  ["name", "Name"],
  ["plugin", "Type"],
  [null, "Tasks"],
  [null, "Last 20 intervals"],
  ["lag", "Lag"],
  ["success", "Last success"],
  ["next", "Next run"],
  [null, "Guarantee"],
];

/** Make the table over a set of selected names; `sort` gets a column, `select` tells that the selection changed. */
export function table(selected, { sort, select }) {
  const rows = new Map();
  const all = h("input", {
    type: "checkbox",
    "aria-label": "Select all shown",
    disabled: true,
    onchange: () => selectAll(all.checked),
  });
  const heads = COLUMNS.map(([key, title]) => head(key, title, sort));
  const body = h("tbody", { role: "rowgroup" });
  const top = h("tr", { role: "row" }, h("th", { role: "columnheader", class: "check" }, all), heads);
  const element = h(
    "table",
    { class: "list", role: "table", "aria-label": "Connectors" },
    h("thead", { role: "rowgroup" }, top),
    body,
  );
  let shown = [];
  let pending = null;

  function selectAll(isChecked) {
    for (const name of shown) {
      if (isChecked) selected.add(name);
      else selected.delete(name);
    }
    select();
  }

  function rowOf(entry) {
    const kept = rows.get(entry.name);
    if (kept?.fingerprint === entry.fingerprint) {
      kept.tick();
      return kept.element;
    }
    const made = row(entry, selected, select);
    const focused = kept?.element.contains(document.activeElement) ? focusOf(kept.element) : null;
    if (kept) kept.element.replaceWith(made.element);
    rows.set(entry.name, made);
    if (focused) made.element.querySelector(focused)?.focus();
    return made.element;
  }

  /** Put the rows in place, some now and the others when the browser has shown those. */
  function place(entries, from) {
    const end = Math.min(from + AT_ONCE, entries.length);
    for (let index = from; index < end; index += 1) {
      const wanted = rowOf(entries[index]);
      if (body.children[index] !== wanted) body.insertBefore(wanted, body.children[index] ?? null);
    }
    if (end < entries.length) pending = setTimeout(() => place(entries, end), 0);
    else element.setAttribute("aria-busy", "false");
  }

  return {
    element,
    update(entries, sortedBy) {
      clearTimeout(pending);
      showSort(heads, sortedBy);
      shown = entries.map((entry) => entry.name);
      const wanted = new Set(shown);
      for (const [name, kept] of rows) {
        if (!wanted.has(name)) {
          kept.element.remove();
          rows.delete(name);
        }
      }
      element.hidden = entries.length === 0;
      element.setAttribute("aria-busy", "true");
      place(entries, 0);
    },
    showSelection(names) {
      const number = names.filter((name) => selected.has(name)).length;
      all.disabled = names.length === 0;
      all.checked = number > 0 && number === names.length;
      all.indeterminate = number > 0 && number < names.length;
      for (const [name, kept] of rows) kept.showSelected(selected.has(name));
    },
    close: () => clearTimeout(pending),
  };
}

function head(key, title, sort) {
  const cell = h("th", { role: "columnheader", scope: "col", "data-key": key });
  if (key === null) {
    cell.append(title);
    return cell;
  }
  cell.append(button(title, () => sort(cell.getAttribute("aria-sort") === "ascending" ? `-${key}` : key), { class: "sort" }));
  return cell;
}

function showSort(heads, sortedBy) {
  for (const cell of heads) {
    const key = cell.dataset.key;
    const direction = sortedBy === key ? "ascending" : sortedBy === `-${key}` ? "descending" : "none";
    if (key) cell.setAttribute("aria-sort", direction);
  }
}

function focusOf(element) {
  return element.querySelector("input:focus") ? "input" : "a";
}
