// One epoch: member × proposal, what each saw, how far each proposal reached the quorum, and the certificate.
import {html, useState} from "../lib/base.js";
import {get, post, segment} from "../lib/api.js";
import {filter, href, namespace, place} from "../lib/place.js";
import {Answer, Copy, Facts, Head, Nothing, Part, tipped, useAnswer} from "../lib/parts.js";
import {count, many, MemoryLink, ppm, share, Time, Words} from "../lib/words.js";
import {KINDS, Outcome, Quorum, terms, thresholds, triggered} from "../lib/votes.js";

export default function Epoch() {
  const [, shard, epoch] = place.value.path, ns = namespace.value;
  const found = useAnswer((signal) => decided(ns, Number(epoch), signal), [ns, shard, epoch]);
  return html`<${Head} title=${`Epoch ${epoch} of shard ${shard}`} about="One round of votes, as its certificate proves it."><a href=${href("decisions", {by: "epoch"})}>All epochs</a><//>
    <${Answer} of=${found} show=${(votes) => (votes.length ? html`<${Shown} votes=${votes} />` : html`<${Nothing}>Epoch ${epoch} had no vote on memories of <b>${ns}</b> that your key may see. Perhaps it was about another namespace of the shard, or about an order.<//>`)} />`;
}

/**
 * All votes of an epoch in a namespace. A cursor of the list names an epoch, and pages follow each other.
 * @param {string} ns
 * @param {number} epoch
 * @param {AbortSignal} signal
 */
async function decided(ns, epoch, signal) {
  const {epochs} = await epochsAround(ns, epoch, signal), one = epochs.find((found) => found.epoch === epoch);
  if (!one) return [];
  const votes = [];
  let cursor;
  do {
    const page = await post("decisions/list", {namespace: ns, since: one.as_of, until: one.as_of + 1, limit: 100, cursor}, signal);
    votes.push(...page.decisions.filter((vote) => vote.epoch === epoch));
    cursor = page.next;
  } while (cursor);
  const kept = (vote) => Number(vote.outcome === "kept" || vote.outcome === "voided");
  return votes.map((vote) => ({...vote, trigger: one.trigger})).sort((a, b) => kept(a) - kept(b) || a.position - b.position);
}

/**
 * @param {string} ns
 * @param {number} epoch
 * @param {AbortSignal} signal
 */
async function epochsAround(ns, epoch, signal) {
  let cursor;
  for (;;) {
    const page = await post("epochs/list", {namespace: ns, limit: 100, cursor}, signal);
    if (!page.next || !page.epochs.length || page.epochs[page.epochs.length - 1].epoch <= epoch) return page;
    cursor = page.next;
  }
}

const PAGE = 10;

function Shown({votes}) {
  const [first] = votes, certificate = first.vote.certificate;
  const from = Math.min(Number(place.value.query.from) || 0, votes.length - 1), shown = votes.slice(from, from + PAGE);
  const ended = [...new Set(votes.map((one) => one.outcome))].map((outcome) => html`<${Outcome} outcome=${outcome} /> ${count(votes.filter((one) => one.outcome === outcome).length)} `);
  return html`<${Facts} rows=${[
      ["Decided", html`<${Time} ms=${first.as_of} /> <span class="muted">by the shard's clock</span>`], ["Opened because", triggered(first.trigger)],
      ["Proposals", html`${count(votes.length)}: ${ended}`], ["Configuration", count(first.vote.config)], ["Journal entry", count(first.journal_seq)],
    ]} />
    <${Matrix} key=${from} votes=${shown} />
    ${votes.length > PAGE && html`<nav class="pages" aria-label="Proposals"><button type="button" disabled=${from === 0} onClick=${() => filter({from: Math.max(0, from - PAGE) || ""})}>Earlier</button><span class="muted">proposals ${from + 1} to ${from + shown.length} of ${count(votes.length)}, those that changed something first</span><button type="button" disabled=${from + PAGE >= votes.length} onClick=${() => filter({from: from + PAGE})}>Next</button></nav>`}
    <${Part} title="Proposals"><div class="proposals">${shown.map((vote) => html`<${Proposal} key=${vote.position} vote=${vote} />`)}</div><//>
    ${certificate && html`<${Certificate} of=${certificate} vote=${first.vote} />`}`;
}

function Matrix({votes}) {
  const [chosen, choose] = useState(/** @type {{at: number, member: number} | null} */ (null));
  const members = new Map(votes.flatMap((one) => one.vote.opinions.map((opinion) => [opinion.member, opinion])));
  const rows = [...members.values()].sort((one, other) => one.member - other.member);
  if (!rows.length) return html`<${Nothing}>The certificate proves no ballot: ${first(votes).complaint ?? "it has none"}.<//>`;
  const picked = chosen && votes[chosen.at]?.vote.opinions.find((one) => one.member === chosen.member);
  return html`<${Part} title="Who voted what" tools=${html`<span class="muted">✓ for it, ✕ against it; arrow keys move</span>`}>
    <div class="scroll"><table class="matrix" role="grid" aria-label="Members and proposals" onKeyDown=${arrows}>
      <thead><tr><th scope="col">Member</th>${votes.map((one) => html`<th scope="col"><a href=${href(`memory/${one.memories[0]?.memory_id}`)} title=${`${one.kind}: memory ${one.memories[0]?.memory_id}`}><span class="kind">${one.kind}</span> ${one.memories[0]?.memory_id.slice(0, 4)}</a></th>`)}</tr></thead>
      <tbody>${rows.map((member, row) => html`<tr><th scope="row"><${Words} text=${member.name} /> <span class="muted">${member.role === member.name ? "" : `${member.role}, `}${share(member.voice_ppm / 1e6)}</span></th>
        ${votes.map((one, column) => html`<${Cell} opinion=${one.vote.opinions.find((found) => found.member === member.member)} kind=${one.kind} first=${row === 0 && column === 0} choose=${() => choose({at: column, member: member.member})} />`)}</tr>`)}
        <tr class="ended"><th scope="row">Outcome</th>${votes.map((one) => html`<td><${Outcome} outcome=${one.outcome} /></td>`)}</tr>
      </tbody></table></div>
    ${picked && html`<div class="chosen" role="status"><b><${Words} text=${picked.name} /></b> was ${picked.yes ? "for" : "against"} it (${KINDS[votes[chosen.at].kind]}). <${Terms} opinion=${picked} /></div>`}
      <${Scores} kinds=${votes.map((one) => one.kind)} config=${first(votes).config} />
  <//>`;
}

