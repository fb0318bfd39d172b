/** A credential of a channel, and where a person finds it. Its `name` is that of the field in the adapter's `credentials`. */
export interface CredentialField {
  name: string;
  label: string;
  hint: string;
  isSecret: boolean;
}

/** What a person sees of a kind of channel in its chats. */
export interface ChannelInChats {
  label: string;
  /** One of the console's icons. */
  icon: "site" | "call" | "send";
  /** Of messages that the company wrote elsewhere, and of those that the contact wrote to the network's own agent. */
  elsewhere?: { app: string; network: string; standby: string };
  /** The reactions that the console offers, if the network does not take the usual ones. */
  reactions?: readonly string[];
}

/**
 * What a person reads about a kind of channel, and what it can do. The console, the command line and the documents read
 * it, and the Worker does not: of a module that has one, it takes the rendering alone.
 */
export interface ChannelDescription extends ChannelInChats {
  /** What it is, and what is needed. */
  about: string;
  /** Who calls the service. */
  network: string;
  /** What a contact's address is. */
  address: string;
  credentials: readonly CredentialField[];
  /** How a first message comes in. */
  firstMessage: string;
  /** The network approves templates, and shows their headers and buttons. */
  hasTemplates?: true;
}

/** A description without what chats show. To put both together in their modules would leave the words in the Worker. */
export type Beside<Description extends ChannelDescription> = Omit<Description, keyof ChannelInChats>;

export interface NetworkDescription extends ChannelDescription {
  /** The network's names for the URL and the token of a webhook, and where a person enters both. */
  webhook: {
    url: string;
    token: string;
    /** Null if only the service can register it. */
    enter: string | null;
    /** Whether the service can register it: the adapter has a `registerWebhook`. */
    isRegistered: boolean;
  };
}
