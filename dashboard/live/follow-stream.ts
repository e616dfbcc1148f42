import type { Query, QueryClient } from '@tanstack/react-query'
import { basePath } from '../api/session.ts'
import type { Topic } from '../api/use-api.ts'
import { currentMode, setStreaming } from './live-mode.ts'

interface Message {
  readonly topic?: Topic
  readonly isStreaming?: boolean
}

/** Traffic never stops on a busy installation: numbers that follow it may be a second older than changes that somebody waits for. */
const delayMs: Readonly<Record<Topic, number>> = { traffic: 2000, letters: 1000, changes: 1000 }
const lockName = `holdfast-stream:${basePath}`
const topicOf: Readonly<Record<string, Topic>> = {
  attempts: 'traffic',
  totals: 'traffic',
  dead_letter: 'letters',
  change: 'changes',
}

/**
 * One stream for all tabs: the tab that has the lock reads it and tells the others. What is visible is asked for again, at most once in the delay of
 * its topic; a hidden tab asks for nothing, and once for everything when it is looked at again.
 */
export function followStream(queryClient: QueryClient): void {
  const channel = new BroadcastChannel(lockName)
  const stale = new Map<Topic, number>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const schedule = (): void => {
    clearTimeout(timer)
    timer = stale.size === 0 ? undefined : setTimeout(flush, Math.min(...stale.values()) - performance.now())
  }
  const flush = (): void => {
    timer = undefined
    if (document.hidden || currentMode() === 'paused') return
    // Those that would be due soon come along: pages of several topics are asked for once.
    const soonMs = performance.now() + 250
    const due = new Set([...stale].filter(([, dueMs]) => dueMs <= soonMs).map(([topic]) => topic))
    for (const topic of due) stale.delete(topic)
    void queryClient.invalidateQueries({ type: 'active', predicate: (query) => followsAny(query, due) })
    schedule()
  }
  const hear = ({ topic, isStreaming }: Message): void => {
    if (isStreaming !== undefined) setStreaming(isStreaming)
    if (topic === undefined) return
    if (!stale.has(topic)) stale.set(topic, performance.now() + delayMs[topic])
    schedule()
  }
  const tell = (message: Message): void => {
    hear(message)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin, unlike a window
    channel.postMessage(message)
  }
  channel.addEventListener('message', ({ data }) => hear(data as Message))
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) schedule()
  })
  // Without locks (an old browser, or plain HTTP on another host) every tab has its own.
  const locks = navigator.locks as LockManager | undefined
  if (locks === undefined) readStream(tell)
  else void locks.request(lockName, () => new Promise(() => readStream(tell)))
}

/** By what its observers follow: the frame and a page may show the same answer, and one of them cares for less. */
function followsAny({ observers }: Query, topics: ReadonlySet<Topic>): boolean {
  return observers.some(({ options: { meta } }) =>
    ((meta?.['topics'] ?? []) as readonly Topic[]).some((topic) => topics.has(topic)),
  )
}

function readStream(tell: (message: Message) => void): void {
  const source = new EventSource(`${basePath}v1/stream?detail=brief`)
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
