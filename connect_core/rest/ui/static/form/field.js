/** One setting: its label, input, words and errors, all from its definition. */

import { fill, h, setText } from "../dom.js";

const NUMBERS = new Set(["INT", "LONG", "SHORT", "DOUBLE"]);

let made = 0;

/** Make the field of a definition; `change` gets its text. */
export function field(definition, change) {
  made += 1;
  const id = `field-${made}`;
  const input = inputOf(definition, id, change);
  const offered = h("datalist", { id: `${id}-offered` });
  const errors = h("ul", { class: "field-errors", id: `${id}-errors`, role: "alert" });
  const element = h(
    "div",
    { class: "field", "data-width": definition.width, "data-key": definition.name },
    h("label", { for: id }, labelOf(definition)),
    input,
    offered,
    errors,
    h("p", { class: "help", id: `${id}-help` }, help(definition)),
  );
  input.setAttribute("aria-describedby", `${id}-errors ${id}-help`);
  return {
    element,
    input,
    /** Show what the API found about the setting: recommended values, errors, whether it counts. */
    update(value) {
      offer(input, offered, value.recommended_values ?? []);
      const problems = value.errors ?? [];
      if (errors.dataset.shown !== problems.join("\n")) fill(errors, problems.map((text) => h("li", {}, text)));
      errors.dataset.shown = problems.join("\n");
      input.setAttribute("aria-invalid", String(problems.length > 0));
      element.classList.toggle("has-errors", problems.length > 0);
      element.classList.toggle("irrelevant", value.visible === false && problems.length === 0);
    },
    /** Show a text that did not come from this input. */
    show(text) {
      if (input.value !== text && document.activeElement !== input) input.value = text;
      element.classList.toggle("is-set", text !== "");
    },
  };
}

function labelOf(definition) {
  const title = definition.display_name && definition.display_name !== definition.name ? definition.display_name : null;
  const needed = definition.required ? h("span", { class: "required" }, "required") : null;
  return [title ? h("span", {}, title) : null, h("code", {}, definition.name), needed];
}

function help(definition) {
  const preset = definition.default_value;
  const hasPreset = preset !== null && preset !== "" && definition.type !== "PASSWORD";
  return [definition.documentation, hasPreset ? h("span", { class: "faint" }, ` Default: ${preset}`) : null];
}

function inputOf(definition, id, change) {
  if (definition.type === "BOOLEAN") return select(definition, id, change);
  const properties = {
    id,
    name: definition.name,
    spellcheck: "false",
    autocomplete: "off",
    placeholder: definition.type === "PASSWORD" ? "" : (definition.default_value ?? ""),
    inputmode: NUMBERS.has(definition.type) ? "numeric" : null,
    "aria-required": definition.required ? "true" : null,
  };
  const type = definition.type === "PASSWORD" ? "password" : "text";
  const input = h("input", { ...properties, type, list: `${id}-offered` });
  if (definition.type === "PASSWORD") input.setAttribute("autocomplete", "new-password");
  input.addEventListener("input", () => change(input.value));
  return input;
}

function select(definition, id, change) {
  const preset = definition.default_value === null ? "" : ` (${definition.default_value})`;
  const options = [["", `default${preset}`], ["true", "true"], ["false", "false"]];
  return h(
    "select",
    { id, name: definition.name, onchange: (event) => change(event.currentTarget.value) },
    options.map(([value, text]) => h("option", { value }, text)),
  );
}

function offer(input, datalist, values) {
  if (input.tagName === "SELECT" || datalist.dataset.values === values.join("\n")) return;
  datalist.dataset.values = values.join("\n");
  fill(datalist, values.map((value) => h("option", { value })));
}

/** A field for a setting that no definition knows. */
export function freeField(key, change, remove) {
  made += 1;
  const id = `field-${made}`;
  const input = h("input", { id, name: key, type: "text", spellcheck: "false", autocomplete: "off" });
  input.addEventListener("input", () => change(input.value));
  const errors = h("ul", { class: "field-errors", role: "alert" });
  const element = h(
    "div",
    { class: "field is-set", "data-key": key, "data-width": "LONG" },
    h("label", { for: id }, h("code", {}, key)),
    h("div", { class: "beside" }, input, remove),
    errors,
  );
  return {
    element,
    input,
    update(value) {
      fill(errors, (value.errors ?? []).map((text) => h("li", {}, text)));
      element.classList.toggle("has-errors", (value.errors ?? []).length > 0);
    },
    show(text) {
      if (document.activeElement !== input) setText(element.querySelector("code"), key);
      if (document.activeElement !== input) input.value = text;
    },
  };
}
