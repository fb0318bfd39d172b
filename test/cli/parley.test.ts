import { demoTests } from "./parley/demo.ts";
import { soundSetupTest } from "./parley/doctor.ts";
import { fileTests } from "./parley/files.ts";
import { Place } from "./parley/fixtures.ts";
import { messageTests } from "./parley/messages.ts";

const placeOf = Place.ofFile();

messageTests(placeOf);
fileTests(placeOf);
soundSetupTest(placeOf);
demoTests(placeOf);
