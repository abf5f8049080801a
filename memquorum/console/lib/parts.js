// The parts that pages are made of.
import {html, signal, useEffect, useRef, useState} from "./base.js";
import {Failed} from "./api.js";
import {filter, place} from "./place.js";
import {span} from "./words.js";

/**
 * @template T
 * @typedef {{state: "idle" | "waiting" | "there" | "failed", value?: T, error?: unknown, since: number}} Found
 */

/**
 * Asks for something, and again when what it depends on changes. The question before is given up then.
 * @template T
 * @param {((signal: AbortSignal) => Promise<T>) | null} question null: nothing to ask
 * @param {unknown[]} on what the question depends on
 * @param {boolean} quiet whether an answer that is there stays as it is while the next one is awaited
 * @returns {Found<T> & {again: () => void, put: (value: T) => void}}
 */
export function useAnswer(question, on, quiet = false) {
  const [turn, setTurn] = useState(0);
  const [found, set] = useState(/** @type {Found<T>} */ ({state: question ? "waiting" : "idle", since: performance.now()}));
  useEffect(() => {
    if (!question) {
      set({state: "idle", since: 0});
      return undefined;
    }
    const stop = new AbortController();
    set((before) => (quiet && before.state === "there" ? before : {state: "waiting", since: performance.now(), value: before.value}));
    question(stop.signal).then(
      (value) => stop.signal.aborted || set({state: "there", value, since: 0}),
      (error) => stop.signal.aborted || set({state: "failed", error, since: 0}),
    );
    return () => stop.abort();
  }, [...on, turn]);
  return {...found, again: () => setTurn(turn + 1), put: (value) => set({state: "there", value, since: 0})};
}

/**
 * Asks again and again while the page is looked at, so long after each answer: a slow one is waited for, not given up.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} question
 * @param {unknown[]} on
 * @param {number} ms
 */
export function useAgain(question, on, ms) {
  const [beat, set] = useState(0), found = useAnswer(question, [...on, beat], true);
  useEffect(() => {
    if (found.value === undefined && found.error === undefined) return undefined;
    const timer = setInterval(() => {
      if (document.hidden) return;
      clearInterval(timer);
      set((n) => n + 1);
    }, ms);
    return () => clearInterval(timer);
  }, [found.value, found.error]);
  return found;
}

/** What an answer shows: the wait for it, what went wrong, or what is there. `show`: makes that of the answer. */
export function Answer({of, show, idle = null}) {
  if (of.state === "idle") return idle;
  if (of.state === "failed") return html`<${Failure} error=${of.error} again=${of.again} />`;
  if (of.state === "waiting" && of.value === undefined) return html`<${Waiting} since=${of.since} />`;
  return html`<div class="answer" aria-busy=${of.state === "waiting"}>${of.state === "waiting" && html`<${Waiting} since=${of.since} slim />`}${show(of.value)}</div>`;
}

