/** A configuration being edited: texts by key, what changed, what the API finds about it. */

import { api } from "../api.js";
import { debounced } from "../polling.js";

const QUIET_MS = 350;

/**
 * Hold a configuration.
 *
 * `found` is called with Connect's `ConfigInfos` after each pause in typing,
 * `trouble` with a text when it cannot be checked ("" when it can).
 */
export function configModel(plugin, stored, { found, trouble }) {
  const config = new Map(Object.entries(stored));
  let asked = new AbortController();

  async function check() {
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    try {
      const infos = await api.validate(plugin, Object.fromEntries(config), signal);
      if (signal.aborted) return;
      trouble("");
      found(infos);
    } catch (error) {
      if (error.name !== "AbortError") trouble(error.message);
    }
  }

  const soon = debounced(check, QUIET_MS);

  return {
    config,
    check,
    /** Set a key; an empty text takes it out, so that its default counts. */
    set(key, value) {
      if (value === "" || value === null) config.delete(key);
      else config.set(key, value);
      soon();
    },
    /** Take another configuration, as the JSON view writes it. */
    replace(next) {
      config.clear();
      for (const [key, value] of Object.entries(next)) config.set(key, value);
      soon();
    },
    json: () => Object.fromEntries(config),
    /** What differs from the stored configuration. */
    changes: () => differences(stored, Object.fromEntries(config)),
    stop: () => asked.abort(),
  };
}

/** The keys that differ between two configurations, as `{ key, before, after }`. */
export function differences(before, after) {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys
    .filter((key) => before[key] !== after[key])
    .map((key) => ({ key, before: before[key] ?? null, after: after[key] ?? null }));
}
