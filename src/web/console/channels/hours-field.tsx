import { useId } from "preact/hooks";
import { WEEKDAYS } from "../../../model/opening-hours.ts";
import { Button } from "../parts/button.tsx";
import { Select, TextArea } from "../parts/controls.tsx";
import { sentence, useFaults } from "../parts/faults.ts";
import { Input } from "../parts/field.tsx";
import type { SettingsChange, SettingValues } from "./channel-kinds.ts";

type Hours = NonNullable<SettingValues["hours"]>;
type Day = (typeof WEEKDAYS)[number];

const [SUNDAY, ...OTHERS] = WEEKDAYS;
const WORK = { opens: "09:00", closes: "17:00" };

interface HoursProps {
  hours: Hours | null | undefined;
  away: SettingsChange["away"];
  hint: string;
  set: (change: Pick<SettingsChange, "hours" | "away">) => void;
}

/** The hours of a week, by the clock of a time zone, and what contacts get who write outside of them. */
export function HoursField({ hours, away, hint, set }: HoursProps) {
  const onHours = (next: Hours | null) => set({ hours: next });
  const zones = useId();
  const begin = (): Hours => ({
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    week: Object.fromEntries(OTHERS.slice(0, 5).map((day) => [day, [WORK]])),
  });
  return (
    <>
      <Select
        label="You answer"
        hint={hint}
        options={{ always: "At any time", hours: "In these hours" }}
        first={hours ? "hours" : "always"}
        onChange={({ currentTarget }) => onHours(currentTarget.value === "hours" ? begin() : null)}
      />
      {hours && (
        <>
          <Input
            label="Time zone"
            path="settings.hours.timeZone"
            list={zones}
            spellcheck={false}
            value={hours.timeZone}
            onInput={({ currentTarget }) => onHours({ ...hours, timeZone: currentTarget.value.trim() })}
          />
          <datalist id={zones}>
            {Intl.supportedValuesOf("timeZone").map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
          <ul>
            {[...OTHERS, SUNDAY].map((day) => (
              <DayRow
                key={day}
                day={day}
                ranges={hours.week[day] ?? []}
                onRanges={(ranges) => {
                  const { [day]: _, ...others } = hours.week;
                  onHours({ ...hours, week: ranges.length > 0 ? { ...others, [day]: ranges } : others });
                }}
              />
            ))}
          </ul>
          <TextArea
            label="Away message"
            path="settings.away"
            hint="Sent once to a contact who writes outside of these hours. Leave empty to send none."
            rows={3}
            dir="auto"
            maxLength={1024}
            value={away?.text ?? ""}
            onInput={({ currentTarget: { value } }) => set({ away: value === "" ? null : { text: value } })}
          />
        </>
      )}
    </>
  );
}

type Range = typeof WORK;

interface DayProps {
  day: Day;
  ranges: readonly Range[];
  /** Takes none for a closed day. */
  onRanges: (ranges: Range[]) => void;
}

function DayRow({ day, ranges, onRanges }: DayProps) {
  const id = useId();
  const path = `settings.hours.week.${day}`;
  const faults = useFaults(path);
  const clock = (index: number, name: keyof Range) => {
    const isRefused = faults.some((fault) => [path, `${path}.${index}.${name}`].includes(fault.path));
    const change = (text: string) =>
      onRanges(ranges.map((range, at) => (at === index ? { ...range, [name]: text } : range)));
    return (
      <input
        class="clock"
        aria-label={`${day} ${name}`}
        aria-invalid={isRefused || undefined}
        aria-describedby={isRefused ? id : undefined}
        placeholder={WORK[name]}
        value={ranges[index]?.[name]}
        onInput={({ currentTarget }) => change(currentTarget.value)}
        // A clock without its zero: 9:00.
        onChange={({ currentTarget }) => change(currentTarget.value.trim().replace(/^\d:/, "0$&"))}
      />
    );
  };
  return (
    <li class="week-day">
      <strong>{day}</strong>
      <div class="stack">
        {ranges.map((_, index) => (
          <div key={index} class="line">
            {clock(index, "opens")} – {clock(index, "closes")}
            <Button
              icon="close"
              aria-label={`Remove these hours of ${day}`}
              onClick={() => onRanges(ranges.filter((_, at) => at !== index))}
            />
          </div>
        ))}
        {ranges.length === 0 && <span class="quiet">Closed</span>}
        {faults.map(({ path: found, message }) => (
          <p key={found} id={id} class="failed">
            {sentence(message)}
          </p>
        ))}
      </div>
      <Button
        icon="plus"
        aria-label={`Add hours on ${day}`}
        onClick={() => onRanges([...ranges, ranges.length > 0 ? { opens: "", closes: "" } : WORK])}
      />
    </li>
  );
}
