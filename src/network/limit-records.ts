import type tls from 'node:tls'
import { freeChunks, minAverageChunkBytes } from '../core/bounded-bytes.ts'
import { JointReading } from './joint-reading.ts'

/** A server sends two, or four after a handshake with a client certificate. */
const maxSessions = 64
/** A record takes 2 to 4 µs, a session 18 (measured). */
const maxRecordsPerTurn = 1_024
const recordsOfSession = 8
const gatherBytes = 4 * 1024

/**
 * Limits what the size of TLS records costs. The peer chooses it, and each record costs a call and an object of 1.4 kB while it is unread: 64 receivers that
 * answered in records of one byte took 1.4 GB, and turns of the event loop of 1.4 s (measured). The limit is that of the chunks of a body, for each 512 records anew.
 */
export function limitRecords(socket: tls.TLSSocket): void {
  const push = socket.push.bind(socket)
  let records = 0
  let bytes = 0
  let sessions = 0
  let gathered: Buffer | null = null
  let gatheredBytes = 0

  const flush = (): void => {
    if (gathered === null) return
    const chunk = gathered.subarray(0, gatheredBytes)
    gathered = null
    gatheredBytes = 0
    if (!socket.destroyed) push(chunk)
  }
  /** Copies a small record into a shared buffer, which the reader gets once in this turn. */
  const gather = (record: Buffer): boolean => {
    if (gatheredBytes + record.length > gatherBytes) flush()
    if (gathered === null) {
      gathered = Buffer.allocUnsafe(gatherBytes)
      process.nextTick(flush)
    }
    gatheredBytes += record.copy(gathered, gatheredBytes)
    return socket.readableLength + gatheredBytes < socket.readableHighWaterMark
  }

  socket.push = (record: Buffer | null): boolean => {
    if (record === null) {
      flush()
      return push(null)
    }
    turn.count(1)
    records += 1
    bytes += record.length
    if (records === freeChunks) {
      if (bytes < freeChunks * minAverageChunkBytes) {
        socket.destroy(new CrumbsError(`the last ${records} TLS records hold ${bytes} bytes`))
        return false
      }
      records = 0
      bytes = 0
    }
    // Without anything unread, as for most responses, nothing is copied.
    if (record.length < gatherBytes / 4 && (gathered !== null || socket.readableLength > 0))
      return gather(record)
    flush()
    return push(record)
  }
  socket.on('session', () => {
    turn.count(recordsOfSession)
    sessions += 1
    if (sessions > maxSessions)
      socket.destroy(new CrumbsError(`more than ${maxSessions} TLS session tickets`))
  })
  turn.add(socket)
}

/** The records of one turn of the event loop, of all connections together. When there are too many, no connection is read until the next turn. */
class RecordTurn {
  readonly #reading = new JointReading()
  #records = 0

  add(socket: tls.TLSSocket): void {
    this.#reading.add(socket)
  }

  count(records: number): void {
    const before = this.#records
    if (before === 0) setImmediate(this.#next)
    this.#records += records
    if (before < maxRecordsPerTurn && this.#records >= maxRecordsPerTurn) this.#reading.stop()
  }

  readonly #next = (): void => {
    this.#records = 0
    this.#reading.resume()
  }
}

const turn = new RecordTurn()

class CrumbsError extends Error {
  readonly code = 'HOLDFAST_CRUMBS'
}
