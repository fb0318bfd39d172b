import { chatTests } from "../../cli/parley/chats.ts";
import { demoTests } from "../../cli/parley/demo.ts";
import { doctorTests } from "../../cli/parley/doctor.ts";
import { eventTests } from "../../cli/parley/events.ts";
import { fileTests } from "../../cli/parley/files.ts";
import { Place } from "../../cli/parley/fixtures.ts";
import { loginTests } from "../../cli/parley/login.ts";
import { operatorTests } from "../../cli/parley/operator.ts";
import { webhookTests } from "../../cli/parley/webhooks.ts";

const placeOf = Place.ofFile();

chatTests(placeOf);
fileTests(placeOf);
demoTests(placeOf);
operatorTests(placeOf);
loginTests(placeOf);
webhookTests(placeOf);
eventTests(placeOf);
doctorTests(placeOf);
