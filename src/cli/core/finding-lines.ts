import type { Finding } from '../../runtime/core/audit-finding.ts';
import { rootOf } from '../../runtime/core/run-id.ts';
import { counted } from './figures.ts';
import type { Colour, Paint } from './paint.ts';
import { safeLine } from './plain-text.ts';

const COLOURS: Record<Finding['severity'], Colour> = {
  error: 'red',
  warning: 'yellow',
  info: 'cyan',
};

/** One run may have so many lines; the JSON form has all of them. */
const LINES_A_GROUP_MAX = 50;

/** Findings by the tree that they are about, what concerns the directory first; the advice once for each kind of finding. */
export function findingLines(findings: readonly Finding[], paint: Paint): string[] {
  const groups = new Map<string | null, Finding[]>();
  for (const each of findings) {
    const root = each.run_id === null ? null : rootOf(each.run_id);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [each]);
    else group.push(each);
  }
  const heads = [...groups.keys()].sort(
    (left, right) => Number(left !== null) - Number(right !== null),
  );
  return heads.flatMap((head) => [
    '',
    head === null ? 'state directory' : `run ${safeLine(head)}`,
    ...groupLines(groups.get(head) ?? [], paint),
  ]);
}

function groupLines(findings: readonly Finding[], paint: Paint): string[] {
  const shown = findings.slice(0, LINES_A_GROUP_MAX);
  const byCode = new Map<string, Finding[]>();
  for (const each of shown) byCode.set(each.code, [...(byCode.get(each.code) ?? []), each]);
  const lines = [...byCode.values()].flatMap((alike) => [
    ...alike.map((each) => lineOf(each, paint)),
    ...alike.slice(0, 1).map(({ advice }) => paint('dim', `      ${safeLine(advice)}`)),
  ]);
  const more = findings.length - shown.length;
  return more > 0 ? [...lines, `  and ${more} more; --json shows them`] : lines;
}

function lineOf({ severity, code, event_id, seq, words }: Finding, paint: Paint): string {
  const where = event_id === null ? '' : ` at ${safeLine(event_id)} (seq ${seq})`;
  return `  ${paint(COLOURS[severity], severity)} ${code}${where}: ${safeLine(words)}`;
}

/** `1 error, 2 warnings, 0 notices`. */
export function findingTotals(findings: readonly Finding[]): string {
  const of = (severity: Finding['severity']) =>
    findings.filter((each) => each.severity === severity).length;
  return [
    counted(of('error'), 'error'),
    counted(of('warning'), 'warning'),
    counted(of('info'), 'notice'),
  ].join(', ');
}
