import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the labels of a chat. */
export const LABEL_SABOTEURS = wrongVersions({
  "src/chats/object/chat-labels.ts": {
    "labels are not read again after the organization's answer": [
      "const before = this.ids();\n    if",
      "const before = asked.filter((id) => id !== labelId);\n    if",
    ],
    "a label that the chat has is given again": [
      'if (before.includes(labelId) === isGiven) return { outcome: "ok", ids: null };',
      "",
    ],
    "a label is given that the organization does not have": [
      'if (!found.includes(labelId)) return { outcome: "refused", code: "label_not_found" };',
      "",
    ],
    "a chat gets one label more than it may have": [
      "if (others.length < MAX_LABELS_OF_CHAT)",
      "if (others.length <= MAX_LABELS_OF_CHAT)",
    ],
    "labels that are gone take the room of others": ["(found.includes(id) || !asked.includes(id))", "true"],
  },
  "src/chats/object/stored-details.ts": {
    "a label is told and not stored": ["if (labels) this.#parts.labels.write(labels);", ""],
  },
  "src/chats/object/current-activity.ts": {
    "the organization does not hear of labels": ["labels: labels.ids(),", "labels: [],"],
  },
});
