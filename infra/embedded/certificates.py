"""Issues certificates for an embedded broker and its clients, made when they are first needed.

The authority's key stays in the folder, so that further certificates can be issued; only the supervisor reads it.
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from memquorum.wholefiles import write_secret

_YEARS = 10


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority of one installation."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @staticmethod
    def of(folder: Path) -> Authority:
        """Loads the authority from a folder; makes one if it is missing."""
        key_file, file = folder / "ca.key", folder / "ca.crt"
        if not (key_file.exists() and file.exists()):
            key = ec.generate_private_key(ec.SECP256R1())
            name = _name("memquorum embedded authority")
            made = (
                _begun(name, name, key)
                .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
                .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
                .add_extension(_usage(signs=True), critical=True)
                .sign(key, hashes.SHA256())
            )
            write_secret(key_file, _pem(key))
            write_secret(file, made.public_bytes(serialization.Encoding.PEM).decode())
        loaded = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        return Authority(x509.load_pem_x509_certificate(file.read_bytes()), loaded)

    def issue(self, name: str, *, server: bool = False, hosts: Iterable[str] = ()) -> tuple[str, str]:
        """A certificate for the name, and its key, both PEM. `server`: also valid for servers on this machine, and on
        `hosts`."""
        key = ec.generate_private_key(ec.SECP256R1())
        purposes = [ExtendedKeyUsageOID.CLIENT_AUTH, *([ExtendedKeyUsageOID.SERVER_AUTH] if server else [])]
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        made = (
            _begun(_name(name), self.certificate.subject, key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
            .add_extension(authority, critical=False)
        )
        if server:
            here = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
            there = [x509.DNSName(host) for host in hosts if host != "localhost" and not host[:1].isdigit()]
            made = made.add_extension(x509.SubjectAlternativeName([*here, *there]), critical=False)
        signed = made.sign(self.key, hashes.SHA256())
        return signed.public_bytes(serialization.Encoding.PEM).decode(), _pem(key)


def _begun(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=365 * _YEARS))
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs, key_cert_sign=signs, crl_sign=signs, content_commitment=False,
        key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _pem(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
