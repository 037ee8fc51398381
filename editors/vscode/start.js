// How the server is started and what it is told: nothing here needs an editor, so that tests can ask.
"use strict";

/** Settings that are the server's; the others say how to start it. */
const SENT = ["configuration", "select", "ignore", "target", "minTorch", "torchscript", "allowOwnRules"];

/**
 * The command line of the server.
 * @param {(name: string) => unknown} setting a setting of torchlift by its name
 * @param {string | undefined} python the interpreter that the Python extension has chosen
 * @returns {{command: string, args: string[]}}
 */
function commandLine(setting, python) {
  const given = setting("path") || [];
  const start = given.length ? given : python ? [python, "-m", "torchlift"] : ["torchlift"];
  return { command: start[0], args: [...start.slice(1), "server", "--stdio", ...(setting("args") || [])] };
}

/**
 * What the server is told: settings that somebody has set.
 * @param {(name: string) => unknown} setting a setting of torchlift by its name
 * @returns {Record<string, unknown>}
 */
function told(setting) {
  const isSet = (value) => value !== undefined && value !== null && value !== "" && value !== false && !(Array.isArray(value) && !value.length);
  return Object.fromEntries(SENT.map((name) => [name, setting(name)]).filter(([, value]) => isSet(value)));
}

/** Files that the server is told about, those that `torchlift migrate` reads, and cells of notebooks. */
const DOCUMENTS = [
  ...["python", "dockerfile", "shellscript", "yaml", "toml", "pip-requirements", "makefile", "powershell", "bat"].map(
    (language) => ({ scheme: "file", language }),
  ),
  { notebook: "jupyter-notebook", language: "python" },
];

module.exports = { commandLine, told, DOCUMENTS, SENT };
