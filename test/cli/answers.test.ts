import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiRig } from '../support/api/api-rig.ts'
import { until } from '../support/engine/until.ts'
import { answer } from '../support/receivers/behaviours.ts'
import { HttpReceiver } from '../support/receivers/http-receiver.ts'
import { runCli } from './cli-process.ts'

/** What a receiver answered is the first thing that somebody with a dead letter wants to read. */
let rig: ApiRig
let receiver: HttpReceiver
let environment: Record<string, string>

beforeAll(async () => {
  rig = await ApiRig.create({ allowNetworks: ['127.0.0.0/8'] })
  receiver = await HttpReceiver.start()
  environment = { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: await rig.keyOf('admin') }
  await rig.holdfast.endpoints.create({ name: 'crm', config: { url: receiver.url }, eventTypes: ['order.*'] })
  await rig.holdfast.start()
})

afterAll(async () => {
  await rig.stop()
  await receiver.stop()
})

const holdfast = (args: readonly string[]) => runCli(args, { environment })
const refusal = '{"error":"customer 17 is unknown"}'

test('the answer of a receiver is shown with a dead letter, its delivery, its event and a test', async () => {
  receiver.behave(
    answer(422, { body: refusal, headers: { 'content-type': 'application/json', 'x-trace': 'abc' } }),
  )
  const { id } = await rig.holdfast.publish('order.created', { customer: 17 })
  const [letter] = await until(
    'it is dead',
    async () => (await rig.holdfast.deadLetters.list({ endpoint: 'crm' })).data,
    ({ length }) => length === 1,
  )
  for (const args of [
    ['dead-letters', 'show', letter?.id ?? ''],
    ['deliveries', 'show', letter?.deliveryId ?? ''],
    ['events', 'show', id],
    ['endpoints', 'test', 'crm'],
  ]) {
    const { stdout } = await holdfast(args)
    expect(stdout, args.join(' ')).toMatch(/answer +422/)
    expect(stdout, args.join(' ')).toContain('x-trace: abc')
    expect(stdout, args.join(' ')).toContain(refusal)
  }
  const { body } = await rig.call('GET', `/v1/dead-letters/${letter?.id}`)
  expect(body.response).toMatchObject({ status: 422, body: refusal })
})

test('a redelivery that succeeded is not called dead', async () => {
  const [letter] = (await rig.holdfast.deadLetters.list({ endpoint: 'crm' })).data
  const dead = await holdfast(['deliveries', 'show', letter?.deliveryId ?? ''])
  expect(dead.stderr).toContain(`It is dead. See why with: holdfast dead-letters show ${letter?.id}`)
  receiver.behave(answer(200, { body: 'thank you' }))
  await rig.holdfast.endpoints.resume('crm')
  const { deliveryId } = await rig.holdfast.deadLetters.redrive(letter?.id ?? '')
  await until(
    'it is delivered',
    async () => (await rig.holdfast.deliveries.get(deliveryId)).state === 'succeeded',
  )
  const redelivered = await holdfast(['deliveries', 'show', deliveryId])
  expect(redelivered.stdout).toContain('succeeded')
  expect(redelivered.stderr).not.toContain('dead.')
  expect(redelivered.stderr).toContain(
    `It redelivers a dead letter. See that with: holdfast dead-letters show ${letter?.id}`,
  )
})
