/** Form and JSON over one configuration, with what is wrong and what will change below them. */

import { button, fill, h, setText } from "../dom.js";
import { plural } from "../format.js";
import { configForm } from "./form.js";
import { configModel } from "./model.js";
import { diff } from "./diff.js";

/**
 * Make an editor.
 *
 * `save` gets the configuration and resolves to whether it was stored;
 * `isNew` is for a connector that does not exist yet.
 */
export function editor({ plugin, stored, isNew, confirm, save }) {
  const model = configModel(plugin, stored, { found, trouble });
  const form = configForm(model, { isNew });
  const text = h("textarea", { class: "json", rows: 22, spellcheck: "false", "aria-label": "Configuration as JSON", oninput: readText });
  const views = { form: form.element, json: h("div", { hidden: true }, text) };
  const parts = {
    problem: h("p", { class: "problem", role: "alert", hidden: true }),
    errors: h("div", { class: "save-errors", role: "status" }),
    changes: h("div", { class: "save-changes" }),
  };
  const yes = button(confirm, submit, { class: "primary" });
  const switches = ["form", "json"].map((view) => button(view === "form" ? "Form" : "JSON", () => show(view), { "data-view": view }));
  const element = h(
    "div",
    { class: "editor" },
    h("div", { class: "segmented", role: "group", "aria-label": "How to edit" }, switches),
    views.form,
    views.json,
    h("div", { class: "save-bar" }, parts.problem, parts.changes, parts.errors, yes),
  );
  let infos = null;

  function show(view) {
    views.form.hidden = view !== "form";
    views.json.hidden = view !== "json";
    for (const one of switches) one.setAttribute("aria-pressed", String(one.dataset.view === view));
    if (view === "json") text.value = JSON.stringify(sortedByKey(model.json()), null, 2);
    else form.show();
  }

  function readText() {
    try {
      const value = JSON.parse(text.value);
      const isFlat = value && typeof value === "object" && !Array.isArray(value);
      if (!isFlat) throw new Error("write one object with string values");
      const texts = Object.entries(value).map(([key, one]) => [key, typeof one === "string" ? one : JSON.stringify(one)]);
      model.replace(Object.fromEntries(texts));
      trouble("");
      showChanges();
    } catch (error) {
      trouble(`This is not JSON: ${error.message}`);
    }
  }

  function found(next) {
    infos = next;
    form.update(next);
    const wrong = next.configs.filter((one) => one.value?.errors?.length);
    fill(
      parts.errors,
      wrong.length ? [plural(next.error_count, "error"), ": ", wrong.map((one, index) => [index ? ", " : "", jump(one.value.name)])] : "No error found",
    );
    parts.errors.classList.toggle("bad", wrong.length > 0);
    showChanges();
  }

  function jump(key) {
    return button(key, () => (show("form"), form.focus(key)), { class: "link" });
  }

  function trouble(reason) {
    parts.problem.hidden = !reason;
    setText(parts.problem, reason);
    yes.disabled = Boolean(reason);
  }

  function showChanges() {
    const changes = isNew ? [] : model.changes();
    const isOpen = parts.changes.querySelector("details")?.open ?? false;
    fill(parts.changes, changes.length ? h("details", { open: isOpen }, h("summary", {}, plural(changes.length, "change")), diff(changes)) : null);
    yes.disabled = !isNew && changes.length === 0;
  }

  async function submit() {
    yes.disabled = true;
    const isStored = await save(model.json());
    if (!isStored) {
      yes.disabled = false;
      await model.check();
    }
  }

  show("form");
  if (!isNew) yes.disabled = true;
  model.check();
  return { element, isChanged: () => model.changes().length > 0, close: () => model.stop(), hasErrors: () => (infos?.error_count ?? 0) > 0 };
}

function sortedByKey(config) {
  return Object.fromEntries(Object.entries(config).sort(([one], [other]) => (one < other ? -1 : 1)));
}
