/** The history of a connector's offsets. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { json, moment } from "../format.js";
import { attempt } from "../notices.js";

/** A folded history, asked for when unfolded → `{ element, reload }`. */
export function history(name) {
  const body = h("div");
  const element = h("details", { class: "history" }, h("summary", {}, "History of the offsets"), body);

  async function reload() {
    if (!element.open) return;
    await attempt("", async () => fill(body, table((await api.offsetMoves(name)).moves)));
  }

  element.addEventListener("toggle", reload);
  return { element, reload };
}

function table(moves) {
  if (!moves.length) return h("p", { class: "faint" }, "No offset has moved yet.");
  const heads = ["When", "Cause", "Partition", "From", "To"].map((title) => h("th", { scope: "col" }, title));
  return h("table", { class: "plain" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, moves.map(row)));
}

function row(move) {
  const cause = move.cause === "interval" ? `interval #${move.sequence}` : `${move.cause}${move.actor ? ` by ${move.actor}` : ""}`;
  const cells = { When: moment(move.moved_at), Cause: cause, Partition: code(move.partition), From: code(move.before), To: code(move.after) };
  return h("tr", {}, Object.entries(cells).map(([label, content]) => h("td", { "data-label": label }, content)));
}

function code(value) {
  return value === null ? h("span", { class: "faint" }, "none") : h("code", {}, json(value));
}
