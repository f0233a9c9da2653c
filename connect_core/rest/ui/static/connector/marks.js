/** The states of intervals: a colour by `data-interval`, and the word. */

import { h } from "../dom.js";

const MEANINGS = {
  PLANNED: "Its bounds are fixed; nothing has been read yet",
  RUNNING: "It reads and writes",
  STAGED: "Everything is written but not visible yet",
  COMMITTED: "Its data is visible and its offsets have moved",
  ABANDONED: "It was abandoned; none of it counts",
  FAILED: "It ended with an error and will be retried, or waits for a restart",
};

/** An interval's state as a dot and its word. */
export function pill(state) {
  const dot = h("span", { class: "dot", "aria-hidden": "true" });
  return h("span", { class: "pill", "data-interval": state, title: MEANINGS[state] ?? "" }, dot, h("span", {}, state));
}
