/** The part of a pino logger that the PostgreSQL layer writes to. */
export interface PostgresLogger {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}
