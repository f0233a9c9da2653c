/** One connector: its state, what can be done to it, and a tab for each question. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { setOffline } from "../notices.js";
import { poll } from "../polling.js";
import { connectorAddress } from "../routes.js";
import { showConfig } from "./config.js";
import { showErrors } from "./errors.js";
import { header } from "./header.js";
import { showIntervals } from "./intervals.js";
import { showOffsets } from "./offsets.js";
import { showOverview } from "./overview.js";
import { showTasks } from "./tasks.js";

const SECONDS = 3;

/** Tab → its title and view: `(element, context) → { update, close }`. */
const TABS = {
  overview: ["Overview", showOverview],
  intervals: ["Intervals", showIntervals],
  tasks: ["Tasks", showTasks],
  offsets: ["Offsets", showOffsets],
  config: ["Config", showConfig],
  errors: ["Errors", showErrors],
};

/** Show a connector; the address names it and the tab. */
export function showConnector(element, route) {
  const name = route.parts[1] ?? "";
  document.title = `${name} · Connectors`;
  const top = header(name, () => polling.now());
  const tabs = h("nav", { class: "tabs", "aria-label": `Views of ${name}` });
  const body = h("section", { class: "tab-body" });
  const context = { name, overview: null, query: route.query, refresh: () => polling.now() };
  let tab = null;
  element.append(top.element, tabs, body);

  function open(wanted) {
    const key = TABS[wanted] ? wanted : "overview";
    if (tab?.key === key) return;
    tab?.close?.();
    const links = Object.entries(TABS).map(([one, [title]]) => link(name, one, title, one === key));
    fill(tabs, links);
    body.replaceChildren();
    tab = { key };
    tab = { key, ...TABS[key][1](body, context) };
    if (context.overview) tab.update?.(context.overview);
  }

  async function load(signal) {
    try {
      const overview = await api.connector(name, signal);
      if (signal.aborted) return;
      setOffline("");
      const isFirst = context.overview === null;
      context.overview = overview;
      top.update(overview);
      if (isFirst) open(route.parts[2]);
      else tab?.update?.(overview);
    } catch (error) {
      if (error.name !== "AbortError") failed(error);
    }
  }

  function failed(error) {
    if (context.overview === null || error.status === 404) {
      polling.stop();
      tab?.close?.();
      fill(element, h("h1", {}, name), h("p", { class: "problem", role: "alert" }, error.message), back());
    } else {
      setOffline(error.message);
    }
  }

  const polling = poll(load, SECONDS);
  return {
    close() {
      polling.stop();
      tab?.close?.();
    },
    update(next) {
      if (next.parts[1] !== name) return false;
      route = next;
      context.query = next.query;
      if (context.overview) open(next.parts[2]);
      return true;
    },
  };
}

function link(name, key, title, isCurrent) {
  const href = key === "overview" ? connectorAddress(name) : connectorAddress(name, key);
  return h("a", { href, "aria-current": isCurrent ? "page" : null }, title);
}

function back() {
  return h("p", {}, h("a", { href: "#/" }, "All connectors"));
}
