/** Recounts what a sink has written, step by step, and shows where markers, target, database and Kafka differ. */

import { api } from "../api.js";
import { button, fill, h } from "../dom.js";
import { count, plural } from "../format.js";
import { warn } from "../notices.js";

const STEP_SECONDS = 5;
const MOST_SECONDS = 80;
const MOST_SHOWN = 200;
const COLUMNS = ["Interval", "What", "Where", "Expected", "Found"];
const STEPS_NOTE =
  "It took several requests, so that offsets and files of no interval were not compared: connect verify does it in one pass.";

/** The button and its result; `close` ends a recount that runs. */
export function verification(name) {
  const place = h("div", { class: "verification-result", "aria-live": "polite" });
  const start = button("Verify", run, { title: "Compare what was written with manifests, database and Kafka; changes nothing" });
  const cancel = button("Cancel", () => running?.abort(), { hidden: true });
  let running = null;

  async function run() {
    running = new AbortController();
    start.disabled = true;
    cancel.hidden = false;
    try {
      fill(place, result(await recount(name, running.signal, (found) => fill(place, progress(found)))));
    } catch (error) {
      fill(place);
      if (error.name !== "AbortError") warn(error.message);
    }
    start.disabled = false;
    cancel.hidden = true;
  }

  const element = h("section", { class: "verification", "aria-label": "Verification" }, h("div", { class: "acts" }, start, cancel), place);
  return { element, close: () => running?.abort() };
}

/** Recount from the newest interval to the first, some seconds a request. */
async function recount(name, signal, show) {
  const total = { newest: null, first: null, rows: 0, differences: new Map(), more: 0, notes: new Set(), reason: null };
  let to = null;
  let seconds = STEP_SECONDS;
  for (let step = 0; ; step += 1) {
    const found = await api.verify(name, to, seconds, signal);
    signal.throwIfAborted();
    total.reason = found.reason;
    total.newest ??= found.last;
    total.first = found.first ?? total.first;
    total.rows += found.rows;
    total.more += found.difference_count - found.differences.length;
    for (const one of found.differences) total.differences.set(JSON.stringify(one), one);
    for (const note of found.notes) total.notes.add(note);
    total.steps = step + 1;
    if (found.reason || found.is_complete) return total;
    // The last interval of a step is recounted with the next one: neighbours are compared with each other.
    if (found.first === null || found.first === to) seconds = longer(seconds, name, found.first);
    to = found.first ?? to;
    show(total);
  }
}

/** A step in which nothing new was recounted gets more time. */
function longer(seconds, name, interval) {
  const place = interval === null ? "The newest interval" : `Interval ${interval}`;
  if (seconds >= MOST_SECONDS) throw new Error(`${place} takes more than ${seconds} s to recount: use connect verify ${name}.`);
  return Math.min(seconds * 2, MOST_SECONDS);
}

function progress(total) {
  const done = total.newest === null ? 0 : total.newest - total.first + 1;
  const label = `Intervals ${total.first ?? "…"} to ${total.newest ?? "…"}, ${plural(total.differences.size, "difference")} so far`;
  return [h("progress", { max: total.newest ?? 1, value: done, "aria-label": "Intervals recounted" }), " ", label];
}

function result(total) {
  if (total.reason) return h("p", { class: "faint" }, `${total.reason}.`);
  if (total.newest === null) return h("p", { class: "faint" }, "No interval has been written yet.");
  const number = total.differences.size + total.more;
  const rows = total.steps === 1 ? `, ${plural(total.rows, "row")}` : "";
  const verdict = number ? plural(number, "difference") : "no difference";
  const notes = [...total.notes, ...(total.steps > 1 ? [STEPS_NOTE] : [])];
  return [
    h("p", { class: number ? "problem" : "", role: number ? "alert" : null }, `Intervals ${total.first} to ${total.newest}${rows}: ${verdict}.`),
    number ? table([...total.differences.values()]) : null,
    notes.map((note) => h("p", { class: "faint" }, note)),
  ];
}

function table(differences) {
  const heads = COLUMNS.map((title) => h("th", { scope: "col" }, title));
  const lines = differences.slice(0, MOST_SHOWN).map((one) => {
    const cells = [one.interval === null ? "–" : `#${one.interval}`, one.kind, h("code", {}, one.place), one.said, one.found];
    return h("tr", {}, cells.map((cell, at) => h("td", { "data-label": COLUMNS[at] }, cell || "–")));
  });
  const rest = differences.length - lines.length;
  return [
    h("table", { class: "plain differences" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, lines)),
    rest > 0 ? h("p", { class: "faint" }, `${count(rest)} more: all of them by the API.`) : null,
  ];
}
