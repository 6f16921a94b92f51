/** The API group of both kinds, and the prefix of the labels and annotations that are ours. */
export const platformGroup = "platform.internal";
