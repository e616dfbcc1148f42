import type { CommandNode } from './command-tree.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** A script with every command and option. It doesn't call Holdfast while you type. */
export function completionScript(shell: Shell, nodes: readonly CommandNode[]): string {
  if (shell === 'fish') return fishScript(nodes)
  return shell === 'bash' ? bashScript(nodes) : zshScript(nodes)
}

function bashScript(nodes: readonly CommandNode[]): string {
  return `# holdfast completion for bash: source <(holdfast completion bash)
_holdfast() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at="" each choices=""
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${walk(nodes, '    ')}
  done
  case "$at" in
${nodes.map((node) => `    ${quoted(keyOf(node))}) choices="${wordsOf(node).join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
complete -o default -F _holdfast holdfast`
}

function zshScript(nodes: readonly CommandNode[]): string {
  return `#compdef holdfast
# holdfast completion for zsh: source <(holdfast completion zsh)
_holdfast() {
  local at="" each
  for each in "\${(@)words[2,CURRENT-1]}"; do
${walk(nodes, '    ')}
  done
  case "$at" in
${nodes.map((node) => `    ${quoted(keyOf(node))}) compadd -- ${wordsOf(node).join(' ')} || _files ;;`).join('\n')}
  esac
}
compdef _holdfast holdfast`
}

/** Follows the words that are commands, and skips options and their values. */
function walk(nodes: readonly CommandNode[], indent: string): string {
  const known = nodes.filter(({ path }) => path.length > 0).map((node) => quoted(keyOf(node)))
  return `${indent}case "$at $each" in\n${indent}  ${known.join('|')}) at="$at $each" ;;\n${indent}esac`
}

function fishScript(nodes: readonly CommandNode[]): string {
  const lines = nodes.flatMap((node) => {
    const here = conditionOf(node)
    const notYet =
      node.subcommands.length === 0
        ? ''
        : `; and not __fish_seen_subcommand_from ${node.subcommands.join(' ')}`
    return [
      ...node.subcommands.map((name) => {
        const child = nodes.find(
          ({ path }) => path.length === node.path.length + 1 && keyOf({ path }) === `${keyOf(node)} ${name}`,
        )
        const condition = node.path.length === 0 ? '__fish_use_subcommand' : `${here}${notYet}`
        return `complete -c holdfast -f -n ${quoted(condition)} -a ${name} -d ${quoted(child?.description ?? '')}`
      }),
      ...node.options.map(
        ({ long, description }) =>
          `complete -c holdfast${here === '' ? '' : ` -n ${quoted(here)}`} -l ${long.slice(2)} -d ${quoted(description)}`,
      ),
    ]
  })
  return ['# holdfast completion for fish: holdfast completion fish | source', ...lines].join('\n')
}

function conditionOf({ path }: CommandNode): string {
  return path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
}

function wordsOf({ subcommands, options, path }: CommandNode): string[] {
  return [
    ...subcommands,
    ...options.map(({ long }) => long),
    ...(path.length > 0 ? ['--json'] : []),
    '--help',
  ]
}

function keyOf({ path }: Pick<CommandNode, 'path'>): string {
  return path.map((word) => ` ${word}`).join('')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}
