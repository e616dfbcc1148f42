import { describe, expect, it } from 'vitest'
import { type Action, explore } from './explore.ts'

/**
 * Ids, lives of the server, cursors, late results and prepared transactions.
 *
 * A server gives ids out of a sequence. What a transaction draws reaches the disk with its commit, or with a later flush when it commits
 * asynchronously; a crash forgets what hasn't, and so does a failover to a standby that lags. A node reads what lies above its cursor, sends it,
 * and settles it later, perhaps in another life of the server.
 */
interface Design {
  /** A result removes the row of its id, whoever's that is, or the row of its id and lane only. */
  readonly settlesBy: 'id' | 'id and lane'
  /** A node that meets a new life of the server reads everything anew. */
  readonly reopens: boolean
  /** The first to draw in a new life moves the sequence past everything that was ever drawn; the clock says where that is. */
  readonly jumps: boolean
  /** The clock stepped back over the crash: what it says is no more than the sequence knows. */
  readonly isClockWrong?: boolean
}

interface Row {
  readonly id: number
  readonly lane: string
  /** Which message it is: two with the same id are still two. */
  readonly token: number
}

interface Disk {
  seq: number
  rows: Row[]
  prepared: Row[]
}

interface State {
  server: Disk & { life: number; hasJumped: boolean }
  disk: Disk
  standby: Disk
  node: { life: number; cursor: number; inFlight: Row[]; tracked: { token: number; from: number }[] }
  everDrawn: number
  tokens: number
  faults: number
  /** Messages whose publisher was told that they are safe. */
  acknowledged: number[]
  sent: Row[]
  /** Lanes of rows that the result of a delivery of another lane removed. */
  lost: string[]
}

const emptyDisk = (): Disk => ({ seq: 0, rows: [], prepared: [] })
const initial: State = {
  server: { ...emptyDisk(), life: 1, hasJumped: true },
  disk: emptyDisk(),
  standby: emptyDisk(),
  node: { life: 1, cursor: 0, inFlight: [], tracked: [] },
  everDrawn: 0,
  tokens: 0,
  faults: 0,
  acknowledged: [],
  sent: [],
  lost: [],
}

const maxMessages = 3

/** Crashes, or failovers to a standby that lags: together they would be too many states to visit. */
interface Faults {
  readonly kind: 'crash' | 'fail over'
  readonly max: number
}
const crashes: Faults = { kind: 'crash', max: 2 }
const failover: Faults = { kind: 'fail over', max: 1 }

const diskOf = ({ seq, rows, prepared }: Disk): Disk => structuredClone({ seq, rows, prepared })
const flush = (state: State) => {
  state.disk = diskOf(state.server)
}

function draw(state: State, design: Design, lane: string): Row {
  const { server } = state
  if (design.jumps && !server.hasJumped) {
    if (design.isClockWrong !== true) server.seq = Math.max(server.seq, state.everDrawn)
    server.hasJumped = true
  }
  server.seq += 1
  state.everDrawn = Math.max(state.everDrawn, server.seq)
  state.tokens += 1
  return { id: server.seq, lane, token: state.tokens }
}

function restartFrom(state: State, disk: Disk): void {
  const life = state.server.life + 1
  state.server = { ...diskOf(disk), life, hasJumped: false }
  state.disk = diskOf(disk)
  state.faults += 1
}

function send(state: State, row: Row): void {
  const { node } = state
  if (node.inFlight.some(({ id }) => id === row.id)) return
  node.inFlight.push(row)
  if (!state.sent.some(({ token }) => token === row.token)) state.sent.push(row)
}

function read(state: State, design: Design): State {
  const { node, server } = state
  if (design.reopens && node.life !== server.life) {
    node.life = server.life
    node.cursor = 0
    node.tracked = []
  }
  const before = node.cursor
  for (const row of server.rows) if (row.id > before) send(state, row)
  for (const { token, from } of node.tracked) {
    if (server.prepared.some((row) => row.token === token)) continue
    for (const row of server.rows) if (row.id > from && row.id <= before) send(state, row)
  }
  node.tracked = node.tracked.filter(({ token }) => server.prepared.some((row) => row.token === token))
  for (const { token } of server.prepared) {
    if (!node.tracked.some((tracked) => tracked.token === token)) node.tracked.push({ token, from: before })
  }
  node.cursor = Math.max(before, ...server.rows.map(({ id }) => id))
  return state
}

function settle(state: State, design: Design): State | null {
  const result = state.node.inFlight.shift()
  if (result === undefined) return null
  const isSettled = ({ id, lane }: Row) =>
    id === result.id && (design.settlesBy === 'id' || lane === result.lane)
  for (const row of state.server.rows) {
    if (isSettled(row) && row.lane !== result.lane) state.lost.push(row.lane)
  }
  state.server.rows = state.server.rows.filter((row) => !isSettled(row))
  flush(state)
  return state
}

function commitPrepared(state: State): State | null {
  const row = state.server.prepared.shift()
  if (row === undefined) return null
  state.server.rows.push(row)
  flush(state)
  state.acknowledged.push(row.token)
  return state
}

