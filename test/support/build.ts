import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url))

/** Brings `dist` up to date, for the tests that start Holdfast as a process of its own. */
export async function setup(): Promise<void> {
  const build = spawn(process.execPath, [script], { stdio: 'inherit' })
  const [exitCode] = (await once(build, 'exit')) as [number | null]
  if (exitCode !== 0) throw new Error(`the build failed with exit code ${exitCode}`)
}
