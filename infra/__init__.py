"""The composition root: settings, embedded servers, topics, the fleet, the demo.

1. an installation: `settings`, `genesis`, `topic_files`, `logins`, `kafkalogins`, `apikeys`, `handout` of keys and
  passwords; `provisioning` makes it, `supervisor` runs it: `servers` (of `embedded`), `fleet`, which a
  fork server starts (`forkserver`, `forked`), `ends` (the reasons why processes end), `roles` (each process with its
  adapters; `summariser`, `schema_registry`), `process_telemetry`, `watching` for the service, `run_folder`, `logs`,
  `keeping` (periodic work);
2. the operator's commands: `admin_commands` lists them, `operator_command` declares one, `command_words` is for shells.
   To inspect: `status` (`retained`), `installation_doctor`, `checks`, `past_command`, `evidence_command`,
   `policy_preview` and `budget_preview`, `rehearse`, `dlq`, `webhook_command`, `query_log`, `audit_questions`, `learn`,
   `whatif_command`.
   To order: `operator_orders`, `erase_command`, `hold`, `restore_command`; `configuration_change`, `members`,
   `policy_command`. To maintain: `prune_command`, `reencode_command`, `sweep` and `sweeps`, `copies`, `vaultbackup`,
   `rekey`, `topic_copy_command` and `sign_states`, `images` of containers;
3. `demo`: publishes a log and reports the results; `golden`: the schemas of a release; `site`: the pages of docs/.
"""
