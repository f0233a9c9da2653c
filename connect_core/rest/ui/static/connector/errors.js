/** Records that were skipped, where they lie, and the topic that keeps them. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { count, json, moment, plural } from "../format.js";
import { setOffline } from "../notices.js";
import { connectorAddress } from "../routes.js";

const COLUMNS = ["When", "Stage", "Error", "Records", "First one at", "Interval"];

/** Show the skipped records. */
export function showErrors(element, context) {
  const ended = new AbortController();
  let drawn = null;
  return {
    async update(overview) {
      try {
        const skipped = await api.skipped(context.name, ended.signal);
        const current = JSON.stringify(skipped);
        if (drawn !== current) fill(element, summary(skipped, overview), table(skipped.lines));
        drawn = current;
      } catch (error) {
        if (error.name !== "AbortError") setOffline(error.message);
      }
    },
    close: () => ended.abort(),
  };
}

function summary(skipped, overview) {
  const config = h("a", { href: connectorAddress(overview.name, "config") }, "errors.deadletterqueue.topic.name");
  const topic = skipped.dead_letter_topic
    ? ["They are kept in topic ", h("code", {}, skipped.dead_letter_topic), "."]
    : ["They are not kept in a topic: set one with ", config, "."];
  if (!skipped.lines.length) return h("p", {}, "No record was skipped. ", skipped.dead_letter_topic ? topic : null);
  return h("p", {}, h("strong", {}, `${plural(skipped.records, "record")} skipped. `), topic);
}

function table(lines) {
  if (!lines.length) return null;
  const heads = COLUMNS.map((title) => h("th", { scope: "col", class: title === "Records" ? "number" : "" }, title));
  return h("table", { class: "plain" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, lines.map(row)));
}

function row(line) {
  const cells = {
    When: moment(line.last_at),
    Stage: line.stage,
    Error: [h("strong", {}, line.error_kind), h("br"), line.message],
    Records: count(line.records),
    "First one at": h("code", {}, json(line.sample)),
    Interval: `#${line.sequence}, task ${line.task}`,
  };
  return h(
    "tr",
    {},
    Object.entries(cells).map(([label, content]) => h("td", { "data-label": label, class: label === "Records" ? "number" : "" }, content)),
  );
}
