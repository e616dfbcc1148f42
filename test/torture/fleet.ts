import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import type { DatabaseProcess } from '../support/processes/database-process.ts'
import { NodeProcess } from '../support/processes/node-process.ts'
import type { Fault } from './fault-plan.ts'
import type { PublishedMessage } from './publishers.ts'
import { plainEndpoints } from './receivers.ts'
import { leaksIn } from './secrets.ts'
import type { SeededRandom } from './seeded-random.ts'

interface Slot {
  readonly name: string
  readonly proxy: CuttingProxy
  node: NodeProcess | null
  /** Set while a fault keeps the node down or still. */
  isDown: boolean
  isFrozen: boolean
}

/** What the fleet went through, for the report. */
export interface FleetLog {
  /** Faults that were carried out, with the times in which their effects are felt. */
  readonly carriedOut: { readonly fault: Fault; readonly fromMs: number; untilMs: number }[]
  /** Ends that nobody asked for. */
  readonly crashes: string[]
  /** Secrets that a node wrote to its log. */
  readonly leaks: string[]
  /** Stops that took too long or ended with an error. */
  readonly badStops: string[]
  stops: number
  starts: number
  /** When nodes fenced themselves: by a fault of ours, or because this machine kept them from beating. */
  readonly fencedAtMs: number[]
  /** How often a node was killed. Then, and when it fenced itself, what it had out may be sent again. */
  kills: number
}

const stopDeadlineMs = 40_000
const restartPauseMs = 500
const startDeadlineMs = 60_000
const ownMessageMs = 40

/** Nodes in processes of their own, each behind its own proxy to the database, and the faults that befall them. */
export class Fleet {
  readonly log: FleetLog = {
    carriedOut: [],
    crashes: [],
    leaks: [],
    badStops: [],
    stops: 0,
    starts: 0,
    fencedAtMs: [],
    kills: 0,
  }
  readonly #database: DatabaseProcess
  readonly #random: SeededRandom
  readonly #accepted: Map<string, PublishedMessage>
  readonly #slots: Slot[] = []
  readonly #tending: Promise<void>[] = []
  #isDatabaseDown = false
  #isHealed = false
  #isOver = false

  /** What its nodes publish themselves goes into `accepted`, once they have ended. */
  constructor(database: DatabaseProcess, random: SeededRandom, accepted: Map<string, PublishedMessage>) {
    this.#database = database
    this.#random = random
    this.#accepted = accepted
  }

  async start(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const proxy = await CuttingProxy.start(this.#database.url)
      const slot: Slot = { name: `node-${index}`, proxy, node: null, isDown: false, isFrozen: false }
      this.#slots.push(slot)
      this.#tending.push(this.#tend(slot))
    }
    await Promise.all(this.nodes.map((node) => node.waitFor('started', () => true, startDeadlineMs)))
  }

  get nodes(): readonly NodeProcess[] {
    return this.#slots.flatMap(({ node }) => (node === null ? [] : [node]))
  }

  async inflict(fault: Fault): Promise<void> {
    const slot = this.#slots[fault.node]
    if (slot === undefined) return
    const entry = { fault, fromMs: performance.now(), untilMs: Number.POSITIVE_INFINITY }
    this.log.carriedOut.push(entry)
    try {
      if (fault.kind === 'restart-database' || fault.kind === 'crash-database') await this.#hitDatabase(fault)
      else await this.#hitNode(slot, fault)
    } finally {
      entry.untilMs = performance.now()
    }
  }

  /** Everything runs again, and the nodes publish nothing more themselves. */
  heal(): void {
    this.#isHealed = true
    for (const slot of this.#slots) {
      slot.node?.quieten()
      slot.proxy.delayBy(0)
      slot.proxy.carry()
      slot.node?.thaw()
      slot.isDown = false
    }
  }