function actionsOf(design: Design, faults: Faults): Action<State>[] {
  const mayPublish = (state: State) => state.tokens < maxMessages
  return [
    ...['a', 'b'].map(
      (lane): Action<State> => [
        `publish to ${lane}`,
        (state) => {
          if (!mayPublish(state)) return null
          const row = draw(state, design, lane)
          state.server.rows.push(row)
          flush(state)
          state.acknowledged.push(row.token)
          return state
        },
      ],
    ),
    [
      'publish to a, asynchronously',
      (state) => {
        if (!mayPublish(state)) return null
        state.server.rows.push(draw(state, design, 'a'))
        return state
      },
    ],
    [
      'prepare a publish to b',
      (state) => {
        if (!mayPublish(state) || state.server.prepared.length > 0) return null
        state.server.prepared.push(draw(state, design, 'b'))
        flush(state)
        return state
      },
    ],
    ['commit the prepared one', commitPrepared],
    ['the node reads', (state) => read(state, design)],
    ['the node settles', (state) => settle(state, design)],
    ...(faults.kind === 'crash' ? [crash(faults)] : failOver(faults)),
  ]
}

const crash = ({ max }: Faults): Action<State> => [
  'crash',
  (state) => {
    if (state.faults >= max) return null
    restartFrom(state, state.disk)
    return state
  },
]

const failOver = ({ max }: Faults): Action<State>[] => [
  [
    'the standby catches up',
    (state) => {
      if (state.faults >= max) return null
      state.standby = diskOf(state.disk)
      return state
    },
  ],
  [
    'fail over',
    (state) => {
      if (state.faults >= max) return null
      restartFrom(state, state.standby)
      state.standby = emptyDisk()
      // What the standby never got is lost, and that is the asynchronous standby's promise.
      const kept = [...state.server.rows, ...state.server.prepared, ...state.sent].map(({ token }) => token)
      state.acknowledged = state.acknowledged.filter((token) => kept.includes(token))
      return state
    },
  ],
]

function problemIn(state: State, design: Design): string | null {
  const owed = [...state.server.rows, ...state.server.prepared].map(({ token }) => token)
  const sent = state.sent.map(({ token }) => token)
  const vanished = state.acknowledged.find((token) => !owed.includes(token) && !sent.includes(token))
  if (vanished !== undefined) return `message ${vanished} is neither owed nor sent`
  const twice = state.sent.find(({ id, token }) =>
    state.sent.some((other) => other.id === id && other.token !== token),
  )
  if (twice !== undefined) return `two messages were sent under the id ${twice.id}`
  const stuck = stuckRow(structuredClone(state), design)
  return stuck === undefined ? null : `message ${stuck.token} is owed and never read`
}

/** With no more faults, everything is read and settled in the end. */
function stuckRow(state: State, design: Design): Row | undefined {
  while (commitPrepared(state) !== null);
  for (let round = 0; round < maxMessages + 1; round++) {
    read(state, design)
    while (settle(state, design) !== null);
  }
  return state.server.rows[0]
}

const run = (design: Design, faults: Faults, isProblem = (_problem: string) => true) =>
  explore(initial, actionsOf(design, faults), (state) => {
    const problem = problemIn(state, design)
    return problem !== null && isProblem(problem) ? problem : null
  })
const fixed: Design = { settlesBy: 'id and lane', reopens: true, jumps: true }
const none: Design = { settlesBy: 'id', reopens: false, jumps: false }

/** A few hundred thousand states; seconds on a machine that has nothing else to do. */
const timeoutMs = 180_000

describe('ids, lives and late results', { timeout: timeoutMs }, () => {
  it.each([crashes, failover])(
    'with all rules nothing is lost, stuck, or sent under the id of another: %o',
    (faults) => {
      const { counterexample, states } = run(fixed, faults)
      expect(counterexample).toBeNull()
      expect(states).toBeGreaterThan(10_000)
    },
  )

  it('without any of them a durable message of another lane is settled by a late result', () => {
    const { counterexample } = run(none, crashes, (problem) => problem.includes('neither owed nor sent'))
    expect(counterexample?.steps).toEqual([
      'publish to a, asynchronously',
      'the node reads',
      'crash',
      expect.stringMatching(/^publish to [ab]$/),
      'the node settles',
    ])
  })

  it('without any of them a message below the cursor of another life waits for ever', () => {
    const { counterexample } = run(none, crashes, (problem) => problem.includes('never read'))
    expect(counterexample).not.toBeNull()
  })

  it.each([
    [
      'ids that repeat are enough for a receiver to ignore a message',
      { ...fixed, jumps: false },
      crashes,
      /under the id/,
    ],
    [
      'a cursor that outlives the server is enough for a message to wait for ever',
      { ...fixed, reopens: false },
      failover,
      /never read/,
    ],
  ])('%s', (_what, design, faults, problem) => {
    expect(run(design, faults, (found) => problem.test(found)).counterexample).not.toBeNull()
  })

  it('when the clock was set back over a crash, a result still settles nothing of another lane', () => {
    const vanishes = (settlesBy: Design['settlesBy']) => {
      const design: Design = { ...fixed, isClockWrong: true, settlesBy }
      return explore(initial, actionsOf(design, crashes), (state) => {
        const [vanished] = state.acknowledged.filter(
          (token) =>
            ![...state.server.rows, ...state.server.prepared, ...state.sent].some(
              (row) => row.token === token,
            ),
        )
        return vanished !== undefined && state.lost.includes('b') ? `message ${vanished}` : null
      }).counterexample
    }
    expect(vanishes('id')).not.toBeNull()
    expect(vanishes('id and lane')).toBeNull()
  })
})
