/** Which Kafka Connect cluster, and the login there: asked for on the page, sent with each request, kept by none. */

import { h } from "../dom.js";

/** Logins by address, until the page is left: moving many connectors asks once. Nothing is stored in the browser. */
const logins = new Map();

/** Remember what a cluster has accepted. */
export function remember(address, login) {
  logins.set(address, login);
}

/**
 * Make the fields of a login → `{ element, read }`.
 *
 * `address` is that of a cluster that is known already; `read` gives the fields of a request that are filled in.
 */
export function loginFields(address = "") {
  const known = logins.get(address) ?? {};
  const user = h("input", { type: "text", autocomplete: "off", spellcheck: "false", value: known.user ?? "" });
  const password = h("input", { type: "password", autocomplete: "off", value: known.password ?? "" });
  const ca = h("textarea", { rows: 4, spellcheck: "false", placeholder: "-----BEGIN CERTIFICATE-----", value: known.ca ?? "" });
  const element = h(
    "div",
    { class: "login" },
    labelled("User, if it requires a login", user),
    labelled("Password", password),
    h("details", {}, h("summary", {}, "CA certificate"), labelled("CA certificate (PEM) for its https address", ca)),
  );
  return {
    element,
    read: () => filledIn({ user: user.value.trim(), password: password.value, ca: ca.value.trim() }),
  };
}

/** A field under its label. */
export function labelled(title, input) {
  return h("label", { class: "field" }, h("span", {}, title), input);
}

function filledIn(fields) {
  const given = Object.entries(fields).filter(([key, value]) => value && (key !== "password" || fields.user));
  return Object.fromEntries(given);
}

/** The converters in a worker's properties; nothing else of them is sent. */
export function convertersOf(text) {
  const lines = text.split("\n").map((line) => line.match(/^\s*((?:key|value|header)\.converter(?:\.[^\s=:]+)?)\s*[=:]\s*(.*?)\s*$/));
  return Object.fromEntries(lines.filter(Boolean).map(([, key, value]) => [key, value]));
}
