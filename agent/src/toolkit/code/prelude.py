def _run():
    import json, linecache, os, sys, threading, traceback

    code, names = sys.argv[1], json.loads(sys.argv[2])
    del sys.argv[1:]
    sys.path.insert(0, os.getcwd())

    class ToolError(Exception):
        """What a tool answered when it failed."""

    class Tools:
        def __init__(self):
            self._say = os.fdopen(3, "w", encoding="utf-8", newline="\n")
            self._hear = os.fdopen(4, "r", encoding="utf-8", newline="\n")
            self._turn = threading.Lock()

        def __dir__(self):
            return names

        def __getattr__(self, name):
            if name not in names:
                there = ", ".join(names) or "none"
                raise AttributeError(f"no tool `{name}` can be called from code; there are: {there}")

            def call(**arguments):
                said = json.dumps({"tool": name, "arguments": arguments}, allow_nan=False)
                with self._turn:
                    self._say.write(said + "\n")
                    self._say.flush()
                    answer = json.loads(self._hear.readline())
                if answer["failed"]:
                    raise ToolError(answer["text"])
                return answer["text"]

            call.__name__ = name
            return call

    # So that a traceback shows the lines.
    linecache.cache["<code>"] = (len(code), None, code.splitlines(True), "<code>")
    try:
        exec(
            compile(code, "<code>", "exec"),
            {"__name__": "__main__", "tools": Tools(), "ToolError": ToolError},
        )
    except Exception as error:
        # Without the line above.
        after = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, after)
        sys.exit(1)


_run()
