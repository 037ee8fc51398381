// Starts `torchlift server` and hands its findings and fixes to Visual Studio Code.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { commandLine, told, DOCUMENTS } = require("./start");

/** @type {LanguageClient | undefined} */
let client;

const setting = (name) => vscode.workspace.getConfiguration("torchlift").get(name);

/** The interpreter that the Python extension has chosen, if it is there. */
async function chosenPython() {
  const extension = vscode.extensions.getExtension("ms-python.python");
  if (!extension) return undefined;
  const python = extension.isActive ? extension.exports : await extension.activate();
  return python?.environments?.getActiveEnvironmentPath?.(vscode.workspace.workspaceFolders?.[0]?.uri)?.path;
}

async function start() {
  if (!setting("enable")) return;
  const { command, args } = commandLine(setting, await chosenPython());
  const options = { documentSelector: DOCUMENTS, initializationOptions: told(setting), diagnosticCollectionName: "torchlift" };
  client = new LanguageClient("torchlift", "torchlift", { command, args }, options);
  try {
    await client.start();
  } catch (error) {
    const shown = [command, ...args].join(" ");
    vscode.window.showErrorMessage(
      `torchlift: \`${shown}\` did not start (${error.message}). Run: pip install 'torchlift[server]', or set torchlift.path.`,
    );
    client = undefined;
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

async function restart() {
  await stop();
  await start();
}

/** @param {import("vscode").ExtensionContext} context */
async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("torchlift.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (["enable", "path", "args"].some((name) => event.affectsConfiguration(`torchlift.${name}`))) return restart();
      if (event.affectsConfiguration("torchlift") && client) {
        await client.sendNotification("workspace/didChangeConfiguration", { settings: { torchlift: told(setting) } });
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
