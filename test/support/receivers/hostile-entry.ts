// Hostile receivers in a process of their own, so that the memory they take isn't counted as the sender's. Run by HostileProcess.
import net, { type AddressInfo, type Socket } from 'node:net'
import { type HostileName, hostileBehaviours } from './hostile-behaviours.ts'

const open = new Set<Socket>()
let writtenBytes = 0

function track(socket: Socket): void {
  open.add(socket)
  socket.on('error', () => undefined)
  socket.on('close', () => {
    open.delete(socket)
    writtenBytes += socket.bytesWritten
  })
}

const server = net.createServer((socket) => {
  track(socket)
  let isServed = false
  socket.on('data', (data) => {
    // A handshake that nobody answers: TLS records begin with 22.
    if (isServed || data[0] === 22) return
    isServed = true
    const [, name = ''] = /^\w+ \/([\w.-]+)/.exec(data.toString('latin1')) ?? []
    hostileBehaviours[name as HostileName]?.(socket)
  })
})
const resetting = net.createServer((socket) => {
  track(socket)
  socket.once('data', () => socket.resetAndDestroy())
})
const babbling = net.createServer((socket) => {
  track(socket)
  socket.once('data', () => {
    const fill = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 0x17)));
    }
    socket.on('drain', fill)
    fill()
  })
})

for (const each of [server, resetting, babbling]) {
  await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve))
}
const portOf = (each: net.Server): number => (each.address() as AddressInfo).port

process.on('message', () => {
  let bytes = writtenBytes
  for (const socket of open) bytes += socket.bytesWritten
  process.send?.({ open: open.size, writtenBytes: bytes })
})
process.on('disconnect', () => process.exit(0))
process.send?.({ port: portOf(server), resettingPort: portOf(resetting), babblingPort: portOf(babbling) })
