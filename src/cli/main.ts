#!/usr/bin/env node
import { oldestNode, version } from '../version.ts'
import { problemOfNode } from './process/old-node.ts'

// Scripts and installers call this: respond before anything else is loaded.
const words = process.argv.slice(2)
const problem = problemOfNode(process.versions.node, oldestNode)
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V'))
  process.stdout.write(`${version}\n`)
else if (problem !== null) {
  process.stderr.write(`error  ${problem}\n`)
  process.exitCode = 2
} else await (await import('./process/run-program.ts')).runProgram(words)
