import { EvaluationChild, type EvaluationEnd } from './evaluation-child.ts'
import type { Evaluation, EvaluationItem } from './evaluation-protocol.ts'
import { maxHeapMegabytes, minUsedShare } from './jsonata-limits.ts'

export type JsonataOutcome =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly isRetryable: boolean }

interface Task {
  readonly item: EvaluationItem
  readonly settle: (outcome: JsonataOutcome) => void
  /** How often the task's process was killed, or the task timed out. After the first time the task runs alone, so that it is certainly the cause. */
  strikes: number
  /** How long the task used the processor when it timed out. */
  usedMs: number
}

/** The tasks of one expression. */
interface Line {
  readonly expression: string
  readonly timeoutMs: number
  tasks: Task[]
}

const maxWaitingTasks = 20_000
const maxTasksPerTurn = 256
const maxTurnLength = 1024 * 1024
const turnMs = 25
/**
 * Allowance for communication. JSONata's own timer ends most endless evaluations; this time-out is for
 * those that it can't interrupt, like a regular expression.
 */
const graceMs = 50
/** The machine may cause one time-out: another process used the core. The expression causes two, if it used the processor meanwhile. */
const maxStrikes = 2
/** After this many time-outs without processor time the message is retried later, as if no process were available. */
const maxStarvedStrikes = 20

/**
 * Evaluates JSONata in one child process, many messages at a time. Expressions take turns, so that a slow
 * one delays the others by one turn, not by its backlog.
 */
export class JsonataEvaluator {
  readonly #lines = new Map<string, Line>()
  #child: EvaluationChild | null = null
  #waitingTasks = 0
  #isBusy = false
  #stopCount = 0

  async evaluate(expression: string, timeoutMs: number, item: EvaluationItem): Promise<JsonataOutcome> {
    if (this.#waitingTasks >= maxWaitingTasks) {
      return unavailable(`${maxWaitingTasks} evaluations are waiting already`)
    }
    return new Promise((settle) => {
      const key = `${timeoutMs} ${expression}`
      const line = this.#lines.get(key) ?? { expression, timeoutMs, tasks: [] }
      line.tasks.push({ item, settle, strikes: 0, usedMs: 0 })
      this.#lines.set(key, line)
      this.#waitingTasks += 1
      if (!this.#isBusy) {
        this.#isBusy = true
        // Deferred, so that requests of the same tick are evaluated together.
        setImmediate(() => void this.#work())
      }
    })
  }

  /** Ends the process. Waiting messages get the result `unavailable`; a later call starts it again. */
  stop(): void {
    this.#stopCount += 1
    this.#child?.kill()
    this.#child = null
    for (const line of this.#lines.values()) this.#settle(line.tasks, unavailable('it was stopped'))
    this.#lines.clear()
  }

  async #work(): Promise<void> {
    for (;;) {
      const [entry] = this.#lines
      if (entry === undefined) break
      const [key, line] = entry
      this.#lines.delete(key)
      const batch = takeTurn(line)
      if (line.tasks.length > 0) this.#lines.set(key, line)
      const stopCount = this.#stopCount
      const end = await this.#run(line, batch)
      const unfinished = this.#conclude(batch, line, end)
      if (stopCount !== this.#stopCount) this.#settle(unfinished, unavailable('it was stopped'))
      else if (unfinished.length > 0) this.#putBack(key, line, unfinished)
    }
    this.#isBusy = false
  }

  async #run(line: Line, batch: readonly Task[]): Promise<EvaluationEnd> {
    try {
      if (this.#child === null || this.#child.isGone) this.#child = new EvaluationChild()
    } catch (error) {
      return { kind: 'unavailable', reason: error instanceof Error ? error.message : String(error) }
    }
    const { expression, timeoutMs } = line
    const request = { expression, timeoutMs, turnMs, items: batch.map(({ item }) => item) }
    return this.#child.run(request, timeoutMs + graceMs + (batch.length > 1 ? turnMs : 0))
  }

  /** Returns results for tasks that have one, and returns the tasks that need another turn. */
  #conclude(batch: readonly Task[], line: Line, end: EvaluationEnd): Task[] {
    if (end.kind === 'unavailable') {
      this.#settle(batch, unavailable(end.reason))
      return []
    }
    if (end.kind !== 'evaluated') return this.#blame(batch, line, end.kind)
    const again: Task[] = []
    for (const [index, task] of batch.entries()) {
      const evaluation = end.evaluations[index]
      const usedMs =
        evaluation !== undefined && 'code' in evaluation && evaluation.code === 'jsonata_timeout'
          ? (evaluation.usedMs ?? 0)
          : null
      if (usedMs !== null) {
        task.strikes += 1
        task.usedMs += usedMs
      }
      const isStarved = usedMs !== null && task.usedMs < maxStrikes * minUsedShare * line.timeoutMs
      if (evaluation === undefined || (isStarved && task.strikes < maxStarvedStrikes)) again.push(task)
      else this.#settle([task], isStarved ? unavailable('the machine is too busy') : outcomeOf(evaluation))
    }
    return again
  }

  #blame(batch: readonly Task[], line: Line, kind: 'killed' | 'crashed'): Task[] {
    const [only] = batch
    for (const task of batch) task.strikes += 1
    if (batch.length > 1 || only === undefined) return [...batch]
    if (kind === 'crashed') {
      this.#settle(
        batch,
        failed('jsonata_memory', `The expression needs more than ${maxHeapMegabytes} MB for this message.`),
      )
      return []
    }
    if (only.strikes < maxStrikes) return [only]
    this.#settle(
      batch,
      failed('jsonata_timeout', `The expression took longer than ${line.timeoutMs} ms and was stopped.`),
    )
    return []
  }

  /** Puts tasks back before newer tasks of their expression, and after other expressions. */
  #putBack(key: string, line: Line, tasks: readonly Task[]): void {
    const waiting = this.#lines.get(key)?.tasks ?? []
    this.#lines.delete(key)
    this.#lines.set(key, { ...line, tasks: [...tasks, ...waiting] })
  }

  #settle(tasks: readonly Task[], outcome: JsonataOutcome): void {
    this.#waitingTasks -= tasks.length
    for (const task of tasks) task.settle(outcome)
  }
}

function takeTurn(line: Line): Task[] {
  let count = 0
  let length = 0
  for (const task of line.tasks) {
    if (count > 0 && (task.strikes > 0 || count >= maxTasksPerTurn || length > maxTurnLength)) break
    count += 1
    length += task.item.payload.length
    if (task.strikes > 0) break
  }
  return line.tasks.splice(0, count)
}

function outcomeOf(evaluation: Evaluation): JsonataOutcome {
  return 'json' in evaluation
    ? { ok: true, json: evaluation.json }
    : failed(evaluation.code, evaluation.message)
}

function failed(code: string, message: string): JsonataOutcome {
  return { ok: false, code, message, isRetryable: false }
}

function unavailable(reason: string): JsonataOutcome {
  return {
    ok: false,
    code: 'jsonata_unavailable',
    message: `The process that evaluates JSONata can't accept this message: ${reason}.`,
    isRetryable: true,
  }
}
