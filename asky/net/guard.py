"""The addresses that content may be fetched from: the public internet, and private networks that the user allows.

The decision is based on the address that a name resolves to, never on its spelling, and made before any packet is sent.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

import anyio

from asky.concurrency import in_thread
from asky.errors import ConfigError, SourceRefused, Unreachable
from asky.net.addresses import Address, is_public, parse_ip, plain
from asky.net.reach import require_reachable
from asky.text.scrub import one_line
from asky.text.urls import WebAddress, parse_address

PORTS = frozenset({80, 443, 8080, 8443})
"""The usual ports of web servers; other ports have services that a request might trigger actions in."""

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the addresses of a name, best first. Raises `OSError`, usually `socket.gaierror`, if it has none."""

_RESOLVING_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Grant:
    """One entry of `network.allow_private`: a name, or a network; on one port, or on the usual ones."""

    name: str | None
    network: IPv4Network | IPv6Network | None
    port: int | None

    def covers_port(self, port: int) -> bool:
        return port == self.port if self.port is not None else port in PORTS

    def covers_ip(self, address: Address) -> bool:
        return self.network is not None and plain(address) in self.network


class Guard:
    """The policy for one user.

    `allow_private` holds names, addresses and networks ("wiki.lan", "192.168.1.5", "10.1.0.0/16", "[fd00::5]"), each
    with or without a port: "127.0.0.1:8123" allows that port alone, an entry without one allows the usual ports. A name
    allows whatever addresses it has. Raises `ConfigError` for any other entry.
    """

    def __init__(self, allow_private: Sequence[str] = (), *, resolve: Resolve | None = None) -> None:
        self._grants = tuple(_parse_grant(entry) for entry in allow_private)
        self._resolver = anyio.CapacityLimiter(_RESOLVING_AT_ONCE)
        self._resolve = resolve or self._resolve_by_system

    def check(self, url: str, base: WebAddress | None = None) -> WebAddress:
        """Return `url` as an address that may be requested, as far as can be decided without resolving its name.

        A relative one is resolved against `base`. Raises `SourceRefused`.
        """
        try:
            address = parse_address(url, base)
        except ValueError as error:
            raise SourceRefused(f"refused: {_shown(url)}: {error}") from None
        require_reachable(address.host)
        if address.port not in PORTS and not any(
            grant.port == address.port and self._may_cover(grant, address) for grant in self._grants
        ):
            raise _odd_port(address, url)
        return address

    async def locate(self, address: WebAddress) -> tuple[str, ...]:
        """Return the IP addresses of a checked address, each of which may be connected to; never empty.

        Its name is resolved once. Raises `SourceRefused` if any of the addresses is forbidden, whatever the others are,
        and `Unreachable` if there are none.
        """
        literal = parse_ip(address.host)
        found = [literal] if literal else await self._look_up(address.host)
        named = any(grant.name == _bare(address.host) and grant.covers_port(address.port) for grant in self._grants)
        bad = None if named else next((ip for ip in found if not self._is_allowed(ip, address.port)), None)
        if bad is not None:
            raise self._refusal(address, bad)
        return tuple(str(plain(ip)) for ip in found)

    def _is_allowed(self, ip: Address, port: int) -> bool:
        if is_public(ip):
            return port in PORTS
        return any(grant.covers_port(port) and grant.covers_ip(ip) for grant in self._grants)

    def _may_cover(self, grant: Grant, address: WebAddress) -> bool:
        """Return whether the grant may cover this host: a name can turn out to be in any network."""
        if grant.name is not None:
            return grant.name == _bare(address.host)
        literal = parse_ip(address.host)
        return literal is None or grant.covers_ip(literal)

    def _refusal(self, address: WebAddress, ip: Address) -> SourceRefused:
        if is_public(ip):
            return _odd_port(address, str(address))
        is_name = parse_ip(address.host) is None
        what = f"{address.host} is in a private network ({ip})" if is_name else f"{address.host} is a private address"
        entry = address.authority if address.port not in PORTS else address.host
        return SourceRefused(f"refused: {what}", hint=f'if it is yours, add "{entry}" to network.allow_private')

    async def _look_up(self, host: str) -> list[Address]:
        try:
            texts = await self._resolve(host)
        except socket.gaierror as error:
            is_final = error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
            reason = "there is no such host" if is_final else "its name cannot be resolved now"
            raise Unreachable(f"could not reach {host}: {reason}", retryable=not is_final) from None
        except (OSError, UnicodeError):
            raise Unreachable(f"could not reach {host}: its name cannot be resolved", retryable=False) from None
        found = [parse_ip(text) for text in dict.fromkeys(texts)]
        addresses = [address for address in found if address is not None]
        if not addresses or len(addresses) != len(found):
            raise Unreachable(f"could not reach {host}: its name has no address", retryable=False)
        return addresses

    async def _resolve_by_system(self, host: str) -> Sequence[str]:
        # Not the event loop's own: its few threads are shared, and a name can occupy one for half a minute.
        return await in_thread(_ask_system, host, limiter=self._resolver)


def _ask_system(host: str) -> list[str]:
    answers = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return [str(place[0]) for *_, place in answers]


def _parse_grant(entry: str) -> Grant:
    text = entry.strip().lower()
    parts = re.fullmatch(r"(?:\[([^\]]+)\]|([^:\[\]]+))(?::(\d{1,5}))?|([0-9a-f:./]+)", text)
    if not parts or int(parts[3] or 1) not in range(1, 65_536):
        raise _no_grant(entry)
    host, port = parts[1] or parts[2] or parts[4], int(parts[3]) if parts[3] else None
    try:
        return Grant(None, ip_network(host, strict=False), port)
    except ValueError:
        pass
    try:
        name = parse_address(f"http://{host}/").host
    except ValueError:
        raise _no_grant(entry) from None
    if "/" in host or not re.fullmatch(r"[\w.-]*[a-z_-][\w.-]*", name):
        raise _no_grant(entry)
    return Grant(_bare(name), None, port)


def _no_grant(entry: str) -> ConfigError:
    return ConfigError(
        f"network.allow_private: {entry!r} is not a name, address or network",
        hint='write "wiki.lan", "192.168.1.5:8123" or "10.1.0.0/16"',
    )


def _odd_port(address: WebAddress, url: str) -> SourceRefused:
    return SourceRefused(
        f"refused: port {address.port} of {_shown(url)} is not one that web servers use",
        hint=f'if it is yours, add "{address.authority}" to network.allow_private',
    )


def _bare(host: str) -> str:
    return host.rstrip(".")


def _shown(url: str) -> str:
    """Return `url` on one line, without any password in it."""
    return re.sub(r"//[^/?#]*@", "//", one_line(url, 100)) or "an empty address"
