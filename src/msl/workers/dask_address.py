"""Scheduler: where that of a Dask cluster is, and how both sides prove who they are. Nothing of Dask is imported here.

A scheduler runs whatever code it is sent. Without TLS that is the code of whoever reaches its port; with TLS, of those
who have a certificate, and its key, that was signed by the authority that the cluster trusts.
"""

from __future__ import annotations

import ipaddress
import re
import ssl
from dataclasses import dataclass
from pathlib import Path

from msl.diagnostics.user_error import UserError

SCHEMES = ("dask:", "tcp:", "tls:")
#: `dask` and `tcp` are the same; the first is there for those who have written it so far.
_ADDRESS = re.compile(r"(dask|tcp|tls)://(\[[^\]\s]+\]|[^/\s:\[\]]+):(\d+)/?")


@dataclass(frozen=True, slots=True)
class Scheduler:
    """An address, and for `tls` the files of the authority, of the own certificate and of its key.

    Files that are not given are those of Dask's own configuration.
    """

    address: str
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None

    def __post_init__(self) -> None:
        match = _ADDRESS.fullmatch(self.address)
        if match is None:
            raise UserError(
                f"`{self.address}` is no address of a Dask scheduler: write `tls://host:port`, "
                "or `dask://host:port` without encryption"
            )
        given = {"ca": self.tls_ca, "cert": self.tls_cert, "key": self.tls_key}
        missing = [f"`--tls-{name}`" for name, path in given.items() if path is None]
        if missing and len(missing) < 3:
            raise UserError(f"`--tls-ca`, `--tls-cert` and `--tls-key` belong together: {_are_missing(missing)}")
        if not missing:
            if not self.is_encrypted:
                raise UserError(f"certificates are for an address such as tls://host:port, not for {self.address}")
            self._check_files()

    @property
    def is_encrypted(self) -> bool:
        return self.address.startswith("tls:")

    @property
    def has_files(self) -> bool:
        return self.tls_ca is not None

    @property
    def contact(self) -> str:
        """The address as Dask writes it."""
        match = _ADDRESS.fullmatch(self.address)
        assert match is not None
        return f"{'tls' if self.is_encrypted else 'tcp'}://{match[2]}:{match[3]}"

    @property
    def warning(self) -> str | None:
        """What there is to say of a way that others can listen to and write on."""
        match = _ADDRESS.fullmatch(self.address)
        if match is None or self.is_encrypted or _is_loopback(match[2].strip("[]")):
            return None
        return (
            f"{self.address} has neither encryption nor passwords: whoever reaches this scheduler reads the table and "
            "runs code on its workers and here; use tls://host:port, or keep it within a network that you trust"
        )

    def _check_files(self) -> None:
        """Dask would only say that nobody answers, or ask for a password in the middle of a run."""
        assert self.tls_ca is not None
        assert self.tls_cert is not None
        assert self.tls_key is not None
        for path in (self.tls_ca, self.tls_cert, self.tls_key):
            try:
                Path(path).read_bytes()
            except OSError as reason:
                raise UserError(f"`{path}` cannot be read: {reason.strerror}") from None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(self.tls_ca)
        except ssl.SSLError:
            raise UserError(f"`{self.tls_ca}` holds no certificate of an authority in PEM format") from None
        try:
            context.load_cert_chain(self.tls_cert, self.tls_key, password=_refuse)
        except _Locked:
            raise UserError(
                f"the key in `{self.tls_key}` is locked with a password, for which nobody can be asked on a cluster: "
                "write it without one, in a file that only you can read"
            ) from None
        except ssl.SSLError as reason:
            if reason.reason == "KEY_VALUES_MISMATCH":
                raise UserError(f"the key in `{self.tls_key}` is not that of `{self.tls_cert}`") from None
            raise UserError(
                f"`{self.tls_cert}` and `{self.tls_key}` are not a certificate and its key in PEM format"
            ) from None


def _are_missing(options: list[str]) -> str:
    return f"{' and '.join(options)} {'is' if len(options) == 1 else 'are'} missing"


class _Locked(Exception):
    """A key asks for a password."""


def _refuse() -> str:
    raise _Locked


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
