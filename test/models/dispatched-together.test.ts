import { describe, expect, it } from 'vitest'
import { type Action, explore } from './explore.ts'

/**
 * Two runs of broker mode that share a message, and so the row of one claim; two workers, a broker that doubles and expires messages, and everything that may decide about the message or about
 * one of its runs. dispatch-token.test.ts explores the token of a single run. docs/decisions/0034-broker-mode.md has the rules.
 */
interface State {
  runs: Record<string, 'waiting' | 'dispatched' | 'done'>
  /** Rows of run_claims. `by` is empty until a worker has started the message; `started` is all of its runs then. */
  claims: { readonly token: number; by: string; runs: string[]; started: string[] }[]
  lastToken: number
  queue: { readonly token: number; readonly runs: string[] }[]
  deadLetters: number[]
  /** What workers published, in order. */
  results: {
    readonly kind: 'start' | 'success' | 'failure'
    readonly by: string
    readonly token: number
    readonly run: string
  }[]
  executing: { readonly by: string; readonly token: number; readonly run: string }[]
  seen: Record<string, number[]>
  faults: number
  problem: string | null
}

interface Design {
  /** The start of a message is that of all its runs. */
  readonly startsAll: boolean
  /** What ends a message that was not started returns all of its runs. */
  readonly endsAll: boolean
  /** The claim ends with the last of its runs, not with the first. */
  readonly keepsClaim: boolean
}

const initial: State = {
  runs: { x: 'waiting', y: 'waiting' },
  claims: [],
  lastToken: 0,
  queue: [],
  deadLetters: [],
  results: [],
  executing: [],
  seen: { a: [], b: [] },
  faults: 0,
  problem: null,
}

const maxDispatches = 2
const maxFaults = 1

const claimOf = ({ claims }: State, token: number) => claims.find((claim) => claim.token === token)

function dispatch(state: State, names: string[]): State | null {
  if (state.lastToken >= maxDispatches || names.some((name) => state.runs[name] !== 'waiting')) return null
  state.lastToken += 1
  const token = state.lastToken
  for (const name of names) state.runs[name] = 'dispatched'
  state.claims.push({ token, by: '', runs: [...names], started: [] })
  state.queue.push({ token, runs: names })
  return state
}

function receive(state: State, by: string): State | null {
  const message = state.queue.shift()
  if (message === undefined) return null
  const { token, runs } = message
  if (state.seen[by]?.includes(token) === true) return state
  state.seen[by]?.push(token)
  state.results.push({ kind: 'start', by, token, run: runs[0] ?? '' })
  for (const run of runs) state.executing.push({ by, token, run })
  return state
}

function handleResult(state: State, { startsAll, keepsClaim }: Design): State | null {
  const result = state.results.shift()
  if (result === undefined) return null
  const { kind, by, token, run } = result
  const claim = claimOf(state, token)
  if (claim?.by === '' && claim.runs.includes(run)) {
    claim.by = by
    claim.started = startsAll ? [...claim.runs] : [run]
  }
  if (kind === 'start') return state
  if (kind === 'failure') {
    if (claim?.by !== by || !claim.runs.includes(run)) return state
    state.runs[run] = 'waiting'
  } else {
    // It happened, also if another worker holds the run now.
    state.runs[run] = 'done'
    for (const other of state.claims) if (other.token !== token) other.runs = without(other.runs, run)
  }
  if (claim === undefined) return state
  claim.runs = without(claim.runs, run)
  if (claim.runs.length === 0 || !keepsClaim) endClaim(state, token)
  return state
}

/** By expiry or the backstop, when what was published before has been handled. */
function endUnstarted(state: State, token: number, { endsAll }: Design): State | null {
  if (state.results.some((sent) => sent.token === token)) return null
  const claim = claimOf(state, token)
  const unstarted = claim?.runs.filter((run) => !claim.started.includes(run)) ?? []
  if (claim === undefined || unstarted.length === 0) return state
  if (state.executing.some((one) => one.token === token && unstarted.includes(one.run)) && claim.by !== '')
    state.problem = 'a run was returned that its worker had started'
  for (const run of endsAll ? unstarted : unstarted.slice(0, 1)) state.runs[run] = 'waiting'
  endClaim(state, token)
  return state
}

function endClaim(state: State, token: number): void {
  state.claims = state.claims.filter((claim) => claim.token !== token)
}

function without(runs: readonly string[], run: string): string[] {
  return runs.filter((one) => one !== run)
}

function fault(state: State): State | null {
  if (state.faults >= maxFaults) return null
  state.faults += 1
  return state
}

function actionsOf(design: Design): Action<State>[] {
  return [
    ['both are dispatched together', (state) => dispatch(state, ['x', 'y'])],
    ['x is dispatched alone', (state) => (state.lastToken === 0 ? null : dispatch(state, ['x']))],
    ['y is dispatched alone', (state) => (state.lastToken === 0 ? null : dispatch(state, ['y']))],
    [
      'the broker delivers a message twice',
      (state) => {
        const [message] = state.queue
        if (message === undefined || fault(state) === null) return null
        state.queue.push(message)
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
    ['a starts what it receives', (state) => receive(state, 'a')],
    ['b starts what it receives', (state) => receive(state, 'b')],
    ...(['success', 'failure'] as const).flatMap((kind) =>
      [0, 1].map(
        (place): Action<State> => [
          `the handler ${place} ends with ${kind}`,
          (state) => {
            const [ended] = state.executing.splice(place, 1)
            if (ended === undefined) return null
            state.results.push({ kind, ...ended })
            return state
          },
        ],
      ),
    ),
    ['a node handles a result', (state) => handleResult(state, design)],
    [
      'a node handles a dead letter',
      (state) => {
        const [token] = state.deadLetters
        if (token === undefined) return null
        const ended = endUnstarted(state, token, design)
        ended?.deadLetters.shift()
        return ended
      },
    ],
    [
      'the lease of a holder ends',
      (state) => {
        const held = state.claims.find(({ by }) => by !== '')
        if (held === undefined || fault(state) === null) return null
        for (const run of held.runs) state.runs[run] = 'waiting'
        endClaim(state, held.token)
        return state
      },
    ],
  ]
}

function problemIn({ runs, claims, problem }: State): string | null {
  if (problem !== null) return problem
  for (const [name, run] of Object.entries(runs)) {
    const holders = claims.filter((claim) => claim.runs.includes(name)).length
    if (run === 'dispatched' && holders === 0) return 'a run is owed, and no claim has it'
    if (run !== 'dispatched' && holders > 0) return 'a claim has a run that is not its own'
    if (holders > 1) return 'two claims have one run'
  }
  return null
}

const safe: Design = { startsAll: true, endsAll: true, keepsClaim: true }
const run = (design: Design) => explore(initial, actionsOf(design), problemIn)

describe('the claim of a message with several runs', { timeout: 180_000 }, () => {
  it('keeps every run in one claim, or waiting, whatever becomes of the others', () => {
    const { counterexample, states } = run(safe)
    expect(counterexample).toBeNull()
    expect(states).toBeGreaterThan(10_000)
  })

  it.each([
    [
      'unless a start counts for all of its runs, one is returned that its worker had started',
      { ...safe, startsAll: false },
      /had started/,
    ],
    [
      'unless the end of a message returns all of its runs, one is lost',
      { ...safe, endsAll: false },
      /no claim has it/,
    ],
    [
      'unless the claim stays until its last run has ended, the others are lost',
      { ...safe, keepsClaim: false },
      /no claim has it/,
    ],
  ])('%s', (_, design, problem) => {
    expect(run(design).counterexample?.problem).toMatch(problem)
  })
})
