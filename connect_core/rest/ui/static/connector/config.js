/** The configuration: edited as a form or as JSON, and every version it had. */

import { api } from "../api.js";
import { button, fill, h } from "../dom.js";
import { moment } from "../format.js";
import { diff } from "../form/diff.js";
import { editor } from "../form/editor.js";
import { attempt } from "../notices.js";

/** Show the configuration. What is being edited is not touched by refreshes. */
export function showConfig(element, context) {
  const notice = h("div");
  const body = h("div");
  const past = h("details", { class: "history" }, h("summary", {}, "History"), h("div"));
  past.addEventListener("toggle", () => past.open && showHistory(past.lastChild, context.name));
  element.append(notice, body, past);
  let made = null;
  let version = null;

  async function open(overview) {
    version = overview.config_version;
    made?.close();
    await attempt("", async () => {
      const stored = await api.config(context.name);
      made = editor({ plugin: overview.connector_class, stored, isNew: false, confirm: "Save", save });
      fill(notice);
      fill(body, made.element);
      if (past.open) await showHistory(past.lastChild, context.name);
    });
  }

  function save(config) {
    return attempt("Saved. A running interval keeps the configuration it was planned with.", async () => {
      await api.saveConfig(context.name, config);
      version = null;
      await context.refresh();
    });
  }

  return {
    update(overview) {
      if (version === overview.config_version) return;
      if (version === null || !made?.isChanged()) open(overview);
      else fill(notice, outdated(() => open(overview)));
    },
    close: () => made?.close(),
  };
}

function outdated(load) {
  return h("p", { class: "note" }, "Another user changed the configuration meanwhile. ", button("Load the new version, discard mine", load));
}

async function showHistory(box, name) {
  await attempt("", async () => fill(box, (await api.configHistory(name)).versions.map(card)));
}

function card(version) {
  const all = h("details", {}, h("summary", {}, "The whole configuration"), h("pre", { tabindex: "0" }, JSON.stringify(version.config, null, 2)));
  return h(
    "article",
    { class: "card" },
    h("header", {}, h("h2", {}, `Version ${version.version}`), h("span", { class: "faint" }, version.actor ? `${version.actor}, ` : "", moment(version.created_at))),
    diff(version.changes),
    all,
  );
}
