#!/usr/bin/env python3
"""Writes the JSON Schemas of the request bodies that the providers' official Python SDKs let a caller send.

    pip install openai==3.57.0 anthropic==2.14.0 pydantic
    tests/request-schemas.py target/request-schemas
    cargo test -p tests --test wire_schemas --test live

Without the words that explain them: the shapes are all that tests read. `AGENT_REQUEST_SCHEMAS` names another folder.
"""
import json
import pathlib
import sys
import typing

from anthropic.types import message_create_params as messages
from openai.types.chat import completion_create_params as chat
from openai.types.responses import response_create_params as responses
from pydantic import TypeAdapter


def shape(schema):
    if isinstance(schema, dict):
        said = {"title", "description"}
        return {key: shape(value) for key, value in schema.items() if key not in said or isinstance(value, dict)}
    if isinstance(schema, list):
        return [shape(value) for value in schema]
    return schema


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for protocol, module, name in [
    ("openai-chat", chat, "CompletionCreateParams"),
    ("openai-responses", responses, "ResponseCreateParams"),
    ("anthropic-messages", messages, "MessageCreateParams"),
]:
    ways = typing.Union[getattr(module, name + "Streaming"), getattr(module, name + "NonStreaming")]
    schema = shape(TypeAdapter(ways).json_schema())
    (folder / f"{protocol}.json").write_text(json.dumps(schema, separators=(",", ":")) + "\n")
