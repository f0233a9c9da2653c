/** What a change of offsets would do, asked for before it is done. */

import { api } from "../api.js";
import { ask } from "../dialogs.js";
import { h } from "../dom.js";
import { count, json, plural } from "../format.js";
import { attempt, tell } from "../notices.js";

/** Show what `request` would do and, once confirmed, do it → whether it was done. */
export async function previewed(name, { title, request, confirm, act }) {
  let preview = null;
  await attempt("", async () => {
    preview = await api.previewOffsets(name, request);
  });
  if (!preview) return false;
  if (preview.obstacle) {
    await ask({ title: "This cannot be done now", says: [h("p", { class: "problem" }, preview.obstacle)], confirm: "Understood" });
    return false;
  }
  const yes = await ask({ title, says: says(preview), confirm, isDanger: true, isWide: true });
  return yes && attempt("", async () => tell((await act()).message));
}

function says(preview) {
  const changes = preview.changes.filter((one) => json(one.before) !== json(one.after));
  return [
    h("p", { class: "effect" }, effect(preview)),
    changes.length ? table(changes) : h("p", {}, "No offset changes."),
    h("p", { class: "faint" }, "All earlier producers are fenced first, and the change is recorded in the audit log."),
  ];
}

function effect(preview) {
  const again = total(preview.changes, (number) => number > 0);
  const skipped = -total(preview.changes, (number) => number < 0);
  const records = preview.records ?? (again || null);
  const parts = [];
  if (records !== null) parts.push(`${plural(records, "record")} will be read again`);
  else parts.push("How many records will be read again is unknown");
  if (preview.intervals.length) {
    const [last, first] = [preview.intervals[0], preview.intervals.at(-1)];
    parts.push(first === last ? `those of interval #${first}` : `those of intervals #${first} to #${last}`);
  }
  if (skipped > 0) parts.push(`${plural(skipped, "record")} will be skipped`);
  return `${parts.join(", ")}.`;
}

function total(changes, fits) {
  return changes.reduce((sum, one) => sum + (one.again !== null && fits(one.again) ? one.again : 0), 0);
}

function table(changes) {
  const hasCounts = changes.some((one) => one.again !== null);
  const heads = ["Partition", "Now", "Then", ...(hasCounts ? ["Offsets again"] : [])];
  const rows = changes.map((one) =>
    h(
      "tr",
      {},
      h("td", { "data-label": "Partition" }, h("code", {}, json(one.partition))),
      h("td", { "data-label": "Now" }, h("code", {}, place(one.before))),
      h("td", { "data-label": "Then" }, h("code", {}, place(one.after))),
      hasCounts ? h("td", { class: "number", "data-label": "Offsets again" }, count(one.again)) : null,
    ),
  );
  return h(
    "table",
    { class: "plain" },
    h("thead", {}, h("tr", {}, heads.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, rows),
  );
}

function place(offset) {
  return offset === null ? "the beginning" : json(offset);
}
