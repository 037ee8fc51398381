"use strict";

const assert = require("node:assert");
const test = require("node:test");
const { commandLine, told, SENT } = require("../start");
const manifest = require("../package.json");

const settings = (values) => (name) => values[name];

test("the interpreter that the user chose runs the server", () => {
  assert.deepStrictEqual(commandLine(settings({}), "/venv/bin/python"), {
    command: "/venv/bin/python", args: ["-m", "torchlift", "server", "--stdio"],
  });
});

test("without one it is looked for on the PATH, and a path that is set wins", () => {
  assert.strictEqual(commandLine(settings({}), undefined).command, "torchlift");
  const set = settings({ path: ["uvx", "torchlift"], args: ["-v"] });
  assert.deepStrictEqual(commandLine(set, "/venv/bin/python"), { command: "uvx", args: ["torchlift", "server", "--stdio", "-v"] });
});

test("the server is told what somebody has set, and nothing else", () => {
  assert.deepStrictEqual(told(settings({ select: [], target: "", allowOwnRules: false })), {});
  assert.deepStrictEqual(told(settings({ select: ["TL4"], minTorch: "2.6", path: ["x"] })), { select: ["TL4"], minTorch: "2.6" });
});

test("every setting in the manifest is used", () => {
  const declared = Object.keys(manifest.contributes.configuration.properties).map((name) => name.replace("torchlift.", ""));
  assert.deepStrictEqual(declared.sort(), [...SENT, "enable", "path", "args"].sort());
});
