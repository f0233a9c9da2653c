/** States: each has a word, a colour (by `data-state` in the style) and a sentence. */

import { h } from "./dom.js";

/** In the order an operator wants to see them. */
export const STATES = {
  FAILED: "It stopped with an error and waits for a restart or a new configuration",
  STALLED: "Work is waiting without any progress",
  RESTARTING: "A restart was requested and has not started yet",
  UNASSIGNED: "It was accepted and has not been planned yet",
  RUNNING: "It runs, or waits for the next data",
  PAUSED: "It keeps its tasks and does nothing until resumed",
  STOPPED: "It has no tasks; its offsets can be changed",
};

const RANKS = new Map(Object.keys(STATES).map((state, rank) => [state, rank]));

/** The rank of a state: what needs a person comes first. */
export function rank(state) {
  return RANKS.get(state) ?? RANKS.size;
}

/** The one word for a connector and its tasks: one failed task is a failure to look at. */
export function overall(connector, tasks, isStalled = false) {
  if (connector === "FAILED" || tasks.includes("FAILED")) return "FAILED";
  if (isStalled) return "STALLED";
  if (connector === "RUNNING" && tasks.includes("RESTARTING")) return "RESTARTING";
  return connector;
}

/** A state as a coloured dot and its word. */
export function pill(state) {
  const word = h("span", {}, state);
  return h("span", { class: "pill", "data-state": state, title: STATES[state] ?? "" }, dot(), word);
}

/** Give a pill another state, in place. */
export function setPill(element, state) {
  if (element.dataset.state === state) return;
  element.dataset.state = state;
  element.title = STATES[state] ?? "";
  element.lastChild.textContent = state;
}

function dot() {
  return h("span", { class: "dot", "aria-hidden": "true" });
}
