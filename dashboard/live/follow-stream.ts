import type { QueryClient } from '@tanstack/react-query'
import { basePath } from '../api/session.ts'
import type { Topic } from '../api/use-api.ts'
import { currentMode, setStreaming } from './live-mode.ts'

interface Message {
  readonly topic?: Topic
  readonly isStreaming?: boolean
}

const flushMs = 1000
const lockName = `holdfast-stream:${basePath}`
const topicOf: Readonly<Record<string, Topic>> = {
  attempts: 'traffic',
  totals: 'traffic',
  dead_letter: 'letters',
  change: 'changes',
}

/**
 * One stream for all tabs: the tab that has the lock reads it and tells the others. What is visible is asked for again, each at most once a second;
 * a hidden tab asks for nothing, and once for everything when it is looked at again.
 */
export function followStream(queryClient: QueryClient): void {
  const channel = new BroadcastChannel(lockName)
  const stale = new Set<Topic>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = (): void => {
    timer = undefined
    if (document.hidden || currentMode() === 'paused') return
    const topics = new Set(stale)
    stale.clear()
    void queryClient.invalidateQueries({
      type: 'active',
      predicate: ({ meta }) => ((meta?.topics ?? []) as readonly Topic[]).some((topic) => topics.has(topic)),
    })
  }
  const hear = ({ topic, isStreaming }: Message): void => {
    if (isStreaming !== undefined) setStreaming(isStreaming)
    if (topic === undefined) return
    stale.add(topic)
    timer ??= setTimeout(flush, flushMs)
  }
  const tell = (message: Message): void => {
    hear(message)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin, unlike a window
    channel.postMessage(message)
  }
  channel.addEventListener('message', ({ data }) => hear(data as Message))
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && stale.size > 0) timer ??= setTimeout(flush, 0)
  })
  // Without locks (an old browser, or plain HTTP on another host) every tab has its own.
  const locks = navigator.locks as LockManager | undefined
  if (locks === undefined) readStream(tell)
  else void locks.request(lockName, () => new Promise(() => readStream(tell)))
}

function readStream(tell: (message: Message) => void): void {
  const source = new EventSource(`${basePath}v1/stream`)
  source.addEventListener('open', () => tell({ isStreaming: true }))
  source.addEventListener('error', () => {
    tell({ isStreaming: false })
    if (source.readyState !== EventSource.CLOSED) return
    // Refused, not just interrupted: the browser would leave it at that.
    setTimeout(() => readStream(tell), 10_000)
  })
  for (const [event, topic] of Object.entries(topicOf)) {
    source.addEventListener(event, () => tell({ topic }))
  }
  source.addEventListener('reset', () => {
    for (const topic of new Set(Object.values(topicOf))) tell({ topic })
  })
}
