import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { HoldfastError } from '../../core/errors.ts'

export interface LogFile {
  /** `-` is standard input. */
  readonly path: string
  readonly sizeBytes: number
}

export interface LogLine {
  /** Starts at 1. */
  readonly number: number
  /** Null if it isn't text, or too long for an event. */
  readonly text: string | null
  readonly problem: string | null
  /** False for a last line without a line break: it may still be being written. */
  readonly isEnded: boolean
}

const maxFiles = 100_000
const maxLineBytes = 1024 * 1024
const newline = 0x0a
const logNames = /\.(?:log|jsonl?|ndjson)(?:[.-]\d[\d-]*)?(?:\.gz)?$|\.gz$/i

/** The files of a path: itself, or every log below it, sorted by name. */
export async function findLogs(path: string): Promise<readonly LogFile[]> {
  if (path === '-') return [{ path, sizeBytes: 0 }]
  const found = await stat(path).catch((error: unknown) => {
    throw new HoldfastError(
      'invalid_payload',
      `${path} can't be read: ${(error as Error).message}.`,
      { path },
      error,
    )
  })
  if (!found.isDirectory()) return [{ path, sizeBytes: found.size }]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && logNames.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted((one, other) => (one < other ? -1 : 1))
  if (paths.length === 0) {
    throw new HoldfastError(
      'invalid_payload',
      `${path} has no files that end in .log, .json, .jsonl or .gz.`,
      { path },
    )
  }
  if (paths.length > maxFiles) {
    throw new HoldfastError(
      'invalid_payload',
      `${path} has more than ${maxFiles} files: name a folder below it.`,
      { path },
    )
  }
  return Promise.all(paths.map(async (each) => ({ path: each, sizeBytes: (await stat(each)).size })))
}

/**
 * Yields lines, from gzip or not, in the groups in which they were read: a promise per line would take longer than reading it. `onBytes` gets how
 * much of the file has been read. Memory is bounded whatever the length of a line.
 */
export async function* readLines(
  { path }: LogFile,
  onBytes: (bytes: number) => void,
): AsyncGenerator<readonly LogLine[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let number = 0
  let rest: Buffer = Buffer.alloc(0)
  let isTooLong = false
  const finish = (bytes: Buffer, isEnded = true): LogLine => {
    number += 1
    if (isTooLong || bytes.length > maxLineBytes) {
      isTooLong = false
      return { number, text: null, problem: `is longer than ${maxLineBytes} bytes`, isEnded }
    }
    try {
      return { number, text: decoder.decode(bytes), problem: null, isEnded }
    } catch {
      return { number, text: null, problem: 'is not UTF-8', isEnded }
    }
  }
  for await (const chunk of openLog(path, onBytes)) {
    const lines: LogLine[] = []
    let from = 0
    for (let end = chunk.indexOf(newline, from); end !== -1; end = chunk.indexOf(newline, from)) {
      const piece = chunk.subarray(from, end)
      lines.push(finish(rest.length === 0 ? piece : Buffer.concat([rest, piece])))
      rest = Buffer.alloc(0)
      from = end + 1
    }
    const tail = chunk.subarray(from)
    if (rest.length + tail.length > maxLineBytes) {
      isTooLong = true
      rest = Buffer.alloc(0)
    } else if (!isTooLong && tail.length > 0)
      rest = rest.length === 0 ? Buffer.from(tail) : Buffer.concat([rest, tail])
    if (lines.length > 0) yield lines
  }
  if (rest.length > 0 || isTooLong) yield [finish(rest, false)]
}

async function* openLog(path: string, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  const source: AsyncIterable<Buffer> =
    path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 })
  const iterator = source[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done === true) return
  const raw = counted(first.value, iterator, onBytes)
  const isGzip = first.value[0] === 0x1f && first.value[1] === 0x8b
  if (!isGzip) {
    yield* raw
    return
  }
  const unpacked = Readable.from(raw).pipe(createGunzip())
  try {
    for await (const chunk of unpacked) yield chunk as Buffer
  } catch (error) {
    throw new HoldfastError(
      'invalid_payload',
      `${path} is not a complete gzip file: ${(error as Error).message}. The lines before that point were imported.`,
      { path },
      error,
    )
  }
}

async function* counted(
  first: Buffer,
  rest: AsyncIterator<Buffer>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for (
    let next: IteratorResult<Buffer> = { value: first, done: false };
    next.done !== true;
    next = await rest.next()
  ) {
    onBytes(next.value.length)
    yield next.value
  }
}
