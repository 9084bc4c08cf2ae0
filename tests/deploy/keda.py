"""The fields of KEDA's resources that our manifests use, as JSON schemas; unknown fields are refused."""

from typing import Any


def fields(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


TEXT, NUMBER, ANYTHING = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "object"}
METRICS_API = fields(
    ("url", "valueLocation", "targetValue"),
    url={"type": "string", "pattern": "^https?://"},
    format={"enum": ["json", "prometheus", "xml", "yaml"]},
    valueLocation=TEXT,
    targetValue={"type": "string", "pattern": r"^\d+(\.\d+)?$"},
    activationTargetValue=TEXT,
    authMode={"enum": ["apiKey", "basic", "tls", "bearer"]},
)
TRIGGER = fields(
    ("type", "metadata"),
    type={"const": "metrics-api"},
    metadata=METRICS_API,
    authenticationRef=fields(("name",), name=TEXT),
)
TRIGGERS = {"type": "array", "minItems": 1, "items": TRIGGER}
SPECS = {
    "ScaledObject": fields(
        ("scaleTargetRef", "triggers"),
        scaleTargetRef=fields(("name",), name=TEXT, kind=TEXT, apiVersion=TEXT),
        minReplicaCount=NUMBER,
        maxReplicaCount=NUMBER,
        pollingInterval=NUMBER,
        cooldownPeriod=NUMBER,
        triggers=TRIGGERS,
    ),
    "ScaledJob": fields(
        ("jobTargetRef", "triggers"),
        jobTargetRef=ANYTHING,
        pollingInterval=NUMBER,
        maxReplicaCount=NUMBER,
        successfulJobsHistoryLimit=NUMBER,
        failedJobsHistoryLimit=NUMBER,
        triggers=TRIGGERS,
    ),
    "TriggerAuthentication": fields(
        ("secretTargetRef",),
        secretTargetRef={
            "type": "array",
            "items": fields(("parameter", "name", "key"), parameter=TEXT, name=TEXT, key=TEXT),
        },
    ),
}
