"""Base class of the operators that run a connector: drive a run and report its outcome."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow import __version__
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, AirflowSkipException
from airflow.sdk import Asset, AssetAlias, BaseOperator, BaseOperatorLink

from connect_core.dag.backfill_time import backfill_since
from connect_core.dag.bound_time import bound_time_of
from connect_core.errors import ConnectError, RetriableError, StaleEpochError
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus

if TYPE_CHECKING:
    from airflow.sdk import Context

__all__ = ["ConnectorTask", "SparkJobLink"]

_BY_ITSELF = ("scheduled", "asset_triggered")
_RETRY_BACKOFF: Mapping[str, Any] = {
    "retry_delay": timedelta(seconds=5),
    # Doubles each time; Airflow 3.1 has no other factor.
    "retry_exponential_backoff": True if __version__.startswith("3.1.") else 2.0,
    "max_retry_delay": timedelta(minutes=10),
}


class SparkJobLink(BaseOperatorLink):
    """The button on the task's page that opens its latest Spark job."""

    @property
    def name(self) -> str:
        """Return the button's label."""
        return "Spark job"

    @property
    def xcom_key(self) -> str:
        """Return the XCom key of the link."""
        return "_link_spark_job"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the address set on the running operator; the page reads it from XCom."""
        return str(operator.job_url)


class ConnectorTask(BaseOperator):
    """Run one connector; ``continuous``: whenever there is something to do.

    Subclasses implement a run in ``drive``. No field is a template, because
    a connector's name is user input.
    """

    template_fields: Sequence[str] = ()
    operator_extra_links: Collection[BaseOperatorLink] = (SparkJobLink(),)

    def __init__(self, *, connector: str, continuous: bool = False, **kwargs: Any) -> None:
        super().__init__(**{**_RETRY_BACKOFF, **kwargs})
        self.connector = connector
        self.continuous = continuous
        self.job_url = ""

    def drive(self, request: RunRequest, context: Context) -> RunOutcome:
        """Carry out one run. Raises ConnectError."""
        raise NotImplementedError

    def execute(self, context: Context) -> Any:
        """Carry out one run and return a summary of its outcome."""
        try:
            request = self._request(context)
            outcome = self.drive(request, context)
        except RetriableError as error:
            raise AirflowException(str(error)) from error
        except StaleEpochError as error:
            raise AirflowSkipException(f"Connector {self.connector} was taken over: {error}") from error
        except ConnectError as error:
            raise AirflowFailException(str(error)) from error
        return self._conclude(outcome, context)

    def show_job(self, context: Context, url: str) -> None:
        """Link the task's page to the running Spark job; without an address there is no link."""
        if url:
            self.job_url = url
            context["ti"].xcom_push(key=SparkJobLink().xcom_key, value=url)

    def _request(self, context: Context) -> RunRequest:
        instance, run, since = context["ti"], context["dag_run"], backfill_since(context)
        return RunRequest(
            connector=self.connector,
            run_id=run.run_id,
            continuous=self.continuous,
            asked=since is None and _is_asked(run.run_type, instance.try_number),
            last_try=instance.try_number > instance.max_tries,
            bound_time=bound_time_of(context),
            since=since,
            begun_at=None if since is None else run.start_date,
        )

    def _conclude(self, outcome: RunOutcome, context: Context) -> Any:
        if outcome.status is RunStatus.FAILED:
            raise AirflowFailException(outcome.reason)
        if outcome.status is RunStatus.SKIPPED:
            raise AirflowSkipException(outcome.reason)
        summary = {
            "status": outcome.status.value,
            "reason": outcome.reason,
            "intervals": outcome.intervals,
            "records": outcome.records,
        }
        self._announce(outcome, context, {"connector": self.connector, **summary, **outcome.finished})
        return summary

    def _announce(self, outcome: RunOutcome, context: Context, metadata: dict[str, Any]) -> None:
        """Set the metadata of asset events; a run that moved nothing sends no events."""
        if not (outcome.records or outcome.finished.get("records")):
            self.outlets = []
            return
        events = context["outlet_events"]
        declared = {asset.uri: asset for asset in self.outlets if isinstance(asset, Asset)}
        for asset in declared.values():
            events[asset].extra = dict(metadata)
        for alias in (outlet for outlet in self.outlets if isinstance(outlet, AssetAlias)):
            for uri in sorted(set(outcome.outlets) - set(declared)):
                events[alias].add(Asset(uri=uri), extra=dict(metadata))


def _is_asked(run_type: str, try_number: int) -> bool:
    """Return whether a person or a retry asked for this run: it is tried even if the connector has failed."""
    return getattr(run_type, "value", run_type) not in _BY_ITSELF or try_number > 1
