import pino from 'pino'
import pretty from 'pino-pretty'
import { redact } from './redact.ts'

export interface LoggerOptions {
  readonly level: pino.LevelWithSilent
  readonly format: 'pretty' | 'json'
  readonly hasColor: boolean
  /** Texts that must never be written, such as the database's password. */
  readonly secrets: readonly string[]
  /** Left out: standard error, written at once, so that the last line before an exit isn't lost. */
  readonly destination?: { write(line: string): void }
}

const standardError = 2

/**
 * A logger that can't print a connection string's password: every line is cleaned as a whole, so that an error's message or
 * stack is no way around it.
 */
export function createLogger(options: LoggerOptions): pino.Logger {
  const { level, secrets, destination } = options
  const hooks = { streamWrite: (line: string) => redact(line, secrets) }
  const base = null
  if (options.format === 'json') {
    const settings = {
      level,
      hooks,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
    }
    return pino(settings, destination ?? pino.destination({ dest: standardError, sync: true }))
  }
  const stream = pretty({
    colorize: options.hasColor,
    translateTime: 'SYS:HH:MM:ss',
    sync: true,
    destination: destination === undefined ? standardError : toWritable(destination),
  })
  return pino({ level, hooks, base }, stream)
}

/** pino-pretty asks for a whole stream where it uses its `write` only. */
function toWritable(destination: { write(line: string): void }): NodeJS.WritableStream {
  return destination as unknown as NodeJS.WritableStream
}
