// The live feed of the journal: server-sent events, read from a stream since a browser's own reader sends no key.
import {Failed, segment, send} from "./api.js";

const PAUSES_MS = [1000, 2000, 5000, 10000];

/**
 * Follows a namespace until `signal` ends it. It goes on after the last entry when the service ends the feed, or is away.
 * @param {string} namespace
 * @param {string} cursor after which entry it begins
 * @param {(entry: Api.JournalLine) => void} take
 * @param {(state: "live" | "away" | "stopped", why?: string) => void} tell
 * @param {AbortSignal} signal
 */
export async function follow(namespace, cursor, take, tell, signal) {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const answer = await send("GET", `journal/${segment(namespace)}/feed`, {query: {cursor}, signal});
      tell("live");
      failures = 0;
      for await (const event of events(/** @type {ReadableStream<BufferSource>} */ (answer.body), signal)) {
        if (event.id) cursor = event.id;
        if (event.data && event.name !== "end") take(JSON.parse(event.data));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Failed && error.status !== 0 && error.status < 429) {
        tell("stopped", error.message);
        return;
      }
      tell("away", error instanceof Failed ? error.message : "the feed broke off");
      await pause(PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)], signal);
    }
  }
}

/**
 * Yields the events of a stream.
 * @param {ReadableStream<BufferSource>} body
 * @param {AbortSignal} signal
 */
async function* events(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  signal.addEventListener("abort", () => reader.cancel().catch(() => {}), {once: true});
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield event(block);
  }
}

/** @param {string} block */
function event(block) {
  const found = /** @type {Record<string, string>} */ ({name: "", id: "", data: ""});
  for (const line of block.split("\n")) {
    const [, name, value] = line.match(/^(event|id|data): ?(.*)$/) ?? [];
    if (name === "event") found.name = value;
    else if (name) found[name] += value;
  }
  return found;
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), {once: true});
  });
}
