import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HttpReceiver } from '../../../test/support/receivers/http-receiver.ts'
import { createEgress } from '../../network/egress.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import type { Connection } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'

describe('ConnectionPool', () => {
  let receiver: HttpReceiver
  let pool: ConnectionPool

  const acquire = async (): Promise<Connection> =>
    new Promise((resolve) => pool.acquire({ useConnection: resolve }))
  const use = async (connection: Connection): Promise<void> => {
    const response = await connection.client.request({ path: '/', method: 'GET' })
    await response.body.dump()
  }

  beforeEach(async () => {
    receiver = await HttpReceiver.start()
    pool = new ConnectionPool(
      {
        origin: new URL(receiver.url).origin,
        target: { protocol: 'http:', hostname: '127.0.0.1', port: receiver.port },
        egress: createEgress({ allowNetworks: loopbackNetworks }),
        keepAliveMs: 60_000,
        tlsSessions: {},
      },
      2,
    )
  })
  afterEach(async () => {
    pool.destroy()
    await receiver.stop()
  })

  it('lends the connection that was used last', async () => {
    const [first, second] = [await acquire(), await acquire()]
    pool.release(first)
    pool.release(second)
    expect(await acquire()).toBe(second)
  })

  it('serves those who wait in order, and skips those who left', async () => {
    const [first] = [await acquire(), await acquire()]
    const served: string[] = []
    const waiting = ['a', 'b', 'c'].map((name) => ({ useConnection: () => served.push(name) }))
    for (const user of waiting) pool.acquire(user)
    pool.leave(waiting[1]!)
    pool.release(first)
    pool.release(first)
    expect(served).toEqual(['a', 'c'])
  })

  it('gives a waiting call a new connection in place of a discarded one', async () => {
    const [first] = [await acquire(), await acquire()]
    const next = acquire()
    pool.discard(first)
    expect(await next).not.toBe(first)
    expect(pool.size).toBe(2)
  })

  it('forgets an idle connection that the receiver closed', async () => {
    const connection = await acquire()
    await use(connection)
    pool.release(connection)
    const disconnected = new Promise((resolve) => connection.client.once('disconnect', resolve))
    receiver.cut()
    await disconnected
    expect(pool.size).toBe(0)
    expect(await acquire()).not.toBe(connection)
  })
})
