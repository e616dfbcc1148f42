import { useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icon.tsx'
import { formatBytes, formatCount } from './numbers.ts'
import { visibleText } from './visible-text.ts'

const maxLines = 200
const maxStringLength = 2000
const maxChildren = 100

/** JSON as a tree of text nodes: nothing in it is ever markup. What is long is folded; the whole can be copied and downloaded. */
export function JsonView({
  value,
  label,
  fileName,
}: {
  readonly value: unknown
  readonly label: string
  readonly fileName?: string
}) {
  const text = JSON.stringify(value, null, 2) ?? 'undefined'
  const isLong = text.length > 20_000 || text.split('\n', maxLines + 1).length > maxLines
  return (
    <div className="grid gap-2">
      <div className="code wrap" tabIndex={0} role="region" aria-label={label}>
        <Node value={value} depth={0} isOpen={!isLong} />
      </div>
      <div className="flex flex-wrap gap-2 items-center">
        <CopyButton text={text} />
        {fileName !== undefined && <DownloadButton text={text} fileName={fileName} />}
      </div>
    </div>
  )
}

export function DownloadButton({ text, fileName }: { readonly text: string; readonly fileName: string }) {
  const download = (): void => {
    const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = fileName
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <button type="button" className="button ghost" onClick={download}>
      <Icon name="download" />
      Download
    </button>
  )
}

interface NodeProps {
  readonly value: unknown
  readonly depth: number
  readonly name?: string
  readonly isLast?: boolean
  /** Below the first level, only what is short is unfolded when the whole is long. */
  readonly isOpen: boolean
}

function Node({ value, depth, name, isLast = true, isOpen: isOpenAtFirst }: NodeProps) {
  const [isOpen, setIsOpen] = useState(depth === 0 || isOpenAtFirst)
  const indent = { paddingLeft: depth === 0 ? 0 : 16 }
  const comma = isLast ? '' : ','
  const label =
    name === undefined ? null : (
      <>
        <span className="name">{visibleText(JSON.stringify(name))}</span>
        <span className="punctuation">: </span>
      </>
    )
  if (value === null || typeof value !== 'object') {
    return (
      <div style={indent}>
        {label}
        <Leaf value={value} />
        <span className="punctuation">{comma}</span>
      </div>
    )
  }
  const isList = Array.isArray(value)
  const entries = Object.entries(value)
  const [begin, end] = isList ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) {
    return (
      <div style={indent}>
        {label}
        <span className="punctuation">
          {begin}
          {end}
          {comma}
        </span>
      </div>
    )
  }
  const size = isList
    ? `${formatCount(entries.length)} ${entries.length === 1 ? 'item' : 'items'}`
    : `${formatCount(entries.length)} ${entries.length === 1 ? 'field' : 'fields'}`
  return (
    <div style={indent}>
      <button
        type="button"
        className="text-left min-h-6 min-w-6"
        aria-expanded={isOpen}
        aria-label={`${name ?? 'All'}, ${size}`}
        onClick={() => setIsOpen(!isOpen)}
      >
        <span className="punctuation" aria-hidden="true">
          {isOpen ? '▾ ' : '▸ '}
        </span>
        {label}
        <span className="punctuation">{isOpen ? begin : `${begin} ${size} ${end}${comma}`}</span>
      </button>
      {isOpen && (
        <>
          {entries.slice(0, maxChildren).map(([key, child], place) => (
            <Node
              key={key}
              value={child}
              depth={depth + 1}
              isOpen={isOpenAtFirst}
              isLast={place === entries.length - 1}
              {...(!isList && { name: key })}
            />
          ))}
          {entries.length > maxChildren && (
            <div className="punctuation pl-4">
              … {formatCount(entries.length - maxChildren)} more: download shows all
            </div>
          )}
          <span className="punctuation">
            {end}
            {comma}
          </span>
        </>
      )}
    </div>
  )
}

function Leaf({ value }: { readonly value: unknown }) {
  if (typeof value !== 'string') return <span className="value">{String(value)}</span>
  if (value.length <= maxStringLength) {
    return <bdi className="string">{visibleText(JSON.stringify(value))}</bdi>
  }
  return (
    <>
      <bdi className="string">{visibleText(JSON.stringify(value.slice(0, maxStringLength)))}</bdi>
      <span className="punctuation"> … {formatBytes(value.length)} in all</span>
    </>
  )
}
