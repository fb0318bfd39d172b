import { afterAll, beforeAll } from "vitest";
import { demoTests } from "./parley/demo.ts";
import { doctorTests } from "./parley/doctor.ts";
import { eventTests } from "./parley/events.ts";
import { loginTests } from "./parley/login.ts";
import { messageTests } from "./parley/messages.ts";
import { operatorTests } from "./parley/operator.ts";
import { Place } from "./parley/place.ts";
import { webhookTests } from "./parley/webhooks.ts";

let place: Place;

beforeAll(async () => {
  place = await Place.begin();
});

afterAll(() => place?.end());

operatorTests(() => place);
webhookTests(() => place);
messageTests(() => place);
eventTests(() => place);
loginTests(() => place);
doctorTests(() => place);
demoTests(() => place);
