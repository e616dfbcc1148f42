import { Client } from 'pg'
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import { Listener } from '../../../src/postgres/listener.ts'
import { type BlackHole, startBlackHole } from './black-hole.ts'

let relay: BlackHole
let listener: Listener
let publisher: Client
const onNotification = vi.fn<(channel: string, payload: string) => void>()
const onReconnect = vi.fn<() => void>()
const channel = `Odd "channel" ${process.pid}`

beforeEach(async () => {
  vi.clearAllMocks()
  relay = await startBlackHole(inject('databaseUrl'))
  publisher = new Client({ connectionString: inject('databaseUrl') })
  await publisher.connect()
  listener = new Listener({
    connectionString: relay.url,
    channels: [channel, 'second'],
    onNotification,
    onReconnect,
    livenessIntervalMs: 50,
    livenessDeadlineMs: 200,
    minBackoffMs: 5,
    maxBackoffMs: 20,
  })
})

afterEach(async () => {
  await listener.stop()
  await publisher.end()
  await relay.stop()
})

const notify = (payload: string) => publisher.query('select pg_notify($1, $2)', [channel, payload])

test('passes on notifications of each of its channels', async () => {
  await listener.start()
  expect(listener.isConnected).toBe(true)
  await notify('one')
  await publisher.query(`notify second`)
  await expect
    .poll(() => onNotification.mock.calls)
    .toEqual([
      [channel, 'one'],
      ['second', ''],
    ])
  expect(onReconnect).not.toHaveBeenCalled()
})

test('reconnects after a lost connection, reports it, and listens again', async () => {
  await listener.start()
  relay.cut()
  await expect.poll(() => onReconnect.mock.calls.length).toBe(1)
  await notify('after')
  await expect.poll(() => onNotification.mock.calls).toEqual([[channel, 'after']])
})

test('finds out by asking that a silent connection is dead', async () => {
  await listener.start()
  relay.swallow()
  await expect.poll(() => listener.isConnected).toBe(false)
  relay.carry()
  await expect.poll(() => onReconnect.mock.calls.length, { timeout: 10_000 }).toBe(1)
  expect(listener.isConnected).toBe(true)
})

test('starts though the server is down, and connects when it is there', async () => {
  relay.swallow()
  const patient = new Listener({
    connectionString: relay.url,
    channels: [channel],
    onNotification,
    onReconnect,
    connectTimeoutMs: 500,
    minBackoffMs: 5,
    maxBackoffMs: 20,
  })
  await patient.start()
  expect(patient.isConnected).toBe(false)
  relay.carry()
  await expect.poll(() => patient.isConnected).toBe(true)
  expect(onReconnect).not.toHaveBeenCalled()
  await patient.stop()
})

test('starts and stops as often as you like', async () => {
  await Promise.all([listener.start(), listener.start()])
  await Promise.all([listener.stop(), listener.stop()])
  await listener.stop()
  expect(listener.isConnected).toBe(false)
  await expect.poll(() => relay.openSockets()).toBe(0)

  await listener.start()
  await notify('again')
  await expect.poll(() => onNotification.mock.calls).toEqual([[channel, 'again']])
})

test('stops at once while it waits to reconnect', async () => {
  const waiting = new Listener({
    connectionString: 'postgres://nobody@127.0.0.1:1/none',
    channels: [channel],
    onNotification,
    onReconnect,
    minBackoffMs: 60_000,
    maxBackoffMs: 60_000,
  })
  await waiting.start()
  await waiting.stop()
  expect(waiting.isConnected).toBe(false)
})
