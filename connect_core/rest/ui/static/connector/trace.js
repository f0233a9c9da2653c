/** An error with its trace, on one click. */

import { button, h } from "../dom.js";
import { attempt } from "../notices.js";

/** A trace: its first line open, the rest behind it. */
export function trace(text, isOpen = false) {
  const [first, ...rest] = text.trimEnd().split("\n");
  if (!rest.length) return h("p", { class: "trace-line" }, first);
  const copy = button("Copy", () => attempt("Copied", () => navigator.clipboard.writeText(text)), { class: "quiet" });
  return h(
    "details",
    { class: "trace", open: isOpen },
    h("summary", {}, last(text) ?? first),
    h("div", { class: "trace-text" }, navigator.clipboard ? copy : null, h("pre", { tabindex: "0" }, text)),
  );
}

/** Python says at the end what went wrong. */
function last(text) {
  const lines = text.trimEnd().split("\n");
  return lines[0].startsWith("Traceback") ? lines.findLast((line) => /^\S/.test(line)) : null;
}