  /** Ends all of them by a stop signal. Safe to call twice. */
  async stop(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    await Promise.all(this.#slots.map(async ({ name, node }) => this.#stopCleanly(name, node)))
    for (const { node } of this.#slots) node?.kill()
    await Promise.all(this.#tending)
    for (const { proxy } of this.#slots) await proxy.stop()
  }

  /** Keeps the slot's node running, except while a fault wants it down. */
  async #tend(slot: Slot): Promise<void> {
    while (!this.#isOver) {
      if (slot.isDown || this.#isDatabaseDown) {
        await pause(50)
        continue
      }
      const node = NodeProcess.launch({
        databaseUrl: slot.proxy.url,
        name: slot.name,
        ...(!this.#isHealed && { sends: { endpoints: plainEndpoints, everyMs: ownMessageMs } }),
      })
      slot.node = node
      this.log.starts += 1
      const exit = await node.exited
      const said = [JSON.stringify(node.signals), JSON.stringify(node.logLines), node.describe()]
      this.log.leaks.push(...leaksIn(`the log of ${slot.name}`, said))
      this.#enter(node)
      const hasStarted = node.signals.some(({ event }) => event === 'started')
      for (const { event, atMs } of node.signals) if (event === 'fenced') this.log.fencedAtMs.push(atMs)
      if (exit.signal === 'SIGKILL') this.log.kills += 1
      const isWanted = exit.signal === 'SIGKILL' || node.signals.some(({ event }) => event === 'stopping')
      // Before it has started it may give up on a database that is away; afterwards it must not.
      if (!isWanted && hasStarted && !this.#isOver) {
        this.log.crashes.push(`${slot.name} ended by itself: ${node.describe()}`)
      }
      await pause(restartPauseMs)
    }
  }

  #enter(node: NodeProcess): void {
    for (const signal of node.signals) {
      if (signal.event !== 'sent') continue
      const { id, endpoint, payload, atMs } = signal
      const plain = { key: null, mayExpire: false, isDelayed: false, isPlain: true }
      this.#accepted.set(id, { id, endpoint, payload, ...plain, acceptedAtMs: atMs })
    }
  }

  async #hitDatabase(fault: Fault): Promise<void> {
    if (this.#isDatabaseDown) return
    this.#isDatabaseDown = true
    try {
      if (fault.kind === 'crash-database') await this.#database.crash()
      else await this.#database.stop()
      await pause(fault.lastsMs)
      await this.#database.restart()
    } finally {
      this.#isDatabaseDown = false
    }
  }

  async #hitNode(slot: Slot, fault: Fault): Promise<void> {
    const { node, proxy } = slot
    if (node === null || !node.isRunning || slot.isDown || slot.isFrozen) return
    switch (fault.kind) {
      case 'kill':
        slot.isDown = true
        node.kill()
        await pause(fault.lastsMs)
        slot.isDown = false
        return
      case 'terminate':
        await this.#terminate(slot, node, fault)
        return
      case 'freeze':
        slot.isFrozen = true
        node.freeze()
        await pause(fault.lastsMs)
        if (node.isRunning) node.thaw()
        slot.isFrozen = false
        return
      case 'cut':
        proxy.cutSome(() => this.#random.chance(0.6))
        return
      case 'black-hole':
        proxy.swallow()
        await pause(fault.lastsMs)
        proxy.carry()
        return
      case 'delay':
        proxy.delayBy(20)
        await pause(fault.lastsMs)
        proxy.delayBy(0)
        return
      case 'restart-database':
      case 'crash-database':
        throw new Error('this is no fault of a node')
    }
  }

  async #terminate(slot: Slot, node: NodeProcess, fault: Fault): Promise<void> {
    slot.isDown = true
    await this.#stopCleanly(slot.name, node)
    await pause(fault.lastsMs)
    slot.isDown = false
  }

  async #stopCleanly(name: string, node: NodeProcess | null): Promise<void> {
    if (node === null || !node.isRunning || !node.signals.some(({ event }) => event === 'started')) return
    node.terminate()
    const timer = setTimeout(() => {
      this.log.badStops.push(`${name} didn't stop within ${stopDeadlineMs} ms: ${node.describe()}`)
      node.kill()
    }, stopDeadlineMs)
    const exit = await node.exited
    clearTimeout(timer)
    this.log.stops += 1
    if (exit.code !== 0 && exit.signal === null) {
      this.log.badStops.push(`${name} stopped with exit code ${exit.code}: ${node.describe()}`)
    }
  }
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
}
