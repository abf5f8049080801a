"""Says which addresses a webhook may reach: public ones, and those that the operator names for it.

An address within another one counts as both: IPv4 in IPv6, and what a gateway would unpack (6to4, Teredo, NAT64).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Special ranges that the tables of older Pythons lack.
_SPECIAL: tuple[Network, ...] = (
    IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"), IPv6Network("64:ff9b:1::/48"),
    IPv6Network("2001::/23"), IPv6Network("3fff::/20"), IPv6Network("5f00::/16"), IPv6Network("fec0::/10"),
)  # fmt: skip
_NAT64 = IPv6Network("64:ff9b::/96")


def allowed(address: str, named: Sequence[Network], *, public: bool = True) -> bool:
    """True if an address may be reached. `named`: the operator's; `public`: all public ones may be, too."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if any(found in one for one in named if one.version == found.version):
        return True
    return public and all(_is_public(one) for one in _meant(found))


def _is_public(address: Address) -> bool:
    special = any(address in one for one in _SPECIAL if one.version == address.version)
    return address.is_global and not (special or address.is_multicast or address.is_reserved)


def _meant(address: Address) -> Iterator[Address]:
    """Yields the address, or those that it stands for."""
    if isinstance(address, IPv4Address):
        yield address
        return
    within = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        within.append(IPv4Address(int(address) & 0xFFFF_FFFF))
    found = [one for one in within if one is not None]
    yield from found or [address]
