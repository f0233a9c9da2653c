/** Is it all right? What failed, how fast it goes, how far it is behind. */

import { api } from "../api.js";
import { chart } from "../chart.js";
import { fill, h } from "../dom.js";
import { count, duration, moment, plural, short } from "../format.js";
import { setOffline } from "../notices.js";
import { connectorAddress } from "../routes.js";
import { strip } from "../strip.js";
import { audit } from "./audit.js";
import { schemas } from "./schemas.js";
import { switching } from "./switching.js";
import { trace } from "./trace.js";

const DRAWN = 60;
const KEPT = 200;

/** Lag measured while the page is open, by connector: nothing else keeps it. */
const measured = new Map();

/** Show the overview. */
export function showOverview(element, context) {
  const parts = {
    problem: h("div", { class: "problems" }),
    tiles: h("dl", { class: "tiles" }),
    charts: h("div", { class: "charts" }),
    partitions: h("div"),
    about: h("dl", { class: "about" }),
  };
  const ended = new AbortController();
  const moved = switching(context, ended.signal);
  const { problem, tiles: numbers, charts, partitions: lags, about: facts } = parts;
  element.append(problem, moved.element, numbers, charts, lags, facts, schemas(context.name, ended.signal), audit(context.name));
  let drawnProblem = null;
  let drawnSequence = null;

  async function update(overview) {
    const problem = JSON.stringify([overview.trace, overview.task_views.map((task) => task.trace), overview.stalled_reason]);
    if (problem !== drawnProblem) fill(parts.problem, problems(overview));
    drawnProblem = problem;
    fill(parts.about, about(overview));
    moved.update();
    try {
      const [page, lag] = await Promise.all([
        api.intervals(context.name, null, DRAWN, ended.signal),
        api.lag(context.name, ended.signal),
      ]);
      if (!ended.signal.aborted) paint(overview, page.intervals, lag);
    } catch (error) {
      if (error.name !== "AbortError") setOffline(error.message);
    }
  }

  function paint(overview, intervals, lag) {
    const points = measure(context.name, lag);
    fill(parts.tiles, tiles(overview, intervals, lag));
    const drawn = JSON.stringify([intervals[0]?.sequence, intervals[0]?.counts, intervals[0]?.state, points.length]);
    if (drawn === drawnSequence) return;
    drawnSequence = drawn;
    fill(parts.charts, throughput(intervals), overview.type === "sink" ? lagChart(intervals, points) : null);
    fill(parts.partitions, partitions(lag));
  }

  return { update, close: () => ended.abort() };
}

function problems(overview) {
  const failed = overview.task_views.filter((task) => task.trace);
  const tasks = connectorAddress(overview.name, "tasks");
  return [
    overview.trace
      ? h("div", { class: "problem", role: "alert" }, h("h2", {}, "The connector failed"), trace(overview.trace))
      : null,
    failed.map((task) =>
      h("div", { class: "problem" }, h("h2", {}, h("a", { href: tasks }, `Task ${task.task}`), ` ${task.state}`), trace(task.trace)),
    ),
    overview.retry_at ? h("p", { class: "faint" }, "It will be retried ", moment(overview.retry_at), ".") : null,
    overview.is_stalled
      ? h("p", { class: "problem stalled", role: "alert" }, "Stalled: work has been waiting since ", moment(overview.stalled_since), ". Reason: ", overview.stalled_reason, ".")
      : null,
  ];
}

function tiles(overview, intervals, lag) {
  const done = intervals.filter((one) => one.state === "COMMITTED");
  const moved = done.reduce((sum, one) => sum + one.counts.records, 0);
  const seconds = done.reduce((sum, one) => sum + one.seconds, 0);
  const skipped = intervals.reduce((sum, one) => sum + one.counts.skipped, 0);
  return [
    tile("Lag", lag.lag === null ? "–" : count(lag.lag), lag.lag === null ? lag.reason : "records behind"),
    tile("Last success", moment(overview.last_success_at), done[0] ? plural(done[0].counts.records, "record") : ""),
    tile("Next run", overview.next_run_at ? moment(overview.next_run_at) : "–", overview.schedule),
    tile("Speed", seconds ? `${short(moved / seconds)}/s` : "–", `records, last ${plural(done.length, "interval")}`),
    tile("Skipped", count(skipped), `records, last ${plural(intervals.length, "interval")}`),
    tile("Last intervals", strip(overview.strip), ""),
  ];
}

function tile(title, value, says) {
  return h("div", { class: "tile" }, h("dt", {}, title), h("dd", {}, h("b", {}, value), h("small", { class: "faint" }, says)));
}

function throughput(intervals) {
  const bars = intervals
    .map((one) => {
      const from = Date.parse(one.started_at);
      const speed = one.counts.records / Math.max(one.seconds, 0.001);
      const says = `interval ${one.sequence} ${one.state}: ${plural(one.counts.records, "record")} in ${duration(one.seconds)}, ${short(speed)}/s`;
      return { from, to: from + one.seconds * 1000, value: speed, state: one.state, says };
    })
    .reverse();
  return chart({ title: "Throughput", note: "records per second, by interval", bars, empty: "No interval yet." });
}

function lagChart(intervals, now) {
  const planned = intervals
    .filter((one) => one.ranges.length)
    .map((one) => {
      const value = one.ranges.reduce((sum, range) => sum + range.end - range.start, 0);
      return { at: Date.parse(one.planned_at), value, says: `${plural(value, "record")} for interval ${one.sequence}` };
    });
  const points = [...planned, ...now].sort((one, other) => one.at - other.at);
  return chart({
    title: "Lag",
    note: "records waiting at each plan, and measured now",
    points,
    empty: "Nothing measured yet.",
  });
}

function measure(name, lag) {
  const points = measured.get(name) ?? [];
  measured.set(name, points);
  if (lag.lag !== null) points.push({ at: Date.now(), value: lag.lag, says: `${plural(lag.lag, "record")} behind, measured` });
  if (points.length > KEPT) points.shift();
  return points;
}

function partitions(lag) {
  if (lag.partitions.length < 2) return null;
  const rows = lag.partitions.map((one) =>
    h("tr", {}, h("td", {}, `${one.topic}-${one.partition}`), [one.position, one.end, one.lag].map((value) => h("td", { class: "number" }, count(value)))),
  );
  const heads = ["Partition", "Position", "End", "Lag"].map((title, index) => h("th", { scope: "col", class: index ? "number" : "" }, title));
  const body = h("table", { class: "plain" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows));
  return h("details", {}, h("summary", {}, `Lag of ${plural(lag.partitions.length, "partition")}`), body);
}

function about(overview) {
  const facts = {
    Topics: overview.topics.join(", ") || "none yet",
    "Dead letter topic": overview.dead_letter_topic ?? "none",
    Guarantee: [overview.guarantee, overview.guarantee_condition].filter(Boolean).join(", "),
    Class: overview.connector_class,
    Worker: overview.worker_id,
    "Configuration": `version ${overview.config_version}, running: ${overview.planned_version ?? "none yet"}`,
    Created: moment(overview.created_at),
    Changed: moment(overview.updated_at),
  };
  return Object.entries(facts).map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value)));
}
