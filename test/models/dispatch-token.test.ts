import { describe, expect, it } from 'vitest'
import { type Action, explore } from './explore.ts'

/**
 * One run of broker mode, two workers, a broker that doubles and expires messages, and everything that may decide about the run: starts, results,
 * dead letters, the backstop, the end of a lease. docs/decisions/0034-broker-mode.md has the rules.
 */
interface State {
  run: 'waiting' | 'dispatched' | 'held' | 'done' | 'dead'
  /** Of the last dispatch. */
  token: number
  holder: string
  /** Messages in the broker; tokens of those that are dead-lettered. */
  queue: Dispatch[]
  deadLetters: number[]
  /** What workers published, in order. `ask`: a start whose answer the worker waits for. */
  results: {
    readonly kind: 'start' | 'ask' | 'success' | 'failure'
    readonly by: string
    readonly token: number
  }[]
  /** Of starts whose worker waits for an answer. */
  answers: { readonly by: string; readonly token: number; readonly isOurs: boolean }[]
  /** Starts whose worker waits for an answer. */
  asking: { readonly by: string; readonly token: number }[]
  executing: Execution[]
  /** By worker: how often it was started again, which makes it another one, and the tokens that it has seen since. */
  lives: Record<string, number>
  seen: Record<string, number[]>
  faults: number
  hasSucceeded: boolean
  problem: string | null
}

interface Dispatch {
  readonly token: number
  /** For the worker of one name only. */
  readonly to: string | null
  readonly wasDelivered: boolean
  /** That somebody executes it beside another can't be known: the broker doubled it, or its run was taken back because its publish was not confirmed or by the backstop. */
  readonly isAmbiguous: boolean
}

interface Execution {
  readonly by: string
  readonly token: number
  /** Its worker was declared dead, or its message is ambiguous: that it kills its worker is counted already, or excused. */
  readonly isExcused: boolean
}

interface Design {
  /** A dead letter decides only about a run that nobody has started. */
  readonly swaps: boolean
  /** A dead letter and the backstop wait until what was published before them has been handled. */
  readonly waits: boolean
  /** A failure counts only from the worker that holds the run under this token. */
  readonly checksToken: boolean
  /** A worker waits for the answer to its start before it executes what was delivered before, or what waited for it by name. */
  readonly asks: boolean
  /** A node that has handled several messages at once answers each start by its token. Otherwise by its run. */
  readonly answersByToken: boolean
}

const initial: State = {
  run: 'waiting',
  token: 0,
  holder: '',
  queue: [],
  deadLetters: [],
  results: [],
  answers: [],
  asking: [],
  executing: [],
  lives: { a: 1, b: 1 },
  seen: { a: [], b: [] },
  faults: 0,
  hasSucceeded: false,
  problem: null,
}

const maxDispatches = 2
const maxFaults = 2

const fault = (state: State): State | null => {
  if (state.faults >= maxFaults) return null
  state.faults += 1
  return state
}

/** Also implied by a result. */
function start(state: State, by: string, token: number): void {
  if (state.run !== 'dispatched' || state.token !== token) return
  state.run = 'held'
  state.holder = by
}

const incarnation = ({ lives }: State, name: string) => `${name}${lives[name] ?? 0}`

/** From now on a message of this token may be executed although its run is owed elsewhere. */
function makeAmbiguous(state: State, token: number): void {
  state.queue = state.queue.map((message) =>
    message.token === token ? { ...message, isAmbiguous: true } : message,
  )
  excuse(state, (run) => run.token === token)
}

function excuse(state: State, isIt: (run: Execution) => boolean): void {
  state.executing = state.executing.map((run) => (isIt(run) ? { ...run, isExcused: true } : run))
}

/** Whether the node will know that this worker had the run, and so count a crash; of one that has ended nothing is counted. */
function isCounted(state: State, { by, token }: Execution): boolean {
  if (state.run === 'done' || state.run === 'dead') return true
  if (state.run === 'held') return state.holder === by && state.token === token
  const first = state.results.find((sent) => sent.token === token)
  return state.run === 'dispatched' && state.token === token && first?.by === by
}

const isHeldBy = (state: State, by: string, token: number) =>
  state.run === 'held' && state.holder === by && state.token === token

