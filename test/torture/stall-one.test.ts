import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'

it('one connection is stalled while the others continue, and none of its data is lost', async () => {
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
  await once(echo, 'listening')
  await using proxy = await CuttingProxy.start(`tcp://127.0.0.1:${(echo.address() as AddressInfo).port}`)
  const open = async () => {
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1')
    await once(socket, 'connect')
    const heard: string[] = []
    socket.on('data', (chunk) => heard.push(chunk.toString()))
    const say = async (text: string) => {
      const answered = once(socket, 'data')
      socket.write(text)
      await answered
    }
    return { socket, heard, say }
  }
  const first = await open()
  await first.say('a')
  const second = await open()
  await second.say('b')

  const release = proxy.stallOne(() => 0)
  const late = first.say('held')
  await second.say('c')
  expect([first.heard, second.heard]).toEqual([['a'], ['b', 'c']])

  release?.()
  await late
  expect(first.heard).toEqual(['a', 'held'])
  for (const { socket } of [first, second]) socket.destroy()
  echo.close()
})

it('says so when there is no connection to hold up', async () => {
  await using proxy = await CuttingProxy.start('tcp://127.0.0.1:1')
  expect(proxy.stallOne(() => 0)).toBeNull()
})
