/** The address behind the `#`: `#/connectors/name/tab?key=value`. Names are percent-encoded. */

/** Read an address → `{ parts, query }`. */
export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Write an address. */
export function address(parts, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const search = new URLSearchParams(given).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

/** The address of a connector's page. */
export function connectorAddress(name, ...rest) {
  return address(["connectors", name, ...rest]);
}

/** Go somewhere. */
export function go(hash) {
  location.hash = hash;
}

/** Change the query of this address without a step in the history; one that has gone elsewhere stays as it is. */
export function rewrite(parts, query) {
  if (address(parse(location.hash).parts) !== address(parts)) return;
  history.replaceState(null, "", address(parts, query));
}
