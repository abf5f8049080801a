// API keys: who has which, a new one, which is shown this once, and the end of one.
import {html, useRef, useState} from "../lib/base.js";
import {post} from "../lib/api.js";
import {listed, namespace, place} from "../lib/place.js";
import {Answer, Copy, Failure, Head, Pages, Part, Table, useAnswer, Waiting} from "../lib/parts.js";
import {access, key, may} from "../lib/session.js";
import {many, Time, Words} from "../lib/words.js";

const MEANS = {
  read: "search and read memories", publish: "publish episodes", forget: "propose to forget, restore and pin",
  erase: "order erasures", audit: "see votes, orders and the journal, without texts", admin: "make and revoke keys",
};

export default function Page() {
  return html`<${Head} title="API keys" about="Who may do what, and where. You see and revoke keys of namespaces that are all yours, and grant no more than you have yourself." />
    ${may("admin") ? html`<${Keys} />` : html`<${Denied} />`}`;
}

function Denied() {
  if (key.value) return html`<div class="failure" role="alert"><strong>Your key may not see this</strong><p>This page needs the right admin; your key has ${access.value?.rights.join(", ")}.</p></div>`;
  return html`<div class="failure" role="alert"><strong>Your key may not see this</strong><p>No key is in force here: whoever reaches this service may do everything else. The first key is made on the command line; from then on nobody comes in without one:</p><p><code>memquorum admin keys add me --namespace '*' --right read --right audit --right admin</code></p></div>`;
}

function Keys() {
  const {cursor} = place.value.query, [made, tell] = useState(/** @type {any} */ (null)), [ending, end] = useState(/** @type {any} */ (null));
  const found = useAnswer((signal) => post("keys/list", {cursor, limit: 50}, signal), [cursor], true);
  const done = (news) => {
    tell(news);
    end(null);
    found.again();
  };
  return html`${made && html`<${Made} made=${made} away=${() => tell(null)} />`}
    ${ending ? html`<${Revoke} key=${ending.key_id} one=${ending} done=${() => done(null)} away=${() => end(null)} />` : null}
    <${Part} title="Keys"><${Answer} of=${found} show=${(page) => html`<${Table} caption="API keys" rows=${page.keys} keyed=${(one) => one.key_id} columns=${columns(end)} />
      <${Pages} next=${page.next} shown=${many(page.keys.length, "key")} />`} /><//>
    <${Make} done=${done} />`;
}

const columns = (end) => [
  {name: "Owner", of: (one) => html`<${Words} text=${one.name} />`},
  {name: "Id", of: (one) => html`<code>${one.key_id}</code>`},
  {name: "Rights", of: (one) => one.rights.join(", ")},
  {name: "Namespaces", of: (one) => html`${one.namespaces.join(", ")}${one.slots.length > 0 && html`<span class="note">slots: <${Words} text=${one.slots.join(", ")} /></span>`}`},
  {name: "Made", of: (one) => html`<${Time} ms=${one.created_at} clock="wall" /> <span class="note">by ${one.made_by ? html`<code>${one.made_by}</code>` : "an operator"}</span>`},
  {name: "Until", of: (one) => (one.revoked_at ? html`<span class="badge bad">revoked</span> <${Time} ms=${one.revoked_at} clock="wall" />` : html`${!one.opens && html`<span class="badge warn">ended</span> `}${one.expires_at ? html`<${Time} ms=${one.expires_at} clock="wall" />` : "it is revoked"}`)},
  {name: "", of: (one) => (one.opens ? html`<button type="button" class="small" aria-label=${`Revoke the key of ${one.name}`} onClick=${() => end(one)}>Revoke</button>` : null)},
];

/** The new key: the page keeps it nowhere. */
function Made({made, away}) {
  return html`<${Part} title="The new key"><p role="status">This is the key of <b><${Words} text=${made.made.name} /></b>. It is shown this once: give it to its owner now.</p>
    <p><code class="long">${made.key}</code> <${Copy} text=${made.key} label="the key" /></p><p><button type="button" onClick=${away}>I have it</button></p><//>`;
}

/**
 * Sends something, and tells how that goes.
 * @returns {[import("../lib/parts.js").Found<never>, (path: string, body: object, done: (answer: any) => void) => Promise<void>]}
 */
function useSending() {
  const [state, set] = useState(/** @type {import("../lib/parts.js").Found<never>} */ ({state: "idle", since: 0}));
  const send = async (/** @type {string} */ path, /** @type {object} */ body, /** @type {(answer: any) => void} */ done) => {
    set({state: "waiting", since: performance.now()});
    try {
      const answer = await post(path, body);
      set({state: "idle", since: 0});
      done(answer);
    } catch (error) {
      set({state: "failed", error, since: 0});
    }
  };
  return [state, send];
}

const Sending = ({state}) => (state.state === "waiting" ? html`<${Waiting} since=${state.since} />` : state.state === "failed" ? html`<${Failure} error=${state.error} />` : null);

function Revoke({one, done, away}) {
  const [typed, type] = useState(""), [state, send] = useSending();
  const order = (event) => {
    event.preventDefault();
    send("keys/revoke", {key_id: one.key_id}, done);
  };
  return html`<${Part} title=${`Revoke ${one.key_id}`}><form class="filters confirm" onSubmit=${order} aria-label="Revoke the key">
    <label class="field grow"><span>Type <b><${Words} text=${one.name} /></b> to revoke its key: it opens nothing any more, and nothing brings it back${access.value && one.rights.includes("admin") ? ". Keys that it made stay in force" : ""}</span><input name="typed" value=${typed} onInput=${(event) => type(event.target.value)} autocomplete="off" spellcheck=${false} /></label>
    <button class="danger" disabled=${typed !== one.name || state.state === "waiting"}>Revoke the key</button> <button type="button" onClick=${away}>Leave it</button></form><${Sending} state=${state} /><//>`;
}

function Make({done}) {
  const form = useRef(/** @type {any} */ (null)), [state, send] = useSending();
  const {rights, slots} = /** @type {Api.Access} */ (access.value);
  const make = (event) => {
    event.preventDefault();
    const given = new FormData(form.current), text = (/** @type {string} */ name) => String(given.get(name) ?? "").trim();
    send("keys", {
      name: text("name"), namespaces: listed(text("namespaces")), rights: given.getAll("right"), slots: listed(text("slots")),
      days: text("days") ? Number(text("days")) : undefined,
    }, (made) => {
      form.current?.reset();
      done(made);
    });
  };
  return html`<${Part} title="A new key"><form ref=${form} class="filters" onSubmit=${make} aria-label="A new key">
    <label class="field"><span>Owner</span><input name="name" required maxlength="200" autocomplete="off" /></label>
    <label class="field grow"><span>Namespaces, with commas between them; team-* is a beginning</span><input name="namespaces" required value=${namespace.value} autocomplete="off" spellcheck=${false} /></label>
    <label class="field"><span>Days until it ends</span><input name="days" type="number" min="1" max="36500" placeholder="none" /></label>
    ${slots.length > 0 && html`<label class="field"><span>Slots that it takes from other agents</span><input name="slots" autocomplete="off" spellcheck=${false} /></label>`}
    <fieldset class="rights"><legend>Rights</legend>${rights.map((right) => html`<label class="check" title=${MEANS[right] ?? ""}><input type="checkbox" name="right" value=${right} defaultChecked=${right === "read"} /> ${right} <span class="muted">${MEANS[right]}</span></label>`)}</fieldset>
    <button class="first" disabled=${state.state === "waiting"}>Make the key</button></form><${Sending} state=${state} /><//>`;
}
