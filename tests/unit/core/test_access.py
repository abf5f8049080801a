"""API keys: what opens, what does not, and what a caller may see."""

from __future__ import annotations

import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core import access
from memquorum.core.access import AccessError, ApiKey, Caller, Denied, Keys, NoEntry

NOW = 1_000_000
NAME = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,8}", fullmatch=True)


def made(number: int = 1, **more: Any) -> tuple[str, ApiKey]:
    given: dict[str, Any] = {"name": "k", "namespaces": ["greenhouse", "team-*"], "rights": ["read"], "now_ms": NOW}
    return access.make(bytes([number] * 6), bytes([number] * 32), **(given | more))


def refused(keys: Keys, authorization: str | None, now: int = NOW) -> NoEntry:
    with pytest.raises(NoEntry) as caught:
        keys.caller(authorization, now)
    return caught.value


def test_a_key_opens_what_it_is_bound_to() -> None:
    told, key = made()
    keys = Keys([made(2)[1], key])
    caller = keys.caller(f"Bearer {told}", NOW)
    assert caller == Caller(key.id, ("greenhouse", "team-*"), frozenset({"read"}))
    assert keys.caller(f"bearer  {told} ", NOW) == caller
    assert caller.at("team-b", "read").namespaces == ("team-b",)
    assert caller.sight("audit", "read").text == "greenhouse,team-*"


def test_the_key_itself_is_not_stored() -> None:
    told, key = made()
    stored = access.dump(Keys([key])).decode()
    assert told.split("_", 2)[2] not in stored and told not in stored
    assert access.digest(told) in stored


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer "])
def test_without_a_key_it_says_what_to_do(authorization: str | None) -> None:
    error = refused(Keys([made()[1]]), authorization)
    assert error.code == "no_key"
    assert "Authorization: Bearer" in error.detail and "memquorum admin keys add" in error.detail


def test_what_is_no_key_and_what_is_another_secret_are_told_alike() -> None:
    told, key = made()
    keys = Keys([key])
    wrong_secret = told[:-2] + ("AA" if not told.endswith("AA") else "BB")
    unknown_id = made(3)[0]
    answers = {refused(keys, a).detail for a in (f"Bearer {wrong_secret}", f"Bearer {unknown_id}", f"Basic {told}",
                                                  "Bearer mq_x_y", f"Bearer {told}x")}  # fmt: skip
    assert len(answers) == 1
    assert refused(Keys(), f"Bearer {told}").code == "bad_key"


def test_unknown_ids_are_compared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[str, str]] = []

    def noted(a: str, b: str) -> bool:
        compared.append((a, b))
        return a == b

    monkeypatch.setattr(hmac, "compare_digest", noted)
    told, key = made()
    refused(Keys([key]), f"Bearer {made(3)[0]}")
    refused(Keys([key]), f"Bearer {told[:-1]}_")
    assert [len(b) for _, b in compared] == [64, 64]


def test_keys_end() -> None:
    told, key = made(expires_at=NOW + 1)
    keys = Keys([key])
    assert keys.caller(f"Bearer {told}", NOW).id == key.id and keys.usable(NOW)
    assert refused(keys, f"Bearer {told}", NOW + 1).code == "expired_key" and not keys.usable(NOW + 1)
    revoked = keys.without(key.id, NOW)
    assert refused(revoked, f"Bearer {told}").code == "revoked_key" and not revoked.usable(NOW)
    assert [k.revoked_at for k in revoked.without(key.id, NOW + 5)] == [NOW]
    with pytest.raises(AccessError, match="no key 'abc'"):
        keys.without("abc", NOW)
    with pytest.raises(AccessError, match="already"):
        keys.with_key(key)


