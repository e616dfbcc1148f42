import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { SocketReceiver } from '../../test/support/receivers/socket-receiver.ts'
import { createEgress } from './egress.ts'

describe('a plain TCP connection', () => {
  it('may have any port', async () => {
    await using receiver = await SocketReceiver.start()
    const egress = createEgress({ allowNetworks: ['127.0.0.1'], ports: { kind: 'listed', ranges: [] } })
    const socket = egress.openTcp('127.0.0.1', receiver.port)
    await once(socket, 'connect')
    socket.destroy()
  })

  it('has its address judged, and its name when it is resolved', async () => {
    await using receiver = await SocketReceiver.start()
    const egress = createEgress()
    expect(() => egress.openTcp('127.0.0.1', receiver.port)).toThrow('127.0.0.0/8')
    const [error] = (await once(egress.openTcp('localhost', receiver.port), 'close').catch(
      (failure: unknown) => [failure],
    )) as unknown[]
    expect(error).toMatchObject({ code: 'address_refused' })
    expect(receiver.openConnectionCount).toBe(0)
  })
})
