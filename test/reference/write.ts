#!/usr/bin/env node
// Writes docs/reference anew: from the code, and for the REST API from a server with all its parts.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { restReference, settingsDocument, type PageDocument } from "@keelson/keelson";
import { KeelsonProcess, temporaryFolder } from "../e2e/keelson-process.ts";
import { eventsPage } from "./events-page.ts";
import { metricsPage } from "./metrics-page.ts";

const root = join(import.meta.dirname, "../..");

function page(name: string): string {
  return join(root, "docs/reference", name);
}

async function restDocument(): Promise<PageDocument> {
  await using folder = await temporaryFolder();
  await using keelson = new KeelsonProcess(join(folder.path, "data"));
  const { rest } = await keelson.ready();
  const answer = await fetch(`${rest}/api/v1/openapi.json`);
  const document = (await answer.json()) as PageDocument;
  await keelson.stop();
  return document;
}

// The tables of settings end their page; what stands above them is written by hand.
const settings = readFileSync(page("settings.md"), "utf8");
const tables = settingsDocument();
const [heading = ""] = tables.split("\n");
writeFileSync(
  page("settings.md"),
  `${settings.slice(0, settings.indexOf(`${heading}\n`))}${tables}\n`,
);
writeFileSync(page("events.md"), eventsPage());
writeFileSync(page("metrics.md"), metricsPage(root));
writeFileSync(page("rest.md"), `${restReference(await restDocument())}\n`);