@pytest.mark.parametrize(
    ("namespace", "rights", "field"),
    [
        ("greenhouse", ("erase",), "right"), ("elsewhere", ("erase",), "right"), ("elsewhere", ("read",), "namespace"),
        ("green", ("read",), "namespace"), ("greenhouse2", ("read",), "namespace"), ("team", ("read",), "namespace"),
        ("Greenhouse", ("read",), "namespace"),
    ],
)  # fmt: skip
def test_what_is_not_allowed_names_the_right_or_the_namespace(
    namespace: str, rights: tuple[str, ...], field: str
) -> None:
    caller = Keys([made()[1]]).caller(f"Bearer {made()[0]}", NOW)
    with pytest.raises(Denied) as caught:
        caller.at(namespace, *rights)
    assert caught.value.field == field
    assert (repr(namespace) in caught.value.detail) == (field == "namespace")
    with pytest.raises(Denied):
        access.NOBODY.sight("read")


@given(st.lists(NAME, min_size=1), NAME)
def test_a_prefix_covers_what_begins_with_it_and_a_name_only_itself(stems: list[str], namespace: str) -> None:
    assert access.covers(stems, namespace) == (namespace in stems)
    assert access.covers([f"{s}*" for s in stems], namespace) == any(namespace.startswith(s) for s in stems)
    assert access.covers(["*"], namespace)


def test_a_file_of_keys_comes_back() -> None:
    keys = Keys([made(1, expires_at=NOW + 9, rights=["erase", "read"])[1], made(2)[1]]).without("02" * 6, NOW)
    assert list(access.load(access.dump(keys))) == list(keys)
    assert [k.rights for k in keys] == [("read", "erase"), ("read",)]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"hash": "x"}, "a hash 64"), ({"id": "01"}, "12 hexadecimal digits"), ({"namespaces": []}, "at least one"),
        ({"namespaces": "team"}, "at least one"), ({"namespaces": ["a*b"]}, "'a\\*b' is neither"),
        ({"namespaces": [""]}, "neither"), ({"namespaces": [1]}, "neither"),
        ({"rights": ["write"]}, "one or more of"),
        ({"rights": []}, "one or more of"),
        ({"expires_at": "soon"}, "milliseconds"), ({"created_at": None}, "milliseconds"), ({"colour": 1}, "no others"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused(change: dict[str, Any], complaint: str) -> None:
    value = json.loads(access.dump(Keys([made()[1]])))
    value["keys"][0] |= change
    with pytest.raises(AccessError, match=complaint):
        access.load(json.dumps(value).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"keys": 1}', b'{"keys": [1]}', b"\xff", b"{"])
def test_what_is_no_file_of_keys_is_refused(data: bytes) -> None:
    with pytest.raises(AccessError, match="no file of API keys"):
        access.load(data)


def test_an_id_occurs_once() -> None:
    value = json.loads(access.dump(Keys([made()[1]])))
    value["keys"] *= 2
    with pytest.raises(AccessError, match="twice"):
        access.load(json.dumps(value).encode())


def test_who_may_publish_may_have_slots_and_nobody_else() -> None:
    told, key = made(rights=["publish"], slots=["ada/*", "door"])
    (read,) = access.load(access.dump(Keys([key])))
    assert read == key and Keys([read]).caller(f"Bearer {told}", NOW).slots == ("ada/*", "door")
    for wrong in ({"slots": ["door"]}, {"rights": ["publish"], "slots": [" door"]}):
        with pytest.raises(AccessError, match="slots"):
            made(**wrong)


# Keys that a key makes ------------------------------------------------------------------------------------------------

OWN = made(1, rights=["read", "publish", "admin"], slots=["ada/*"])[1]


@pytest.mark.parametrize(
    "wanted",
    [
        {"rights": ["read"]},
        {"rights": ["admin"]},
        {"namespaces": ["greenhouse"]},
        {"namespaces": ["team-b", "team-c*", "team-*"]},
        {"rights": ["publish"], "slots": ["ada/phone", "ada/*"]},
        {"expires_at": NOW + 9},
    ],
)
def test_a_key_makes_others_as_far_as_it_goes_itself(wanted: dict[str, Any]) -> None:
    told, key = made(2, **wanted)
    keys = Keys([OWN]).granted(OWN.id, key, NOW)
    caller = keys.caller(f"Bearer {told}", NOW)
    assert caller.rights == set(key.rights) and caller.namespaces == key.namespaces
    assert [one.made_by for one in keys] == [None, OWN.id]
    assert [one.made_by for one in access.load(access.dump(keys))] == [None, OWN.id]


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"rights": ["read", "erase"]}, "right"),
        ({"rights": ["audit"]}, "right"),
        ({"namespaces": ["*"]}, "namespace"),
        ({"namespaces": ["greenhouse", "mill"]}, "namespace"),
        ({"namespaces": ["greenhouse*"]}, "namespace"),
        ({"namespaces": ["team*"]}, "namespace"),
        ({"rights": ["publish"], "slots": ["*"]}, "slot"),
        ({"rights": ["publish"], "slots": ["door"]}, "slot"),
        ({"rights": ["publish"], "slots": ["ad*"]}, "slot"),
    ],
)
def test_nobody_grants_more_than_he_has(wanted: dict[str, Any], field: str) -> None:
    with pytest.raises(Denied, match="nobody grants more than he has") as caught:
        Keys([OWN]).granted(OWN.id, made(2, **wanted)[1], NOW)
    assert caught.value.field == field


