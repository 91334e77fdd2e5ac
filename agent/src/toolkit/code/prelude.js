"use strict";
const fs = require("node:fs");
const vm = require("node:vm");
const [code, names] = [process.argv[1], JSON.parse(process.argv[2])];
process.argv.splice(1);

let rest = Buffer.alloc(0);
const hear = () => {
  const piece = Buffer.alloc(64 * 1024);
  for (let from = 0; ; ) {
    const end = rest.indexOf(10, from);
    if (end >= 0) {
      const line = rest.subarray(0, end).toString();
      rest = rest.subarray(end + 1);
      return line;
    }
    from = rest.length;
    const read = fs.readSync(4, piece);
    if (read === 0) throw new Error("no tool can be called any more");
    rest = Buffer.concat([rest, piece.subarray(0, read)]);
  }
};
const say = (text) => {
  for (let bytes = Buffer.from(text); bytes.length > 0; ) {
    bytes = bytes.subarray(fs.writeSync(3, bytes));
  }
};
class ToolError extends Error {}
const call = (tool) => async (given = {}) => {
  say(JSON.stringify({ tool, arguments: given }) + "\n");
  const answer = JSON.parse(hear());
  if (answer.failed) throw new ToolError(answer.text);
  return answer.text;
};
const tools = Object.fromEntries(names.map((name) => [name, call(name)]));
Object.assign(globalThis, { tools: Object.freeze(tools), ToolError, require });

// Node warns of an option that is used below, which tells the model nothing.
const warn = process.emitWarning;
process.emitWarning = (warning, ...more) => {
  if (!String(warning).startsWith("vm.")) warn.call(process, warning, ...more);
};
const failed = (error) => {
  console.error(error instanceof Error ? error.stack : error);
  process.exitCode = 1;
};
try {
  const script = new vm.Script(`(async () => {\n${code}\n})()`, {
    filename: "code.js",
    lineOffset: -1,
    importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  script.runInThisContext().catch(failed);
} catch (error) {
  failed(error);
}
