/** Who did what to a connector. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { moment } from "../format.js";
import { attempt } from "../notices.js";

/** A folded list of acts, asked for when unfolded. */
export function audit(name) {
  const body = h("div");
  const element = h("details", { class: "history" }, h("summary", {}, "Audit log"), body);
  element.addEventListener("toggle", async () => {
    if (element.open) await attempt("", async () => fill(body, table((await api.acts(name)).acts)));
  });
  return element;
}

function table(acts) {
  const heads = ["When", "Who", "What"].map((title) => h("th", { scope: "col" }, title));
  return h("table", { class: "plain" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, acts.map(row)));
}

function row(act) {
  const cells = { When: moment(act.done_at), Who: act.actor || "the worker", What: act.action };
  return h("tr", {}, Object.entries(cells).map(([label, content]) => h("td", { "data-label": label }, content)));
}