/** Handles as many of the oldest messages at once: starts first, then the answers to them, then results. */
function handleResults(state: State, count: number, design: Design): State | null {
  if (state.results.length < count) return null
  const handled = state.results.splice(0, count)
  for (const { by, token } of handled) start(state, by, token)
  const lost = handled.filter(({ by, token }) => !isHeldBy(state, by, token))
  for (const { kind, by, token } of handled) {
    if (kind !== 'ask') continue
    const isLost = (one: { by: string; token: number }) =>
      one.by === by && (one.token === token || !design.answersByToken)
    state.answers.push({ by, token, isOurs: !lost.some(isLost) })
  }
  for (const { kind, by, token } of handled) settle(state, { kind, by, token }, design)
  return state
}

function settle(state: State, { kind, by, token }: State['results'][number], { checksToken }: Design): void {
  if (kind === 'success') {
    state.run = 'done'
    state.hasSucceeded = true
  }
  if (kind !== 'failure' || state.run === 'done' || state.run === 'dead') return
  const isHeld = isHeldBy(state, by, token)
  if (isHeld || !checksToken) {
    if (!isHeld && state.run === 'held')
      state.problem = 'a stale failure took a run from the worker that holds it'
    state.run = 'waiting'
  }
}

function endUnstarted(state: State, token: number, { swaps, waits }: Design): State | null {
  const isStarting = state.results.some(
    (sent) => (sent.kind === 'start' || sent.kind === 'ask') && sent.token === token,
  )
  if (waits && isStarting) return null
  const isOpen = state.run === 'dispatched' && state.token === token
  if (isOpen && isStarting) state.problem = 'a run was failed whose start was on its way'
  if (!isOpen && !swaps && state.run === 'held') state.problem = 'a run was failed that had started'
  if (isOpen || (!swaps && state.run === 'held')) state.run = 'dead'
  return state
}

function actionsOf(design: Design): Action<State>[] {
  return [
    ...[null, 'a'].map(
      (to): Action<State> => [
        `dispatch to ${to ?? 'any'}`,
        (state) => {
          if (state.run !== 'waiting' || state.token >= maxDispatches) return null
          state.token += 1
          state.run = 'dispatched'
          state.queue.push({ token: state.token, to, wasDelivered: false, isAmbiguous: false })
          return state
        },
      ],
    ),
    [
      'the publish is not confirmed, and the run returned',
      (state) => {
        if (state.run !== 'dispatched' || fault(state) === null) return null
        state.run = 'waiting'
        makeAmbiguous(state, state.token)
        return state
      },
    ],
    [
      'the run waited too long for one worker, and returned',
      (state) => {
        if (state.run !== 'dispatched') return null
        if (!state.queue.some(({ token, to }) => token === state.token && to !== null)) return null
        state.run = 'waiting'
        return state
      },
    ],
    [
      'the broker delivers a message twice',
      (state) => {
        const [message] = state.queue
        if (message === undefined || fault(state) === null) return null
        state.queue.push(message)
        makeAmbiguous(state, message.token)
        return state
      },
    ],
    [
      'a message expires',
      (state) => {
        const message = state.queue.shift()
        if (message === undefined) return null
        state.deadLetters.push(message.token)
        return state
      },
    ],
    ...['a', 'b'].flatMap((name): Action<State>[] => [
      ...[false, true].map(
        (isAckLost): Action<State> => [
          `${name} starts what it receives${isAckLost ? ', and its acknowledgement is lost' : ''}`,
          (state) => {
            const [message] = state.queue
            if (message === undefined || (message.to !== null && message.to !== name)) return null
            const by = incarnation(state, name)
            if (state.executing.some((run) => run.by === by)) return null
            if (isAckLost && fault(state) === null) return null
            state.queue.shift()
            if (state.seen[name]?.includes(message.token) === true) return state
            state.seen[name]?.push(message.token)
            if (isAckLost) state.queue.unshift({ ...message, wasDelivered: true })
            const { token, isAmbiguous } = message
            if (design.asks && (message.wasDelivered || message.to !== null)) {
              state.results.push({ kind: 'ask', by, token })
              state.asking.push({ by, token })
            } else {
              state.results.push({ kind: 'start', by, token })
              state.executing.push({ by, token, isExcused: isAmbiguous })
            }
            return state
          },
        ],
      ),
      [
        `${name} hears an answer`,
        (state) => {
          const by = incarnation(state, name)
          const answer = state.answers.find((one) => one.by === by)
          if (answer === undefined || state.executing.some((run) => run.by === by)) return null
          const { token, isOurs } = answer
          state.answers = state.answers.filter((one) => one !== answer)
          state.asking = state.asking.filter((one) => one.by !== by || one.token !== token)
          // Its lease may have ended meanwhile, and counts then.
          if (isOurs) state.executing.push({ by, token, isExcused: !isHeldBy(state, by, token) })
          return state
        },
      ],
      [
        `${name} is killed by the run`,
        (state) => {
          const by = incarnation(state, name)
          const run = state.executing.find((one) => one.by === by)
          if (run === undefined || fault(state) === null) return null
          if (!run.isExcused && !isCounted(state, run))
            state.problem = 'a run killed its worker, and the crash is not counted'
          state.executing = state.executing.filter((one) => one !== run)
          state.lives[name] = (state.lives[name] ?? 0) + 1
          state.seen[name] = []
          state.asking = state.asking.filter((one) => one.by !== by)
          state.answers = state.answers.filter((one) => one.by !== by)
          return state
        },
      ],
      ...(['success', 'failure'] as const).map(
        (kind): Action<State> => [
          `${name} ends with ${kind}`,
          (state) => {
            const by = incarnation(state, name)
            const run = state.executing.find((one) => one.by === by)
            if (run === undefined) return null
            state.executing = state.executing.filter((one) => one !== run)
            state.results.push({ kind, by, token: run.token })
            return state
          },
        ],
      ),
    ]),
    ...[1, 2].map(
      (count): Action<State> => [
        `a node handles ${count} of the results`,
        (state) => handleResults(state, count, design),
      ],
    ),
    [
      'a node handles a dead letter',
      (state) => {
        const token = state.deadLetters.shift()
        return token === undefined ? null : endUnstarted(state, token, design)
      },
    ],
    [
      'the backstop',
      (state) => {
        if (state.run !== 'dispatched') return null
        makeAmbiguous(state, state.token)
        return endUnstarted(state, state.token, design)
      },
    ],
    [
      'the lease of the holder ends',
      (state) => {
        if (state.run !== 'held' || fault(state) === null) return null
        state.run = 'waiting'
        excuse(state, ({ by, token }) => by === state.holder && token === state.token)
        return state
      },
    ],
  ]
}

