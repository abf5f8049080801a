"""Webhooks reach public addresses, and of the others those alone that the operator names."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from workers.events.addresses import allowed

INSIDE = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "192.0.0.8", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::1", "::", "fe80::1",
    "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "3fff::1", "5f00::1", "192.88.99.1", "ff02::1", "2001:db8::1",
    # An inner address within an outer one.
    "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1",
    "64:ff9b:1::a00:1", "2001:0:7f00:1::",
]  # fmt: skip
OUTSIDE = ["1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]


@pytest.mark.parametrize("address", INSIDE)
def test_an_inner_address_is_reached_only_where_it_is_named(address: str) -> None:
    assert not allowed(address, ())
    assert not allowed(address, [ip_network("192.168.7.0/24"), ip_network("fd00:7::/32")])
    plain = address.partition("%")[0]
    assert allowed(address, [ip_network(plain)])


@pytest.mark.parametrize("address", OUTSIDE)
def test_a_public_address_is_reached_unless_only_named_ones_are(address: str) -> None:
    assert allowed(address, ())
    assert not allowed(address, (), public=False)
    assert allowed(address, [ip_network(address)], public=False)


@pytest.mark.parametrize("address", ["", "localhost", "1.1.1", "0x7f.1", "1.1.1.1:80"])
def test_what_is_no_address_is_not_reached(address: str) -> None:
    assert not allowed(address, [ip_network("0.0.0.0/0"), ip_network("::/0")])
