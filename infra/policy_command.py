"""Shows each shard's policy, or orders another one.

An order changes nothing by itself: the members of each shard vote on it in an epoch of its own, and apply the new
policy from the next sequence on (`infra.configuration_change`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from db.preview_rows import moment
from infra import configuration_change, genesis
from infra.configuration_change import HOW
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum import terminal
from memquorum.commands import JSON, option
from memquorum.core.consensus.certificate import BadCertificate
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.configuration import POLICY, apply
from memquorum.core.policy import Policy, PolicyError, differences, from_json, to_json, written
from memquorum.core.records import ConfigurationOrdered
from memquorum.core.templates import TEMPLATES, Template, named
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec
from workers.audit import audited_configurations

_FAILED = "the policies cannot be read, or no order be given"
SET = option(
    "--set",
    action="append",
    default=[],
    metavar="SECTION.KEY=VALUE",
    help="one setting that differs, as JSON has it",
)
"""The option that `changed` takes beside a file."""


@command("policy show", JSON, kafka="operator", failed=_FAILED, example="policy show")
def show(settings: Settings, parsed: argparse.Namespace) -> int:
    """Shows each shard's policy: its version, and where it differs from the defaults."""
    settings.require("bootstrap")
    now = audited_configurations.read(settings.bootstrap, genesis.read(settings), load_codec())
    if parsed.json:
        for shard, config in enumerate(now):
            print(json.dumps(_plain(shard, config)))
        return 0
    console = terminal.console()
    alike: dict[tuple[int, str], list[int]] = {}
    for shard, config in enumerate(now):
        alike.setdefault((config.policy_version, written(config.policy)), []).append(shard)
    for (version, _), shards in alike.items():
        console.print(f"shard {', '.join(map(str, shards))}: {_version(version)}")
        for line in changed_settings(Policy(), now[shards[0]].policy):
            console.print(f"  {line}")
    if now[0].operator is None:
        console.print("the genesis file names no operator: this holds for ever", style="dim")
    return 0


@command(
    "policy set",
    option("file", type=Path, nargs="?", metavar="FILE", help="JSON: the parts of the policy that differ"),
    SET,
    option(
        "--template",
        metavar="NAME",
        choices=tuple(TEMPLATES),
        help=f"a rule of retention by law or department, with --namespace: {', '.join(TEMPLATES)}",
    ),
    option("--namespace", metavar="NAME", help="the namespace of the rule, or a beginning: team-*"),
    *HOW,
    kafka="operator",
    failed=_FAILED,
    example="policy set --set forget.theta_ppm=300000 --dry-run",
)
def order(settings: Settings, parsed: argparse.Namespace) -> int:
    """Orders another policy: the settings in FILE, single ones with --set, and a template's ages; the rest is kept.

    Raises SettingsError, GenesisError and PolicyError for a policy that cannot be ordered, and KeyFileError.
    """
    settings.require("bootstrap")
    if (parsed.template is None) != (parsed.namespace is None):
        raise SettingsError("policy: --template and --namespace go together: --template hr --namespace 'hr-*'")
    made, codec = genesis.read(settings), load_codec()
    shards = configuration_change.shards(settings, made, parsed.shard)
    now = audited_configurations.read(settings.bootstrap, made, codec)
    console, wanted = terminal.console(), list[ConfigurationOrdered]()
    for shard in shards:
        policy = changed(now[shard].policy, parsed.file, parsed.set)
        if parsed.template is not None:
            policy = templated(policy, named(parsed.template), parsed.namespace)
        if policy == now[shard].policy:
            console.print(f"shard {shard}: judges by this policy already")
            continue
        one = configuration_change.order(now[shard], shard, POLICY, policy=written(policy))
        after = apply(now[shard], one)
        console.print(f"shard {shard}: configuration {one.config} → {after.config}")
        for line in changed_settings(now[shard].policy, policy):
            console.print(f"  {line}")
        wanted.append(one)
    if parsed.template is not None and named(parsed.template).masked:
        console.print(
            f"the template also masks personal data: that is the setting redact_namespaces, to which you add "
            f"{parsed.namespace}"
        )
    return configuration_change.give(settings, made, codec, wanted, dry_run=parsed.dry_run, wait_s=parsed.wait)


def changed(policy: Policy, file: Path | None, settings: Sequence[str]) -> Policy:
    """Returns the policy with changed settings. Raises SettingsError for settings that cannot be read, or are
    invalid."""
    told = to_json(policy)
    if file is not None:
        try:
            parts = json.loads(file.read_text())
            for section, values in parts.items():
                told[section] = told.get(section, {}) | values
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise SettingsError(f"policy: {file} is no policy in JSON: {error}") from None
    for setting in settings:
        name, given, value = setting.partition("=")
        section, _, key = name.partition(".")
        if not (key and given):
            raise SettingsError(f"policy: --set {setting!r} is not SECTION.KEY=VALUE; SECTION.KEY= sets an empty text")
        try:
            told[section] = told.get(section, {}) | {key: json.loads(value)}
        except ValueError:
            told[section] = told.get(section, {}) | {key: value}  # a fraction, such as 1/10, or a text
    try:
        return from_json(told)
    except PolicyError as error:
        raise SettingsError(str(error)) from None


def templated(policy: Policy, template: Template, pattern: str) -> Policy:
    """Returns the policy with a template's rule of retention for namespaces, before all others, in place of the one
    that they had. Raises SettingsError for a pattern that no rule may have."""
    others = [one for one in policy.erase.after.split() if one.partition("=")[0] != pattern]
    rule = template.rule(pattern)
    if len(rule.split()) != 1:
        raise SettingsError(f"policy: --namespace {pattern!r} is no name or beginning of namespaces: as in team-*")
    return changed(policy, None, [f"erase.after={json.dumps(' '.join([rule, *others]))}"])


def changed_settings(before: Policy, after: Policy) -> list[str]:
    """Lists the differences, a setting a line."""
    return [f"{name} {_said(old)} → {_said(new)}" for name, (old, new) in differences(before, after).items()]


def versions(settings: Settings) -> list[str]:
    """Lists the policies of shards that differ from the genesis file's, a line each; none if the store does not answer,
    which the processes' own lines say."""
    if not settings.memory_dsn:
        return []
    try:
        with moment(settings.memory_dsn) as store:
            now = store.configured(load_codec(), genesis.read(settings))
    except (StoreUnavailable, BadCertificate):
        return []
    alike: dict[int, list[str]] = {}
    for shard, config in now.items():
        alike.setdefault(config.policy_version, []).append(str(shard))
    return [f"policy {version} in shard {', '.join(shards)}" for version, shards in alike.items() if version]


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _version(version: int) -> str:
    return f"policy {version}, which its members decided on" if version else "the genesis file's policy"


def _plain(shard: int, config: Genesis) -> dict[str, Any]:
    return {
        "shard": shard, "version": config.policy_version, "config": config.config, "policy": to_json(config.policy)
    }  # fmt: skip
