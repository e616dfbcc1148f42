import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandPrefix } from '../input/command-prefix.ts'
import { buildProgram, firstExamples } from '../program.ts'
import { commandGroups, commandList } from './command-list.ts'
import { isExampleOf } from './examples.ts'

const program = await buildProgram()
const width = 80

/** As a shell splits it, as far as examples need. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
}

/** What the program would not understand of these words. */
function misunderstood(line: string): readonly string[] {
  const words = wordsOf(line.replace(/^.*?\bholdfast /, '').replace(/ > .*$/, ''))
  let command: Command = program
  while (command.commands.length > 0) {
    const [first] = words
    const child = command.commands.find((each) => each.name() === first)
    if (child === undefined) return words
    words.shift()
    command = child
  }
  const globals = program.options.map(({ long }) => long)
  const { operands, unknown } = command.parseOptions(words)
  const missing = command.registeredArguments.filter(({ required }) => required).length - operands.length
  return [
    ...unknown.filter((word) => word.startsWith('-') && !globals.includes(word)),
    ...(missing > 0 ? [`${missing} arguments missing`] : []),
  ]
}

describe('help', () => {
  test('lists every command in a group, in the order of the groups', () => {
    const help = program.helpInformation()
    const titles = Object.values(commandGroups).map((title) => help.indexOf(`\n${title}\n`))
    expect(titles.every((place) => place > 0)).toBe(true)
    expect(titles).toEqual(titles.toSorted((one, other) => one - other))
    expect(help).not.toContain('\nCommands:\n')
    for (const { names } of commandList)
      for (const name of names) expect(help).toMatch(new RegExp(`^  ${name} `, 'm'))
    expect(help.indexOf('Options:')).toBeGreaterThan(titles.at(-1)!)
  })

  test.each(commandList.flatMap(({ names, examples }) => names.map((name) => [name, examples] as const)))(
    'of %s shows examples',
    (name, examples) => {
      expect(examples.filter((line) => isExampleOf(line, name))).not.toEqual([])
    },
  )

  test.each([...firstExamples, ...commandList.flatMap(({ examples }) => examples)])(
    'shows an example that works: %s',
    (line) => {
      expect(misunderstood(line)).toEqual([])
    },
  )

  test('a wrong example would be found', () => {
    expect(misunderstood('holdfast endpoints lst')).not.toEqual([])
    expect(misunderstood('holdfast endpoints list --stat open')).not.toEqual([])
    expect(misunderstood('holdfast send crm')).not.toEqual([])
  })

  test('one called command is there with its examples, and loads no other', async () => {
    const { commands } = await buildProgram(['runs', 'list'])
    expect(commands.map((command) => command.name())).toEqual(['runs'])
  })

  test.each(commandsBelow(program))('of %s fits 80 columns', (_, command) => {
    let text = ''
    command.configureOutput({
      writeOut: (written) => {
        text += written
      },
      getOutHelpWidth: () => width,
    })
    command.outputHelp()
    // Examples are written as this process was started; npm's way is longer.
    const lines = text.replaceAll(commandPrefix(process.env), 'holdfast').split('\n')
    expect(lines.filter((line) => Array.from(line).length > width)).toEqual([])
  })
})

function commandsBelow(command: Command, path = 'holdfast'): [string, Command][] {
  return [
    [path, command],
    ...command.commands.flatMap((each) => commandsBelow(each, `${path} ${each.name()}`)),
  ]
}
