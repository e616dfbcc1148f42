import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { version } from '../../src/version.ts'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../../deploy/', import.meta.url))
const read = (file: string) => readFile(join(folder, file), 'utf8')

interface Manifest {
  readonly kind: string
  readonly spec: {
    readonly selector: Readonly<Record<string, unknown>>
    readonly template?: {
      readonly metadata: { readonly labels: object }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly initContainers: readonly object[]
        readonly containers: readonly object[]
      }
    }
  }
}

const hasSystemd = await run('systemd-analyze', ['--version']).then(
  () => true,
  () => false,
)

test.skipIf(!hasSystemd)('systemd accepts every unit without a warning', async () => {
  const copies = await mkdtemp(join(tmpdir(), 'holdfast-units-'))
  try {
    for (const name of await readdir(join(folder, 'systemd'))) {
      // A template is checked as an instance of itself.
      const copy = join(copies, name.replace('@.', '@one.'))
      await copyFile(join(folder, 'systemd', name), copy)
    }
    const units = (await readdir(copies)).map((name) => join(copies, name))
    const { stderr } = await run('systemd-analyze', ['verify', ...units])
    expect(stderr.split('\n').filter((line) => line.includes('holdfast'))).toEqual([])
  } finally {
    await rm(copies, { recursive: true, force: true })
  }
})

test('the image runs as a numbered user that is not root, and leaves the embedded server out', async () => {
  const text = await read('Dockerfile')
  const last = text.slice(text.lastIndexOf('\nFROM '))
  expect(last).toMatch(/^USER [1-9]\d*:\d+$/m)
  expect(text).toMatch(/npm install --omit=optional --omit=dev/)
  expect(text.match(/^FROM /gm)).toHaveLength(3)
})

test('the health check of the image follows /livez', async () => {
  const [, command] = /^HEALTHCHECK[^\n]*\\\n\s+CMD (\[.*\])$/m.exec(await read('Dockerfile')) ?? []
  const [program, ...args] = JSON.parse(command ?? '') as [string, ...string[]]
  expect(program).toBe('node')
  let status = 200
  const server = createServer((request, response) =>
    response.writeHead(request.url === '/livez' ? status : 404).end(),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const env = { ...process.env, HOLDFAST_PORT: String((server.address() as AddressInfo).port) }
  const check = () =>
    run(process.execPath, args, { env }).then(
      () => 0,
      (error: { code: number }) => error.code,
    )
  expect(await check()).toBe(0)
  status = 503
  expect(await check()).toBe(1)
  server.closeAllConnections()
  server.close()
  expect(await check()).toBe(1)
})

test('every manifest is YAML, uses the image of this version, and gives a stop its time', async () => {
  const compose = parse(await read('compose.yaml'), { merge: true }) as {
    services: Record<string, { image: string; stop_grace_period: string }>
  }
  for (const [name, service] of Object.entries(compose.services)) {
    if (name === 'database') continue
    expect(service).toMatchObject({ image: `holdfast:${version}`, stop_grace_period: '30s', read_only: true })
  }
  const objects = parseAllDocuments(await read('kubernetes/holdfast.yaml')).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS() as Manifest
  })
  expect(objects.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'PodDisruptionBudget'])
  const pod = objects[0]!.spec.template!
  expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(25)
  for (const container of [...pod.spec.initContainers, ...pod.spec.containers]) {
    expect(container).toMatchObject({
      image: `holdfast:${version}`,
      envFrom: [{ secretRef: { name: 'holdfast' } }],
      securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
    })
  }
  for (const { spec } of objects.slice(1))
    expect(pod.metadata.labels).toMatchObject((spec.selector['matchLabels'] as object) ?? spec.selector)
})
