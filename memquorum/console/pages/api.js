// The API: its description as a page, for who writes a client.
import {html} from "../lib/base.js";
import {get} from "../lib/api.js";
import {place} from "../lib/place.js";
import {Answer, Field, Filters, Head, Part, useAnswer} from "../lib/parts.js";
import {count} from "../lib/words.js";

export default function Api() {
  const found = useAnswer((signal) => get("openapi.json", {}, signal), []);
  return html`<${Head} title="API" about="What this service answers. The page asks nothing else; a client of yours may do the same."><a href="../openapi.json">openapi.json</a><//>
    <${Filters} fields=${["find"]} label="Find"><${Field} name="find" label="Find" type="search" grow placeholder="a path, a name, a word" /><button>Find</button><//>
    <${Answer} of=${found} show=${(api) => html`<${Endpoints} api=${api} />`} />`;
}

function Endpoints({api}) {
  const word = (place.value.query.find ?? "").toLowerCase();
  const all = Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => ({path, method, ...one})));
  const shown = all.filter((one) => `${one.path} ${one.operationId} ${one.summary}`.toLowerCase().includes(word));
  return html`<p class="sum">${count(shown.length)} of ${count(all.length)} endpoints, version ${api.info.version}</p>
    <div class="endpoints">${shown.map((one) => html`<details key=${one.operationId}><summary><span class="badge changed">${one.method.toUpperCase()}</span> <code>${one.path}</code> <span class="muted">${coded(one.summary)}</span></summary><${Endpoint} one=${one} shapes=${api.components.schemas} /></details>`)}</div>`;
}

function Endpoint({one, shapes}) {
  const body = one.requestBody?.content["application/json"].schema, answer = Object.entries(one.responses).find(([status]) => status.startsWith("2"))?.[1];
  const answers = answer?.content?.["application/json"].schema;
  return html`<div class="endpoint">${one.description && html`<p>${coded(one.description)}</p>`}
    ${one.parameters?.length > 0 && html`<h3>Parameters</h3><dl class="fields">${one.parameters.map((parameter) => html`<div><dt><code>${parameter.name}</code> <span class="muted">${parameter.in}, ${kind(parameter.schema)}${parameter.required ? ", required" : ""}</span></dt><dd>${parameter.description}</dd></div>`)}</dl>`}
    ${body && html`<h3>Body</h3><${Shape} of=${body} shapes=${shapes} />`}
    ${answers && html`<h3>Answer</h3><${Shape} of=${answers} shapes=${shapes} />`}
    <h3>Errors</h3><p class="muted">${Object.entries(one.responses).filter(([status]) => !status.startsWith("2")).map(([status, {description}]) => `${status}: ${description}`).join(" ")}</p></div>`;
}

/** A sentence, with names between backticks as code. */
const coded = (text) => text.split("`").map((part, at) => (at % 2 ? html`<code>${part}</code>` : part));

const named = (schema) => schema?.$ref?.split("/").at(-1);

/** A type in one word or a few. */
function kind(schema) {
  if (!schema) return "any";
  if (schema.$ref) return named(schema);
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items)}`;
  return schema.enum ? schema.enum.join(", ") : schema.type ?? "any";
}

function Shape({of, shapes}) {
  const shape = shapes[named(of)] ?? of, required = new Set(shape.required ?? []);
  return html`${shape.description && html`<p class="muted">${coded(shape.description)}</p>`}
    <dl class="fields">${Object.entries(shape.properties ?? {}).map(([name, field]) => html`<div><dt><code>${name}</code> <span class="muted">${kind(field)}${required.has(name) ? ", required" : ""}${field.default !== undefined && field.default !== null ? `, default ${JSON.stringify(field.default)}` : ""}</span></dt><dd>${coded(field.description ?? "")}</dd></div>`)}</dl>`;
}
