/** The list's entries: what the API says of a connector, made ready to be searched and sorted. */

import { overall, rank } from "../states.js";

/** An entry of the list, from a `ConnectorSummary`. */
export function entryOf(summary) {
  const total = Object.values(summary.tasks).reduce((sum, number) => sum + number, 0);
  const state = overall(summary.state, Object.keys(summary.tasks), summary.is_stalled);
  const plugin = shortClass(summary.connector_class);
  const words = [summary.name, summary.connector_class, plugin, ...summary.tags, summary.trace_line ?? ""];
  return {
    ...summary,
    plugin,
    state,
    total,
    failed: summary.tasks.FAILED ?? 0,
    text: words.join("\n").toLowerCase(),
    // What is the same as before is not drawn again.
    fingerprint: JSON.stringify(summary),
  };
}

/** The last part of a class's name, without the word every one of them ends with. */
export function shortClass(name) {
  const last = name.split(/[.:]/).at(-1);
  return last.replace(/Connector$/, "") || last;
}

/** The entries that fit; every word of the search must be found. */
export function chosen(entries, wanted) {
  const words = wanted.q.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(
    (entry) =>
      (!wanted.state || entry.state === wanted.state) &&
      (!wanted.type || entry.type === wanted.type) &&
      (!wanted.class || entry.plugin === wanted.class) &&
      (!wanted.tag || entry.tags.includes(wanted.tag)) &&
      words.every((word) => entry.text.includes(word)),
  );
}

const compareNames = new Intl.Collator("en", { numeric: true }).compare;

/** What a column is sorted by; a dash before the key turns it round. */
const KEYS = {
  state: (entry) => rank(entry.state),
  name: null,
  plugin: (entry) => entry.plugin.toLowerCase(),
  lag: (entry) => -(entry.lag ?? -1),
  success: (entry) => entry.last_success_at ?? "",
  next: (entry) => entry.next_run_at ?? "~",
};

/** The entries in the order of a column, equal ones by name. */
export function sorted(entries, sort) {
  const isTurned = sort.startsWith("-");
  const key = KEYS[sort.replace("-", "")];
  const sign = isTurned ? -1 : 1;
  return entries
    .map((entry) => [key ? key(entry) : 0, entry])
    .sort(([a, one], [b, other]) => sign * (a < b ? -1 : a > b ? 1 : 0) || sign ** (key ? 2 : 1) * compareNames(one.name, other.name))
    .map(([, entry]) => entry);
}
