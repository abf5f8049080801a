// What lasts while the tab is open: the API key and what it may do, and how the reader likes the page.
import {signal, effect} from "./base.js";

const KEY = "memquorum.key", THEME = "memquorum.theme", ZONE = "memquorum.zone";

/** The API key. It is kept in the session storage of the tab and nowhere else. @type {import("../vendor/signals.js").Signal<string>} */
export const key = signal(kept(sessionStorage, KEY) ?? "");
/** What the key may do, as `GET /access` tells it; null before that is known. */
export const access = signal(/** @type {Api.Access | null} */ (null));
/** "light", "dark", or "" for what the system has. */
export const theme = signal(kept(localStorage, THEME) ?? "");
/** Whose zone times are shown in: "utc" or "own". */
export const zone = signal(kept(localStorage, ZONE) ?? "utc");

/** True if the key has one of these rights. @param {string[]} rights */
export function may(...rights) {
  return rights.some((one) => access.value?.rights.includes(one));
}

/** True if the key sees all namespaces. */
export const everywhere = () => Boolean(access.value?.namespaces.includes("*"));

export function leave() {
  key.value = "";
  access.value = null;
}

effect(() => keep(sessionStorage, KEY, key.value));
effect(() => keep(localStorage, ZONE, zone.value));
effect(() => {
  keep(localStorage, THEME, theme.value);
  if (theme.value) document.documentElement.dataset.theme = theme.value;
  else delete document.documentElement.dataset.theme;
});

function kept(storage, name) {
  try {
    return storage.getItem(name);
  } catch {
    return null; // a browser that keeps nothing
  }
}

function keep(storage, name, value) {
  try {
    if (value) storage.setItem(name, value);
    else storage.removeItem(name);
  } catch {
    // It lasts as long as the page then.
  }
}
