import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { assertCanListen } from './assert-can-listen.ts'

test('a port that another server has is reported, and is free again when that one has ended', async () => {
  const other = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await expect(assertCanListen('127.0.0.1', port)).rejects.toMatchObject({
    code: 'configuration_invalid',
    message: `Port ${port} on 127.0.0.1 is in use by another process. Stop it, or choose another with HOLDFAST_PORT.`,
  })
  other.close()
  await once(other, 'close')
  await assertCanListen('127.0.0.1', port)
  await assertCanListen('127.0.0.1', port)
})
