import { type PatternNode, parsePattern } from './parse-pattern.ts'
import { PatternError } from './pattern-error.ts'

/** Spent by every step of a match, so that a long text and a large pattern can't add up to a long wait. */
export interface StepBudget {
  spend(steps: number): void
}

type Instruction =
  | { readonly kind: 'character'; readonly matches: (codePoint: number) => boolean; readonly next: number }
  | { readonly kind: 'split'; readonly targets: readonly number[] }
  | {
      readonly kind: 'assert'
      readonly holds: (before: number, after: number) => boolean
      readonly next: number
    }
  | { readonly kind: 'match' }

const maxInstructions = 4000

/**
 * A regular expression that never backtracks: all ways through it are followed at once, so the time is bounded by length × size
 * whatever the pattern. It says whether a text matches, as `RegExp.test` with the flag `u` does, and knows no look-around and no
 * back-references, which need backtracking.
 */
export class LinearPattern {
  readonly source: string
  readonly #program: Instruction[] = []
  readonly #start: number

  /** Throws a `PatternError` for what isn't a pattern, or can't be followed in linear time. */
  constructor(source: string) {
    this.source = source
    const node = parsePattern(source)
    this.#start = this.#emit(node, this.#add({ kind: 'match' }))
  }

  test(text: string, budget: StepBudget): boolean {
    const seenAt = new Int32Array(this.#program.length).fill(-1)
    let active: number[] = []
    let before = outside
    for (let at = 0; ; ) {
      const codePoint = text.codePointAt(at) ?? outside
      // A match may begin anywhere.
      const states = this.#follow([...active, this.#start], seenAt, at, before, codePoint, budget)
      if (states === 'match') return true
      if (codePoint === outside) return false
      active = []
      for (const state of states) {
        const instruction = this.#program[state]
        if (instruction?.kind === 'character' && instruction.matches(codePoint)) active.push(instruction.next)
      }
      before = codePoint
      at += codePoint > 0xffff ? 2 : 1
    }
  }

  /** Every instruction that wants a character, reached from `from` without reading one. */
  #follow(
    from: number[],
    seenAt: Int32Array,
    at: number,
    before: number,
    after: number,
    budget: StepBudget,
  ): number[] | 'match' {
    const waiting: number[] = []
    let steps = 0
    for (let state = from.pop(); state !== undefined; state = from.pop()) {
      steps += 1
      if (seenAt[state] === at) continue
      seenAt[state] = at
      const instruction = this.#program[state]
      if (instruction === undefined) continue
      if (instruction.kind === 'match') return 'match'
      if (instruction.kind === 'character') waiting.push(state)
      else if (instruction.kind === 'split') from.push(...instruction.targets)
      else if (instruction.holds(before, after)) from.push(instruction.next)
    }
    budget.spend(steps)
    return waiting
  }

  /** Built from the end: each piece is given where to go on. */
  #emit(node: PatternNode, next: number): number {
    if (node.kind === 'empty') return next
    if (node.kind === 'character') return this.#add({ ...node, next })
    if (node.kind === 'assert') return this.#add({ ...node, next })
    if (node.kind === 'sequence')
      return node.parts.reduceRight((after, part) => this.#emit(part, after), next)
    if (node.kind === 'choice') {
      return this.#add({ kind: 'split', targets: node.options.map((option) => this.#emit(option, next)) })
    }
    return this.#emitRepeat(node, next)
  }

  #emitRepeat({ part, min, max }: Extract<PatternNode, { kind: 'repeat' }>, next: number): number {
    let entry = next
    if (max === Number.POSITIVE_INFINITY) {
      const targets: number[] = [next]
      entry = this.#add({ kind: 'split', targets })
      targets.push(this.#emit(part, entry))
    } else {
      for (let count = min; count < max; count += 1) {
        entry = this.#add({ kind: 'split', targets: [next, this.#emit(part, entry)] })
      }
    }
    for (let count = 0; count < min; count += 1) {
      const length = this.#program.length
      entry = this.#emit(part, entry)
      const isNothingRepeated = this.#program.length === length
      if (isNothingRepeated) break
    }
    return entry
  }

  #add(instruction: Instruction): number {
    if (this.#program.length >= maxInstructions) {
      throw new PatternError(
        `is too large once its repetitions are written out; the limit is ${maxInstructions} steps`,
      )
    }
    return this.#program.push(instruction) - 1
  }
}

const outside = -1