/** Says that an answer is awaited, and for how long. */
export function Waiting({since, slim = false}) {
  const [, beat] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => beat((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, []);
  const waited = performance.now() - since;
  return html`<div class=${slim ? "waiting slim" : "waiting"} role="status"><span class="bar"></span><span class="told">Waiting for the service${waited > 1500 ? `, ${span(Math.round(waited / 1000) * 1000)} so far` : ""}</span></div>`;
}

/** Says what went wrong, and what to do. */
export function Failure({error, again}) {
  const known = error instanceof Failed;
  const head = HEADS[known ? error.status : -1] ?? (known && error.status >= 500 ? "The service could not answer" : "That was refused");
  return html`<div class="failure" role="alert">
    <strong>${known ? head : "The page failed here"}</strong>
    <p>${known ? error.message : String(error)}${known && error.field ? html` <span class="muted">(field <code>${error.field}</code>)</span>` : ""}</p>
    ${known && error.status === 403 && html`<p class="muted">The rights of your key are shown behind the key sign above. An operator gives more with <code>memquorum admin keys add</code>.</p>`}
    ${again && (!known || error.status === 0 || error.status >= 429) && html`<button type="button" onClick=${again}>Try again</button>`}
  </div>`;
}

const HEADS = {
  0: "No answer", 401: "The key does not open", 403: "Your key may not see this", 404: "Nothing is there",
  429: "Your key asks too much at once", 504: "It took too long",
};

/** Says that there is nothing, and why that may be. */
export const Nothing = ({children}) => html`<p class="nothing">${children}</p>`;

/** The heading of a page, with what can be done beside it. */
export function Head({title, children, about}) {
  useEffect(() => {
    document.title = `${title} · memquorum`;
  }, [title]);
  return html`<header class="head"><h1 tabindex="-1" id="title">${title}</h1>${about && html`<p class="about">${about}</p>`}<div class="tools">${children}</div></header>`;
}

/** A part of a page under a heading of its own. */
export function Part({title, children, tools, id}) {
  return html`<section class="part" id=${id} aria-label=${title}><header><h2>${title}</h2>${tools && html`<div class="tools">${tools}</div>`}</header>${children}</section>`;
}

/**
 * @template T
 * @typedef {{name: string, of: (row: T) => unknown, kind?: "number" | "words", about?: string}} Column
 */

/** A table. A column's `of` makes the cell of a row; `about` is told beside its name. */
export function Table({columns, rows, caption, keyed}) {
  return html`<div class="scroll"><table>
    <caption class="sr">${caption}</caption>
    <thead><tr>${columns.map((one) => html`<th scope="col" class=${one.kind ?? ""} title=${one.about ?? ""}>${one.name}</th>`)}</tr></thead>
    <tbody>${rows.map((row, at) => html`<tr key=${keyed ? keyed(row) : at}>${columns.map((one) => html`<td class=${one.kind ?? ""} data-name=${one.name}>${one.of(row)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** Names and values, side by side. `rows`: pairs; those without a value are left out. */
export function Facts({rows}) {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The way from page to page of a long list. Cursors of the pages before stand in the address. */
export function Pages({next, shown}) {
  const {cursor, back} = place.value.query;
  const before = (back ?? "").split(" ").filter(Boolean);
  if (!next && !cursor) return html`<p class="pages muted">${shown}, all of them</p>`;
  return html`<nav class="pages" aria-label="Pages">
    <button type="button" disabled=${!cursor} onClick=${() => filter({cursor: before.at(-1) === "-" ? "" : before.at(-1), back: before.slice(0, -1).join(" ")})}>Earlier page</button>
    <span class="muted">${shown} on this page</span>
    <button type="button" disabled=${!next} onClick=${() => filter({cursor: next, back: [...before, cursor || "-"].join(" ")})}>Next page</button>
  </nav>`;
}

/** A form whose fields are filters of the address. It is sent as a whole. */
export function Filters({fields, children, label = "Filters"}) {
  const form = useRef(/** @type {any} */ (null));
  const send = (event) => {
    event?.preventDefault();
    const given = new FormData(form.current);
    const changed = Object.fromEntries(fields.map((name) => [name, given.getAll(name).filter(Boolean).join(",")]));
    filter({...changed, cursor: "", back: ""});
  };
  const open = innerWidth > 760 || fields.some((name) => place.value.query[name]);
  return html`<details class="fold" open=${open}><summary>${label}</summary><form ref=${form} class="filters" aria-label=${label} onSubmit=${send} onChange=${(event) => event.target.dataset.now !== undefined && send()}>${children}</form></details>`;
}

/** A field of filters. */
export function Field({name, label, type = "text", placeholder = "", list, value, about, grow = false, ...more}) {
  const now = value ?? place.value.query[name] ?? "";
  return html`<label class=${grow ? "field grow" : "field"} title=${about ?? ""}><span>${label}</span><input name=${name} type=${type} value=${now} placeholder=${placeholder} list=${list} autocomplete="off" spellcheck=${false} ...${more} /></label>`;
}

/** A choice among values; "" for any. */
export function Choice({name, label, values, any = "any", value, about}) {
  const now = value ?? place.value.query[name] ?? "";
  return html`<label class="field" title=${about ?? ""}><span>${label}</span><select name=${name} data-now value=${now}><option value="">${any}</option>${values.map((one) => {
    const [of, told] = Array.isArray(one) ? one : [one, one];
    return html`<option value=${of} selected=${now === of}>${told}</option>`;
  })}</select></label>`;
}

/** A part of a whole as a bar; `mark`: where a limit is. */
export function Bar({value, whole = 1, mark, label, tone = ""}) {
  const part = whole > 0 ? Math.max(0, Math.min(1, value / whole)) : 0;
  const at = mark === undefined || whole <= 0 ? null : Math.max(0, Math.min(1, mark / whole));
  return html`<svg class=${`meter ${tone}`} viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=${label}>
    <title>${label}</title><rect class="whole" width="100" height="10" rx="2" /><rect class="part" width=${100 * part} height="10" rx="2" />
    ${at !== null && html`<line class="mark" x1=${100 * at} x2=${100 * at} y1="0" y2="10" />`}
  </svg>`;
}

/** What is shown beside the pointer, or beside what has the focus. */
export const tip = signal(/** @type {{at: DOMRect, content: unknown} | null} */ (null));

/** Attributes by which an element shows a tip. */
export function tipped(content) {
  const show = (/** @type {any} */ event) => (tip.value = {at: event.currentTarget.getBoundingClientRect(), content});
  const hide = () => (tip.value = null);
  return {onMouseEnter: show, onMouseLeave: hide, onFocus: show, onBlur: hide, onKeyDown: (event) => event.key === "Escape" && hide()};
}

export function Tip() {
  if (!tip.value) return null;
  const {at, content} = tip.value;
  const left = Math.max(8, Math.min(at.left, innerWidth - 340)), below = at.bottom < innerHeight - 220;
  const style = below ? {left: `${left}px`, top: `${at.bottom + 6}px`} : {left: `${left}px`, bottom: `${innerHeight - at.top + 6}px`};
  return html`<div class="tip" role="tooltip" style=${style}>${content}</div>`;
}

/** Copies a text; says so for a moment. */
export function Copy({text, label}) {
  const [done, set] = useState(false);
  const copy = () => navigator.clipboard?.writeText(text).then(() => {
    set(true);
    setTimeout(() => set(false), 1200);
  }, () => set(false));
  return html`<button type="button" class="copy" onClick=${copy} aria-label=${`Copy ${label}`} title=${`Copy ${label}`}>${done ? "copied" : "copy"}</button>`;
}
