import { doctorTests } from "../../cli/parley/doctor.ts";
import { eventTests } from "../../cli/parley/events.ts";
import { Place } from "../../cli/parley/place.ts";
import { webhookTests } from "../../cli/parley/webhooks.ts";

const placeOf = Place.ofFile();

webhookTests(placeOf);
eventTests(placeOf);
doctorTests(placeOf);
