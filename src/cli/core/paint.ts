const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Colour = keyof typeof CODES;

/** Puts a colour on a text that has its width already. */
export type Paint = (colour: Colour, text: string) => string;

export const inColour: Paint = (colour, text) =>
  text === '' ? '' : `\u001b[${CODES[colour]}m${text}\u001b[0m`;

export const plain: Paint = (_colour, text) => text;

/** The colour of the status of a run, a plan or a task. */
export function statusColour(status: string): Colour {
  switch (status) {
    case 'completed':
      return 'green';
    case 'failed':
      return 'red';
    case 'running':
      return 'cyan';
    case 'pending':
    case 'not started':
      return 'dim';
    default:
      return 'yellow';
  }
}
