"""The OpenAPI document, made from the records the API reads and writes."""

from typing import Any

import msgspec
from flask import Blueprint, current_app

from web.api.uploads import Commit, Opening
from web.edits import Details

blueprint = Blueprint("description", __name__)

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
_BODIES = {
    "api.uploads.open_upload": "Opening",
    "api.uploads.commit": "Commit",
    "api.videos.change": "Details",
}
_SUCCESS = {"open_upload": "201", "put_block": "201", "commit": "202", "retry": "202", "cancel": "204", "delete": "204"}


@blueprint.get("/openapi.json")
def document() -> dict[str, Any]:
    _, schemas = msgspec.json.schema_components(
        [Opening, Commit, Details], ref_template="#/components/schemas/{name}"
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "Matinee", "version": "1"},
        "security": [{"token": []}, {}],
        "paths": _paths(),
        "components": {
            "schemas": {**schemas, "Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for rule in current_app.url_map.iter_rules():
        if not rule.endpoint.startswith("api."):
            continue
        path = rule.rule.replace("<path:", "<").replace("<", "{").replace(">", "}")
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            paths.setdefault(path, {})[method.lower()] = _operation(rule.endpoint, sorted(rule.arguments))
    return paths


def _operation(endpoint: str, arguments: list[str]) -> dict[str, Any]:
    name = endpoint.rpartition(".")[2]
    view = current_app.view_functions[endpoint]
    operation: dict[str, Any] = {
        "operationId": endpoint.removeprefix("api.").replace(".", "_"),
        "summary": (view.__doc__ or name.replace("_", " ")).strip().splitlines()[0],
        "parameters": [
            {"name": argument, "in": "path", "required": True, "schema": {"type": "string"}} for argument in arguments
        ],
        "responses": {
            _SUCCESS.get(name, "200"): {"description": "Done"},
            "default": {
                "description": "What went wrong, in a sentence",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }
    if endpoint in _BODIES:
        schema = {"$ref": f"#/components/schemas/{_BODIES[endpoint]}"}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if name == "put_block":
        operation["requestBody"] = {"required": True, "content": {"application/octet-stream": {}}}
    return operation
