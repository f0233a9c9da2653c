"""The meaning of a failed request to S3: retry, or a setting or right that a person must correct."""

from __future__ import annotations

from dataclasses import dataclass

from botocore import exceptions as boto

from connect_core.errors import ConfigError, ConnectError, RetriableError

__all__ = ["code_of", "translated"]

_PASSES = frozenset(
    {
        "SlowDown",
        "ServiceUnavailable",
        "InternalError",
        "InternalFailure",
        "RequestTimeout",
        "RequestTimeoutException",
        "Throttling",
        "ThrottlingException",
        "RequestThrottled",
        "TooManyRequests",
        "RequestLimitExceeded",
        "BandwidthLimitExceeded",
        "OperationAborted",
        "ConditionalRequestConflict",
        "BadDigest",
        "IncompleteBody",
        "ExpiredToken",
        "TokenRefreshRequired",
        "KMS.ThrottlingException",
    }
)
_KEYS = "check aws.access.key.id and aws.secret.access.key, or the worker's own credentials"
_REGION = "set s3.region to the bucket's region, and store.url to where the bucket is"
_RIGHTS = "grant s3:GetObject, PutObject, DeleteObject, ListBucket, AbortMultipartUpload and ListBucketMultipartUploads"
_REMEDIES = {
    "NoSuchBucket": "there is no such bucket; create it, or name another in path",
    "InvalidBucketName": "a bucket cannot have that name; correct path",
    "AccessDenied": f"the access key lacks a permission; {_RIGHTS} there",
    "Forbidden": f"the access key lacks a permission; {_RIGHTS} there",
    "403": f"the access key lacks a permission; {_RIGHTS} there",
    "AllAccessDisabled": "all access to the bucket is disabled; enable it, or name another in path",
    "InvalidAccessKeyId": f"the store does not know this access key; {_KEYS}",
    "SignatureDoesNotMatch": f"the secret does not match the access key; {_KEYS}",
    "InvalidToken": f"the session token is not valid; {_KEYS}",
    "RequestTimeTooSkewed": "this machine's clock and the store's differ too much; set the clock (NTP)",
    "PermanentRedirect": f"the bucket is in another region; {_REGION}",
    "AuthorizationHeaderMalformed": f"the bucket is in another region; {_REGION}",
    "IllegalLocationConstraintException": f"the bucket is in another region; {_REGION}",
    "301": f"the bucket is in another region; {_REGION}",
    "InvalidStorageClass": "the store has no such storage class; correct s3.storage.class",
    "AccessControlListNotSupported": "the bucket does not accept ACLs; leave s3.acl.canned out",
    "KMS.NotFoundException": "there is no such KMS key; correct s3.sse.kms.key.id",
    "KMS.DisabledException": "the KMS key is disabled; enable it, or correct s3.sse.kms.key.id",
    "KeyTooLongError": "S3 allows 1,024 bytes; shorten the prefix in path, or the folders of the partitioner",
    "QuotaExceeded": "the bucket's quota is exceeded; free up space, or raise it",
    "MethodNotAllowed": "the store does not support this request, so exactly-once writes are not possible",
    "NotImplemented": "the store does not support this request, so exactly-once writes are not possible",
}
_CREDENTIALS = (boto.NoCredentialsError, boto.PartialCredentialsError, boto.CredentialRetrievalError)
_PATH = "path"


@dataclass(frozen=True, slots=True)
class _Kind:
    status: int
    code: str


def _kind(error: boto.ClientError) -> _Kind:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return _Kind(status, str(error.response.get("Error", {}).get("Code", "")))


def code_of(error: BaseException) -> str:
    """Return S3's code for an error, or its HTTP status; empty for other errors."""
    if not isinstance(error, boto.ClientError):
        return ""
    kind = _kind(error)
    return kind.code or str(kind.status)


def translated(error: Exception, what: str, place: str) -> ConnectError:
    """Return the error to raise: RetriableError for a temporary one, ConfigError or ConnectError with a remedy.

    what: the request, as in "cannot be written"; place: bucket and key. Contains no settings.
    """
    text = f"{place} {what}"
    if isinstance(error, boto.ClientError):
        return _of_answer(_kind(error), _message(error), text, place)
    if isinstance(error, _CREDENTIALS):
        return ConfigError(_PATH, place, f"no credentials were found; {_KEYS}")
    if isinstance(error, boto.ParamValidationError | boto.UnknownRegionError | boto.InvalidRegionError):
        return ConfigError(_PATH, place, f"{what}: {_first_line(error)}; correct path and s3.region")
    # All others are connection errors: refused, reset, timed out, cut off, not resolved, or an invalid certificate.
    return RetriableError(f"{text}: the store does not respond ({type(error).__name__}); is store.url right?")


def _of_answer(kind: _Kind, message: str, text: str, place: str) -> ConnectError:
    said = f"{kind.code or kind.status}: {message}" if message else kind.code or str(kind.status)
    if kind.code in _PASSES or (kind.status >= 500 and kind.code not in _REMEDIES) or kind.status == 429:
        return RetriableError(f"{text} now ({said})")
    remedy = _REMEDIES.get(kind.code) or _REMEDIES.get(str(kind.status))
    if remedy is None:
        return ConnectError(f"{text} ({said})")
    if kind.code == "RequestTimeTooSkewed":
        return ConnectError(f"{text} ({said}): {remedy}")
    return ConfigError(_PATH, place, f"{text} ({said}): {remedy}")


def _message(error: boto.ClientError) -> str:
    return _first_line(error.response.get("Error", {}).get("Message", "") or "")[:300]


def _first_line(text: object) -> str:
    return (str(text).strip().splitlines() or [""])[0]
