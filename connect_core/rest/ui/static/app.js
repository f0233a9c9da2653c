/** The page: which view an address shows. */

import { api } from "./api.js";
import { isFramed } from "./airflow.js";
import { showConnector } from "./connector/view.js";
import { showDag } from "./connector/dag.js";
import { fill, h, setText } from "./dom.js";
import { showImport } from "./import/view.js";
import { showList } from "./list/view.js";
import { showNew } from "./new.js";
import { setOffline } from "./notices.js";
import { parse } from "./routes.js";

const main = document.getElementById("main");
let shown = null;

/** First part of an address → a view: `(element, route) → { update, close }`; `update` false: show it again. */
const VIEWS = { "": showList, connectors: showConnector, dag: showDag, import: showImport, new: showNew };

function navigate() {
  const route = parse(location.hash);
  const view = VIEWS[route.parts[0] ?? ""] ?? showNothing;
  if (shown?.view === view && shown.update?.(route)) return;
  shown?.close?.();
  main.replaceChildren();
  setOffline("");
  shown = { view, ...view(main, route) };
  scrollTo(0, 0);
}

function showNothing(element) {
  fill(element, h("h1", {}, "There is nothing here"), h("p", {}, h("a", { href: "#/" }, "All connectors")));
  return {};
}

/** Typing `/` goes to the search, as elsewhere. */
function onKey(event) {
  const isTyping = event.target.closest("input, textarea, select, dialog");
  const search = document.getElementById("search");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && search) {
    event.preventDefault();
    search.focus();
  }
}

async function showWorker() {
  const worker = await api.worker().catch(() => null);
  if (!worker) return;
  const deployments = { airflow: "in Airflow", rest: "over Airflow", standalone: "standalone" };
  setText(document.getElementById("worker"), `${deployments[worker.deployment]} · Connect ${worker.version}`);
}

// The link would change the address, and with it the view.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.body.classList.toggle("framed", isFramed);
window.addEventListener("hashchange", navigate);
document.addEventListener("keydown", onKey);
navigate();
showWorker();
