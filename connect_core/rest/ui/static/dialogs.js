/** Questions. Airflow's frame allows no confirm() and no alert(): these are `<dialog>`s. */

import { button, h } from "./dom.js";

/**
 * Ask before doing something → whether it was confirmed.
 *
 * `says` are nodes and texts that tell what will happen. The safe answer has
 * the focus, Escape gives it too.
 */
export function ask({ title, says, confirm, isDanger = false, isWide = false }) {
  return new Promise((resolve) => {
    const cancel = button("Cancel", () => dialog.close("no"), { autofocus: true });
    const yes = button(confirm, () => dialog.close("yes"), { class: isDanger ? "danger" : "primary" });
    const id = `dialog-${Date.now()}`;
    const dialog = h(
      "dialog",
      { "aria-labelledby": id, class: isWide ? "wide" : "" },
      h("h2", { id }, title),
      h("div", { class: "says" }, says),
      h("div", { class: "answers" }, cancel, yes),
    );
    dialog.addEventListener("close", () => {
      const toasts = document.getElementById("toasts");
      if (dialog.contains(toasts)) document.body.append(toasts);
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
