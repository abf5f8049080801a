// The console: its frame, who reads, and which page is shown.
import {html, render, signal, useEffect, useRef, useState} from "./lib/base.js";
import {Failed, get, post} from "./lib/api.js";
import {filter, href, namespace, place} from "./lib/place.js";
import {access, everywhere, key, leave, may, theme, zone} from "./lib/session.js";
import {Failure, Head, Tip, Waiting, tip} from "./lib/parts.js";
import {count, many, zoned} from "./lib/words.js";

/** The pages, by the first part of the address. `rights`: one of them is needed; none, and the page needs no key. */
const PAGES = [
  {name: "now", title: "Now", load: () => import("./pages/now.js"), rights: ["read", "audit"]},
  {name: "journal", title: "Journal", load: () => import("./pages/journal.js"), rights: ["read", "audit"]},
  {name: "memories", title: "Browse", load: () => import("./pages/browse.js"), rights: ["read"]},
  {name: "ask", title: "Ask", load: () => import("./pages/ask.js"), rights: ["read"]},
  {name: "decisions", title: "Epochs and votes", load: () => import("./pages/decisions.js"), rights: ["read", "audit"]},
  {name: "conflicts", title: "Conflicts and consolidation", load: () => import("./pages/conflicts.js"), rights: ["read"]},
  {name: "experience", title: "Budgets and experience", load: () => import("./pages/experience.js"), rights: ["read", "audit"]},
  {name: "members", title: "Members", load: () => import("./pages/members.js"), rights: ["read", "audit"]},
  {name: "orders", title: "Orders, erasures, audit", load: () => import("./pages/orders.js"), rights: ["read", "forget", "erase", "audit"]},
  {name: "keys", title: "API keys", load: () => import("./pages/keys.js"), rights: ["read", "publish", "forget", "erase", "audit", "admin"]},
  {name: "api", title: "API", load: () => import("./pages/api.js"), rights: []},
  {name: "memory", hidden: true, under: "memories", load: () => import("./pages/memory.js"), rights: ["read", "audit"]},
  {name: "epoch", hidden: true, under: "decisions", load: () => import("./pages/epoch.js"), rights: ["read", "audit"]},
];
const FIRST = PAGES[0];
const failed = signal(/** @type {unknown} */ (null));

// The module of the page comes while the service says what the key may do. What fails here is told where it is shown.
PAGES.find((one) => one.name === (place.value.path[0] ?? FIRST.name))?.load().catch(() => {});

/** Learns what the key may do; asks for another one where it does not open. */
async function enter() {
  failed.value = null;
  try {
    const found = await get("access"), [only, ...others] = found.namespaces;
    // A key that sees one namespace alone is shown that one.
    if (!place.value.query.ns && !others.length && !only.includes("*")) filter({ns: only}, true);
    access.value = found;
  } catch (error) {
    access.value = null;
    failed.value = error;
  }
}

function App() {
  if (!access.value) {
    const free = PAGES.find((one) => one.name === place.value.path[0] && !one.rights.length);
    if (free) return html`<main><${Page} page=${free} name=${free.name} /></main>`;
    const wants = failed.value instanceof Failed && failed.value.status === 401;
    if (wants) return html`<${Door} wrong=${key.value ? failed.value : null} />`;
    return html`<main class="door">${failed.value ? html`<${Failure} error=${failed.value} again=${enter} />` : html`<${Waiting} since=${0} />`}</main>`;
  }
  return html`<a class="skip" href="#title" onClick=${toTitle}>To the page</a><${Frame} /><${Tip} />`;
}

function toTitle(event) {
  event.preventDefault();
  document.getElementById("title")?.focus();
}

/** Asks for the API key, once for the tab. */
function Door({wrong}) {
  const given = useRef(/** @type {any} */ (null));
  const open = (event) => {
    event.preventDefault();
    key.value = given.current.value.trim();
    enter();
  };
  useEffect(() => {
    document.title = "Key · memquorum";
    given.current.focus();
  }, []);
  return html`<main class="door"><form onSubmit=${open}>
    <h1><${Mark} /> memquorum</h1>
    <p>This service wants an API key. The page keeps it until the tab is closed, and sends it to this service alone.</p>
    <label class="field grow"><span>API key</span><input ref=${given} type="password" name="key" required autocomplete="off" placeholder="mq_…" /></label>
    ${wrong && html`<p class="failure" role="alert">${wrong.message}</p>`}
    <button class="first">Open the console</button>
    <p class="muted">An operator makes one: <code>memquorum admin keys add --name me --right read --right audit</code></p>
  </form></main>`;
}

const Mark = () => html`<img class="mark" src="icon.svg" alt="" width="22" height="22" />`;

