#!/usr/bin/env node
import { version } from '../version.ts'

// Scripts and installers call this: respond before anything else is loaded.
const words = process.argv.slice(2)
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V'))
  process.stdout.write(`${version}\n`)
else await (await import('./process/run-program.ts')).runProgram(words)
