/** Which schemas the registry has of the connector's topics: asked once, when the overview is opened. */

import { outsideLink } from "../airflow.js";
import { api } from "../api.js";
import { fill, h } from "../dom.js";

/** Show the schemas, or nothing where the converters ask no registry. */
export function schemas(name, signal) {
  const element = h("div");
  api.schemas(name, signal).then(
    (found) => fill(element, found.reason ? h("p", { class: "faint" }, `Schemas: ${found.reason}`) : table(found.schemas)),
    (error) => error.name === "AbortError" || fill(element, h("p", { class: "faint" }, `Schemas: ${error.message}`)),
  );
  return element;
}

function table(rows) {
  if (!rows.length) return null;
  const heads = ["Topic", "Of", "Subject", "Id", "Version", "Language"];
  const head = heads.map((title) => h("th", { scope: "col" }, title));
  return [
    h("h2", {}, "Schemas"),
    h("table", { class: "plain schemas" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows.map(row))),
  ];
}

function row(one) {
  const told = one.id === null ? [h("td", { colspan: 3, class: "faint" }, one.error)] : [one.id, one.version, one.language].map((value) => h("td", {}, String(value ?? "")));
  return h("tr", {}, h("td", {}, one.topic), h("td", {}, one.part), h("td", {}, link(one)), told);
}

function link(one) {
  if (one.id === null) return one.subject;
  const address = `${one.registry}/subjects/${encodeURIComponent(one.subject)}/versions/latest`;
  return outsideLink(one.subject, address);
}
