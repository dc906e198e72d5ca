"""A Dask cluster with TLS: certificates that fit, that do not, that are none, and schedulers without any."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from executor_cluster import DaskCluster
from typer.testing import CliRunner, Result

import msl
from msl.cli.main import command_line
from msl.workers.dask import ClusterUnreachable
from msl.workers.dask_address import Scheduler

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None or sys.platform != "linux", reason="certificates are made with openssl"
)

SPEC = "use clop\nchain m = standardize >> (zarbi | naive)\nsearch grid\n"
ROWS = "".join(f"{number % 7},{number * 3 % 11},{'ab'[number % 7 > 3]}\n" for number in range(60))


@dataclass(frozen=True)
class Authority:
    """Signs certificates for one name, as a test needs them."""

    folder: Path

    def certificate(self, name: str) -> tuple[str, str]:
        key, request, cert = (str(self.folder / f"{name}.{kind}") for kind in ("key", "csr", "crt"))
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        signer = ("-CA", self.ca, "-CAkey", str(self.folder / "ca.key"), "-CAcreateserial")
        openssl("x509", "-req", "-in", request, *signer, "-out", cert, "-days", "2")
        return cert, key

    @property
    def ca(self) -> str:
        return str(self.folder / "ca.crt")


def authority(folder: Path) -> Authority:
    folder.mkdir()
    made = Authority(folder)
    key = str(folder / "ca.key")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", made.ca, "-subj", "/CN=ca")
    return made


def openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("tls") / "trusted")


@pytest.fixture(scope="module")
def own(trusted: Authority) -> tuple[str, str]:
    return trusted.certificate("user")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, trusted: Authority) -> Iterator[DaskCluster]:
    cert, key = trusted.certificate("cluster")
    tls = f"--protocol tls --tls-ca-file {trusted.ca} --tls-cert {cert} --tls-key {key}"
    started = DaskCluster(tmp_path_factory.mktemp("dask"), options=tls)
    try:
        started.start(workers=1)
        yield started
    finally:
        started.stop()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.msl").write_text(SPEC, encoding="utf-8")
    (tmp_path / "t.csv").write_text("f1,f2,class\n" + ROWS, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command_line(["run"]), ["run", "m.msl", "t.csv", "--json", *arguments])


def test_a_cluster_with_tls(cluster: DaskCluster, trusted: Authority, own: tuple[str, str], here: Path) -> None:
    """From the command line and from Python, with the losses of this machine; and nobody gets in without."""
    address = cluster.address
    assert address.startswith("tls://127.0.0.1:")
    shown = run("--on", address, "--tls-ca", trusted.ca, "--tls-cert", own[0], "--tls-key", own[1])
    assert shown.exit_code == 0, shown.output
    assert "warning" not in shown.stderr
    files = {"tls_ca_file": trusted.ca, "tls_client_cert": own[0], "tls_client_key": own[1]}
    security = distributed.Security(require_encryption=True, **files)
    with distributed.Client(address, security=security, set_as_default=False) as client:
        there = msl.run("m.msl", "t.csv", on=client, store=here / "python")
    alone = msl.run("m.msl", "t.csv", store=here / "alone")
    assert there.objectives == alone.objectives
    assert f'"best": "{alone.best}"' in shown.stdout
    config = {"ca-file": trusted.ca, "client.cert": own[0], "client.key": own[1]}
    import dask

    with dask.config.set({f"distributed.comm.tls.{name}": path for name, path in config.items()}):
        configured = msl.run("m.msl", "t.csv", on=address, store=here / "configured")
    assert configured.objectives == alone.objectives


def test_a_stranger_is_not_let_in(cluster: DaskCluster, tmp_path: Path, trusted: Authority) -> None:
    """Nor a user who trusts another authority than that of the cluster."""
    from executor_models import job

    from msl.workers.dask import DaskExecutor

    other = authority(tmp_path / "other")
    cert, key = other.certificate("stranger")
    for ca in (trusted.ca, other.ca):
        with pytest.raises(ConnectionError, match="no Dask scheduler answers at tls://"):
            DaskExecutor(job(), Scheduler(cluster.address, ca, cert, key), patience=1.0)
    with pytest.raises(ConnectionError, match="no Dask scheduler answers at dask://"):
        DaskExecutor(job(), cluster.address.replace("tls", "dask"), patience=1.0)


def test_files_that_are_no_good(here: Path, trusted: Authority, own: tuple[str, str]) -> None:
    locked, other = str(here / "locked.key"), trusted.certificate("other")
    openssl("rsa", "-aes128", "-passout", "pass:secret", "-in", own[1], "-out", locked)
    told = {
        ("nowhere.pem", *own): "`nowhere.pem` cannot be read: No such file or directory",
        (trusted.ca, own[0], str(here)): "cannot be read: Is a directory",
        ("m.msl", *own): "`m.msl` holds no certificate of an authority in PEM format",
        (trusted.ca, "m.msl", own[1]): "are not a certificate and its key in PEM format",
        (trusted.ca, own[0], other[1]): f"the key in `{other[1]}` is not that of `{own[0]}`",
        (trusted.ca, own[0], locked): "is locked with a password",
    }
    for (ca, cert, key), words in told.items():
        shown = run("--on", "tls://127.0.0.1:9", "--tls-ca", ca, "--tls-cert", cert, "--tls-key", key)
        assert shown.exit_code == 2, shown.output
        assert words in shown.stderr
        assert "Traceback" not in shown.stderr
    shown = run("--on", "dask://127.0.0.1:9", "--tls-ca", trusted.ca, "--tls-cert", own[0], "--tls-key", own[1])
    assert "certificates are for an address such as tls://host:port" in shown.stderr
    shown = run("--on", "tls://127.0.0.1:9")
    assert shown.exit_code == 2
    assert "tls://127.0.0.1:9 needs `--tls-ca`, `--tls-cert`, `--tls-key`" in shown.stderr


@pytest.mark.parametrize(
    ("address", "is_warned"),
    [
        ("dask://10.1.2.3:8786", True),
        ("tcp://cluster.example.org:8786", True),
        ("tcp://[2001:db8::1]:8786", True),
        ("dask://localhost:8786", False),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("tls://10.1.2.3:8786", False),
    ],
)
def test_whoever_reaches_a_scheduler_runs_code(address: str, is_warned: bool) -> None:
    warning = Scheduler(address).warning
    assert (warning is not None) == is_warned
    assert warning is None or "runs code" in warning


def test_the_warning_is_told(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise ClusterUnreachable("no Dask scheduler answers")

    monkeypatch.setattr("msl.runner.session.open_executor", refuse)
    shown = run("--on", "dask://cluster.example.org:8786")
    assert shown.exit_code == 2
    assert shown.stderr.startswith("warning: dask://cluster.example.org:8786 has neither encryption nor passwords")
    with pytest.warns(UserWarning, match="runs code"), pytest.raises(ConnectionError):
        msl.run("m.msl", "t.csv", on="tcp://cluster.example.org:8786")