def test_a_key_that_ends_makes_none_that_lasts_longer() -> None:
    ends = made(1, rights=["read", "admin"], expires_at=NOW + 5)[1]
    keys = Keys([ends])
    assert [one.expires_at for one in keys.granted(ends.id, made(2)[1], NOW)] == [NOW + 5] * 2
    with pytest.raises(Denied) as caught:
        keys.granted(ends.id, made(2, expires_at=NOW + 6)[1], NOW)
    assert caught.value.field == "days"


@pytest.mark.parametrize("change", ["revoked", "expired", "without the right", "unknown"])
def test_a_key_that_is_no_admin_any_more_makes_and_revokes_none(change: str) -> None:
    given = {"expired": {"expires_at": NOW}, "without the right": {"rights": ["read"]}}.get(change, {})
    own = made(1, **({"rights": ["read", "admin"]} | given))[1]
    keys = Keys([own, made(3)[1]])
    keys = keys.without(own.id, NOW) if change == "revoked" else keys
    by = "ff" * 6 if change == "unknown" else own.id
    for asked in (
        lambda: keys.granted(by, made(2)[1], NOW), lambda: keys.under(by, NOW), lambda: keys.without("03" * 6, NOW, by)
    ):  # fmt: skip
        with pytest.raises(Denied, match="lacks the right 'admin'"):
            asked()


def test_an_admin_sees_and_revokes_the_keys_of_its_namespaces_alone() -> None:
    of = {2: ["greenhouse"], 3: ["team-b"], 4: ["mill"], 5: ["*"], 6: ["greenhouse", "mill"], 7: ["team*"]}
    keys = Keys([OWN, *(made(at, namespaces=spaces, rights=["erase"])[1] for at, spaces in of.items())])
    assert {one.id for one in keys.under(OWN.id, NOW)} == {OWN.id, "02" * 6, "03" * 6}
    revoked = keys.without("02" * 6, NOW, OWN.id)
    assert [(one.revoked_at, one.revoked_by) for one in revoked if one.id == "02" * 6] == [(NOW, OWN.id)]
    for other in ("04", "05", "06", "07", "08"):
        with pytest.raises(AccessError, match="there is no key") as caught:
            keys.without(other * 6, NOW, OWN.id)
        assert caught.value.field == "key_id"


def test_without_keys_nobody_makes_any_and_it_says_who_does() -> None:
    assert access.EVERYONE.rights == set(access.RIGHTS) - {"admin"}
    with pytest.raises(Denied, match="memquorum admin keys add"):
        access.EVERYONE.sight("admin")


def test_a_file_of_an_earlier_version_is_read() -> None:
    value = json.loads(access.dump(Keys([made()[1]])))
    for name in ("made_by", "revoked_by"):
        del value["keys"][0][name]
    assert list(access.load(json.dumps(value).encode())) == [made()[1]]
    value["keys"][0]["made_by"] = "x"
    with pytest.raises(AccessError, match="who made"):
        access.load(json.dumps(value).encode())


def test_there_are_so_many_keys_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MOST", 1)
    with pytest.raises(AccessError, match="there are 1 keys"):
        Keys([OWN]).with_key(made(2)[1])
