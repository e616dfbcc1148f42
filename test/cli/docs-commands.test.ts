import type { Command, Option } from 'commander'
import { describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { buildProgram } from '../../src/cli/program.ts'
import { blocks } from './docs-blocks.ts'
import { holdfastCommands } from './shell-words.ts'

const program = await buildProgram()

/** What is wrong with a command line, by the program itself; null: nothing. */
function problemOf(words: readonly string[]): string | null {
  let command: Command = program
  const positional: string[] = []
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!
    if (word.startsWith('-') && word !== '-') {
      const option = optionOf(command, word.split('=')[0]!)
      if (option === undefined) return `${command.name()} has no option ${word}`
      if (option.required && !word.includes('=')) index += 1
      continue
    }
    const child = positional.length > 0 ? undefined : command.commands.find((each) => each.name() === word)
    if (child !== undefined) command = child
    else positional.push(word)
  }
  if (command.commands.length > 0) return `${command.name()} has no command ${positional[0]}`
  const { registeredArguments: known } = command
  const isVariadic = known.at(-1)?.variadic ?? false
  if (positional.length > known.length && !isVariadic)
    return `${command.name()} takes no ${positional.at(-1)}`
  if (positional.length < known.filter(({ required }) => required).length)
    return `${command.name()} needs ${known.map((argument) => argument.name()).join(', ')}`
  return null
}

function optionOf(command: Command, flag: string): Option | undefined {
  if (['--help', '-h'].includes(flag)) return program.options[0]
  return [...command.options, ...program.options].find(({ long, short }) => long === flag || short === flag)
}

describe('the documentation', () => {
  const all = blocks()
  const languages = [
    '',
    'sh',
    'text',
    'console',
    'js',
    'ts',
    'sql',
    'json',
    'yaml',
    'python',
    'go',
    'php',
    'java',
  ]

  test('has blocks only in languages that a test checks', () => {
    expect(all.filter(({ language }) => !languages.includes(language)).map(({ place }) => place)).toEqual([])
  })

  test('has only commands that the command line accepts', () => {
    const shells = all.filter(({ language }) => ['', 'sh'].includes(language))
    const commands = shells.flatMap(({ place, text }) =>
      holdfastCommands(text)
        .filter(([first]) => !first!.startsWith('['))
        .map((words) => ({ place, words })),
    )
    expect(commands.length).toBeGreaterThan(60)
    const problems = commands.flatMap(({ place, words }) => {
      const problem = problemOf(words)
      return problem === null ? [] : [`${place}: holdfast ${words.join(' ')}: ${problem}`]
    })
    expect(problems).toEqual([])
  })

  test('has JSON and YAML that parse', () => {
    const unreadable = all.flatMap(({ place, language, text }) => {
      try {
        if (language === 'json')
          text
            .trim()
            .split(/\n(?=\{)/)
            .forEach((value) => void JSON.parse(value))
        if (language === 'yaml') parseYaml(text)
        return []
      } catch (error) {
        return [`${place}: ${String(error)}`]
      }
    })
    expect(unreadable).toEqual([])
  })
})

test.each([
  [['endpoints', 'lst'], 'endpoints has no command lst'],
  [['endpoints', 'list', '--tga', 'eu'], 'list has no option --tga'],
  [['endpoints', 'show'], 'show needs name'],
  [['doctor', 'twice'], 'doctor takes no twice'],
])('the check of commands finds what is wrong with %j', (words, problem) => {
  expect(problemOf(words)).toBe(problem)
})
