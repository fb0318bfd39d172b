import { soundSetupTest } from "./parley/doctor.ts";
import { Place } from "./parley/fixtures.ts";
import { messageTests } from "./parley/messages.ts";

const placeOf = Place.ofFile();

messageTests(placeOf);
soundSetupTest(placeOf);
