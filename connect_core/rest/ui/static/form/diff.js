/** What changed between two configurations: every line has a sign and a colour. */

import { h } from "../dom.js";

/** Draw changes, each `{ key, before, after }`. */
export function diff(changes) {
  if (!changes.length) return h("p", { class: "faint" }, "Nothing changed.");
  return h("dl", { class: "diff" }, changes.map(change));
}

function change({ key, before, after }) {
  return h(
    "div",
    {},
    h("dt", {}, h("code", {}, key)),
    before === null ? null : h("dd", { class: "minus" }, h("span", { class: "sign" }, "- "), h("code", {}, before)),
    after === null ? null : h("dd", { class: "plus" }, h("span", { class: "sign" }, "+ "), h("code", {}, after)),
  );
}
