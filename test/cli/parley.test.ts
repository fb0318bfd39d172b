import { demoTests } from "./parley/demo.ts";
import { soundSetupTest } from "./parley/doctor.ts";
import { messageTests } from "./parley/messages.ts";
import { Place } from "./parley/place.ts";

const placeOf = Place.ofFile();

messageTests(placeOf);
soundSetupTest(placeOf);
demoTests(placeOf);
