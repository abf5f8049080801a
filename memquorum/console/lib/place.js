// The address of what is shown: #/page/part?filters. All filters are in it, so a link shows the same again. It is behind
// the "#", so no proxy and no log on the way sees what was asked.
import {signal, computed} from "./base.js";

/**
 * @typedef {{path: string[], query: Record<string, string>}} Place
 */

/** @returns {Place} */
function read() {
  const [, path, query] = location.hash.match(/^#?\/?([^?]*)\??(.*)$/s) ?? ["", "", ""];
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Where the reader is. */
export const place = signal(read());
/** The namespace of all that is shown; it goes along from page to page. */
export const namespace = computed(() => place.value.query.ns || "default");
addEventListener("hashchange", () => (place.value = read()));

/**
 * Returns the address of a page, in the same namespace unless the query names another.
 * @param {string} path
 * @param {import("./api.js").Query} query
 */
export function href(path, query = {}) {
  const all = /** @type {import("./api.js").Query} */ ({ns: place.value.query.ns, ...query});
  const kept = Object.entries(all).filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  const text = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  const segments = path.split("/").filter(Boolean).map(encodeURIComponent).join("/");
  return `#/${segments}${text ? `?${text}` : ""}`;
}

/**
 * Goes to a page.
 * @param {string} path
 * @param {import("./api.js").Query} [query]
 */
export function go(path, query) {
  location.hash = href(path, query);
}

/**
 * Changes filters of this page; an empty one is taken out. `quiet`: without a step that Back returns to.
 * @param {import("./api.js").Query} changed
 */
export function filter(changed, quiet = false) {
  const to = href(place.value.path.join("/"), {...place.value.query, ...changed});
  if (to === location.hash) return;
  if (quiet) {
    history.replaceState(null, "", to);
    place.value = read();
  } else {
    location.hash = to;
  }
}

/** Returns a filter as a list; it is kept as words with commas between them. @param {string | undefined} text */
export const listed = (text) => (text ?? "").split(",").map((one) => one.trim()).filter(Boolean);

/** Returns the beginning of a day of a filter, by UTC, in milliseconds; nothing where none is named. @param {string | undefined} text */
export const day = (text) => (text ? Date.parse(`${text}T00:00:00Z`) || undefined : undefined);
