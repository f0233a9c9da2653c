/** The form: a group of fields for each group of definitions, checked while one types. */

import { button, fill, h, setText } from "../dom.js";
import { plural } from "../format.js";
import { field, freeField } from "./field.js";

const OWN = "The connector's own";
const OTHER = "Other settings";

/** What needs no field: the page itself knows it. */
const FIXED = new Set(["connector.class"]);

/**
 * Make the form over a model.
 *
 * `isNew` lets the name be written. Returns `{ element, show, update, errors }`:
 * `update` takes Connect's `ConfigInfos`, `errors` lists the keys that have one.
 */
export function configForm(model, { isNew }) {
  const fields = new Map();
  const groups = new Map();
  const body = h("div", { class: "groups" });
  const filter = h("input", {
    type: "search",
    placeholder: "Find a setting",
    "aria-label": "Find a setting",
    oninput: () => choose(),
  });
  const all = h("input", { type: "checkbox", onchange: () => choose() });
  const bar = h("div", { class: "form-bar" }, filter, h("label", { class: "inline" }, all, " Show every setting"));
  const element = h("form", { class: "config-form", onsubmit: (event) => event.preventDefault() }, bar, body, adder());

  function groupOf(title) {
    if (!groups.has(title)) {
      const inside = h("div", { class: "fields" });
      const number = h("span", { class: "faint" });
      const box = h("details", { class: "group", open: true }, h("summary", {}, title, " ", number), inside);
      groups.set(title, { box, inside, number });
      body.append(box);
    }
    return groups.get(title);
  }

  function add(definition) {
    const made = field(definition, (text) => change(definition.name, text));
    made.importance = definition.importance;
    made.isRequired = definition.required;
    if (definition.name === "name" && !isNew) made.input.readOnly = true;
    insert(groupOf(definition.group ?? OWN).inside, made.element, definition.order_in_group);
    fields.set(definition.name, made);
    made.show(model.config.get(definition.name) ?? "");
  }

  function addFree(key) {
    const remove = button("Remove", () => drop(key), { class: "quiet", "aria-label": `Remove ${key}` });
    const made = freeField(key, (text) => model.set(key, text), remove);
    made.isFree = true;
    groupOf(OTHER).inside.append(made.element);
    fields.set(key, made);
    made.show(model.config.get(key) ?? "");
    return made;
  }

  function drop(key) {
    model.set(key, "");
    fields.get(key)?.element.remove();
    fields.delete(key);
    choose();
  }

  function change(key, text) {
    model.set(key, text);
    fields.get(key).element.classList.toggle("is-set", text !== "");
  }

  function update(infos) {
    for (const { definition, value } of infos.configs) {
      const key = definition?.name ?? value?.name;
      if (!key || FIXED.has(key)) continue;
      if (definition && fields.get(key)?.isFree) take(key);
      if (!fields.has(key)) (definition ? add(definition) : addFree(key));
      if (value) fields.get(key).update(value);
    }
    for (const key of model.config.keys()) if (!fields.has(key) && !FIXED.has(key)) addFree(key);
    forget(new Set(infos.configs.map((one) => one.definition?.name)));
    choose();
  }

  /** A free field that a definition has been found for, say of a new transform. */
  function take(key) {
    fields.get(key).element.remove();
    fields.delete(key);
  }

  /** Definitions come and go with the names of transforms. */
  function forget(defined) {
    for (const [key, one] of fields) {
      if (!one.isFree && !defined.has(key) && !model.config.has(key)) take(key);
    }
  }

  /** Show what is set, required, important or wrong; the rest when asked for. */
  function choose() {
    const word = filter.value.trim().toLowerCase();
    for (const [key, one] of fields) {
      const stands = all.checked || one.isFree || one.isRequired || one.importance === "HIGH" || model.config.has(key);
      const fits = word ? one.element.textContent.toLowerCase().includes(word) : stands;
      one.element.hidden = !(fits || one.element.classList.contains("has-errors") || one.element.contains(document.activeElement));
    }
    for (const { box, inside, number } of groups.values()) {
      const shown = [...inside.children].filter((one) => !one.hidden).length;
      box.hidden = shown === 0;
      setText(number, shown < inside.children.length ? `${shown} of ${plural(inside.children.length, "setting")}` : "");
    }
  }

  function adder() {
    const key = h("input", { type: "text", placeholder: "key, such as transforms", "aria-label": "Key of another setting", spellcheck: "false" });
    const go = () => {
      const name = key.value.trim();
      if (!name) return;
      key.value = "";
      const one = fields.get(name) ?? addFree(name);
      choose();
      one.element.hidden = false;
      one.element.closest("details").hidden = false;
      one.input.focus();
    };
    key.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), go()));
    return h("div", { class: "adder" }, key, button("Add a setting", go));
  }

  return {
    element,
    update,
    /** Show the model's texts, after something else has changed them. */
    show() {
      for (const [key, one] of fields) {
        if (one.isFree && !model.config.has(key)) take(key);
        else one.show(model.config.get(key) ?? "");
      }
      choose();
    },
    focus: (key) => {
      const one = fields.get(key);
      if (one) (one.element.hidden = false), one.input.focus();
    },
  };
}

/** Insert by the order in the group; what has none comes last, in the order of the definition. */
function insert(inside, element, order) {
  element.dataset.order = order < 0 ? 1e6 : order;
  const after = [...inside.children].find((one) => Number(one.dataset.order) > Number(element.dataset.order));
  inside.insertBefore(element, after ?? null);
}
