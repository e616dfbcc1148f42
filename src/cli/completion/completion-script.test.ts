import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { buildProgram } from '../program.ts'
import { commandTree } from './command-tree.ts'
import { completionScript } from './completion-script.ts'

const nodes = commandTree(await buildProgram())

function has(shell: string): boolean {
  return spawnSync(shell, ['--version']).error === undefined
}

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

test.skipIf(!has('fish'))('fish offers commands, then verbs, then options', () => {
  const fish = (line: string) => {
    const script = `${completionScript('fish', nodes)}\ncomplete -C '${line}'`
    const lines = execFileSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' }).split('\n')
    return lines.map((each) => each.split('\t', 1)[0]).filter(Boolean)
  }
  expect(fish('holdfast dead')).toEqual(['dead-letters'])
  expect(fish('holdfast endpoints re')).toEqual(['request', 'reset-circuit', 'resume'])
  expect(fish('holdfast endpoints pause crm --re')).toEqual(['--reason'])
})

test.skipIf(!has('zsh'))('zsh reads its script, and has its function', () => {
  const script = `autoload -Uz compinit; compinit -D\n${completionScript('zsh', nodes)}\nprint $_comps[holdfast]; whence -w _holdfast`
  expect(execFileSync('zsh', ['-f', '-c', script], { encoding: 'utf8' })).toBe(
    '_holdfast\n_holdfast: function\n',
  )
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
