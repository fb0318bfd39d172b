/** A web chat to be filled: who it is, the number of the first message, and how many. */
export interface Filling {
  identity: {
    chatId: string;
    organizationId: string;
    channelId: string;
    channelKind: "web";
    contactAddress: string;
    createdAt: number;
  };
  senderId: string;
  from: number;
  count: number;
}
