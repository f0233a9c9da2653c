/** The list of connectors: what failed first, everything findable, many acted on at once. */

import { api } from "../api.js";
import { button, fill, h, setText } from "../dom.js";
import { count, plural } from "../format.js";
import { setOffline, setSilence, warn } from "../notices.js";
import { poll } from "../polling.js";
import { rewrite } from "../routes.js";
import { bulkBar } from "./bulk.js";
import { counters } from "./counters.js";
import { filterBar } from "./filters.js";
import { chosen, entryOf, sorted } from "./model.js";
import { table } from "./table.js";

const SECONDS = 5;

/** Show the list; its filters stand in the address. */
export function showList(element, route) {
  document.title = "Connectors";
  const view = { entries: [], shown: [], wanted: wantedOf(route.query), selected: new Set() };
  const refresh = () => polling.now().catch(failed);
  const parts = {
    counters: counters((state) => want({ state: view.wanted.state === state ? "" : state })),
    filters: filterBar(view.wanted, want),
    bulk: bulkBar(view.selected, refresh, paint),
    table: table(view.selected, { sort: (key) => want({ sort: key }), select: paintSelection }),
    shown: h("p", { class: "shown faint", role: "status" }, "Loading…"),
    empty: h("div", { class: "empty", hidden: true }),
  };
  const move = h("a", { class: "button", href: "#/import" }, "Move from Kafka Connect");
  const create = h("a", { class: "button primary", href: "#/new" }, "New connector");
  element.append(
    h("div", { class: "title" }, h("h1", {}, "Connectors"), move, create),
    h("div", { class: "controls" }, parts.counters.element, h("div", { class: "above" }, parts.filters.element, parts.shown)),
    parts.table.element,
    parts.empty,
    parts.bulk.element,
  );

  function want(change) {
    Object.assign(view.wanted, change);
    rewrite([], { ...view.wanted, sort: view.wanted.sort === "state" ? "" : view.wanted.sort });
    paint();
  }

  function paint() {
    const found = chosen(view.entries, view.wanted);
    view.shown = sorted(found, view.wanted.sort);
    parts.counters.update(view.entries, view.wanted.state);
    parts.filters.update(view.entries);
    parts.table.update(view.shown, view.wanted.sort);
    setText(parts.shown, `${count(view.shown.length)} of ${plural(view.entries.length, "connector")}`);
    showEmpty(parts.empty, view, () => parts.filters.clear());
    paintSelection();
  }

  function paintSelection() {
    const names = view.shown.map((entry) => entry.name);
    parts.table.showSelection(names);
    parts.bulk.update(view.shown);
  }

  async function load(signal) {
    const answer = await api.connectors(signal).catch(failed);
    if (!answer || signal.aborted) return;
    setOffline("");
    setSilence(answer.scheduler_silences);
    view.entries = answer.connectors.map(entryOf);
    const names = new Set(view.entries.map((entry) => entry.name));
    for (const name of view.selected) if (!names.has(name)) view.selected.delete(name);
    paint();
  }

  const polling = poll(load, SECONDS);
  return {
    close() {
      polling.stop();
      parts.table.close();
    },
    update(next) {
      view.wanted = Object.assign(view.wanted, wantedOf(next.query));
      parts.filters.show(view.wanted);
      paint();
      return true;
    },
  };
}

function wantedOf(query) {
  const read = (key) => query.get(key) ?? "";
  return {
    q: read("q"),
    state: read("state"),
    type: read("type"),
    class: read("class"),
    tag: read("tag"),
    sort: read("sort") || "state",
  };
}

function failed(error) {
  if (error.name === "AbortError") return;
  if (error.status === 0 || error.status >= 500) setOffline(error.message);
  else warn(error.message);
}

function showEmpty(element, view, clear) {
  element.hidden = view.shown.length > 0;
  if (element.hidden) return;
  if (view.entries.length) {
    fill(element, h("p", {}, "No connector fits these filters."), button("Clear the filters", clear));
    return;
  }
  fill(
    element,
    h("h2", {}, "No connector yet"),
    h("p", {}, "A connector moves data into Kafka (a source) or out of it (a sink)."),
    h("a", { class: "button primary", href: "#/new" }, "Create the first one"),
  );
}
