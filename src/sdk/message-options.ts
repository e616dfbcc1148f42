import { parseSendOptions } from '../core/delivery/send-options.ts'
import { HoldfastError } from '../core/errors.ts'
import { listProblems } from '../core/problem.ts'

/** The options of one message, validated; a problem is reported with its position in the batch. */
export function checkedOptions(options: object, index: number): object {
  const parsed = parseSendOptions(options)
  if (parsed.ok) return parsed.value
  const listed = listProblems(parsed.problems)
  throw new HoldfastError('invalid_options', `The options of message ${index + 1} are invalid. ${listed}`, {
    index,
    problems: parsed.problems,
  })
}
