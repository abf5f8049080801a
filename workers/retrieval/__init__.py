"""Retrieval: a small HTTP service that searches, shows, explains, and waits for what becomes of an event.

    POST /search                            {namespace, query, k, agent, peek} → hits by exact cosine, both tiers
    POST /retrieve                          {namespace, query, budget_tokens, k_max, …} → what answers best and fits
    POST /recall                            {namespace, memory_id or query, steps, …} → what surrounds it
    POST /context                           {namespace, agent, session, query, budget_tokens, …} → a prompt's memories
    POST /memories/list                     {namespace, filters, cursor, limit} → memories in the order of time
    POST /memories/report                   {namespace, subject, cursor, limit} → all that concerns a person
    GET  /memories/{id}                     one memory; its text only while it is alive
    GET  /memories/{id}/explain             why it is where it is, in structure and in words
    POST /decisions/list                    {namespace, filters, cursor, limit} → what members decided, latest first
    POST /goals/list, /pins/list, /holds/list, /orders/list, /epochs/list, /members/list, /conflicts/list,
         /sessions/list
                                            {namespace, filters, cursor, limit} → what stands, was ordered, who votes
    GET, POST /subjects/{subject}/profile   what a subject wants stored, for whom and how long, and what never is
    POST /tasks, /tasks/feedback            a finished task, and what helped in one
    POST /tasks/list                        {namespace, filters, cursor, limit} → finished tasks, latest first
    GET  /epochs/{namespace}/open           what they vote on now: ballots as they come, phases with their times
    GET  /shards/{shard}/open               the same of all namespaces, for who audits all
    GET  /tasks/{id}                        one of them whole
    POST /experience/list                   memories that were tried: how each stands, and what it weighs
    GET  /experience/{id}                   where a memory stands on its way into experience, and why
    GET  /events/{namespace}/{event_id}     what became of an event; ?wait_ms= waits until it has an outcome
    GET  /rewards/{namespace}               what agents were given for what they did to its memory
    GET  /rollups/{namespace}               what things there are roll-ups of
    GET  /rollups/{namespace}/{topic}       what is said of one thing, now or as of a time
    POST /memories                          an episode, for who has no Kafka: published as an agent would publish it
    POST /orders/{what}                     an order: erase, forget, restore, rollback, pin, unpin, begin_goal,
                                            end_goal, reclassify
    GET  /orders/{id}                       what became of an order of any kind
    POST /journal/list                      what happened in a namespace, in sentences, latest first
    GET  /journal/{namespace}/feed          the same as it happens, as server-sent events
    POST /journal/verify                    whether all entries of a shard follow each other, and end as was signed
    POST /namespaces/list, GET /namespaces/{namespace}
                                            which namespaces there are, and the numbers of one
    GET  /policy/{namespace}                by which policy it is judged
    GET  /fleet, /dead-letters, /evidence   how the fleet is, what was refused, who signed what no member may
    GET  /memories/{id}/trace               the steps of a memory through the fleet
    GET  /access                            what the key may do
    POST /keys, /keys/list, /keys/revoke    an API key is made; those that there are; one is revoked
    POST /mcp/{namespace}                   all of this as tools of MCP
    ...  /mem0/{namespace}/v1, /v2, /v3     what mem0's client asks
    GET  /livez, /readyz, /metrics, /openapi.json
    GET  /console/                          the console: a page for people that asks all of this

With API keys (`memquorum admin keys add`) nobody comes in without one, and sees its namespaces alone. Without any, the
service listens on the loopback interface only, and any program that reaches it may do everything. Requests must name a
host that it was told of, come from no foreign web page and send JSON as such (`origins`), so that no page can speak to
it through a browser.

Read in this order:

1. `memquorum.core.api`: the one table of endpoints, the requests and the answers; who adds an endpoint adds a line
   there and its function in a module here;
2. `routes`: which function answers at which; `endpoints`: how query strings are read; `openapi`: the description;
3. `search`, `retrieving`, `surroundings`, `context`, `memories`, `listing`, `lists`, `tasks`, `experience`,
   `publishing`, `ending`, `reports`, `rewards`, `rollups`, `journal_pages`, `chained`, `overview`, `granting`,
   `health`: the endpoints; each is handed the service, the request and who asks;
4. `orders`: the endpoints of orders; `ordering`: how one is given and waited for; `erasures`, `restores`,
   `protections`: what is looked at before, and what is answered; `profile_setting`: profiles of subjects;
   `reclassifying`: what memories may be used for; `retaining`: what a policy's rule orders; `outliving`: what a
   profile does when it is time;
5. `door`: the keys that are in force, `keyfile`: how their file is changed; `limits`: how many requests are worked on
   at once; `desk`: the threads that read texts for them;
6. `service`: what endpoints share: the store, the encoders, what waits for outcomes, the publishing; `caching`: the
   caches of namespaces; `repeating`: an answer is given again; `uses`: what was used is published, `using`: what
   readers say of it; `configurations`: by which policy a shard judges now; `after`: a read waits for the write that
   it names; `refusals`: what intake refused lately; `following`: who watches the journal; `balloting`: what members
   vote on now; `reused`: whether a text came under an event id that another text has;
7. `mcp`: the same as tools, for agents that speak MCP; `mem0`: for mem0's client; `inside`: how both ask;
8. `answers`: bodies that are read, errors that are told; `scored`: how likely hits answer;
   `pipeline`: the steps from what was found to what is given; `knowing`: what came with it; `past`: what reads of
   the past show;
9. `app`: the ASGI application of all that, and what every request passes through; `serving`: the process that
   serves it; `console`: the files of the console; `origins`: which web pages may ask; `connections`: whom it waits for;
   `crowd`: how many may wait.
"""
