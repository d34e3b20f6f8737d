"""The OpenAPI document, made from the routes and from the records the API reads and writes."""

import re
from dataclasses import dataclass
from typing import Any

import msgspec
from flask import Blueprint, current_app

from web.api.answers import Block, Found, Opened, Upload, Uploads, VideoAnswer
from web.api.uploads import Commit, Opening
from web.edits import Details

blueprint = Blueprint("description", __name__)

_ARGUMENT = re.compile(r"<(?:[^<>:]+:)?([^<>:]+)>")


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What a route takes besides its address, and what it answers with. `body` None: none; bytes: a block."""

    body: type | None = None
    status: int = 200
    answer: type | None = None
    headers: tuple[str, ...] = ()
    query: tuple[tuple[str, str], ...] = ()


OPERATIONS = {
    "uploads.open_upload": Operation(body=Opening, status=201, answer=Opened, headers=("Idempotency-Key",)),
    "uploads.unfinished": Operation(answer=Uploads),
    "uploads.show": Operation(answer=Upload),
    "uploads.put_block": Operation(body=bytes, status=201, answer=Block, headers=("Content-MD5",)),
    "uploads.commit": Operation(body=Commit, status=202, answer=VideoAnswer),
    "uploads.cancel": Operation(status=204),
    "videos.show": Operation(answer=VideoAnswer),
    "videos.change": Operation(body=Details, answer=VideoAnswer),
    "videos.delete": Operation(status=204),
    "videos.retry": Operation(status=202, answer=VideoAnswer),
    "search.search": Operation(answer=Found, query=(("q", "string"), ("page", "integer"), ("limit", "integer"))),
    "description.document": Operation(answer=dict),
}
"""Every route of the API by its endpoint."""

_ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
            "required": ["code", "message"],
        }
    },
    "required": ["error"],
}


@blueprint.get("/openapi.json")
def document() -> dict[str, Any]:
    """This description."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Matinee", "version": "1"},
        "security": [{"token": []}, {}],
        "paths": _paths(),
        "components": {
            "schemas": {**_schemas(), "Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas() -> dict[str, Any]:
    kinds = [kind for operation in OPERATIONS.values() for kind in (operation.body, operation.answer)]
    records = dict.fromkeys(kind for kind in kinds if _is_record(kind))
    _, schemas = msgspec.json.schema_components(records, ref_template="#/components/schemas/{name}")
    return schemas


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for rule in current_app.url_map.iter_rules():
        if not rule.endpoint.startswith("api."):
            continue
        path = _ARGUMENT.sub(r"{\1}", rule.rule)
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            paths.setdefault(path, {})[method.lower()] = _described(rule.endpoint, sorted(rule.arguments))
    return paths


def _described(endpoint: str, arguments: list[str]) -> dict[str, Any]:
    name = endpoint.removeprefix("api.")
    operation = OPERATIONS[name]
    described: dict[str, Any] = {
        "operationId": name.replace(".", "_"),
        "summary": (current_app.view_functions[endpoint].__doc__ or "").strip().splitlines()[0],
        "parameters": [
            *(_parameter("path", argument, "string", required=True) for argument in arguments),
            *(_parameter("query", *asked) for asked in operation.query),
            *(_parameter("header", header, "string") for header in operation.headers),
        ],
        "responses": {
            str(operation.status): {"description": "Done", **_content(operation.answer)},
            "default": {"description": "What went wrong, in a sentence", **_json("#/components/schemas/Error")},
        },
    }
    if operation.body is not None:
        described["requestBody"] = {"required": True, **_content(operation.body)}
    return described


def _parameter(place: str, name: str, kind: str, *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": {"type": kind}}


def _content(kind: type | None) -> dict[str, Any]:
    if kind is None:
        return {}
    if kind is bytes:
        return {"content": {"application/octet-stream": {}}}
    if not _is_record(kind):
        return {"content": {"application/json": {"schema": {"type": "object"}}}}
    return _json(f"#/components/schemas/{kind.__name__}")


def _json(reference: str) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": reference}}}}


def _is_record(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
