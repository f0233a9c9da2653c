/** The calendar of a scheduled export: its time slots, day by day, each with what can be done about it. */

import { runNow } from "../acts.js";
import { api } from "../api.js";
import { ask } from "../dialogs.js";
import { button, fill, h } from "../dom.js";
import { absolute, count, moment, plural } from "../format.js";
import { attempt, setOffline } from "../notices.js";

const DAY_MS = 86_400_000;
const PERIODS = { short: 7 * DAY_MS, long: 30 * DAY_MS };
const FEW = 8;
const SECONDS = { quiet: 15, busy: 5 };

/** State → its sign beside the colour, and what it means. */
const STATES = {
  finished: ["✓", "The export has passed its end"],
  late: ["+", "Finished; its run also exported records of earlier times, into additional files"],
  running: ["…", "It is being exported"],
  failed: ["✗", "Its export failed or was given up"],
  due: ["·", "It has just ended, and its run has not begun"],
  missing: ["!", "It ended and is not exported"],
  unknown: ["?", "It is before the first interval that the history still contains"],
};

/** Whether a connector may have time slots: whether it has them, the API says. */
export function mayHaveSlots(overview) {
  return overview?.type === "sink" && overview.schedule !== "@continuous";
}

/** The calendar, hidden until the API says that there is one; `update` asks again where it is time to. */
export function calendar(name) {
  const element = h("section", { class: "calendar", "aria-label": "Time slots", hidden: true });
  const details = h("div", { class: "slot-details", role: "status" });
  const ended = new AbortController();
  let period = PERIODS.short;
  let until = null;
  let chosen = null;
  let shown = "";
  let asked = 0;
  let wait = 0;

  async function load() {
    asked = Date.now();
    const end = until ?? asked;
    const ends = [end - period, end].map((time) => new Date(time).toISOString());
    try {
      const found = await api.slots(name, ends[0], until === null ? null : ends[1], ended.signal);
      if (period === PERIODS.short && !found.reason && found.slots.length <= FEW) {
        period = PERIODS.long;
        return await load();
      }
      show(found);
    } catch (error) {
      if (error.name !== "AbortError") setOffline(error.message);
    }
    return null;
  }

  function show(found) {
    const isBusy = found.slots.some((slot) => ["running", "due"].includes(slot.state)) || waits(found.request);
    wait = (isBusy ? SECONDS.busy : SECONDS.quiet) * 1000;
    const fingerprint = JSON.stringify([{ ...found, since: null, until: null }, until]);
    if (fingerprint === shown) return;
    shown = fingerprint;
    element.hidden = !found.schedule;
    const focused = document.activeElement?.dataset?.end;
    fill(element, heading(found), moves(), legend(found.slots), requestLine(found.request), table(found, pick), details);
    pick(found, found.slots.find((slot) => slot.end === chosen) ?? null);
    if (focused) element.querySelector(`[data-end="${CSS.escape(focused)}"]`)?.focus();
  }

  function pick(found, slot) {
    chosen = slot?.end ?? null;
    for (const one of element.querySelectorAll(".slot")) one.setAttribute("aria-pressed", String(one.dataset.end === chosen));
    const again = async (act) => {
      if (await act()) await load();
    };
    fill(details, slot ? detailsOf(name, found, slot, again) : null);
  }

  function moves() {
    const move = (step) => () => {
      const wanted = (until ?? Date.now()) + step * period;
      until = wanted >= Date.now() ? null : wanted;
      load();
    };
    return h("div", { class: "acts" }, button("Earlier", move(-1)), button("Later", move(1), { disabled: until === null }));
  }

  function update() {
    if (Date.now() - asked >= wait) load();
  }

  return { element, update, close: () => ended.abort() };
}

function waits(request) {
  return request !== null && request.done_at === null;
}

function heading(found) {
  const zones = found.timezone === "UTC" ? "Times are in UTC." : `Times are in ${found.timezone}, the schedule is in UTC.`;
  return [h("h2", {}, "Time slots"), h("p", { class: "faint" }, "Schedule ", h("code", {}, found.schedule), `. ${zones}`)];
}

function legend(slots) {
  const items = Object.entries(STATES).map(([state, [sign, says]]) => {
    const number = slots.filter((slot) => slot.state === state).length;
    return number ? h("li", { title: says }, h("span", { class: "slot-mark", "data-slot": state }, sign), ` ${count(number)} ${state}`) : null;
  });
  return h("ul", { class: "slot-legend", "aria-label": "States" }, items);
}

/** What became of the last backfill, where Airflow was told later; a success or an old refusal is not news. */
function requestLine(request) {
  const isNews = request && (!request.done_at || (request.error && Date.now() - Date.parse(request.done_at) < DAY_MS));
  if (!isNews) return null;
  const what = `The backfill that ${request.actor || "somebody"} requested ${absolute(request.asked_at)}`;
  if (waits(request)) return h("p", { class: "faint" }, `${what} waits for Airflow${request.error ? `: ${request.error}` : "."}`);
  return h("p", { class: "problem", role: "alert" }, `${what} was refused: ${request.error}`);
}

