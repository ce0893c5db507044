import { type CommentSpan, commentLinesOf } from './line-kinds.ts';

/** A place that its author meant to come back to. */
export interface OpenEnd {
  readonly line: number;
  /** From the marker to the end of the line. */
  readonly text: string;
}

const marker = /\b(?:TODO|FIXME|XXX|HACK)\b.*/;

/** TODO, FIXME, XXX and HACK in capitals, as whole words, in comments only; one a line at most. */
export function openEnds(comments: readonly CommentSpan[]): readonly OpenEnd[] {
  const found: OpenEnd[] = [];
  for (const comment of comments) {
    for (const { line, text } of commentLinesOf(comment)) {
      const match = marker.exec(text);
      if (match !== null) found.push({ line, text: match[0] });
    }
  }
  return found;
}
