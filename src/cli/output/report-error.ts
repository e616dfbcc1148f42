import { CommanderError } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import { redact } from '../../observe/redact.ts'
import { translateError } from '../../storage/translate-error.ts'
import { spellCommands } from '../input/command-prefix.ts'
import { docsPage } from './docs-page.ts'
import { exitCode, exitCodeOf } from './exit-code.ts'
import { paintFor } from './paint.ts'

export interface ErrorReport {
  /** For standard error; empty if everything has been printed already. */
  readonly text: string
  readonly exitCode: number
}

type Environment = Readonly<Record<string, string | undefined>>

const missingRight = '42501'

/** Converts anything that a command threw to a message and an exit code. */
export function reportError(
  thrown: unknown,
  options: { readonly isJson: boolean; readonly isTerminal: boolean; readonly environment: Environment },
): ErrorReport {
  // Commander has printed its own message already; help and version exit with 0.
  if (thrown instanceof CommanderError) {
    return { text: '', exitCode: thrown.exitCode === 0 ? exitCode.ok : exitCode.usage }
  }
  const error = explain(thrown)
  const isKnown = error instanceof HoldfastError
  const code = isKnown ? error.code : 'unexpected'
  const message = redact(spellCommands(error.message, options.environment))
  const report = { exitCode: isKnown ? exitCodeOf(error) : exitCode.failure }
  if (options.isJson) {
    const details = isKnown ? error.details : {}
    return { ...report, text: `${redact(JSON.stringify({ error: { code, message, details } }))}\n` }
  }
  // A declined confirmation needs no explanation.
  if (isKnown && error.details['isDeclined'] === true) return { ...report, text: `${message}\n` }
  const paint = paintFor(options.isTerminal, options.environment)
  const more = isKnown ? `See "${code}" in ${docsPage('errors.md')}` : redact(error.stack ?? '')
  return { ...report, text: `${paint('red', 'error')}  ${message}\n${paint('dim', more)}\n` }
}

function explain(thrown: unknown): Error {
  const translated = translateError(thrown)
  if (!(translated instanceof Error)) return new Error(String(translated))
  const { code } = translated as Error & { code?: string }
  if (translated instanceof HoldfastError || code === undefined) return translated
  if (code === missingRight) {
    return new HoldfastError(
      'configuration_invalid',
      `The database role lacks a right: ${translated.message}. Find out which with: holdfast doctor`,
      {},
      translated,
    )
  }
  return translated
}
