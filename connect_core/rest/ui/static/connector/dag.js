/** The tab on a DAG in Airflow: from the DAG's id to its connector. */

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { connectorAddress } from "../routes.js";

/** Show the connector of the DAG that the address names. */
export function showDag(element, route) {
  const dag = route.parts[1];
  fill(element, h("p", { class: "faint" }, "Loading…"));
  find(dag).then(
    (found) => {
      if (found) location.replace(connectorAddress(found.name));
      else fill(element, none());
    },
    (error) => fill(element, h("p", { class: "problem", role: "alert" }, error.message)),
  );
  return {};
}

async function find(dag) {
  const { connectors } = await api.connectors();
  return connectors.find((one) => one.dag_id === dag);
}

function none() {
  const list = h("a", { href: "#/" }, "all connectors");
  return h("div", { class: "empty" }, h("h2", {}, "This DAG is not a connector"), h("p", {}, "See ", list, "."));
}
