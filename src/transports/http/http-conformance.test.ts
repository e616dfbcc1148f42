import {
  answer,
  type Behaviour,
  drip,
  endlessBody,
  garbage,
  hang,
  rawAnswer,
  resetBeforeResponse,
  resetMidResponse,
} from '../../../test/support/receivers/behaviours.ts'
import { refusedUrl, unresolvableUrl } from '../../../test/support/receivers/dead-addresses.ts'
import { HttpReceiver } from '../../../test/support/receivers/http-receiver.ts'
import { SocketReceiver } from '../../../test/support/receivers/socket-receiver.ts'
import {
  type ArrivedMessage,
  type ConformanceRig,
  describeTransportConformance,
} from '../../../test/support/receivers/transport-conformance.ts'
import { createEgress } from '../../network/egress.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import { httpTransport } from './http-transport.ts'

const egress = createEgress({ allowNetworks: loopbackNetworks })

const behaviours = {
  succeed: answer(200),
  hang: hang(),
  fail: answer(500),
  reject: answer(400),
  throttle: answer(429, { headers: { 'retry-after': '30' } }),
} satisfies Record<string, Behaviour>

async function startRig(behaviour: Behaviour, timeoutMs: number): Promise<ConformanceRig> {
  const receiver = await HttpReceiver.start({ behaviour })
  const channel = httpTransport({ egress }).open('example', { url: receiver.url, timeoutMs })
  return {
    channel,
    get arrived(): ArrivedMessage[] {
      return receiver.ledger.requests.map((request) => ({
        id: request.webhookId ?? '',
        deliveryId: request.deliveryId ?? '',
        attempt: request.attempt,
        correlationId: request.headers['x-correlation-id'] as string,
        headers: request.headers,
        body: request.body,
      }))
    },
    whenArrived: async (count) => {
      await receiver.ledger.waitFor(count)
    },
    whenReleased: async () => receiver.whenDisconnected(),
    stop: async () => {
      await channel.close()
      await receiver.stop()
    },
  }
}

function rigAt(url: string, timeoutMs: number, stop: () => Promise<void>): ConformanceRig {
  const channel = httpTransport({ egress }).open('example', { url, timeoutMs })
  return {
    channel,
    arrived: [],
    whenArrived: async () => undefined,
    stop: async () => {
      await channel.close()
      await stop()
    },
  }
}

async function silent(): Promise<void> {}

describeTransportConformance('http', {
  start: async (behaviour, timeoutMs) => startRig(behaviours[behaviour], timeoutMs),
  hostile: {
    'answers garbage': async (timeoutMs) => startRig(garbage(), timeoutMs),
    'drips its body': async (timeoutMs) => startRig(drip(), timeoutMs),
    'sends a body without end': async (timeoutMs) => startRig(endlessBody(), timeoutMs),
    'resets before it answers': async (timeoutMs) => startRig(resetBeforeResponse(), timeoutMs),
    'resets in the middle of its answer': async (timeoutMs) => startRig(resetMidResponse(), timeoutMs),
    'closes without a word': async (timeoutMs) => startRig(rawAnswer(''), timeoutMs),
    'sends headers without end': async (timeoutMs) =>
      startRig(rawAnswer(`HTTP/1.1 200 OK\r\n${'x-filler: yes\r\n'.repeat(20_000)}\r\n`), timeoutMs),
    'answers with two different lengths': async (timeoutMs) =>
      startRig(
        rawAnswer('HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabcde'),
        timeoutMs,
      ),
    'answers only that it will go on': async (timeoutMs) =>
      startRig(rawAnswer('HTTP/1.1 103 Early Hints\r\n\r\n'), timeoutMs),
    'changes the protocol unasked': async (timeoutMs) =>
      startRig(
        rawAnswer('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: chat\r\n\r\n'),
        timeoutMs,
      ),
    'accepts and stays silent': async (timeoutMs) => {
      const receiver = await SocketReceiver.start()
      return rigAt(receiver.url, timeoutMs, async () => receiver.stop())
    },
    'speaks before it is asked': async (timeoutMs) => {
      const receiver = await SocketReceiver.start((socket) => socket.write('220 mail.example ESMTP\r\n'))
      return rigAt(receiver.url, timeoutMs, async () => receiver.stop())
    },
    'refuses connections': async (timeoutMs) => rigAt(await refusedUrl(), timeoutMs, silent),
    'has no address': async (timeoutMs) => rigAt(unresolvableUrl, timeoutMs, silent),
    'speaks no TLS': async (timeoutMs) => {
      const receiver = await HttpReceiver.start()
      return rigAt(receiver.url.replace('http:', 'https:'), timeoutMs, async () => receiver.stop())
    },
  },
})
