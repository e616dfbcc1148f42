import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: ApiRig

beforeAll(async () => {
  rig = await ApiRig.create()
})

afterAll(() => rig.stop())

async function namesOf(key: string, headers: Record<string, string> = {}): Promise<string[]> {
  const response = await fetch(`${rig.server.url}/v1/endpoints`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  })
  const { data } = (await response.json()) as { data: { name: string }[] }
  return data.map(({ name }) => name)
}

const create = (name: string) => rig.holdfast.endpoints.create({ name, transport: 'function' })
const aged = { 'cache-control': 'max-age=5' }

test('callers of one role share an answer only if they accept its age', async () => {
  const [key, other] = await Promise.all([rig.keyOf('viewer'), rig.keyOf('viewer')])
  expect(await namesOf(key, aged)).toEqual([])
  await create('first')
  expect(await namesOf(other, aged)).toEqual([])
  expect(await namesOf(other)).toEqual(['first'])
  expect(await namesOf(other, { 'cache-control': 'no-cache' })).toEqual(['first'])
  expect(await namesOf(await rig.keyOf('operator'), aged)).toEqual(['first'])
})

test('an answer that describes the caller is never shared', async () => {
  const roleOf = async (role: 'viewer' | 'admin') => {
    const response = await fetch(`${rig.server.url}/v1/me`, {
      headers: { authorization: `Bearer ${await rig.keyOf(role)}`, ...aged },
    })
    return ((await response.json()) as { role: string }).role
  }
  expect([await roleOf('viewer'), await roleOf('admin')]).toEqual(['viewer', 'admin'])
})

test('a reader of the stream who asks after an event gets no answer from before it', async () => {
  const key = await rig.keyOf('viewer')
  const abort = new AbortController()
  const stream = await fetch(`${rig.server.url}/v1/stream?detail=brief`, {
    headers: { authorization: `Bearer ${key}` },
    signal: abort.signal,
  })
  let told = ''
  const read = async () => {
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) told += chunk
  }
  read().catch(() => {})
  await until(
    'the first totals',
    () => told,
    (text) => text.includes('event: totals'),
  )
  expect(await namesOf(key, aged)).not.toContain('second')
  await create('second')
  await until(
    'the change',
    () => told,
    (text) => text.includes('endpoint:second'),
  )
  expect(await namesOf(key, aged)).toContain('second')
  abort.abort()
})
