const DAY_MS = 86_400_000;

/** Days of an era of 400 years, after which the calendar repeats; eras begin on 1 March, so leap days come last. */
const ERA_DAYS = 146_097;
/** From 1 March of the year 0 to 1 January 1970. */
const EPOCH_DAYS = 719_468;

/** Milliseconds since the epoch as RFC 3339 in UTC, the years 0 to 9999: `1970-01-01T00:00:00.000Z`. */
export function utcText(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  const rest = ms - days * DAY_MS;
  const shifted = days + EPOCH_DAYS;
  const era = Math.floor(shifted / ERA_DAYS);
  const day = shifted - era * ERA_DAYS;
  const year = Math.floor(
    (day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365,
  );
  const ofYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = Math.floor((5 * ofYear + 2) / 153);
  const ofMonth = ofYear - Math.floor((153 * month + 2) / 5) + 1;
  const isAfterNewYear = month >= 10;
  const civilMonth = isAfterNewYear ? month - 9 : month + 3;
  const civilYear = year + era * 400 + Number(isAfterNewYear);
  const clock = [Math.floor(rest / 3_600_000), Math.floor(rest / 60_000) % 60].map(two).join(':');
  const seconds = `${two(Math.floor(rest / 1000) % 60)}.${String(Math.floor(rest % 1000)).padStart(3, '0')}`;
  return `${String(civilYear).padStart(4, '0')}-${two(civilMonth)}-${two(ofMonth)}T${clock}:${seconds}Z`;
}

/** The milliseconds of such a text; `null` where it is none. */
export function utcMs(text: string): number | null {
  const found = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z$/.exec(text);
  if (found === null) return null;
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0, ms = 0] = found
    .slice(1)
    .map(Number);
  const isBeforeMarch = month <= 2;
  const shifted = year - Number(isBeforeMarch);
  const era = Math.floor(shifted / 400);
  const ofEra = shifted - era * 400;
  const ofYear = Math.floor((153 * (isBeforeMarch ? month + 9 : month - 3) + 2) / 5) + day - 1;
  const days = ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear;
  const epochDays = era * ERA_DAYS + days - EPOCH_DAYS;
  return epochDays * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
