/** How many connectors are in which state; each counter is a filter. */

import { button, fill, h } from "../dom.js";
import { count } from "../format.js";
import { STATES } from "../states.js";

/** Make the counters; `choose` gets a state, or "" for all. */
export function counters(choose) {
  const buttons = new Map(["", ...Object.keys(STATES)].map((state) => [state, counter(state, choose)]));
  const element = h("div", { class: "counters", role: "group", "aria-label": "Filter by state" }, [...buttons.values()]);
  return {
    element,
    update(entries, wanted) {
      const numbers = new Map([["", entries.length]]);
      for (const entry of entries) numbers.set(entry.state, (numbers.get(entry.state) ?? 0) + 1);
      for (const [state, made] of buttons) {
        const number = numbers.get(state) ?? 0;
        made.hidden = number === 0 && state !== "" && state !== "FAILED" && state !== wanted;
        made.classList.toggle("none", number === 0);
        made.setAttribute("aria-pressed", String(state === wanted));
        if (made.dataset.number !== String(number)) {
          made.dataset.number = number;
          fill(made, h("b", {}, count(number)), h("span", {}, state || "ALL"));
        }
      }
    },
  };
}

function counter(state, choose) {
  return button("", () => choose(state), { class: "counter", "data-state": state || "ALL", title: STATES[state] });
}