/** What the numbers of the matrix are, and from which one on a member votes yes. */
function Scores({kinds, config}) {
  const ns = namespace.value, found = useAnswer((signal) => get(`policy/${segment(ns)}`, {}, signal), [ns]), policy = found.value;
  if (!policy) return html`<p class="note below">The number is the member's score, in [0, 1].</p>`;
  return html`<div class="note below"><p>The number is the member's score, in [0, 1]. By the policy in force${policy.config !== config && ` (configuration ${policy.config}; this epoch was decided under ${config})`}:</p>
    <ul class="scores">${thresholds(kinds, policy.sections).map((told) => html`<li>${told}</li>`)}</ul></div>`;
}

const first = (votes) => votes[0].vote;

function Cell({opinion, kind, first: one, choose}) {
  if (!opinion) return html`<td class="silent" title="Its ballot is not in the certificate">·</td>`;
  const told = `${opinion.name} ${opinion.yes ? "for it" : "against it"}, score ${ppm(opinion.score_ppm)}`;
  return html`<td class=${opinion.yes ? "yes" : "no"}><button type="button" tabindex=${one ? 0 : -1} aria-label=${`${told}, ${kind}`} onClick=${choose} ...${tipped(html`<${Terms} opinion=${opinion} />`)}>${opinion.yes ? "✓" : "✕"}<small>${(opinion.score_ppm / 1e6).toFixed(2)}</small></button></td>`;
}

const Terms = ({opinion}) => html`<dl class="facts">${terms(opinion).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

/** Moves the focus from cell to cell. */
function arrows(event) {
  const move = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key];
  if (!move || event.target.tagName !== "BUTTON") return;
  event.preventDefault();
  const row = event.target.closest("tr"), column = [...row.children].indexOf(event.target.closest("td"));
  const rows = [...row.parentElement.children], to = rows[rows.indexOf(row) + move[0]]?.children[column + move[1]]?.querySelector("button");
  if (to) {
    event.target.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }
}

function Proposal({vote: one}) {
  return html`<article class="proposal"><header><${Outcome} outcome=${one.outcome} /> <b>${one.kind}</b> ${one.memories.map((memory) => html`<span class="named"><${MemoryLink} id=${memory.memory_id} /> <span class="muted">now ${memory.state}</span></span>`)}</header>
    <${Quorum} vote=${one.vote} kind=${one.kind} />
    ${one.lines.filter((line) => !line.startsWith("About ")).map((line) => html`<p><${Words} text=${line.trim()} /></p>`)}
    ${one.policy && html`<p class="note">By the budget's policy ${one.policy}${one.score !== null && `, score ${one.score}`}</p>`}
    ${one.numbers.length > 0 && html`<details><summary>With all numbers</summary><pre>${one.numbers.map((line) => html`<${Words} text=${`${line}\n`} />`)}</pre></details>`}
  </article>`;
}

function Certificate({of, vote}) {
  return html`<${Part} title="Certificate" tools=${html`<span class="badge good">✓ checked by the service</span>`}>
    <p class="muted">The service checked the signatures against the genesis file and computed the outcome again. To check it without the service: <code>memquorum admin audit verify</code>.</p>
    <${Facts} rows=${[
      ["View", count(of.view)], ["Sequence", count(of.seq)], ["Primary", `member ${of.primary}`],
      ["Ballots of", of.ballots.join(", ")], ["Commits of", `${of.commits.join(", ")} (${many(of.commits.length, "member")}, ${count(vote.quorum)} are needed)`],
      ["Digest", html`<code class="long">${of.digest}</code> <${Copy} text=${of.digest} label="the digest" />`],
    ]} /><//>`;
}
