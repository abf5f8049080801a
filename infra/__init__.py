"""The composition root: settings, embedded servers, topics, the fleet, the demo.

1. an installation: `settings`, `genesis`, `topics`, `logins`, `kafkalogins`, `apikeys`, `handout` of keys and
   passwords, `wholefiles`; `provisioning` makes it, `supervisor` runs it: `servers` (of `embedded`), `fleet`, which
   a fork server starts (`forkserver`, `forked`), and why its processes end (`ends`), `roles` (each process with its
   adapters; `summariser`, `registry`), `telemetry`, `logs`, `keeping` (what it does by itself);
2. the operator's commands: `commands` has them all, `command` says how one is declared. To look: `status`
   (`retained`), `checks`, `evidence`, `forget` and `budgets`, `rehearse`, `dlq`, `queries`,
   `learn`, `whatif`. To order: `ordering`, `erase`, `hold`, `restore`; `configuring`,
   `members`, `policy`. To keep in order: `prune`, `reencode`, `sweep` and `sweeps`, `copies`, `vaultbackup`, `images`
   of containers;
3. `demo`: a log through the whole line; `golden`: the schemas of a release.
"""
