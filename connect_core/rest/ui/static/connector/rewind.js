/** Choosing the interval to go back to. */

import { api } from "../api.js";
import { ask } from "../dialogs.js";
import { h } from "../dom.js";
import { absolute, plural } from "../format.js";
import { attempt } from "../notices.js";

const OFFERED = 200;

/** Ask for an interval → its number, null for none. */
export async function chooseInterval(name) {
  let intervals = [];
  await attempt("", async () => {
    const page = await api.intervals(name, null, OFFERED);
    intervals = page.intervals.filter((one) => one.state === "COMMITTED");
  });
  if (!intervals.length) {
    await ask({ title: "There is nothing to go back to", says: [h("p", {}, "No interval was committed yet.")], confirm: "Understood" });
    return null;
  }
  const options = intervals.map((one) =>
    h("option", { value: one.sequence }, `#${one.sequence} · ${absolute(one.started_at)} · ${plural(one.counts.records, "record")}`),
  );
  const select = h("select", { size: Math.min(8, Math.max(2, options.length)) }, options);
  select.selectedIndex = 0;
  const says = [h("label", { class: "field" }, "Read again from the start of interval", select)];
  const yes = await ask({ title: `Rewind ${name}`, says, confirm: "Preview" });
  return yes && select.value ? Number(select.value) : null;
}
