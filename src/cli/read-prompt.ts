import { Fault } from '../base/fault.ts';

/** Characters of a prompt; more than any model takes. */
const PROMPT_CHARS_MAX = 8 * 1024 * 1024;

/**
 * The prompt of `troupe run`: as given, or stdin's text where it is `-`, or absent while something is piped in.
 * @throws Fault `argument.invalid` if there is none.
 */
export async function readPrompt(given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return checked(given);
  const { stdin } = process;
  if (given === undefined && stdin.isTTY) {
    throw new Fault(
      'argument.invalid',
      'there is no prompt; give it after the agent, or pipe it in: `troupe run <agent> - < file`',
    );
  }
  stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > PROMPT_CHARS_MAX) {
      throw new Fault(
        'argument.invalid',
        `the prompt on stdin is longer than ${PROMPT_CHARS_MAX} characters; put the text in a file of the workspace and name it`,
      );
    }
  }
  return checked(text);
}

function checked(prompt: string): string {
  if (prompt.trim() !== '') return prompt;
  throw new Fault('argument.invalid', 'the prompt is empty; say what the agent is to do');
}
