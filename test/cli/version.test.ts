import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { version } from '../../src/version.ts'
import { cliPath, runCli } from './cli-process.ts'

const maxProcessorMs = 250
/** The processor's own cost varies on a busy machine, what a command loads doesn't: the cheapest of a few counts. */
const rounds = 5

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-version-'))
  await writeFile(
    join(folder, 'meter.mjs'),
    `process.on('exit', () => {
      const { user, system } = process.cpuUsage()
      process.stderr.write(String((user + system) / 1000))
    })`,
  )
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test.each(['--version', '-V'])('%s answers within a quarter of a second of processor time', async (flag) => {
  const costs: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const { stdout, stderr, exitCode } = await runCli([flag], {
      command: [process.execPath, '--import', join(folder, 'meter.mjs'), cliPath],
      cwd: folder,
    })
    expect([stdout, exitCode]).toEqual([`${version}\n`, 0])
    costs.push(Number(stderr))
  }
  expect(Math.min(...costs)).toBeGreaterThan(0)
  expect(Math.min(...costs)).toBeLessThanOrEqual(maxProcessorMs)
})
