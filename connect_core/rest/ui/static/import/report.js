/** What would become of each connector here: a row, with its keys folded, and what the import has come to. */

import { fill, h } from "../dom.js";
import { plural } from "../format.js";
import { shortClass } from "../list/model.js";
import { connectorAddress } from "../routes.js";

const IMPOSSIBLE = "not possible";
const HEADS = ["", "Name", "There", "Here", "Keys", "Guarantee", "Import"];

/** Make the table → `{ element, chosen, changed, tell }`; `onchange` is called when other connectors are chosen. */
export function reportTable(connectors, onchange) {
  const rows = new Map(connectors.map((one) => [one.name, row(one, onchange)]));
  const possible = [...rows.values()].filter((one) => !one.check.disabled);
  const all = h("input", {
    type: "checkbox",
    "aria-label": "Select all that are possible",
    checked: possible.length > 0,
    disabled: possible.length === 0,
    onchange: () => {
      for (const one of possible) one.check.checked = all.checked;
      onchange();
    },
  });
  const heads = HEADS.map((title, index) => h("th", { scope: "col" }, index ? title : all));
  const element = h(
    "table",
    { class: "plain import-report", "aria-label": "Connectors of the cluster" },
    h("thead", {}, h("tr", {}, heads)),
    h("tbody", {}, [...rows.values()].map((one) => one.element)),
  );
  const chosen = () => [...rows].filter(([, one]) => one.check.checked).map(([name]) => name);
  return {
    element,
    chosen,
    changed: onchange,
    /** Show what an import has come to; it is not chosen any more. */
    tell(name, done) {
      const one = rows.get(name);
      one.check.checked = false;
      fill(one.result, outcome(name, done));
    },
  };
}

function row(one, onchange) {
  const isPossible = one.kind !== IMPOSSIBLE;
  const check = h("input", {
    type: "checkbox",
    "aria-label": `Select ${one.name}`,
    checked: isPossible,
    disabled: !isPossible,
    onchange,
  });
  const result = h("td", { "data-label": "Import" });
  const element = h(
    "tr",
    { "data-name": one.name },
    h("td", {}, check),
    cell("Name", h("strong", {}, one.name), h("small", { class: "faint block", title: one.class }, shortClass(one.class) || "no class")),
    cell("There", one.state === null ? "–" : `${one.state}, ${plural(one.tasks.length, "task")}`),
    cell("Here", h("span", { class: isPossible ? "" : "bad" }, one.kind), reasons(one.reasons)),
    cell("Keys", keys(one)),
    cell("Guarantee", one.guarantee_change || one.guarantee || "–"),
    result,
  );
  return { element, check, result };
}

function cell(label, ...children) {
  return h("td", { "data-label": label }, h("div", {}, children));
}

function reasons(found) {
  return found.length ? h("ul", { class: "reasons" }, found.map((reason) => h("li", {}, reason))) : null;
}

/** Keys in words: what is missing is seen at once, the rest when unfolded. */
function keys(one) {
  const of = (treatment) => one.keys.filter((key) => key.treatment === treatment && !key.blocking);
  const missing = of("missing");
  const sections = [
    ["Missing", missing.map(explained)],
    ["Mapped", of("mapped").map(explained)],
    ["Not needed", of("not needed").map(explained)],
    ["Honoured", of("honoured").map((key) => key.key)],
    ["Secrets", one.secrets.map(secret)],
    ["Sealed here", one.sealed],
    ["Topics", topics(one)],
    ["Consumer group", one.group ? [one.group] : []],
    ["Notes", one.notes],
  ].filter(([, lines]) => lines.length);
  if (!sections.length) return "–";
  const facts = sections.map(([title, lines]) => h("div", {}, h("dt", {}, title), lines.map((line) => h("dd", {}, line))));
  const summary = `${missing.length ? `${missing.length} missing, ` : ""}${plural(one.keys.length, "key")}`;
  return h("details", {}, h("summary", { class: missing.length ? "bad" : "" }, summary), h("dl", {}, facts));
}

function explained(key) {
  return key.why ? `${key.key}: ${key.why}` : key.key;
}

function topics(one) {
  const told = new Map(one.topics_here.map((topic) => [topic.name, topic.here]));
  return [...one.topics_here.map((topic) => `${topic.name}: ${topic.here}`), ...one.topics.filter((name) => !told.has(name))];
}

function secret(one) {
  const place = one.path ? `${one.provider}:${one.path}` : one.provider;
  return `${one.keys.join(", ")} from ${place}${one.here ? "" : ", which is not in the worker's config.providers"}`;
}

function outcome(name, done) {
  if (done.outcome === "failed") return h("div", { class: "bad" }, done.why);
  const moved = done.offsets ? `, ${plural(done.offsets, "offset")}` : "";
  return h("div", {}, h("a", { href: connectorAddress(name) }, done.outcome), moved, done.why ? `: ${done.why}` : "");
}
