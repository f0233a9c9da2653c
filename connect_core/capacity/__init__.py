"""How large a deployment must be: measured parts, and a model that adds them up."""

from connect_core.capacity.measured import KINDS_OF_WORK, MEASURED, Measured, figures_with
from connect_core.capacity.model import Deployment, Part, Plan, Workload, plan_capacity

__all__ = [
    "KINDS_OF_WORK",
    "MEASURED",
    "Deployment",
    "Measured",
    "Part",
    "Plan",
    "Workload",
    "figures_with",
    "plan_capacity",
]
