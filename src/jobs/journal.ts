import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { outcomeCodes } from '../storage/settle.ts'
import type { RunRecord } from '../storage/settle-runs.ts'

/** One result in the journal, with the incarnation that claimed the run: it decides whether the result is accepted. */
export interface JournalEntry {
  readonly worker: number
  readonly record: RunRecord
  /** The job's name; unknown for entries of an earlier process. */
  readonly job?: string
}

export interface JournalOptions {
  readonly folder: string
  /** Limit of unsettled results; above it the worker claims nothing. */
  readonly maxBytes: number
  /** How long a segment is kept after all its entries have been settled. */
  readonly retentionMs: number
  readonly nowMs?: () => number
}

interface Segment {
  readonly file: string
  /** Number of the last entry. */
  last: number
  bytes: number
  settledAtMs: number | null
}

interface EntriesFrame {
  readonly kind: 'entries'
  readonly first: number
  readonly entries: readonly PackedEntry[]
}

type Frame =
  | EntriesFrame
  | { readonly kind: 'settled'; readonly through: number }
  | { readonly kind: 'worker'; readonly incarnation: number }

/** Plain successes are the majority, and are stored without field names: a third of the bytes and of the time. */
type PackedEntry =
  | JournalEntry
  | readonly [
      worker: number,
      id: number,
      message: number,
      claim: number,
      lane: number,
      attempt: number,
      expected: number,
      startedAtMs: number,
      durationMs: number | null,
    ]

const headerBytes = 8
const segmentBytes = 8 * 1024 * 1024
const maxFrameBytes = 64 * 1024 * 1024
const segmentPattern = /^(\d{16})\.journal$/
/** Interval of retrying a journal that could not be written. */
const retryMs = 1000

/**
 * An append-only file of results that PostgreSQL doesn't have yet. A frame is [length, CRC-32 of the payload, payload]; an incomplete or corrupt one ends the
 * file. `append` writes the frame to the operating system, so that a killed process loses nothing; `sync` forces it to the disk, so that a
 * power failure doesn't either.
 *
 * Results are settled in the order in which they were appended, so one number is the position. A segment whose entries are all settled is deleted
 * after its retention.
 */
export class Journal {
  readonly #options: JournalOptions
  readonly #nowMs: () => number
  readonly #segments: Segment[] = []
  #file: number | null = null
  #next = 1
  #settledThrough = 0
  #isUnsynced = false
  /** Entries that could not be written because the disk was full, in order. There are few, because nothing is claimed meanwhile. */
  readonly #unwritten: EntriesFrame[] = []
  #brokenAtMs: number | null = null
  /** Incarnations of the earlier processes that wrote this journal. */
  readonly formerWorkers = new Set<number>()

  constructor(options: JournalOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
  }

