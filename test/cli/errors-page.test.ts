import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { runCli } from './cli-process.ts'

test('an error names the file that explains it, wherever the command is run', async () => {
  const { stderr } = await runCli(['endpoints', 'list'], {
    cwd: '/',
    environment: { HOLDFAST_URL: 'http://127.0.0.1:9', HOLDFAST_API_KEY: 'k' },
  })
  const [, code, path = ''] = /^See "(\w+)" in (\/.*)$/m.exec(stderr) ?? []
  expect(code).toBe('api_unavailable')
  expect(await readFile(path, 'utf8')).toContain(`## ${code}\n`)
})
