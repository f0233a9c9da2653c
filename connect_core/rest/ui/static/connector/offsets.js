/** Where the connector stands, and moving it: every change is shown with what it does before it is made. */

import { stop } from "../acts.js";
import { api } from "../api.js";
import { ask } from "../dialogs.js";
import { button, fill, h } from "../dom.js";
import { json, plural } from "../format.js";
import { attempt, setOffline } from "../notices.js";
import { history } from "./moves.js";
import { previewed } from "./preview.js";
import { chooseInterval } from "./rewind.js";

/** Show the offsets. */
export function showOffsets(element, context) {
  const ended = new AbortController();
  const wanted = new Map();
  const parts = { notice: h("div"), table: h("div"), acts: h("div", { class: "acts" }), moves: history(context.name) };
  element.append(parts.notice, parts.table, parts.acts, parts.moves.element);
  let drawn = null;
  let isStopped = false;
  let offsets = [];

  async function update(overview) {
    try {
      offsets = (await api.offsets(context.name, ended.signal)).offsets;
    } catch (error) {
      if (error.name !== "AbortError") setOffline(error.message);
      return;
    }
    isStopped = overview.state === "STOPPED";
    const current = JSON.stringify([isStopped, offsets]);
    if (drawn !== current && !element.querySelector("textarea")) paint(current);
  }

  function paint(current) {
    drawn = current;
    if (!isStopped) wanted.clear();
    fill(parts.notice, isStopped ? stopped() : mustStop(context));
    fill(parts.table, offsetsTable(offsets, wanted, isStopped, repaint));
    fill(parts.acts, acts());
  }

  const repaint = () => paint(drawn);

  function acts() {
    const change = (title, request, act, confirm) => async () => {
      if (await previewed(context.name, { title, request, confirm, act })) {
        wanted.clear();
        parts.moves.reload();
        drawn = null;
        await context.refresh();
      }
    };
    const entries = () => [...wanted].map(([partition, offset]) => ({ partition: JSON.parse(partition), offset }));
    const number = plural(wanted.size, "change");
    return [
      button(
        `Preview ${number}`,
        () => change(`Alter offsets of ${context.name}?`, { offsets: entries() }, () => api.alterOffsets(context.name, entries()), "Alter offsets")(),
        { class: "primary", hidden: wanted.size === 0 },
      ),
      button("Discard changes", () => (wanted.clear(), repaint()), { hidden: wanted.size === 0 }),
      button("Add an offset…", () => addOffset(wanted, repaint), { disabled: !isStopped }),
      button("Rewind to an interval…", () => rewind(change), { disabled: !isStopped }),
      button(
        "Reset all…",
        change(`Reset all offsets of ${context.name}?`, { reset: true }, () => api.resetOffsets(context.name), "Reset offsets"),
        { class: "danger", disabled: !isStopped },
      ),
    ];
  }

  async function rewind(change) {
    const to = await chooseInterval(context.name);
    if (to === null) return;
    await change(`Rewind ${context.name} to interval #${to}?`, { to }, () => api.rewind(context.name, to), "Rewind")();
  }

  return { update, close: () => ended.abort() };
}

function stopped() {
  return h("p", { class: "note" }, "The connector is stopped: its offsets can be changed. Resume it afterwards.");
}

function mustStop(context) {
  const act = button("Stop it", async () => (await stop(context.name)) && context.refresh());
  return h("p", { class: "note" }, "Offsets can be changed while the connector is stopped. ", act);
}

function offsetsTable(offsets, wanted, isStopped, repaint) {
  const known = new Set(offsets.map((one) => json(one.partition)));
  const added = [...wanted].filter(([partition]) => !known.has(partition));
  const all = [...offsets, ...added.map(([partition]) => ({ partition: JSON.parse(partition), offset: null }))];
  if (!all.length) return h("p", { class: "faint" }, "No offset yet: the connector starts at the beginning.");
  const heads = ["Partition", "Offset", ""].map((title) => h("th", { scope: "col" }, title));
  const rows = all.map((entry) => row(entry, wanted, isStopped, repaint));
  return h("table", { class: "plain offsets" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows));
}

function row({ partition, offset }, wanted, isStopped, repaint) {
  const key = json(partition);
  const isChanged = wanted.has(key);
  const says = `offset of ${key}`;
  const cell = h("td", { "data-label": "Offset" }, isChanged ? changed(offset, wanted.get(key)) : h("code", {}, json(offset)));
  const acts = [
    button("Edit", () => edit(cell, wanted.get(key) ?? offset, (value) => (wanted.set(key, value), repaint()), repaint), { "aria-label": `Edit ${says}` }),
    button("Forget", () => (wanted.set(key, null), repaint()), { "aria-label": `Forget ${says}` }),
    isChanged ? button("Undo", () => (wanted.delete(key), repaint()), { "aria-label": `Undo ${says}` }) : null,
  ];
  const last = h("td", { class: "row-acts" }, isStopped ? acts : null);
  return h("tr", { class: isChanged ? "changed" : "" }, h("td", { "data-label": "Partition" }, h("code", {}, key)), cell, last);
}

function changed(before, after) {
  return [h("del", {}, json(before)), " → ", h("ins", {}, after === null ? "forgotten" : json(after))];
}

/** Edit an offset's JSON in its cell. */
function edit(cell, value, done, cancel) {
  const area = h("textarea", { rows: 2, spellcheck: "false", "aria-label": "Offset as JSON", value: json(value) });
  const problem = h("p", { class: "field-error", role: "alert" });
  const save = () => {
    const parsed = parsedObject(area.value);
    if (parsed.problem) fill(problem, parsed.problem);
    else (area.remove(), done(parsed.value));
  };
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") (area.remove(), cancel());
    if (event.key === "Enter" && !event.shiftKey) (event.preventDefault(), save());
  });
  fill(cell, area, problem, button("OK", save), button("Cancel", () => (area.remove(), cancel()), { class: "quiet" }));
  area.focus();
}

function parsedObject(text) {
  try {
    const value = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return { value };
  } catch (error) {
    return { problem: `This is not JSON: ${error.message}` };
  }
  return { problem: 'Write a JSON object, such as {"position": 0}' };
}

async function addOffset(wanted, repaint) {
  const partition = h("textarea", { rows: 2, spellcheck: "false", value: "{}" });
  const offset = h("textarea", { rows: 2, spellcheck: "false", value: "{}" });
  const says = [h("label", { class: "field" }, "Partition, as JSON", partition), h("label", { class: "field" }, "Offset, as JSON", offset)];
  if (!(await ask({ title: "Add an offset", says, confirm: "Add" }))) return;
  const [key, value] = [parsedObject(partition.value), parsedObject(offset.value)];
  await attempt("", () => {
    if (key.problem || value.problem) throw new Error(key.problem ?? value.problem);
    wanted.set(json(key.value), value.value);
    repaint();
  });
}
