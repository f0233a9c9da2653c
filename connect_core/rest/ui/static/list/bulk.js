/** One act on all that are selected. */

import { forAll } from "../acts.js";
import { api } from "../api.js";
import { button, h, setText } from "../dom.js";
import { plural } from "../format.js";

/** Make the bar over a set of selected names. */
export function bulkBar(selected, refresh, paint) {
  const number = h("span", { class: "number" });
  const restart = button("Restart failed", () => act("Restarting", failedOf(), (name) => api.restart(name, true)));
  const element = h(
    "div",
    { class: "bulk", role: "group", "aria-label": "Act on the selected connectors", hidden: true },
    number,
    button("Pause", () => act("Paused", [...selected], api.pause)),
    button("Resume", () => act("Resumed", [...selected], api.resume)),
    restart,
    button("Select none", () => clear(), { class: "quiet" }),
  );
  let entries = [];
  let isBusy = false;

  function failedOf() {
    return entries.filter((entry) => selected.has(entry.name) && entry.state === "FAILED").map((entry) => entry.name);
  }

  function clear() {
    selected.clear();
    paint();
  }

  async function act(done, names, one) {
    if (isBusy) return;
    isBusy = true;
    await forAll(names, done, one);
    await refresh();
    isBusy = false;
  }

  return {
    element,
    update(shown) {
      entries = shown;
      // What a filter hides is not acted on.
      const names = new Set(shown.map((entry) => entry.name));
      for (const name of selected) if (!names.has(name)) selected.delete(name);
      element.hidden = selected.size === 0;
      setText(number, `${plural(selected.size, "connector")} selected`);
      const failed = failedOf().length;
      restart.disabled = failed === 0;
      setText(restart, failed ? `Restart ${failed} failed` : "Restart failed");
    },
  };
}
