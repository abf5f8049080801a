"""Templates of privacy rules: each may be ordered as it is, for a namespace and for a person."""

from __future__ import annotations

import json

import pytest

from infra.policy_command import templated
from infra.settings import SettingsError
from memquorum.core.accounts.profiles import read_profile
from memquorum.core.facets import TYPES
from memquorum.core.policy import Policy, retention
from memquorum.core.retrieval.query import BadRequest
from memquorum.core.templates import DEPARTMENT, LAW, TEMPLATES, Template, UnknownTemplate, named

DAY_MS = 24 * 3600 * 1000


def profile(**said: object) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    order, _ = read_profile(json.dumps({"namespace": "clinic", **said}).encode(), "ada", Policy())
    return order.retention, order.consented, order.consents


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_each_may_be_ordered(template: Template) -> None:
    assert template.of in (LAW, DEPARTMENT) and template.days and set(template.days) <= set(TYPES)
    (rule,) = retention(templated(Policy(), template, "hr-*").erase)
    assert rule.pattern == "hr-*" and rule.ages == {type_: days * DAY_MS for type_, days in template.days.items()}
    ages, consented, consents = profile(template=template.name)
    assert ages == tuple(f"{type_}={days}" for type_, days in template.days.items())
    assert consented == (template.purposes is not None)
    assert consents == tuple(f"{one}=0" for one in template.purposes or ())


def test_what_is_said_beside_a_template_counts() -> None:
    ages, _, consents = profile(template="hr", retention={"social": 7}, consents={"care": 0})
    assert "social=7" in ages and "episodic=90" in ages and consents == ("care=0",)


def test_a_rule_takes_the_place_of_the_one_before_and_is_asked_first() -> None:
    policy = templated(templated(Policy(), named("support"), "team-*"), named("hr"), "hr-*")
    policy = templated(policy, named("engineering"), "team-*")
    assert policy.erase.after == "team-*=social:180d hr-*=episodic:90d,semantic:365d,social:30d,task:365d"


def test_what_is_no_template_or_no_namespace_is_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownTemplate, match="there are gdpr, ccpa"):
        named("hippa")
    with pytest.raises(BadRequest, match="no template is named 'hippa'") as wrong:
        profile(template="hippa")
    assert wrong.value.field == "template"
    for pattern in ("a b", "", "*x", "a=b"):
        with pytest.raises(SettingsError):
            templated(Policy(), named("hr"), pattern)
