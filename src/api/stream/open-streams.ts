import type { ServerResponse } from 'node:http'
import { HoldfastError } from '../../core/errors.ts'
import type { Logger } from '../../engine/logger.ts'
import type { Authenticator } from '../access/authenticator.ts'
import type { Caller, Credential } from '../access/caller.ts'

export interface OpenStreamsOptions {
  readonly authenticator: Authenticator
  readonly logger: Logger
  /** How long a stream may stay open after its key or session has expired or was revoked elsewhere. */
  readonly recheckMs?: number
}

export const maxStreams = 200
/** All sessions of one key count against that key, because its owner can start any number of them. */
export const maxStreamsPerKey = 50
export const maxStreamsPerSession = 10
const defaultRecheckMs = 5000
const endWithinMs = 1000

/** The open streams and their credentials. A stream ends with the key or session that opened it. */
export class OpenStreams {
  readonly #options: OpenStreamsOptions
  readonly #open = new Map<ServerResponse, Credential>()
  #timer: NodeJS.Timeout | null = null
  #checking: Promise<void> | null = null

  constructor(options: OpenStreamsOptions) {
    this.#options = options
    options.authenticator.onTakenBack(() => this.#check())
  }

  /** Takes a slot; throws `too_many_readers` if the caller has none left. */
  add(response: ServerResponse, { credential }: Caller): void {
    this.#refuseTooMany(credential)
    this.#open.set(response, credential)
    this.#timer ??= setInterval(() => this.#check(), this.#options.recheckMs ?? defaultRecheckMs).unref()
  }

  delete(response: ServerResponse): void {
    this.#open.delete(response)
    if (this.#open.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  endAll(): void {
    for (const response of this.#open.keys()) hangUp(response)
  }

  #refuseTooMany(credential: Credential): void {
    const holders = [...this.#open.values()]
    if (holders.length >= maxStreams) {
      throw new HoldfastError(
        'too_many_readers',
        `This node already has ${maxStreams} open streams, the maximum. Use another node, or try again later.`,
      )
    }
    const ofKey = holders.filter((each) => keyOf(each) === keyOf(credential)).length
    if (ofKey >= maxStreamsPerKey) {
      throw new HoldfastError(
        'too_many_readers',
        `This API key already has ${maxStreamsPerKey} open streams on this node, the maximum. Close some of them, or use another node.`,
      )
    }
    if (credential.kind !== 'session') return
    const ofSession = holders.filter(
      (each) => each.kind === 'session' && each.tokenHash === credential.tokenHash,
    )
    if (ofSession.length < maxStreamsPerSession) return
    throw new HoldfastError(
      'too_many_readers',
      `This session already has ${maxStreamsPerSession} open streams on this node, the maximum. Close some of its pages.`,
    )
  }

  /** One check at a time; a check requested meanwhile runs right after. */
  #check(): void {
    if (this.#open.size === 0) return
    const check = () => this.#endTakenBack()
    this.#checking = (this.#checking ?? Promise.resolve()).then(check, check).catch((error: unknown) => {
      // While the database is unavailable, the stream has no events either.
      this.#options.logger.debug(
        { error: String(error) },
        'The API keys of open streams could not be checked; retrying',
      )
    })
  }

  async #endTakenBack(): Promise<void> {
    const asked = [...this.#open]
    const holding = await this.#options.authenticator.stillHold(asked.map(([, credential]) => credential))
    for (const [response, credential] of asked) if (!holding.has(credential)) hangUp(response)
  }
}

/** Destroys the connection after a delay: a client that doesn't read would otherwise keep its slot and its buffer. */
function hangUp(response: ServerResponse): void {
  response.end()
  setTimeout(() => response.destroy(), endWithinMs).unref()
}

function keyOf(credential: Credential): string {
  if (credential.kind === 'configured') return 'configured'
  if (credential.kind === 'session' && credential.isOfConfiguredKey) return 'configured'
  return credential.keyId ?? 'links'
}
