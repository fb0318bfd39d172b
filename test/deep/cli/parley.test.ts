import { chatTests } from "../../cli/parley/chats.ts";
import { demoTests } from "../../cli/parley/demo.ts";
import { doctorTests, soundSetupTest } from "../../cli/parley/doctor.ts";
import { eventTests } from "../../cli/parley/events.ts";
import { fileTests } from "../../cli/parley/files.ts";
import { Place } from "../../cli/parley/fixtures.ts";
import { loginTests } from "../../cli/parley/login.ts";
import { messageTests } from "../../cli/parley/messages.ts";
import { operatorTests } from "../../cli/parley/operator.ts";
import { webhookTests } from "../../cli/parley/webhooks.ts";

const placeOf = Place.ofFile();

messageTests(placeOf);
chatTests(placeOf);
fileTests(placeOf);
demoTests(placeOf);
operatorTests(placeOf);
loginTests(placeOf);
webhookTests(placeOf);
eventTests(placeOf);
soundSetupTest(placeOf);
doctorTests(placeOf);
