import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { buildProgram } from '../program.ts'
import { commandTree } from './command-tree.ts'
import { completionScript } from './completion-script.ts'

const nodes = commandTree(await buildProgram())

/** What a real bash offers for the last of these words. */
function offered(...words: string[]): string[] {
  const script = `${completionScript('bash', nodes)}
COMP_WORDS=(holdfast ${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length}
_holdfast
printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean)
}

test('bash offers commands, then verbs, then options', () => {
  expect(offered('dead')).toEqual(['dead-letters'])
  expect(offered('endpoints', 're')).toEqual(['resume', 'reset-circuit', 'request'])
  expect(offered('--json', 'endpoints', 'pause', 'crm', '--re')).toEqual(['--reason'])
  expect(offered('events', 'list', '--endp')).toEqual([])
})

test('every script knows every command', () => {
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const script = completionScript(shell, nodes)
    for (const { path } of nodes) for (const word of path) expect(script).toContain(word)
  }
})

test('a description with a quote breaks no script', () => {
  const script = completionScript('fish', [
    { path: [], description: "it's", subcommands: [], options: [{ long: '--x', description: "don't" }] },
  ])
  expect(script.split("'").length % 2).toBe(1)
})
