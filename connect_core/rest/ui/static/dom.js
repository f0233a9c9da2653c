/**
 * Building the page. Every text, wherever it comes from, becomes a text node:
 * nothing in these modules parses markup.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element.
 *
 * Of the properties, functions named `on…` are listeners, `false`, `null` and
 * `undefined` are left out, `true` is an empty attribute and `value`, `checked`
 * and the like are set on the element itself. Children are nodes or texts.
 */
export function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Make an element of a drawing. */
export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

const OWN = new Set(["value", "checked", "disabled", "open", "hidden", "indeterminate"]);

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (OWN.has(name) && name in element) {
      element[name] = value ?? "";
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

/** Append nodes and texts; nested lists are flattened, nothing and `false` left out. */
export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : String(child));
    }
  }
}

/** Put new children in the place of the old ones. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** Set a text only where it differs, so that selections and screen readers are left in peace. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A button that does something. */
export function button(text, onclick, properties = {}) {
  return h("button", { type: "button", onclick, ...properties }, text);
}