  /** Opens the journal and returns the entries that were never settled, in order. */
  open(): JournalEntry[] {
    mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 })
    const unsettled = new Map<number, JournalEntry>()
    const files = readdirSync(this.#options.folder)
      .filter((file) => segmentPattern.test(file))
      .sort()
    for (const file of files) this.#readSegment(file, unsettled)
    for (const number of unsettled.keys()) if (number <= this.#settledThrough) unsettled.delete(number)
    this.#startSegment()
    this.#dropSettled()
    return [...unsettled.values()]
  }

  /** The number of the last entry. */
  get lastNumber(): number {
    return this.#next - 1
  }

  /** Bytes of results that are not in the database yet. */
  get unsettledBytes(): number {
    return this.#segments
      .filter((segment) => segment.last > this.#settledThrough)
      .reduce((sum, { bytes }) => sum + bytes, 0)
  }

  get isFull(): boolean {
    return this.unsettledBytes >= this.#options.maxBytes
  }

  /** Whether results can be added: the size limit isn't reached, and the disk accepts writes. */
  hasRoom(): boolean {
    if (this.#isBroken() && this.#nowMs() - (this.#brokenAtMs ?? 0) >= retryMs) {
      try {
        this.#write({ kind: 'settled', through: this.#settledThrough })
        this.#writeEntries()
      } catch {
        // The failure was logged when it happened; this is a retry.
      }
    }
    return !this.#isBroken() && !this.isFull
  }

  #isBroken(): boolean {
    return this.#brokenAtMs !== null || this.#unwritten.length > 0
  }

  /** The entries survive the death of this process when it returns. Returns the number of the last entry. */
  append(entries: readonly JournalEntry[]): number {
    this.#unwritten.push({ kind: 'entries', first: this.#next, entries: entries.map(pack) })
    this.#next += entries.length
    this.#writeEntries()
    return this.#next - 1
  }

  /** Records the incarnation that writes from now on. */
  noteWorker(incarnation: number): void {
    this.#write({ kind: 'worker', incarnation })
  }

  /** Marks all entries up to this number as stored in PostgreSQL. */
  settled(through: number): void {
    if (through <= this.#settledThrough) return
    this.#settledThrough = through
    this.#write({ kind: 'settled', through })
    const current = this.#segments.at(-1)
    if (current !== undefined && current.bytes >= segmentBytes) this.#startSegment()
    if (this.#segments.length > 1) this.#dropSettled()
  }

  /** All entries survive a power failure when it returns. */
  sync(): void {
    if (this.#file === null || !this.#isUnsynced) return
    fsyncSync(this.#file)
    this.#isUnsynced = false
  }

  close(): void {
    if (this.#file === null) return
    this.sync()
    closeSync(this.#file)
    this.#file = null
  }

  #writeEntries(): void {
    for (let frame = this.#unwritten[0]; frame !== undefined; frame = this.#unwritten[0]) {
      const last = frame.first + frame.entries.length - 1
      if (last > this.#settledThrough) {
        this.#write(frame)
        const segment = this.#segments.at(-1)
        if (segment !== undefined) segment.last = last
      }
      this.#unwritten.shift()
    }
  }

  #write(frame: Frame): void {
    if (this.#file === null) throw new Error('the journal is closed')
    const payload = Buffer.from(JSON.stringify(frame))
    const bytes = Buffer.allocUnsafe(headerBytes + payload.length)
    bytes.writeUInt32LE(payload.length, 0)
    bytes.writeUInt32LE(crc32(payload), 4)
    payload.copy(bytes, headerBytes)
    const segment = this.#segments.at(-1)
    try {
      let written = 0
      while (written < bytes.length) written += writeSync(this.#file, bytes, written)
    } catch (error) {
      this.#brokenAtMs = this.#nowMs()
      // A partial frame would make every later frame unreadable.
      ftruncateSync(this.#file, segment?.bytes ?? 0)
      throw error
    }
    this.#brokenAtMs = null
    if (segment !== undefined) segment.bytes += bytes.length
    this.#isUnsynced = true
  }

  #startSegment(): void {
    this.sync()
    const file = join(this.#options.folder, `${String(this.#next).padStart(16, '0')}.journal`)
    // Close the old file last: if opening the new one failed, the closed descriptor's number could be reused, and the journal would write to another
    // file.
    const opened = openSync(file, 'a', 0o600)
    if (this.#file !== null) closeSync(this.#file)
    this.#file = opened
    const known = this.#segments.find((segment) => segment.file === file)
    if (known === undefined) {
      this.#segments.push({
        file,
        last: this.#next - 1,
        bytes: fstatSync(this.#file).size,
        settledAtMs: null,
      })
    }
    if (this.#settledThrough > 0) this.#write({ kind: 'settled', through: this.#settledThrough })
  }

  #dropSettled(): void {
    const nowMs = this.#nowMs()
    for (const segment of this.#segments.slice(0, -1)) {
      if (segment.last > this.#settledThrough) continue
      segment.settledAtMs ??= nowMs
      if (nowMs - segment.settledAtMs < this.#options.retentionMs) continue
      unlinkSync(segment.file)
      this.#segments.splice(this.#segments.indexOf(segment), 1)
    }
  }

  #readSegment(name: string, unsettled: Map<number, JournalEntry>): void {
    const file = join(this.#options.folder, name)
    const content = readFileSync(file)
    const segment: Segment = {
      file,
      last: Number(segmentPattern.exec(name)?.[1] ?? 1) - 1,
      bytes: 0,
      settledAtMs: null,
    }
    this.#next = Math.max(this.#next, segment.last + 1)
    let at = 0
    for (let frame = readFrame(content, at); frame !== null; frame = readFrame(content, at)) {
      at = frame.end
      const { value } = frame
      if (value.kind === 'settled') {
        this.#settledThrough = Math.max(this.#settledThrough, value.through)
        continue
      }
      if (value.kind === 'worker') {
        this.formerWorkers.add(value.incarnation)
        continue
      }
      value.entries.forEach((entry, index) => unsettled.set(value.first + index, unpack(entry)))
      segment.last = value.first + value.entries.length - 1
      this.#next = Math.max(this.#next, segment.last + 1)
    }
    // The rest is a frame that was being written when the process or the machine died.
    if (at < content.length) truncateSync(file, at)
    segment.bytes = at
    this.#segments.push(segment)
  }
}

function readFrame(content: Buffer, at: number): { value: Frame; end: number } | null {
  if (at + headerBytes > content.length) return null
  const length = content.readUInt32LE(at)
  const end = at + headerBytes + length
  if (length > maxFrameBytes || end > content.length) return null
  const payload = content.subarray(at + headerBytes, end)
  if (crc32(payload) !== content.readUInt32LE(at + 4)) return null
  return { value: JSON.parse(payload.toString()) as Frame, end }
}

function pack(entry: JournalEntry): PackedEntry {
  const { worker, record } = entry
  if (record.action !== 'succeed' || record.detail !== null) return { worker, record }
  const { id, message, claim, lane, attempt, expected, startedAtMs, durationMs } = record
  return [worker, id, message, claim, lane, attempt, expected, startedAtMs, durationMs]
}

function unpack(packed: PackedEntry): JournalEntry {
  if ('worker' in packed) return packed
  const [worker, id, message, claim, lane, attempt, expected, startedAtMs, durationMs] = packed
  return {
    worker,
    record: {
      id,
      message,
      claim,
      lane,
      attempt,
      expected,
      action: 'succeed',
      outcome: outcomeCodes.success,
      startedAtMs,
      durationMs,
      errorCode: null,
      error: null,
      detail: null,
      delayMs: null,
      reason: null,
      isTried: true,
    },
  }
}