function Frame() {
  const [name] = place.value.path.length ? place.value.path : [FIRST.name];
  const page = PAGES.find((one) => one.name === name);
  const here = page?.under ?? name;
  const [open, setOpen] = useState(false);
  useEffect(() => {
    setOpen(false);
    tip.value = null;
  }, [place.value]);
  return html`<div class="frame">
    <nav class=${open ? "side open" : "side"} aria-label="Console"><div>
      <a class="brand" href=${href(FIRST.name)}><${Mark} /> memquorum</a>
      <button type="button" class="menu" aria-expanded=${open} onClick=${() => setOpen(!open)}>Menu</button>
      <ul>${PAGES.filter((one) => !one.hidden).map((one) => html`<li><a href=${href(one.name)} aria-current=${one.name === here ? "page" : undefined}>${one.title}</a></li>`)}</ul>
      <${Reader} />
    </div></nav>
    <main><${Namespace} /><${Page} page=${page} name=${name} /></main>
  </div>`;
}

/** Who reads, and how. */
function Reader() {
  const {rights, namespaces} = /** @type {Api.Access} */ (access.value);
  return html`<div class="reader">
    <label class="field"><span>Times in</span><select value=${zone.value} onChange=${(event) => (zone.value = event.target.value)}>
      <option value="utc">UTC</option><option value="own">your zone</option></select></label>
    <label class="field"><span>Colours</span><select value=${theme.value} onChange=${(event) => (theme.value = event.target.value)}>
      <option value="">system</option><option value="light">light</option><option value="dark">dark</option></select></label>
    <details><summary>${key.value ? "Your key" : "No key is needed"}</summary>
      <p>Rights: ${rights.join(", ")}</p><p>Namespaces: ${namespaces.join(", ")}</p>
      ${key.value && html`<button type="button" onClick=${() => { leave(); enter(); }}>Forget the key</button>`}
    </details>
  </div>`;
}

const OFFERED = 8;

/** The namespace that is shown; those that the key sees are offered. */
function Namespace() {
  const given = useRef(/** @type {any} */ (null)), [known, learn] = useState(/** @type {Api.NamespaceInShort[]} */ ([]));
  const look = () => known.length || !may("read", "audit") || post("namespaces/list", {limit: 500}).then((page) => learn(page.namespaces), () => {});
  const named = Boolean(place.value.query.ns), some = known.some((one) => one.namespace === namespace.value);
  // An address that names no namespace shows the one that there is, or offers those that have something.
  useEffect(() => {
    if (!named) look();
  }, [named]);
  useEffect(() => {
    if (!named && known.length === 1 && !some) filter({ns: known[0].namespace}, true);
  }, [named, known]);
  const set = (event) => {
    event.preventDefault();
    filter({ns: given.current.value.trim(), cursor: "", back: ""});
  };
  return html`<form class="namespace" onSubmit=${set} aria-label="Namespace">
    <label><span>Namespace</span><input ref=${given} name="ns" value=${namespace.value} list="namespaces" autocomplete="off" spellcheck=${false} onFocus=${look} /></label>
    <datalist id="namespaces">${known.map((one) => html`<option value=${one.namespace}>${many(one.memories, "memory", "memories")}</option>`)}</datalist>
    <button type="submit">Show</button>
    ${!named && !some && known.length > 1 && html`<span class="others">Nothing is in <b>${namespace.value}</b>. Choose: ${known.slice(0, OFFERED).map((one, at) => html`${at > 0 && " · "}<a href=${href(place.value.path.join("/"), {...place.value.query, ns: one.namespace})}>${one.namespace}</a> (${many(one.memories, "memory", "memories")})`)}${known.length > OFFERED && html` and ${count(known.length - OFFERED)} more, which the field lists`}</span>`}
    <span class="muted clock">Times in ${zoned()}${everywhere() ? "" : `; your key sees ${access.value?.namespaces.join(", ")}`}</span>
  </form>`;
}

const loaded = new Map();

/** A page, whose module is asked for when it is first shown. */
function Page({page, name}) {
  const [, came] = useState(0);
  const [error, setError] = useState(null);
  const there = loaded.get(name);
  useEffect(() => {
    setError(null);
    if (page && !there) page.load().then((one) => {
      loaded.set(name, one.default);
      came((n) => n + 1);
    }, setError);
  }, [name]);
  if (!page) return html`<${Head} title="No such page" /><div class="failure"><p>The menu has the pages that there are.</p></div>`;
  if (page.rights.length && !may(...page.rights)) {
    return html`<${Head} title=${page.title ?? "Not allowed"} /><div class="failure" role="alert"><strong>Your key may not see this</strong><p>This page needs the right ${page.rights.join(" or ")}; your key has ${access.value?.rights.join(", ")}.</p></div>`;
  }
  if (error) return html`<${Failure} error=${error} />`;
  return there ? html`<${there} />` : html`<${Waiting} since=${performance.now()} />`;
}

enter();
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("page")));