function problemIn(state: State): string | null {
  if (state.problem !== null) return state.problem
  if (state.hasSucceeded && state.run !== 'done') return 'a run that succeeded is owed again'
  if (state.run === 'held' && isForgotten(state))
    return 'a run is held by a worker that will never execute it'
  return null
}

/** The holder is alive, so its lease won't end, and no message or execution is left that could end the run. */
function isForgotten(state: State): boolean {
  const { holder, token, executing, asking, results, lives } = state
  const isAlive = Object.keys(lives).some((name) => incarnation(state, name) === holder)
  const isIt = (one: { readonly by: string; readonly token: number }) =>
    one.by === holder && one.token === token
  return isAlive && ![...executing, ...asking, ...results].some(isIt)
}

const safe: Design = { swaps: true, waits: true, checksToken: true, asks: true, answersByToken: true }
const run = (design: Design) => explore(initial, actionsOf(design), problemIn)

describe('the token of a dispatched run', { timeout: 180_000 }, () => {
  it('lets no message, late, doubled or expired, decide about a run that somebody has started', () => {
    const { counterexample, states } = run(safe)
    expect(counterexample).toBeNull()
    expect(states).toBeGreaterThan(10_000)
  })

  it.each([
    [
      'without the comparison a dead letter fails a run that has started',
      { ...safe, swaps: false },
      /had started/,
    ],
    [
      'without waiting for earlier messages a run is failed whose start is on its way',
      { ...safe, waits: false },
      /on its way/,
    ],
    [
      'without the token a stale failure takes a run from its holder',
      { ...safe, checksToken: false },
      /stale failure/,
    ],
    [
      'without asking first a run kills worker after worker uncounted',
      { ...safe, asks: false },
      /not counted/,
    ],
    [
      'a node that answers by run makes a worker drop what it holds, when it receives the run under two tokens',
      { ...safe, answersByToken: false },
      /never execute/,
    ],
  ])('%s', (_, design, problem) => {
    expect(run(design).counterexample?.problem).toMatch(problem)
  })
})
