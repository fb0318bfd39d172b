import { chatTests } from "./parley/chats.ts";
import { demoTests } from "./parley/demo.ts";
import { doctorTests } from "./parley/doctor.ts";
import { errorTests } from "./parley/errors.ts";
import { eventTests } from "./parley/events.ts";
import { fileTests } from "./parley/files.ts";
import { Place } from "./parley/fixtures.ts";
import { loginTests } from "./parley/login.ts";
import { messageTests } from "./parley/messages.ts";
import { operatorTests } from "./parley/operator.ts";
import { webhookTests } from "./parley/webhooks.ts";

const placeOf = Place.ofFile();

messageTests(placeOf);
chatTests(placeOf);
fileTests(placeOf);
demoTests(placeOf);
operatorTests(placeOf);
errorTests(placeOf);
loginTests(placeOf);
webhookTests(placeOf);
eventTests(placeOf);
doctorTests(placeOf);
