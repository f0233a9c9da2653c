/** Asking again and again, politely: not while nobody looks, not twice at once. */

/**
 * Call `load` now and `seconds` after each answer.
 *
 * `load` gets an AbortSignal. Returns `{ now, stop }`; `now` asks at once and
 * resolves after the answer.
 */
export function poll(load, seconds) {
  const ended = new AbortController();
  let timer = null;
  let running = null;

  async function once() {
    clearTimeout(timer);
    try {
      await load(ended.signal);
    } finally {
      running = null;
      if (!ended.signal.aborted) timer = setTimeout(tick, seconds * 1000);
    }
  }

  function now() {
    running ??= once();
    return running;
  }

  function tick() {
    if (document.hidden) timer = setTimeout(tick, 1000);
    else now();
  }

  now();
  return {
    /** Ask once more after what is under way, so that the answer is newer than the call. */
    async now() {
      await running;
      if (!ended.signal.aborted) await now();
    },
    stop() {
      ended.abort();
      clearTimeout(timer);
    },
  };
}

/** Return a function that runs `act` once its calls have ceased for `milliseconds`; `cancel` forgets the last one. */
export function debounced(act, milliseconds) {
  let timer = null;
  const later = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...values), milliseconds);
  };
  return Object.assign(later, { cancel: () => clearTimeout(timer) });
}
