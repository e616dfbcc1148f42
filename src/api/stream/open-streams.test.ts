import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { expect, it, vi } from 'vitest'
import type { Authenticator } from '../access/authenticator.ts'
import type { Caller } from '../access/caller.ts'
import { OpenStreams, type OpenStreamsOptions } from './open-streams.ts'

it('cuts off a client that does not read the end of its stream', async () => {
  let takeBack = (): void => {}
  const authenticator = {
    onTakenBack: (listener: () => void) => {
      takeBack = listener
    },
    stillHold: async () => new Set(),
  } as unknown as Authenticator
  const streams = new OpenStreams({ authenticator, logger: null as unknown as OpenStreamsOptions['logger'] })
  // Its client never reads: what is written stays unwritten.
  const unread = new Writable({ write: () => {} })
  unread.write('event: totals')
  streams.add(
    unread as unknown as ServerResponse,
    { credential: { kind: 'configured' } } as unknown as Caller,
  )
  takeBack()
  await vi.waitFor(() => expect(unread.destroyed).toBe(true), 5_000)
})
