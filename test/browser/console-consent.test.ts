import { expect, test } from "vitest";
import { openDesk } from "./console.ts";
import { log, openChat, whatsAppChat } from "./console-conversation.ts";

const desk = await openDesk("Consent");

test("the contact's panel says until when one may answer, and changes whether the contact takes marketing", async () => {
  const chat = await whatsAppChat(desk, "15551230077", "Mo Market");
  // So wide that the panel stands beside the conversation.
  const page = await openChat(desk, chat.id, { viewport: { width: 1_400, height: 900 } });
  await chat.hears({ id: "wamid.consent", type: "text", text: { body: "Hello" } });
  await log(page).getByText("Hello").waitFor();
  await page.getByText(/The window closes in \d+/).waitFor();
  await page.getByText("No choice known").waitFor();
  const marketing = async () => (await desk.api("GET", `/chats/${chat.id}`)).chat.marketing;
  await page.getByRole("button", { name: "Opt out" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Marketing templates to this contact are refused").waitFor();
  await dialog.getByRole("button", { name: "Opt out" }).click();
  await page.getByText("Opted out by a member").waitFor();
  expect(await marketing()).toMatchObject({ optedOut: true, by: "member" });
  // What others say shows at once.
  await desk.api("PATCH", `/chats/${chat.id}`, { marketing: { optedOut: false } });
  await page.getByText("Allowed by a program").waitFor();
});
