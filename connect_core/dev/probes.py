"""Checks of the servers named by the environment, for ``connect doctor``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import grpc  # type: ignore[import-untyped]
import httpx
import psutil
import psycopg
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from connect_core.dev.checks import Check, Finding, fail, passed, skip
from connect_core.errors import ConfigError
from connect_core.schema_registry.calls import RegistryCalls
from connect_core.schema_registry.client import RegistryClient
from connect_core.schema_registry.errors import SchemaRegistryError, UnavailableRegistryError
from connect_core.schema_registry.settings import RegistrySettings
from connect_core.store import Database

__all__ = ["SERVER_CHECKS", "check_airflow", "check_brokers", "check_database", "check_registry", "check_spark"]

_START = "Start the stack with `connect dev up`"
_SECONDS = 3.0
_POSTGRESQL = re.compile(r"^postgres(ql)?(\+\w+)?:")
_ANY_SPARK_CALL = "/spark.connect.SparkConnectService/Config"
_LOOPBACK = ("127.", "::1", "::ffff:127.")


def check_brokers(environment: Mapping[str, str]) -> Finding:
    """Check that the brokers return their metadata."""
    servers = environment.get("CONNECT_BOOTSTRAP_SERVERS")
    if not servers:
        return skip("Kafka", f"CONNECT_BOOTSTRAP_SERVERS is not set. {_START}.")
    try:
        found = AdminClient({"bootstrap.servers": servers, "log_level": 0}).list_topics(timeout=_SECONDS)
    except KafkaException as error:
        remedy = f"{_START}, or correct CONNECT_BOOTSTRAP_SERVERS."
        return fail("Kafka", f"no broker responds at {servers} ({error.args[0].str()})", remedy)
    return passed("Kafka", f"{len(found.brokers)} broker(s), {len(found.topics)} topics at {servers}")


def check_database(environment: Mapping[str, str]) -> Finding:
    """Check the dialect of the metadata database, and the login if it is a PostgreSQL."""
    address = environment.get("CONNECT_DATABASE_URL")
    if not address:
        return skip("database", f"CONNECT_DATABASE_URL is not set. {_START}.")
    try:
        Database(address, pooled=False)
    except ConfigError as error:
        detail, _, remedy = str(error).partition(". ")
        return fail("database", detail, remedy)
    if not address.startswith("postgres"):
        return skip("database", f"{address.split(':')[0]} needs no server")
    place = f"{urlsplit(address).hostname}:{urlsplit(address).port or 5432}"
    try:
        plain = _POSTGRESQL.sub("postgresql:", address)
        with psycopg.connect(plain, connect_timeout=int(_SECONDS)) as connection:
            number = connection.info.server_version
    except psycopg.Error as error:
        remedy = f"{_START}, or correct CONNECT_DATABASE_URL."
        return fail("database", f"no login at {place} ({str(error).splitlines()[0]})", remedy)
    return passed("database", f"PostgreSQL {number // 10_000} at {place}")


def check_airflow(environment: Mapping[str, str]) -> Finding:
    """Check that Airflow's components are alive, the login works, and Connect's plugin is installed."""
    address = environment.get("CONNECT_AIRFLOW_URL")
    if not address:
        return skip("Airflow", f"CONNECT_AIRFLOW_URL is not set. {_START}.")
    try:
        with httpx.Client(base_url=address, timeout=_SECONDS) as client:
            return _airflow_finding(client, address, environment)
    except httpx.HTTPError as error:
        return fail("Airflow", f"no answer at {address} ({error})", f"{_START}, or correct CONNECT_AIRFLOW_URL.")


def _airflow_finding(client: httpx.Client, address: str, environment: Mapping[str, str]) -> Finding:
    health = client.get("/api/v2/monitor/health").raise_for_status().json()
    ill = [name for name, told in health.items() if told and told.get("status") not in ("healthy", None)]
    if ill:
        return fail("Airflow", f"not healthy: {', '.join(ill)}", "See `connect dev logs airflow-<component>`.")
    user = environment.get("CONNECT_AIRFLOW_USER", "admin")
    file = Path(environment.get("CONNECT_AIRFLOW_PASSWORD_FILE", ""))
    if not file.is_file():
        return fail("Airflow", "CONNECT_AIRFLOW_PASSWORD_FILE names no file", f"{_START}; it writes that file.")
    login = client.post("/auth/token", json={"username": user, "password": file.read_text().strip()})
    if login.is_error:
        return fail("Airflow", f"rejects the login of {user}", f"Put the password of {user} into {file}.")
    rights = {"Authorization": f"Bearer {login.json()['access_token']}"}
    plugins = client.get("/api/v2/plugins", headers=rights).raise_for_status().json()["plugins"]
    prefixes = {app.get("url_prefix") for plugin in plugins for app in plugin.get("fastapi_apps", ())}
    if "/connect" not in prefixes:
        remedy = "Install 'connect-core[airflow]' where Airflow's api-server runs, and restart it."
        return fail("Airflow", f"responds at {address}, but has no Connect plugin", remedy)
    return passed("Airflow", f"healthy at {address}, with the Connect plugin")


def check_spark(environment: Mapping[str, str]) -> Finding:
    """Check that the Spark Connect server requires its token, and listens on loopback only."""
    remote = environment.get("CONNECT_SPARK_REMOTE")
    if not remote:
        return skip("Spark", f"CONNECT_SPARK_REMOTE is not set. {_START}.")
    parts = urlsplit(remote)
    place = f"{parts.hostname}:{parts.port or 15002}"
    options = dict(part.partition("=")[::2] for part in parts.path.strip("/").split(";") if part)
    refused = _call_spark(place, None)
    if refused is grpc.StatusCode.UNAVAILABLE:
        return fail("Spark", f"no answer at {place}", f"{_START}, or correct CONNECT_SPARK_REMOTE.")
    if refused is not grpc.StatusCode.UNAUTHENTICATED:
        remedy = "Set SPARK_CONNECT_AUTHENTICATE_TOKEN for the server and token= in CONNECT_SPARK_REMOTE."
        return fail("Spark", f"{place} requires no login", remedy)
    if _call_spark(place, options.get("token", "")) is grpc.StatusCode.UNAUTHENTICATED:
        return fail("Spark", f"{place} rejects the token", "Correct token= in CONNECT_SPARK_REMOTE.")
    exposed = _other_listeners(parts.port or 15002)
    if exposed and (parts.hostname or "").startswith(("localhost", *_LOOPBACK)):
        remedy = "Set spark.connect.grpc.binding.address to 127.0.0.1."
        return fail("Spark", f"listens on {', '.join(sorted(exposed))}, for the whole network", remedy)
    return passed("Spark", f"requires its token at {place}, on loopback only")


def check_registry(environment: Mapping[str, str]) -> Finding:
    """Check the schema registry, if one is named and runs: by default the stack starts none."""
    address = environment.get("CONNECT_SCHEMA_REGISTRY_URL")
    if not address:
        return skip("registry", "CONNECT_SCHEMA_REGISTRY_URL is not set: `connect dev up --registry` starts one")
    millis = f"{_SECONDS * 1000:.0f}"
    limits = {"max.retries": "0", "schema.registry.request.timeout.ms": millis}
    calls = RegistryCalls(RegistrySettings.of({"schema.registry.url": address, **limits}, False).client)
    try:
        return passed("registry", f"{_registry_state(RegistryClient(calls))} at {address}")
    except UnavailableRegistryError:
        return skip("registry", f"no answer at {address}: `connect dev up --registry` starts one")
    except SchemaRegistryError as error:
        return fail("registry", str(error), "Correct CONNECT_SCHEMA_REGISTRY_URL.")
    finally:
        calls.close()


def _registry_state(client: RegistryClient) -> str:
    subjects = len(client.subjects())
    try:
        mode = client.mode()
    except SchemaRegistryError as error:
        if not error.is_missing:
            raise
        # Apicurio has no modes: it always accepts schemas.
        mode = "READWRITE"
    return f"{subjects} subjects, compatibility {client.compatibility()}, mode {mode}"


def _call_spark(place: str, token: str | None) -> grpc.StatusCode:
    """Return the status of an empty call; only its authentication matters."""
    with grpc.insecure_channel(place) as channel:
        call = channel.unary_unary(_ANY_SPARK_CALL)
        metadata = None if token is None else (("authorization", f"Bearer {token}"),)
        try:
            call(b"", timeout=_SECONDS, metadata=metadata)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


def _other_listeners(port: int) -> set[str]:
    try:
        sockets = psutil.net_connections("tcp")
    except psutil.AccessDenied:
        return set()
    open_to = [known.laddr for known in sockets if known.status == psutil.CONN_LISTEN and known.laddr]
    found = {address.ip for address in open_to if address.port == port}
    return {address for address in found if not address.startswith(_LOOPBACK)}


SERVER_CHECKS: tuple[Check, ...] = (check_brokers, check_database, check_airflow, check_spark, check_registry)
