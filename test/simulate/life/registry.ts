import type { Adapter, NetworkActs } from "../../../src/channels/network/adapter.ts";
import { telegram } from "../../../src/channels/telegram/adapter.ts";
import { whatsapp } from "../../../src/channels/whatsapp/adapter.ts";
import type { Outgoing } from "../../../src/model/network.ts";
import { platform, type RenderedPart } from "../objects/globals.ts";

/** Replaces `src/channels/registry.ts`: the networks' own rendering, and networks that answer what the simulation decides. */

export const ADAPTERS = { telegram: decided(telegram), whatsapp: decided(whatsapp) };

export const networkOf = () => ({ base: "" });

function decided(adapter: Pick<Adapter, "render" | "acts">): Adapter<RenderedPart> {
  const render = (outgoing: Outgoing): RenderedPart[] => {
    const contents = adapter.render(outgoing);
    return contents.map((_, part) => ({ outgoing, contents, part }));
  };
  const post: Adapter<RenderedPart>["post"] = (rendered, _credentials, _network, signal, files) => {
    const { outgoing, contents, part } = rendered;
    const { body } = outgoing;
    const file = "source" in body && "file" in body.source ? body.source.file : undefined;
    const isHere = file !== undefined && JSON.stringify(contents[part]).includes(file.id);
    const open = isHere ? () => files.open(file.id) : undefined;
    return platform.send(outgoing.messageId, part, signal, { ...rendered, open });
  };
  const make: NetworkActs["make"] = (act, _target, _credentials, _network, signal) => platform.act(act, signal);
  return {
    ...(adapter as Adapter<RenderedPart>),
    render,
    post,
    ...(adapter.acts && { acts: { ...adapter.acts, make } }),
  };
}