/** A row for each day, a button for each slot. */
function table(found, pick) {
  if (!found.slots.length) return h("p", { class: "faint" }, `${found.reason ?? "No slot ends in this period"}.`);
  const days = new Map();
  for (const slot of found.slots) {
    const day = slot.local_start.slice(0, 10);
    days.set(day, [...(days.get(day) ?? []), slot]);
  }
  const rows = [...days].reverse().map(([day, slots]) => {
    const items = slots.map((slot) => h("li", {}, slotButton(slot, slots, () => pick(found, slot))));
    return h("tr", {}, h("th", { scope: "row" }, day), h("td", {}, h("ul", { class: "slot-list" }, items)));
  });
  const heads = h("tr", {}, h("th", { scope: "col" }, "Day"), h("th", { scope: "col" }, "Slots, by their start"));
  return h("table", { class: "plain slots" }, h("thead", {}, heads), h("tbody", {}, rows));
}

function slotButton(slot, ofDay, onclick) {
  const [sign, says] = STATES[slot.state];
  const properties = {
    class: "slot",
    "data-slot": slot.state,
    "data-end": slot.end,
    "aria-pressed": "false",
    "aria-label": `${timeOf(slot)}: ${slot.state}`,
    title: `${timeOf(slot)}: ${says}`,
  };
  return button(`${startOf(slot, ofDay)} ${sign}`, onclick, properties);
}

/** `02`, `02:15`, or `02 +01:00` of the hour that a day has twice. */
function startOf(slot, ofDay) {
  const time = slot.local_start.slice(11, 16);
  const short = time.endsWith(":00") ? time.slice(0, 2) : time;
  const isTwice = ofDay.filter((one) => one.local_start.slice(11, 16) === time).length > 1;
  return isTwice ? `${short} ${slot.local_start.slice(19)}` : short;
}

/** `2026-11-26 02:00 to 03:00`, with the shift from UTC where the two ends differ in it. */
function timeOf(slot) {
  const [start, end] = [slot.local_start, slot.local_end];
  const isSameDay = start.slice(0, 10) === end.slice(0, 10);
  const shifts = start.slice(19) === end.slice(19) ? ["", ""] : [start.slice(19), end.slice(19)];
  const text = (iso, hasDay, shift) => `${hasDay ? `${iso.slice(0, 10)} ` : ""}${iso.slice(11, 16)}${shift ? ` (${shift})` : ""}`;
  return `${text(start, true, shifts[0])} to ${text(end, !isSameDay, shifts[1])}`;
}

/** `hour`, `day`, or `time slot`. */
function nounOf(slot) {
  const hours = (Date.parse(slot.end) - Date.parse(slot.start)) / 3_600_000;
  return { 1: "hour", 24: "day" }[hours] ?? "time slot";
}

function detailsOf(name, found, slot, again) {
  const own = slot.interval_count
    ? `${plural(slot.records, "record")}${slot.late ? `, ${count(slot.late)} of them late` : ""}, in ${plural(slot.interval_count, "interval")}, the last #${slot.last_interval}.`
    : "No interval of its own: it had no record when its run came, or a later interval took it.";
  const hasEnded = ["finished", "late"].includes(slot.state);
  return [
    h("p", {}, h("strong", {}, `${timeOf(slot)}: ${slot.state}.`), ` ${STATES[slot.state][1]}.`),
    hasEnded || slot.interval_count ? h("p", {}, own, slot.exported_at ? [" Exported ", moment(slot.exported_at), "."] : null) : null,
    slot.exported_again_at ? h("p", {}, "Exported again ", moment(slot.exported_again_at), ".") : null,
    slot.reason ? h("p", { class: "problem" }, `The last export of it: ${slot.reason}`) : null,
    acts(name, found, slot, again),
  ];
}

function acts(name, found, slot, again) {
  if (slot.can_export_again) {
    const noun = nounOf(slot);
    const start = button(`Export this ${noun} again`, () => again(() => exportAgain(name, slot, noun)), { disabled: Boolean(found.obstacle) });
    return h("div", { class: "acts" }, start, found.obstacle ? h("span", { class: "faint" }, ` ${found.obstacle}.`) : null);
  }
  if (slot.state === "running") return null;
  const says = "The live export has not reached it: its next run exports it.";
  return h("div", { class: "acts" }, button("Run now", () => again(() => runNow(name))), h("span", { class: "faint" }, ` ${says}`));
}

async function exportAgain(name, slot, noun) {
  const says = h(
    "ul",
    {},
    h("li", {}, `Airflow runs a backfill of ${timeOf(slot)}, that is ${slot.start} to ${slot.end}.`),
    h("li", {}, "Each interval with records of it is read again from Kafka; its files replace the existing ones under the same names."),
    h("li", {}, "What was exported again by the present configuration, and is complete, stays as it is."),
    h("li", {}, "Offsets do not move; live runs wait for the backfill's intervals."),
  );
  const yes = await ask({ title: `Export this ${noun} again?`, says, confirm: "Export again" });
  return yes && attempt(`Requested a backfill of ${timeOf(slot)}`, () => api.backfill(name, slot.start, slot.end));
}
