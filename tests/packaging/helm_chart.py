"""Renders the chart with Helm's SDK and checks every object by the schemas of Kubernetes → JSON; run by test_helm.py.

``python helm_chart.py CHART VALUES``, where VALUES is JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import helm_python
import kubernetes_validate
import yaml

_KUBERNETES = "1.34"


def main(chart: str, values: str) -> None:
    """Print what lint and the schemas object to, and the rendered objects."""
    found: dict[str, Any] = {"lint": helm_python.lint(chart)["errors"], "refused": "", "wrong": [], "objects": []}
    with helm_python.Chart.load(chart) as loaded:
        try:
            loaded.validate_schema(json.loads(values))
            rendered = loaded.render(json.loads(values), name="demo", namespace="connectors")
        except helm_python.HelmError as error:
            print(json.dumps({**found, "refused": str(error)}))
            return
    found["objects"] = [one for text in rendered.values() for one in yaml.safe_load_all(text) if one]
    found["objects"] += [yaml.safe_load(text) for one in found["objects"] for text in _files(one, "pod_template.yaml")]
    for one in found["objects"]:
        try:
            kubernetes_validate.validate(one, _KUBERNETES, strict=True)
        except kubernetes_validate.ValidationError as error:
            found["wrong"].append(f"{one['kind']}: {error.message}")
    print(json.dumps(found))


def _files(one: dict[str, Any], name: str) -> list[str]:
    return [text for key, text in one.get("data", {}).items() if key == name]


if __name__ == "__main__":
    main(*sys.argv[1:])
