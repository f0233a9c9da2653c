/** One connector's line in the list. */

import { h } from "../dom.js";
import { absolute, plural, relative, short } from "../format.js";
import { connectorAddress } from "../routes.js";
import { pill } from "../states.js";
import { strip } from "../strip.js";

/** Draw an entry → its row, and what keeps it up to date without drawing it again. */
export function row(entry, selected, select) {
  const check = h("input", {
    type: "checkbox",
    "aria-label": `Select ${entry.name}`,
    checked: selected.has(entry.name),
    onchange: () => {
      if (check.checked) selected.add(entry.name);
      else selected.delete(entry.name);
      select();
    },
  });
  const times = [time(entry.last_success_at), time(entry.next_run_at)];
  const element = h(
    "tr",
    { role: "row", "data-name": entry.name },
    cell("check", "", check),
    cell("state", "State", pill(entry.state)),
    cell("name", "Name", name(entry)),
    cell("type", "Type", h("span", {}, entry.type), h("small", { title: entry.connector_class }, entry.plugin)),
    cell("tasks", "Tasks", tasks(entry)),
    cell("marks", "Last intervals", strip(entry.strip)),
    cell("lag number", "Lag", h("span", { title: lagTitle(entry) }, entry.lag === null ? "–" : short(entry.lag))),
    cell("success", "Last success", times[0].element),
    cell("next", "Next run", entry.next_run_at ? times[1].element : h("span", { class: "faint" }, entry.schedule)),
    cell("guarantee", "Guarantee", h("span", { class: entry.guarantee, title: entry.guarantee_condition }, entry.guarantee)),
  );
  return {
    element,
    fingerprint: entry.fingerprint,
    tick: () => times.forEach((one) => one.tick()),
    showSelected(isSelected) {
      check.checked = isSelected;
      element.classList.toggle("selected", isSelected);
    },
  };
}

function cell(kind, label, ...children) {
  return h("td", { role: "cell", class: kind, "data-label": label }, children);
}

function name(entry) {
  const error = entry.state === "FAILED" ? entry.trace_line : entry.state === "STALLED" ? entry.stalled_reason : null;
  // The package of an exception says little in a list; it is in the title.
  const says = error && error.replace(/^[\w.]+\.(?=\w+: )/, "");
  return [
    h("a", { href: connectorAddress(entry.name) }, entry.name),
    entry.tags.map((tag) => h("span", { class: "tag" }, tag)),
    error ? h("small", { class: "error", title: error }, says) : null,
  ];
}

function tasks(entry) {
  const running = entry.tasks.RUNNING ?? 0;
  const words = Object.entries(entry.tasks).map(([state, number]) => `${number} ${state}`);
  const text = entry.failed ? `${entry.failed}/${entry.total} failed` : `${running}/${entry.total}`;
  return h("span", { class: entry.failed ? "bad" : "", title: words.join(", ") || "No task" }, text);
}

function lagTitle(entry) {
  if (entry.lag !== null) return `${plural(entry.lag, "record")} behind`;
  return entry.type === "source" ? "A source does not report how far behind it is" : "Not known";
}

function time(iso) {
  const element = h("time", { datetime: iso, title: absolute(iso) }, relative(iso));
  return {
    element,
    tick() {
      const text = relative(iso);
      if (element.textContent !== text) element.textContent = text;
    },
  };
}
