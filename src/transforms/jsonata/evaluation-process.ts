import { Worker } from 'node:worker_threads'
import jsonata from 'jsonata'
import type {
  Evaluation,
  EvaluationFailure,
  EvaluationItem,
  EvaluationMessage,
  EvaluationRequest,
} from './evaluation-protocol.ts'
import { maxResultLength, maxSequenceLength, maxStackDepth } from './jsonata-limits.ts'

/** The program of the process that evaluates expressions: it has no environment, can't compile code from text, and ends with its parent. */

const maxCachedExpressions = 500
const expressions = new Map<string, jsonata.Expression>()

// Code in this process may never end, so a separate thread ends the process when its parent is gone.
const watchParent = `
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && process.kill(process.pid, 'SIGKILL'), 1000)
`
new Worker(watchParent, { eval: true }).unref()

process.on('disconnect', () => process.exit())
process.on('message', (request: EvaluationRequest) => void evaluateAll(request))
send('ready')

async function evaluateAll({ expression, timeoutMs, turnMs, items }: EvaluationRequest): Promise<void> {
  const startedAtMs = performance.now()
  const evaluations: Evaluation[] = []
  for (const item of items) {
    evaluations.push(await evaluate(expression, timeoutMs, item))
    if (performance.now() - startedAtMs > turnMs) break
  }
  send({ evaluations })
}

async function evaluate(expression: string, timeoutMs: number, item: EvaluationItem): Promise<Evaluation> {
  let input: unknown
  try {
    input = JSON.parse(item.payload)
  } catch {
    return failure('payload_invalid_json', 'The payload is not valid JSON, so no value can be read from it.')
  }
  const begun = process.cpuUsage()
  try {
    const result: unknown = await compile(expression, timeoutMs).evaluate(input, item.variables)
    const json = stringify(result)
    if (json === undefined) {
      return failure(
        'jsonata_no_result',
        'The expression has no result for this message: the fields that it reads are missing.',
      )
    }
    if (json.length <= maxResultLength) return { json }
    return failure(
      'rendered_too_large',
      `The result of the expression for this message is longer than ${maxResultLength} characters.`,
    )
  } catch (error) {
    return describe(error, timeoutMs, process.cpuUsage(begun))
  }
}

function compile(expression: string, timeoutMs: number): jsonata.Expression {
  const key = `${timeoutMs} ${expression}`
  let compiled = expressions.get(key)
  if (compiled === undefined) {
    if (expressions.size >= maxCachedExpressions) expressions.clear()
    compiled = jsonata(expression, { timeout: timeoutMs, stack: maxStackDepth, sequence: maxSequenceLength })
    expressions.set(key, compiled)
  }
  return compiled
}

/** A function isn't a value. Serializing it would include its whole environment, so it is left out, as in `JSON.stringify`. */
function stringify(result: unknown): string | undefined {
  try {
    const json = JSON.stringify(result) as string | undefined
    if (json?.includes('"_jsonata_') !== true) return json
  } catch {
    // A function's environment is circular; without functions the result can be serialized.
  }
  return JSON.stringify(result, (_key, value: unknown) => (isFunction(value) ? undefined : value))
}

function isFunction(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    ('_jsonata_lambda' in value || '_jsonata_function' in value)
  )
}

function describe(error: unknown, timeoutMs: number, used: NodeJS.CpuUsage): Evaluation {
  const { code, message, position } = error as Partial<jsonata.JsonataError>
  if (code === 'D1012') {
    const usedMs = (used.user + used.system) / 1000
    return { code: 'jsonata_timeout', message: `The expression took longer than ${timeoutMs} ms.`, usedMs }
  }
  const place = typeof position === 'number' ? `, at offset ${position}` : ''
  return failure(
    'jsonata_failed',
    `${message ?? String(error)}${code === undefined ? '' : ` (${code})`}${place}.`.slice(0, 1000),
  )
}

function failure(code: EvaluationFailure, message: string): Evaluation {
  return { code, message }
}

function send(message: EvaluationMessage): void {
  process.send?.(message)
}
