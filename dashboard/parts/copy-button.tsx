import { useState } from 'react'
import { announce } from '../frame/announcements.ts'
import { Icon } from './icon.tsx'

const shownMs = 2000

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await copyText(text)
    announce('Copied.')
    setIsCopied(true)
    setTimeout(() => setIsCopied(false), shownMs)
  }
  return (
    <button type="button" className="button ghost" onClick={() => void copy()}>
      <Icon name={isCopied ? 'ok' : 'copy'} />
      {isCopied ? 'Copied' : label}
    </button>
  )
}

/** The clipboard needs HTTPS or this machine; elsewhere the old way has to do. */
async function copyText(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard !== undefined) {
    await clipboard.writeText(text)
    return
  }
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
