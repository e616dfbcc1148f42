import { isWord, type PatternNode, parsePattern } from './parse-pattern.ts'
import { PatternError } from './pattern-error.ts'
import { PatternMemory } from './pattern-memory.ts'

/** Charged for every step of a match, so that a long text and a large pattern can't add up to a long wait. */
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

/** A state of the DFA: the instructions reached after some text, and the next state for each character as far as it is known. */
interface State {
  readonly reached: readonly number[]
  /** Stands for the previous character: assertions check whether there is one, and whether it is a word character. */
  readonly before: number
  readonly next: (State | 'match' | undefined)[]
}

const maxInstructions = 4000
/** Cached states of all patterns together, in words of 8 bytes: some patterns have a state for every text. */
const maxStateWords = 2_000_000
const asciiCount = 128
const wordCharacter = 0x61
const otherCharacter = 0x20
/** A character with a cached transition costs a fraction of a step. */
const knownCharactersPerStep = 8
const charactersPerPayment = 1024

/**
 * A regular expression that never backtracks: it follows all paths at once, so the time is bounded by length × size for every pattern. It tests
 * whether a text matches, as `RegExp.test` with the flag `u` does. It doesn't support look-around and back-references, which need backtracking.
 */
export class LinearPattern {
  readonly source: string
  readonly #program: Instruction[] = []
  readonly #start: number
  readonly #states = new Map<string, State>()

  /** Number of instructions. Each takes up to 100 bytes. */
  get size(): number {
    return this.#program.length
  }

  /** Throws a `PatternError` if the source isn't a pattern, or can't be matched in linear time. */
  constructor(source: string) {
    this.source = source
    const node = parsePattern(source)
    this.#start = this.#emit(node, this.#add({ kind: 'match' }))
  }

  test(text: string, budget: StepBudget): boolean {
    let state = this.#stateOf([], outside)
    let unpaidCharacters = 0
    for (let at = 0; at < text.length; ) {
      const codePoint = text.codePointAt(at) ?? outside
      at += codePoint > 0xffff ? 2 : 1
      unpaidCharacters += 1
      if (unpaidCharacters === charactersPerPayment) {
        budget.spend(charactersPerPayment / knownCharactersPerStep)
        unpaidCharacters = 0
      }
      const known = state.next[codePoint]
      const next = known === undefined ? this.#advance(state, codePoint, budget) : known
      if (next === 'match') return true
      state = next
    }
    return this.#follow(state, outside, budget) === 'match'
  }

  /** The next state for a character. Transitions for ASCII are cached, which makes long texts 30 times as fast. */
  #advance(state: State, codePoint: number, budget: StepBudget): State | 'match' {
    const waiting = this.#follow(state, codePoint, budget)
    let next: State | 'match' = 'match'
    if (waiting !== 'match') {
      const reached = new Set<number>()
      for (const at of waiting) {
        const instruction = this.#program[at]
        if (instruction?.kind === 'character' && instruction.matches(codePoint)) reached.add(instruction.next)
      }
      budget.spend(reached.size)
      next = this.#stateOf([...reached], codePoint)
    }
    if (codePoint < asciiCount) state.next[codePoint] = next
    return next
  }

  /** The state for these instructions, after a character of which only the kind matters. */
  #stateOf(reached: number[], before: number): State {
    const kind = before === outside ? outside : isWord(before) ? wordCharacter : otherCharacter
    const key = `${kind} ${reached.sort((left, right) => left - right).join()}`
    let state = this.#states.get(key)
    if (state === undefined) {
      stateMemory.reserve(this.#states, asciiCount + key.length / 8 + reached.length)
      state = {
        reached,
        before: kind,
        next: Array.from({ length: asciiCount }),
      }
      this.#states.set(key, state)
    }
    return state
  }

  /** All character instructions reachable without reading a character. A match may begin anywhere. */
  #follow({ reached, before }: State, after: number, budget: StepBudget): number[] | 'match' {
    const seen = new Uint8Array(this.#program.length)
    const from = [...reached, this.#start]
    const waiting: number[] = []
    let steps = 0
    for (let at = from.pop(); at !== undefined; at = from.pop()) {
      steps += 1
      if (seen[at] === 1) continue
      seen[at] = 1
      const instruction = this.#program[at]
      if (instruction === undefined) continue
      if (instruction.kind === 'match') return 'match'
      if (instruction.kind === 'character') waiting.push(at)
      else if (instruction.kind === 'split') from.push(...instruction.targets)
      else if (instruction.holds(before, after)) from.push(instruction.next)
    }
    budget.spend(steps)
    return waiting
  }

  /** Built from the end: each node gets the instruction that follows it. */
  #emit(node: PatternNode, next: number): number {
    if (node.kind === 'empty') return next
    // Not `{ ...node, next }`, which takes four times the memory.
    if (node.kind === 'character') return this.#add({ kind: 'character', matches: node.matches, next })
    if (node.kind === 'assert') return this.#add({ kind: 'assert', holds: node.holds, next })
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
const stateMemory = new PatternMemory(maxStateWords)
