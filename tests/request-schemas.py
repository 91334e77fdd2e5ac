#!/usr/bin/env python3
"""Writes the JSON Schemas of the request bodies that the providers' official Python SDKs let a caller send.

    pip install openai anthropic pydantic
    tests/request-schemas.py FOLDER
    AGENT_REQUEST_SCHEMAS=FOLDER cargo test -p tests --test wire_schemas
"""
import json
import pathlib
import sys
import typing

from anthropic.types import message_create_params as messages
from openai.types.chat import completion_create_params as chat
from openai.types.responses import response_create_params as responses
from pydantic import TypeAdapter

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for protocol, module, name in [
    ("openai-chat", chat, "CompletionCreateParams"),
    ("openai-responses", responses, "ResponseCreateParams"),
    ("anthropic-messages", messages, "MessageCreateParams"),
]:
    ways = typing.Union[getattr(module, name + "Streaming"), getattr(module, name + "NonStreaming")]
    schema = TypeAdapter(ways).json_schema()
    (folder / f"{protocol}.json").write_text(json.dumps(schema))
