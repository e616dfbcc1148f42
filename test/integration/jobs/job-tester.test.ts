import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob, type Holdfast } from '../../../src/index.ts'
import { JobTester, runInline } from '../../../src/testing.ts'
import { Rig } from '../../support/engine/rig.ts'

let rig: Rig
let holdfast: Holdfast
let tester: JobTester
const mailed: string[] = []

const mail = defineJob({
  name: 'mail',
  input: z.object({ to: z.string(), at: z.coerce.date().optional() }),
  run: ({ to }, { logger, progress, attempt }) => {
    mailed.push(to)
    logger.info({ to }, 'mailed')
    progress(1)
    return { to, attempt }
  },
})
const order = defineJob({
  name: 'order',
  input: z.object({ orderId: z.number() }),
  run: ({ orderId }) => holdfast.enqueue(mail, { to: `customer-${orderId}` }),
})

beforeAll(async () => {
  rig = await Rig.create()
  holdfast = rig.client()
  tester = new JobTester({ databaseUrl: rig.database.url, jobs: [order, mail] })
})

afterAll(async () => {
  await tester.close()
  await rig.stop()
})

test('a job runs inline, through its schema, with what it said', async () => {
  const ran = await runInline(mail, { to: 'ada' }, { attempt: 2 })
  expect(ran.result).toEqual({ to: 'ada', attempt: 2 })
  expect(ran.logs).toMatchObject([{ message: 'mailed' }])
  expect(ran.progress).toBe(1)
  await expect(runInline(mail, { to: 7 as unknown as string })).rejects.toThrow(
    /does not match the schema of the job "mail"/,
  )
})

test('draining executes due runs and those they enqueue, and leaves future runs until time passes', async () => {
  mailed.length = 0
  await holdfast.enqueue(order, { orderId: 7 })
  await holdfast.enqueue(mail, { to: 'tomorrow' }, { delayMs: 86_400_000 })
  await tester.assertEnqueued(order, { orderId: 7 })
  await expect(tester.assertEnqueued(order, { orderId: 8 })).rejects.toThrow(
    /No run of "order" with {"orderId":8} is owed/,
  )
  expect(await tester.drain()).toBe(2)
  expect(mailed).toEqual(['customer-7'])
  await tester.travel(86_400_000)
  expect(await tester.drain()).toBe(1)
  expect(mailed).toEqual(['customer-7', 'tomorrow'])
  expect(await tester.enqueued('mail')).toEqual([])
})
