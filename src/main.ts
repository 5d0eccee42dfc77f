#!/usr/bin/env node
import { analyze } from "./cli/analyze.ts";

const paths = process.argv.slice(2).filter((argument) => argument !== "analyze" && argument !== "--json");
console.log(JSON.stringify(await analyze(paths)));
