/** Messages to write into a web chat: `count` of them, the first with the number `from`. */
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
