import { demoTests } from "./parley/demo.ts";
import { soundSetupTest } from "./parley/doctor.ts";
import { loginTests } from "./parley/login.ts";
import { messageTests } from "./parley/messages.ts";
import { operatorTests } from "./parley/operator.ts";
import { Place } from "./parley/place.ts";

const placeOf = Place.ofFile();

operatorTests(placeOf);
messageTests(placeOf);
loginTests(placeOf);
soundSetupTest(placeOf);
demoTests(placeOf);
