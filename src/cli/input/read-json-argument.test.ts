import { describe, expect, test } from 'vitest'
import { parseJson } from './read-json-argument.ts'

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
