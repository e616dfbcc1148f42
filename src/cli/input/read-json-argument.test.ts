import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseJson, readArgument } from './read-json-argument.ts'

test('a file that is not UTF-8 is refused, not changed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-argument-'))
  await writeFile(join(folder, 'body.json'), Buffer.from('"café"', 'latin1'))
  await expect(readArgument(`@${join(folder, 'body.json')}`)).rejects.toThrow('it is not UTF-8 text')
  await rm(folder, { recursive: true })
})

describe('text that is not JSON', () => {
  test('as an argument: the advice is about quotes and files', () => {
    expect(() => parseJson('{hello', 'The payload', '{hello')).toThrow(
      /The payload isn't JSON.*Put it in single quotes.*@file/,
    )
  })

  test('from standard input: the advice is about what is piped in', () => {
    expect(() => parseJson('{hello', 'The payload', '-')).toThrow(
      /^The payload isn't JSON: [^.]*\. It was read from standard input: check what is piped into the command\.$/,
    )
  })

  test('from a file: the advice names the file', () => {
    expect(() => parseJson('{hello', 'The payload', '@body.json')).toThrow(
      /^The payload isn't JSON: [^.]*\. It was read from the file body\.json: correct it there\.$/,
    )
  })
})
