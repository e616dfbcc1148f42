import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { samples } from '../../src/transforms/learning/sample-events.ts'
import { ApiRig } from '../support/api/api-rig.ts'
import { cliPath, runCli } from './cli-process.ts'

const script = fileURLToPath(new URL('../support/processes/terminal.py', import.meta.url))
const hasTerminal = spawnSync('python3', ['-c', 'import pty']).status === 0
const ctrlC = '\u0003'
let rig: ApiRig

/** What a person sees who runs this on a terminal of 100 columns and types these answers. */
async function onTerminal(args: readonly string[], ...answers: readonly (readonly [string, string])[]) {
  const { stdout, exitCode } = await runCli(args, {
    cwd: tmpdir(),
    environment: { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: rig.adminKey, TERM: 'xterm' },
    command: ['python3', script, JSON.stringify(answers), process.execPath, cliPath],
  })
  return { screen: stdout.replaceAll('\r\n', '\n'), exitCode }
}

async function stateOf(name: string): Promise<string> {
  return (await rig.holdfast.endpoints.get(name)).state
}

describe.skipIf(!hasTerminal)('on a terminal', () => {
  beforeAll(async () => {
    rig = await ApiRig.create()
    const url = `https://crm.example.com/${'long/'.repeat(20)}`
    for (const name of ['crm', 'erp']) await rig.holdfast.endpoints.create({ name, config: { url } })
    await rig.holdfast.start()
  })

  afterAll(() => rig.stop())

  test('answering no to a question, in any way, ends the command with a message', async () => {
    for (const [typed, echoed] of [
      ['n\r', 'n\n'],
      ['\r', '\n'],
      [ctrlC, '\n'],
    ] as const) {
      const { screen, exitCode } = await onTerminal(['endpoints', 'pause', '--all'], ['[y/N]', typed])
      const plain = stripVTControlCharacters(screen).replaceAll('\r', '')
      expect(plain).toBe(`This would pause 2 endpoints. Continue? [y/N] ${echoed}Nothing was changed.\n`)
      expect(exitCode).toBe(4)
    }
    expect(await stateOf('crm')).toBe('active')
  })

  test('answering yes continues', async () => {
    const { screen, exitCode } = await onTerminal(['endpoints', 'pause', '--all'], ['[y/N]', 'y\r'])
    expect([exitCode, await stateOf('crm'), await stateOf('erp')]).toEqual([0, 'paused', 'paused'])
    expect(screen).toContain('crm paused')
  })

  test('a bar shows how far an operation is, and makes room for its end', async () => {
    await rig.holdfast.endpoints.pause('crm')
    await rig.holdfast.sendBatch(
      'crm',
      Array.from({ length: 40 }, (_, payload) => ({ payload })),
    )
    const { screen, exitCode } = await onTerminal([
      'deliveries',
      'cancel',
      '--endpoint',
      'crm',
      '--rate',
      '20',
      '--yes',
    ])
    const bars = [...screen.matchAll(/\r\[(#*)(-*)\] +(\d+)% {2}(\d+) of 40/g)]
    expect(bars.length).toBeGreaterThan(1)
    expect(bars.every(([, done = '', left = '']) => done.length + left.length === 30)).toBe(true)
    const shares = bars.map(([, , , share]) => Number(share))
    expect(shares).toEqual(shares.toSorted((one, other) => one - other))
    const [, end] = screen.split('\r\u001b[K')
    expect(end).toMatch(/^op_\w+ cancel succeeded: 40 of 40 done\n$/)
    expect(exitCode).toBe(0)
  })

  test('a bar shows how much of a log is imported, and makes room for the result', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-terminal-'))
    const log = join(folder, 'tracking.log')
    const lines = Array.from({ length: 4000 }, (_, n) =>
      JSON.stringify({ ...samples['play_video'], timestamp: new Date(1_900_000_000_000 + n).toISOString() }),
    ).join('\n')
    await writeFile(log, lines)
    const { screen, exitCode } = await onTerminal(['learning', 'import', log, '--dry-run'])
    await rm(folder, { recursive: true })
    const bars = [...screen.matchAll(/\r\[(#*)(-*)\] +\d+% {2}(\d+) of (\d+) bytes/g)]
    expect(bars.length).toBeGreaterThan(0)
    for (const [, done = '', left = '', , total] of bars) {
      expect(done.length + left.length).toBe(30)
      expect(Number(total)).toBe(lines.length)
    }
    expect(screen.split('\r\u001b[K').at(-1)).toBe(
      '4000 events would be published\n4000 lines read in 1 file\n',
    )
    expect(exitCode).toBe(0)
  })

  test('a table is cut where the terminal ends', async () => {
    const { screen } = await onTerminal(['endpoints', 'list'])
    const lines = stripVTControlCharacters(screen).split('\n')
    expect(lines.filter((line) => line.startsWith('crm ') || line.startsWith('erp '))).toHaveLength(2)
    expect(lines.filter((line) => line.endsWith('…')).map((line) => line.length)).toEqual([100, 100])
  })

  test('--watch draws the next picture over the one before, and Ctrl-C ends it', async () => {
    const { screen, exitCode } = await onTerminal(
      ['endpoints', 'list', '--watch', '0.2'],
      ['erp', ''],
      ['erp', ctrlC],
    )
    const pictures = screen.split('\u001b[H\u001b[2J').slice(1)
    expect(pictures.length).toBeGreaterThan(1)
    for (const picture of pictures) expect(picture).toMatch(/^NAME .*\ncrm .*\nerp .*\n/)
    expect([exitCode, screen.at(-1)]).toEqual([0, '\n'])
  })
})
