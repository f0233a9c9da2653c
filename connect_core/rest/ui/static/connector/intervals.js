/** What ran: which range, how many records, how long, which attempt, where. */

import { airflowLink } from "../airflow.js";
import { api } from "../api.js";
import { button, fill, h } from "../dom.js";
import { absolute, count, duration, json, plural, relative } from "../format.js";
import { attempt, setOffline } from "../notices.js";
import { pill } from "./marks.js";
import { trace } from "./trace.js";

const PAGE = 50;
const COLUMNS = ["Interval", "State", "Range", "Records", "Duration", "Started", "Attempt", "Run"];

/** Show the intervals, the newest first; older ones on demand. */
export function showIntervals(element, context) {
  const body = h("tbody");
  const heads = COLUMNS.map((title) => h("th", { scope: "col", class: ["Records", "Duration"].includes(title) ? "number" : "" }, title));
  const more = button("Older intervals", () => older(), { hidden: true });
  const empty = h("p", { class: "faint", hidden: true }, "No interval yet: none was needed so far.");
  element.append(h("table", { class: "plain intervals" }, h("thead", {}, h("tr", {}, heads)), body), empty, more);
  const rows = new Map();
  const ended = new AbortController();
  let next = null;

  function place(intervals) {
    for (const interval of intervals) {
      const fingerprint = JSON.stringify([interval.state, interval.counts, interval.attempts, interval.reason]);
      const kept = rows.get(interval.sequence);
      if (kept?.fingerprint === fingerprint && interval.ended_at) continue;
      const made = { fingerprint, element: rowOf(interval, context.name) };
      if (kept && holdsAttention(kept.element)) continue;
      if (kept) kept.element.replaceWith(made.element);
      rows.set(interval.sequence, made);
    }
    const order = [...rows.keys()].sort((one, other) => other - one);
    order.forEach((sequence, index) => {
      const wanted = rows.get(sequence).element;
      if (body.children[index] !== wanted) body.insertBefore(wanted, body.children[index] ?? null);
    });
    empty.hidden = rows.size > 0;
  }

  async function older() {
    await attempt("", async () => {
      const page = await api.intervals(context.name, next, PAGE, ended.signal);
      next = page.next;
      more.hidden = next === null;
      place(page.intervals);
    });
  }

  async function update() {
    try {
      const page = await api.intervals(context.name, null, PAGE, ended.signal);
      if (rows.size === 0) {
        next = page.next;
        more.hidden = next === null;
      }
      place(page.intervals);
    } catch (error) {
      if (error.name !== "AbortError") setOffline(error.message);
    }
  }

  return { update, close: () => ended.abort() };
}

/** A row with something unfolded or focused is not drawn anew under somebody's eyes. */
function holdsAttention(element) {
  return element.contains(document.activeElement) || element.querySelector("details[open]");
}

function rowOf(interval, name) {
  const cells = [
    ["Interval", h("span", { class: "number" }, `#${interval.sequence}`)],
    ["State", [pill(interval.state), interval.reason ? h("small", { class: "faint" }, interval.reason) : null]],
    ["Range", range(interval)],
    ["Records", records(interval.counts)],
    ["Duration", duration(interval.seconds)],
    ["Started", h("time", { datetime: interval.started_at, title: absolute(interval.started_at) }, relative(interval.started_at))],
    ["Attempt", [String(interval.attempts), tasksOf(interval, name)]],
    ["Run", run(interval)],
  ];
  const made = cells.map(([label, content]) =>
    h("td", { "data-label": label, class: ["Records", "Duration"].includes(label) ? "number" : "" }, content),
  );
  return h("tr", { "data-sequence": interval.sequence }, made);
}

function range(interval) {
  if (interval.ranges.length) {
    const lines = interval.ranges.map((one) => `${one.topic}-${one.partition} [${count(one.start)}, ${count(one.end)})`);
    return folded(lines, "partition");
  }
  if (!interval.source) return "–";
  const { start, upper } = interval.source;
  if (!start.length) return "from the beginning";
  const lines = start.map((one) => {
    const end = upper?.find((other) => json(other.partition) === json(one.partition));
    return `${json(one.partition)} from ${json(one.offset)}${end ? ` to ${json(end.offset)}` : ""}`;
  });
  return folded(lines, "partition");
}

function folded(lines, word) {
  if (lines.length === 1) return h("code", {}, lines[0]);
  const all = h("ul", { class: "codes" }, lines.map((line) => h("li", {}, h("code", {}, line))));
  return h("details", {}, h("summary", {}, plural(lines.length, word)), all);
}

function records(counts) {
  const rest = { skipped: counts.skipped, dropped: counts.dropped };
  const says = Object.entries(rest).filter(([, number]) => number > 0);
  return [count(counts.records), says.map(([word, number]) => h("small", { class: "faint" }, ` ${count(number)} ${word}`))];
}

function run(interval) {
  if (!interval.run_url) return h("small", { class: "faint", title: interval.job_tag }, interval.worker_id);
  return [
    airflowLink("Run and log", interval.run_url, { title: interval.run_id }),
    interval.spark_url ? [" · ", airflowLink("Spark", interval.spark_url, { title: interval.job_tag })] : null,
  ];
}

/** The interval's tasks, asked for when unfolded. */
function tasksOf(interval, name) {
  const body = h("div", {}, "Loading…");
  const box = h("details", { class: "interval-tasks" }, h("summary", {}, plural(interval.task_count, "task")), body);
  box.addEventListener("toggle", async () => {
    if (!box.open) return;
    await attempt("", async () => fill(body, (await api.interval(name, interval.sequence)).tasks.map(taskLine)));
  });
  return box;
}

function taskLine(task) {
  const says = `Task ${task.task}: ${task.outcome ?? "RUNNING"}, ${plural(task.counts.records, "record")}, ${plural(task.attempts, "attempt")}`;
  const error = task.trace ?? task.error_message;
  return h("div", { class: "task-line" }, says, error ? trace(error) : null);
}
