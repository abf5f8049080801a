// The endpoints of the service, asked as any client asks them.
import {key} from "./session.js";

const SERVICE = new URL("../", document.baseURI);

/** An answer that is none: what went wrong, and what to do about it. */
export class Failed extends Error {
  /**
   * @param {number} status the HTTP status; 0 where the service did not answer
   * @param {string} code
   * @param {string} detail
   * @param {string | null} field the field at fault
   */
  constructor(status, code, detail, field = null) {
    super(detail);
    this.status = status;
    this.code = code;
    this.field = field;
  }
}

/**
 * @typedef {Record<string, string | number | boolean | null | undefined>} Query
 * @typedef {{body?: object, query?: Query, signal?: AbortSignal}} More
 */

/**
 * Asks the service, and returns the JSON of its answer.
 * @param {string} method
 * @param {string} path below the address of the service, without a slash before it
 * @param {More} more
 * @returns {Promise<any>}
 */
export async function ask(method, path, {body, query, signal} = {}) {
  const answer = await send(method, path, {body, query, signal});
  return answer.json();
}

/**
 * Asks with POST, without the fields that are empty.
 * @template {string} P
 * @param {P} path
 * @param {Api.Asked<P>} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<Api.Post<P>>}
 */
export function post(path, body, signal) {
  return ask("POST", path, {body: filled(body), signal});
}

/**
 * Asks with GET.
 * @template {string} P
 * @param {P} path
 * @param {Query} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<Api.Get<P>>}
 */
export function get(path, query, signal) {
  return ask("GET", path, {query, signal});
}

/**
 * Returns the answer before its body is read. Throws Failed for one with an error.
 * @param {string} method
 * @param {string} path
 * @param {More} more
 */
export async function send(method, path, {body, query, signal} = {}) {
  const address = new URL(path, SERVICE);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== "") address.searchParams.set(name, String(value));
  }
  const headers = {Accept: "application/json"};
  if (key.value) headers.Authorization = `Bearer ${key.value}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(address, {
      method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Failed(0, "no_answer", `The service at ${SERVICE.host} does not answer. It may be restarting: try again, or look at \`memquorum admin fleet status\`.`);
  }
  if (!answer.ok) throw await failure(answer);
  return answer;
}

/** @param {Response} answer */
async function failure(answer) {
  const told = await answer.json().catch(() => ({}));
  const detail = told.detail ?? `The service answered with status ${answer.status}.`;
  return new Failed(answer.status, told.error ?? "error", detail, told.field ?? null);
}

/**
 * Returns an object without its empty fields.
 * @param {object} body
 */
export function filled(body) {
  const kept = Object.entries(body).filter(([, one]) => !(one === undefined || one === null || one === "" || (Array.isArray(one) && !one.length)));
  return Object.fromEntries(kept);
}

/** Percent-encodes one segment of a path. @param {string} text */
export const segment = (text) => encodeURIComponent(text);
