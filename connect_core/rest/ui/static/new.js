/** A new connector: which plugin, then its form. */

import { api } from "./api.js";
import { fill, h } from "./dom.js";
import { editor } from "./form/editor.js";
import { shortClass } from "./list/model.js";
import { attempt, warn } from "./notices.js";
import { address, connectorAddress, go } from "./routes.js";

/** Show the plugins, or the form of the one in the address. */
export function showNew(element, route) {
  document.title = "New connector";
  const plugin = route.parts[1];
  const title = plugin ? `New ${shortClass(plugin)} connector` : "New connector";
  element.append(
    h("p", { class: "crumb" }, h("a", { href: "#/" }, "Connectors"), plugin ? [" / ", h("a", { href: "#/new" }, "New")] : null),
    h("h1", {}, title),
  );
  return plugin ? showForm(element, plugin) : showPlugins(element);
}

function showPlugins(element) {
  const body = h("div", { class: "plugins" }, "Loading…");
  element.append(h("p", {}, "A source brings data into Kafka, a sink takes it out."), body);
  api.plugins().then(
    (plugins) => fill(body, ["source", "sink"].map((type) => group(type, plugins.filter((one) => one.type === type)))),
    (error) => warn(error.message),
  );
  return {};
}

function group(type, plugins) {
  if (!plugins.length) return null;
  const cards = plugins.map((one) =>
    h(
      "a",
      { class: "card plugin", href: address(["new", one.class]) },
      h("strong", {}, shortClass(one.class)),
      h("span", { class: "faint" }, one.class),
      h("small", { class: "faint" }, one.version),
    ),
  );
  return h("section", {}, h("h2", {}, type === "source" ? "Sources" : "Sinks"), h("div", { class: "cards" }, cards));
}

function showForm(element, plugin) {
  const state = h(
    "select",
    {},
    [["RUNNING", "Run at once"], ["PAUSED", "Created paused"], ["STOPPED", "Created stopped"]].map(([value, text]) => h("option", { value }, text)),
  );
  const stored = { "connector.class": plugin };
  const made = editor({ plugin, stored, isNew: true, confirm: "Create", save });

  function save(config) {
    const name = (config.name ?? "").trim();
    return attempt(`Created ${name}`, async () => {
      await api.create(config.name ?? "", config, state.value);
      go(connectorAddress(name));
    });
  }

  made.element.querySelector(".save-bar").prepend(h("label", { class: "inline" }, "Then: ", state));
  element.append(made.element);
  return { close: made.close };
}
