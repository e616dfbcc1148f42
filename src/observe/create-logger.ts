import pino from 'pino'
import pretty from 'pino-pretty'
import { redact } from './redact.ts'

export interface LoggerOptions {
  readonly level: pino.LevelWithSilent
  readonly format: 'pretty' | 'json'
  readonly hasColor: boolean
  /** Texts that must never be written, such as the database's password. */
  readonly secrets: readonly string[]
  /** Default: standard error, written synchronously, so that the last line before an exit isn't lost. */
  readonly destination?: { write(line: string): void }
}

const standardError = 2

/** A logger that can't print a connection string's password: whole lines are redacted, including an error's message and stack. */
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

/** pino-pretty's type requires a whole stream, but it uses only `write`. */
function toWritable(destination: { write(line: string): void }): NodeJS.WritableStream {
  return destination as unknown as NodeJS.WritableStream
}
