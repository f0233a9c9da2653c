/** Moving over from Kafka Connect: which cluster, what would become of its connectors, and importing those chosen. */

import { api } from "../api.js";
import { button, fill, h, setText } from "../dom.js";
import { plural } from "../format.js";
import { convertersOf, labelled, loginFields, remember } from "./cluster.js";
import { reportTable } from "./report.js";

/** Show the form, then the report under it. */
export function showImport(element) {
  document.title = "Move from Kafka Connect";
  const ended = new AbortController();
  const url = h("input", { type: "url", required: true, placeholder: "http://connect:8083", spellcheck: "false", autocomplete: "off" });
  const login = loginFields();
  const worker = h("textarea", { rows: 4, spellcheck: "false", placeholder: "value.converter=io.confluent.connect.avro.AvroConverter" });
  const parts = {
    read: h("button", { type: "submit", class: "primary" }, "Read its connectors"),
    status: h("p", { role: "status", class: "faint" }),
    problem: h("p", { class: "problem", role: "alert", hidden: true }),
    report: h("div"),
  };
  let isBusy = false;

  const form = h(
    "form",
    { class: "card cluster", onsubmit: (event) => (event.preventDefault(), busy(read)) },
    labelled("Address of its REST API", url),
    login.element,
    h(
      "details",
      {},
      h("summary", {}, "Converters of its workers"),
      labelled("Their workers' properties, for connectors without their own converters; only the converters are used", worker),
    ),
    h("div", { class: "acts" }, parts.read),
  );
  element.append(
    h("p", { class: "crumb" }, h("a", { href: "#/" }, "Connectors")),
    h("h1", {}, "Move from Kafka Connect"),
    h(
      "p",
      {},
      "Reading and importing change nothing in the cluster. Imported connectors are stopped here; a ",
      "button on the page of each connector switches it over.",
    ),
    form,
    parts.status,
    parts.problem,
    parts.report,
  );

  async function busy(act) {
    if (isBusy) return;
    isBusy = true;
    trouble("");
    try {
      await act();
    } catch (error) {
      if (error.name !== "AbortError") trouble(error.message);
      setText(parts.status, "");
    }
    isBusy = false;
  }

  function trouble(reason) {
    parts.problem.hidden = !reason;
    setText(parts.problem, reason);
  }

  function wanted() {
    const converters = convertersOf(worker.value);
    return { url: url.value.trim(), ...login.read(), ...(Object.keys(converters).length ? { converters } : {}) };
  }

  async function read() {
    const body = wanted();
    const found = [];
    fill(parts.report);
    setText(parts.status, "Reading its connectors…");
    let page = null;
    do {
      page = await api.importReport({ ...body, ...(page ? { after: page.next } : {}) }, ended.signal);
      found.push(...page.connectors);
      setText(parts.status, `${found.length} of ${plural(page.total, "connector")} examined`);
    } while (page.next !== null);
    remember(page.address, login.read());
    const table = reportTable(found, () => setText(act, `Import ${plural(table.chosen().length, "connector")}`));
    const act = button("", () => busy(() => importAll(body, table)), { class: "primary" });
    table.changed();
    fill(parts.report, found.length ? [table.element, h("div", { class: "acts" }, act)] : null);
  }

  /** One request each, so that one that cannot be imported keeps no other from it. */
  async function importAll(body, table) {
    const names = table.chosen();
    let made = 0;
    for (const name of names) {
      setText(parts.status, `Importing ${name}…`);
      try {
        const done = await api.importConnector(name, body, ended.signal);
        table.tell(name, done);
        made += 1;
      } catch (error) {
        if (error.name === "AbortError") throw error;
        table.tell(name, { outcome: "failed", why: error.message });
      }
    }
    table.changed();
    setText(parts.status, `${made} of ${plural(names.length, "connector")} imported`);
  }

  return { close: () => ended.abort() };
}
