/** What ran: which range, how many records, how long, which attempt, where. */

import { outsideLink } from "../airflow.js";
import { api } from "../api.js";
import { button, fill, h } from "../dom.js";
import { absolute, count, duration, json, plural, relative, size } from "../format.js";
import { attempt, setOffline } from "../notices.js";
import { calendar, mayHaveSlots } from "./calendar.js";
import { pill } from "./marks.js";
import { trace } from "./trace.js";
import { verification } from "./verification.js";

const PAGE = 50;
const MOST_FILES = 100;
const COLUMNS = ["Interval", "State", "Range", "Records", "Duration", "Started", "Attempt", "Tasks", "Run"];
const NUMBERS = new Set(["Records", "Duration", "Attempt"]);

/** Show the intervals, the newest first; older ones on demand. */
export function showIntervals(element, context) {
  const heads = COLUMNS.map((title) => h("th", { scope: "col", class: NUMBERS.has(title) ? "number" : "" }, title));
  const body = h("table", { class: "plain intervals", hidden: true }, h("thead", {}, h("tr", {}, heads)));
  const more = button("Older intervals", () => older(), { hidden: true });
  const empty = h("p", { class: "faint", hidden: true }, "No interval yet: none was needed so far.");
  const recount = context.overview?.type === "sink" ? verification(context.name) : null;
  const slots = mayHaveSlots(context.overview) ? calendar(context.name) : null;
  element.append(...[slots, recount].flatMap((part) => (part ? [part.element] : [])), body, empty, more);
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
      const there = body.children[index + 1] ?? null;
      if (there !== wanted) body.insertBefore(wanted, there);
    });
    empty.hidden = rows.size > 0;
    body.hidden = rows.size === 0;
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
    slots?.update();
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

  function close() {
    ended.abort();
    recount?.close();
    slots?.close();
  }

  return { update, close };
}

/** A row with something unfolded or focused is not drawn again under somebody's eyes. */
function holdsAttention(element) {
  return element.contains(document.activeElement) || element.querySelector("details[open], [aria-expanded=true]");
}

/** An interval is a body of its own: its line, and its tasks when unfolded. */
function rowOf(interval, name) {
  const body = h("tbody", { "data-sequence": interval.sequence });
  const cells = {
    Interval: `#${interval.sequence}`,
    State: [pill(interval.state), interval.reason ? h("small", { class: "faint" }, interval.reason) : null],
    Range: range(interval),
    Records: records(interval.counts),
    Duration: duration(interval.seconds),
    Started: h("time", { datetime: interval.started_at, title: absolute(interval.started_at) }, relative(interval.started_at)),
    Attempt: String(interval.attempts),
    Tasks: unfolding(interval, name, body),
    Run: run(interval),
  };
  const made = Object.entries(cells).map(([label, content]) =>
    h("td", { "data-label": label, class: NUMBERS.has(label) ? "number" : "" }, h("div", {}, content)),
  );
  body.append(h("tr", {}, made));
  return body;
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
  const rest = { skipped: counts.skipped, dropped: counts.dropped, late: counts.late, "from the future": counts.future };
  const says = Object.entries(rest).filter(([, number]) => number > 0);
  return [count(counts.records), says.map(([word, number]) => h("small", { class: "faint" }, ` ${count(number)} ${word}`))];
}

function run(interval) {
  if (!interval.run_url) return h("small", { class: "faint", title: interval.job_tag }, interval.worker_id);
  return [
    outsideLink("Run and log", interval.run_url, { title: interval.run_id }),
    interval.spark_url ? [" · ", outsideLink("Spark", interval.spark_url, { title: interval.job_tag })] : null,
  ];
}

/** The button that asks for the interval's tasks and shows them under its line. */
function unfolding(interval, name, body) {
  const inside = h("div", {}, "Loading…");
  const line = h("tr", { class: "interval-tasks" }, h("td", { colspan: COLUMNS.length }, inside));
  const toggle = button(plural(interval.task_count, "task"), unfold, { class: "unfold", "aria-expanded": "false" });

  async function unfold() {
    const isOpen = toggle.getAttribute("aria-expanded") !== "true";
    toggle.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return line.remove();
    body.append(line);
    await attempt("", async () => {
      const tasks = (await api.interval(name, interval.sequence)).tasks.map(taskLine);
      fill(inside, [tasks, mayHaveFiles(interval) ? files(interval, name) : null]);
    });
  }

  return toggle;
}

function mayHaveFiles(interval) {
  return interval.ranges.length > 0 && interval.state === "COMMITTED";
}

/** A button that asks the target for the interval's files and gives way to their list. */
function files(interval, name) {
  const place = h("div", { class: "interval-files" });
  const show = async () => {
    await attempt("", async () => {
      const found = await api.intervalFiles(name, interval.sequence, MOST_FILES);
      fill(place, found.reason ? h("p", { class: "faint" }, `${found.reason}.`) : fileTable(found));
    });
  };
  place.append(button("Files", show));
  return place;
}

function fileTable(found) {
  const rest = found.file_count - found.files.length;
  const caption = `${plural(found.file_count, "file")}, ${plural(found.records, "record")}, ${size(found.bytes)}`;
  const heads = ["File", "Records", "Size"].map((title, at) => h("th", { scope: "col", class: at ? "number" : "" }, title));
  const lines = found.files.map((file) =>
    h("tr", {}, [
      h("td", { "data-label": "File" }, h("code", {}, file.path)),
      h("td", { "data-label": "Records", class: "number" }, count(file.records)),
      h("td", { "data-label": "Size", class: "number" }, size(file.bytes)),
    ]),
  );
  return h("div", {}, [
    h("table", { class: "plain files" }, h("caption", {}, caption), h("thead", {}, h("tr", {}, heads)), h("tbody", {}, lines)),
    rest > 0 ? h("p", { class: "faint" }, `${plural(rest, "more file")}: all of them by the API.`) : null,
  ]);
}

function taskLine(task) {
  const says = `Task ${task.task}: ${task.outcome ?? "RUNNING"}, ${plural(task.counts.records, "record")}, ${plural(task.attempts, "attempt")}`;
  const error = task.trace ?? task.error_message;
  return h("div", { class: "task-line" }, says, error ? trace(error) : null);
}
